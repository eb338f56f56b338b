//! What happened in one stretch of time: counts, outcomes, bytes, histograms. Merging two is exact.
//!
//! A worker fills its own slice without sharing anything; at the end of a window the slice as a whole changes hands.

mod counts;
mod routes;

pub use counts::Counts;
pub use routes::Route;

use crate::attention::Spent;
use crate::recorder::Recorder;

/// Statuses are below this.
const STATUSES: usize = 1000;

/// How a request ended. Every request that was begun ends in exactly one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A complete answer that satisfies every rule.
    Ok,
    /// A complete answer with a status that is not expected.
    WrongStatus,
    /// A complete answer with a body, length or media type that is not expected.
    WrongBody,
    /// No complete answer in time.
    Timeout,
    /// The server's machine refused the connection, or cannot be reached.
    ConnectRefused,
    /// The connection did not come about in time.
    ConnectTimeout,
    /// The server reset the connection.
    Reset,
    /// The server ended the connection before the answer was complete.
    Truncated,
    /// The answer is not HTTP, or is framed in a way RFC 9112 forbids.
    Malformed,
    /// TLS did not come about, or broke.
    Tls,
    /// It was due and never sent: no connection was free in time.
    Shed,
    /// The run ended first.
    Unfinished,
}

impl Outcome {
    /// All, in the order of the protocol.
    pub const ALL: [Outcome; 12] = [
        Outcome::Ok,
        Outcome::WrongStatus,
        Outcome::WrongBody,
        Outcome::Timeout,
        Outcome::ConnectRefused,
        Outcome::ConnectTimeout,
        Outcome::Reset,
        Outcome::Truncated,
        Outcome::Malformed,
        Outcome::Tls,
        Outcome::Shed,
        Outcome::Unfinished,
    ];

    /// As the protocol spells it.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::WrongStatus => "wrong-status",
            Outcome::WrongBody => "wrong-body",
            Outcome::Timeout => "timeout",
            Outcome::ConnectRefused => "connect-refused",
            Outcome::ConnectTimeout => "connect-timeout",
            Outcome::Reset => "reset",
            Outcome::Truncated => "truncated",
            Outcome::Malformed => "malformed",
            Outcome::Tls => "tls",
            Outcome::Shed => "shed",
            Outcome::Unfinished => "unfinished",
        }
    }

    /// Whether there was a complete answer.
    pub fn is_answer(self) -> bool {
        matches!(self, Outcome::Ok | Outcome::WrongStatus | Outcome::WrongBody)
    }

    /// Whether the engine ended the waiting, so that the response time is only known to be longer than the age.
    pub fn is_given_up(self) -> bool {
        matches!(self, Outcome::Timeout | Outcome::ConnectTimeout | Outcome::Shed | Outcome::Unfinished)
    }
}

/// A send is late from here on: a millisecond.
pub const LATE_NS: u64 = 1_000_000;

/// One stretch of time, as one worker or all workers saw it.
#[derive(Clone, Debug)]
pub struct Slice {
    /// Requests that ended here.
    pub offered: u64,
    outcomes: [u64; Outcome::ALL.len()],
    /// Other events.
    pub counts: Counts,
    /// Requests under way when the stretch ended.
    pub in_flight: u64,
    /// Service time of complete answers, and waiting time of requests that timed out.
    pub latency: Recorder,
    /// From due to complete answer; for requests that had none, how old they were: at least so long it would have been.
    pub response: Recorder,
    /// From due to sent, as far as a connection was free: the schedule's own error.
    pub lag: Recorder,
    /// From sent to the first byte of the answer.
    pub first_byte: Recorder,
    /// Times that are service time, response time and time to the first byte alike: those of answers that came in one read at a closed
    /// pace. Kept once while the load runs; [`Slice::merge`] enters them where they belong.
    pub prompt: Recorder,
    /// From connect to writable.
    pub connect: Recorder,
    /// From connected to the end of the TLS handshake.
    pub handshake: Recorder,
    /// Ages of the requests that were under way at the end of the run, since they were due.
    pub unfinished: Recorder,
    /// The smallest age in `response` of a request that had no answer.
    pub censored_above: Option<u64>,
    /// The most connections at a time.
    pub connections_peak: u64,
    statuses: Vec<u64>,
    /// The same for each request of the order; empty where there is only one.
    pub routes: Vec<Route>,
    /// How the worker's thread spent it.
    pub spent: Spent,
    /// The longest time the loop was away from its events.
    pub loop_stall_max_ns: u64,
}

