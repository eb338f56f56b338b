//! The connections of an open pace that have no request: which one the next request takes, and since when there has been none.
//!
//! The connection that became free last is taken first. What has just been used is still warm, in the caches of both sides, and the
//! rest stay idle together, as in the pools of real clients. Only when none is connected is a further one opened.

/// The places of one worker that have no request.
#[derive(Debug, Default)]
pub struct Pool {
    /// Connected when they came here; the server may have closed since.
    idle: Vec<u32>,
    /// Not connected.
    spare: Vec<u32>,
    /// When the last place was taken.
    full_since: u64,
}

impl Pool {
    /// A pool in which the places from `first` to `places` have not been opened; those before are on their way.
    pub fn new(first: usize, places: usize) -> Pool {
        Pool { idle: Vec::new(), spare: (first as u32..places as u32).rev().collect(), full_since: 0 }
    }

    /// This place has no request any more.
    #[inline]
    pub fn give(&mut self, place: usize, connected: bool) {
        let list = if connected { &mut self.idle } else { &mut self.spare };
        list.push(place as u32);
    }

    /// A place for a request, by preference one that `is_connected`.
    #[inline]
    pub fn take(&mut self, now: u64, is_connected: impl Fn(usize) -> bool) -> Option<usize> {
        let mut found = None;
        while let Some(place) = self.idle.pop() {
            if is_connected(place as usize) {
                found = Some(place);
                break;
            }
            self.spare.push(place);
        }
        let found = found.or_else(|| self.spare.pop())?;
        if self.is_empty() {
            self.full_since = now;
        }
        Some(found as usize)
    }

    /// Since when there has been no place; `None`: there is one.
    #[inline]
    pub fn full_since(&self) -> Option<u64> {
        self.is_empty().then_some(self.full_since)
    }

    fn is_empty(&self) -> bool {
        self.idle.is_empty() && self.spare.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_to_come_is_the_first_to_go_and_new_ones_are_opened_last() {
        let mut pool = Pool::new(2, 4);
        pool.give(0, true);
        pool.give(1, true);
        let taken: Vec<_> = (0..5).map(|now| pool.take(now, |_| true)).collect();
        assert_eq!(vec![Some(1), Some(0), Some(2), Some(3), None], taken);
        assert_eq!(Some(3), pool.full_since());
        pool.give(1, false);
        assert_eq!((None, Some(1)), (pool.full_since(), pool.take(9, |_| true)));
        assert_eq!(Some(9), pool.full_since());
    }

    #[test]
    fn a_connection_that_the_server_closed_while_idle_is_opened_anew_but_only_when_no_other_is_there() {
        let mut pool = Pool::new(0, 0);
        (0..3).for_each(|place| pool.give(place, true));
        let taken: Vec<_> = (0..3).map(|now| pool.take(now, |place| place == 0)).collect();
        assert_eq!(vec![Some(0), Some(1), Some(2)], taken);
    }
}
