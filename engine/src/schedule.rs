//! When requests come due at an open pace: number of the request -> nanoseconds after the start.
//!
//! One schedule for a whole thread, not one for each connection: schedules of connections drift against each other, so that arrivals
//! come in clumps and p99 is overstated. In closed form, so that no error adds up over a long run, and so that requests which
//! wait for a connection need no queue: they are the numbers between the last one sent and the last one due.
//!
//! Several threads share the numbers out like cards (thread i of t has i, i + t, i + 2t ...), so that their union is exactly the
//! schedule of one. Poisson arrivals cannot be in closed form; there each thread has a process of its own at a share of the rate,
//! whose union is a Poisson process again (Kingman, Poisson Processes, 1993, section 2.2: superposition). Of several engines that share
//! a load, all threads are numbered through ([`crate::order::Part`]), and nothing else changes.

use crate::order::{Arrivals, Stage};

const SECOND: f64 = 1e9;

/// The arrivals of one thread, one after another.
#[derive(Clone, Debug)]
pub struct Schedule {
    form: Form,
    /// Number of the next request, over all threads.
    number: u64,
    threads: u64,
    /// When it is due, after the start; [`Schedule::NEVER`] after the last.
    next: u64,
    /// What would be due then or later never is.
    end: u64,
}

#[derive(Clone, Debug)]
enum Form {
    /// So many nanoseconds from one request to the next.
    Even(f64),
    Ramps(Vec<Ramp>),
    Burst {
        size: u64,
        every_ns: u64,
    },
    Poisson {
        draw: SplitMix,
        mean_ns: f64,
        at: f64,
    },
}

/// A stage with what came before it.
#[derive(Clone, Copy, Debug)]
struct Ramp {
    /// Nanoseconds and requests before it.
    before: (f64, f64),
    /// Nanoseconds and requests in it.
    holds: (f64, f64),
    /// Requests per nanosecond at its start, and what is added to them in each nanosecond.
    rate: (f64, f64),
}

impl Schedule {
    /// The due time of what never comes.
    pub const NEVER: u64 = u64::MAX;

    /// The part of `arrivals` that falls to `thread` of `threads`. Stages are of the steady phase: before, for `warmup_ns`, the
    /// rate with which they begin holds.
    pub fn new(arrivals: &Arrivals, warmup_ns: u64, thread: usize, threads: usize) -> Schedule {
        let form = match arrivals {
            Arrivals::Constant { rate_per_s } => Form::Even(SECOND / rate_per_s),
            Arrivals::Poisson { rate_per_s, seed } => {
                let draw = SplitMix::new(*seed, thread as u64);
                Form::Poisson { draw, mean_ns: SECOND * threads as f64 / rate_per_s, at: 0.0 }
            }
            Arrivals::Stages(stages) => Form::Ramps(ramps(stages, warmup_ns)),
            Arrivals::Burst { size, every_ns } => Form::Burst { size: *size, every_ns: *every_ns },
        };
        let mut schedule =
            Schedule { form, number: thread as u64, threads: threads as u64, next: 0, end: Schedule::NEVER };
        schedule.next = schedule.due();
        schedule
    }

    /// The same, without what is due at `end` (nanoseconds after the start) or later.
    pub fn until(self, end: u64) -> Schedule {
        let next = if self.next < end { self.next } else { Schedule::NEVER };
        Schedule { next, end, ..self }
    }

    /// When the next request is due, in nanoseconds after the start.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Goes on to the request after it.
    pub fn advance(&mut self) {
        self.number += self.threads;
        let due = self.due();
        self.next = if due < self.end { due } else { Schedule::NEVER };
    }

    fn due(&mut self) -> u64 {
        let number = self.number;
        match &mut self.form {
            Form::Even(gap) => (number as f64 * *gap).round() as u64,
            Form::Ramps(ramps) => {
                let at = number as f64;
                let ramp = ramps.iter().find(|ramp| at < ramp.before.1 + ramp.holds.1);
                ramp.map_or(Schedule::NEVER, |ramp| (ramp.before.0 + ramp.when(at - ramp.before.1)).round() as u64)
            }
            Form::Burst { size, every_ns } => (number / *size).saturating_mul(*every_ns),
            Form::Poisson { draw, mean_ns, at } => {
                // Inversion: -ln(1 - u) is exponentially distributed, and 1 - u is never 0.
                *at -= *mean_ns * (1.0 - draw.unit()).ln();
                at.round() as u64
            }
        }
    }
}

