//! The streams of one connection: which are open, whose they are, and what their answers have come to.

use super::window::{Inbound, Outbound};
use std::collections::HashSet;

/// Streams that we gave up are remembered up to this number; beyond it, frames on any closed stream are let pass.
const GIVEN_UP_LIMIT: usize = 1 << 16;

/// 2^32 by the golden ratio: multiples of it lie evenly (Knuth, The Art of Computer Programming 3, 6.4).
const SPREAD: u32 = 0x9e37_79b9;

/// How far an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Its final header block is still to come.
    Head,
    /// Its body is.
    Body,
}

/// One open stream.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    /// Odd (RFC 9113, 5.1.1); 0: there is none here.
    pub id: u32,
    /// How far the answer is.
    pub phase: Phase,
    /// The request is HEAD.
    pub to_head: bool,
    /// The request has been sent to its end.
    pub sent: bool,
    /// Bytes of the body that Content-Length promised and that have not come.
    pub left: Option<u64>,
    /// Bytes of header blocks so far.
    pub weight: u32,
    /// What the server may send.
    pub inbound: Inbound,
    /// What we may send.
    pub outbound: Outbound,
}

impl Stream {
    const NONE: Stream = Stream {
        id: 0,
        phase: Phase::Head,
        to_head: false,
        sent: false,
        left: None,
        weight: 0,
        inbound: Inbound(0),
        outbound: Outbound(0),
    };
}

/// Where a frame of the server belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// To the stream in this slot.
    Open(usize),
    /// To one that we gave up; what still comes on it is read over.
    GivenUp,
    /// To one that has ended.
    Closed,
    /// To one that never was.
    Idle,
}

/// The streams of one connection, each in a slot that its user chose.
///
/// From the number of a stream to its slot leads a table of four times as many cells as slots, searched linearly from the number's own cell. Numbers
/// that follow each other have cells far apart: in a row of full cells, taking one out would have to look at all after it.
#[derive(Debug)]
pub struct Streams {
    slots: Vec<Stream>,
    /// Slot and 1; 0: empty.
    cells: Vec<u16>,
    /// What takes a spread number down to the cells there are.
    shift: u32,
    open: usize,
    next: u32,
    given_up: HashSet<u32>,
    forgot: bool,
}

impl Streams {
    /// Room for so many at a time, at most 65535.
    pub fn new(slots: usize) -> Streams {
        let cells = (slots * 4).next_power_of_two().max(4);
        Streams {
            slots: vec![Stream::NONE; slots],
            cells: vec![0; cells],
            shift: 32 - cells.ilog2(),
            open: 0,
            next: 1,
            given_up: HashSet::new(),
            forgot: false,
        }
    }

    /// How many are open.
    pub fn open(&self) -> usize {
        self.open
    }

    /// The number of the next stream.
    pub fn next(&self) -> u32 {
        self.next
    }

    /// The stream in `slot`.
    #[inline]
    pub fn at(&mut self, slot: usize) -> &mut Stream {
        &mut self.slots[slot]
    }

    /// Whether a stream is open in `slot`.
    pub fn is_open(&self, slot: usize) -> bool {
        self.slots[slot].id != 0
    }

    /// All slots with the streams that are open.
    pub fn all(&mut self) -> impl Iterator<Item = (usize, &mut Stream)> {
        self.slots.iter_mut().enumerate().filter(|(_, stream)| stream.id != 0)
    }

    #[inline]
    fn cell(&self, id: u32) -> usize {
        ((id >> 1).wrapping_mul(SPREAD) >> self.shift) as usize
    }

