//! The frames that a client sends (RFC 9113, 6), as bytes at the end of a buffer.

use super::{Code, FRAME_HEAD, FRAME_LIMIT, flag, kind};

/// What a client says first (RFC 9113, 3.4).
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Identifiers of settings (RFC 9113, 6.5.2).
pub mod setting {
    /// How large the table of the HPACK decoder may get.
    pub const HEADER_TABLE_SIZE: u16 = 0x1;
    /// Whether the server may push.
    pub const ENABLE_PUSH: u16 = 0x2;
    /// Streams under way at a time.
    pub const MAX_CONCURRENT_STREAMS: u16 = 0x3;
    /// The window that each stream begins with.
    pub const INITIAL_WINDOW_SIZE: u16 = 0x4;
    /// The longest content of a frame.
    pub const MAX_FRAME_SIZE: u16 = 0x5;
}

/// The fixed part of a frame.
#[inline]
pub fn head(out: &mut Vec<u8>, length: usize, kind: u8, flags: u8, stream: u32) {
    let [_, a, b, c] = (length as u32).to_be_bytes();
    let [s, t, u, v] = stream.to_be_bytes();
    out.extend_from_slice(&[a, b, c, kind, flags, s, t, u, v]);
}

/// What we allow.
pub fn settings(out: &mut Vec<u8>, settings: &[(u16, u32)]) {
    head(out, settings.len() * 6, kind::SETTINGS, 0, 0);
    for (identifier, value) in settings {
        out.extend_from_slice(&identifier.to_be_bytes());
        out.extend_from_slice(&value.to_be_bytes());
    }
}

/// We have seen the server's settings and keep to them from here on.
pub fn settings_ack(out: &mut Vec<u8>) {
    head(out, 0, kind::SETTINGS, flag::ACK, 0);
}

/// The answer to a PING.
pub fn pong(out: &mut Vec<u8>, content: &[u8; 8]) {
    head(out, 8, kind::PING, flag::ACK, 0);
    out.extend_from_slice(content);
}

/// Room for `more` bytes on `stream`; 0: on the connection.
pub fn window_update(out: &mut Vec<u8>, stream: u32, more: u32) {
    head(out, 4, kind::WINDOW_UPDATE, 0, stream);
    out.extend_from_slice(&more.to_be_bytes());
}

/// Ends `stream` at once.
pub fn reset(out: &mut Vec<u8>, stream: u32, code: Code) {
    head(out, 4, kind::RST_STREAM, 0, stream);
    out.extend_from_slice(&(code as u32).to_be_bytes());
}

/// The connection ends, and why. Servers open no streams here, so the last one of theirs is 0.
pub fn goaway(out: &mut Vec<u8>, code: Code) {
    head(out, 8, kind::GOAWAY, 0, 0);
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&(code as u32).to_be_bytes());
}

/// Bytes of a body.
pub fn data(out: &mut Vec<u8>, stream: u32, bytes: &[u8], end: bool) {
    head(out, bytes.len(), kind::DATA, if end { flag::END_STREAM } else { 0 }, stream);
    out.extend_from_slice(bytes);
}

/// The longest part of a header block in one frame: there is room for one byte more, see [`table_dropped`].
const BLOCK_LIMIT: usize = FRAME_LIMIT - 1;

/// A header block as HEADERS and, beyond 16 KiB, CONTINUATION frames; of stream 0, for [`renumbered`].
pub fn headers(out: &mut Vec<u8>, block: &[u8], end_stream: bool) {
    let mut kind = kind::HEADERS;
    let mut flags = if end_stream { flag::END_STREAM } else { 0 };
    let mut rest = block;
    loop {
        let (part, after) = rest.split_at(rest.len().min(BLOCK_LIMIT));
        if after.is_empty() {
            flags |= flag::END_HEADERS;
        }
        head(out, part.len(), kind, flags, 0);
        out.extend_from_slice(part);
        if after.is_empty() {
            return;
        }
        (rest, kind, flags) = (after, kind::CONTINUATION, 0);
    }
}

