//! HTTP/2 over a back end of bytes: several requests on each connection, whose answers come in any order.
//!
//! Each connection has a session of [`crate::wire::h2`], which reads and writes frames; each lane is a slot of it. A connection is there when its socket is; a
//! request that the server does not allow yet (its first SETTINGS are missing, or it has as many streams as it wants) waits here, unsent, and
//! its place is told [`What::Writable`] when its turn has come. What one read has set free, answers to the server's own frames included, leaves in
//! one send, when that read has been told to its end, or else before the next wait.

mod link;

use super::{Cause, Endpoint, Handshake, Poll, What};
use crate::wire::h2::code_name;
use crate::wire::h2::encode::parts;
use crate::wire::h2::session::Event;
use link::{Lane, Link, is_moot};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::ops::Range;

/// HTTP/2 on top of `inner`, which has one place for each connection.
pub struct H2<P> {
    inner: P,
    lanes: usize,
    links: Vec<Link>,
    /// What is to be told before anything else.
    told: VecDeque<(usize, What)>,
    /// Connections that may have something to send, or room for those that wait.
    touched: Vec<usize>,
    /// The connection whose bytes are being read, and how many of them have been.
    reading: Option<(usize, usize)>,
    /// The last event came from the same read as the one before.
    together: bool,
    showing: Showing,
    /// Bytes that came, less those of bodies that were told; bytes that went, less those of requests, which are counted when they are taken.
    untold: (u64, i64),
    why: &'static str,
}

/// What [`Poll::bytes`] is about.
enum Showing {
    /// A part of what the inner back end has received.
    Part(Range<usize>),
    /// The header block that this connection read last.
    Text(usize),
}

impl<P: Poll> H2<P> {
    /// Up to `lanes` requests, at most 65535, on each of so many connections.
    pub fn new(inner: P, connections: usize, lanes: usize) -> H2<P> {
        H2 {
            inner,
            lanes,
            links: std::iter::repeat_with(|| Link::new(lanes)).take(connections).collect(),
            told: VecDeque::new(),
            touched: Vec::new(),
            reading: None,
            together: false,
            showing: Showing::Part(0..0),
            untold: (0, 0),
            why: "",
        }
    }

    #[inline]
    fn touch(&mut self, connection: usize) {
        if !std::mem::replace(&mut self.links[connection].touched, true) {
            self.touched.push(connection);
        }
    }

    /// The next event in the bytes that are being read; `None`: they have been read.
    #[inline]
    fn read(&mut self, connection: usize, at: usize) -> Option<(usize, What)> {
        let (first, link) = (connection * self.lanes, &mut self.links[connection]);
        let all = self.inner.bytes();
        let mut input = &all[at..];
        loop {
            let session = link.session.as_mut()?;
            let event = session.next(&mut input);
            self.reading = Some((connection, all.len() - input.len()));
            let (slot, what) = match event {
                Ok(None) => return None,
                Ok(Some(Event::Head { slot, head, .. })) => {
                    let status = head.status;
                    link.lanes[slot].refused = false;
                    self.showing = Showing::Text(connection);
                    (slot, What::Head(status))
                }
                Ok(Some(Event::Body { slot, bytes })) => {
                    // Padding may lie between them and what is left.
                    let begin = bytes.as_ptr() as usize - all.as_ptr() as usize;
                    self.showing = Showing::Part(begin..begin + bytes.len());
                    self.untold.0 -= bytes.len() as u64;
                    (slot, What::Body)
                }
                Ok(Some(Event::End { slot })) => {
                    link.free(slot);
                    (slot, What::Done)
                }
                Ok(Some(Event::Broken { slot, why })) => {
                    link.free(slot);
                    self.why = why;
                    (slot, What::Malformed)
                }
                Ok(Some(Event::Reset { slot, code })) => match link.reset(slot, code) {
                    Some(what) => {
                        self.why = code_name(code);
                        (slot, what)
                    }
                    None => continue,
                },
                Ok(Some(Event::Room)) => {
                    link.unblock(first, &mut self.told);
                    continue;
                }
                Ok(Some(Event::Ready | Event::Leaving)) => continue,
                Err(breach) => {
                    session.leave(breach.code);
                    self.why = breach.why;
                    self.end(connection, What::Malformed);
                    return None;
                }
            };
            return Some((first + slot, what));
        }
    }