fn ramps(stages: &[Stage], warmup_ns: u64) -> Vec<Ramp> {
    let first = stages[0].from_per_s;
    let warmup = Stage { duration_ns: warmup_ns, from_per_s: first, to_per_s: first };
    let (mut ramps, mut before) = (Vec::new(), (0.0, 0.0));
    for stage in std::iter::once(&warmup).chain(stages).filter(|stage| stage.duration_ns > 0) {
        let (ns, from, to) = (stage.duration_ns as f64, stage.from_per_s / SECOND, stage.to_per_s / SECOND);
        let holds = (ns, (from + to) / 2.0 * ns);
        ramps.push(Ramp { before, holds, rate: (from, (to - from) / ns) });
        before = (before.0 + holds.0, before.1 + holds.1);
    }
    ramps
}

impl Ramp {
    /// When `n` requests of this ramp have been: the t with rate t + slope t²/2 = n. The root is written so that nothing cancels
    /// (Press et al., Numerical Recipes, 3rd edition, section 5.6), and a slope of 0 needs no case of its own.
    fn when(&self, n: f64) -> f64 {
        let (rate, slope) = self.rate;
        if n == 0.0 {
            return 0.0;
        }
        2.0 * n / (rate + (rate * rate + 2.0 * slope * n).max(0.0).sqrt())
    }
}

/// Steele, Lea and Flood, Fast splittable pseudorandom number generators (OOPSLA 2014): 64 bits of state, one multiplication chain
/// per number, more than enough for gaps between requests.
#[derive(Clone, Debug)]
pub struct SplitMix(u64);

impl SplitMix {
    const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

    /// Streams of different threads begin at places that have nothing to do with each other.
    pub fn new(seed: u64, stream: u64) -> SplitMix {
        SplitMix(mix(mix(seed ^ SplitMix::GAMMA).wrapping_add(stream)))
    }

    /// Number `n` of the numbers that follow, counted from 0: the state is a sum, so that none before it is needed.
    pub fn nth(&self, n: u64) -> u64 {
        mix(self.0.wrapping_add(SplitMix::GAMMA.wrapping_mul(n.wrapping_add(1))))
    }

