//! The one loop that joins pace, connections and books. One worker is one thread; workers share nothing that is written to in
//! the steady state.
//!
//! This file is the loop and its windows; how requests get their places is in [`arrivals`], what can happen to them between their
//! begin and their one outcome in [`request`], what connections do in [`connecting`]. At the end the worker asserts that as many requests ended as were begun.

mod arrivals;
mod connecting;
mod deadlines;
mod drain;
mod repeat;
mod request;
mod routes;
mod start;
mod templates;
mod turns;
mod warmup;

use crate::attention::OVERSLEPT_NS;
use crate::clock;
use crate::connection::{Lore, Place};
use crate::cue::Cue;
use crate::error::Fault;
use crate::files::Tables;
use crate::ledger::{Ledger, Totals};
use crate::mix::Mix;
use crate::order::{Part as Share, Request, Wait};
use crate::pace::Pace;
use crate::poll::{Endpoint, Poll, What, secure::Tls};
use crate::pool::Pool;
use crate::timers::Timers;
use crate::wait;
use crate::wire::template::{Mould, Press};
use deadlines::{Away, Seen};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use turns::Part;

/// The longest sleep, so that a stop is seen soon.
const NAP_NS: u64 = 50 * clock::MILLISECOND;
/// Connects begun in one turn of the loop: a server gets to accept while a large number is being opened.
const CONNECTS_PER_TURN: usize = 64;
/// Stands for no place, which a worker has fewer of.
const NOBODY: u32 = u32::MAX;

/// What all workers read and none writes, except flags and what they agree on turns by.
pub struct Job<'j> {
    /// The requests of the order.
    pub requests: &'j [Request],
    /// Their bytes; none for one that differs each time.
    pub encoded: &'j [Vec<u8>],
    /// The parts of those that do.
    pub moulds: &'j [Option<Mould>],
    /// Where their random draws begin.
    pub seed: u64,
    /// Of this engine, over which requests are numbered.
    pub threads: usize,
    /// Which engine this is, of those that share the load.
    pub part: Share,
    /// When the run was to begin; `None`: as soon as it could.
    pub start_at_ns: Option<u64>,
    /// Where the server is.
    pub endpoint: Endpoint,
    /// What TLS connections are begun with; `None`: plain.
    pub tls: Option<Tls>,
    /// Whose table of files the threads use.
    pub tables: Tables,
    /// From sent to complete answer.
    pub timeout_ns: u64,
    /// From connect to writable.
    pub connect_timeout_ns: u64,
    /// Whether connections are used again.
    pub keep_alive: bool,
    /// How threads wait.
    pub wait: Wait,
    /// How long the end of the run waits for answers.
    pub drain_ns: u64,
    /// What turns are begun by; `None`: the order has none.
    pub cue: Option<Cue>,
    /// Set to end the load now.
    pub stop: AtomicBool,
    /// Set where that is because who gave the order was heard no more.
    pub abandoned: AtomicBool,
    /// Set by the first connection that comes about.
    pub reached: AtomicBool,
    /// Connects that were refused before.
    pub refused: AtomicU64,
}

impl Job<'_> {
    /// Ends the load now.
    pub fn end(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.cue.iter().for_each(Cue::ring);
    }

    /// Whether all requests are the same bytes, on connections that are kept.
    fn repeats(&self) -> bool {
        self.keep_alive && matches!((self.encoded, self.moulds), ([bytes], [None]) if !bytes.is_empty())
    }
}

/// What is sent for a request.
struct Saying<'j> {
    /// None for one that differs each time.
    bytes: &'j [u8],
    /// It is a HEAD request.
    to_head: bool,
    /// It may be sent again where the server may have worked on it.
    idempotent: bool,
}

/// One thread of load.
pub struct Worker<'j, P> {
    job: &'j Job<'j>,
    poll: P,
    pace: Pace<'j>,
    mix: Mix,
    places: Vec<Place>,
    /// Those of an open pace that have no request.
    pool: Pool,
    /// What is sent, one for each request.
    sayings: Vec<Saying<'j>>,
    /// One for each request.
    lore: Vec<Lore>,
    timers: Timers,
    press: Press,
    ledger: Ledger,
    totals: Totals,
    /// The place that is opening each connection; [`NOBODY`]: none.
    openers: Vec<u32>,
    /// Every request is the same, and follows the one before it on its connection at once.
    repeats: bool,
    /// Connections that have not been opened yet are those from here on.
    unopened: usize,
    /// Connections there are.
    connections: u64,
    begun: u64,
    in_flight: u64,
    /// Those of them that were due in a phase that has been told.
    left_over: u64,
    seen: Seen,
    /// When each place was last read from without coming to the end of an answer.
    read_at: Vec<u64>,
    /// When the last wait was to end.
    until: u64,
    away: Away,
    over: bool,
    /// What has to come to its end before the loop returns.
    part: Part,
    /// The longest sleep in it.
    longest_nap: u64,
    fault: Option<Fault>,
}

