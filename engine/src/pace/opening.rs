//! How the connections of a closed pace come to be there before they ask.

use super::Due;

/// How the connections of a closed pace come to be there: one after the other, evenly, so that those who come do not all meet the
/// listen queue at once. What does not fit there is sent again by the kernel a second later, then after two more, after four ...
/// None of them asks before all are there: many servers take one new connection in each turn of their loop, and where the others
/// keep those turns long, the last of thousands are taken minutes later.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opening {
    /// From the start of the run; 0: all at once.
    pub ns: u64,
    /// When they begin to ask, from the start of the run; the end of time: not before a command.
    pub asks: u64,
    pub connections: u64,
    pub thread: u64,
    pub threads: u64,
}

impl Opening {
    /// All at once; they ask from then on, after the start of the run.
    pub fn at_once(asks: u64) -> Opening {
        Opening { ns: 0, asks, connections: 1, thread: 0, threads: 1 }
    }

    /// What the connection of this place has to wait for at `at` after the start of the run, in nanoseconds after it; `None`: nothing.
    /// Threads deal the connections like cards.
    #[inline(always)]
    pub fn wait(&self, place: usize, at: u64) -> Option<Due> {
        if at >= self.asks {
            return None;
        }
        let number = place as u64 * self.threads + self.thread;
        let opens = (u128::from(number) * u128::from(self.ns) / u128::from(self.connections)) as u64;
        Some(if opens > at { Due::Away(opens) } else { Due::Early(self.asks) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_opened_evenly_over_the_opening_and_dealt_over_threads() {
        let opening = |thread| Opening { ns: 1000, asks: 1000, connections: 10, thread, threads: 2 };
        // Numbers 0, 2, 4 ... are the first thread's: at 0, 200, 400 ...
        let (away, early) = (|at| Some(Due::Away(at)), Some(Due::Early(1000)));
        assert_eq!([early, away(200), away(800)], [0, 1, 4].map(|place| opening(0).wait(place, 0)));
        assert_eq!([away(100), away(900)], [0, 4].map(|place| opening(1).wait(place, 0)));
        assert_eq!((away(900), early), (opening(1).wait(4, 899), opening(1).wait(4, 900)));
        assert_eq!((early, None), (opening(0).wait(0, 999), opening(0).wait(0, 1000)), "all ask when all are there");
        assert_eq!(None, Opening { ns: 0, asks: 0, ..opening(1) }.wait(4, 0), "all at once");
    }
}
