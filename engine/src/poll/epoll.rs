//! Sockets watched by epoll, edge-triggered.
//!
//! Each socket is registered once, for everything; in the steady state a request costs one `send` and one `recv`. A `recv` that did not
//! fill the buffer has drained the socket, so no second one is spent on learning that; unless the kernel has already reported the
//! end of the stream, which no later edge would report again.

use super::endpoint::refusal;
use super::{Endpoint, Poll, What};
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, epoll};
use rustix::io::Errno;
use rustix::net::{self, RecvFlags, SendFlags};
use std::collections::VecDeque;
use std::os::fd::OwnedFd;

/// One buffer for all connections of a worker.
const BUFFER: usize = 256 * 1024;
/// Events fetched by one wait.
const BATCH: usize = 512;
/// Full buffers read from one connection before the others get their turn.
const TURN: u32 = 16;

/// Nanoseconds in a millisecond.
const MILLISECOND: u64 = 1_000_000;

/// One socket.
#[derive(Debug, Default)]
struct Slot {
    fd: Option<OwnedFd>,
    /// Told apart from the sockets that had this place before.
    generation: u32,
    connected: bool,
    /// The last send was short.
    short: bool,
    /// Why a send failed. The server may have answered before it closed: what there is to read is read first.
    broken: Option<Errno>,
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
    buffer: Vec<u8>,
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
            slots: std::iter::repeat_with(Slot::default).take(places).collect(),
            opened: 0,
            events: Vec::with_capacity(BATCH),
            seen: 0,
            current: None,
            again: VecDeque::new(),
            turn: 0,
            buffer: vec![0; BUFFER],
            received: 0,
        }
    }

    fn take_ready(&mut self) -> Option<Ready> {
        if let Some(event) = self.events.get(self.seen) {
            self.seen += 1;
            let (data, flags) = (event.data.u64(), event.flags);
            return Some(Ready { place: data as u32 as usize, generation: (data >> 32) as u32, flags, reads: 0 });
        }
        self.turn = self.turn.checked_sub(1)?;
        self.again.pop_front().map(|ready| Ready { reads: 0, ..ready })
    }

    /// Whether `ready` is about the socket that has its place now.
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
    fn receive(&mut self, mut ready: Ready) -> Option<What> {
        let fd = self.slots[ready.place].fd.as_ref()?;
        match net::recv(fd, self.buffer.as_mut_slice(), RecvFlags::empty()) {
            Ok((0, _)) => Some(self.slots[ready.place].broken.map_or(What::End, What::Failed)),
            Ok((n, _)) => {
                self.received = n;
                let (full, ending) = (n == self.buffer.len(), ready.flags.intersects(ENDING));
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
}

fn timespec(ns: u64) -> Timespec {
    Timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as i64 }
}

/// The stream is at its end, or will be once what came before has been read.
const ENDING: epoll::EventFlags = epoll::EventFlags::RDHUP.union(epoll::EventFlags::HUP).union(epoll::EventFlags::ERR);

impl Poll for Epoll {
    fn open(&mut self, place: usize, endpoint: &Endpoint) -> Result<(), Errno> {
        self.close(place);
        let fd = endpoint.socket(self.opened)?;
        self.opened = self.opened.wrapping_add(1);
        endpoint.connect(&fd)?;
        let slot = &mut self.slots[place];
        slot.generation = slot.generation.wrapping_add(1);
        let data = epoll::EventData::new_u64(u64::from(slot.generation) << 32 | place as u64);
        let all = epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::RDHUP | epoll::EventFlags::ET;
        epoll::add(&self.fd, &fd, data, all)?;
        (slot.fd, slot.connected, slot.short, slot.broken) = (Some(fd), false, false, None);
        Ok(())
    }

    #[inline(always)]
    fn send(&mut self, place: usize, bytes: &[u8]) -> Result<usize, Errno> {
        let slot = &mut self.slots[place];
        let Some(fd) = &slot.fd else { return Err(Errno::NOTCONN) };
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
            return Ok(sent);
        }
    }

    fn close(&mut self, place: usize) {
        // Closing the descriptor takes the socket out of the epoll set as well.
        self.slots[place].fd = None;
    }

    fn wait(&mut self, at_most_ns: u64) -> Result<(), Errno> {
        let mut ns = if self.again.is_empty() { at_most_ns } else { 0 };
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

    #[inline]
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
}