    /// Within 0 to 1, 1 excluded.
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(SplitMix::GAMMA);
        (mix(self.0) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::Part;

    const MS: u64 = 1_000_000;

    /// Due times below `until` of all threads together.
    fn union(arrivals: &Arrivals, warmup_ns: u64, threads: usize, until: u64) -> Vec<u64> {
        let mut all = Vec::new();
        for thread in 0..threads {
            let mut schedule = Schedule::new(arrivals, warmup_ns, thread, threads);
            while schedule.next() < until {
                all.push(schedule.next());
                schedule.advance();
            }
        }
        all.sort_unstable();
        all
    }

    /// Variance of the counts in windows, divided by their mean: 0 for even, 1 for Poisson (Fano, 1947).
    fn fano(dues: &[u64], window: u64, windows: usize) -> f64 {
        let mut counts = vec![0.0; windows];
        dues.iter().for_each(|due| counts[(due / window) as usize] += 1.0);
        let mean = counts.iter().sum::<f64>() / windows as f64;
        counts.iter().map(|n| (n - mean) * (n - mean)).sum::<f64>() / windows as f64 / mean
    }

    #[test]
    fn a_constant_rate_is_even_and_whole_over_any_number_of_threads() {
        let arrivals = Arrivals::Constant { rate_per_s: 1000.0 };
        let one = union(&arrivals, 0, 1, 10_000 * MS);
        assert_eq!((10_000, 0, 9_999 * MS), (one.len(), one[0], one[9_999]));
        assert!((2..=7).all(|threads| one == union(&arrivals, 0, threads, 10_000 * MS)));
        assert_eq!(0.0, fano(&one, 10 * MS, 1000));
        let odd = union(&Arrivals::Constant { rate_per_s: 1234.5 }, 0, 3, 10_000 * MS);
        assert!(odd.len() == 12_345 && fano(&odd, 10 * MS, 1000) <= 0.2);
    }

    /// Due times below `until` of engines with so many threads each, which share a load.
    fn shared(arrivals: &Arrivals, threads: &[u64], until: u64) -> Vec<u64> {
        let mut all = Vec::new();
        for (index, threads_of_it) in (0_u64..).zip(threads) {
            let part = Part { index, of: threads.len() as u64 };
            for thread in 0..*threads_of_it {
                let (number, of) = part.deal(thread, *threads_of_it);
                let mut schedule = Schedule::new(arrivals, 20 * MS, number as usize, of as usize);
                while schedule.next() < until {
                    all.push(schedule.next());
                    schedule.advance();
                }
            }
        }
        all.sort_unstable();
        all
    }

    #[test]
    fn the_parts_of_several_engines_are_the_schedule_of_one_however_many_threads_each_has() {
        let even = Arrivals::Constant { rate_per_s: 1234.5 };
        let stages = Arrivals::Stages(vec![stage(100, 0.0, 2000.0), stage(50, 500.0, 500.0)]);
        for arrivals in [even, stages, Arrivals::Burst { size: 7, every_ns: 3 * MS }] {
            let one = union(&arrivals, 20 * MS, 1, 170 * MS);
            assert!(!one.is_empty());
            for threads in [vec![1, 1], vec![2, 1, 3], vec![1, 4, 1, 2]] {
                assert_eq!(one, shared(&arrivals, &threads, 170 * MS));
            }
        }
        let random = Arrivals::Poisson { rate_per_s: 1000.0, seed: 7 };
        let dues = shared(&random, &[1, 2, 1, 3], 100_000 * MS);
        assert!(dues.len().abs_diff(100_000) < 5 * 316, "{}", dues.len());
        assert!((fano(&dues, 10 * MS, 10_000) - 1.0).abs() < 5.0 * 0.0142);
    }

    #[test]
    fn what_would_be_due_at_the_end_or_later_never_is() {
        for arrivals in [Arrivals::Constant { rate_per_s: 1000.0 }, Arrivals::Burst { size: 2, every_ns: MS }] {
            let whole = union(&arrivals, 0, 1, 5 * MS);
            let mut schedule = Schedule::new(&arrivals, 0, 0, 1).until(5 * MS);
            for due in whole {
                assert_eq!(due, schedule.next());
                schedule.advance();
            }
            assert_eq!(Schedule::NEVER, schedule.next());
        }
        assert_eq!(Schedule::NEVER, Schedule::new(&Arrivals::Constant { rate_per_s: 1.0 }, 0, 1, 2).until(MS).next());
    }

    #[test]
    fn no_error_adds_up_over_a_day() {
        let mut schedule = Schedule::new(&Arrivals::Constant { rate_per_s: 30_000.0 }, 0, 0, 1);
        schedule.number = 86_400 * 30_000 - 1;
        schedule.advance();
        assert_eq!(86_400_000 * MS, schedule.next());
    }

    #[test]
    fn poisson_arrivals_have_the_mean_and_the_spread_of_a_poisson_process() {
        let arrivals = Arrivals::Poisson { rate_per_s: 1000.0, seed: 7 };
        for threads in [1, 4] {
            let dues = union(&arrivals, 0, threads, 100_000 * MS);
            // 100,000 arrivals have a standard deviation of 316; the Fano factor of 10,000 windows one of sqrt(2/10,000).
            assert!(dues.len().abs_diff(100_000) < 5 * 316, "{}", dues.len());
            assert!((fano(&dues, 10 * MS, 10_000) - 1.0).abs() < 5.0 * 0.0142);
        }
        assert_eq!(union(&arrivals, 0, 2, 100 * MS), union(&arrivals, 0, 2, 100 * MS));
        assert_ne!(
            union(&arrivals, 0, 1, 100 * MS),
            union(&Arrivals::Poisson { rate_per_s: 1000.0, seed: 8 }, 0, 1, 100 * MS)
        );
    }

    fn stage(ms: u64, from: f64, to: f64) -> Stage {
        Stage { duration_ns: ms * MS, from_per_s: from, to_per_s: to }
    }

    #[test]
    fn a_ramp_holds_the_area_under_its_line() {
        // 0 to 2000/s in 1 s: n requests by sqrt(n / 1000) s.
        let arrivals = Arrivals::Stages(vec![stage(1000, 0.0, 2000.0)]);
        let dues = union(&arrivals, 0, 1, u64::MAX);
        assert_eq!((1000, 0, 500 * MS), (dues.len(), dues[0], dues[250]));
        assert!((0..1000).all(|n| dues[n].abs_diff(((n as f64 / 1000.0).sqrt() * 1e9) as u64) <= 1));
        assert_eq!(dues, union(&arrivals, 0, 3, u64::MAX));
    }

    #[test]
    fn stages_follow_each_other_and_end() {
        let stages = vec![stage(100, 1000.0, 1000.0), stage(50, 0.0, 0.0), stage(100, 2000.0, 0.0)];
        let dues = union(&Arrivals::Stages(stages), 0, 1, u64::MAX);
        assert_eq!((200, 99 * MS, 150 * MS), (dues.len(), dues[99], dues[100]));
        assert!(dues.windows(2).all(|pair| pair[0] <= pair[1]) && dues[199] < 250 * MS);
    }

    #[test]
    fn the_warmup_before_stages_has_their_first_rate() {
        let dues = union(&Arrivals::Stages(vec![stage(10, 1000.0, 3000.0)]), 20 * MS, 1, u64::MAX);
        assert_eq!((40, 19 * MS, 20 * MS), (dues.len(), dues[19], dues[20]));
    }

    #[test]
    fn a_burst_is_due_at_once_and_dealt_over_the_threads() {
        let arrivals = Arrivals::Burst { size: 3, every_ns: 5 * MS };
        let expected = vec![0, 0, 0, 5 * MS, 5 * MS, 5 * MS];
        assert!((1..=4).all(|threads| expected == union(&arrivals, 0, threads, 10 * MS)));
    }
}