/// Whole header frames, made by [`headers`], with the number of their stream.
#[inline]
pub fn renumbered(out: &mut Vec<u8>, frames: &[u8], stream: u32) {
    let begin = out.len();
    out.extend_from_slice(frames);
    let mut rest = &mut out[begin..];
    while let Some((head, after)) = rest.split_first_chunk_mut::<FRAME_HEAD>() {
        head[5..].copy_from_slice(&stream.to_be_bytes());
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        rest = &mut after[length..];
    }
}

/// Tells the server, at the start of the header block whose frames begin at `at`, that our table has no room (RFC 7541, 4.2 and 6.3):
/// it is to be told when it makes its own smaller, and ours is not used.
pub fn table_dropped(out: &mut Vec<u8>, at: usize) {
    let [a, b, c] = [out[at], out[at + 1], out[at + 2]];
    let length = u32::from_be_bytes([0, a, b, c]) + 1;
    out[at..at + 3].copy_from_slice(&length.to_be_bytes()[1..]);
    out.insert(at + FRAME_HEAD, 0x20);
}

#[cfg(test)]
mod tests {
    use super::super::frame::{Piece, Reader};
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut out = Vec::new();
        settings(&mut out, &[(setting::ENABLE_PUSH, 0), (setting::INITIAL_WINDOW_SIZE, 70_000)]);
        settings_ack(&mut out);
        pong(&mut out, b"12345678");
        window_update(&mut out, 3, 9);
        reset(&mut out, 5, Code::Cancel);
        goaway(&mut out, Code::FlowControl);
        let (mut reader, mut input, mut seen) = (Reader::default(), out.as_slice(), Vec::new());
        while let Some(Piece::Whole(head, content)) = reader.next(&mut input).unwrap() {
            seen.push((head.kind, head.flags, head.stream, content.to_vec()));
        }
        let expected = vec![
            (kind::SETTINGS, 0, 0, vec![0, 2, 0, 0, 0, 0, 0, 4, 0, 1, 0x11, 0x70]),
            (kind::SETTINGS, flag::ACK, 0, vec![]),
            (kind::PING, flag::ACK, 0, b"12345678".to_vec()),
            (kind::WINDOW_UPDATE, 0, 3, vec![0, 0, 0, 9]),
            (kind::RST_STREAM, 0, 5, vec![0, 0, 0, 8]),
            (kind::GOAWAY, 0, 0, vec![0, 0, 0, 0, 0, 0, 0, 3]),
        ];
        assert_eq!(expected, seen);
    }

    #[test]
    fn a_long_header_block_goes_on_in_continuations_with_the_same_number() {
        let block: Vec<u8> = (0..FRAME_LIMIT * 2 + 5).map(|i| i as u8).collect();
        let (mut frames, mut out) = (Vec::new(), Vec::new());
        headers(&mut frames, &block, true);
        settings(&mut out, &[]);
        let begin = out.len();
        renumbered(&mut out, &frames, 77);
        table_dropped(&mut out, begin);
        let (mut reader, mut input, mut seen, mut joined) = (Reader::default(), out.as_slice(), Vec::new(), Vec::new());
        while let Some(Piece::Whole(head, content)) = reader.next(&mut input).unwrap() {
            seen.push((head.kind, head.flags, head.stream, content.len()));
            joined.extend_from_slice(content);
        }
        let expected = vec![
            (kind::SETTINGS, 0, 0, 0),
            (kind::HEADERS, flag::END_STREAM, 77, FRAME_LIMIT),
            (kind::CONTINUATION, 0, 77, FRAME_LIMIT - 1),
            (kind::CONTINUATION, flag::END_HEADERS, 77, 7),
        ];
        assert_eq!((expected, [vec![0x20], block].concat()), (seen, joined));
    }
}
