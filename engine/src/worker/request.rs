//! What can happen to a request: begun, connected, sent, answered, broken, overdue.
//!
//! Each way out ends in [`Worker::book`], exactly once. The closing rules of the protocol are here, each at the place it decides.

use super::Worker;
use crate::clock;
use crate::connection::{Answer, Progress, State};
use crate::error::Fault;
use crate::expect::Broken;
use crate::poll::Poll;
use crate::slice::Outcome;
use crate::trouble;
use rustix::io::Errno;
use std::sync::atomic::Ordering;

/// How long a place waits when this machine has no port or descriptor to spare.
const STARVED_NS: u64 = 10 * clock::MILLISECOND;

impl<P: Poll> Worker<'_, P> {
    pub(super) fn received(&mut self, place: usize, ending: bool, now: u64) {
        let bytes = self.poll.bytes();
        self.ledger.slice.counts.bytes_in += bytes.len() as u64;
        let p = &mut self.places[place];
        if self.ledger.slice.is_routed() {
            self.ledger.slice.received(p.request(), bytes.len());
        }
        if p.state != State::Asking {
            // RFC 9112, 9.2: bytes that nobody asked for make the connection useless.
            return self.hang_up(place);
        }
        if p.silent() {
            self.ledger.slice.first_byte.record(now.saturating_sub(p.sent_at));
        }
        let (request, lore) = (&self.job.requests[p.request()], &mut self.lore[p.request()]);
        match p.absorb(bytes, now, request, lore, &mut self.totals.first) {
            Progress::More => {}
            Progress::Complete(answer) => self.complete(place, answer, ending, now),
            Progress::Malformed(why) => self.lose(place, Outcome::Malformed, why, now),
        }
    }

    /// The answer is complete: whatever follows, the request has its outcome.
    fn complete(&mut self, place: usize, answer: Answer, ending: bool, now: u64) {
        let p = &mut self.places[place];
        (p.answered, p.answers, p.status) = (true, p.answers + 1, answer.status);
        let slice = &mut self.ledger.slice;
        slice.latency.record(now.saturating_sub(p.sent_at));
        slice.response.record(now.saturating_sub(p.due_at));
        slice.status(answer.status);
        slice.counts.http10_answers += u64::from(answer.http10);
        let keep = answer.keep_alive && self.job.keep_alive;
        let reusable = keep && !ending && !answer.surplus && p.sent;
        match &answer.broken {
            None => self.book(place, Outcome::Ok, "", now),
            Some(broken) => self.wrong(place, &answer, broken, now),
        }
        if !reusable {
            let counts = &mut self.ledger.slice.counts;
            counts.closes_announced += u64::from(!keep);
            counts.closes_silent += u64::from(keep && ending);
            // RFC 9112, 9.6: at once, and from our side; some servers linger for seconds until the client has closed.
            self.hang_up(place);
        }
        self.next_request(place, now);
    }

    fn wrong(&mut self, place: usize, answer: &Answer, broken: &Broken, now: u64) {
        if self.totals.first_error.is_none() {
            let request = &self.job.requests[self.places[place].request()];
            let text = trouble::wrong(request, answer, broken, self.totals.first.odd_type.as_deref());
            self.totals.first_error = Some((now, text));
        }
        let outcome = if *broken == Broken::Status { Outcome::WrongStatus } else { Outcome::WrongBody };
        self.book(place, outcome, "", now);
    }

    /// The only place where a request ends.
    #[inline]
    pub(super) fn book(&mut self, place: usize, outcome: Outcome, why: &str, now: u64) {
        self.in_flight -= 1;
        self.ledger.end(outcome);
        self.places[place].state = State::Idle;
        if self.ledger.slice.is_routed() {
            self.book_route(place, outcome, now);
        }
        if outcome != Outcome::Ok && outcome != Outcome::Unfinished && self.totals.first_error.is_none() {
            let request = &self.job.requests[self.places[place].request()];
            self.totals.first_error = Some((now, trouble::lost(request, self.job, outcome, why)));
        }
    }

    /// The run ended before its answer.
    pub(super) fn unfinished(&mut self, place: usize, now: u64) {
        self.ledger.slice.censor(now.saturating_sub(self.places[place].due_at));
        self.book(place, Outcome::Unfinished, "", now);
    }

    pub(super) fn open(&mut self, place: usize, now: u64) {
        let p = &mut self.places[place];
        (p.state, p.connect_at) = (State::Connecting, now);
        match self.poll.open(place, &self.job.endpoint) {
            Ok(()) => self.remind(place),
            Err(errno) => self.unconnected(place, errno, now),
        }
    }

    pub(super) fn connected(&mut self, place: usize, now: u64) {
        let p = &mut self.places[place];
        let unasked = p.state == State::Opening;
        p.connect();
        self.connections += 1;
        let slice = &mut self.ledger.slice;
        slice.connections_peak = slice.connections_peak.max(self.connections);
        self.ledger.slice.counts.connections_opened += 1;
        self.ledger.slice.connect.record(now.saturating_sub(p.connect_at));
        if !self.job.reached.load(Ordering::Relaxed) {
            self.job.reached.store(true, Ordering::Relaxed);
        }
        if unasked {
            self.places[place].state = State::Idle;
            return self.next_request(place, now);
        }
        self.ask(place);
    }

    /// Sends the present request on the present connection, and says when.
    #[inline(always)]
    pub(super) fn ask(&mut self, place: usize) -> u64 {
        let p = &mut self.places[place];
        p.ask(self.job.requests[p.request()].method == "HEAD");
        let now = clock::now();
        if p.sent_at == 0 {
            p.sent_at = now;
            if !self.pace.is_open() {
                // Nothing but the answer before it, and then the engine, decided when it went.
                p.due_at = now;
            }
        }
        self.timers.arm(place, p.sent_at.saturating_add(self.job.timeout_ns));
        self.send_rest(place, now);
        now
    }

    #[inline(always)]
    pub(super) fn send_rest(&mut self, place: usize, now: u64) {
        let p = &mut self.places[place];
        if p.state != State::Asking {
            return;
        }
        let bytes = &self.job.encoded[p.request()];
        if bytes.is_empty() {
            return self.send_drawn(place, now);
        }
        match self.poll.send(place, &bytes[p.taken..]) {
            Ok(sent) => {
                p.taken += sent;
                p.sent = p.taken == bytes.len();
                self.ledger.slice.counts.bytes_out += sent as u64;
            }
            Err(errno) => self.failed(place, errno, now),
        }
    }

    pub(super) fn remind(&mut self, place: usize) {
        let deadline = self.places[place].deadline(self.job.timeout_ns, self.job.connect_timeout_ns);
        if let Some(deadline) = deadline {
            self.timers.arm(place, deadline);
        }
    }

    /// The server ended its side.
    pub(super) fn ended(&mut self, place: usize, now: u64) {
        let p = &mut self.places[place];
        match p.state {
            State::Asking => {
                let (request, lore) = (&self.job.requests[p.request()], &mut self.lore[p.request()]);
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

    pub(super) fn failed(&mut self, place: usize, errno: Errno, now: u64) {
        match self.places[place].state {
            State::Connecting => self.unconnected(place, errno, now),
            State::Opening => self.unopened(place),
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
        let (p, slice) = (&self.places[place], &mut self.ledger.slice);
        if outcome == Outcome::Timeout {
            slice.latency.record(now.saturating_sub(p.sent_at));
        }
        if matches!(outcome, Outcome::Timeout | Outcome::ConnectTimeout) {
            slice.censor(now.saturating_sub(p.due_at));
        }
        self.hang_up(place);
        self.book(place, outcome, why, now);
        self.next_request(place, now);
    }

    pub(super) fn hang_up(&mut self, place: usize) {
        self.poll.close(place);
        let p = &mut self.places[place];
        if std::mem::take(&mut p.connected) {
            self.connections -= 1;
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
            Errno::TIMEDOUT => {
                self.ledger.slice.censor(now.saturating_sub(self.places[place].due_at));
                Outcome::ConnectTimeout
            }
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

    pub(super) fn give_up(&mut self, message: String) {
        self.fault.get_or_insert_with(|| Fault::machine("pace.connections", message));
    }

    pub(super) fn overdue(&mut self, place: usize, now: u64) {
        let p = &self.places[place];
        match p.state {
            State::Idle => {}
            State::BackOff(_) => {
                self.places[place].state = State::Idle;
                self.next_request(place, now);
            }
            State::Starved(_) => self.open(place, now),
            State::Asking => self.lose(place, Outcome::Timeout, "", now),
            State::Opening => self.unopened(place),
            State::Connecting if now >= p.connect_at + self.job.connect_timeout_ns => {
                self.lose(place, Outcome::ConnectTimeout, "", now);
            }
            State::Connecting => self.lose(place, Outcome::Timeout, "", now),
        }
    }
}

/// Failures to connect that are this machine's own.
fn is_ours(errno: Errno) -> bool {
    matches!(errno, Errno::ADDRNOTAVAIL | Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM)
}
