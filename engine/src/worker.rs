//! The one loop that joins pace, connections and books. One worker is one thread; workers share nothing that is written to in
//! the steady state.
//!
//! Everything that can happen to a request comes through here, and each way out calls [`Worker::book`] exactly once; at the end
//! the worker asserts that as many requests ended as were begun.

use crate::clock;
use crate::connection::{Answer, Lore, Place, Progress, State};
use crate::error::Fault;
use crate::expect::Broken;
use crate::ledger::{Ledger, Totals};
use crate::mix::Mix;
use crate::order::Request;
use crate::pace::{Due, Pace};
use crate::poll::{Poll, What};
use crate::slice::Outcome;
use crate::timers::Timers;
use crate::trouble;
use rustix::io::Errno;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

/// The longest sleep, so that a stop is seen soon.
const NAP_NS: u64 = 50 * clock::MILLISECOND;
/// Connects begun in one turn of the loop: a server gets to accept while a large number is being opened.
const CONNECTS_PER_TURN: usize = 64;
/// How long a place waits when this machine has no port or descriptor to spare.
const STARVED_NS: u64 = 10 * clock::MILLISECOND;

/// What all workers read and none writes, except the two flags.
pub struct Job<'j> {
    /// The requests of the order.
    pub requests: &'j [Request],
    /// Their bytes.
    pub encoded: &'j [Vec<u8>],
    /// Where the server is.
    pub address: SocketAddr,
    /// From sent to complete answer.
    pub timeout_ns: u64,
    /// From connect to writable.
    pub connect_timeout_ns: u64,
    /// Whether connections are used again.
    pub keep_alive: bool,
    /// Set to end the load now.
    pub stop: AtomicBool,
    /// Set by the first connection that comes about.
    pub reached: AtomicBool,
}

/// One thread of load.
pub struct Worker<'j, P> {
    job: &'j Job<'j>,
    poll: P,
    pace: Pace<'j>,
    mix: Mix,
    places: Vec<Place>,
    /// One for each request.
    lore: Vec<Lore>,
    timers: Timers,
    ledger: Ledger,
    totals: Totals,
    /// Places that have not been opened yet are those from here on.
    unopened: usize,
    begun: u64,
    in_flight: u64,
    over: bool,
    fault: Option<Fault>,
}

impl<'j, P: Poll> Worker<'j, P> {
    /// A worker that is ready to run.
    pub fn new(job: &'j Job<'j>, poll: P, pace: Pace<'j>, ledger: Ledger) -> Self {
        let places = pace.places();
        Worker {
            job,
            poll,
            pace,
            mix: Mix::new(job.requests.iter().map(|r| r.weight)),
            places: std::iter::repeat_with(Place::default).take(places).collect(),
            lore: job.requests.iter().map(|_| Lore::default()).collect(),
            timers: Timers::new(places),
            ledger,
            totals: Totals::default(),
            unopened: 0,
            begun: 0,
            in_flight: 0,
            over: false,
            fault: None,
        }
    }

    /// Loads until the timetable, the count, a stop or a fault ends it.
    pub fn run(mut self) {
        self.ledger.open();
        loop {
            let now = clock::now();
            self.open_more(now);
            self.reminders(now);
            self.turn_windows(now);
            if self.is_over() {
                return self.finish(now);
            }
            if let Err(errno) = self.poll.wait(self.nap(now)) {
                self.give_up(format!("waiting for sockets failed: {errno}"));
            }
            let woke = clock::now();
            self.events();
            let stall = clock::now().saturating_sub(woke);
            self.ledger.slice.loop_stall_max_ns = self.ledger.slice.loop_stall_max_ns.max(stall);
        }
    }

    fn is_over(&self) -> bool {
        let counted = self.pace.spent() && self.in_flight == 0;
        self.over || counted || self.fault.is_some() || self.job.stop.load(Ordering::Relaxed)
    }

