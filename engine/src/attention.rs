//! Whether a thread had time for its events. From this it is told whether the engine was the limit, and not the server.
//!
//! A thread runs, or has nothing to do, or is kept from running. Its processor time does not distinguish them: a thread that spins uses all
//! of its processor with nothing to do, and one that shares it uses half of it with more to do than it can. The kernel says how long a
//! thread that could have run waited for a processor (the second number of `/proc/thread-self/schedstat`: Documentation/scheduler/
//! sched-stats.rst in Linux), and the loop how long it looked for events in vain, and by how much a wait lasted longer than it
//! was asked to. What remains is idle. The kernel is asked at the edges of slices only.

use crate::clock::{self, Cpu, MILLISECOND};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// A wait that ends so much later than it was asked to was not ended by its timer: the thread was kept from running. Timers
/// alone are some 20 to 60 us late.
pub const OVERSLEPT_NS: u64 = MILLISECOND;
/// The most that one look for events takes. One that took longer was interrupted.
const LOOK_NS: u64 = 10_000;

/// How one or several threads spent a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent {
    /// How long it was, added up over threads.
    pub span_ns: u64,
    /// Processor time.
    pub cpu: Cpu,
    /// Time without an event and with nothing due; `None`: the kernel does not say what would tell.
    pub idle_ns: Option<u64>,
    /// Time in which a thread could have run, and had no processor.
    pub run_delay_ns: Option<u64>,
}

impl Default for Spent {
    fn default() -> Self {
        Spent { span_ns: 0, cpu: Cpu::default(), idle_ns: Some(0), run_delay_ns: Some(0) }
    }
}

impl Spent {
    /// Adds `other` to this. What is unknown of a part is unknown of the whole.
    pub fn add(&mut self, other: Spent) {
        let sum = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a + b);
        self.span_ns += other.span_ns;
        self.cpu.add(other.cpu);
        self.idle_ns = sum(self.idle_ns, other.idle_ns);
        self.run_delay_ns = sum(self.run_delay_ns, other.run_delay_ns);
    }

    /// Processor time by the time that passed, to four digits; `None`: none did. The kernel books what a running thread uses at its
    /// ticks, so that a stretch may be told a tick too much: a thread has never used more than all of it.
    pub fn cpu_share(&self) -> Option<f64> {
        let used = (self.cpu.user_ns + self.cpu.system_ns) as f64;
        (self.span_ns > 0).then(|| (used / self.span_ns as f64 * 1e4).round().min(1e4) / 1e4)
    }
}

/// What a loop saw of its own waits since it was asked last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    in_vain_ns: u64,
    overslept_ns: u64,
}

impl Waits {
    /// A look for events found none, and nothing was due; the next one began so much later.
    #[inline]
    pub fn look_in_vain(&mut self, ns: u64) {
        self.in_vain_ns += ns.min(LOOK_NS);
    }

    /// A wait lasted so much longer than it was asked to.
    pub fn oversleep(&mut self, ns: u64) {
        self.overslept_ns += ns;
    }
}

/// Looks at one thread, its own.
#[derive(Debug)]
pub struct Attention {
    delays: Option<File>,
    at: u64,
    cpu: Cpu,
    run_delay_ns: Option<u64>,
}

impl Attention {
    /// Looks at the calling thread from now on.
    pub fn begin() -> Attention {
        let delays = File::open("/proc/thread-self/schedstat").ok();
        let run_delay_ns = delays.as_ref().and_then(run_delay);
        Attention { delays, at: clock::now(), cpu: Cpu::of_thread(), run_delay_ns }
    }

    /// How the calling thread, the same, spent its time since the last look, in which its loop saw `waits`.
    pub fn look(&mut self, waits: Waits) -> Spent {
        let (at, cpu, run_delay_ns) = (clock::now(), Cpu::of_thread(), self.delays.as_ref().and_then(run_delay));
        let delay = run_delay_ns.zip(self.run_delay_ns).map(|(now, before)| now.saturating_sub(before));
        let spent = spent(at.saturating_sub(self.at), cpu.since(self.cpu), delay, waits);
        (self.at, self.cpu, self.run_delay_ns) = (at, cpu, run_delay_ns);
        spent
    }
}

