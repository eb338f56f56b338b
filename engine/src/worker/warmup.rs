//! The end of the warm-up. What it has begun must not be found in the figures of the steady phase.

use super::Worker;
use crate::poll::Poll;
use crate::slice::{Outcome, Slice};

impl<P: Poll> Worker<'_, P> {
    /// The steady phase begins with the next window.
    pub(super) fn enter_steady(&mut self, now: u64) {
        if self.pace.is_open() {
            self.leave_warmup();
        } else {
            self.take_over(now);
        }
    }

    /// At a closed pace a request is due when it is sent, and those in flight end in the steady phase. A run that counts ends after exactly
    /// that many requests. When more than that are in flight from the warm-up, the ones too many end with the warm-up, unfinished.
    fn take_over(&mut self, now: u64) {
        let mut surplus = self.pace.enter_steady(self.in_flight);
        for place in 0..self.places.len() {
            if surplus > 0 && self.places[place].busy() {
                self.let_go(place);
                self.unfinished(place, now);
                self.relay(place, now);
                surplus -= 1;
            }
        }
    }

    /// At an open pace a request belongs to the phase it was due in. Those of the warm-up that have no answer yet are told as unfinished
    /// with it, those that wait for a connection too. They go on as before, for so do their senders; but what becomes of them
    /// is nobody's figure.
    fn leave_warmup(&mut self) {
        let edge = self.ledger.window.end;
        for p in self.places.iter().filter(|p| p.busy()) {
            leave(&mut self.ledger.slice, p.request(), edge.saturating_sub(p.due_at));
        }
        let mut mix = self.mix.clone();
        for due in self.pace.waiting(edge) {
            leave(&mut self.ledger.slice, mix.next(), edge.saturating_sub(due));
        }
        self.left_over = self.in_flight;
        self.ledger.leave_behind();
        self.pace.enter_steady_at(edge);
    }
}

/// A request ends with its phase, so many nanoseconds after it was due.
fn leave(slice: &mut Slice, request: usize, age: u64) {
    slice.censor(age);
    slice.end(Outcome::Unfinished);
    if slice.is_routed() {
        slice.routes[request].end(Outcome::Unfinished, 0, age);
    }
}