    /// How long the loop may sleep.
    fn nap(&self, now: u64) -> u64 {
        if self.unopened < self.places.len() {
            return 0;
        }
        let until = self.timers.next().unwrap_or(u64::MAX).min(self.ledger.window.end);
        until.saturating_sub(now).min(NAP_NS)
    }

    fn open_more(&mut self, now: u64) {
        let until = self.places.len().min(self.unopened + CONNECTS_PER_TURN);
        for place in self.unopened..until {
            self.next_request(place, now);
        }
        self.unopened = until;
    }

    /// Everything that the last wait brought.
    fn events(&mut self) {
        while let Some((place, what)) = self.poll.next() {
            let now = clock::now();
            if now >= self.ledger.window.end {
                self.turn_windows(now);
            }
            if self.over {
                return;
            }
            match what {
                What::Bytes { ending } => self.received(place, ending, now),
                What::Connected => self.connected(place, now),
                What::Writable => self.send_rest(place, now),
                What::End => self.ended(place, now),
                What::Failed(errno) => self.failed(place, errno, now),
            }
        }
    }

    fn received(&mut self, place: usize, ending: bool, now: u64) {
        let bytes = self.poll.bytes();
        self.ledger.slice.counts.bytes_in += bytes.len() as u64;
        let p = &mut self.places[place];
        if p.state != State::Asking {
            // RFC 9112, 9.5: bytes that nobody asked for make the connection useless.
            return self.hang_up(place);
        }
        let (request, lore) = (&self.job.requests[p.request], &mut self.lore[p.request]);
        match p.absorb(bytes, now, request, lore, &mut self.totals.first) {
            Progress::More => {}
            Progress::Complete(answer) => self.complete(place, answer, ending, now),
            Progress::Malformed(why) => self.lose(place, Outcome::Malformed, why, now),
        }
    }

    /// The answer is complete: whatever follows, the request has its outcome.
    fn complete(&mut self, place: usize, answer: Answer, ending: bool, now: u64) {
        let p = &mut self.places[place];
        (p.answered, p.answers) = (true, p.answers + 1);
        let slice = &mut self.ledger.slice;
        slice.latency.saturating_record(now.saturating_sub(p.sent_at));
        slice.status(answer.status);
        slice.counts.http10_answers += u64::from(answer.http10);
        let keep = answer.keep_alive && self.job.keep_alive;
        let reusable = keep && !ending && !answer.surplus && p.sent;
        slice.counts.closes_announced += u64::from(!keep);
        slice.counts.closes_silent += u64::from(keep && ending);
        match answer.broken {
            None => self.book(place, Outcome::Ok, "", now),
            Some(broken) => self.wrong(place, answer, broken, now),
        }
        if !reusable {
            // RFC 9112, 9.6: at once, and from our side; some servers linger for seconds until the client has closed.
            self.hang_up(place);
        }
        self.next_request(place, now);
    }

    fn wrong(&mut self, place: usize, answer: Answer, broken: Broken, now: u64) {
        if self.totals.first_error.is_none() {
            let request = &self.job.requests[self.places[place].request];
            let text = trouble::wrong(request, &answer, broken, self.totals.first.odd_type.as_deref());
            self.totals.first_error = Some((now, text));
        }
        let outcome = if broken == Broken::Status { Outcome::WrongStatus } else { Outcome::WrongBody };
        self.book(place, outcome, "", now);
    }

    /// The only place where a request ends.
    #[inline]
    fn book(&mut self, place: usize, outcome: Outcome, why: &str, now: u64) {
        self.in_flight -= 1;
        self.ledger.end(outcome);
        self.places[place].state = State::Idle;
        if outcome != Outcome::Ok && outcome != Outcome::Unfinished && self.totals.first_error.is_none() {
            let request = &self.job.requests[self.places[place].request];
            self.totals.first_error = Some((now, trouble::lost(request, self.job, outcome, why)));
        }
    }

