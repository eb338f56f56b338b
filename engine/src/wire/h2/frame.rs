//! The incremental reader of frames (RFC 9113, 4): bytes in any split go in, the same frames come out.
//!
//! A pull parser like that of HTTP/1: [`Reader::next`] takes bytes off the front of its input. Bodies pass through as they come; any other
//! frame is given out whole, and kept only while it straddles two reads. Padding is taken off here.

use super::{Breach, Code, FRAME_HEAD, FRAME_LIMIT, flag, kind};

/// The fixed part before each frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Bytes that follow.
    pub length: u32,
    /// As in [`kind`].
    pub kind: u8,
    /// As in [`flag`].
    pub flags: u8,
    /// 0: the connection.
    pub stream: u32,
}

impl Head {
    /// Whether `flag` is set.
    #[inline]
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    #[inline]
    fn parse(bytes: &[u8; FRAME_HEAD]) -> Head {
        let [a, b, c, kind, flags, stream @ ..] = *bytes;
        let length = u32::from_be_bytes([0, a, b, c]);
        // RFC 9113, 4.1: the first bit is reserved, and ignored.
        Head { length, kind, flags, stream: u32::from_be_bytes(stream) & 0x7fff_ffff }
    }
}

/// What the bytes said.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'p, 'i> {
    /// A frame other than DATA, with its content, without padding.
    Whole(Head, &'p [u8]),
    /// A part of a DATA frame.
    Data {
        /// Of the frame.
        head: Head,
        /// Bytes of the body; empty where the frame has none, or its padding came alone.
        bytes: &'i [u8],
        /// Bytes of the body in the whole frame.
        whole: usize,
        /// The frame begins here.
        first: bool,
        /// Nothing of it follows.
        last: bool,
    },
}

/// A DATA frame of which not all has come.
#[derive(Clone, Copy, Debug)]
struct Open {
    head: Head,
    /// Bytes of the body in all.
    whole: usize,
    /// Bytes of the body, and of padding, that are missing.
    body: usize,
    padding: usize,
    first: bool,
}

/// Cuts the bytes of one connection into frames.
#[derive(Debug, Default)]
pub struct Reader {
    open: Option<Open>,
    /// The part of a frame that came with earlier reads.
    spare: Vec<u8>,
    /// What was given out borrows from `spare`; it is cleared at the next call.
    spent: bool,
    /// The first frame has been seen.
    begun: bool,
}

