//! Sockets watched by epoll, edge-triggered.
//!
//! Each socket is registered once, for everything; in the steady state a request costs one `send` and one `recv`. A `recv` that did not
//! fill the buffer has drained the socket, so no second one is spent on learning that; unless the kernel has already reported the
//! end of the stream, which no later edge would report again.
//!
//! Bytes that nobody wants to see ([`Poll::discard`]) the kernel throws away itself (recv(2), `MSG_TRUNC`; tcp(7)). It is asked for one more
//! than there should be: an answer that something follows is told from one that nothing does, without a call of its own.

use super::endpoint::{refusal, undelay};
use super::{Endpoint, Poll, What};
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, epoll};
use rustix::io::Errno;
use rustix::net::{self, RecvFlags, SendFlags};
use std::collections::VecDeque;
use std::os::fd::OwnedFd;

/// One buffer for all connections of a worker.
const BUFFER: usize = 256 * 1024;
/// Where the rest of an answer will be thrown away, its first read is no longer than this: a header block and a little.
const BRIEF: usize = 2 * 1024;
/// Bytes thrown away by one call. The buffer is so long, but what is beyond [`BUFFER`] is never touched, and so takes no memory.
const DROP: usize = 1024 * 1024;
/// Events fetched by one wait.
const BATCH: usize = 512;
/// Full buffers read from one connection before the others get their turn.
const TURN: u32 = 4;

/// What fits into one segment of any network.
const SEGMENT: usize = 512;

/// Nanoseconds in a millisecond.
const MILLISECOND: u64 = 1_000_000;

/// One socket.
#[derive(Debug, Default)]
struct Slot {
    fd: Option<OwnedFd>,
    /// Distinguished from the sockets that had this place before.
    generation: u32,
    connected: bool,
    /// The last send was short.
    short: bool,
    /// It is not told when there is room again: it was connected at once, so that there was nothing to wait for.
    quiet: bool,
    /// What was said about how it sends.
    delay: Delay,
    /// So many of the bytes that come next may be thrown away.
    unseen: u32,
    /// Why a send failed. The server may have answered before it closed: what there is to read is read first.
    broken: Option<Errno>,
}

/// Whether the kernel may hold back what is sent. It has no reason to with the first segment of a connection, and that may be its only one:
/// so it is told not to with the next, and a connection for one request costs a call less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Delay {
    /// Nothing has been sent.
    #[default]
    Unused,
    /// One segment has.
    Used,
    /// It may not.
    Off,
}

/// A socket with something left to do.
#[derive(Clone, Copy, Debug)]
struct Ready {
    place: usize,
    generation: u32,
    flags: epoll::EventFlags,
    reads: u32,
}

/// The epoll back end.
pub struct Epoll {
    fd: OwnedFd,
    slots: Vec<Slot>,
    /// Sockets made so far.
    opened: usize,
    events: Vec<epoll::Event>,
    /// Events of `events` already handed on.
    seen: usize,
    current: Option<Ready>,
    /// Sockets that had more to read than one turn allows.
    again: VecDeque<Ready>,
    /// How many of them are from before the last wait. The rest come after the next one: a server that sends without end
    /// must not keep the worker from its timers.
    turn: usize,
    /// Sockets that were connected at once, which has not been told, with their generation; and how many have been since the last wait.
    fresh: VecDeque<(u32, u32)>,
    freshened: usize,
    buffer: Vec<u8>,
    /// How much one receive takes.
    limit: usize,
    /// How many bytes of it the last receive filled.
    received: usize,
}

impl Epoll {
    /// An empty epoll set; apart from [`Epoll::new`], so that it can fail before the load begins.
    pub fn set() -> Result<OwnedFd, Errno> {
        epoll::create(epoll::CreateFlags::CLOEXEC)
    }

    /// A back end for so many places on an empty epoll set.
    pub fn new(fd: OwnedFd, places: usize) -> Epoll {
        Epoll {
            fd,
            // One more, without a socket, for what wakes us: its events are nobody's.
            slots: std::iter::repeat_with(Slot::default).take(places + 1).collect(),
            opened: 0,
            events: Vec::with_capacity(BATCH),
            seen: 0,
            current: None,
            again: VecDeque::new(),
            turn: 0,
            fresh: VecDeque::new(),
            freshened: 0,
            buffer: vec![0; DROP],
            limit: BUFFER,
            received: 0,
        }
    }

    /// From now on a wait ends, too, whenever `bell` is written to.
    pub fn heed(&self, bell: &OwnedFd) -> Result<(), Errno> {
        epoll::add(&self.fd, bell, data(self.slots.len() - 1, 0), epoll::EventFlags::IN | epoll::EventFlags::ET)
    }

