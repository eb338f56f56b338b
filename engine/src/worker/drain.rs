//! The end of an open pace that waits for what is under way.
//!
//! A run that is cut off at its end books as unfinished what the server would have answered a moment later, and at a low rate with slow
//! answers that is a good part of all. So the last window may be held open for a while: the schedule has come to its own end by then, so
//! nothing new is due; what is missing gets its connection and its answer, with its true times, in the slice that is still open.

use super::Worker;
use crate::poll::Poll;
use crate::schedule::Schedule;

impl<P: Poll> Worker<'_, P> {
    /// The last window is over: whether it is held open for answers. Only once.
    pub(super) fn begin_drain(&mut self) -> bool {
        if self.job.cue.is_some() {
            return self.begin_end_of_turn();
        }
        let hold = self.job.drain_ns > 0 && self.ledger.drain.is_none() && !self.is_drained();
        if hold {
            self.ledger.hold(self.job.drain_ns);
        }
        hold
    }

    /// Whether the window is held open and there is nothing left to wait for.
    pub(super) fn has_drained(&self) -> bool {
        self.ledger.drain.is_some() && self.is_drained()
    }

    /// No request of this phase is under way, and none that was due waits for a connection.
    fn is_drained(&self) -> bool {
        self.in_flight == self.left_over && self.pace.due() == Schedule::NEVER
    }
}
