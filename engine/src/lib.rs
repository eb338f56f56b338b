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
//! What the server does wrong is data. Only a wrong order, or a machine that cannot do what was ordered, is an [`error::Fault`].
//!
//! The contract with the outside is `docs/reference/engine-protocol.md`.

#![deny(missing_docs)]
#![deny(unsafe_code)]

mod attention;
mod clock;
mod collect;
mod connection;
mod crowd;
pub mod error;
mod expect;
mod files;
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
pub mod wire;
mod worker;

pub use error::Fault;
pub use order::Order;

use collect::Collector;
use ledger::{Ledger, Report};
use order::{Until, Version};
use pace::Pace;
use poll::means::{Means, choose, means};
use poll::{Epoll, H2, Pipeline, Poll, Ring, Secure, secure::Tls};
use std::io::{self, Write};
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
}

impl Ended {
    /// As the protocol spells it.
    pub fn name(self) -> &'static str {
        match self {
            Ended::Duration => "duration",
            Ended::Count => "count",
            Ended::Interrupted => "interrupted",
            Ended::Unreachable => "unreachable",
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

/// Carries out `order` and writes its lines to `sink`. `interrupted` is asked some fifty times a second whether to end early.
pub fn run(order: &Order, sink: &mut dyn Write, interrupted: &dyn Fn() -> bool) -> Result<Ended, Failure> {
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
        endpoint,
        tls,
        tables,
        timeout_ns: order.timeout_ns,
        connect_timeout_ns: order.connect_timeout_ns,
        keep_alive: order.keep_alive,
        wait: wait::resolve(order),
        drain_ns: order.drain_ns,
        stop: AtomicBool::new(false),
        reached: AtomicBool::new(false),
        refused: AtomicU64::new(0),
    };
    let at = clock::now();
    let started = lines::Started::new(order, at, backend, job.wait.name(), job.endpoint.to_string());
    lines::write(sink, &started)?;
    let timetable = Timetable::new(order, clock::now());
    thread::scope(|scope| {
        let (out, reports) = channel();
        let mut backs = Vec::new();
        for (i, (means, pace)) in means.into_iter().zip(paces).enumerate() {
            let (back, empties) = channel();
            backs.push(back);
            let (job, ledger) = (&job, Ledger::new(i, order.requests.len(), timetable, out.clone(), empties));
            scope.spawn(move || work(order, i, job, means, pace, ledger));
        }
        drop(out);
        let collector = Collector::new(sink, &order.requests, timetable, backs);
        let result = oversee(order, &job, collector, &reports, interrupted);
        job.stop.store(true, Ordering::Relaxed);
        result
    })
}

/// One thread of load, from its begin to its end.
fn work<'j>(order: &Order, thread: usize, job: &'j Job<'j>, means: Means, pace: Pace<'j>, mut ledger: Ledger) {
    if let Err(fault) = machine::pin_worker(order, thread).and_then(|()| files::take(job.tables)) {
        return ledger.fail(fault);
    }
    let places = pace.places();
    match means {
        Means::Epoll(set) => turn(order, job, Epoll::new(set, places), pace, ledger),
        Means::Ring(prepared) => match Ring::new(prepared, places) {
            Ok(ring) => turn(order, job, ring, pace, ledger),
            Err(e) => ledger.fail(Fault::machine("backend", format!("a thread could not take over its io_uring: {e}"))),
        },
    }
}

/// The load on top of `sockets`, whatever the back end is: with TLS where the order asks for it.
fn turn<'j>(order: &Order, job: &'j Job<'j>, sockets: impl Poll, pace: Pace<'j>, ledger: Ledger) {
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
            Worker::new(job, streams, pace, ledger).run();
        }
        1 => Worker::new(job, below, pace, ledger).run(),
        depth => {
            let pipeline = Pipeline::new(below, pace.places(), depth);
            Worker::new(job, pipeline, pace, ledger).run();
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
            early = if interrupted() {
                Some(Ended::Interrupted)
            } else if given_up && !job.reached.load(Ordering::Relaxed) {
                Some(Ended::Unreachable)
            } else {
                None
            };
            job.stop.store(early.is_some(), Ordering::Relaxed);
        }
    }
    if !collector.is_whole() {
        return Err(Fault::machine("", "a thread of the engine broke off; its message is on standard error").into());
    }
    let ended = early.unwrap_or(match order.until {
        _ if !job.reached.load(Ordering::Relaxed) => Ended::Unreachable,
        Until::Duration(_) => Ended::Duration,
        Until::Count(_) => Ended::Count,
    });
    collector.finish(ended.name(), order)?;
    Ok(ended)
}

/// Writes the line that stands instead of a summary.
pub fn fault_line(sink: &mut dyn Write, fault: &Fault) -> io::Result<()> {
    lines::write(sink, &lines::FaultLine::new(fault))
}
