//! The one clock: nanoseconds of `CLOCK_MONOTONIC`, and the processor time the engine itself used.
//!
//! Plain integers rather than `Instant` because the stamps leave the process: the controller compares them with its own
//! readings of the same clock. The read goes through the vDSO (about 20 ns), so no cycle counter is needed.

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::time::{ClockId, clock_gettime};

/// Nanoseconds in a second.
pub const SECOND: u64 = 1_000_000_000;
/// Nanoseconds in a millisecond.
pub const MILLISECOND: u64 = 1_000_000;

/// Now, in nanoseconds of `CLOCK_MONOTONIC`.
#[inline]
pub fn now() -> u64 {
    // Fails only for a clock that does not exist.
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |t| t.tv_sec() as u64 * SECOND + t.tv_nsec() as u64)
}

/// Processor time used, split as the kernel splits it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cpu {
    /// In user mode.
    pub user_ns: u64,
    /// In the kernel.
    pub system_ns: u64,
}

impl Cpu {
    /// All threads of this process so far.
    pub fn of_process() -> Cpu {
        Cpu::read(UsageWho::RUSAGE_SELF)
    }

    /// The calling thread so far.
    pub fn of_thread() -> Cpu {
        Cpu::read(UsageWho::RUSAGE_THREAD)
    }

    /// What was used since `earlier`.
    pub fn since(self, earlier: Cpu) -> Cpu {
        Cpu {
            // The kernel scales user and system from ticks, so one of the two may step back by a tick.
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
        }
    }

    /// Adds `other` to this.
    pub fn add(&mut self, other: Cpu) {
        self.user_ns += other.user_ns;
        self.system_ns += other.system_ns;
    }

    fn read(who: UsageWho) -> Cpu {
        // getrusage fails only for an unknown `who`; unknown processor time is better than no measurement at all.
        getrusage(who)
            .map(|u: Usage| Cpu { user_ns: ns(u.user_time()), system_ns: ns(u.system_time()) })
            .unwrap_or_default()
    }
}

fn ns(t: nix::sys::time::TimeVal) -> u64 {
    (t.tv_sec() as u64) * SECOND + (t.tv_usec() as u64) * 1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_never_goes_below_zero() {
        let early = Cpu { user_ns: 10, system_ns: 0 };
        let late = Cpu { user_ns: 5, system_ns: 7 };
        assert_eq!(late.since(early), Cpu { user_ns: 0, system_ns: 7 });
    }
}