    #[inline(always)]
    fn take_ready(&mut self) -> Option<Ready> {
        if !self.fresh.is_empty() && self.freshened < BATCH {
            return self.take_fresh();
        }
        if let Some(event) = self.events.get(self.seen) {
            self.seen += 1;
            let (data, flags) = (event.data.u64(), event.flags);
            return Some(Ready { place: data as u32 as usize, generation: (data >> 32) as u32, flags, reads: 0 });
        }
        self.take_again()
    }

    #[cold]
    #[inline(never)]
    fn take_fresh(&mut self) -> Option<Ready> {
        let (place, generation) = self.fresh.pop_front()?;
        self.freshened += 1;
        Some(Ready { place: place as usize, generation, flags: epoll::EventFlags::empty(), reads: 0 })
    }

    #[inline(never)]
    fn take_again(&mut self) -> Option<Ready> {
        self.turn = self.turn.checked_sub(1)?;
        self.again.pop_front().map(|ready| Ready { reads: 0, ..ready })
    }

    /// Whether `ready` is about the socket that has its place now.
    #[inline(always)]
    fn is_current(&self, ready: &Ready) -> bool {
        let slot = &self.slots[ready.place];
        slot.fd.is_some() && slot.generation == ready.generation
    }

    /// The outcome of a connect: success is told by the event alone, so that it costs no system call.
    fn connected(&mut self, ready: Ready) -> What {
        let slot = &mut self.slots[ready.place];
        if ready.flags.intersects(epoll::EventFlags::ERR | epoll::EventFlags::HUP)
            && let Some(errno) = slot.fd.as_ref().map_or(Some(Errno::CONNREFUSED), refusal)
        {
            self.current = None;
            return What::Failed(errno);
        }
        slot.connected = true;
        What::Connected
    }

    /// One `recv`; `None`: the socket is drained.
    #[inline(always)]
    fn receive(&mut self, ready: Ready) -> Option<What> {
        let slot = &self.slots[ready.place];
        let fd = slot.fd.as_ref()?;
        if slot.unseen > 0 {
            return self.drop_unseen(ready);
        }
        if ready.reads > 0 {
            // What was expected to be thrown away was not.
            self.limit = BUFFER;
        }
        let limit = self.limit;
        let got = net::recv(fd, &mut self.buffer[..limit], RecvFlags::empty());
        if let Ok((n, _)) = got
            && n != 0
            && n < limit
            && !ready.flags.intersects(ENDING)
        {
            self.received = n;
            return Some(What::Bytes { ending: false });
        }
        self.received(ready, limit, got.map(|(n, _)| n))
    }

    /// A receive that needs a closer look: it failed, or there may be more.
    #[inline(never)]
    fn received(&mut self, mut ready: Ready, limit: usize, got: Result<usize, Errno>) -> Option<What> {
        match got {
            Ok(0) => Some(self.slots[ready.place].broken.map_or(What::End, What::Failed)),
            Ok(n) => {
                self.received = n;
                let (full, ending) = (n == limit, ready.flags.intersects(ENDING));
                ready.reads += 1;
                if (full || ending) && ready.reads < TURN {
                    self.current = Some(ready);
                } else if full || ending {
                    self.again.push_back(ready);
                }
                Some(What::Bytes { ending: ending && !full })
            }
            Err(Errno::AGAIN) => None,
            Err(Errno::INTR) => {
                self.current = Some(ready);
                None
            }
            Err(errno) => Some(What::Failed(errno)),
        }
    }

    /// As [`Epoll::receive`], of bytes that nobody wants to see.
    #[inline(never)]
    fn drop_unseen(&mut self, ready: Ready) -> Option<What> {
        let slot = &self.slots[ready.place];
        let limit = DROP.min(slot.unseen as usize + 1);
        let got = net::recv(slot.fd.as_ref()?, &mut self.buffer[..limit], RecvFlags::TRUNC).map(|(n, _)| n);
        let told = self.received(ready, limit, got)?;
        let What::Bytes { ending } = told else { return Some(told) };
        let bytes = self.received as u64;
        let slot = &mut self.slots[ready.place];
        slot.unseen = slot.unseen.saturating_sub(bytes as u32);
        Some(What::Dropped { bytes, ending })
    }
}

fn timespec(ns: u64) -> Timespec {
    Timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as i64 }
}

/// The stream is at its end, or will be once what came before has been read.
const ENDING: epoll::EventFlags = epoll::EventFlags::RDHUP.union(epoll::EventFlags::HUP).union(epoll::EventFlags::ERR);

/// What is told of each socket: whenever more has come, and when the server has ended its side.
const READING: epoll::EventFlags = epoll::EventFlags::IN.union(epoll::EventFlags::RDHUP).union(epoll::EventFlags::ET);

/// What an event says about whose it is.
fn data(place: usize, generation: u32) -> epoll::EventData {
    epoll::EventData::new_u64(u64::from(generation) << 32 | place as u64)
}

