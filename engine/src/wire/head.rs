//! A whole header block of an answer: what it says about status, framing and the connection.
//!
//! Only the headers that frame the message are interpreted; the others are checked for being headers at all. Line ends: a
//! bare LF is taken for CRLF, as RFC 9112, 2.2 allows a recipient to do; a bare CR is refused, as the same section requires.

use super::{Malformed, is_token, trim};
use memchr::memchr;
use std::ops::Range;

/// How the end of the body is found, by the headers alone (RFC 9112, 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// So many bytes.
    Length(u64),
    /// In chunks.
    Chunked,
    /// Until the server closes.
    Close,
}

/// What a header block says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// 100 to 999.
    pub status: u16,
    /// The answer speaks HTTP/1.0.
    pub http10: bool,
    /// By the headers alone; the request's method and the status come on top.
    pub framing: Framing,
    /// The server keeps the connection after this answer.
    pub keep_alive: bool,
    /// Where in the block the value of Content-Type is.
    pub content_type: Option<Range<usize>>,
}

/// One past the empty line that ends the block, when it is there; `from` is where to begin to look.
pub fn end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(found) = memchr(b'\n', &bytes[at..]) {
        at += found + 1;
        match &bytes[at..] {
            [b'\n', ..] => return Some(at + 1),
            [b'\r', b'\n', ..] => return Some(at + 2),
            _ => {}
        }
    }
    None
}

/// Interprets a block that ends with its empty line.
pub fn parse(block: &[u8]) -> Result<Head, Malformed> {
    // RFC 9110, 5.5: dangerous wherever it stands, in the reason phrase and in folded lines too.
    if memchr(0, block).is_some() {
        return Err(Malformed("a NUL in a header"));
    }
    let (line, mut at) = line(block, 0)?;
    let (http10, status) = status_line(line)?;
    let mut seen = Seen::default();
    loop {
        let (line, next) = self::line(block, at)?;
        if line.is_empty() {
            return seen.into_head(http10, status);
        }
        if goes_on(block, next) {
            let (whole, end, next) = unfolded(block, at)?;
            seen.header(&whole, block, at..end)?;
            at = next;
            continue;
        }
        seen.header(line, block, at..at + line.len())?;
        at = next;
    }
}

/// Whether the line at `at` goes on with the value of the one before it.
#[inline]
fn goes_on(block: &[u8], at: usize) -> bool {
    matches!(block.get(at), Some(b' ' | b'\t'))
}

/// The header at `at`, which is folded over several lines, as one: each fold is a space (RFC 9112, 5.2). With where its last line
/// ends, and where the next header begins.
#[cold]
fn unfolded(block: &[u8], at: usize) -> Result<(Vec<u8>, usize, usize), Malformed> {
    let (line, mut next) = self::line(block, at)?;
    let (mut whole, mut end) = (line.to_vec(), at + line.len());
    while goes_on(block, next) {
        let (more, after) = self::line(block, next)?;
        whole.push(b' ');
        whole.extend_from_slice(trim(more));
        (end, next) = (next + more.len(), after);
    }
    Ok((whole, end, next))
}

/// The part of `range` without the white space around it, of which the ends of folded lines are a part.
fn without_space(block: &[u8], mut range: Range<usize>) -> Range<usize> {
    let shown = |at: &usize| !matches!(block[*at], b' ' | b'\t' | b'\r' | b'\n');
    let start = range.clone().find(shown).unwrap_or(range.end);
    start..range.rfind(shown).map_or(start, |last| last + 1)
}

/// The line that begins at `at`, without its end, and where the next begins.
fn line(block: &[u8], at: usize) -> Result<(&[u8], usize), Malformed> {
    let length = memchr(b'\n', &block[at..]).ok_or(Malformed("the header block has no end"))?;
    let line = &block[at..at + length];
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if memchr(b'\r', line).is_some() {
        return Err(Malformed("a bare CR in the header block"));
    }
    Ok((line, at + length + 1))
}

/// RFC 9112, 4. The reason phrase, and the space before it, may be missing: many servers leave them out.
fn status_line(line: &[u8]) -> Result<(bool, u16), Malformed> {
    let wrong = Malformed("the answer does not begin with an HTTP/1 status line");
    let rest = line.strip_prefix(b"HTTP/1.").ok_or(wrong)?;
    let [minor @ b'0'..=b'9', b' ', a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9', reason @ ..] = rest else {
        return Err(wrong);
    };
    if !matches!(reason, [] | [b' ', ..]) {
        return Err(wrong);
    }
    let digit = |d: &u8| u16::from(d - b'0');
    Ok((*minor == b'0', digit(a) * 100 + digit(b) * 10 + digit(c)))
}

