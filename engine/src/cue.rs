//! What begins a turn in all threads of load: it is called by the collecting thread, and begins when the last of them is ready for it.
//!
//! Turns are counted from 1. Each thread has a bell, a descriptor that it waits for among its sockets, so that one that rests is woken
//! by nothing else.

use crate::error::Fault;
use crate::order::Turn;
use crate::timetable::Phase;
use rustix::event::{EventfdFlags, eventfd};
use std::os::fd::OwnedFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// What the threads agree on turns by.
pub struct Cue {
    /// One for each thread; never read: each ring is an event of its own.
    bells: Vec<OwnedFd>,
    turn: Mutex<Turn>,
    /// Turns that have been called.
    called: AtomicU64,
    /// Times that a thread was ready for one.
    arrived: AtomicU64,
    /// Turns that have begun.
    begun: AtomicU64,
    /// When the last of them did.
    start: AtomicU64,
}

impl Cue {
    /// A cue for so many threads.
    pub fn new(threads: usize) -> Result<Cue, Fault> {
        let bell = || eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let bells: Result<Vec<_>, _> = (0..threads).map(|_| bell()).collect();
        let bells = bells.map_err(|e| Fault::machine("turns", format!("this machine gave no eventfd: {e}")))?;
        let none = Turn { phase: Phase::Turn, lead_ns: 0, duration_ns: 0, histograms: false };
        let zero = || AtomicU64::new(0);
        Ok(Cue { bells, turn: Mutex::new(none), called: zero(), arrived: zero(), begun: zero(), start: zero() })
    }

    /// What wakes this thread.
    pub fn bell(&self, thread: usize) -> &OwnedFd {
        &self.bells[thread]
    }

    /// Wakes all threads.
    pub fn ring(&self) {
        // Refused only by a counter that is full, whose thread has been woken.
        for bell in &self.bells {
            let _ = rustix::io::write(bell, &1_u64.to_ne_bytes());
        }
    }

    /// The next turn is this one.
    pub fn call(&self, turn: Turn) {
        *self.turn.lock().expect("a lock that nobody panics with") = turn;
        self.called.fetch_add(1, Ordering::Release);
        self.ring();
    }

    /// Whether the turn of this number has been called.
    pub fn has_called(&self, number: u64) -> bool {
        self.called.load(Ordering::Acquire) >= number
    }

    /// The turn that was called last.
    pub fn turn(&self) -> Turn {
        *self.turn.lock().expect("a lock that nobody panics with")
    }

    /// One more thread is ready for the turn of this number. True: it was the last one, and the turn begins at `now`.
    pub fn arrive(&self, number: u64, now: u64) -> bool {
        let threads = self.bells.len() as u64;
        let last = self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == threads * number;
        if last {
            self.start.store(now, Ordering::Relaxed);
            self.begun.store(number, Ordering::Release);
        }
        if last && threads > 1 {
            self.ring();
        }
        last
    }

    /// Whether the turn of this number has begun.
    pub fn has_begun(&self, number: u64) -> bool {
        self.begun.load(Ordering::Acquire) >= number
    }

    /// When the last turn began.
    pub fn start(&self) -> u64 {
        self.start.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_begins_when_the_last_thread_is_ready_for_it() {
        let cue = Cue::new(2).unwrap();
        let turn = Turn { phase: Phase::Steady, lead_ns: 3, duration_ns: 7, histograms: true };
        assert!(!cue.has_called(1));
        for number in [1, 2] {
            cue.call(turn);
            assert!(cue.has_called(number) && !cue.has_called(number + 1) && cue.turn() == turn);
            assert_eq!([false, true], [cue.arrive(number, 10 * number), cue.arrive(number, 10 * number + 1)]);
            assert_eq!((true, false, 10 * number + 1), (cue.has_begun(number), cue.has_begun(number + 1), cue.start()));
        }
    }
}
