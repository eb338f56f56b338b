//! The load engine of webdyno.
//!
//! # Theory of operation
//!
//! [`run`] carries out one [`Order`] and writes lines to a sink. Before the load it sees to everything that could fail: address,
//! files, processors, the requests' bytes. Then:
//!
//! * The n connections are dealt over threads. Each [`worker`] owns its connections, its parser state, its timers and its books, and
//!   shares nothing that is written to while the load runs. Its one loop waits for sockets ([`poll`]), takes bytes to the connection
//!   they belong to ([`connection`], which reads them with [`wire`] and checks them with [`expect`]), books the outcome
//!   ([`ledger`], [`slice`]), and asks the [`pace`] whether the next request may go.
//! * A connection may carry several requests at a time. Each has a place of its own there, a *lane*; a layer between [`poll`] and the
//!   worker says which answer is whose.
//! * At a closed pace a request may go when the answer before it is there. At an open pace it comes due by the [`schedule`], which a
//!   thread has one of, whatever its connections do; it takes a free one from the [`pool`]. [`wait`] says how the thread spends
//!   the time until then. Every request has three times: due, sent, done. From the first to the last its sender waited.
//! * The time of a run is cut into windows that every worker computes for itself ([`timetable`]). At the end of a window a worker
//!   hands its slice to the collector, which joins the workers' slices and writes the line.
//! * A fixed request is bytes before the load begins; a [`wire::template`] is put together anew each time from its number. Where an order
//!   has several requests, each has its own part in the [`slice`].
//! * Every request that was begun ends in exactly one [`slice::Outcome`]. The sums are asserted, in each slice and over the run.
//!
//! An order with turns has no timetable. Its workers rest between commands, which the [`conduct`]or reads from the [`input`]; each is a turn
//! that begins in all of them by one [`cue`], and is a window that is open until its last answer.
//!
//! Several engines may share one load. Each is told which part it is, and when the run begins; and a [`watch`] ends the load where who
//! gave the order is heard no more.
//!
//! What the server does wrong is data. Only a wrong order, or a machine that cannot do what was ordered, is an [`error::Fault`].
//!
//! The contract with the outside is `docs/reference/engine-protocol.md`.

#![deny(missing_docs)]
#![deny(unsafe_code)]

mod attention;
mod clock;
mod collect;
mod conduct;
mod connection;
mod crowd;
mod cue;
pub mod error;
mod expect;
mod files;
mod input;
mod ledger;
mod lines;
mod machine;
mod mix;
pub mod order;
mod pace;
mod poll;
mod pool;
mod recorder;
mod schedule;
mod slice;
mod timers;
mod timetable;
mod trouble;
mod wait;
mod watch;
pub mod wire;
mod worker;

pub use clock::now;
pub use conduct::Commands;
pub use error::Fault;
pub use input::{Heard, Input};
pub use order::Order;

use collect::Collector;
use conduct::Conductor;
use cue::Cue;
use ledger::{Ledger, Report};
use order::{Until, Version};
use pace::Pace;
use poll::means::{Means, choose, means};
use poll::{Epoll, H2, Pipeline, Poll, Ring, Secure, secure::Tls};
use std::io::{self, Write};
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;
use timetable::Timetable;
use worker::{Job, Worker};

/// How often the collector looks for a reason to end.
const LOOK: Duration = Duration::from_millis(20);

/// Refused connects that say that nobody listens, where none came about: as many as there are connections, and at least these. One alone
/// may be one of several servers behind an address.
const FEW_REFUSED: u64 = 4;

/// How a run that was carried out came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The time was over.
    Duration,
    /// The count was reached.
    Count,
    /// It was interrupted.
    Interrupted,
    /// No connection ever came about.
    Unreachable,
    /// A command said so, or there was none any more.
    Commanded,
    /// Who gave the order was heard no more.
    Abandoned,
}

impl Ended {
    /// As the protocol spells it.
    pub fn name(self) -> &'static str {
        match self {
            Ended::Duration => "duration",
            Ended::Count => "count",
            Ended::Interrupted => "interrupted",
            Ended::Unreachable => "unreachable",
            Ended::Commanded => "commanded",
            Ended::Abandoned => "abandoned",
        }
    }
}

