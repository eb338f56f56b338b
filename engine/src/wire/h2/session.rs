//! The client's side of one connection: bytes of the server in, what happened to which stream out.
//!
//! Each stream is in a slot that the caller chose; streams are spoken of by slot. What is to be sent gathers in [`Session::out`], and is
//! the caller's to send. An error of the connection ends it ([`Breach`]); an error of one stream is an event, and the others go on.
//! The rules themselves are in [`super::rules`].

use super::frame::{Piece, Reader};
use super::rules::{Rules, Step};
use super::window::OURS;
use super::write::{self, setting};
use super::{Breach, Code, STREAM_LIMIT, WINDOW_DEFAULT, kind};
use crate::wire::head::Head;
use std::ops::Range;

/// Bodies wait while so many bytes have not been taken by the socket.
const OUT_ENOUGH: usize = 256 * 1024;
/// Answers to a server that asks and does not read: beyond this it is given up.
const OUT_LIMIT: usize = if cfg!(miri) { 512 * 1024 } else { 4 * 1024 * 1024 };

/// What happened.
#[derive(Debug, PartialEq, Eq)]
pub enum Event<'e> {
    /// The server has sent its first SETTINGS: streams may begin.
    Ready,
    /// The final header block of an answer, and its text.
    Head {
        /// Of the stream.
        slot: usize,
        /// What it means.
        head: &'e Head,
        /// As lines of text.
        text: &'e [u8],
    },
    /// Bytes of a body; never empty.
    Body {
        /// Of the stream.
        slot: usize,
        /// The bytes.
        bytes: &'e [u8],
    },
    /// The answer is complete, and the stream has ended.
    End {
        /// Of the stream that was.
        slot: usize,
    },
    /// The server gave the stream up.
    Reset {
        /// Of the stream that was.
        slot: usize,
        /// Why, by the numbers of RFC 9113, 7; [`Code::Refused`] says that it did not work on the request.
        code: u32,
    },
    /// The answer is malformed, and the stream has been ended for it.
    Broken {
        /// Of the stream that was.
        slot: usize,
        /// For people.
        why: &'static str,
    },
    /// There may be room for more streams or bytes than before.
    Room,
    /// The server takes no more streams on this connection (GOAWAY).
    Leaving,
}

/// One connection.
#[derive(Debug)]
pub struct Session {
    reader: Reader,
    rules: Rules,
    /// A stream that has ended with the event given out last.
    ended: Option<usize>,
}

impl Session {
    /// A connection that carries at most `slots` streams at a time, at most 65535; its first words are in [`Session::out`].
    pub fn new(slots: usize) -> Session {
        let mut rules = Rules::new(slots);
        rules.out.extend_from_slice(write::PREFACE);
        let ours = [(setting::ENABLE_PUSH, 0), (setting::INITIAL_WINDOW_SIZE, OURS as u32)];
        write::settings(&mut rules.out, &ours);
        write::window_update(&mut rules.out, 0, (OURS - WINDOW_DEFAULT) as u32);
        Session { reader: Reader::default(), rules, ended: None }
    }

    /// Bytes to be sent; the caller takes away those that were.
    #[inline]
    pub fn out(&mut self) -> &mut Vec<u8> {
        &mut self.rules.out
    }

    /// So many bytes are about to be read. A server that says GOAWAY in them is asked nothing more, although what it says before is
    /// seen first: a stream that began in between would be one that it does not work on.
    #[inline]
    pub fn foresee(&mut self, input: &[u8]) {
        self.rules.about_to_leave |= self.reader.brings(kind::GOAWAY, input);
    }

    /// Takes bytes off the front of `input` and says what happened; `None`: all taken, more are needed.
    #[inline]
    pub fn next<'e, 'i: 'e>(&'e mut self, input: &mut &'i [u8]) -> Result<Option<Event<'e>>, Breach> {
        if let Some(slot) = self.ended.take() {
            return Ok(Some(Event::End { slot }));
        }
        loop {
            if let Some(slot) = self.rules.next_unworked() {
                return Ok(Some(Event::Reset { slot, code: Code::Refused as u32 }));
            }
            let step = match self.reader.next(input)? {
                None => return self.rest(),
                Some(Piece::Data { head, bytes, whole, first, last }) => {
                    let whole = first.then_some(whole);
                    match self.rules.data(&head, bytes.len(), whole, last)? {
                        Step::Body { slot, ended } => {
                            self.ended = ended.then_some(slot);
                            return Ok(Some(Event::Body { slot, bytes }));
                        }
                        step => step,
                    }
                }
                Some(Piece::Whole(head, content)) => self.rules.frame(&head, content)?,
            };
            match step {
                Step::Nothing | Step::Body { .. } => {}
                Step::Head { slot, ended } => {
                    self.ended = ended.then_some(slot);
                    let meaning = self.rules.answers.last();
                    return Ok(Some(Event::Head { slot, head: &meaning.head, text: &meaning.text }));
                }
                Step::End(slot) => return Ok(Some(Event::End { slot })),
                Step::Reset { slot, code } => return Ok(Some(Event::Reset { slot, code })),
                Step::Broken { slot, why } => return Ok(Some(Event::Broken { slot, why })),
                Step::Ready => return Ok(Some(Event::Ready)),
                Step::Room => return Ok(Some(Event::Room)),
                Step::Leaving => return Ok(Some(Event::Leaving)),
            }
        }
    }