    /// The connection is over: each request on it is told so by `fate`, and where there is none, the worker is all the same.
    fn end(&mut self, connection: usize, fate: What) {
        let (first, link) = (connection * self.lanes, &mut self.links[connection]);
        if link.over.is_some() || link.session.is_none() {
            return;
        }
        link.over = Some(fate);
        let leaving = link.is_leaving();
        // Those that wait were never heard of by a server that was leaving: they are told when the worker closes the connection.
        let concerned = |lane: &Lane| lane.is_open() || lane.waits() && !leaving;
        let before = self.told.len();
        if let Some(slot) = (0..self.lanes).find(|slot| leaving && !link.lanes[*slot].is_open()) {
            self.told.push_back((first + slot, What::Left { announced: true }));
        }
        for slot in (0..self.lanes).filter(|slot| concerned(&link.lanes[*slot])).collect::<Vec<_>>() {
            link.free(slot);
            self.told.push_back((first + slot, fate));
        }
        if self.told.len() == before {
            let nobody = match fate {
                What::Behind(Cause::Ended) => What::End,
                _ => What::Failed(Errno::CONNRESET),
            };
            self.told.push_back((first, nobody));
        }
    }

    /// Sends what has gathered on a connection, as far as there is room.
    fn flush(&mut self, connection: usize) {
        let link = &mut self.links[connection];
        let Some(session) = link.session.as_mut().filter(|_| !link.short) else { return };
        let out = session.out();
        if out.is_empty() {
            return;
        }
        match self.inner.send(connection, out) {
            Ok(sent) => {
                link.short = sent < out.len();
                out.drain(..sent);
                self.untold.1 += sent as i64;
            }
            Err(errno) => return self.end(connection, What::Behind(Cause::Failed(errno))),
        }
        if link.full && !link.short {
            link.full = false;
            link.unblock(connection * self.lanes, &mut self.told);
        }
    }

    /// Sees to a connection on which something has changed: who waits may go, or what is there is sent.
    fn tend(&mut self, connection: usize) {
        let (first, link) = (connection * self.lanes, &mut self.links[connection]);
        link.touched = false;
        let before = self.told.len();
        if link.over.is_none() {
            link.wake(first, &mut self.told);
        }
        if link.is_worn_out() {
            let announced = link.is_leaving();
            link.over = Some(What::Left { announced });
            self.told.push_back((first, What::Left { announced }));
        }
        if self.told.len() > before {
            // They add to what there is to send.
            return self.touch(connection);
        }
        self.flush(connection);
    }

    /// What the inner back end says about a whole connection, as this layer says it.
    fn tell(&mut self, connection: usize, what: What) -> Option<(usize, What)> {
        let link = &mut self.links[connection];
        match what {
            What::Connected => {
                link.begin();
                let opener = link.opener;
                self.touch(connection);
                return Some((opener, what));
            }
            What::Bytes { .. } => {
                let bytes = self.inner.bytes();
                self.untold.0 += bytes.len() as u64;
                if let Some(session) = &mut link.session {
                    session.foresee(bytes);
                }
                self.reading = Some((connection, 0));
            }
            What::Writable => {
                link.short = false;
                self.touch(connection);
            }
            What::End | What::Cut if link.session.is_some() => self.end(connection, What::Behind(Cause::Ended)),
            What::Failed(errno) if link.session.is_some() => self.end(connection, What::Behind(Cause::Failed(errno))),
            What::Tls if link.session.is_some() => {
                self.why = "";
                self.end(connection, What::Tls);
            }
            _ => {
                // TLS that did not come about has words of its own.
                self.why = "";
                return Some((link.opener, what));
            }
        }
        None
    }
}

impl<P: Poll> Poll for H2<P> {
    fn open(&mut self, place: usize, endpoint: &Endpoint) -> Result<(), Errno> {
        let connection = place / self.lanes;
        self.links[connection].close();
        self.links[connection].opener = place;
        self.inner.open(connection, endpoint)
    }

