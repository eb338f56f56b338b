//! Sockets driven by io_uring: one call into the kernel for many requests.
//!
//! * A socket is received from by one submission that lasts until its end (a multishot receive). The kernel picks a buffer for each piece
//!   ([`buffers`]), so connections that are silent hold none. When there is no buffer left, the receive ends and is begun anew.
//! * Sends are staged and submitted together, with the call that then waits ([`queue`]). Only one that the kernel did not take whole is
//!   heard of again; the rest is kept here and sent when there is room. What is longer than [`LONG`] is sent at once, by a call of its own.
//! * Only one thread submits, and completions are made when it asks for them: both spare the kernel locks and interrupts.
//!   The kernel never polls for us (SQPOLL): that thread would take a processor from the server.
//!
//! A staged send leaves later than the time it was booked with, by what the batch takes. When it left is told afterwards ([`Poll::left`]):
//! the sends of a batch leave one after another, between two looks at the clock ([`stamps`]).
//!
//! A submission names its socket by number, and the kernel looks the number up when it is submitted. So a descriptor is closed
//! only after everything that names it has been submitted. Completions carry place and generation: late ones of a socket that is
//! gone are dropped, once their buffer has been given back.

mod bell;
mod buffers;
mod probe;
mod queue;
mod stamps;
#[cfg(test)]
mod tests;

pub use probe::available;

use super::endpoint::{refusal, undelay};
use super::{Endpoint, Poll, What};
use crate::clock;
use queue::{Event, Kind, Queue};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{self, SendFlags, Shutdown};
use stamps::Stamps;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// Sends in one batch, at most. What arrives while they leave waits to be seen, so this bounds how late that is. Measured on two crowded
/// cores (load 8), where a request costs 6.6 us of processor, submitting 32 took 0.17 ms at the median with 64 connections.
const BATCH: usize = 64;
/// So many sends leave with the call that then waits, all with the time before it. More have a call of their own, which does not wait, so
/// that there is a time after it too.
const FEW: usize = 8;
/// What is longer than this is not staged.
const LONG: usize = 4 * 1024;
/// Buffers for each place, and for all of them.
const BUFFERS: (usize, usize, usize) = (2, 64, 512);
/// Completions that one wait tells, at least: of work that is still to be done for them the kernel does 20 pieces in a call (since Linux
/// 6.13), and a call that only submits may come between.
const TOLD: usize = 8;
/// Generations wrap here: a mark has so many bits for them.
const GENERATIONS: u32 = 1 << 30;

/// One socket.
#[derive(Default)]
struct Slot {
    fd: Option<OwnedFd>,
    /// Distinguished from the sockets that had this place before.
    generation: u32,
    connected: bool,
    /// A receive is under way.
    receiving: bool,
    /// The last send was short.
    short: bool,
    /// The batch in which something named this socket last.
    named: u32,
    /// Bytes that were promised to be sent, and for which there was no room.
    owed: Option<Box<[u8]>>,
    /// When its last staged send left; 0: there was none.
    left: u64,
}

/// A ring that no thread has yet.
pub struct Prepared(Box<Queue>);

impl Prepared {
    /// A ring for so many places; apart from [`Ring::new`], so that it can fail before the load begins.
    pub fn new(places: usize) -> io::Result<Prepared> {
        let (each, least, most) = BUFFERS;
        let buffers = (places * each).clamp(least, most).next_power_of_two();
        Queue::new(buffers as u16).map(|queue| Prepared(Box::new(queue)))
    }
}

/// The io_uring back end.
pub struct Ring {
    queue: Queue,
    slots: Vec<Slot>,
    /// Sockets opened so far.
    opened: usize,
    /// They are closed with a reset.
    reset: bool,
    /// Number of the batch that is being staged.
    batch: u32,
    /// Events of the queue already handed on.
    seen: usize,
    /// Buffer and length of the last [`What::Bytes`].
    held: Option<(u16, usize)>,
    stamps: Stamps,
    /// A submission failed where no error could be told.
    broken: Option<Errno>,
}

impl Ring {
    /// A back end for so many places, on a ring that from now on is this thread's.
    pub fn new(prepared: Prepared, places: usize) -> Result<Ring, Errno> {
        prepared.0.enable().map_err(errno)?;
        let slots = std::iter::repeat_with(Slot::default).take(places + 1).collect();
        let (queue, stamps) = (*prepared.0, Stamps::default());
        Ok(Ring { queue, slots, opened: 0, reset: false, batch: 1, seen: 0, held: None, stamps, broken: None })
    }

    fn mark(&self, place: usize) -> u64 {
        u64::from(self.slots[place].generation) << 32 | place as u64
    }

    /// The place that `event` is about, if it has that socket still.
    #[inline]
    fn place(&self, mark: u64) -> Option<usize> {
        let (place, generation) = (mark as u32 as usize, (mark >> 32) as u32);
        let slot = &self.slots[place];
        (slot.generation == generation && slot.fd.is_some()).then_some(place)
    }