impl Default for Slice {
    fn default() -> Self {
        Slice {
            offered: 0,
            outcomes: [0; Outcome::ALL.len()],
            counts: Counts::default(),
            in_flight: 0,
            latency: Recorder::default(),
            response: Recorder::default(),
            lag: Recorder::default(),
            first_byte: Recorder::default(),
            prompt: Recorder::default(),
            connect: Recorder::default(),
            handshake: Recorder::default(),
            unfinished: Recorder::default(),
            censored_above: None,
            connections_peak: 0,
            statuses: vec![0; STATUSES],
            routes: Vec::new(),
            spent: Spent::default(),
            loop_stall_max_ns: 0,
        }
    }
}

impl Slice {
    /// A slice for an order with so many requests.
    pub fn of(requests: usize) -> Slice {
        Slice { routes: routes::of(requests), ..Slice::default() }
    }

    /// Whether the order has more than one request.
    #[inline]
    pub fn is_routed(&self) -> bool {
        !self.routes.is_empty()
    }

    /// A request ended.
    #[inline]
    pub fn end(&mut self, outcome: Outcome) {
        self.offered += 1;
        self.outcomes[outcome as usize] += 1;
    }

    /// A request without a complete answer was `age` old when it was given up: the answer would have taken at least so long.
    pub fn censor(&mut self, age: u64) {
        self.response.record(age);
        self.counts.censored += 1;
        self.censored_above = Some(self.censored_above.map_or(age, |least| least.min(age)));
    }

    /// The engine was so late with a request.
    #[inline]
    pub fn lag(&mut self, lag: u64) {
        self.lag.record(lag);
        self.counts.sends_late += u64::from(lag > LATE_NS);
    }

    /// A TLS handshake took so long.
    pub fn shake(&mut self, ns: u64, resumed: bool) {
        self.handshake.record(ns);
        let counts = &mut self.counts;
        *(if resumed { &mut counts.handshakes_resumed } else { &mut counts.handshakes_full }) += 1;
    }

    /// A complete answer had this status.
    #[inline]
    pub fn status(&mut self, status: u16) {
        self.statuses[usize::from(status).min(STATUSES - 1)] += 1;
    }

    /// So many bytes came for this route.
    #[cold]
    #[inline(never)]
    pub fn received(&mut self, route: usize, bytes: usize) {
        self.routes[route].bytes_in += bytes as u64;
    }

    /// How many requests ended like this.
    pub fn outcome(&self, outcome: Outcome) -> u64 {
        self.outcomes[outcome as usize]
    }

    /// Statuses that occurred, with how often.
    pub fn statuses(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        self.statuses.iter().enumerate().filter(|(_, n)| **n > 0).map(|(status, n)| (status as u16, *n))
    }

    /// Adds `other` to this one.
    pub fn merge(&mut self, other: &Slice) {
        self.merge_counts(other);
        self.recorders_mut().into_iter().zip(other.recorders()).for_each(|(mine, theirs)| mine.add(theirs));
        [&mut self.latency, &mut self.response, &mut self.first_byte]
            .into_iter()
            .for_each(|all| all.add(&other.prompt));
        self.routes.iter_mut().zip(&other.routes).for_each(|(mine, theirs)| mine.merge_times(theirs));
    }

    /// Adds all of `other` but its times, which are the most of the work.
    pub fn merge_counts(&mut self, other: &Slice) {
        self.offered += other.offered;
        self.outcomes.iter_mut().zip(other.outcomes).for_each(|(a, b)| *a += b);
        self.statuses.iter_mut().zip(&other.statuses).for_each(|(a, b)| *a += b);
        routes::merge_counts(&mut self.routes, &other.routes);
        self.counts.merge(&other.counts);
        self.in_flight += other.in_flight;
        self.connections_peak += other.connections_peak;
        self.censored_above = [self.censored_above, other.censored_above].into_iter().flatten().min();
        self.spent.add(other.spent);
        self.loop_stall_max_ns = self.loop_stall_max_ns.max(other.loop_stall_max_ns);
    }

