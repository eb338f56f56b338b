//! Deadlines that are the server's to miss. An engine that got no processor, or was stopped, comes back to deadlines that have passed and
//! answers that lie in its sockets, where they came in time. So time that passed is not enough for a deadline: it has passed once the
//! engine has looked for what came until then, and it was not there.

use super::Worker;
use crate::attention::OVERSLEPT_NS;
use crate::poll::Poll;

/// Until when everything that came has been seen.
#[derive(Debug, Default)]
pub(super) struct Seen {
    until: u64,
    /// Where one wait does not tell everything: when those began that have not told it yet, and how many there were.
    since: u64,
    waits: usize,
}

impl Seen {
    /// A wait that began at `asked` has been told to its end; so many more like it may be needed to tell what had come by then.
    fn wait(&mut self, asked: u64, backlog: usize) {
        if self.waits == 0 {
            self.since = asked;
        }
        self.waits += 1;
        if backlog == 0 {
            (self.until, self.waits) = (asked, 0);
        } else if self.waits > backlog {
            (self.until, self.waits) = (self.since, 0);
        }
    }
}

/// A time in which the engine itself was away: a wait that lasted longer than it was asked to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Away {
    from: u64,
    to: u64,
}

impl Away {
    /// How much of it a request that was due then, and was not sent before, waited for.
    #[inline(always)]
    pub(super) fn since(&self, due: u64) -> u64 {
        self.to.saturating_sub(due.max(self.from))
    }

    /// The one of two that is to be remembered: the longer, unless nothing that was due in it can wait any more.
    fn or(self, other: Away, patience: u64) -> Away {
        let forgotten = self.to.saturating_add(patience) < other.from;
        if forgotten || self.since(0) <= other.since(0) { other } else { self }
    }
}

impl<P: Poll> Worker<'_, P> {
    /// The last wait, which began at `asked`, ended at `woke`, later than it was to; `vain`: it brought nothing. Says when the loop was needed.
    #[cold]
    #[inline(never)]
    pub(super) fn woke_late(&mut self, asked: u64, woke: u64, vain: bool) -> u64 {
        let late = woke.saturating_sub(self.until);
        if late > OVERSLEPT_NS {
            self.ledger.waits.oversleep(late);
        }
        if vain && asked == self.until {
            self.ledger.waits.look_in_vain(late);
        }
        self.until
    }

    /// The loop had no eye for its events in between.
    #[cold]
    #[inline(never)]
    pub(super) fn was_away(&mut self, from: u64, to: u64) {
        self.away = self.away.or(Away { from, to }, self.job.timeout_ns);
    }

    /// How late the engine was with a request that was due then and is begun at `now`, which had a place until `until`.
    #[inline(always)]
    pub(super) fn lag(&mut self, due: u64, until: u64, now: u64) -> u64 {
        if now > self.until.saturating_add(OVERSLEPT_NS) {
            self.was_away(self.until, now);
        }
        until.saturating_sub(due).max(self.away.since(due))
    }

    /// Everything that the wait which began at `asked` brought has been seen to.
    pub(super) fn look_back(&mut self, asked: u64) {
        self.seen.wait(asked, self.poll.backlog());
    }

    /// Deadlines that have passed, of those up to `end`.
    #[cold]
    #[inline(never)]
    pub(super) fn reminders(&mut self, end: u64, now: u64) {
        let mut unseen = Vec::new();
        while let Some(place) = self.timers.due(end.min(now)) {
            match self.places[place].deadline(self.job.timeout_ns, self.job.connect_timeout_ns) {
                Some(deadline) if deadline > end.min(now) => self.timers.arm(place, deadline),
                Some(deadline) if self.has_seen(place, deadline) => self.overdue(place, now),
                Some(deadline) => unseen.push((place, deadline)),
                None => {}
            }
        }
        unseen.into_iter().for_each(|(place, deadline)| self.timers.arm(place, deadline));
    }

    /// Whether what came to this place by then has been read.
    fn has_seen(&self, place: usize, deadline: u64) -> bool {
        deadline <= self.seen.until || (self.poll.empties() && deadline <= self.read_at[place])
    }

    /// When the oldest request that waits for a connection has waited long enough. Not what it waited for the engine: that was away, or
    /// had a connection for it and was late.
    pub(super) fn shed_at(&self) -> u64 {
        let due = self.pace.due();
        let waits_since = due.max(self.pool.full_since().unwrap_or(u64::MAX));
        waits_since.saturating_add(self.job.timeout_ns).saturating_add(self.away.since(waits_since))
    }

    /// Whether it has, for all that the engine knows.
    pub(super) fn must_shed(&self) -> bool {
        self.shed_at() <= self.seen.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_before_a_wait_began_has_been_seen_when_that_wait_has_told_everything() {
        let mut seen = Seen::default();
        seen.wait(10, 0);
        assert_eq!(10, seen.until);
        // Each of these tells a part; three more after the first may be needed for what had come when it began.
        for asked in [20, 30, 40] {
            seen.wait(asked, 3);
            assert_eq!(10, seen.until, "{asked}");
        }
        seen.wait(50, 3);
        assert_eq!(20, seen.until);
        seen.wait(60, 3);
        seen.wait(70, 0);
        assert_eq!(70, seen.until);
    }

    #[test]
    fn only_the_part_of_an_absence_that_a_request_waited_through_counts() {
        let away = Away { from: 100, to: 160 };
        assert_eq!([60, 60, 10, 0, 0], [50, 100, 150, 160, 200].map(|due| away.since(due)));
        assert_eq!(0, Away::default().since(0));
    }

    #[test]
    fn a_short_absence_does_not_hide_a_long_one_that_requests_still_wait_from() {
        let (long, short) = (Away { from: 100, to: 200 }, Away { from: 250, to: 260 });
        assert_eq!(200, long.or(short, 100).to);
        assert_eq!(260, long.or(short, 49).to);
        assert_eq!(200, short.or(long, 100).to);
    }
}
