//! The connections of an open pace that have no request: which one the next request takes, and since when there has been none.
//!
//! The connection that became free last is taken first. What has just been used is still warm, in the caches of both sides, and the
//! rest stay idle together, as in the pools of real clients. Only when none is connected is a further one opened.

/// The places of one worker that have no request.
///
/// Places lie here by themselves while they are connected; of a connection that is not there, one entry stands for all its lanes. An entry
/// that is out of date is found so when it is taken.
#[derive(Debug, Default)]
pub struct Pool {
    lanes: usize,
    /// Places that were connected when they came here; the server may have closed since.
    idle: Vec<u32>,
    /// Whether each place is in that list.
    is_idle: Vec<bool>,
    /// Connections that were not there.
    spare: Vec<u32>,
    /// Whether each connection is in that list.
    is_spare: Vec<bool>,
    /// When the last place was taken.
    full_since: u64,
}

impl Pool {
    /// A pool in which the connections from `first` on have not been opened; those before are on their way.
    pub fn new(first: usize, connections: usize, lanes: usize) -> Pool {
        let is_spare = (0..connections).map(|connection| connection >= first).collect();
        let (idle, is_idle) = (Vec::new(), vec![false; connections * lanes]);
        let spare = (first as u32..connections as u32).rev().collect();
        Pool { lanes, idle, is_idle, spare, is_spare, full_since: 0 }
    }

    /// This place has no request any more.
    #[inline]
    pub fn give(&mut self, place: usize, connected: bool) {
        if !connected {
            self.give_connection(place / self.lanes);
        } else if !std::mem::replace(&mut self.is_idle[place], true) {
            self.idle.push(place as u32);
        }
    }

    fn give_connection(&mut self, connection: usize) {
        if !std::mem::replace(&mut self.is_spare[connection], true) {
            self.spare.push(connection as u32);
        }
    }

    /// A place for a request: one that `is_free` on a connection that is there, else the `opener` of a connection that is not.
    #[inline]
    pub fn take(
        &mut self,
        now: u64,
        is_free: impl Fn(usize) -> bool,
        opener: impl Fn(usize) -> Option<usize>,
    ) -> Option<usize> {
        if self.is_empty() {
            return None;
        }
        let found = self.take_idle(is_free).or_else(|| self.take_spare(opener));
        if self.is_empty() {
            self.full_since = now;
        }
        found
    }

    fn take_idle(&mut self, is_free: impl Fn(usize) -> bool) -> Option<usize> {
        while let Some(place) = self.idle.pop() {
            let place = place as usize;
            self.is_idle[place] = false;
            if is_free(place) {
                return Some(place);
            }
            self.give_connection(place / self.lanes);
        }
        None
    }

    fn take_spare(&mut self, opener: impl Fn(usize) -> Option<usize>) -> Option<usize> {
        while let Some(connection) = self.spare.pop() {
            self.is_spare[connection as usize] = false;
            if let Some(place) = opener(connection as usize) {
                return Some(place);
            }
        }
        None
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
        let mut pool = Pool::new(2, 4, 1);
        pool.give(0, true);
        pool.give(1, true);
        let taken: Vec<_> = (0..5).map(|now| pool.take(now, |_| true, Some)).collect();
        assert_eq!(vec![Some(1), Some(0), Some(2), Some(3), None], taken);
        assert_eq!(Some(3), pool.full_since());
        pool.give(1, false);
        assert_eq!((None, Some(1)), (pool.full_since(), pool.take(9, |_| true, Some)));
        assert_eq!(Some(9), pool.full_since());
    }

    #[test]
    fn a_connection_that_the_server_closed_while_idle_is_opened_anew_but_only_when_no_other_is_there() {
        let mut pool = Pool::new(3, 3, 1);
        (0..3).for_each(|place| pool.give(place, true));
        let taken: Vec<_> = (0..3).map(|now| pool.take(now, |place| place == 0, Some)).collect();
        assert_eq!(vec![Some(0), Some(1), Some(2)], taken);
    }
}