/// What the headers read so far say.
#[derive(Default)]
struct Seen {
    length: Option<u64>,
    transfer_encoding: bool,
    /// It names a coding.
    coded: bool,
    chunked: bool,
    close: bool,
    keep_alive: bool,
    content_type: Option<Range<usize>>,
}

impl Seen {
    /// One header, which is on one line; `raw` is where it stands in the block.
    #[inline]
    fn header(&mut self, line: &[u8], block: &[u8], raw: Range<usize>) -> Result<(), Malformed> {
        if matches!(line[0], b' ' | b'\t') {
            return Err(Malformed("a folded line where none may be"));
        }
        let colon = memchr(b':', line).ok_or(Malformed("a header without a colon"))?;
        let (name, value) = (&line[..colon], &line[colon + 1..]);
        // RFC 9112, 5.1: no white space between name and colon; differences in reading it were used for smuggling.
        if name.is_empty() || !name.iter().copied().all(is_token) {
            return Err(Malformed("a header name that is not a token"));
        }
        let trimmed = trim(value);
        match name.len() {
            10 if name.eq_ignore_ascii_case(b"connection") => self.connection(trimmed),
            12 if name.eq_ignore_ascii_case(b"content-type") => {
                self.content_type = Some(without_space(block, raw.start + colon + 1..raw.end));
            }
            14 if name.eq_ignore_ascii_case(b"content-length") => self.content_length(trimmed)?,
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => self.transfer_encoding(trimmed)?,
            _ => {}
        }
        Ok(())
    }

    /// RFC 9110, 7.6.1: a list of options, case-insensitive; options other than these two mean nothing here.
    fn connection(&mut self, value: &[u8]) {
        for option in value.split(|b| *b == b',').map(trim) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    /// RFC 9110, 8.6: digits only; the same number several times is that number, different ones are an error. It is no list by its
    /// grammar, so an empty place in it is an error too.
    fn content_length(&mut self, value: &[u8]) -> Result<(), Malformed> {
        for item in value.split(|b| *b == b',').map(trim) {
            if item.is_empty() || !item.iter().all(u8::is_ascii_digit) {
                return Err(Malformed("a Content-Length that is not a number"));
            }
            let add = |n: u64, d: &u8| n.checked_mul(10)?.checked_add(u64::from(d - b'0'));
            let length = item.iter().try_fold(0, add).ok_or(Malformed("a Content-Length beyond 64 bits"))?;
            if self.length.is_some_and(|before| before != length) {
                return Err(Malformed("two Content-Lengths that differ"));
            }
            self.length = Some(length);
        }
        Ok(())
    }

    /// RFC 9112, 6.1: chunked at most once, and last; 7.1: it has no parameters, and where it has, that should be an error. RFC 9110,
    /// 5.6.1: empty elements of a list are ignored.
    fn transfer_encoding(&mut self, value: &[u8]) -> Result<(), Malformed> {
        self.transfer_encoding = true;
        for coding in value.split(|b| *b == b',').map(trim).filter(|coding| !coding.is_empty()) {
            if self.chunked {
                return Err(Malformed("a Transfer-Encoding in which chunked is not last"));
            }
            let name = coding.split(|b| *b == b';').next().map(trim).unwrap_or_default();
            self.coded = true;
            self.chunked = name.eq_ignore_ascii_case(b"chunked");
            if name.is_empty() || !name.iter().copied().all(is_token) || (self.chunked && name.len() < coding.len()) {
                return Err(Malformed("a Transfer-Encoding with a coding that is not one"));
            }
        }
        Ok(())
    }

    fn into_head(self, http10: bool, status: u16) -> Result<Head, Malformed> {
        let framing = match (self.transfer_encoding, self.length) {
            // RFC 9112, 6.3 rule 3: "ought to be handled as an error", being how answers are split.
            (true, Some(_)) => return Err(Malformed("both Transfer-Encoding and Content-Length")),
            // RFC 9112, 6.1: the framing of an HTTP/1.0 message with Transfer-Encoding is faulty.
            (true, None) if http10 => return Err(Malformed("Transfer-Encoding in HTTP/1.0")),
            (true, None) if !self.coded => return Err(Malformed("a Transfer-Encoding without a coding")),
            (true, None) if self.chunked => Framing::Chunked,
            (false, Some(length)) => Framing::Length(length),
            (_, None) => Framing::Close,
        };
        // RFC 9112, 9.3: HTTP/1.1 keeps unless it says close; HTTP/1.0 closes unless it says keep-alive; close wins over both.
        let keep_alive = !self.close && (!http10 || self.keep_alive);
        Ok(Head { status, http10, framing, keep_alive, content_type: self.content_type })
    }
}