/// Before so many bytes are sent: what is to be said about them.
#[cold]
#[inline(never)]
fn hurry(delay: Delay, fd: &OwnedFd, bytes: usize) -> Delay {
    if delay == Delay::Unused && bytes <= SEGMENT {
        return Delay::Used;
    }
    undelay(fd);
    Delay::Off
}

impl Poll for Epoll {
    fn open(&mut self, place: usize, endpoint: &Endpoint) -> Result<(), Errno> {
        self.close(place);
        let fd = endpoint.socket(self.opened)?;
        self.opened = self.opened.wrapping_add(1);
        let connected = endpoint.connect(&fd)?;
        let generation = self.slots[place].generation.wrapping_add(1);
        // The end of a connect is told as room to send.
        let flags = if connected { READING } else { READING.union(epoll::EventFlags::OUT) };
        epoll::add(&self.fd, &fd, data(place, generation), flags)?;
        self.slots[place] = Slot { fd: Some(fd), generation, quiet: connected, ..Slot::default() };
        if connected {
            self.fresh.push_back((place as u32, generation));
        }
        Ok(())
    }

    #[inline(always)]
    fn send(&mut self, place: usize, bytes: &[u8]) -> Result<usize, Errno> {
        let slot = &mut self.slots[place];
        let Some(fd) = &slot.fd else { return Err(Errno::NOTCONN) };
        if slot.delay != Delay::Off {
            slot.delay = hurry(slot.delay, fd, bytes.len());
        }
        loop {
            let sent = match net::send(fd, bytes, SendFlags::NOSIGNAL) {
                Ok(sent) => sent,
                Err(Errno::AGAIN) => 0,
                Err(Errno::INTR) => continue,
                Err(errno @ (Errno::PIPE | Errno::CONNRESET)) => {
                    // The kernel tells of it by an event too, which is yet to come: it would have closed this socket.
                    slot.broken = Some(errno);
                    0
                }
                Err(errno) => return Err(errno),
            };
            slot.short = sent < bytes.len();
            if slot.short && slot.quiet {
                slot.quiet = false;
                epoll::modify(&self.fd, fd, data(place, slot.generation), READING.union(epoll::EventFlags::OUT))?;
            }
            return Ok(sent);
        }
    }

    fn close(&mut self, place: usize) {
        // Closing the descriptor takes the socket out of the epoll set as well.
        self.slots[place].fd = None;
    }

    fn wait(&mut self, at_most_ns: u64) -> Result<(), Errno> {
        self.freshened = 0;
        let mut ns = if self.again.is_empty() && self.fresh.is_empty() { at_most_ns } else { 0 };
        if ns % MILLISECOND != 0 {
            // epoll_wait knows whole milliseconds only, and epoll_pwait2 is unknown to older kernels and refused by some sandboxes.
            // Polling the epoll set itself, to the nanosecond, costs one more call, and only when there was time to sleep.
            let mut set = [PollFd::new(&self.fd, PollFlags::IN)];
            match rustix::event::poll(&mut set, Some(&timespec(ns))) {
                Ok(_) | Err(Errno::INTR) => ns = 0,
                Err(errno) => return Err(errno),
            }
        }
        let timeout = timespec(ns);
        self.events.clear();
        (self.seen, self.turn) = (0, self.again.len());
        match epoll::wait(&self.fd, spare_capacity(&mut self.events), Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(errno),
        }
    }

    fn backlog(&self) -> usize {
        // What had more to read than one turn allows has had one since: more than a server could have sent before.
        let all = self.events.len() < self.events.capacity() && self.fresh.is_empty();
        if all { 0 } else { 1 + self.slots.len() / BATCH }
    }

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, What)> {
        loop {
            let ready = match self.current.take() {
                Some(ready) => ready,
                None => self.take_ready()?,
            };
            if !self.is_current(&ready) {
                continue;
            }
            let slot = &mut self.slots[ready.place];
            if !slot.connected {
                // What else the event says about a fresh connection is told by the next call.
                self.current = Some(ready);
                return Some((ready.place, self.connected(ready)));
            }
            // Where the server has ended its side, what it has said counts, and not that no more can be sent (RFC 9112, 9.5).
            if slot.short && ready.flags.contains(epoll::EventFlags::OUT) && !ready.flags.intersects(ENDING) {
                slot.short = false;
                // Once for each edge: a send that is short again waits for the next one.
                self.current = Some(Ready { flags: ready.flags.difference(epoll::EventFlags::OUT), ..ready });
                return Some((ready.place, What::Writable));
            }
            if !ready.flags.intersects(epoll::EventFlags::IN.union(ENDING)) {
                continue;
            }
            if let Some(what) = self.receive(ready) {
                return Some((ready.place, what));
            }
        }
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        &self.buffer[..self.received]
    }

    fn empties(&self) -> bool {
        true
    }

    fn discard(&mut self, place: usize, n: u64) {
        self.limit = BRIEF;
        self.slots[place].unseen = u32::try_from(n).unwrap_or(u32::MAX - 1);
    }
}
