//! HTTP/1.1 pipelining (RFC 9112, 9.3.2): several requests ahead on a connection, answered in the order they were sent.
//!
//! A layer on a back end of bytes. For each connection it keeps which lanes have asked, oldest first, and the bytes they want sent. Those
//! of one turn go out in one `send`: everything that one `recv` has set free, before the next connection has its turn. Arriving
//! bytes are the oldest lane's; what is left of them once its answer is complete ([`Poll::answered`]) is the next one's.

use super::{Cause, Endpoint, Handshake, Poll, What};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::ops::Range;

/// From so many gathered bytes on, they are sent without waiting for more.
const LARGE: usize = 64 * 1024;

/// What is under way on one connection.
#[derive(Debug, Default)]
struct Link {
    /// Lanes that have sent and not been answered, oldest first.
    asked: VecDeque<u32>,
    /// How many of them the server may have heard of.
    gone: usize,
    /// Bytes to send, and how many of them have been.
    out: Vec<u8>,
    sent: usize,
    /// It is in the list of those that have something to send.
    listed: bool,
    /// The last send was short.
    short: bool,
    /// The place that is opening it.
    opener: Option<usize>,
    /// How the server or the network ended it.
    ended: Option<Cause>,
    /// The server works on nothing more on it, whatever it has heard.
    forsworn: bool,
    /// Requests were behind when the connection before it ended: only the first one's bytes go until its answer is there.
    careful: bool,
    /// So many bytes may go while it is careful.
    first: usize,
}

/// Pipelining on top of `inner`, which has one place for each connection.
pub struct Pipeline<P> {
    inner: P,
    depth: usize,
    links: Vec<Link>,
    /// What is to be told before anything else.
    told: VecDeque<(usize, What)>,
    /// Connections that have something to send.
    unsent: Vec<usize>,
    /// The part of the inner bytes that the last event is about.
    part: Range<usize>,
    /// The connection whose bytes have been told last, and whether its server had ended its side after them.
    reading: (usize, bool),
    /// Of those bytes the part is another lane's, which has not been told of them.
    left: bool,
    /// The last event was about such a part.
    together: bool,
}

impl<P: Poll> Pipeline<P> {
    /// Up to `depth` requests on each of so many connections.
    pub fn new(inner: P, connections: usize, depth: usize) -> Pipeline<P> {
        Pipeline {
            inner,
            depth,
            links: std::iter::repeat_with(Link::default).take(connections).collect(),
            told: VecDeque::new(),
            unsent: Vec::new(),
            part: 0..0,
            reading: (0, false),
            left: false,
            together: false,
        }
    }

    /// Whose turn it is on this connection; where nobody has asked, the first lane's.
    #[inline]
    fn front(&self, connection: usize) -> usize {
        self.links[connection].asked.front().map_or(connection * self.depth, |place| *place as usize)
    }

    /// Sends what has been gathered, as far as there is room.
    fn flush(&mut self) {
        while let Some(connection) = self.unsent.pop() {
            self.links[connection].listed = false;
            self.push(connection);
        }
    }

    fn push(&mut self, connection: usize) {
        let link = &mut self.links[connection];
        let until = if link.careful { link.first.max(link.sent) } else { link.out.len() };
        if link.short || link.ended.is_some() || link.sent == until {
            return;
        }
        match self.inner.send(connection, &link.out[link.sent..until]) {
            Ok(sent) => {
                if sent > 0 {
                    link.gone = if link.careful { 1 } else { link.asked.len() };
                }
                link.sent += sent;
                link.short = link.sent < until;
                if link.sent == link.out.len() {
                    link.out.clear();
                    (link.sent, link.first) = (0, 0);
                }
            }
            Err(errno) => {
                link.ended = Some(Cause::Failed(errno));
                self.told.push_back((self.front(connection), What::Failed(errno)));
            }
        }
    }

    /// What the inner back end says about a whole connection, as this layer says it.
    fn tell(&mut self, connection: usize, what: What) -> Option<(usize, What)> {
        let link = &mut self.links[connection];
        match what {
            What::Connected | What::Failed(_) | What::Tls if link.opener.is_some() => {
                return Some((link.opener.take()?, what));
            }
            What::Writable => {
                link.short = false;
                self.push(connection);
                return None;
            }
            What::End | What::Cut | What::Tls => link.ended = Some(Cause::Ended),
            What::Failed(errno) => link.ended = Some(Cause::Failed(errno)),
            _ => {}
        }
        Some((self.front(connection), what))
    }
}