/// Why a run has no summary.
#[derive(Debug)]
pub enum Failure {
    /// The order cannot be carried out.
    Fault(Fault),
    /// Nobody reads the lines any more.
    Sink(io::Error),
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Failure::Fault(fault)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Sink(error)
    }
}

/// Carries out `order` and writes its lines to `sink`. `interrupted` is asked some fifty times a second whether to end early, but not by an
/// order with turns that waits for `commands`. Lines of `lifeline` say that who gave the order is there, where the order wants to know.
pub fn run(
    order: &Order,
    sink: &mut dyn Write,
    interrupted: &dyn Fn() -> bool,
    commands: Commands<'_>,
    lifeline: BorrowedFd<'_>,
) -> Result<Ended, Failure> {
    let endpoint = machine::endpoint(order)?;
    let tls = Tls::new(order, order.version.alpn())?;
    let tables = files::reserve(order)?;
    machine::pin(order)?;
    let moulds: Vec<_> = order.requests.iter().map(|r| wire::template::Mould::of(r, order)).collect();
    let fixed = order.requests.iter().zip(&moulds).map(|(r, m)| m.is_none().then(|| wire::encode::encode(r, order)));
    let encoded: Vec<Vec<u8>> = fixed.map(Option::unwrap_or_default).collect();
    let tickets = Pace::tickets(order);
    let paces: Vec<Pace<'_>> = (0..order.threads).map(|i| Pace::new(order, i, tickets.as_ref())).collect();
    let backend = choose(order);
    let means = means(&backend, paces.iter().map(Pace::places))?;
    let job = Job {
        requests: &order.requests,
        encoded: &encoded,
        moulds: &moulds,
        seed: order.seed,
        threads: order.threads,
        part: order.part,
        start_at_ns: order.start_at_ns,
        endpoint,
        tls,
        tables,
        timeout_ns: order.timeout_ns,
        connect_timeout_ns: order.connect_timeout_ns,
        keep_alive: order.keep_alive,
        wait: wait::resolve(order),
        drain_ns: order.drain_ns,
        cue: order.turns.then(|| Cue::new(order.threads)).transpose()?,
        stop: AtomicBool::new(false),
        abandoned: AtomicBool::new(false),
        reached: AtomicBool::new(false),
        refused: AtomicU64::new(0),
    };
    let at = clock::now();
    let started = lines::Started::new(order, at, backend, job.wait.name(), job.endpoint.to_string());
    lines::write(sink, &started)?;
    let timetable = Timetable::new(order, machine::start(order)?);
    thread::scope(|scope| {
        if let Some(within) = order.watch_ns {
            let job = &job;
            scope.spawn(move || watch::watch(lifeline, within, job));
        }
        let (out, reports) = channel();
        let mut backs = Vec::new();
        for (i, (means, pace)) in means.into_iter().zip(paces).enumerate() {
            let (back, empties) = channel();
            backs.push(back);
            let (job, ledger) = (&job, Ledger::new(i, order.requests.len(), timetable, out.clone(), empties));
            scope.spawn(move || work(order, i, job, means, pace, ledger));
        }
        drop(out);
        let result = match &job.cue {
            Some(cue) => Conductor::new(order, (&job, cue), sink, reports, backs, interrupted).conduct(commands),
            None => {
                let collector = Collector::new(sink, &order.requests, timetable, backs);
                oversee(order, &job, collector, &reports, interrupted)
            }
        };
        job.end();
        result
    })
}

/// One thread of load, from its start to its end.
fn work<'j>(order: &Order, thread: usize, job: &'j Job<'j>, means: Means, pace: Pace<'j>, mut ledger: Ledger) {
    if let Err(fault) = machine::pin_worker(order, thread).and_then(|()| files::take(job.tables)) {
        return ledger.fail(fault);
    }
    let _guard = Guard(job);
    let places = pace.places();
    let bell = job.cue.as_ref().map(|cue| cue.bell(thread));
    let deaf = |e| Fault::machine("turns", format!("a thread cannot wait for commands: {e}"));
    match means {
        Means::Epoll(set) => {
            let epoll = Epoll::new(set, places);
            match bell.map_or(Ok(()), |bell| epoll.heed(bell)) {
                Ok(()) => secured(order, job, epoll, pace, ledger),
                Err(e) => ledger.fail(deaf(e)),
            }
        }
        Means::Ring(prepared) => match Ring::new(prepared, places) {
            Ok(mut ring) => match bell.map_or(Ok(()), |bell| ring.heed(bell)) {
                Ok(()) => secured(order, job, ring, pace, ledger),
                Err(e) => ledger.fail(deaf(e)),
            },
            Err(e) => ledger.fail(Fault::machine("backend", format!("a thread could not take over its io_uring: {e}"))),
        },
    }
}

