//! What can happen to a request: begun, connected, sent, answered, broken, overdue.
//!
//! Each way out ends in [`Worker::book`], exactly once. The closing rules of the protocol are here, each at the place it decides.

use super::Worker;
use crate::clock;
use crate::connection::{Answer, Progress, Right, State};
use crate::error::Fault;
use crate::expect::Broken;
use crate::poll::{Poll, What};
use crate::slice::Outcome;
use crate::trouble;
use crate::wire::h1::{Framing, Head};
use rustix::io::Errno;

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
        let lore = &mut self.lore[p.request()];
        p.left(self.poll.left(place), !self.pace.is_open());
        if p.silent()
            && let Some((right, rest)) = p.known(bytes, lore)
        {
            let service = now.saturating_sub(p.sent_at);
            return self.right(place, right, rest, service, ending, now);
        }
        self.read(place, ending, now);
    }

    /// The answer is one that came before, byte for byte and in one read: the usual case, and nothing is left to be looked at.
    #[inline(always)]
    fn right(&mut self, place: usize, right: Right, rest: usize, service: u64, ending: bool, now: u64) {
        let (reusable, ending) = self.left_over(place, rest, ending);
        if reusable && self.may_repeat(place, right) {
            return self.repeat(place, right, service, now);
        }
        let answer = &self.places[place].take(right, rest);
        if self.pace.is_open() {
            let due = self.places[place].due_at;
            let slice = self.ledger.of(due);
            slice.first_byte.record(service);
            slice.latency.record(service);
            slice.response.record(now.saturating_sub(due));
        } else {
            self.ledger.slice.prompt.record(service);
        }
        // From the read to the next send there is one comparison of a few kilobytes at most: one look at the clock does for both.
        self.conclude(place, answer, reusable, ending, now, true);
    }

    /// The bytes that came are to be read.
    #[inline(never)]
    fn read(&mut self, place: usize, ending: bool, now: u64) {
        let p = &mut self.places[place];
        let (request, lore) = (&self.job.requests[p.request()], &mut self.lore[p.request()]);
        let silent = p.silent();
        let progress = p.absorb(self.poll.bytes(), now, request, lore, &mut self.totals.first);
        if silent && !p.silent() {
            // Empty lines before an answer are not of it: they leave the place silent.
            self.ledger.of(p.due_at).first_byte.record(now.saturating_sub(p.sent_at));
        }
        match progress {
            Progress::More => {
                self.read_at[place] = now;
                self.look_away(place);
            }
            Progress::Complete(answer) => {
                let (reusable, ending) = self.left_over(place, answer.rest, ending);
                self.look_away(place);
                self.complete(place, &answer, reusable, ending, now);
            }
            Progress::Malformed(why) => self.lose(place, Outcome::Malformed, why, now),
        }
    }

    /// Where nobody needs to see the rest of the body, the layers below may throw it away.
    fn look_away(&mut self, place: usize) {
        let p = &self.places[place];
        if self.lore[p.request()].may_look_away() {
            self.poll.discard(place, p.unseen().unwrap_or(0));
        }
    }

    /// So many bytes of a body came that nobody saw.
    #[inline(never)]
    pub(super) fn dropped(&mut self, place: usize, bytes: u64, ending: bool, now: u64) {
        self.ledger.slice.counts.bytes_in += bytes;
        let p = &mut self.places[place];
        if self.ledger.slice.is_routed() {
            self.ledger.slice.received(p.request(), bytes as usize);
        }
        if p.state != State::Asking {
            return self.hang_up(place);
        }
        match p.pass(bytes, &self.job.requests[p.request()], &mut self.lore[p.request()]) {
            None => {
                self.read_at[place] = now;
                self.look_away(place);
            }
            Some(answer) => self.complete(place, &answer, !ending && answer.rest == 0, ending, now),
        }
    }

    /// What follows an answer in its last read: whether the connection may be used again, and whether the server has ended it.
    #[inline(always)]
    fn left_over(&mut self, place: usize, rest: usize, ending: bool) -> (bool, bool) {
        if self.poll.answered(place, rest) {
            // They are counted when they come again.
            self.ledger.slice.counts.bytes_in -= rest as u64;
            return (true, false);
        }
        (!ending && (rest == 0 || !self.is_surplus(rest)), ending)
    }

    /// A part of an answer that a layer below reads.
    pub(super) fn part(&mut self, place: usize, what: What, now: u64) {
        let p = &mut self.places[place];
        if p.state != State::Asking {
            return;
        }
        let (request, lore) = (&self.job.requests[p.request()], &mut self.lore[p.request()]);
        match what {
            What::Head(status) => {
                self.ledger.of(p.due_at).first_byte.record(now.saturating_sub(p.sent_at));
                let content_type = self.poll.content_type();
                let head = Head { status, http10: false, framing: Framing::Close, keep_alive: true, content_type };
                p.head(&head, self.poll.bytes(), now, request, lore, &mut self.totals.first);
            }
            What::Body => {
                self.ledger.slice.counts.bytes_in += self.poll.bytes().len() as u64;
                p.body(self.poll.bytes(), request, lore);
            }
            What::Done => {
                let answer = p.done(request, lore);
                // Where the server did not wait for the end of the request, the layer below has seen to it.
                p.sent = true;
                self.complete(place, &answer, true, false, now);
            }
            What::Reset => {
                let why = self.poll.why().to_string();
                self.book(place, Outcome::Reset, &why, now);
                self.next_request(place, now);
            }
            _ => {
                let why = self.poll.why().to_string();
                self.lose(place, Outcome::Malformed, &why, now);
            }
        }
    }

    /// Whether the last bytes that came are more than an answer: RFC 9112, 9.2: empty lines may be discarded, anything else makes
    /// the next answer ambiguous.
    fn is_surplus(&self, rest: usize) -> bool {
        let bytes = self.poll.bytes();
        bytes[bytes.len() - rest..].iter().any(|b| !matches!(b, b'\r' | b'\n'))
    }

    /// The answer is complete, and its times are those of now.
    #[inline(never)]
    pub(super) fn complete(&mut self, place: usize, answer: &Answer, reusable: bool, ending: bool, now: u64) {
        let p = &self.places[place];
        let slice = self.ledger.of(p.due_at);
        slice.latency.record(now.saturating_sub(p.sent_at));
        slice.response.record(now.saturating_sub(p.due_at));
        self.conclude(place, answer, reusable, ending, now, false);
    }

    /// The answer is complete: whatever follows, the request has its outcome. `fresh` is as for [`Worker::follow`].
    #[inline(always)]
    fn conclude(&mut self, place: usize, answer: &Answer, reusable: bool, ending: bool, now: u64, fresh: bool) {
        let p = &mut self.places[place];
        (p.answered, p.answers) = (true, p.answers.saturating_add(1));
        self.ledger.of(p.due_at).status(answer.status);
        let slice = &mut self.ledger.slice;
        let keep = answer.keep_alive && self.job.keep_alive;
        let reusable = keep && reusable && p.sent;
        if answer.http10 || !keep || ending {
            slice.counts.http10_answers += u64::from(answer.http10);
            slice.counts.closes_announced += u64::from(!keep);
            slice.counts.closes_silent += u64::from(keep && ending);
        }
        match &answer.broken {
            None => self.book(place, Outcome::Ok, "", now),
            Some(broken) => self.wrong(place, answer, broken, now),
        }
        if !reusable {
            self.places[place].spent = true;
            if self.places[place].said_close() && !answer.http10 {
                self.poll.forsworn(place);
            }
            // RFC 9112, 9.6: at once, and from our side; some servers linger for seconds until the client has closed.
            self.hang_up(place);
        }
        self.follow(place, now, fresh);
    }

    #[cold]
    #[inline(never)]
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
    #[inline(always)]
    pub(super) fn book(&mut self, place: usize, outcome: Outcome, why: &str, now: u64) {
        let p = &mut self.places[place];
        p.state = State::Idle;
        self.in_flight -= 1;
        self.left_over -= u64::from(self.ledger.is_past(p.due_at));
        self.ledger.end_due(p.due_at, outcome);
        if self.ledger.slice.is_routed() {
            self.book_route(place, outcome, now);
        }
        if outcome != Outcome::Ok && outcome != Outcome::Unfinished {
            self.regret(place, outcome, why, now);
        }
    }

    #[cold]
    #[inline(never)]
    fn regret(&mut self, place: usize, outcome: Outcome, why: &str, now: u64) {
        if self.totals.first_error.is_none() {
            let request = &self.job.requests[self.places[place].request()];
            self.totals.first_error = Some((now, trouble::lost(request, self.job, outcome, why)));
        }
    }

    /// The request is given up: its answer would have taken at least so long as it is old.
    pub(super) fn censor(&mut self, place: usize, now: u64) {
        let due = self.places[place].due_at;
        self.ledger.of(due).censor(now.saturating_sub(due));
    }

    /// The run ended before its answer.
    pub(super) fn unfinished(&mut self, place: usize, now: u64) {
        self.censor(place, now);
        let due = self.places[place].due_at;
        self.ledger.of(due).unfinished.record(now.saturating_sub(due));
        self.book(place, Outcome::Unfinished, "", now);
    }

    /// Sends the present request on the present connection.
    #[inline(never)]
    pub(super) fn ask(&mut self, place: usize, now: u64) {
        self.ask_at(place, now, false);
    }

    /// As [`Worker::ask`], and says when it was; `fresh` is as for [`Worker::follow`].
    #[inline(always)]
    pub(super) fn ask_at(&mut self, place: usize, now: u64, fresh: bool) -> u64 {
        let p = &mut self.places[place];
        p.ask(self.sayings[p.request()].to_head);
        let now = if fresh || self.poll.gathers() { now } else { clock::now() };
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
        let bytes = self.sayings[p.request()].bytes;
        if bytes.is_empty() {
            return self.send_drawn(place, now);
        }
        match self.poll.send(place, &bytes[p.taken..]) {
            Ok(sent) => {
                p.went(sent, now, !self.pace.is_open());
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

    /// The server ended its side; `whole`: in a way that can end an answer.
    pub(super) fn ended(&mut self, place: usize, whole: bool, now: u64) {
        let p = &mut self.places[place];
        match p.state {
            State::Asking => {
                let (request, lore) = (&self.job.requests[p.request()], &mut self.lore[p.request()]);
                match p.end(request, lore).filter(|_| whole) {
                    Some(answer) => {
                        self.poll.answered(place, 0);
                        self.complete(place, &answer, false, true, now);
                    }
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
            State::Connecting | State::Opening => self.unconnected(place, errno, now),
            State::Asking if errno == Errno::TIMEDOUT => self.lose(place, Outcome::Timeout, "", now),
            State::Asking => self.cut(place, Outcome::Reset, "", now),
            _ => self.hang_up(place),
        }
    }

    /// The request ends without a complete answer, and its connection with it.
    pub(super) fn lose(&mut self, place: usize, outcome: Outcome, why: &str, now: u64) {
        if outcome == Outcome::Timeout {
            let p = &self.places[place];
            self.ledger.of(p.due_at).latency.record(now.saturating_sub(p.sent_at));
            self.censor(place, now);
        }
        self.let_go(place);
        self.book(place, outcome, why, now);
        self.next_request(place, now);
        self.relay(place, now);
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
            State::Opening => self.unopened(place, Outcome::ConnectTimeout, "", now),
            State::Connecting | State::Queued(_) if now >= p.connect_at + self.job.connect_timeout_ns => {
                self.unconnected_in_time(place, now);
            }
            State::Queued(_) => self.redial(place, now),
            State::Connecting => self.lose(place, Outcome::Timeout, "", now),
        }
    }
}