    /// Gives a free place its next request, if there is one.
    fn next_request(&mut self, place: usize, now: u64) {
        if self.over || self.pace.next() == Due::Never {
            return self.hang_up(place);
        }
        self.begun += 1;
        self.in_flight += 1;
        let p = &mut self.places[place];
        p.assign(self.mix.next());
        if p.connected { self.ask(place) } else { self.open(place, now) }
    }

    fn open(&mut self, place: usize, now: u64) {
        let p = &mut self.places[place];
        (p.state, p.connect_at) = (State::Connecting, now);
        match self.poll.open(place, &self.job.address) {
            Ok(()) => self.remind(place),
            Err(errno) => self.unconnected(place, errno, now),
        }
    }

    fn connected(&mut self, place: usize, now: u64) {
        let p = &mut self.places[place];
        p.connect();
        self.ledger.slice.counts.connections_opened += 1;
        self.ledger.slice.connect.saturating_record(now.saturating_sub(p.connect_at));
        if !self.job.reached.load(Ordering::Relaxed) {
            self.job.reached.store(true, Ordering::Relaxed);
        }
        self.ask(place);
    }

    /// Sends the present request on the present connection.
    #[inline]
    fn ask(&mut self, place: usize) {
        let p = &mut self.places[place];
        p.ask(self.job.requests[p.request].method == "HEAD");
        let now = clock::now();
        if p.sent_at == 0 {
            p.sent_at = now;
        }
        self.send_rest(place, now);
    }

    fn send_rest(&mut self, place: usize, now: u64) {
        let p = &mut self.places[place];
        if p.state != State::Asking {
            return;
        }
        let bytes = &self.job.encoded[p.request];
        match self.poll.send(place, &bytes[p.taken..]) {
            Ok(sent) => {
                p.taken += sent;
                p.sent = p.taken == bytes.len();
                self.ledger.slice.counts.bytes_out += sent as u64;
                self.remind(place);
            }
            Err(errno) => self.failed(place, errno, now),
        }
    }

    fn remind(&mut self, place: usize) {
        let deadline = self.places[place].deadline(self.job.timeout_ns, self.job.connect_timeout_ns);
        if let Some(deadline) = deadline {
            self.timers.arm(place, deadline);
        }
    }

    /// The server ended its side.
    fn ended(&mut self, place: usize, now: u64) {
        let p = &mut self.places[place];
        match p.state {
            State::Asking => {
                let (request, lore) = (&self.job.requests[p.request], &mut self.lore[p.request]);
                match p.end(request, lore) {
                    Some(answer) => self.complete(place, answer, true, now),
                    None => self.cut(place, Outcome::Truncated, "", now),
                }
            }
            _ => {
                self.ledger.slice.counts.closes_silent += 1;
                self.hang_up(place);
            }
        }
    }

    fn failed(&mut self, place: usize, errno: Errno, now: u64) {
        match self.places[place].state {
            State::Connecting => self.unconnected(place, errno, now),
            State::Asking if errno == Errno::TIMEDOUT => self.lose(place, Outcome::Timeout, "", now),
            State::Asking => self.cut(place, Outcome::Reset, "", now),
            _ => self.hang_up(place),
        }
    }

    /// The connection broke under a request.
    fn cut(&mut self, place: usize, outcome: Outcome, why: &str, now: u64) {
        if !self.places[place].may_retry() {
            return self.lose(place, outcome, why, now);
        }
        self.ledger.slice.counts.stale_retries += 1;
        self.hang_up(place);
        self.places[place].retried = true;
        self.open(place, now);
    }

    /// The request ends without a complete answer, and its connection with it.
    fn lose(&mut self, place: usize, outcome: Outcome, why: &str, now: u64) {
        if outcome == Outcome::Timeout {
            let waited = now.saturating_sub(self.places[place].sent_at);
            self.ledger.slice.latency.saturating_record(waited);
        }
        self.hang_up(place);
        self.book(place, outcome, why, now);
        self.next_request(place, now);
    }

