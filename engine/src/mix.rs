//! Which request comes next: smooth weighted round robin.
//!
//! Deterministic and even (weights 5, 1, 1 give a a b a c a a, not a a a a a b c), so that any stretch of a run holds the mix that
//! was ordered. A random draw would need a seed and would still be uneven over short slices.

/// The state of the draw; each thread has its own.
#[derive(Clone, Debug)]
pub struct Mix {
    weights: Vec<i64>,
    credits: Vec<i64>,
    total: i64,
}

impl Mix {
    /// A draw over requests with these weights; there is at least one.
    pub fn new(weights: impl IntoIterator<Item = u32>) -> Mix {
        let weights: Vec<i64> = weights.into_iter().map(i64::from).collect();
        let (credits, total) = (vec![0; weights.len()], weights.iter().sum());
        Mix { weights, credits, total }
    }

    /// The index of the next request.
    #[inline]
    pub fn next(&mut self) -> usize {
        if self.weights.len() == 1 {
            return 0;
        }
        let mut best = 0;
        for i in 0..self.weights.len() {
            self.credits[i] += self.weights[i];
            if self.credits[i] > self.credits[best] {
                best = i;
            }
        }
        self.credits[best] -= self.total;
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_kept_in_every_cycle_and_spread_in_it() {
        let mut mix = Mix::new([5, 1, 1]);
        let cycle: Vec<usize> = (0..7).map(|_| mix.next()).collect();
        assert_eq!(vec![0, 0, 1, 0, 2, 0, 0], cycle);
        assert_eq!(cycle, (0..7).map(|_| mix.next()).collect::<Vec<_>>());
    }

    #[test]
    fn a_single_request_is_always_next() {
        let mut mix = Mix::new([9]);
        assert_eq!([0, 0, 0], [mix.next(), mix.next(), mix.next()]);
    }
}
