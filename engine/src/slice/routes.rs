//! What happened to the requests of one route, where an order has several.
//!
//! A route is one entry of the order's `requests`. Its books are the ones of the whole slice once more, without what belongs to
//! connections rather than requests; the sums over routes are those of the slice, which [`assert_sums`] holds the engine to. An order
//! with one request has no routes: its slice says it all.

use super::{Outcome, STATUSES, Slice};
use crate::recorder::Recorder;

/// One route in one stretch of time.
#[derive(Clone, Debug)]
pub struct Route {
    /// Bytes received; those that nobody asked for count for the request before them on their connection.
    pub bytes_in: u64,
    /// Service time in nanoseconds, as [`Slice::latency`].
    pub latency: Recorder,
    /// Response time in nanoseconds, as [`Slice::response`].
    pub response: Recorder,
    /// Requests without a complete answer that are in the response times at their age.
    pub censored: u64,
    /// The smallest such age.
    pub censored_above: Option<u64>,
    offered: u64,
    outcomes: [u64; Outcome::ALL.len()],
    statuses: Vec<u64>,
}

impl Default for Route {
    fn default() -> Self {
        Route {
            bytes_in: 0,
            latency: Recorder::default(),
            response: Recorder::default(),
            censored: 0,
            censored_above: None,
            offered: 0,
            outcomes: [0; Outcome::ALL.len()],
            statuses: vec![0; STATUSES],
        }
    }
}

impl Route {
    /// A request ended so many nanoseconds after it was sent and after it was due. The outcome alone decides which of the two times
    /// are recorded, by the same rules as for the whole slice.
    pub fn end(&mut self, outcome: Outcome, service: u64, age: u64) {
        self.offered += 1;
        self.outcomes[outcome as usize] += 1;
        if outcome.is_answer() || outcome == Outcome::Timeout {
            self.latency.record(service);
        }
        if outcome.is_answer() {
            self.response.record(age);
        } else if outcome.is_given_up() {
            self.response.record(age);
            self.censored += 1;
            self.censored_above = Some(self.censored_above.map_or(age, |least| least.min(age)));
        }
    }

    /// A complete answer had this status.
    pub fn status(&mut self, status: u16) {
        self.statuses[usize::from(status).min(STATUSES - 1)] += 1;
    }

    /// Requests that ended.
    pub fn offered(&self) -> u64 {
        self.offered
    }

    /// How many of them ended like this.
    pub fn outcome(&self, outcome: Outcome) -> u64 {
        self.outcomes[outcome as usize]
    }

    /// Statuses that occurred, with how often.
    pub fn statuses(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        self.statuses.iter().enumerate().filter(|(_, n)| **n > 0).map(|(status, n)| (status as u16, *n))
    }

    /// Adds the times of `other`.
    pub fn merge_times(&mut self, other: &Route) {
        self.latency.add(&other.latency);
        self.response.add(&other.response);
    }

    fn merge_counts(&mut self, other: &Route) {
        self.bytes_in += other.bytes_in;
        self.censored += other.censored;
        self.censored_above = [self.censored_above, other.censored_above].into_iter().flatten().min();
        self.offered += other.offered;
        self.outcomes.iter_mut().zip(other.outcomes).for_each(|(a, b)| *a += b);
        self.statuses.iter_mut().zip(&other.statuses).for_each(|(a, b)| *a += b);
    }

    /// Makes it as new, keeping its memory.
    pub fn clear(&mut self) {
        (self.bytes_in, self.censored, self.censored_above, self.offered) = (0, 0, None, 0);
        self.outcomes = Default::default();
        self.latency.reset();
        self.response.reset();
        self.statuses.fill(0);
    }
}

/// As many routes as an order with so many requests has: none where there is only one.
pub fn of(requests: usize) -> Vec<Route> {
    let routes = if requests > 1 { requests } else { 0 };
    std::iter::repeat_with(Route::default).take(routes).collect()
}

/// Adds `theirs` to `mine`, which may be empty yet, without their times.
pub fn merge_counts(mine: &mut Vec<Route>, theirs: &[Route]) {
    if mine.len() < theirs.len() {
        mine.resize_with(theirs.len(), Route::default);
    }
    mine.iter_mut().zip(theirs).for_each(|(a, b)| a.merge_counts(b));
}

/// The promise of the protocol: what the slice has, its routes have.
pub fn assert_sums(slice: &Slice) {
    if slice.routes.is_empty() {
        return;
    }
    let sum = |of: &dyn Fn(&Route) -> u64| slice.routes.iter().map(of).sum::<u64>();
    let same = |what: &str, of: &dyn Fn(&Route) -> u64, whole: u64| {
        assert_eq!(sum(of), whole, "the routes' {what} and the slice's differ: a defect in the engine");
    };
    same("offered", &|r| r.offered, slice.offered);
    for outcome in Outcome::ALL {
        same(outcome.name(), &|r| r.outcome(outcome), slice.outcome(outcome));
    }
    same("bytes_in", &|r| r.bytes_in, slice.counts.bytes_in);
    same("latencies", &|r| r.latency.len(), slice.latency.len());
    same("responses", &|r| r.response.len(), slice.response.len());
    same("censored", &|r| r.censored, slice.counts.censored);
    same("statuses", &|r| r.statuses.iter().sum(), slice.statuses.iter().sum());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A slice of two routes in which each outcome occurred once on each.
    fn both() -> Slice {
        let mut slice = Slice::of(2);
        for (i, outcome) in [0, 1].into_iter().flat_map(|i| Outcome::ALL.map(|outcome| (i, outcome))) {
            let (service, age) = (10 + i as u64, 20 + i as u64);
            slice.routes[i].end(outcome, service, age);
            slice.end(outcome);
            if outcome.is_answer() {
                slice.routes[i].status(200);
                slice.status(200);
                slice.response.record(age);
            }
            if outcome.is_answer() || outcome == Outcome::Timeout {
                slice.latency.record(service);
            }
            if outcome.is_given_up() {
                slice.censor(age);
            }
        }
        slice
    }

    #[test]
    fn the_sums_over_routes_are_the_slice_and_stay_so_when_slices_are_joined() {
        let mut all = Slice::default();
        (0..3).for_each(|_| all.merge(&both()));
        assert_sums(&all);
        let route = &all.routes[1];
        assert_eq!((36, 3, 12), (route.offered(), route.outcome(Outcome::Tls), route.latency.len()));
        assert_eq!((21, 12, Some(21)), (route.response.len(), route.censored, route.censored_above));
        assert_eq!(vec![(200, 9)], route.statuses().collect::<Vec<_>>());
        all.clear();
        assert_sums(&all);
        assert_eq!((2, 0, 0), (all.routes.len(), all.routes[1].offered(), all.routes[1].latency.len()));
    }

    #[test]
    #[should_panic(expected = "the routes' latencies and the slice's differ")]
    fn a_time_that_a_route_lacks_is_a_defect() {
        let mut slice = both();
        slice.latency.record(1);
        assert_sums(&slice);
    }

    #[test]
    fn one_request_has_no_routes() {
        assert_eq!((0, 2), (of(1).len(), of(2).len()));
    }
}
