//! When the next request may go.
//!
//! The worker asks one question, [`Pace::next`], whenever a connection is free, and has one loop whatever the pace is. A closed
//! pace answers "now", or, where the number of its connections changes, that this one is away, or, while they are being opened, that
//! this one is to be opened and waits; an open one when its oldest request that
//! has not been sent was due, or that none is due yet. Each says "never" once the count, if there is one, is used up.
//!
//! Requests that are due and have no connection are not kept anywhere: they are what the schedule has between the last one sent and
//! now. So a server that stands still costs no memory, however fast the pace.

mod opening;

use crate::crowd::Crowd;
use crate::order::{Order, PaceOrder, Until};
use crate::schedule::Schedule;
use opening::Opening;
use std::sync::atomic::{AtomicI64, Ordering};

/// What the pace says about the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// It may go at once; it was due then.
    Since(u64),
    /// It is not due yet.
    Later,
    /// Not at this place, which has no connection until then.
    Away(u64),
    /// Not before then, but this place is to have its connection now.
    Early(u64),
    /// Not before a command; the place stays as it is.
    Rest,
    /// There is none any more.
    Never,
}

impl Due {
    /// The same, counted from the start of the clock and not of the run, which was at `start`.
    fn after(self, start: u64) -> Due {
        match self {
            Due::Away(at) => Due::Away(at.saturating_add(start)),
            Due::Early(at) => Due::Early(at.saturating_add(start)),
            due => due,
        }
    }
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

    /// Whether there are none any more.
    fn gone(&self) -> bool {
        self.0.load(Ordering::Relaxed) <= 0
    }
}

/// What decides.
#[derive(Debug)]
enum Kind {
    /// A free connection.
    Closed(Opening),
    /// A command: a closed pace between two turns.
    Resting,
    /// A free connection, while its number is there.
    ClosedStages(Crowd),
    /// The schedule of an open pace.
    Open(Schedule),
}

/// When the next request may go, as one worker sees it.
#[derive(Debug)]
pub struct Pace<'t> {
    /// Connection places of this worker.
    places: usize,
    /// How many of them are opened at the start.
    opened: usize,
    kind: Kind,
    /// When the run begins.
    start: u64,
    tickets: Option<&'t Tickets>,
    /// Requests of the warm-up need no ticket.
    steady: bool,
    /// At an open pace, what was due before then was of the warm-up.
    steady_from: u64,
}