impl Reader {
    /// Takes bytes off the front of `input` and says what they are; `None`: all taken, more are needed.
    #[inline]
    pub fn next<'p, 'i: 'p>(&'p mut self, input: &mut &'i [u8]) -> Result<Option<Piece<'p, 'i>>, Breach> {
        if self.spent {
            self.spent = false;
            self.spare.clear();
        }
        if let Some(open) = self.open {
            return Ok(self.more_data(open, input));
        }
        if self.spare.is_empty() {
            let all = *input;
            let Some((head, rest)) = all.split_first_chunk::<FRAME_HEAD>() else { return self.gather(input) };
            let head = self.judge(head)?;
            if head.kind == kind::DATA {
                return self.data(head, rest, input);
            }
            let Some((content, rest)) = rest.split_at_checked(head.length as usize) else { return self.gather(input) };
            *input = rest;
            return Ok(Some(Piece::Whole(head, unpadded(&head, content)?)));
        }
        self.gather(input)
    }

    /// Whether a frame of this kind begins in `input`, which is what is to be read next.
    #[inline]
    pub fn brings(&self, kind: u8, input: &[u8]) -> bool {
        let mut at = match &self.open {
            Some(open) => open.body + open.padding,
            None if self.spent || self.spare.is_empty() => 0,
            None => match self.begun_before(input) {
                Some((head, rest)) if head.kind != kind => rest,
                other => return other.is_some(),
            },
        };
        while let Some([a, b, c, found]) = input.get(at..).and_then(|rest| rest.first_chunk()) {
            if *found == kind {
                return true;
            }
            at += FRAME_HEAD + u32::from_be_bytes([0, *a, *b, *c]) as usize;
        }
        false
    }

    /// The frame that earlier reads began, once its head is there, and how much of `input` is of it.
    fn begun_before(&self, input: &[u8]) -> Option<(Head, usize)> {
        let mut bytes = [0; FRAME_HEAD];
        let had = self.spare.len();
        let both = self.spare.iter().chain(input);
        let found = bytes.iter_mut().zip(both).map(|(byte, came)| *byte = *came).count();
        let head = Head::parse(&bytes);
        (found == FRAME_HEAD).then(|| (head, FRAME_HEAD + head.length as usize - had))
    }

    /// RFC 9113, 3.4: a server begins with SETTINGS; what begins otherwise is mostly not HTTP/2 at all.
    #[inline]
    fn judge(&mut self, bytes: &[u8; FRAME_HEAD]) -> Result<Head, Breach> {
        let head = Head::parse(bytes);
        if !self.begun && (head.kind != kind::SETTINGS || head.has(flag::ACK) || head.stream != 0) {
            return Err(Breach::protocol("the server does not begin with the SETTINGS of HTTP/2"));
        }
        self.begun = true;
        if head.length as usize > FRAME_LIMIT {
            return Err(Breach::new(Code::FrameSize, "a frame longer than 16384 bytes, which nobody allowed"));
        }
        Ok(head)
    }

    /// Keeps bytes until they are a whole frame, or the first part of a DATA frame that can be passed on.
    fn gather<'p, 'i: 'p>(&'p mut self, input: &mut &'i [u8]) -> Result<Option<Piece<'p, 'i>>, Breach> {
        self.fill(FRAME_HEAD, input);
        let Some(head) = self.spare.first_chunk::<FRAME_HEAD>().copied() else { return Ok(None) };
        let head = self.judge(&head)?;
        if head.kind == kind::DATA {
            if head.has(flag::PADDED) && head.length > 0 {
                self.fill(FRAME_HEAD + 1, input);
                if self.spare.len() == FRAME_HEAD {
                    return Ok(None);
                }
            }
            let padding = self.spare.get(FRAME_HEAD).copied();
            self.spare.clear();
            let open = begin_data(head, padding)?;
            return Ok(self.more_data(open, input));
        }
        let whole = FRAME_HEAD + head.length as usize;
        self.fill(whole, input);
        if self.spare.len() < whole {
            return Ok(None);
        }
        self.spent = true;
        Ok(Some(Piece::Whole(head, unpadded(&head, &self.spare[FRAME_HEAD..])?)))
    }

    fn fill(&mut self, until: usize, input: &mut &[u8]) {
        let missing = until.saturating_sub(self.spare.len()).min(input.len());
        let (taken, rest) = input.split_at(missing);
        self.spare.extend_from_slice(taken);
        *input = rest;
    }

    /// A DATA frame whose head is in one piece.
    #[inline]
    fn data<'p, 'i: 'p>(
        &'p mut self,
        head: Head,
        rest: &'i [u8],
        input: &mut &'i [u8],
    ) -> Result<Option<Piece<'p, 'i>>, Breach> {
        if head.has(flag::PADDED) && head.length > 0 {
            let Some((padding, rest)) = rest.split_first() else { return self.gather(input) };
            *input = rest;
            let open = begin_data(head, Some(*padding))?;
            return Ok(self.more_data(open, input));
        }
        *input = rest;
        let open = begin_data(head, None)?;
        Ok(self.more_data(open, input))
    }

    /// What there is of a DATA frame; `None`: nothing new.
    #[inline]
    fn more_data<'p, 'i: 'p>(&'p mut self, mut open: Open, input: &mut &'i [u8]) -> Option<Piece<'p, 'i>> {
        if input.is_empty() && !open.first && open.body + open.padding > 0 {
            return None;
        }
        let (bytes, rest) = input.split_at(open.body.min(input.len()));
        let padding = open.padding.min(rest.len());
        *input = &rest[padding..];
        let first = open.first;
        (open.body, open.padding, open.first) = (open.body - bytes.len(), open.padding - padding, false);
        let last = open.body + open.padding == 0;
        self.open = (!last).then_some(open);
        Some(Piece::Data { head: open.head, bytes, whole: open.whole, first, last })
    }
}

/// RFC 9113, 6.1: padding that does not fit into the frame is a connection error.
#[inline]
fn begin_data(head: Head, padding: Option<u8>) -> Result<Open, Breach> {
    let length = head.length as usize;
    if !head.has(flag::PADDED) {
        return Ok(Open { head, whole: length, body: length, padding: 0, first: true });
    }
    let padding = usize::from(padding.ok_or(NO_PADDING)?);
    let body = length.checked_sub(1 + padding).ok_or(BAD_PADDING)?;
    Ok(Open { head, whole: body, body, padding, first: true })
}

const NO_PADDING: Breach = Breach::new(Code::FrameSize, "a padded frame without the length of its padding");
const BAD_PADDING: Breach = Breach::protocol("padding longer than its frame");

