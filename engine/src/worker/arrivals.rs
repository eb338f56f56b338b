//! How requests and connections find each other, at every pace.
//!
//! A place that is free asks the pace for a request ([`Worker::next_request`]). A closed pace has always one for it. An open pace gives
//! the oldest that is due and not sent; when there is none, the place goes to the pool, and requests that come due later ask the pool
//! for a place ([`Worker::arrivals`]): the connection used last, or a new one, up to the places there are. When there is none
//! either, the request waits in the schedule, and the next place that becomes free finds it there.

use super::{CONNECTS_PER_TURN, Worker};
use crate::clock;
use crate::connection::State;
use crate::pace::Due;
use crate::poll::Poll;
use crate::schedule::Schedule;
use crate::slice::Outcome;
use crate::trouble;

/// Requests begun in one turn of the loop: answers are waiting to be read too.
const ARRIVALS_PER_TURN: usize = 64;

impl<P: Poll> Worker<'_, P> {
    /// Opens what is to be open from the start, some in each turn.
    pub(super) fn open_more(&mut self, now: u64) {
        let until = self.pace.opened().min(self.unopened + CONNECTS_PER_TURN);
        let lanes = self.poll.lanes();
        for first in (self.unopened..until).map(|connection| connection * lanes) {
            if self.pace.is_open() {
                self.open_early(first, now);
            } else {
                (first..first + lanes).for_each(|place| self.next_request(place, now));
            }
        }
        self.unopened = until;
    }

    /// The pace has fewer connections than would need this place. Nobody closed anything: a client went away.
    fn leave(&mut self, place: usize, until: u64) {
        self.retire(place);
        if until < Schedule::NEVER {
            self.rest(place, until);
        }
    }

    /// The place has its connection, or is to have it, before it may ask.
    fn come_early(&mut self, place: usize, until: u64, now: u64) {
        if self.places[place].connected || self.is_opening(place) || self.renews_in_turn(place) {
            return self.rest(place, until);
        }
        self.open_early(place, now);
    }

    /// The place has nothing to do until then.
    fn rest(&mut self, place: usize, until: u64) {
        self.places[place].state = State::BackOff(until);
        self.remind(place);
    }

    /// A connection without a request did not come about. That is nobody's outcome yet: the request that needs it will say.
    pub(super) fn unopened(&mut self, place: usize, outcome: Outcome, why: &str, now: u64) {
        self.hang_up(place);
        if self.totals.unopened.is_none() {
            let text = trouble::lost(&self.job.requests[0], self.job, outcome, why);
            self.totals.unopened = Some((now, text));
        }
        if let Some(until) = self.pace.asks_from() {
            return self.rest(place, until);
        }
        self.places[place].state = State::Idle;
        self.pool.give(place, false);
    }

    /// When the loop is needed for a request that comes due. Not while there is no place for it.
    pub(super) fn next_arrival(&self) -> u64 {
        match self.pool.full_since() {
            Some(_) => self.shed_at(),
            None => self.pace.due(),
        }
    }

    /// Gives requests that have come due a place each, as far as there are places, and gives up those that have waited too long.
    pub(super) fn arrivals(&mut self, mut now: u64) {
        for _ in 0..ARRIVALS_PER_TURN {
            // What is due after the window belongs to the next one, and after the last one to nobody.
            if self.pace.due() > now.min(self.ledger.window.end - 1) {
                break;
            }
            let mut pool = std::mem::take(&mut self.pool);
            let place = pool.take(now, |place| self.places[place].is_free(), |connection| self.opener(connection));
            self.pool = pool;
            let Some(place) = place else { break };
            self.begin_due(place, now, now, false);
            // Each send takes some microseconds, in which more may come due.
            now = clock::now();
        }
        if self.must_shed() {
            self.totals.first_error.get_or_insert_with(|| (now, trouble::shed(self.job)));
            while self.must_shed() && self.shed(now) {}
        }
    }

    /// Books the oldest request that was due and has not been sent; false: there is none.
    pub(super) fn shed(&mut self, now: u64) -> bool {
        let Due::Since(due) = self.pace.next(0, now) else { return false };
        let age = now.saturating_sub(due);
        self.begun += 1;
        self.ledger.of(due).censor(age);
        self.ledger.end_due(due, Outcome::Shed);
        self.shed_route(due, age);
        true
    }

    /// Gives a free place its next request, if there is one.
    #[inline(never)]
    pub(super) fn next_request(&mut self, place: usize, now: u64) {
        self.follow(place, now, false);
    }

    /// As [`Worker::next_request`]; `fresh`: `now` was read just before, and nothing that takes time was done since.
    #[inline(always)]
    pub(super) fn follow(&mut self, place: usize, now: u64, fresh: bool) {
        if self.over {
            return self.hang_up(place);
        }
        let seen = if self.pace.is_open() { self.pool.full_since().unwrap_or(now) } else { now };
        self.begin_due(place, seen, now, fresh);
    }

    /// Begins the oldest request that is due; `seen` is until when there was a place for it.
    #[inline(always)]
    fn begin_due(&mut self, place: usize, seen: u64, now: u64, fresh: bool) {
        let due = match self.pace.next(place / self.poll.lanes(), now) {
            Due::Since(due) => due,
            Due::Away(until) => return self.leave(place, until),
            Due::Early(until) => return self.come_early(place, until, now),
            Due::Rest => return self.rest(place, Schedule::NEVER),
            Due::Later => return self.pool.give(place, self.places[place].connected),
            Due::Never => return self.retire(place),
        };
        let p = &mut self.places[place];
        p.assign(self.mix.next(), due);
        p.number = self.begun;
        self.begun += 1;
        self.in_flight += 1;
        self.left_over += u64::from(self.ledger.is_past(due));
        let mut until = seen;
        if p.connected {
            let sent = self.ask_at(place, now, fresh);
            // Where there was a place all the time, the engine was late until it sent.
            until = if seen == now { sent } else { seen };
        } else {
            self.open(place, now);
        }
        if self.pace.is_open() {
            let lag = self.lag(due, until, now);
            self.ledger.of(due).lag(lag);
        }
    }
}
