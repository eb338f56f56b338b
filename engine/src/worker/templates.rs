//! Requests that are put together anew each time they are sent. Apart from the rest, so that fixed requests never come here.

use super::Worker;
use crate::poll::Poll;

impl<P: Poll> Worker<'_, P> {
    /// Sends what is left of the present request. The bytes depend on its number alone, so the rest of a short send, and a second sending
    /// on a new connection, are of the very same request.
    #[cold]
    #[inline(never)]
    pub(super) fn send_drawn(&mut self, place: usize, now: u64) {
        let p = &mut self.places[place];
        let bytes = self.press.render(&self.job.moulds[p.request()], p.number);
        match self.poll.send(place, &bytes[p.taken..]) {
            Ok(sent) => {
                p.went(sent, now, !self.pace.is_open());
                p.sent = p.taken == bytes.len();
                self.ledger.slice.counts.bytes_out += sent as u64;
            }
            Err(errno) => self.failed(place, errno, now),
        }
    }
}