    /// Opens the next stream in `slot`, which is free, and gives its number.
    #[inline]
    pub fn begin(&mut self, slot: usize, to_head: bool, outbound: i64) -> u32 {
        let id = self.next;
        self.next += 2;
        self.open += 1;
        self.slots[slot] =
            Stream { id, to_head, inbound: Inbound::default(), outbound: Outbound(outbound), ..Stream::NONE };
        let mut cell = self.cell(id);
        while self.cells[cell] != 0 {
            cell = (cell + 1) & (self.cells.len() - 1);
        }
        self.cells[cell] = slot as u16 + 1;
        id
    }

    /// The cell of an open stream.
    #[inline]
    fn cell_of(&self, id: u32) -> Option<usize> {
        let mut cell = self.cell(id);
        loop {
            match self.cells[cell] {
                0 => return None,
                slot if self.slots[usize::from(slot) - 1].id == id => return Some(cell),
                _ => cell = (cell + 1) & (self.cells.len() - 1),
            }
        }
    }

    /// Where a frame of stream `id` belongs.
    #[inline]
    pub fn find(&mut self, id: u32) -> Found {
        // RFC 9113, 5.1.1: even numbers are the server's, and it may open none.
        if id & 1 == 0 || id >= self.next {
            return Found::Idle;
        }
        match self.cell_of(id) {
            Some(cell) => Found::Open(usize::from(self.cells[cell]) - 1),
            None if self.forgot || self.given_up.contains(&id) => Found::GivenUp,
            None => Found::Closed,
        }
    }

    /// The stream in `slot` has ended, on both sides.
    #[inline]
    pub fn end(&mut self, slot: usize) {
        let id = self.slots[slot].id;
        let Some(cell) = self.cell_of(id) else { return };
        self.close_gap(cell);
        self.slots[slot].id = 0;
        self.open -= 1;
    }

    /// Likewise, but the server does not know yet.
    pub fn give_up(&mut self, slot: usize) {
        if self.given_up.len() >= GIVEN_UP_LIMIT {
            self.forgot = true;
            self.given_up = HashSet::new();
        }
        if !self.forgot {
            self.given_up.insert(self.slots[slot].id);
        }
        self.end(slot);
    }

    /// Takes a cell out of the table: those after it move up where their own search would not reach over the gap.
    #[inline]
    fn close_gap(&mut self, mut gap: usize) {
        let mask = self.cells.len() - 1;
        let mut cell = gap;
        loop {
            cell = (cell + 1) & mask;
            let slot = self.cells[cell];
            if slot == 0 {
                break;
            }
            let own = self.cell(self.slots[usize::from(slot) - 1].id);
            if cell.wrapping_sub(own) & mask >= cell.wrapping_sub(gap) & mask {
                self.cells[gap] = slot;
                gap = cell;
            }
        }
        self.cells[gap] = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_open_stream_is_found_and_no_other_whatever_ends_first() {
        for slots in [1, 2, 3, 8, 100] {
            let mut streams = Streams::new(slots);
            let mut open: Vec<(u32, usize)> = Vec::new();
            let mut draw = 1_u64;
            for turn in 0..if cfg!(miri) { 200 } else { 5000 } {
                draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let free = (0..slots).find(|slot| !streams.is_open(*slot));
                match free.filter(|_| !(draw >> 40).is_multiple_of(3)) {
                    Some(slot) => open.push((streams.begin(slot, false, 0), slot)),
                    None if open.is_empty() => continue,
                    None => {
                        let (id, slot) = open.remove((draw >> 33) as usize % open.len());
                        if turn % 2 == 0 {
                            streams.give_up(slot)
                        } else {
                            streams.end(slot)
                        }
                        let found = if turn % 2 == 0 { Found::GivenUp } else { Found::Closed };
                        assert_eq!(found, streams.find(id));
                    }
                }
                open.iter().for_each(|(id, slot)| assert_eq!(Found::Open(*slot), streams.find(*id)));
                assert_eq!((open.len(), Found::Idle), (streams.open(), streams.find(streams.next)));
            }
            assert_eq!((Found::Idle, Found::Idle), (streams.find(0), streams.find(2)));
        }
    }
}
