//! Sockets, and what happens on them: the back end that the worker's loop turns.
//!
//! [`Poll`] is told to open, send and close by *place* (the number of a connection among the worker's n), and yields what happened as
//! events, one of which is received bytes. That shape, and not "this socket is readable", is what both epoll and a
//! completion ring can offer, and what a layer between them and the worker can pass on.

mod dial;
mod epoll;
pub mod means;
#[allow(unsafe_code)]
mod ring;

pub use epoll::Epoll;
pub use ring::{Prepared, Ring, available};

use rustix::io::Errno;
use std::fmt;
use std::net::SocketAddr;

/// Where connections go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Where the server is.
    pub address: SocketAddr,
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.address.fmt(f)
    }
}

/// What happened at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The connection is there.
    Connected,
    /// After a short send there is room again.
    Writable,
    /// Bytes came: [`Poll::bytes`].
    Bytes {
        /// The server has ended its side after them.
        ending: bool,
    },
    /// The server has ended its side.
    End,
    /// The connection failed, or did not come about.
    Failed(Errno),
}

/// A way to drive many sockets. `place` is always below the number of places the back end was made for.
pub trait Poll {
    /// Begins to connect `place` to `endpoint`; [`What::Connected`] or [`What::Failed`] follows.
    fn open(&mut self, place: usize, endpoint: &Endpoint) -> Result<(), Errno>;
    /// Sends, as far as there is room; [`What::Writable`] follows when not all was taken.
    fn send(&mut self, place: usize, bytes: &[u8]) -> Result<usize, Errno>;
    /// Closes, if it is open. Nothing more happens at this place.
    fn close(&mut self, place: usize);
    /// Waits for something to happen, at most so many nanoseconds.
    fn wait(&mut self, at_most_ns: u64) -> Result<(), Errno>;
    /// The next thing that has happened; `None`: time to wait again.
    fn next(&mut self) -> Option<(usize, What)>;
    /// The bytes of the last [`What::Bytes`], until [`Poll::next`] is called again.
    fn bytes(&self) -> &[u8];
}
