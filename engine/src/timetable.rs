//! Where the phases and slices of a run lie in time: pure arithmetic from the order and one start.
//!
//! Every worker computes the same windows for itself, so nothing has to be agreed on while the load runs.

use crate::order::{Order, Until};

/// A stretch of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Load that is left out of the totals.
    Warmup,
    /// Load of a turn before it counts.
    Lead,
    /// Load in short stretches, each by a command.
    Turn,
    /// Load that counts.
    Steady,
}

impl Phase {
    /// As the protocol spells it.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Warmup => "warmup",
            Phase::Lead => "lead",
            Phase::Turn => "turn",
            Phase::Steady => "steady",
        }
    }
}

/// The time that one slice covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Within the whole run, from 0.
    pub index: u32,
    /// The phase it lies in.
    pub phase: Phase,
    /// When it begins.
    pub start: u64,
    /// When the next begins, or the run ends.
    pub end: u64,
    /// The run ends with this window.
    pub last: bool,
}

impl Window {
    /// No window: what happens between two turns.
    pub fn rest() -> Window {
        Window { index: 0, phase: Phase::Turn, start: 0, end: u64::MAX, last: true }
    }
}

/// The start of a run with the lengths of its parts.
#[derive(Clone, Copy, Debug)]
pub struct Timetable {
    /// When the warm-up (or, without one, the steady phase) begins.
    pub start: u64,
    warmup_ns: u64,
    /// `None`: until a count is reached.
    steady_ns: Option<u64>,
    slice_ns: u64,
}

impl Timetable {
    /// The timetable of `order` begun at `start`.
    pub fn new(order: &Order, start: u64) -> Timetable {
        let steady_ns = match order.until {
            Until::Duration(ns) => Some(ns),
            Until::Count(_) | Until::Commands => None,
        };
        Timetable { start, warmup_ns: order.warmup_ns, steady_ns, slice_ns: order.slice_ns }
    }

    /// The window with this index. Must not be asked for one after the last.
    pub fn window(&self, index: u32) -> Window {
        let (n, warm) = (u64::from(index), self.warmup_ns.div_ceil(self.slice_ns));
        let steady = self.start + self.warmup_ns;
        if n < warm {
            let start = self.start + n * self.slice_ns;
            return Window { index, phase: Phase::Warmup, start, end: steady.min(start + self.slice_ns), last: false };
        }
        let start = steady + (n - warm) * self.slice_ns;
        let over = self.steady_ns.map_or(u64::MAX, |ns| steady + ns);
        let end = over.min(start + self.slice_ns);
        Window { index, phase: Phase::Steady, start, end, last: end == over }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(warmup_ns: u64, steady_ns: Option<u64>, n: u32) -> Vec<(Phase, u64, u64, bool)> {
        let table = Timetable { start: 100, warmup_ns, steady_ns, slice_ns: 10 };
        (0..n).map(|i| table.window(i)).map(|w| (w.phase, w.start, w.end, w.last)).collect()
    }

    #[test]
    fn the_last_window_of_a_phase_may_be_shorter() {
        let expected = vec![
            (Phase::Warmup, 100, 110, false),
            (Phase::Warmup, 110, 115, false),
            (Phase::Steady, 115, 125, false),
            (Phase::Steady, 125, 132, true),
        ];
        assert_eq!(expected, windows(15, Some(17), 4));
    }

    #[test]
    fn without_warmup_the_first_window_is_steady_and_a_whole_slice_may_be_the_last() {
        assert_eq!(vec![(Phase::Steady, 100, 110, true)], windows(0, Some(10), 1));
    }

    #[test]
    fn a_count_has_no_last_window() {
        assert!(windows(0, None, 50).iter().all(|w| !w.3));
    }
}
