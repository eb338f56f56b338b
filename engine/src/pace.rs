//! When the next request may go.
//!
//! The worker asks one question, [`Pace::next`], whenever a connection is free, and has one loop whatever the pace is. A closed
//! pace answers "now" until the count, if there is one, is used up; an open pace will answer with a due time.

use crate::order::{Order, PaceOrder, Until};
use std::sync::atomic::{AtomicI64, Ordering};

/// What the pace says about the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// It may go at once.
    Now,
    /// There is none any more.
    Never,
}

/// The requests still to be begun in the steady phase, shared by all threads of a run that counts.
///
/// One shared counter, and not a share for each thread, so that a slow thread does not leave its share undone at the end.
#[derive(Debug)]
pub struct Tickets(AtomicI64);

impl Tickets {
    /// Tickets for `count` requests.
    pub fn new(count: u64) -> Tickets {
        Tickets(AtomicI64::new(i64::try_from(count).unwrap_or(i64::MAX)))
    }

    /// Takes up to `wanted` tickets and says how many there were.
    fn take(&self, wanted: u64) -> u64 {
        let wanted = i64::try_from(wanted).unwrap_or(i64::MAX);
        let before = self.0.fetch_sub(wanted, Ordering::Relaxed);
        before.clamp(0, wanted) as u64
    }
}

/// When the next request may go, as one worker sees it.
#[derive(Debug)]
pub struct Pace<'t> {
    /// Connection places of this worker.
    places: usize,
    tickets: Option<&'t Tickets>,
    /// Requests of the warm-up need no ticket.
    steady: bool,
    spent: bool,
}

impl<'t> Pace<'t> {
    /// The part of the order's pace that worker `thread` carries out.
    pub fn new(order: &Order, thread: usize, tickets: Option<&'t Tickets>) -> Pace<'t> {
        let PaceOrder::Closed { connections } = order.pace;
        Pace { places: share(connections, order.threads, thread), tickets, steady: order.warmup_ns == 0, spent: false }
    }

    /// The shared counter that this order needs.
    pub fn tickets(order: &Order) -> Option<Tickets> {
        match order.until {
            Until::Count(count) => Some(Tickets::new(count)),
            Until::Duration(_) => None,
        }
    }

    /// How many connection places this worker has.
    pub fn places(&self) -> usize {
        self.places
    }

    /// Whether a free connection may begin a request.
    #[inline]
    pub fn next(&mut self) -> Due {
        match self.tickets {
            Some(tickets) if self.steady && (self.spent || tickets.take(1) == 0) => {
                self.spent = true;
                Due::Never
            }
            _ => Due::Now,
        }
    }

    /// The steady phase begins with `in_flight` requests of the warm-up under way, which will end in it. Says for how many of them
    /// there is no ticket.
    pub fn enter_steady(&mut self, in_flight: u64) -> u64 {
        self.steady = true;
        let surplus = self.tickets.map_or(0, |tickets| in_flight - tickets.take(in_flight));
        // A worker that loses all its requests here would never ask again, and so never learn that none are left.
        self.spent |= surplus > 0;
        surplus
    }

    /// Whether no request will be begun any more.
    pub fn spent(&self) -> bool {
        self.spent
    }
}

/// The part of `n` that falls to `thread` of `threads`: even, the first ones taking the rest.
fn share(n: usize, threads: usize, thread: usize) -> usize {
    n / threads + usize::from(thread < n % threads)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counting(tickets: &Tickets, steady: bool) -> Pace<'_> {
        Pace { places: 1, tickets: Some(tickets), steady, spent: false }
    }

    #[test]
    fn connections_are_dealt_evenly_and_none_is_lost() {
        assert_eq!([4, 3, 3], [share(10, 3, 0), share(10, 3, 1), share(10, 3, 2)]);
    }

    #[test]
    fn a_count_is_used_up_exactly_by_two_workers() {
        let tickets = Tickets::new(3);
        let (mut a, mut b) = (counting(&tickets, true), counting(&tickets, true));
        assert_eq!(
            [Due::Now, Due::Now, Due::Now, Due::Never, Due::Never],
            [a.next(), b.next(), b.next(), a.next(), b.next()]
        );
        assert!(a.spent() && b.spent());
    }

    #[test]
    fn the_warmup_takes_no_tickets_but_what_it_leaves_in_flight_does() {
        let tickets = Tickets::new(5);
        let mut pace = counting(&tickets, false);
        assert!((0..100).all(|_| pace.next() == Due::Now));
        assert_eq!(0, pace.enter_steady(4));
        assert_eq!([Due::Now, Due::Never], [pace.next(), pace.next()]);
    }

    #[test]
    fn requests_in_flight_beyond_the_count_are_told() {
        let tickets = Tickets::new(3);
        let mut pace = counting(&tickets, false);
        assert_eq!((7, true, Due::Never), (pace.enter_steady(10), pace.spent(), pace.next()));
    }

    #[test]
    fn without_a_count_there_is_always_a_next() {
        let mut pace = Pace { places: 1, tickets: None, steady: true, spent: false };
        assert_eq!((0, Due::Now), (pace.enter_steady(9), pace.next()));
    }
}
