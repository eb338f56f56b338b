//! The HPACK decoder (RFC 7541): a header block in, fields out.

use super::table::{DEFAULT_SIZE, Dynamic, STATIC};
use super::{Breach, Code, huffman};
use std::ops::Range;

/// The largest table that we let the server use: what a server that we say nothing to may use.
const TABLE_LIMIT: usize = DEFAULT_SIZE;

/// The decoder of one connection.
#[derive(Debug, Default)]
pub struct Decoder {
    table: Dynamic,
    /// Texts that had to be written out: Huffman coded ones, and names that a new entry takes from the table it goes into.
    scratch: Vec<u8>,
}

/// A text within the block, or written out.
enum Text<'b> {
    Block(&'b [u8]),
    Scratch(Range<usize>),
}

impl<'b> Text<'b> {
    fn of<'s>(&'s self, scratch: &'s [u8]) -> &'s [u8]
    where
        'b: 's,
    {
        match self {
            Text::Block(bytes) => bytes,
            Text::Scratch(range) => &scratch[range.clone()],
        }
    }
}

impl Decoder {
    /// Changes with every change of the dynamic table: while it stays, equal blocks mean the same.
    #[inline]
    pub fn generation(&self) -> u64 {
        self.table.generation()
    }

    /// Gives each field of `block` to `field`, in order. What goes wrong here makes the connection useless, because the tables of
    /// the two sides may differ from now on (RFC 7541, 2.2; RFC 9113, 4.3).
    pub fn decode(
        &mut self,
        block: &[u8],
        mut field: impl FnMut(&[u8], &[u8]) -> Result<(), Breach>,
    ) -> Result<(), Breach> {
        let mut rest = block;
        let mut sized = true;
        while let [first, ..] = *rest {
            // RFC 7541, 6: which kind of field this is stands in the first bits.
            if first & 0xe0 == 0x20 {
                let size = integer(&mut rest, 5)?;
                // RFC 7541, 4.2: changes of the size come first, and not above what we allow.
                if !sized || size > TABLE_LIMIT {
                    return Err(wrong("a change of the HPACK table's size where none may be, or beyond 4096"));
                }
                self.table.resize(size);
                continue;
            }
            sized = false;
            if first & 0x80 != 0 {
                let index = integer(&mut rest, 7)?;
                let (name, value) = self.entry(index)?;
                field(name, value)?;
                continue;
            }
            let remember = first & 0x40 != 0;
            let index = integer(&mut rest, if remember { 6 } else { 4 })?;
            self.literal(index, remember, &mut rest, &mut field)?;
        }
        Ok(())
    }

    fn literal(
        &mut self,
        index: usize,
        remember: bool,
        rest: &mut &[u8],
        field: &mut impl FnMut(&[u8], &[u8]) -> Result<(), Breach>,
    ) -> Result<(), Breach> {
        self.scratch.clear();
        let name = if index == 0 {
            self.text(rest)?
        } else if index <= STATIC.len() {
            Text::Block(STATIC[index - 1].0.as_bytes())
        } else {
            // The entry may have to leave the table to make room for the new one.
            let (name, _) = self.table.get(index - STATIC.len() - 1).ok_or(UNKNOWN)?;
            self.scratch.extend_from_slice(name);
            Text::Scratch(0..self.scratch.len())
        };
        let value = self.text(rest)?;
        let (name, value) = (name.of(&self.scratch), value.of(&self.scratch));
        field(name, value)?;
        if remember {
            self.table.insert(name, value);
        }
        Ok(())
    }

    fn entry(&self, index: usize) -> Result<(&[u8], &[u8]), Breach> {
        match index.checked_sub(1).ok_or(UNKNOWN)? {
            at if at < STATIC.len() => Ok((STATIC[at].0.as_bytes(), STATIC[at].1.as_bytes())),
            at => self.table.get(at - STATIC.len()).ok_or(UNKNOWN),
        }
    }

    /// RFC 7541, 5.2.
    fn text<'b>(&mut self, rest: &mut &'b [u8]) -> Result<Text<'b>, Breach> {
        let coded = rest.first().is_some_and(|first| first & 0x80 != 0);
        let length = integer(rest, 7)?;
        let (text, after) = rest.split_at_checked(length).ok_or(SHORT)?;
        *rest = after;
        if !coded {
            return Ok(Text::Block(text));
        }
        let begin = self.scratch.len();
        let decoded = huffman::decode(text, &mut self.scratch);
        decoded.map_err(|_| wrong("a header text that is not in the Huffman code of HPACK"))?;
        Ok(Text::Scratch(begin..self.scratch.len()))
    }
}

const UNKNOWN: Breach = wrong("a header field of an HPACK table entry that does not exist");
const SHORT: Breach = wrong("a header block that ends within a field");

const fn wrong(why: &'static str) -> Breach {
    Breach { code: Code::Compression, why }
}

/// RFC 7541, 5.1. Beyond 2^28 nothing here has a meaning, so no more than four further bytes are read.
fn integer(rest: &mut &[u8], prefix: u32) -> Result<usize, Breach> {
    let (first, mut after) = rest.split_first().ok_or(SHORT)?;
    let most = (1_usize << prefix) - 1;
    let mut number = usize::from(*first) & most;
    if number == most {
        let mut shift = 0;
        loop {
            let (byte, next) = after.split_first().ok_or(SHORT)?;
            (number, after) = (number + (usize::from(byte & 0x7f) << shift), next);
            if byte & 0x80 == 0 {
                break;
            }
            shift += 7;
            if shift > 21 {
                return Err(wrong("an HPACK integer beyond all bounds"));
            }
        }
    }
    *rest = after;
    Ok(number)
}

#[cfg(test)]
mod tests;