/// A thread that overslept waited for a processor, or was stopped: then the kernel counts nothing. So the larger of the two is what it missed.
fn spent(span_ns: u64, cpu: Cpu, run_delay_ns: Option<u64>, waits: Waits) -> Spent {
    let idle_ns = run_delay_ns.map(|delay| {
        let away = cpu.user_ns + cpu.system_ns + delay.max(waits.overslept_ns);
        span_ns.min(span_ns.saturating_sub(away) + waits.in_vain_ns)
    });
    Spent { span_ns, cpu, idle_ns, run_delay_ns }
}

fn run_delay(file: &File) -> Option<u64> {
    let mut text = [0; 80];
    let read = file.read_at(&mut text, 0).ok()?;
    parse(std::str::from_utf8(&text[..read]).ok()?)
}

/// The second of three numbers. A kernel that does not count says three zeros, where a thread that runs has run once at least.
fn parse(text: &str) -> Option<u64> {
    let numbers: Vec<u64> = text.split_whitespace().map_while(|word| word.parse().ok()).collect();
    match numbers[..] {
        [_, _, 0] => None,
        [_, delay, _] => Some(delay),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = clock::SECOND;

    fn cpu(ns: u64) -> Cpu {
        Cpu { user_ns: ns / 2, system_ns: ns - ns / 2 }
    }

    #[test]
    fn what_a_thread_neither_ran_nor_missed_is_idle() {
        let idle = |cpu_ns, delay, waits| spent(SECOND, cpu(cpu_ns), Some(delay), waits).idle_ns;
        assert_eq!(Some(SECOND), idle(0, 0, Waits::default()));
        assert_eq!(Some(SECOND / 5), idle(SECOND / 2, 3 * SECOND / 10, Waits::default()));
        assert_eq!(Some(0), idle(SECOND / 2, SECOND, Waits::default()), "readings of one instant are not quite of one");
    }

    #[test]
    fn a_thread_that_was_stopped_was_not_idle() {
        let mut waits = Waits::default();
        waits.oversleep(SECOND / 2);
        assert_eq!(Some(SECOND / 2), spent(SECOND, cpu(0), Some(0), waits).idle_ns);
        // What it overslept because it had no processor is in the delay already.
        assert_eq!(Some(SECOND / 4), spent(SECOND, cpu(0), Some(3 * SECOND / 4), waits).idle_ns);
    }

    #[test]
    fn a_thread_that_spins_with_nothing_to_do_is_idle_and_what_interrupts_it_is_not() {
        let mut waits = Waits::default();
        (0..1000).for_each(|_| waits.look_in_vain(1000));
        assert_eq!(Some(1_000_000), spent(SECOND, cpu(SECOND), Some(0), waits).idle_ns);
        waits.look_in_vain(SECOND / 2);
        assert_eq!(Some(1_000_000 + LOOK_NS), spent(SECOND, cpu(SECOND), Some(0), waits).idle_ns);
    }

    #[test]
    fn what_the_kernel_does_not_count_is_unknown() {
        assert_eq!([Some(107_100), None, None, None], ["0 107100 1\n", "0 0 0\n", "", "12"].map(parse));
        let unknown = spent(SECOND, cpu(0), None, Waits::default());
        assert_eq!((None, None), (unknown.idle_ns, unknown.run_delay_ns));
        let mut sum = Spent::default();
        sum.add(spent(SECOND, cpu(0), Some(1), Waits::default()));
        assert_eq!((Some(SECOND - 1), Some(1), SECOND), (sum.idle_ns, sum.run_delay_ns, sum.span_ns));
        sum.add(unknown);
        assert_eq!((None, None, 2 * SECOND), (sum.idle_ns, sum.run_delay_ns, sum.span_ns));
    }

    #[test]
    fn no_thread_uses_more_than_its_time() {
        let share = |ns| spent(SECOND, cpu(ns), Some(0), Waits::default()).cpu_share();
        assert_eq!([Some(0.0), Some(0.4235), Some(1.0)], [0, 423_480_000, SECOND + 4_000_000].map(share));
        assert_eq!(None, Spent::default().cpu_share());
    }

    #[test]
    fn a_thread_can_look_at_itself() {
        let mut attention = Attention::begin();
        let spent = attention.look(Waits::default());
        assert!(spent.cpu_share().is_none_or(|share| share <= 1.0));
        assert_eq!(spent.idle_ns.is_some(), spent.run_delay_ns.is_some());
    }
}
