//! The usual answer and what follows it: known byte for byte, to the only request there is, at a closed pace, on a connection that is
//! kept. The same request goes again at once, so most of what a place knows stays as it is, and is not written anew.
//!
//! Nothing is decided here that [`request`](super::request) does not decide: [`Worker::may_repeat`] says that all its rules come to
//! "book it, send again". What does not fit goes the long way there.

use super::Worker;
use crate::connection::Right;
use crate::poll::Poll;
use crate::slice::Outcome;

impl<P: Poll> Worker<'_, P> {
    /// Whether the answer `right` at `place` ends its request and begins the same one again, with nothing else to be done. Takes the
    /// ticket of the next request where it says so.
    #[inline(always)]
    pub(super) fn may_repeat(&mut self, place: usize, right: Right) -> bool {
        // Without a word about it: of an answer in HTTP/1.0, and of one that ends its connection, more is to be counted.
        let plain = self.repeats && right.keep_alive && !right.http10;
        // An answer to a request that has not wholly been sent ends its connection.
        plain && self.places[place].sent && self.pace.again()
    }

    /// Books the answer `right`, which took `service`, and sends the same request again. It is one look at the clock, `now`, for both:
    /// there was one comparison of a few kilobytes in between. The reminder that the place has comes no later than it must.
    #[inline(always)]
    pub(super) fn repeat(&mut self, place: usize, right: Right, service: u64, now: u64) {
        let slice = &mut self.ledger.slice;
        slice.prompt.record(service);
        slice.status(right.status);
        self.ledger.end(Outcome::Ok);
        self.places[place].repeat(self.begun, now);
        self.begun += 1;
        let bytes = self.sayings[0].bytes;
        match self.poll.send(place, bytes) {
            Ok(sent) => {
                self.ledger.slice.counts.bytes_out += sent as u64;
                if sent < bytes.len() {
                    self.places[place].fell_short(sent);
                }
            }
            Err(errno) => {
                self.places[place].fell_short(0);
                self.failed(place, errno, now);
            }
        }
    }
}
