//! Spoils a corpus: small edits, most of which leave the structure alone, so that they reach beyond the first line.

use crate::checks::draw::Draw;

/// What has meaning to a reader of answers or orders, and what nearly has.
const WORDS: &[&str] = &[
    "\r\n",
    "\n",
    "\r",
    "\r\n\r\n",
    "\0",
    " ",
    "\t",
    "\x0b",
    "\x0c",
    ":",
    ";",
    ",",
    "-",
    "+",
    "0x",
    "0",
    "1",
    "5",
    "a",
    "F",
    "HTTP/1.1 200 OK\r\n",
    "HTTP/1.0 ",
    "HTTP/1.1 100 Continue\r\n\r\n",
    "HTTP/1.1 204 N\r\n",
    " 304 ",
    "Content-Length: 5\r\n",
    "Content-Length: ",
    "Transfer-Encoding: chunked\r\n",
    "Transfer-Encoding: ",
    "chunked",
    "gzip, ",
    "Connection: close\r\n",
    "Connection: ",
    "keep-alive",
    "Content-Type: text/plain\r\n",
    "5\r\nhello\r\n",
    "0\r\n\r\n",
    ";x=y",
    ";x=\"",
    "A: b\r\n",
    "18446744073709551615",
    "18446744073709551616",
    "ffffffffffffffff",
    "10000000000000000",
    "\u{e4}",
    "{",
    "}",
    "[",
    "]",
    "null",
    "true",
    "\"",
    "-1",
    "1e400",
    "0.5",
    "\"count\": 5,",
    "\"schema\": 3,",
    "\"open\"",
    "\\u0000",
];

/// The same for frames of HTTP/2 and for header blocks in them.
const BINARY: &[&str] = &[
    "\0\0\0\x04\0\0\0\0\0",
    "\0\0\0\x04\x01\0\0\0\0",
    "\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x01",
    "\0\0\x06\x04\0\0\0\0\0\0\x04\0\0\0\x05",
    "\0\0\x04\x08\0\0\0\0\0\0\0\0\x01",
    "\0\0\x04\x03\0\0\0\0\x01\0\0\0\x07",
    "\0\0\x08\x07\0\0\0\0\0\0\0\0\x01\0\0\0\0",
    "\0\0\x05\0\x01\0\0\0\x01hello",
    "\0\0\x05\0\x08\0\0\0\x03\x02he\0\0",
    "\0\0\x05\x01\x05\0\0\0\x01\x08\x03200",
    "\0\0\x05\x01\x04\0\0\0\x03\x08\x03103",
    "\0\0\0\x09\x04\0\0\0\x01",
    "\x08\x03304",
    "\x0f\x0d\x015",
    "\x40\x01a\x01b",
    "\x3f\x04",
    "\x3f\u{e1}\x1f",
    "\x20",
    "\x7f\0",
    "\u{7ff}",
    "\0",
    "\x01",
    "\x05",
];

/// The words of a target.
pub fn words(target: &str) -> &'static [&'static str] {
    if matches!(target, "frames" | "hpack") { BINARY } else { WORDS }
}

/// One or more edits to one of the `files`.
pub fn mutant(files: &[&[u8]], words: &[&str], draw: &mut Draw) -> Vec<u8> {
    let mut bytes = draw.pick(files).to_vec();
    for _ in 0..1 + draw.below(4) {
        edit(&mut bytes, files, words, draw);
    }
    bytes
}

fn edit(bytes: &mut Vec<u8>, files: &[&[u8]], words: &[&str], draw: &mut Draw) {
    let at = draw.below(bytes.len() + 1);
    let to = at + draw.below((bytes.len() - at).min(40) + 1);
    match draw.below(8) {
        0 if at < bytes.len() => bytes[at] = draw.below(256) as u8,
        1 if at < bytes.len() => bytes[at] ^= 1 << draw.below(8),
        2 => drop(bytes.drain(at..to)),
        3 => {
            let again = bytes[at..to].to_vec();
            bytes.splice(at..at, again);
        }
        4 => {
            let other = draw.pick(files);
            let from = draw.below(other.len() + 1);
            bytes.splice(at.., other[from..].iter().copied());
        }
        5 => bytes.truncate(at),
        6 => drop(bytes.splice(at..to, draw.pick(words).bytes())),
        _ => drop(bytes.splice(at..at, draw.pick(words).bytes())),
    }
}
