//! Response times as the summary tells them, where some are only known to be at least so long.

use super::Latency;
use crate::recorder::Recorder;
use crate::slice::Slice;
use serde::Serialize;

/// Response times in nanoseconds, some of them only known to be at least so long.
#[derive(Serialize)]
pub struct Response {
    #[serde(flatten)]
    times: Latency,
    /// Points that the requests without an answer could move up.
    at_least: Vec<&'static str>,
}

impl Response {
    /// The points that are told, by name.
    const POINTS: [(&'static str, f64); 6] =
        [("p50", 0.5), ("p75", 0.75), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0)];

    /// What the slice says of times that are known to their end.
    ///
    /// Had its c censored requests of n been waited for, each could have become any longer. The true value at quantile q is then
    /// at least the value here, and at most the value here at q + c/n, for no more than c requests have moved past it. Where both are
    /// the same (to the histogram's digits), or the value is below the smallest age, it is exact.
    pub fn of(slice: &Slice) -> Option<Response> {
        Response::of_times(&slice.response, slice.counts.censored, slice.censored_above)
    }

    /// What response times say of which so many are only ages, the smallest of them this.
    pub fn of_times(response: &Recorder, censored: u64, above: Option<u64>) -> Option<Response> {
        let h = &response.histogram();
        let share = censored as f64 / response.len().max(1) as f64;
        let moves = |q: f64| {
            let value = h.value_at_quantile(q);
            above.is_some_and(|age| value >= h.lowest_equivalent(age))
                && (q + share > 1.0 || h.value_at_quantile(q + share) > value)
        };
        let at_least = Response::POINTS.iter().filter(|(_, q)| moves(*q)).map(|(name, _)| *name).collect();
        Latency::of(h).map(|times| Response { times, at_least })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_that_the_unanswered_could_move_are_told() {
        let mut slice = Slice::default();
        (0..90).for_each(|_| slice.response.record(1000));
        (0..9).for_each(|_| slice.response.record(5000));
        slice.censor(3000);
        // Of a hundred, one that was given up at 3000 leaves the 99th what it is, for it would have come after it.
        assert_eq!(vec!["p99.9", "max"], Response::of(&slice).unwrap().at_least);
        let mut early = Slice::default();
        (0..1000).for_each(|_| early.response.record(1000));
        early.censor(10);
        // One of a thousand, given up at once, could have become the longest and nothing else.
        assert_eq!(vec!["max"], Response::of(&early).unwrap().at_least);
    }
}