impl<'t> Pace<'t> {
    /// The part of the order's pace that worker `thread` carries out.
    pub fn new(order: &Order, thread: usize, tickets: Option<&'t Tickets>) -> Pace<'t> {
        let warmup_ns = order.warmup_ns;
        let (number, all) = order.part.deal(thread as u64, order.threads as u64);
        let end = match order.until {
            Until::Duration(ns) => warmup_ns + ns,
            Until::Count(_) | Until::Commands => Schedule::NEVER,
        };
        let kind = match &order.pace {
            PaceOrder::Closed { connections } => Kind::Closed(Opening {
                ns: order.opening_ns,
                asks: if order.turns { Schedule::NEVER } else { order.opening_ns },
                connections: *connections as u64 * order.part.of,
                thread: number,
                threads: all,
            }),
            PaceOrder::ClosedStages(stages) => Kind::ClosedStages(Crowd::new(stages, warmup_ns, thread, order.threads)),
            PaceOrder::Open { arrivals, .. } => {
                Kind::Open(Schedule::new(arrivals, warmup_ns, number as usize, all as usize).until(end))
            }
        };
        Pace {
            places: share(order.pace.most_connections(), order.threads, thread),
            opened: share(order.pace.connections(), order.threads, thread),
            kind,
            start: 0,
            tickets,
            steady: order.warmup_ns == 0,
            steady_from: 0,
        }
    }

    /// The shared counter that this order needs.
    pub fn tickets(order: &Order) -> Option<Tickets> {
        match order.until {
            Until::Count(count) => Some(Tickets::new(count)),
            Until::Duration(_) | Until::Commands => None,
        }
    }

    /// When the first connection of the run is there, in nanoseconds after its start.
    pub fn first_connection(order: &Order) -> u64 {
        match &order.pace {
            PaceOrder::ClosedStages(stages) => Crowd::new(stages, order.warmup_ns, 0, 1).away(0, 0).unwrap_or(0),
            _ => 0,
        }
    }

    /// Whether each place has a connection from the start (or from when it is opened), which owes an answer.
    pub fn is_constant(&self) -> bool {
        matches!(self.kind, Kind::Closed(_) | Kind::Resting)
    }

    /// When the connections of a [constant](Pace::is_constant) pace, which may be there earlier, begin to ask.
    pub fn asks_from(&self) -> Option<u64> {
        match self.kind {
            Kind::Closed(opening) => Some(self.start.saturating_add(opening.asks)),
            Kind::Resting => Some(Schedule::NEVER),
            _ => None,
        }
    }

    /// The run begins.
    pub fn begin(&mut self, start: u64) {
        self.start = start;
    }

    /// A turn is over, at a closed pace: nothing is begun before the next one.
    pub fn rest(&mut self) {
        self.kind = Kind::Resting;
    }

    /// Connections that are not there are to be, at once; none asks.
    pub fn open_again(&mut self) {
        self.kind = Kind::Closed(Opening::at_once(Schedule::NEVER));
    }

    /// A turn begins: each free connection asks.
    pub fn ask(&mut self) {
        self.kind = Kind::Closed(Opening::at_once(0));
    }

    /// How many connection places this worker has.
    pub fn places(&self) -> usize {
        self.places
    }

    /// How many of them are opened at the start.
    pub fn opened(&self) -> usize {
        self.opened
    }

    /// Whether requests come due by themselves.
    pub fn is_open(&self) -> bool {
        matches!(self.kind, Kind::Open(_))
    }

    /// When the oldest request that has not been sent is, or was, due. A closed pace has none that is due by itself.
    #[inline]
    pub fn due(&self) -> u64 {
        match &self.kind {
            Kind::Open(schedule) if !self.spent() => schedule.next().saturating_add(self.start),
            _ => Schedule::NEVER,
        }
    }

    /// Whether the free connection of this place may begin a request at `now`; one that is due is the asker's.
    #[inline]
    pub fn next(&mut self, place: usize, now: u64) -> Due {
        if self.spent() {
            return Due::Never;
        }
        let due = match &self.kind {
            Kind::Closed(opening) => match opening.wait(place, now.saturating_sub(self.start)) {
                Some(wait) => return wait.after(self.start),
                None => now,
            },
            Kind::Resting => return Due::Rest,
            Kind::ClosedStages(crowd) => match crowd.away(place, now.saturating_sub(self.start)) {
                Some(until) => return Due::Away(until.saturating_add(self.start)),
                None => now,
            },
            Kind::Open(_) => self.due(),
        };
        if due > now {
            return Due::Later;
        }
        if self.steady && due >= self.steady_from && self.tickets.is_some_and(|tickets| tickets.take(1) == 0) {
            return Due::Never;
        }
        if let Kind::Open(schedule) = &mut self.kind {
            schedule.advance();
        }
        Due::Since(due)
    }

    /// Whether a connection that is there may begin one more request at once, at a pace that is [constant](Pace::is_constant). As
    /// [`Pace::next`], with nothing to be looked at but the count.
    #[inline(always)]
    pub fn again(&mut self) -> bool {
        !(self.steady && self.tickets.is_some_and(|tickets| tickets.take(1) == 0))
    }

    /// The steady phase begins with `in_flight` requests of the warm-up under way, which will end in it. Says for how many of them
    /// there is no ticket.
    pub fn enter_steady(&mut self, in_flight: u64) -> u64 {
        self.steady = true;
        self.tickets.map_or(0, |tickets| in_flight - tickets.take(in_flight))
    }

    /// The steady phase of an open pace begins at `edge`. What was due before is not part of it, whenever it is sent.
    pub fn enter_steady_at(&mut self, edge: u64) {
        (self.steady, self.steady_from) = (true, edge);
    }

    /// When those were due that come due before `edge` and have not been sent.
    pub fn waiting(&self, edge: u64) -> impl Iterator<Item = u64> + use<> {
        let start = self.start;
        let mut schedule = match &self.kind {
            Kind::Open(schedule) => Some(schedule.clone()),
            _ => None,
        };
        std::iter::from_fn(move || {
            let schedule = schedule.as_mut()?;
            let due = schedule.next().saturating_add(start);
            (due < edge).then(|| {
                schedule.advance();
                due
            })
        })
    }

    /// Whether no request will be begun any more.
    #[inline]
    pub fn spent(&self) -> bool {
        self.steady && self.tickets.is_some_and(Tickets::gone)
    }
}

/// The part of `n` that falls to `thread` of `threads`: even, the first ones taking the rest.
fn share(n: usize, threads: usize, thread: usize) -> usize {
    n / threads + usize::from(thread < n % threads)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::Arrivals;

    fn counting(tickets: &Tickets, steady: bool) -> Pace<'_> {
        let kind = Kind::Closed(Opening::at_once(0));
        Pace { places: 1, opened: 1, kind, start: 0, tickets: Some(tickets), steady, steady_from: 0 }
    }

