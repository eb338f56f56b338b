//! Sockets, and what happens on them: the back end that the worker's loop turns.
//!
//! [`Poll`] is told to open, send and close by *place* (the number of a connection among the worker's n), and yields what happened as
//! events, one of which is received bytes. That shape, and not "this socket is readable", is what both epoll and a
//! completion ring can offer, and what a layer between them and the worker can pass on.
//!
//! A place is the slot of one request. Where a connection carries several at a time, it has that many places, its *lanes*, which lie
//! side by side: connection c has the places from c x lanes on. The worker opens and closes a connection by any one of its lanes;
//! once it is there all of them may be used, and once it is closed none.
//!
//! A layer either passes on bytes, which the worker reads as HTTP/1, or tells itself what an answer consists of: [`What::Head`],
//! [`What::Body`], [`What::Done`].

mod endpoint;
mod epoll;
mod h2;
pub mod means;
mod pipeline;
#[allow(unsafe_code)]
mod ring;
pub mod secure;

pub use endpoint::{Address, Endpoint};
pub use epoll::Epoll;
pub use h2::H2;
pub use pipeline::Pipeline;
pub use ring::{Prepared, Ring, available};
pub use secure::Secure;

use rustix::io::Errno;
use std::ops::Range;

/// What happened at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The connection is there, and with it all its lanes.
    Connected,
    /// After a short send there is room again.
    Writable,
    /// Bytes came: [`Poll::bytes`].
    Bytes {
        /// The server has ended its side after them.
        ending: bool,
    },
    /// Bytes came and were thrown away, as [`Poll::discard`] allowed.
    Dropped {
        /// How many; one more than was allowed where others followed them.
        bytes: u64,
        /// The server has ended its side after them.
        ending: bool,
    },
    /// The server has ended its side.
    End,
    /// The connection is at its end, and nobody has said that this is the end of what the server had to say: TLS without close_notify
    /// (RFC 8446, 6.1).
    Cut,
    /// The connection failed, or did not come about.
    Failed(Errno),
    /// The connection is over, and the request of this place was behind another one on it. Means nothing where no request is under way.
    Behind(Cause),
    /// The head of an answer: its status. [`Poll::bytes`] is its header block as text, [`Poll::content_type`] says where in it the
    /// media type is.
    Head(u16),
    /// A part of the body of an answer: [`Poll::bytes`].
    Body,
    /// The answer is complete.
    Done,
    /// The server gave up the request of this place alone, for the reason [`Poll::why`]; its connection lives on.
    Reset,
    /// What came is no answer; [`Poll::why`] says why. The connection is of no more use, unless the request can be abandoned.
    Malformed,
    /// The connection takes no more requests, and those that it took are done. The places that have one which it did not take are told
    /// when it is closed.
    Left {
        /// The server had said so.
        announced: bool,
    },
    /// TLS did not come about, or broke: [`Poll::why`].
    Tls,
}

/// Why a connection ended under the requests that were behind another one on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The server has certainly not worked on this one: it never left, or the server has said so.
    Unheard,
    /// It was closed on account of the other request, so that nothing is known against this one; but the server may have worked on it.
    Closed,
    /// The server ended its side.
    Ended,
    /// It failed.
    Failed(Errno),
}

/// The TLS handshake of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handshake {
    /// When the connection under it came about, by [`crate::clock`].
    pub began: u64,
    /// It took up a session of a connection before.
    pub resumed: bool,
}

/// A way to drive many sockets. `place` is always below the number of places the back end was made for.
pub trait Poll {
    /// Begins to connect the connection of `place` to `endpoint`; [`What::Connected`] or [`What::Failed`] follows, at this place.
    fn open(&mut self, place: usize, endpoint: &Endpoint) -> Result<(), Errno>;
    /// Sends, as far as there is room; [`What::Writable`] follows when not all was taken.
    fn send(&mut self, place: usize, bytes: &[u8]) -> Result<usize, Errno>;
    /// Closes the connection of `place`, if it is open. Nothing more happens at this place, and at other lanes that have a request
    /// under way nothing but [`What::Behind`].
    fn close(&mut self, place: usize);
    /// Waits for something to happen, at most so many nanoseconds.
    fn wait(&mut self, at_most_ns: u64) -> Result<(), Errno>;
    /// How many waits more, at most, it takes to tell everything that had happened when the last one began, once that has been told to
    /// its end; 0: it has told everything.
    fn backlog(&self) -> usize;
    /// The next thing that has happened; `None`: time to wait again.
    fn next(&mut self) -> Option<(usize, What)>;
    /// The bytes of the last [`What::Bytes`], [`What::Head`] or [`What::Body`], until [`Poll::next`] is called again.
    fn bytes(&self) -> &[u8];

    /// Places of one connection.
    #[inline]
    fn lanes(&self) -> usize {
        1
    }

    /// The answer of `place`, which came as bytes, is complete, and `rest` bytes of the last [`What::Bytes`] are not part of it. True: they
    /// are another lane's, and come again as that one's.
    #[inline]
    fn answered(&mut self, _place: usize, _rest: usize) -> bool {
        false
    }

    /// The server has said that it works on nothing more on the connection of `place` (RFC 9112, 9.6), which is closed next.
    #[inline]
    fn forsworn(&mut self, _place: usize) {}

    /// The next `n` bytes of this connection are the rest of a body that nobody wants to see, and more answers like it are likely. A back
    /// end that can tells their number alone ([`What::Dropped`]), and spares copying them.
    #[inline]
    fn discard(&mut self, _place: usize, _n: u64) {}

    /// Whether what [`Poll::next`] said last came together with what it said before, so that one look at the clock does for both.
    #[inline]
    fn together(&self) -> bool {
        false
    }

    /// Whether what is sent in one turn is gathered and leaves together, so that one time is that of all of it.
    #[inline]
    fn gathers(&self) -> bool {
        false
    }

    /// When what was sent last at `place` left, where it leaves later than [`Poll::send`] returns; 0: it does not. A time before that of
    /// the last [`Poll::send`] is about what was sent before it.
    #[inline]
    fn left(&self, _place: usize) -> u64 {
        0
    }

    /// Whether a socket that is read from is emptied in the same turn, or of so much that a server which sends without end is known for one.
    fn empties(&self) -> bool {
        false
    }

    /// Gives up the request of `place`; false: this cannot be done without closing the connection.
    fn abandon(&mut self, _place: usize) -> bool {
        false
    }

    /// Bytes received and sent since the last call that no event and no call has told: frames around answers, say.
    fn untold(&mut self) -> (u64, u64) {
        (0, 0)
    }

    /// Where in the bytes of the last [`What::Head`] the value of Content-Type is.
    fn content_type(&self) -> Option<Range<usize>> {
        None
    }

    /// The handshake of the connection of `place`, done or under way; `None` where there is none, as without TLS.
    fn handshake(&self, _place: usize) -> Option<Handshake> {
        None
    }

    /// What was wrong at the last [`What::Malformed`] or [`What::Tls`], in a few words, or the server's reason at the last [`What::Reset`].
    fn why(&self) -> &str {
        ""
    }
}
