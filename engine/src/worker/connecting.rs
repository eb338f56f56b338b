//! Connections and their lanes: opened, there, refused, closed.
//!
//! One lane opens the connection, and the others that have a request wait for it. What becomes of it is theirs alike. The books of
//! connections are kept here, one entry for each whatever its lanes.

use super::{NOBODY, Worker};
use crate::clock;
use crate::connection::State;
use crate::poll::{Cause, Poll};
use crate::slice::Outcome;
use crate::trouble;
use rustix::io::Errno;
use std::ops::Range;
use std::sync::atomic::Ordering;

/// How long a place waits when this machine has no port or descriptor to spare.
const STARVED_NS: u64 = 10 * clock::MILLISECOND;
/// How long a place waits when the queue of a Unix socket is full.
const QUEUED_NS: u64 = clock::MILLISECOND;

impl<P: Poll> Worker<'_, P> {
    /// All places of the connection of `place`.
    pub(super) fn lanes(&self, place: usize) -> Range<usize> {
        let lanes = self.poll.lanes();
        let first = place - place % lanes;
        first..first + lanes
    }

    pub(super) fn is_opening(&self, place: usize) -> bool {
        self.openers[place / self.poll.lanes()] != NOBODY
    }

    fn is_opener(&self, place: usize) -> bool {
        self.openers[place / self.poll.lanes()] == place as u32
    }

    /// Complete answers on the present connection of `place`, or on the last one.
    fn answers(&self, place: usize) -> u64 {
        self.places[self.lanes(place)].iter().map(|p| u64::from(p.answers)).sum()
    }

    /// Whether the last connection of `place` ended as its server's way is, after an answer: the next one is opened where it is needed, in
    /// the turn, as in any run. One that broke, or was closed while it rested, is opened before.
    pub(super) fn renews_in_turn(&self, place: usize) -> bool {
        self.answers(place) == 1 || self.places[self.lanes(place)].iter().any(|p| p.spent)
    }

    /// A place of this connection that could open it: none when it is there, or on its way.
    pub(super) fn opener(&self, connection: usize) -> Option<usize> {
        let first = connection * self.poll.lanes();
        let down = !self.places[first].connected && !self.is_opening(first);
        self.lanes(first).find(|lane| down && self.places[*lane].state == State::Idle)
    }

    /// Connects a place that has no request yet.
    pub(super) fn open_early(&mut self, place: usize, now: u64) {
        self.places[place].state = State::Opening;
        self.connect(place, now);
    }

    /// The present request needs a connection: a new one, or that which is on its way.
    pub(super) fn open(&mut self, place: usize, now: u64) {
        self.places[place].state = State::Connecting;
        if self.is_opening(place) {
            self.places[place].connect_at = now;
            return self.remind(place);
        }
        self.connect(place, now);
    }

    fn connect(&mut self, place: usize, now: u64) {
        self.places[place].connect_at = now;
        self.dial(place, now);
    }

    /// Tries to connect; the clock of the connect runs already.
    fn dial(&mut self, place: usize, now: u64) {
        let connection = place / self.poll.lanes();
        self.openers[connection] = place as u32;
        match self.poll.open(place, &self.job.endpoint) {
            Ok(()) => self.remind(place),
            Err(errno) => self.unconnected(place, errno, now),
        }
    }

    /// The one that was opening the connection has left: another that waits for it goes on.
    pub(super) fn relay(&mut self, place: usize, now: u64) {
        if self.places[place].connected || self.is_opening(place) {
            return;
        }
        let waits = |lane: &usize| self.places[*lane].state == State::Connecting;
        if let Some(lane) = self.lanes(place).find(waits) {
            self.connect(lane, now);
        }
    }

    pub(super) fn connected(&mut self, place: usize, now: u64) {
        let connection = place / self.poll.lanes();
        self.openers[connection] = NOBODY;
        self.connections += 1;
        let slice = &mut self.ledger.slice;
        slice.connections_peak = slice.connections_peak.max(self.connections);
        slice.counts.connections_opened += 1;
        let mut there = now;
        if let Some(handshake) = self.poll.handshake(place) {
            there = handshake.began;
            slice.shake(now.saturating_sub(there), handshake.resumed);
        }
        slice.connect.record(there.saturating_sub(self.places[place].connect_at));
        if !self.job.reached.load(Ordering::Relaxed) {
            self.job.reached.store(true, Ordering::Relaxed);
        }
        let lanes = self.lanes(place);
        self.places[lanes.clone()].iter_mut().for_each(|p| p.connect());
        for lane in self.waiting(lanes.clone()) {
            if self.places[lane].connected {
                self.ask(lane, now);
            } else {
                // It broke when another sent.
                self.relay(lane, now);
            }
        }
        for lane in lanes {
            let p = &mut self.places[lane];
            if p.connected && matches!(p.state, State::Opening | State::Idle | State::BackOff(_)) {
                p.state = State::Idle;
                self.next_request(lane, now);
            }
        }
    }

    /// It is time to try once more; a request that is being sent for the second time may have none left.
    pub(super) fn redial(&mut self, place: usize, now: u64) {
        let p = &mut self.places[place];
        if p.sent_at > 0 && now >= p.sent_at.saturating_add(self.job.timeout_ns) {
            return self.lose(place, Outcome::Timeout, "", now);
        }
        p.state = State::Connecting;
        self.dial(place, now);
    }

    /// TLS did not come about, or broke.
    pub(super) fn insecure(&mut self, place: usize, now: u64) {
        let why = self.poll.why().to_string();
        if self.places[place].state == State::Asking {
            return self.lose(place, Outcome::Tls, &why, now);
        }
        self.hang_up(place);
        for lane in self.lanes(place) {
            match self.places[lane].state {
                State::Connecting => self.turned_away(lane, Outcome::Tls, &why, now),
                State::Opening => self.unopened(lane, Outcome::Tls, &why, now),
                _ => {}
            }
        }
    }

    /// Those that wait for the connection: first what was sent before, the oldest first. A server that answers but one request on a
    /// connection would else never come to those behind it.
    fn waiting(&self, lanes: Range<usize>) -> Vec<usize> {
        let mut waiting: Vec<usize> = lanes.filter(|lane| self.places[*lane].state == State::Connecting).collect();
        waiting.sort_by_key(|lane| self.places[*lane].sent_at.wrapping_sub(1));
        waiting
    }

    /// The connect came to nothing, for all that waited for it.
    pub(super) fn unconnected(&mut self, place: usize, errno: Errno, now: u64) {
        if errno == Errno::CONNREFUSED && !self.job.reached.load(Ordering::Relaxed) {
            self.job.refused.fetch_add(1, Ordering::Relaxed);
        }
        if errno == Errno::AGAIN && self.places[place].state == State::Connecting {
            // A Unix socket with a full queue does not let the connect wait in the kernel, as TCP does. So it waits here.
            self.places[place].state = State::Queued(now + QUEUED_NS);
            return self.remind(place);
        }
        self.hang_up(place);
        for lane in self.lanes(place) {
            match self.places[lane].state {
                State::Connecting => self.refused(lane, errno, now),
                State::Opening => self.unopened(lane, outcome_of(errno), "", now),
                _ => {}
            }
        }
    }

    fn refused(&mut self, place: usize, errno: Errno, now: u64) {
        if is_ours(errno) {
            return self.starve(place, errno, now);
        }
        let outcome = outcome_of(errno);
        if outcome == Outcome::ConnectTimeout {
            self.censor(place, now);
        }
        self.turned_away(place, outcome, "", now);
    }

    /// The server did not take the connection: the request has its outcome, and the place waits before it tries again.
    fn turned_away(&mut self, place: usize, outcome: Outcome, why: &str, now: u64) {
        self.book(place, outcome, why, now);
        let p = &mut self.places[place];
        p.starved_at = 0; // there was something to connect with
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

    /// The connect took too long: so it did for all that waited for it.
    pub(super) fn unconnected_in_time(&mut self, place: usize, now: u64) {
        let all = self.is_opener(place);
        let why = if self.poll.handshake(place).is_some() { trouble::SHAKING } else { "" };
        let late = |lane: &usize| *lane == place || all && self.places[*lane].state == State::Connecting;
        let late: Vec<usize> = self.lanes(place).filter(late).collect();
        self.hang_up(place);
        for lane in &late {
            self.censor(*lane, now);
            self.book(*lane, Outcome::ConnectTimeout, why, now);
            self.places[*lane].starved_at = 0;
        }
        late.into_iter().for_each(|lane| self.next_request(lane, now));
    }

    /// Whether sending the present request once more cannot make the server do twice what is to be done once.
    fn may_go_twice(&self, place: usize) -> bool {
        let p = &self.places[place];
        !p.under_way || self.sayings[p.request()].idempotent
    }

    /// The connection broke under a request.
    pub(super) fn cut(&mut self, place: usize, outcome: Outcome, why: &str, now: u64) {
        if !self.places[place].may_retry(self.answers(place)) || !self.may_go_twice(place) {
            return self.lose(place, outcome, why, now);
        }
        self.hang_up(place);
        self.places[place].retried = true;
        self.again(place, now);
    }

    /// The present request is sent once more.
    fn again(&mut self, place: usize, now: u64) {
        // One that had to wait and was never sent is not sent again.
        self.ledger.slice.counts.stale_retries += u64::from(self.places[place].under_way);
        if self.places[place].connected {
            self.ask(place, now);
        } else {
            self.open(place, now);
        }
    }

    /// The connection is over, and the request at `place` was behind another.
    pub(super) fn behind(&mut self, place: usize, cause: Cause, now: u64) {
        if self.places[place].state != State::Asking {
            return;
        }
        match cause {
            Cause::Unheard => self.again(place, now),
            Cause::Closed if self.may_go_twice(place) => self.again(place, now),
            Cause::Closed => self.lose(place, Outcome::Truncated, trouble::BEHIND, now),
            Cause::Ended => self.cut(place, Outcome::Truncated, "", now),
            Cause::Failed(errno) => self.failed(place, errno, now),
        }
    }

    /// The connection takes no more requests, and is done with those it took.
    pub(super) fn left(&mut self, place: usize, announced: bool, now: u64) {
        self.ledger.slice.counts.closes_announced += u64::from(announced);
        self.hang_up(place);
        // The other lanes that wait are told; this one has been.
        self.behind(place, Cause::Unheard, now);
    }

    /// Gives up the present request of `place`: with its connection, where it cannot be given up alone.
    pub(super) fn let_go(&mut self, place: usize) {
        if self.places[place].state != State::Asking || !self.poll.abandon(place) {
            self.hang_up(place);
        }
    }

    /// There is no request for this place any more: a connection whose lanes are all without one is closed.
    pub(super) fn retire(&mut self, place: usize) {
        if !self.places[self.lanes(place)].iter().any(|p| p.busy()) {
            self.hang_up(place);
        }
    }

    /// Closes the connection of `place`, or breaks off its connect if this is the place that opens it.
    pub(super) fn hang_up(&mut self, place: usize) {
        let connection = place / self.poll.lanes();
        let connected = self.places[place].connected;
        if !connected && !self.is_opener(place) {
            return;
        }
        self.openers[connection] = NOBODY;
        self.poll.close(place);
        if connected {
            self.connections -= 1;
            let answers = self.answers(place);
            self.totals.answers_per_connection.record(answers).expect("a histogram that resizes");
            let lanes = self.lanes(place);
            self.places[lanes].iter_mut().for_each(|p| p.connected = false);
        }
    }
}

/// What a failure to connect is to the request that needs the connection.
fn outcome_of(errno: Errno) -> Outcome {
    match errno {
        Errno::TIMEDOUT => Outcome::ConnectTimeout,
        Errno::CONNRESET => Outcome::Reset,
        _ => Outcome::ConnectRefused,
    }
}

/// Failures to connect that are this machine's own.
fn is_ours(errno: Errno) -> bool {
    matches!(errno, Errno::ADDRNOTAVAIL | Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM | Errno::NOSPC)
}
