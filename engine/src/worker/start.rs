//! The begin of a run that was told when to: every thread waits for it by itself, so that none waits to be woken by another.

use super::{NAP_NS, Worker};
use crate::clock;
use crate::poll::Poll;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

impl<P: Poll> Worker<'_, P> {
    /// Waits for the start of the run, unless the load is ended before it.
    pub(super) fn await_start(&mut self) {
        let start = self.ledger.window.start;
        let mut now = clock::now();
        while now < start && !self.job.stop.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_nanos(NAP_NS.min(start - now)));
            now = clock::now();
        }
        // Stopped before it: then there is no load.
        self.over = now < start;
        self.totals.start_late_ns = self.job.start_at_ns.map(|at| now.saturating_sub(at));
    }
}
