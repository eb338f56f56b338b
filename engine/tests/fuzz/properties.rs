//! Answers made up from a seed: what was put in comes out, and what RFC 9112 forbids is refused, however it is mixed with the rest.

use crate::checks::answers::{Read, Rest, read};
use crate::checks::draw::Draw;
use webdyno_engine::wire::h1::{Framing, Template};

const CASES: u64 = 3_000;
/// Headers that frame nothing.
const HARMLESS: &[&str] =
    &["Server: x", "X:", "Date: \t now ", "Content-Type: text/plain", "Set-Cookie: a=b; c", "X: a\r\n b"];

/// What may stand before a value (RFC 9112, 5.1 and 5.2).
const SPACES: &[&str] = &["", " ", "\t ", "\r\n ", " \r\n \r\n\t"];

/// An answer, and what it must come to.
struct Made {
    bytes: Vec<u8>,
    status: u16,
    framing: Framing,
    body: Vec<u8>,
}

fn make(draw: &mut Draw) -> Made {
    let mut bytes = Vec::new();
    for _ in 0..draw.below(3) {
        bytes.extend_from_slice(
            draw.pick(&["HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 E\r\nLink: a\r\n\r\n"]).as_bytes(),
        );
    }
    let status = *draw.pick(&[200, 201, 301, 404, 500, 999]);
    let body: Vec<u8> = (0..draw.below(200)).map(|_| draw.below(256) as u8).collect();
    let framing = *draw.pick(&[Framing::Length(body.len() as u64), Framing::Chunked, Framing::Close]);
    let mut headers: Vec<String> = (0..draw.below(4)).map(|_| draw.pick(HARMLESS).to_string()).collect();
    let at = draw.below(headers.len() + 1);
    match framing {
        Framing::Length(length) => headers
            .insert(at, format!("{}:{}{length}", draw.pick(&["Content-Length", "content-length"]), draw.pick(SPACES))),
        Framing::Chunked => {
            let codings = draw.pick(&["chunked", " Chunked", "gzip, chunked", "gzip,\r\n\tchunked", ",, chunked ,"]);
            headers.insert(at, format!("Transfer-Encoding:{}{codings}", draw.pick(SPACES)))
        }
        Framing::Close => {}
    }
    bytes.extend_from_slice(format!("HTTP/1.1 {status} X\r\n").as_bytes());
    headers.iter().for_each(|h| bytes.extend_from_slice(format!("{h}\r\n").as_bytes()));
    bytes.extend_from_slice(b"\r\n");
    if framing == Framing::Chunked {
        chunk(&body, &mut bytes, draw)
    } else {
        bytes.extend_from_slice(&body)
    }
    Made { bytes, status, framing, body }
}

/// RFC 9112, 7.1, with extensions and trailers.
fn chunk(body: &[u8], bytes: &mut Vec<u8>, draw: &mut Draw) {
    let mut left = body;
    while !left.is_empty() {
        let (part, rest) = left.split_at(1 + draw.below(left.len()));
        let zeros = "0".repeat(draw.below(4));
        let size =
            if draw.below(2) == 0 { format!("{zeros}{:x}", part.len()) } else { format!("{zeros}{:X}", part.len()) };
        let extension = draw.pick(&["", ";a", ";a=b", " ;a=\"b;c\"", " "]);
        bytes.extend_from_slice(format!("{size}{extension}\r\n").as_bytes());
        bytes.extend_from_slice(part);
        bytes.extend_from_slice(b"\r\n");
        left = rest;
    }
    bytes.extend_from_slice(draw.pick(&["0\r\n\r\n", "000;x\r\n\r\n", "0\r\nA: b\r\n c\r\nC:\r\n\r\n"]).as_bytes());
}

fn whole(bytes: &[u8]) -> Read {
    read(&[bytes], false, &mut Template::default())
}

#[test]
fn what_was_encoded_is_read_back_in_any_split() {
    for seed in 0..CASES {
        let draw = &mut Draw::new(seed);
        let made = make(draw);
        let got = whole(&made.bytes);
        let answer = got.answers.first().unwrap_or_else(|| panic!("seed {seed}: nothing was read"));
        assert_eq!(
            (made.status, made.framing, &made.body),
            (answer.head.status, answer.head.framing, &answer.body),
            "seed {seed}"
        );
        let close = made.framing == Framing::Close;
        assert_eq!((1, !close), (got.answers.len(), answer.complete), "seed {seed}");
        assert_eq!(if close { Rest::MayClose } else { Rest::More }, got.rest, "seed {seed}");
        let at = draw.below(made.bytes.len() + 1);
        let (a, b) = made.bytes.split_at(at);
        assert_eq!(got, read(&[a, b], false, &mut Template::default()), "seed {seed} split at {at}");
        let bytes: Vec<&[u8]> = made.bytes.chunks(1).collect();
        assert_eq!(got, read(&bytes, false, &mut Template::default()), "seed {seed} byte by byte");
    }
}