/// Ends the load of all where a thread panics: others would wait for it to be ready for the next turn.
struct Guard<'j>(&'j Job<'j>);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.end();
        }
    }
}

/// The load on top of `sockets`, whatever the back end is: with TLS where the order asks for it.
fn secured<'j>(order: &Order, job: &'j Job<'j>, sockets: impl Poll, pace: Pace<'j>, ledger: Ledger) {
    let connections = pace.places();
    match &job.tls {
        None => layered(order, job, sockets, pace, ledger),
        Some(tls) => layered(order, job, Secure::new(sockets, tls, connections), pace, ledger),
    }
}

/// The load on top of connections, with what the order asks for between them and the worker.
fn layered<'j>(order: &Order, job: &'j Job<'j>, below: impl Poll, pace: Pace<'j>, ledger: Ledger) {
    match order.pipeline {
        _ if order.version == Version::Http2 => {
            let streams = H2::new(below, pace.places(), order.streams);
            Worker::new(job, streams, pace, ledger).work();
        }
        1 => Worker::new(job, below, pace, ledger).work(),
        depth => {
            let pipeline = Pipeline::new(below, pace.places(), depth);
            Worker::new(job, pipeline, pace, ledger).work();
        }
    }
}

/// Collects until every worker has ended, and ends them early where there is a reason to.
fn oversee(
    order: &Order,
    job: &Job<'_>,
    mut collector: Collector<'_>,
    reports: &Receiver<Report>,
    interrupted: &dyn Fn() -> bool,
) -> Result<Ended, Failure> {
    let mut early = None;
    await_start(job, &collector, interrupted);
    collector.begin_phase(0)?;
    loop {
        match reports.recv_timeout(LOOK) {
            Ok(report) => collector.take(report)??,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if early.is_none() {
            // A little later than the workers' own deadlines, so that they book them as what they are.
            let patience = Pace::first_connection(order) + job.connect_timeout_ns + 200 * clock::MILLISECOND;
            let refused = job.refused.load(Ordering::Relaxed) >= FEW_REFUSED.max(order.pace.connections() as u64);
            let given_up = refused || collector.age() > patience;
            early = if job.abandoned.load(Ordering::Relaxed) {
                Some(Ended::Abandoned)
            } else if interrupted() {
                Some(Ended::Interrupted)
            } else if given_up && !job.reached.load(Ordering::Relaxed) {
                Some(Ended::Unreachable)
            } else {
                None
            };
            job.stop.fetch_or(early.is_some(), Ordering::Relaxed);
        }
    }
    if !collector.is_whole() {
        return Err(Fault::broken_off().into());
    }
    let ended = early.unwrap_or(match order.until {
        _ if job.abandoned.load(Ordering::Relaxed) => Ended::Abandoned,
        _ if !job.reached.load(Ordering::Relaxed) => Ended::Unreachable,
        Until::Duration(_) => Ended::Duration,
        Until::Count(_) => Ended::Count,
        Until::Commands => Ended::Commanded,
    });
    collector.finish(ended.name(), order)?;
    Ok(ended)
}

/// Waits for the start of the run, unless there is a reason to end before it. Who reads that a phase begins may then believe it.
fn await_start(job: &Job<'_>, collector: &Collector<'_>, interrupted: &dyn Fn() -> bool) {
    while collector.before_start() > 0 && !job.stop.load(Ordering::Relaxed) && !interrupted() {
        thread::sleep(LOOK.min(Duration::from_nanos(collector.before_start())));
    }
}

/// Writes the line that stands instead of a summary.
pub fn fault_line(sink: &mut dyn Write, fault: &Fault) -> io::Result<()> {
    lines::write(sink, &lines::FaultLine::new(fault))
}
