//! The books of routes, where the order has more than one request. Apart from the rest, so that an order with one never comes here.

use super::Worker;
use crate::poll::Poll;
use crate::slice::Outcome;

impl<P: Poll> Worker<'_, P> {
    /// The request of this place ended, and its route's books say so. Which times go with an outcome is the outcome's to say, and both
    /// are the place's, so that [`Worker::book`] is the one place that has to know of routes.
    #[cold]
    #[inline(never)]
    pub(super) fn book_route(&mut self, place: usize, outcome: Outcome, now: u64) {
        let p = &self.places[place];
        let route = &mut self.ledger.of(p.due_at).routes[p.request()];
        route.end(outcome, now.saturating_sub(p.sent_at), now.saturating_sub(p.due_at));
        if outcome.is_answer() {
            route.status(p.status());
        }
    }

    /// A request that was never sent has a route too: the one that the mix would have sent.
    pub(super) fn shed_route(&mut self, due: u64, age: u64) {
        if self.ledger.slice.is_routed() {
            let request = self.mix.next();
            self.ledger.of(due).routes[request].end(Outcome::Shed, 0, age);
        }
    }
}
