//! How many connections a closed pace has at a time, where their number goes in straight lines.
//!
//! In closed form, like the [`schedule`](crate::schedule): each connection has a number, and it is there while the line is at its number
//! plus one half or above. So the number of connections is the line rounded to the nearest whole, and the area under both is the
//! same. Threads share the numbers out like cards, which is how [`Pace`](crate::pace::Pace) deals connections. All sums are of integers,
//! so that a place that is woken at its time is there at that time.

use crate::clock::MILLISECOND;
use crate::order::CrowdStage;
use crate::schedule::Schedule;

/// Where the line jumps, so many connections of a thread are opened in each millisecond: a server gets to accept.
const JUMP_PER_MS: u64 = 64;

/// The connections of one thread.
#[derive(Clone, Debug)]
pub struct Crowd {
    legs: Vec<Leg>,
    thread: u64,
    threads: u64,
}

/// A stage with when it begins, in nanoseconds after the start of the run.
#[derive(Clone, Copy, Debug)]
struct Leg {
    start: u64,
    stage: CrowdStage,
}

impl Crowd {
    /// The part that falls to `thread` of `threads`. Stages are of the steady phase: before, for `warmup_ns`, the number of connections
    /// with which they begin holds.
    pub fn new(stages: &[CrowdStage], warmup_ns: u64, thread: usize, threads: usize) -> Crowd {
        let from = stages[0].from;
        let warmup = CrowdStage { duration_ns: warmup_ns, from, to: from };
        let (mut legs, mut start) = (Vec::new(), 0);
        for stage in std::iter::once(&warmup).chain(stages).filter(|stage| stage.duration_ns > 0) {
            legs.push(Leg { start, stage: *stage });
            start += stage.duration_ns;
        }
        Crowd { legs, thread: thread as u64, threads: threads as u64 }
    }

    /// `None`: at `at` (nanoseconds after the start) there is a connection at this place of the thread. Else when there will be one
    /// again; [`Schedule::NEVER`] where there will not.
    #[inline(never)]
    pub fn away(&self, place: usize, at: u64) -> Option<u64> {
        let number = place as u64 * self.threads + self.thread;
        let present = self.legs.partition_point(|leg| leg.start <= at) - 1;
        let leg = &self.legs[present];
        if leg.has(number, at - leg.start) {
            return None;
        }
        let later = self.legs[present + 1..].iter().zip(&self.legs[present..]);
        let jump = |(leg, before): (&Leg, &Leg)| match leg.has(number, 0) {
            true => Some(leg.start + number.saturating_sub(before.stage.to) / self.threads / JUMP_PER_MS * MILLISECOND),
            false => leg.rises_to(number),
        };
        Some(leg.rises_to(number).or_else(|| later.map(jump).find_map(|at| at)).unwrap_or(Schedule::NEVER))
    }
}

impl Leg {
    /// Whether the line is at this number and a half or above, so long after its start.
    fn has(&self, number: u64, after: u64) -> bool {
        let CrowdStage { duration_ns, from, to } = self.stage;
        let (ns, from, to) = (i128::from(duration_ns), i128::from(from), i128::from(to));
        2 * (from * ns + (to - from) * i128::from(after.min(duration_ns))) >= (2 * i128::from(number) + 1) * ns
    }

    /// When the line, which begins below, comes to this number and a half; `None`: not in this stage.
    fn rises_to(&self, number: u64) -> Option<u64> {
        let CrowdStage { duration_ns, from, to } = self.stage;
        let (below, rise) = ((2 * number + 1).checked_sub(2 * from)?, to.checked_sub(from).filter(|rise| *rise > 0)?);
        let after = (u128::from(below) * u128::from(duration_ns)).div_ceil(2 * u128::from(rise));
        let after = u64::try_from(after).ok().filter(|after| *after < duration_ns)?;
        Some(self.start + after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn stage(ms: u64, from: u64, to: u64) -> CrowdStage {
        CrowdStage { duration_ns: ms * MS, from, to }
    }

    /// Connections at a time, over so many threads.
    fn number(stages: &[CrowdStage], warmup_ns: u64, threads: usize, at: u64) -> usize {
        let crowds = (0..threads).map(|thread| Crowd::new(stages, warmup_ns, thread, threads));
        crowds.map(|crowd| (0..300).filter(|place| crowd.away(*place, at).is_none()).count()).sum()
    }

    #[test]
    fn the_number_is_the_line_rounded_over_any_number_of_threads() {
        let stages = [stage(100, 10, 110), stage(50, 110, 110), stage(100, 110, 0)];
        let line = |ms: u64| match ms {
            0..100 => 10.0 + ms as f64,
            100..150 => 110.0,
            _ => 110.0 - 1.1 * (ms - 150) as f64,
        };
        for threads in 1..=3 {
            for ms in 0..250 {
                let expected = line(ms) + 0.5;
                let found = number(&stages, 0, threads, ms * MS) as f64;
                assert!(found <= expected + 1e-9 && found > expected - 1.0 - 1e-9, "{found} at {ms} ms, {expected}");
            }
        }
    }

    #[test]
    fn a_place_that_is_away_is_there_at_the_time_it_says_and_not_a_nanosecond_before() {
        let stages = [stage(7, 0, 3), stage(13, 3, 1), stage(11, 1, 6)];
        let crowd = Crowd::new(&stages, 0, 0, 1);
        for place in 0..6 {
            for at in (0..31 * MS).step_by(MS as usize / 2) {
                let Some(back) = crowd.away(place, at).filter(|back| *back < Schedule::NEVER) else { continue };
                assert!(back > at && crowd.away(place, back).is_none(), "{place} at {at}: {back}");
                assert_eq!(Some(back), crowd.away(place, back - 1));
            }
        }
        // 0 to 3 in 7 ms: at a half after 7/6 ms, at one and a half after 3.5 ms.
        assert_eq!((Some(1_166_667), Some(3_500_000)), (crowd.away(0, 0), crowd.away(1, 0)));
        // 3 to 1 in 13 ms: below two and a half from 3.25 ms on; back in the last stage, 1 to 6 in 11 ms, after 3.3 ms.
        assert_eq!((None, Some(23_300_000)), (crowd.away(2, 10_250_000), crowd.away(2, 10_250_001)));
        assert_eq!(Some(Schedule::NEVER), crowd.away(6, 0), "there are never more than six");
    }

    #[test]
    fn the_warmup_holds_the_first_number() {
        let stages = [stage(10, 4, 8)];
        assert!([0, 10, 20].iter().all(|ms| number(&stages, 20 * MS, 2, ms * MS) == 4));
        assert_eq!((6, 8), (number(&stages, 20 * MS, 1, 25 * MS), number(&stages, 20 * MS, 1, 30 * MS)));
    }

    #[test]
    fn a_jump_is_spread_over_milliseconds() {
        let crowd = Crowd::new(&[stage(10, 2, 2), stage(10, 200, 200)], 0, 0, 1);
        let back: Vec<_> = [2, 65, 66, 199].iter().map(|place| crowd.away(*place, 0)).collect();
        assert_eq!(vec![Some(10 * MS), Some(10 * MS), Some(11 * MS), Some(13 * MS)], back);
        assert_eq!(None, crowd.away(199, 10 * MS), "one that is free then need not wait");
    }
}