/// Header lines of which each makes any answer faulty (RFC 9112, 2.2, 5.1, 5.2, 6.1 to 6.3; RFC 9110, 5.5 and 8.6).
const FAULTY: &[&str] = &[
    "Content-Length: 5\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: chunked\r\nContent-Length: 5",
    "Content-Length: 5\r\nX: y\r\nContent-Length: 6",
    "Content-Length: 5, 6",
    "Content-Length: 5,",
    "Content-Length: +5",
    "Content-Length: -5",
    "Content-Length: 0x5",
    "Content-Length: 5 5",
    "Content-Length: 5\x0b",
    "Content-Length: \x0c5",
    "Content-Length: five",
    "Content-Length:",
    "Content-Length: 18446744073709551616",
    "Content-Length : 5",
    "Content-Length\t: 5",
    "Content-Length: 1\r\n 0",
    "Transfer-Encoding: gzip\r\n chunked",
    "Transfer-Encoding: chunked, gzip",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip",
    "Transfer-Encoding: chunked, chunked",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: chunked;q=1",
    "Transfer-Encoding: \x0bchunked",
    "Transfer-Encoding: \"chunked\"",
    "Transfer-Encoding: gzip chunked",
    "Transfer-Encoding: , ,",
    "Transfer-Encoding:",
    "X: a\rContent-Length: 5",
    "X: a\r\r",
    "X: a\0b",
    "X: a\r\n b\0c",
    "X",
    ": x",
    "X y: z",
    "X\u{e4}: y",
    "(X): y",
];

#[test]
fn every_faulty_header_is_refused_wherever_it_stands() {
    for fault in FAULTY {
        for seed in 0..50 {
            let draw = &mut Draw::new(seed);
            let mut headers: Vec<&str> = (0..draw.below(4)).map(|_| *draw.pick(HARMLESS)).collect();
            headers.insert(draw.below(headers.len() + 1), fault);
            let bytes = format!("HTTP/1.1 200 OK\r\n{}\r\n\r\n5\r\nhello\r\n0\r\n\r\n", headers.join("\r\n"));
            let got = whole(bytes.as_bytes());
            assert_eq!((0, Rest::Malformed), (got.answers.len(), got.rest), "{bytes:?}");
        }
    }
}

/// First lines that are none (RFC 9112, 4; HTTP/0.9 has none at all), and a fold where no header is before.
const FIRST_LINES: &[&str] = &[
    "<html>",
    "HTTP/2.0 200 OK",
    "HTTP/2 200",
    "HTTP/0.9 200 OK",
    "HTTP/1.10 200 OK",
    "HTTP/1,1 200 OK",
    "http/1.1 200 OK",
    " HTTP/1.1 200 OK",
    "HTTP/1.1  200 OK",
    "HTTP/1.1\t200 OK",
    "HTTP/1.1 +20 OK",
    "HTTP/1.1 20 OK",
    "HTTP/1.1 2000 OK",
    "HTTP/1.1 099 OK",
    "HTTP/1.1 200OK",
    "HTTP/1.1 2\x300\0 OK",
    "HTTP/1.1 200 O\rK",
    "HTTP/1.1 200 OK\r\n X: y",
    "ICY 200 OK",
    "HTTP/1.1 101 Switching Protocols",
];

#[test]
fn every_faulty_first_line_is_refused() {
    for line in FIRST_LINES {
        let got = whole(format!("{line}\r\nContent-Length: 0\r\n\r\n").as_bytes());
        assert_eq!((0, Rest::Malformed), (got.answers.len(), got.rest), "{line:?}");
    }
    let got = whole(b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    assert_eq!((0, Rest::Malformed), (got.answers.len(), got.rest), "chunked in HTTP/1.0");
}

/// Chunked bodies that RFC 9112, 7.1 does not know, after one chunk that is right.
const CHUNKS: &[&str] = &[
    "-5\r\nhello\r\n",
    "+5\r\nhello\r\n",
    "0x5\r\nhello\r\n",
    "10000000000000005\r\nhello\r\n",
    "\r\nhello\r\n",
    " 5\r\nhello\r\n",
    "5 5\r\nhello\r\n",
    "5\nhello\r\n",
    "5\r\nhello\n",
    "5\r\nhello5\r\nhello\r\n",
    "5\r\nhello \r\n",
    "4\r\nhello\r\n",
    "5\r\r\nhello\r\n",
    "5\x0c\r\nhello\r\n",
    "5;a\rb\r\nhello\r\n",
    "5;a\nhello\r\n",
    "g\r\n",
    "0\r\nX\r\n\r\n",
    "0\r\n: x\r\n\r\n",
    "0\r\nX : y\r\n\r\n",
    "0\r\nX: y\n\r\n",
    "0\r\n X: y\r\n\r\n",
    "0\r\nX: a\rb\r\n\r\n",
    "0\r\nX: a\0b\r\n\r\n",
    "0\n\r\n",
    "0\r\n\n",
];

#[test]
fn every_faulty_chunk_is_refused() {
    for chunk in CHUNKS {
        let got = whole(format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n{chunk}").as_bytes());
        assert_eq!(Rest::Malformed, got.rest, "{chunk:?}");
        assert!(!got.answers[0].complete, "{chunk:?}");
    }
}

/// Found by comparing with the model: the bytes of a header block that was known already were not counted.
#[test]
fn a_known_header_block_counts_towards_the_limit_too() {
    let (long, interim) = ("y".repeat(40_000), "HTTP/1.1 102 P\r\n\r\n");
    let answer = format!("HTTP/1.1 200 OK\r\nX: {long}\r\nContent-Length: 0\r\n\r\n");
    let mut template = Template::default();
    assert_eq!(Rest::More, read(&[answer.as_bytes()], false, &mut template).rest);
    let late = format!("{}{answer}", interim.repeat(2_000));
    assert_eq!(Rest::Malformed, whole(late.as_bytes()).rest);
    assert_eq!(Rest::Malformed, read(&[late.as_bytes()], false, &mut template).rest);
}