impl<'j> Saying<'j> {
    fn new(request: &Request, bytes: &'j [u8]) -> Self {
        Saying { bytes, to_head: request.method == "HEAD", idempotent: request.is_idempotent() }
    }
}

impl<'j, P: Poll> Worker<'j, P> {
    /// A worker that is ready to run.
    pub fn new(job: &'j Job<'j>, poll: P, pace: Pace<'j>, ledger: Ledger) -> Self {
        let (connections, lanes) = (pace.places(), poll.lanes());
        let places = connections * lanes;
        let (number, threads) = job.part.deal(ledger.thread() as u64, job.threads as u64);
        Worker {
            job,
            poll,
            pool: Pool::new(pace.opened(), connections, lanes),
            openers: vec![NOBODY; connections],
            repeats: job.repeats() && pace.is_constant(),
            pace,
            mix: Mix::new(job.requests.iter().map(|r| r.weight)),
            places: std::iter::repeat_with(Place::default).take(places).collect(),
            sayings: job.requests.iter().zip(job.encoded).map(|(r, bytes)| Saying::new(r, bytes)).collect(),
            lore: job.requests.iter().map(|_| Lore::default()).collect(),
            timers: Timers::new(places),
            press: Press::new(job.seed, number, threads),
            ledger,
            totals: Totals::default(),
            unopened: 0,
            connections: 0,
            begun: 0,
            in_flight: 0,
            left_over: 0,
            seen: Seen::default(),
            read_at: vec![0; places],
            until: 0,
            away: Away::default(),
            over: false,
            part: Part::Load,
            longest_nap: NAP_NS,
            fault: None,
        }
    }

    /// Carries out the order's load.
    pub fn work(self) {
        match &self.job.cue {
            Some(cue) => self.take_turns(cue),
            None => self.run(),
        }
    }

    /// Loads until the timetable, the count, a stop or a fault ends it.
    #[inline(never)] // instructions are counted from its start to its end: bench/gates.py
    fn run(mut self) {
        self.begin();
        let now = self.load();
        self.finish(now);
    }

    fn begin(&mut self) {
        self.await_start();
        self.ledger.open();
        self.pace.begin(self.ledger.window.start);
    }

    /// The loop, until the present part is over. Says when that was.
    fn load(&mut self) -> u64 {
        // When the last wait began.
        let mut asked = clock::now();
        self.until = asked;
        loop {
            // When the first that it brought was seen: the end of time where it was nothing.
            let mut woke = self.events();
            let mut now = clock::now();
            if woke > self.until {
                woke = self.woke_late(asked, woke.min(now), woke > now);
            }
            if self.has_chores(now) {
                self.chores(now, asked);
                // Chores take their time, and sleep and stall are told from when they are done.
                now = clock::now();
            }
            if self.is_over() {
                return now;
            }
            self.stall(woke, now);
            let nap = self.nap(now);
            (asked, self.until) = (now, now + nap);
            if let Err(errno) = self.poll.wait(nap) {
                self.give_up(format!("waiting for sockets failed: {errno}"));
            }
        }
    }

    /// The loop turns to its events once more; it was needed from then on.
    #[inline(always)]
    fn stall(&mut self, needed: u64, now: u64) {
        let ns = now.saturating_sub(needed);
        let slice = &mut self.ledger.slice;
        slice.loop_stall_max_ns = slice.loop_stall_max_ns.max(ns);
        if ns > OVERSLEPT_NS {
            self.was_away(needed, now);
        }
    }

    /// Whether time, and not a socket, has brought something to do.
    #[inline(always)]
    fn has_chores(&self, now: u64) -> bool {
        let at = self.timers.next().min(self.ledger.window.end).min(self.pace.due());
        at <= now || self.unopened < self.pace.opened()
    }

