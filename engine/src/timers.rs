//! Deadlines of connection places: a heap of reminders that costs nothing per request.
//!
//! A deadline moves later with every request, so a place is *not* re-entered for each one. It has one reminder; when that comes up
//! early, the place's true deadline is looked up and the reminder set again. A place therefore costs one heap operation per
//! timeout's length, not one per request, and a connection that never answers is still found on time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// No reminder set.
const UNARMED: u64 = u64::MAX;
/// How many reminders a place may have in the heap, on average, before the old ones are swept out.
const SLACK: usize = 4;

/// The reminders of all places of one worker.
#[derive(Debug)]
pub struct Timers {
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    /// The reminder that counts for each place; others in the heap are out of date.
    armed: Vec<u64>,
    /// The first of the heap: the loop asks for it in every turn.
    first: u64,
}

impl Timers {
    /// Reminders for so many places, none set.
    pub fn new(places: usize) -> Timers {
        Timers { heap: BinaryHeap::with_capacity(places), armed: vec![UNARMED; places], first: UNARMED }
    }

    /// Makes sure `place` is reminded at `deadline` or before.
    #[inline(always)]
    pub fn arm(&mut self, place: usize, deadline: u64) {
        if deadline < self.armed[place] {
            self.enter(place, deadline);
        }
    }

    #[cold]
    #[inline(never)]
    fn enter(&mut self, place: usize, deadline: u64) {
        self.armed[place] = deadline;
        self.heap.push(Reverse((deadline, place as u32)));
        if self.heap.len() > SLACK * (self.armed.len() + SLACK) {
            self.sweep();
        }
        self.look();
    }

    fn look(&mut self) {
        self.first = self.heap.peek().map_or(UNARMED, |Reverse((at, _))| *at);
    }

    /// Drops reminders that are out of date. Places that back off from a server that refuses leave one each time, and with long
    /// timeouts they would pile up.
    fn sweep(&mut self) {
        let armed = &self.armed;
        self.heap.retain(|Reverse((at, place))| armed[*place as usize] == *at);
    }

    /// Drops all reminders.
    pub fn clear(&mut self) {
        self.heap.clear();
        self.armed.fill(UNARMED);
        self.first = UNARMED;
    }

    /// When the next reminder comes up; the end of time when there is none.
    #[inline(always)]
    pub fn next(&self) -> u64 {
        self.first
    }

    /// A place whose reminder has come up by `now`. It has no reminder any more: the caller arms it again if its deadline is later.
    pub fn due(&mut self, now: u64) -> Option<usize> {
        while self.first <= now {
            let Reverse((at, place)) = self.heap.pop()?;
            self.look();
            let place = place as usize;
            if self.armed[place] == at {
                self.armed[place] = UNARMED;
                return Some(place);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reminders_come_in_order_of_time() {
        let mut timers = Timers::new(3);
        for (place, at) in [(0, 30), (1, 10), (2, 20)] {
            timers.arm(place, at);
        }
        assert_eq!(10, timers.next());
        assert_eq!([Some(1), Some(2), None], [timers.due(20), timers.due(20), timers.due(20)]);
        assert_eq!(Some(0), timers.due(30));
    }

    #[test]
    fn a_later_deadline_keeps_the_reminder_and_an_earlier_one_moves_it() {
        let mut timers = Timers::new(1);
        timers.arm(0, 50);
        timers.arm(0, 90);
        assert_eq!(50, timers.next());
        timers.arm(0, 20);
        assert_eq!(Some(0), timers.due(20));
        assert_eq!(None, timers.due(1000), "the reminder for 50 is out of date");
    }

    #[test]
    fn dropped_reminders_never_come() {
        let mut timers = Timers::new(2);
        (0..2).for_each(|place| timers.arm(place, 10));
        timers.clear();
        assert_eq!((None, UNARMED), (timers.due(100), timers.next()));
        timers.arm(1, 50);
        assert_eq!(Some(1), timers.due(100));
    }

    #[test]
    fn reminders_out_of_date_do_not_pile_up() {
        let mut timers = Timers::new(2);
        for n in 0..1000 {
            timers.arm(0, 1_000_000 + n);
            timers.arm(0, n);
            assert_eq!(Some(0), timers.due(n));
        }
        assert!(timers.heap.len() <= SLACK * (2 + SLACK), "{}", timers.heap.len());
    }
}