    #[inline]
    fn send(&mut self, place: usize, bytes: &[u8]) -> Result<usize, Errno> {
        let (connection, slot) = (place / self.lanes, place % self.lanes);
        let link = &mut self.links[connection];
        if let Some(fate) = link.over {
            // It ended while this request was on its way to it.
            let fate = if matches!(fate, What::Left { .. }) { What::Behind(Cause::Unheard) } else { fate };
            link.free(slot);
            self.told.push_back((place, fate));
            return Ok(0);
        }
        let fresh = !link.lanes[slot].is_open();
        if fresh && link.session.is_some() && !link.admit(slot) {
            return Ok(0);
        }
        let Some(session) = &mut link.session else { return Err(Errno::NOTCONN) };
        let (mut taken, mut body) = (0, bytes);
        if fresh {
            let (frames, rest, to_head) = parts(bytes);
            session.begin(slot, frames, to_head, rest.is_empty());
            (taken, body) = (frames.len(), rest);
        }
        if !body.is_empty() {
            let went = session.body(slot, body);
            taken += went;
            if went < body.len() {
                link.full |= session.is_full();
                link.blocked.push(slot as u32);
            }
        }
        self.untold.1 -= taken as i64;
        self.touch(connection);
        Ok(taken)
    }

    fn close(&mut self, place: usize) {
        let connection = place / self.lanes;
        let (first, link) = (connection * self.lanes, &mut self.links[connection]);
        if link.session.is_some() && link.over.is_some() {
            // The server is to hear why, or what it has been answered; whether it does is its own affair.
            self.flush(connection);
        }
        let link = &mut self.links[connection];
        self.inner.close(connection);
        let (lanes, here) = (self.lanes, first..first + self.lanes);
        self.told.retain(|(at, what)| *at != place && !(here.contains(at) && is_moot(*what)));
        link.free(place - first);
        for slot in (0..lanes).filter(|slot| !link.lanes[*slot].is_free()).collect::<Vec<_>>() {
            let cause = if link.lanes[slot].is_open() { Cause::Closed } else { Cause::Unheard };
            self.told.push_back((first + slot, What::Behind(cause)));
        }
        link.close();
        if self.reading.is_some_and(|(reading, _)| reading == connection) {
            self.reading = None;
        }
    }

    fn wait(&mut self, at_most_ns: u64) -> Result<(), Errno> {
        while let Some(connection) = self.touched.pop() {
            self.tend(connection);
            if !self.told.is_empty() {
                break;
            }
        }
        self.inner.wait(if self.told.is_empty() { at_most_ns } else { 0 })
    }

    fn backlog(&self) -> usize {
        self.inner.backlog()
    }

    #[inline]
    fn next(&mut self) -> Option<(usize, What)> {
        loop {
            if let Some(told) = self.told.pop_front() {
                self.together = false;
                return Some(told);
            }
            if let Some((connection, at)) = self.reading {
                if let Some(event) = self.read(connection, at) {
                    self.together = at > 0;
                    return Some(event);
                }
                self.reading = None;
                self.touch(connection);
                continue;
            }
            if let Some(connection) = self.touched.pop() {
                self.tend(connection);
                continue;
            }
            let (connection, what) = self.inner.next()?;
            if let Some(event) = self.tell(connection, what) {
                self.together = false;
                return Some(event);
            }
        }
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        match &self.showing {
            Showing::Part(part) => &self.inner.bytes()[part.clone()],
            Showing::Text(connection) => self.links[*connection].session.as_ref().map_or(&[], |s| s.text().0),
        }
    }

    #[inline]
    fn lanes(&self) -> usize {
        self.lanes
    }

    #[inline]
    fn together(&self) -> bool {
        self.together
    }

    #[inline]
    fn gathers(&self) -> bool {
        true
    }

    fn abandon(&mut self, place: usize) -> bool {
        let (connection, slot) = (place / self.lanes, place % self.lanes);
        let link = &mut self.links[connection];
        link.lanes[slot].refused = false;
        let Some(session) = link.session.as_mut().filter(|session| link.over.is_none() && session.is_ready()) else {
            return false;
        };
        session.cancel(slot);
        link.free(slot);
        self.told.retain(|(at, _)| *at != place);
        self.touch(connection);
        true
    }

    fn untold(&mut self) -> (u64, u64) {
        // Requests that have been taken and have not gone yet are counted already.
        let out = self.untold.1.max(0);
        self.untold.1 -= out;
        (std::mem::take(&mut self.untold.0), out as u64)
    }

    fn content_type(&self) -> Option<Range<usize>> {
        match self.showing {
            Showing::Text(connection) => self.links[connection].session.as_ref()?.text().1,
            Showing::Part(_) => None,
        }
    }

    fn handshake(&self, place: usize) -> Option<Handshake> {
        self.inner.handshake(place / self.lanes)
    }

    fn why(&self) -> &str {
        if self.why.is_empty() { self.inner.why() } else { self.why }
    }
}