    #[inline(never)]
    fn chores(&mut self, now: u64, asked: u64) {
        self.look_back(asked);
        // A deadline before the end of the window belongs to it, however late the loop comes by.
        let last = self.ledger.window.end - 1;
        self.reminders(last, now.min(last));
        self.turn_windows(now);
        if !self.over {
            self.reminders(u64::MAX, now);
            self.open_more(now);
            self.arrivals(now);
        }
    }

    #[inline(always)]
    fn is_over(&self) -> bool {
        // What is mostly false comes first: this is asked in every turn.
        let counted = self.in_flight == self.left_over && (self.pace.spent() || self.has_ended());
        self.over || counted || self.fault.is_some() || self.job.stop.load(Ordering::Relaxed)
    }

    /// How long the loop may sleep.
    #[inline(always)]
    fn nap(&self, now: u64) -> u64 {
        if self.unopened < self.pace.opened() {
            return 0;
        }
        let other = self.timers.next().min(self.ledger.window.end).min(now + self.longest_nap);
        wait::nap(self.job.wait, now, self.next_arrival(), other)
    }

    /// Everything that the last wait brought. Says when the first of it was seen; the end of time: there was nothing.
    #[inline(always)]
    fn events(&mut self) -> u64 {
        let (mut now, mut first) = (0, u64::MAX);
        while let Some((place, what)) = self.poll.next() {
            if !self.poll.together() {
                now = clock::now();
                first = first.min(now);
            }
            if now >= self.ledger.window.end {
                self.turn_windows(now);
                if self.over {
                    break;
                }
            }
            if self.pace.due() <= now {
                self.arrivals(now);
            }
            match what {
                What::Bytes { ending } => self.received(place, ending, now),
                What::Dropped { bytes, ending } => self.dropped(place, bytes, ending, now),
                What::Connected => self.connected(place, now),
                What::Writable => self.send_rest(place, now),
                What::End => self.ended(place, true, now),
                What::Cut => self.ended(place, false, now),
                What::Tls => self.insecure(place, now),
                What::Failed(errno) => self.failed(place, errno, now),
                What::Behind(cause) => self.behind(place, cause, now),
                What::Left { announced } => self.left(place, announced, now),
                what => self.part(place, what, now),
            }
        }
        first
    }

    /// Closes the windows that have ended by `now`.
    #[cold]
    #[inline(never)]
    fn turn_windows(&mut self, now: u64) {
        while now >= self.ledger.window.end && !self.over {
            if self.ledger.window.last {
                self.over = !self.begin_drain();
            } else {
                let phases = (self.ledger.window.phase, self.ledger.next_window().phase);
                if phases.0 != phases.1 && self.job.cue.is_none() {
                    self.enter_steady(now);
                }
                self.count_untold();
                self.ledger.turn(self.in_flight);
                self.ledger.slice.connections_peak = self.connections;
            }
        }
    }

    /// Bytes that were nobody's answer or request belong to the slice, too.
    fn count_untold(&mut self) {
        let (bytes_in, bytes_out) = self.poll.untold();
        self.ledger.slice.counts.bytes_in += bytes_in;
        self.ledger.slice.counts.bytes_out += bytes_out;
    }

    fn finish(mut self, now: u64) {
        self.count_untold();
        for place in 0..self.places.len() {
            if self.places[place].busy() {
                self.unfinished(place, now);
            }
            self.hang_up(place);
        }
        // What came due while the loop was on its way here was due in the run.
        let end = now.min(self.ledger.window.end);
        while self.pace.due() < end && self.shed(now) {}
        assert_eq!(self.begun, self.ledger.ended(), "a request has no outcome, or two: a defect in the engine");
        if let Some(fault) = self.fault {
            return self.ledger.fail(fault);
        }
        if !self.job.reached.load(Ordering::Relaxed) {
            self.totals.first_error = self.totals.first_error.or(self.totals.unopened.take());
        }
        // A connection that was never needed, or never there, has nothing to answer for.
        let needed = |lanes: &&[Place]| self.pace.is_constant() || lanes.iter().any(|p| p.asked);
        let connections = self.places.chunks(self.poll.lanes()).filter(needed);
        let unanswered = connections.filter(|lanes| !lanes.iter().any(|p| p.answered));
        self.totals.unanswered = unanswered.count() as u64;
        if self.job.cue.is_some() {
            let in_turn = matches!(self.part, Part::Load);
            return self.ledger.leave(in_turn.then_some(now), self.totals);
        }
        self.ledger.close(now, self.totals);
    }
}