    fn receive(&mut self, place: usize) -> Result<(), Errno> {
        let mark = self.mark(place);
        let slot = &mut self.slots[place];
        let Some(fd) = &slot.fd else { return Ok(()) };
        (slot.receiving, slot.named) = (true, self.batch);
        self.queue.receive(fd.as_fd(), mark)
    }

    fn watch(&mut self, place: usize) -> Result<(), Errno> {
        let mark = self.mark(place);
        let slot = &mut self.slots[place];
        let Some(fd) = &slot.fd else { return Ok(()) };
        slot.named = self.batch;
        self.queue.watch(fd.as_fd(), mark)
    }

    /// Submits what is staged. Whatever the kernel did not take of it is owed from then on.
    fn submit(&mut self, at_most_ns: Option<u64>) -> Result<(), Errno> {
        match self.queue.staged() {
            0 => self.queue.submit(at_most_ns)?,
            1..=FEW => {
                let before = clock::now();
                self.queue.submit(at_most_ns)?;
                self.stamp(before, 0);
            }
            many => {
                let before = clock::now();
                self.queue.submit(None)?;
                let each = self.stamps.each(clock::now().saturating_sub(before), many);
                self.stamp(before, each);
                if at_most_ns.is_some() {
                    self.queue.submit(at_most_ns)?;
                }
            }
        }
        self.batch = self.batch.wrapping_add(1);
        for rest in std::mem::take(&mut self.queue.rests) {
            if let Some(place) = self.place(rest.mark) {
                self.slots[place].owed = Some(rest.bytes);
                self.watch(place)?;
            }
        }
        Ok(())
    }

    /// The sends of the last submission left from then on, one every so many nanoseconds.
    fn stamp(&mut self, from: u64, each: u64) {
        for (i, mark) in self.queue.gone().enumerate() {
            let (place, generation) = (mark as u32 as usize, (mark >> 32) as u32);
            let slot = &mut self.slots[place];
            if slot.generation == generation {
                slot.left = from + i as u64 * each;
            }
        }
    }

    /// Sends by a call of its own, after everything that was staged for this place.
    fn send_long(&mut self, place: usize, bytes: &[u8]) -> Result<usize, Errno> {
        if self.slots[place].named == self.batch {
            self.submit(None)?;
        }
        let slot = &mut self.slots[place];
        let sent = match &slot.fd {
            Some(fd) if slot.owed.is_none() => match send_now(fd, bytes) {
                // The server may have said something before it closed: then the receive tells that, and after it how it ended.
                Err(Errno::PIPE | Errno::CONNRESET) if slot.receiving => return Ok(0),
                sent => sent?,
            },
            _ => 0,
        };
        if sent < bytes.len() && !std::mem::replace(&mut slot.short, true) && slot.owed.is_none() {
            self.watch(place)?;
        }
        Ok(sent)
    }

    /// The end of a connect, or room after a short send.
    fn watched(&mut self, place: usize, event: Event) -> Result<Option<What>, Errno> {
        let slot = &mut self.slots[place];
        let Some(fd) = &slot.fd else { return Ok(None) };
        if let Some(errno) = event.error() {
            return Err(errno);
        }
        if !slot.connected {
            let bad = PollFlags::ERR | PollFlags::HUP;
            if PollFlags::from_bits_retain(event.result as _).intersects(bad)
                && let Some(errno) = refusal(fd)
            {
                return Err(errno);
            }
            slot.connected = true;
            self.receive(place)?;
            return Ok(Some(What::Connected));
        }
        if let Some(owed) = slot.owed.take() {
            let sent = match send_now(fd, &owed) {
                Err(Errno::PIPE | Errno::CONNRESET) if slot.receiving => return Ok(None),
                sent => sent?,
            };
            if sent < owed.len() {
                slot.owed = Some(owed[sent..].into());
                self.watch(place)?;
                return Ok(None);
            }
        }
        Ok(std::mem::take(&mut slot.short).then_some(What::Writable))
    }

    /// A piece of what was received, or its end.
    #[inline]
    fn received(&mut self, place: usize, event: Event) -> Result<Option<What>, Errno> {
        let slot = &mut self.slots[place];
        slot.receiving = event.more();
        match (event.error(), event.buffer()) {
            (None, Some(id)) => {
                self.held = Some((id, event.result as usize));
                // The end of the stream comes right behind the bytes before it.
                let behind = self.queue.events.get(self.seen);
                let ending = behind.is_some_and(|next| {
                    next.kind() == Kind::Receive && next.mark() == event.mark() && next.result == 0
                });
                if !event.more() && !ending {
                    self.receive(place)?;
                }
                Ok(Some(What::Bytes { ending }))
            }
            (None, None) => Ok(Some(What::End)),
            (Some(Errno::NOBUFS | Errno::INTR | Errno::AGAIN), _) => self.receive(place).map(|()| None),
            (Some(errno), _) => Err(errno),
        }
    }

