//! What wakes a thread that waits, beside its sockets: a descriptor in the place behind the last one, which is nobody's connection.

use super::queue::Event;
use super::{Ring, What};
use rustix::io::Errno;
use std::os::fd::{AsFd, OwnedFd};

impl Ring {
    /// From now on a wait ends, too, whenever `bell` is written to.
    pub fn heed(&mut self, bell: &OwnedFd) -> Result<(), Errno> {
        let place = self.slots.len() - 1;
        self.slots[place].fd = Some(bell.try_clone().map_err(super::errno)?);
        self.listen(place)
    }

    fn listen(&mut self, place: usize) -> Result<(), Errno> {
        let mark = self.mark(place);
        let Some(bell) = &self.slots[place].fd else { return Ok(()) };
        self.queue.listen(bell.as_fd(), mark)
    }

    /// It was written to. The kernel goes on telling, unless it had no room to.
    pub(super) fn rung(&mut self, event: Event) -> Result<Option<What>, Errno> {
        if !event.more()
            && let Err(errno) = self.listen(self.slots.len() - 1)
        {
            self.broken = Some(errno);
        }
        Ok(None)
    }
}