    /// All has been read.
    fn rest(&mut self) -> Result<Option<Event<'_>>, Breach> {
        if self.rules.out.len() > OUT_LIMIT {
            return Err(Breach::new(Code::Calm, "more frames that ask for an answer than the server takes answers"));
        }
        Ok(None)
    }

    /// How many further streams may begin now.
    #[inline]
    pub fn room(&self) -> usize {
        let usable = !self.is_worn() && !self.rules.about_to_leave && self.rules.is_ready();
        if usable { self.rules.allowed.saturating_sub(self.rules.streams.open()) } else { 0 }
    }

    /// Whether the server's first SETTINGS have come.
    pub fn is_ready(&self) -> bool {
        self.rules.is_ready()
    }

    /// Whether the server has said that it takes no more streams (GOAWAY).
    pub fn is_leaving(&self) -> bool {
        self.rules.leaving
    }

    /// The text of the last [`Event::Head`], and where in it the media type is.
    pub fn text(&self) -> (&[u8], Option<Range<usize>>) {
        let meaning = self.rules.answers.last();
        (&meaning.text, meaning.head.content_type.clone())
    }

    /// Whether no further stream can ever begin: the server is leaving, or the numbers are used up (RFC 9113, 5.1.1).
    #[inline]
    pub fn is_worn(&self) -> bool {
        self.rules.leaving || self.rules.streams.next() > STREAM_LIMIT
    }

    /// Streams under way.
    pub fn open(&self) -> usize {
        self.rules.streams.open()
    }

    /// Begins a stream in `slot`, which is free, with header frames of [`write::headers`]; `whole` when no body follows.
    #[inline]
    pub fn begin(&mut self, slot: usize, frames: &[u8], to_head: bool, whole: bool) {
        let rules = &mut self.rules;
        let id = rules.streams.begin(slot, to_head, rules.their_window);
        rules.streams.at(slot).sent = whole;
        let at = rules.out.len();
        write::renumbered(&mut rules.out, frames, id);
        if std::mem::take(&mut rules.drop_table) {
            write::table_dropped(&mut rules.out, at);
        }
    }

    /// Sends of the rest of a body, which is not empty, as much as may go now, and says how much that was; with the last byte the request ends.
    pub fn body(&mut self, slot: usize, bytes: &[u8]) -> usize {
        let rules = &mut self.rules;
        let (stream, mut taken) = (rules.streams.at(slot), 0);
        while taken < bytes.len() {
            let room = stream.outbound.room().min(rules.outbound.room()).min(rules.frame_limit);
            let part = room.min(OUT_ENOUGH.saturating_sub(rules.out.len())).min(bytes.len() - taken);
            if part == 0 {
                break;
            }
            stream.sent = taken + part == bytes.len();
            write::data(&mut rules.out, stream.id, &bytes[taken..taken + part], stream.sent);
            stream.outbound.spend(part);
            rules.outbound.spend(part);
            taken += part;
        }
        taken
    }

    /// Whether bodies wait because what there is to send has not been taken.
    pub fn is_full(&self) -> bool {
        self.rules.out.len() >= OUT_ENOUGH
    }

    /// Gives up the stream in `slot`, if one is open there: nothing more happens in it.
    pub fn cancel(&mut self, slot: usize) {
        if self.ended == Some(slot) {
            self.ended = None;
        }
        if self.rules.streams.is_open(slot) {
            self.rules.give_up(slot, Code::Cancel);
        }
    }

    /// Tells the server why the connection ends.
    pub fn leave(&mut self, code: Code) {
        write::goaway(&mut self.rules.out, code);
    }
}

#[cfg(test)]
mod tests;