    /// What `event` means to its place.
    #[inline]
    fn told(&mut self, event: Event) -> Option<(usize, What)> {
        let Some(place) = self.place(event.mark()) else {
            event.buffer().into_iter().for_each(|id| self.queue.buffers.give_back(id));
            return None;
        };
        let what = match event.kind() {
            Kind::Receive => self.received(place, event),
            Kind::Watch if place + 1 == self.slots.len() => self.rung(event),
            Kind::Watch => self.watched(place, event),
            // The server may have said something before it closed: then the receive tells that, and after it how it ended.
            Kind::Send if self.slots[place].receiving => Ok(None),
            Kind::Send => Err(event.error().unwrap_or(Errno::PIPE)),
        };
        what.unwrap_or_else(|errno| Some(What::Failed(errno))).map(|what| (place, what))
    }
}

/// Sends what there is room for.
fn send_now(fd: &OwnedFd, bytes: &[u8]) -> Result<usize, Errno> {
    loop {
        match net::send(fd, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
            Err(Errno::AGAIN) => return Ok(0),
            Err(Errno::INTR) => {}
            result => return result,
        }
    }
}

fn errno(error: io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error)
}

impl Poll for Ring {
    fn open(&mut self, place: usize, endpoint: &Endpoint) -> Result<(), Errno> {
        self.close(place);
        let fd = endpoint.socket(self.opened)?;
        (self.opened, self.reset) = (self.opened.wrapping_add(1), endpoint.reset);
        undelay(&fd);
        let connected = endpoint.connect(&fd)?;
        let slot = &mut self.slots[place];
        *slot = Slot { fd: Some(fd), generation: (slot.generation + 1) % GENERATIONS, ..Slot::default() };
        if connected {
            let mark = self.mark(place);
            self.queue.events.push(Event::watched(mark));
            return Ok(());
        }
        self.watch(place)
    }

    #[inline]
    fn send(&mut self, place: usize, bytes: &[u8]) -> Result<usize, Errno> {
        let (mark, named) = (self.mark(place), self.slots[place].named);
        if bytes.len() > LONG {
            return self.send_long(place, bytes);
        }
        // Two sends of one socket in one batch would be two submissions, and the second could overtake what is left of the first.
        let behind = named == self.batch && !self.queue.staged_last(mark);
        if behind || self.queue.staged() == BATCH {
            self.submit(None)?;
        }
        let slot = &mut self.slots[place];
        let Some(fd) = &slot.fd else { return Err(Errno::NOTCONN) };
        if slot.owed.is_some() {
            slot.short = true;
            return Ok(0);
        }
        slot.named = self.batch;
        if !self.queue.stage(fd.as_fd(), bytes, mark) {
            return self.send_long(place, bytes);
        }
        Ok(bytes.len())
    }

    fn close(&mut self, place: usize) {
        if self.slots[place].fd.is_some() && self.slots[place].named == self.batch {
            self.broken = self.submit(None).err().or(self.broken);
        }
        let slot = &mut self.slots[place];
        if let Some(fd) = slot.fd.take()
            && (slot.receiving || !slot.connected || slot.short || slot.owed.is_some())
        {
            // What is under way holds the socket beyond its descriptor, and a mere close would not end the stream. This does, and wakes
            // it; an error means that the stream has ended already. A connect to nowhere is how a socket is reset (connect(2)).
            let _ = if self.reset { net::connect_unspec(&fd) } else { net::shutdown(&fd, Shutdown::Both) };
        }
        slot.owed = None;
    }

    fn wait(&mut self, at_most_ns: u64) -> Result<(), Errno> {
        if let Some(errno) = self.broken {
            return Err(errno);
        }
        self.queue.events.drain(..self.seen);
        self.seen = 0;
        match self.queue.events.len() {
            0 => {}
            // Enough for a batch; more would only wait here.
            BATCH.. => return self.submit(None),
            _ => return self.submit(Some(0)),
        }
        // Who never sleeps looks at the memory that the kernel shares, and calls when there is something in it.
        if at_most_ns == 0 && !self.queue.has_work() { Ok(()) } else { self.submit(Some(at_most_ns)) }
    }

    fn backlog(&self) -> usize {
        // One that brought nothing found nothing. Others may have left the rest in the kernel.
        if self.queue.events.is_empty() { 0 } else { 1 + self.slots.len() / TOLD }
    }

    #[inline]
    fn next(&mut self) -> Option<(usize, What)> {
        if let Some((id, _)) = self.held.take() {
            self.queue.buffers.give_back(id);
        }
        while let Some(event) = self.queue.events.get(self.seen).copied() {
            if self.queue.staged() >= BATCH {
                return None;
            }
            self.seen += 1;
            if let Some(told) = self.told(event) {
                return Some(told);
            }
        }
        None
    }

    #[inline]
    fn left(&self, place: usize) -> u64 {
        self.slots[place].left
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        self.held.map_or(&[], |(id, length)| self.queue.buffers.filled(id, length))
    }
}