    /// Makes it as new, keeping its memory.
    pub fn clear(&mut self) {
        (self.offered, self.in_flight, self.loop_stall_max_ns) = (0, 0, 0);
        (self.outcomes, self.counts, self.spent) = (Default::default(), Counts::default(), Spent::default());
        self.statuses.fill(0);
        self.routes.iter_mut().for_each(Route::clear);
        (self.censored_above, self.connections_peak) = (None, 0);
        self.recorders_mut().into_iter().for_each(Recorder::reset);
        self.prompt.reset();
    }

    fn recorders(&self) -> [&Recorder; 7] {
        [&self.latency, &self.response, &self.lag, &self.first_byte, &self.connect, &self.handshake, &self.unfinished]
    }

    fn recorders_mut(&mut self) -> [&mut Recorder; 7] {
        [
            &mut self.latency,
            &mut self.response,
            &mut self.lag,
            &mut self.first_byte,
            &mut self.connect,
            &mut self.handshake,
            &mut self.unfinished,
        ]
    }

    /// The promise of the protocol: every request has one outcome, and one route.
    pub fn assert_balanced(&self) {
        assert_eq!(
            self.offered,
            self.outcomes.iter().sum::<u64>(),
            "offered requests and outcomes differ: a defect in the engine"
        );
        routes::assert_sums(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(outcome: Outcome, latency: u64) -> Slice {
        let mut slice = Slice::default();
        slice.end(outcome);
        slice.status(200);
        slice.latency.record(latency);
        slice.counts.bytes_in = 7;
        slice.in_flight = 2;
        slice.loop_stall_max_ns = latency;
        slice
    }

    #[test]
    fn merging_adds_counts_and_histograms_exactly() {
        let mut all = sample(Outcome::Ok, 10);
        all.merge(&sample(Outcome::Timeout, 30));
        all.assert_balanced();
        assert_eq!((2, 1, 1), (all.offered, all.outcome(Outcome::Ok), all.outcome(Outcome::Timeout)));
        assert_eq!((2, 10, 30), (all.latency.len(), all.latency.histogram().min(), all.latency.histogram().max()));
        assert_eq!((14, 4, 30), (all.counts.bytes_in, all.in_flight, all.loop_stall_max_ns));
        assert_eq!(vec![(200, 2)], all.statuses().collect::<Vec<_>>());
    }

    #[test]
    fn what_is_kept_once_is_in_all_three_times_when_slices_are_joined() {
        let mut one = sample(Outcome::Ok, 10);
        one.prompt.record(7);
        let mut all = Slice::default();
        all.merge(&one);
        all.merge(&Slice::default());
        assert_eq!((2, 1, 1, 0), (all.latency.len(), all.response.len(), all.first_byte.len(), all.prompt.len()));
        assert_eq!((7, 7), (all.latency.histogram().min(), all.first_byte.histogram().max()));
        one.clear();
        assert!(one.prompt.is_empty());
    }

    #[test]
    fn what_was_given_up_counts_with_its_age_and_the_smallest_is_kept() {
        let mut all = Slice::default();
        assert_eq!(None, all.censored_above);
        let mut other = Slice::default();
        [50, 30, 40].into_iter().for_each(|age| other.censor(age));
        all.merge(&other);
        assert_eq!(
            (3, Some(30), 3, 50),
            (all.counts.censored, all.censored_above, all.response.len(), all.response.histogram().max())
        );
        all.clear();
        assert_eq!((0, None, 0), (all.counts.censored, all.censored_above, all.response.len()));
    }

    #[test]
    fn a_send_is_late_beyond_a_millisecond() {
        let mut slice = Slice::default();
        [0, LATE_NS, LATE_NS + 1].into_iter().for_each(|lag| slice.lag(lag));
        assert_eq!((3, 1), (slice.lag.len(), slice.counts.sends_late));
    }

    #[test]
    fn a_cleared_slice_is_as_new() {
        let mut slice = sample(Outcome::Reset, 10);
        slice.clear();
        assert_eq!(format!("{:?}", Slice::default().counts), format!("{:?}", slice.counts));
        assert_eq!((0, 0, 0), (slice.offered, slice.latency.len(), slice.statuses().count()));
    }

    #[test]
    fn outcomes_are_indexed_in_the_order_of_their_list() {
        for (i, outcome) in Outcome::ALL.iter().enumerate() {
            assert_eq!(i, *outcome as usize, "{}", outcome.name());
        }
    }
}
