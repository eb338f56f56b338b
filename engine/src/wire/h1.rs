//! The incremental reader of HTTP/1 answers: bytes in any split go in, the same events come out.
//!
//! A pull parser: [`Parser::next`] takes bytes off the front of its input and returns one event, or `None` when it needs more. It keeps
//! bytes only while a line or a header block straddles two reads. What it refuses: everything RFC 9112 calls an error in framing, and
//! anything without a bound (header blocks, interim answers and trailers beyond 64 KiB in one answer, chunk lines beyond 4 KiB).
//!
//! A server mostly sends the same header block again and again. A [`Template`] remembers the last one with what it meant: when the
//! next answer begins with exactly those bytes (they include the empty line at the end), one comparison replaces the parse.

pub use super::head::{Framing, Head};
use super::{Malformed, head};
use memchr::memchr;

/// Bytes of header blocks and trailers in one answer.
const HEAD_LIMIT: usize = 64 * 1024;
/// Bytes of a chunk line, extensions included.
const CHUNK_LINE_LIMIT: usize = 4 * 1024;
/// A kept buffer beyond this is given back, so that idle connections stay small.
const SPARE_LIMIT: usize = 4 * 1024;

/// What the bytes said.
#[derive(Debug, PartialEq, Eq)]
pub enum Event<'e> {
    /// The header block of the final answer, and its bytes.
    Head(Head, &'e [u8]),
    /// Some bytes of the decoded body; never empty.
    Body(&'e [u8]),
    /// The answer is complete.
    End,
}

/// The header block seen last, with its meaning.
#[derive(Debug, Default)]
pub struct Template {
    raw: Vec<u8>,
    head: Option<Head>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Head,
    Length(u64),
    ChunkLine,
    Chunk(u64),
    ChunkEnd,
    Trailer {
        /// There was one already, which may go on over a second line.
        any: bool,
    },
    UntilClose,
    Done,
}

/// Reads one answer after another from one connection.
#[derive(Debug)]
pub struct Parser {
    state: State,
    /// The answer is to a HEAD request.
    to_head: bool,
    begun: bool,
    /// What was given out borrows from `spare`; it is cleared at the next call.
    spent: bool,
    /// Bytes of heads and trailers seen in this answer.
    weight: u32,
    /// The part of a line or block that came with earlier reads.
    spare: Vec<u8>,
}

impl Default for Parser {
    fn default() -> Self {
        Parser { state: State::Done, to_head: false, begun: false, spent: false, weight: 0, spare: Vec::new() }
    }
}

impl Parser {
    /// Makes ready for the next answer; `to_head` when it answers a HEAD request.
    #[inline(always)]
    pub fn begin(&mut self, to_head: bool) {
        (self.state, self.to_head, self.begun, self.spent, self.weight) = (State::Head, to_head, false, false, 0);
        self.spare.clear();
        if self.spare.capacity() > SPARE_LIMIT {
            self.shrink();
        }
    }

    #[cold]
    #[inline(never)]
    fn shrink(&mut self) {
        self.spare = Vec::new();
    }

    /// The answer came whole, and somebody knows it already.
    #[inline]
    pub fn skip(&mut self) {
        (self.state, self.begun) = (State::Done, true);
    }

    /// How many bytes are missing of a body whose length is known.
    pub fn left(&self) -> Option<u64> {
        if let State::Length(left) = self.state { Some(left) } else { None }
    }

    /// So many bytes came unseen: says how many of them are of a body whose length is known, and whether it ends with them.
    pub fn pass(&mut self, bytes: u64) -> (u64, bool) {
        let State::Length(left) = self.state else { return (0, false) };
        let (taken, whole) = (bytes.min(left), bytes >= left);
        self.state = if whole { State::Done } else { State::Length(left - taken) };
        (taken, whole)
    }

    /// Whether any byte of this answer has come.
    pub fn begun(&self) -> bool {
        self.begun
    }

    /// Whether the server may end this answer by closing now (RFC 9112, 6.3 rule 8).
    pub fn may_close(&self) -> bool {
        matches!(self.state, State::UntilClose | State::Done)
    }

    /// How much memory it has for the part of a line or block that came with earlier reads, in bytes.
    pub fn kept(&self) -> usize {
        self.spare.capacity()
    }

    /// Takes bytes off the front of `input` and says what they mean; `None`: all taken, more are needed (or the answer is over).
    #[inline]
    pub fn next<'e, 'i: 'e>(
        &'e mut self,
        template: &mut Template,
        input: &mut &'i [u8],
    ) -> Result<Option<Event<'e>>, Malformed> {
        if self.spent {
            self.spent = false;
            self.spare.clear();
        }
        if self.state == State::Head {
            return self.head(template, input);
        }
        self.body(input)
    }

    fn head<'e, 'i: 'e>(
        &'e mut self,
        template: &mut Template,
        input: &mut &'i [u8],
    ) -> Result<Option<Event<'e>>, Malformed> {
        loop {
            if let (Some(head), true) = (&template.head, self.spare.is_empty() && input.starts_with(&template.raw)) {
                let head = head.clone();
                let (raw, rest) = input.split_at(template.raw.len());
                (*input, self.begun) = (rest, true);
                self.weigh(raw.len())?;
                self.frame(&head);
                return Ok(Some(Event::Head(head, raw)));
            }
            if self.spare.is_empty() {
                skip_empty_lines(input);
            }
            if input.is_empty() {
                return Ok(None);
            }
            self.begun = true;
            let Some(raw) = self.block(input)? else { return Ok(None) };
            let head = head::parse(raw.of(&self.spare))?;
            // RFC 9110, 15.2: any number of interim answers may come first. 101 was not asked for, so it cannot be followed.
            if head.status == 101 {
                return Err(Malformed("101 Switching Protocols, which was not asked for"));
            }
            if head.status < 200 {
                self.spare.clear();
                continue;
            }
            self.frame(&head);
            self.spent = matches!(raw, Raw::Spare);
            if let Raw::Input(raw) = raw {
                template.raw.clear();
                template.raw.extend_from_slice(raw);
                template.head = Some(head.clone());
            }
            return Ok(Some(Event::Head(head, raw.of(&self.spare))));
        }
    }

    /// A header block, once it is whole.
    fn block<'i>(&mut self, input: &mut &'i [u8]) -> Result<Option<Raw<'i>>, Malformed> {
        let all = *input;
        let room = HEAD_LIMIT - self.weight as usize;
        if self.spare.is_empty() {
            begins_like_http(all)?;
            if let Some(end) = head::end(all, 0) {
                self.weigh(end)?;
                *input = &all[end..];
                return Ok(Some(Raw::Input(&all[..end])));
            }
        }
        // The empty line may straddle the reads: look again from three bytes before the new ones.
        let from = self.spare.len().saturating_sub(3);
        let had = self.spare.len();
        let take = all.len().min(room.saturating_sub(had) + 1);
        self.spare.extend_from_slice(&all[..take]);
        begins_like_http(&self.spare)?;
        let Some(end) = head::end(&self.spare, from) else {
            *input = &all[take..];
            return if self.spare.len() > room { Err(TOO_LONG) } else { Ok(None) };
        };
        self.spare.truncate(end);
        self.weigh(end)?;
        *input = &all[end - had..];
        Ok(Some(Raw::Spare))
    }

    fn weigh(&mut self, bytes: usize) -> Result<(), Malformed> {
        self.weight += bytes.min(HEAD_LIMIT + 1) as u32;
        if self.weight as usize > HEAD_LIMIT { Err(TOO_LONG) } else { Ok(()) }
    }

    /// RFC 9112, 6.3: method and status first, then the headers.
    fn frame(&mut self, head: &Head) {
        self.state = match head.framing {
            _ if self.to_head || matches!(head.status, 204 | 304) => State::Done,
            Framing::Length(length) => State::Length(length),
            Framing::Chunked => State::ChunkLine,
            Framing::Close => State::UntilClose,
        };
        if self.state == State::Done {
            self.state = State::Length(0);
        }
    }

    fn body<'e, 'i: 'e>(&'e mut self, input: &mut &'i [u8]) -> Result<Option<Event<'e>>, Malformed> {
        loop {
            match self.state {
                State::Length(0) => {
                    self.state = State::Done;
                    return Ok(Some(Event::End));
                }
                State::Chunk(0) => self.state = State::ChunkEnd,
                State::Done => return Ok(None),
                _ if input.is_empty() => return Ok(None),
                State::Head => return Ok(None),
                State::Length(left) => {
                    let part = take(input, left);
                    self.state = State::Length(left - part.len() as u64);
                    return Ok(Some(Event::Body(part)));
                }
                State::Chunk(left) => {
                    let part = take(input, left);
                    self.state = State::Chunk(left - part.len() as u64);
                    return Ok(Some(Event::Body(part)));
                }
                State::UntilClose => return Ok(Some(Event::Body(take(input, u64::MAX)))),
                State::ChunkLine | State::ChunkEnd | State::Trailer { .. } => {
                    if !self.framing_line(input)? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Reads one line between the bytes of a chunked body (RFC 9112, 7.1); false when it is not whole yet.
    ///
    /// Here CRLF is required: leniency about the ends of chunk lines is how answers have been split.
    fn framing_line(&mut self, input: &mut &[u8]) -> Result<bool, Malformed> {
        let limit = match self.state {
            State::ChunkEnd => 2,
            State::ChunkLine => CHUNK_LINE_LIMIT,
            _ => HEAD_LIMIT - self.weight as usize,
        };
        let all = *input;
        let newline = memchr(b'\n', all);
        let length = newline.map_or(all.len(), |at| at + 1);
        if self.spare.len() + length > limit {
            return Err(Malformed("a chunk line or trailer that does not end where it must"));
        }
        *input = &all[length..];
        let whole = newline.is_some();
        if self.spare.is_empty() && whole {
            self.framing(&all[..length])?;
        } else {
            self.spare.extend_from_slice(&all[..length]);
            if whole {
                let line = std::mem::take(&mut self.spare);
                self.framing(&line)?;
            }
        }
        Ok(whole)
    }

    fn framing(&mut self, line: &[u8]) -> Result<(), Malformed> {
        let line =
            line.strip_suffix(b"\r\n").ok_or(Malformed("a line of a chunked body that does not end with CRLF"))?;
        self.state = match self.state {
            State::ChunkLine => match chunk_size(line)? {
                0 => State::Trailer { any: false },
                size => State::Chunk(size),
            },
            State::ChunkEnd if !line.is_empty() => return Err(Malformed("a chunk longer than its size")),
            State::ChunkEnd => State::ChunkLine,
            _ if line.is_empty() => State::Length(0),
            _ => {
                self.weigh(line.len() + 2)?;
                let folded = self.state == (State::Trailer { any: true }) && matches!(line[0], b' ' | b'\t');
                let name = memchr(b':', line).map_or(&b""[..], |colon| &line[..colon]);
                if !folded && (name.is_empty() || !name.iter().copied().all(super::is_token)) {
                    return Err(Malformed("a trailer that is not a header"));
                }
                if memchr(0, line).is_some() || memchr(b'\r', line).is_some() {
                    return Err(Malformed("a NUL or a bare CR in a trailer"));
                }
                State::Trailer { any: true }
            }
        };
        Ok(())
    }
}

/// Where a header block lies.
#[derive(Clone, Copy)]
enum Raw<'i> {
    Input(&'i [u8]),
    Spare,
}

impl<'i> Raw<'i> {
    fn of<'e>(self, spare: &'e [u8]) -> &'e [u8]
    where
        'i: 'e,
    {
        match self {
            Raw::Input(raw) => raw,
            Raw::Spare => spare,
        }
    }
}

const TOO_LONG: Malformed = Malformed("more than 64 KiB of headers in one answer");

/// Garbage is refused at its first bytes, not only when a line end happens to come.
fn begins_like_http(bytes: &[u8]) -> Result<(), Malformed> {
    let start = b"HTTP/1.";
    let n = bytes.len().min(start.len());
    if bytes[..n] == start[..n] {
        Ok(())
    } else {
        Err(Malformed("the answer does not begin with an HTTP/1 status line"))
    }
}

/// RFC 9112, 9.2 with 2.2: empty lines between messages may be discarded; some servers end a body with one too many.
fn skip_empty_lines(input: &mut &[u8]) {
    while let [b'\r' | b'\n', rest @ ..] = *input {
        *input = rest;
    }
}

fn take<'i>(input: &mut &'i [u8], most: u64) -> &'i [u8] {
    let n = usize::try_from(most).unwrap_or(usize::MAX).min(input.len());
    let (part, rest) = input.split_at(n);
    *input = rest;
    part
}

/// RFC 9112, 7.1: hexadecimal digits, then nothing, white space, or extensions, which mean nothing here.
fn chunk_size(line: &[u8]) -> Result<u64, Malformed> {
    let wrong = Malformed("a chunk size that is not one");
    let digits = line.iter().take_while(|b| b.is_ascii_hexdigit()).count();
    let value = |d: &u8| u64::from((*d as char).to_digit(16).unwrap_or(0));
    let add = |n: u64, d: &u8| n.checked_mul(16).map(|n| n + value(d));
    let size = line[..digits].iter().try_fold(0, add).filter(|_| digits > 0).ok_or(wrong)?;
    match super::trim(&line[digits..]) {
        [] => Ok(size),
        [b';', rest @ ..] if memchr(b'\r', rest).is_none() => Ok(size),
        _ => Err(wrong),
    }
}

#[cfg(test)]
mod tests;