    #[test]
    fn connections_are_dealt_evenly_and_none_is_lost() {
        assert_eq!([4, 3, 3], [share(10, 3, 0), share(10, 3, 1), share(10, 3, 2)]);
    }

    #[test]
    fn between_turns_nothing_is_asked_and_what_is_missing_can_be_opened() {
        let tickets = Tickets::new(9);
        let mut pace = counting(&tickets, false);
        let (mut says, never) = (Vec::new(), Schedule::NEVER);
        for turn in 0..3 {
            match turn {
                0 => pace.rest(),
                1 => pace.open_again(),
                _ => pace.ask(),
            }
            says.push((pace.next(0, 5), pace.asks_from(), pace.is_constant(), pace.due()));
        }
        let expected = [(Due::Rest, Some(never)), (Due::Early(never), Some(never)), (Due::Since(5), Some(0))];
        assert_eq!(expected.map(|(due, asks)| (due, asks, true, never)).to_vec(), says);
    }

    #[test]
    fn a_count_is_used_up_exactly_by_two_workers() {
        let tickets = Tickets::new(3);
        let (mut a, mut b) = (counting(&tickets, true), counting(&tickets, true));
        assert_eq!(
            [Due::Since(5), Due::Since(6), Due::Since(7), Due::Never, Due::Never],
            [a.next(0, 5), b.next(0, 6), b.next(0, 7), a.next(0, 8), b.next(0, 9)]
        );
        assert!(a.spent() && b.spent());
    }

    #[test]
    fn asking_again_takes_tickets_as_asking_does_and_never_more_than_there_are() {
        let tickets = Tickets::new(3);
        let mut pace = counting(&tickets, true);
        assert_eq!([true, true], [pace.again(), pace.again()]);
        assert_eq!(Due::Since(5), pace.next(0, 5));
        assert_eq!([false, false], [pace.again(), pace.again()]);
        assert_eq!((Due::Never, true), (pace.next(0, 6), pace.spent()));
        let mut warming = counting(&tickets, false);
        assert!(warming.again(), "the warm-up needs no ticket");
    }

    #[test]
    fn the_warmup_takes_no_tickets_but_what_it_leaves_in_flight_does() {
        let tickets = Tickets::new(5);
        let mut pace = counting(&tickets, false);
        assert!((0..100).all(|now| pace.next(0, now) == Due::Since(now)));
        assert_eq!(0, pace.enter_steady(4));
        assert_eq!([Due::Since(1), Due::Never], [pace.next(0, 1), pace.next(0, 1)]);
    }

    #[test]
    fn requests_in_flight_beyond_the_count_are_told() {
        let tickets = Tickets::new(3);
        let mut pace = counting(&tickets, false);
        assert_eq!((7, true, Due::Never), (pace.enter_steady(10), pace.spent(), pace.next(0, 0)));
    }

    #[test]
    fn a_request_that_had_to_wait_keeps_its_due_time() {
        let schedule = Schedule::new(&Arrivals::Constant { rate_per_s: 1000.0 }, 0, 0, 1);
        let tickets = Tickets::new(3);
        let mut pace = Pace { kind: Kind::Open(schedule), ..counting(&tickets, true) };
        pace.begin(10);
        assert_eq!(
            [Due::Later, Due::Since(10), Due::Later],
            [pace.next(0, 9), pace.next(0, 10), pace.next(0, 1_000_009)]
        );
        assert_eq!((1_000_010, Due::Since(1_000_010)), (pace.due(), pace.next(0, 9_000_000)));
        assert_eq!((Due::Since(2_000_010), Due::Never), (pace.next(0, 9_000_000), pace.next(0, 9_000_000)));
        assert_eq!(Schedule::NEVER, pace.due(), "a count that is used up leaves nothing due");
    }
}