impl<P: Poll> Poll for Pipeline<P> {
    fn open(&mut self, place: usize, endpoint: &Endpoint) -> Result<(), Errno> {
        let connection = place / self.depth;
        self.links[connection].opener = Some(place);
        self.inner.open(connection, endpoint)
    }

    #[inline]
    fn send(&mut self, place: usize, bytes: &[u8]) -> Result<usize, Errno> {
        let connection = place / self.depth;
        let link = &mut self.links[connection];
        link.asked.push_back(place as u32);
        link.out.extend_from_slice(bytes);
        if link.asked.len() == 1 {
            link.first = link.out.len();
        }
        if link.out.len() >= LARGE {
            self.push(connection);
        } else if !link.listed {
            link.listed = true;
            self.unsent.push(connection);
        }
        Ok(bytes.len())
    }

    fn close(&mut self, place: usize) {
        let connection = place / self.depth;
        self.inner.close(connection);
        let link = &mut self.links[connection];
        // Behind an answer that is complete nothing speaks against the others, however the connection ended after it.
        let broken = link.asked.contains(&(place as u32));
        let cause = link.ended.take().filter(|_| broken).unwrap_or(Cause::Closed);
        let heard = if std::mem::take(&mut link.forsworn) { 0 } else { link.gone };
        let before = self.told.len();
        for (turn, lane) in link.asked.drain(..).enumerate().filter(|(_, lane)| *lane as usize != place) {
            let cause = if turn >= heard { Cause::Unheard } else { cause };
            self.told.push_back((lane as usize, What::Behind(cause)));
        }
        // RFC 9112, 9.3.2: not pipelined at once again, since the first of them may be what ended the connection.
        link.careful = self.told.len() > before;
        link.out.clear();
        (link.gone, link.sent, link.first, link.short, link.opener) = (0, 0, 0, false, None);
        self.left &= self.reading.0 != connection;
    }

    fn wait(&mut self, at_most_ns: u64) -> Result<(), Errno> {
        self.flush();
        self.inner.wait(if self.told.is_empty() { at_most_ns } else { 0 })
    }

    fn backlog(&self) -> usize {
        self.inner.backlog()
    }

    #[inline]
    fn next(&mut self) -> Option<(usize, What)> {
        self.together = false;
        loop {
            if let Some(told) = self.told.pop_front() {
                return Some(told);
            }
            if std::mem::take(&mut self.left) {
                self.together = true;
                let (connection, ending) = self.reading;
                return Some((self.front(connection), What::Bytes { ending }));
            }
            self.flush();
            if !self.told.is_empty() {
                continue;
            }
            let (connection, what) = self.inner.next()?;
            if let What::Bytes { ending } = what {
                self.part = 0..self.inner.bytes().len();
                self.reading = (connection, ending);
                return Some((self.front(connection), what));
            }
            if let Some(told) = self.tell(connection, what) {
                return Some(told);
            }
        }
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        &self.inner.bytes()[self.part.clone()]
    }

    fn forsworn(&mut self, place: usize) {
        self.links[place / self.depth].forsworn = true;
    }

    fn handshake(&self, place: usize) -> Option<Handshake> {
        self.inner.handshake(place / self.depth)
    }

    fn why(&self) -> &str {
        self.inner.why()
    }

    #[inline]
    fn lanes(&self) -> usize {
        self.depth
    }

    #[inline]
    fn together(&self) -> bool {
        self.together
    }

    #[inline]
    fn gathers(&self) -> bool {
        true
    }

    #[inline]
    fn answered(&mut self, place: usize, rest: usize) -> bool {
        let connection = place / self.depth;
        let link = &mut self.links[connection];
        link.asked.pop_front();
        if std::mem::take(&mut link.careful) && !link.listed {
            link.listed = true;
            self.unsent.push(connection);
        }
        link.gone = link.gone.saturating_sub(1);
        // What came before a request had left cannot be its answer.
        self.left = rest > 0 && link.gone > 0;
        self.part.start = self.part.end - rest;
        self.left
    }
}

#[cfg(test)]
mod tests;