    fn hang_up(&mut self, place: usize) {
        self.poll.close(place);
        let p = &mut self.places[place];
        if std::mem::take(&mut p.connected) {
            self.totals.answers_per_connection.saturating_record(p.answers);
        }
    }

    /// The connect came to nothing.
    fn unconnected(&mut self, place: usize, errno: Errno, now: u64) {
        self.hang_up(place);
        if is_ours(errno) {
            return self.starve(place, errno, now);
        }
        let outcome = match errno {
            Errno::TIMEDOUT => Outcome::ConnectTimeout,
            Errno::CONNRESET => Outcome::Reset,
            _ => Outcome::ConnectRefused,
        };
        self.book(place, outcome, "", now);
        let p = &mut self.places[place];
        p.state = State::BackOff(now + p.next_back_off());
        self.remind(place);
    }

    /// This machine has nothing to connect with. That is no outcome of the server's: the request waits, but not for ever.
    fn starve(&mut self, place: usize, errno: Errno, now: u64) {
        let p = &mut self.places[place];
        if p.starved_at == 0 {
            p.starved_at = now;
        } else if now - p.starved_at >= self.job.connect_timeout_ns {
            return self.give_up(trouble::starved(errno));
        }
        p.state = State::Starved(now + STARVED_NS);
        self.remind(place);
    }

    fn give_up(&mut self, message: String) {
        self.fault.get_or_insert_with(|| Fault::machine("pace.connections", message));
    }

    /// Deadlines that have passed.
    fn reminders(&mut self, now: u64) {
        while let Some(place) = self.timers.due(now) {
            match self.places[place].deadline(self.job.timeout_ns, self.job.connect_timeout_ns) {
                Some(deadline) if deadline <= now => self.overdue(place, now),
                Some(deadline) => self.timers.arm(place, deadline),
                None => {}
            }
        }
    }

    fn overdue(&mut self, place: usize, now: u64) {
        let p = &self.places[place];
        match p.state {
            State::Idle => {}
            State::BackOff(_) => self.next_request(place, now),
            State::Starved(_) => self.open(place, now),
            State::Asking => self.lose(place, Outcome::Timeout, "", now),
            State::Connecting if now >= p.connect_at + self.job.connect_timeout_ns => {
                self.lose(place, Outcome::ConnectTimeout, "", now);
            }
            State::Connecting => self.lose(place, Outcome::Timeout, "", now),
        }
    }

    /// Closes the windows that have ended by `now`.
    fn turn_windows(&mut self, now: u64) {
        while now >= self.ledger.window.end && !self.over {
            if self.ledger.window.last {
                self.over = true;
            } else {
                if self.ledger.next_window().phase != self.ledger.window.phase {
                    self.enter_steady(now);
                }
                self.ledger.turn(self.in_flight);
            }
        }
    }

    /// A run that counts ends after exactly that many requests. When more than that are in flight from the warm-up, the ones too
    /// many end with the warm-up, unfinished.
    fn enter_steady(&mut self, now: u64) {
        let mut surplus = self.pace.enter_steady(self.in_flight);
        for place in 0..self.places.len() {
            if surplus > 0 && self.places[place].busy() {
                self.hang_up(place);
                self.book(place, Outcome::Unfinished, "", now);
                surplus -= 1;
            }
        }
    }

    fn finish(mut self, now: u64) {
        for place in 0..self.places.len() {
            if self.places[place].busy() {
                self.book(place, Outcome::Unfinished, "", now);
            }
            self.hang_up(place);
        }
        assert_eq!(self.begun, self.ledger.ended(), "a request has no outcome, or two: a defect in the engine");
        if let Some(fault) = self.fault {
            return self.ledger.fail(fault);
        }
        self.totals.unanswered = self.places.iter().filter(|p| !p.answered).count() as u64;
        self.ledger.close(now, self.totals);
    }
}

/// Failures to connect that are this machine's own.
fn is_ours(errno: Errno) -> bool {
    matches!(errno, Errno::ADDRNOTAVAIL | Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM)
}