/// The content of a frame other than DATA, without padding.
#[inline]
fn unpadded<'c>(head: &Head, content: &'c [u8]) -> Result<&'c [u8], Breach> {
    // The bit means something only in frames that can be padded.
    if !head.has(flag::PADDED) || head.kind != kind::HEADERS {
        return Ok(content);
    }
    let (padding, content) = content.split_first().ok_or(NO_PADDING)?;
    let length = content.len().checked_sub(usize::from(*padding)).ok_or(BAD_PADDING)?;
    Ok(&content[..length])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, stream: u32, content: &[u8]) -> Vec<u8> {
        let length = (content.len() as u32).to_be_bytes();
        [&length[1..], &[kind, flags], &stream.to_be_bytes(), content].concat()
    }

    fn settings() -> Vec<u8> {
        frame(kind::SETTINGS, 0, 0, &[])
    }

    /// All frames, the parts of each DATA frame joined; the breach that ended it.
    fn read(parts: &[&[u8]]) -> (Vec<(Head, Vec<u8>)>, Option<Breach>) {
        let (mut reader, mut all) = (Reader::default(), Vec::new());
        for part in parts {
            let mut input = *part;
            loop {
                match reader.next(&mut input) {
                    Ok(Some(Piece::Whole(head, content))) => all.push((head, content.to_vec())),
                    Ok(Some(Piece::Data { head, bytes, first: true, .. })) => all.push((head, bytes.to_vec())),
                    Ok(Some(Piece::Data { bytes, .. })) => all.last_mut().unwrap().1.extend_from_slice(bytes),
                    Ok(None) => break,
                    Err(breach) => return (all, Some(breach)),
                }
            }
            assert!(input.is_empty());
        }
        (all, None)
    }

    fn sample() -> Vec<u8> {
        [
            settings(),
            frame(kind::HEADERS, flag::END_HEADERS, 1, b"block"),
            frame(kind::DATA, 0, 1, b"hello"),
            frame(kind::DATA, flag::PADDED, 1, b"\x03 world\0\0\0"),
            frame(kind::DATA, flag::PADDED, 1, b"\x02\0\0"),
            frame(kind::DATA, flag::END_STREAM, 1, b""),
            frame(kind::HEADERS, flag::PADDED | flag::END_HEADERS, 0x8000_0003, b"\x02block\0\0"),
            frame(0xbe, 0xff, 7, b"unknown"),
            frame(kind::PING, 0, 0, b"12345678"),
        ]
        .concat()
    }

    #[test]
    fn any_split_gives_the_same_frames() {
        let (bytes, whole) = (sample(), read(&[&sample()]));
        let contents: Vec<&[u8]> = whole.0.iter().map(|(_, content)| content.as_slice()).collect();
        let expected: [&[u8]; 9] = [b"", b"block", b"hello", b" world", b"", b"", b"block", b"unknown", b"12345678"];
        assert_eq!((expected.as_slice(), None, 3), (contents.as_slice(), whole.1, whole.0[6].0.stream));
        for at in 0..bytes.len() {
            assert_eq!(whole, read(&[&bytes[..at], &bytes[at..]]), "split at {at}");
            // Miri takes a thousand times as long, and sees a part of all pairs.
            for second in (at..bytes.len()).step_by(if cfg!(miri) { 17 } else { 1 }) {
                assert_eq!(whole, read(&[&bytes[..at], &bytes[at..second], &bytes[second..]]), "{at}, {second}");
            }
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(whole, read(&single));
    }

    #[test]
    fn a_frame_is_foreseen_in_the_read_that_brings_its_begin_and_in_those_after() {
        let goaway = frame(kind::GOAWAY, 0, 0, &[0; 12]);
        let (before, all) = (sample().len(), [sample(), goaway, sample()].concat());
        let end = before + FRAME_HEAD + 12;
        for at in 0..all.len() {
            let (mut reader, (mut first, second)) = (Reader::default(), all.split_at(at));
            assert_eq!(at >= before + 4, reader.brings(kind::GOAWAY, first), "the first {at} bytes");
            while reader.next(&mut first).unwrap().is_some() {}
            assert_eq!(at < end, reader.brings(kind::GOAWAY, second), "the bytes from {at} on");
            assert!(!reader.brings(0x55, second));
        }
    }

    #[test]
    fn a_data_frame_says_once_that_it_ends() {
        let bytes = sample();
        for size in 1..bytes.len() {
            let (mut reader, mut ends) = (Reader::default(), 0);
            for mut part in bytes.chunks(size) {
                while let Some(piece) = reader.next(&mut part).unwrap() {
                    ends += usize::from(matches!(piece, Piece::Data { last: true, .. }));
                }
            }
            assert_eq!(4, ends);
        }
    }

    #[test]
    fn what_cannot_be_a_frame_is_refused_in_any_split() {
        let long = [&settings()[..], &[0, 0x40, 1, kind::HEADERS, 0, 0, 0, 0, 1]].concat();
        let pad = |kind, content: &[u8]| [settings(), frame(kind, flag::PADDED, 1, content)].concat();
        let rows: [(Vec<u8>, Code, &str); 7] = [
            (b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), Code::Protocol, "does not begin with the SETTINGS"),
            (frame(kind::SETTINGS, flag::ACK, 0, &[]), Code::Protocol, "does not begin with the SETTINGS"),
            (long, Code::FrameSize, "longer than 16384"),
            (pad(kind::DATA, b"\x05abcd"), Code::Protocol, "padding longer"),
            (pad(kind::HEADERS, b"\x05abcd"), Code::Protocol, "padding longer"),
            (pad(kind::DATA, b""), Code::FrameSize, "without the length"),
            (pad(kind::HEADERS, b""), Code::FrameSize, "without the length"),
        ];
        for (bytes, code, why) in rows {
            for at in 0..bytes.len() {
                let breach = read(&[&bytes[..at], &bytes[at..]]).1.expect("a breach");
                assert!(breach.code == code && breach.why.contains(why), "{breach:?} at {at}");
            }
        }
    }
}
