//! A request as header frames. Done once per request of the order, before the load; afterwards only the stream's number changes.
//!
//! Fields are static table entries or literals that the server is not to index, so that the same bytes mean the same on every stream of
//! every connection. Texts are Huffman coded where that is shorter, as clients do.

use super::table::STATIC;
use super::{FRAME_HEAD, flag, huffman, write};
use crate::order::{Order, Request};
use crate::wire::encode;

/// What a request may not carry in HTTP/2 (RFC 9113, 8.2.2), in lower case.
pub const FORBIDDEN: [&str; 5] = ["connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade"];

/// `request` as it is kept: its header frames, of stream 0, for [`write::renumbered`], and then the bare bytes of its body, which
/// become frames as flow control allows. [`parts`] finds the border.
pub fn encode(request: &Request, order: &Order, secure: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let body = request.body.as_deref().unwrap_or_default();
    write::headers(&mut out, &block(request, order, secure), body.is_empty());
    out.extend_from_slice(body);
    out
}

/// Header frames and body of what [`encode`] made, and whether the method is HEAD.
#[inline]
pub fn parts(encoded: &[u8]) -> (&[u8], &[u8], bool) {
    let (mut at, mut last) = (0, false);
    while !last {
        let Some(head) = encoded.get(at..at + FRAME_HEAD) else { break };
        last = head[4] & flag::END_HEADERS != 0;
        at += FRAME_HEAD + u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
    }
    let (frames, body) = encoded.split_at(at.min(encoded.len()));
    (frames, body, frames.get(FRAME_HEAD..).is_some_and(|block| block.starts_with(HEAD)))
}

/// How every request begins whose method is HEAD: a literal with the name of static entry 2, `:method`.
const HEAD: &[u8] = b"\x02\x04HEAD";

fn block(request: &Request, order: &Order, secure: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let named = |name: &str| request.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name));
    let host = named("host").map_or_else(|| encode::host(order), |(_, value)| value.clone());
    field(&mut out, ":method", &request.method);
    field(&mut out, ":scheme", if secure { "https" } else { "http" });
    // RFC 9113, 8.3.1: it takes the place of Host.
    field(&mut out, ":authority", &host);
    field(&mut out, ":path", &request.path);
    for (name, value) in &request.headers {
        // RFC 9113, 8.2: names are in lower case; 8.2.1: values have no white space around them.
        let name = name.to_ascii_lowercase();
        if name != "host" {
            field(&mut out, &name, value.trim_matches([' ', '\t']));
        }
    }
    if let Some(length) = encode::content_length(request) {
        field(&mut out, "content-length", &length.to_string());
    }
    out
}

/// RFC 7541, 6: an entry of the static table as a whole, or its name, or neither.
pub fn field(out: &mut Vec<u8>, name: &str, value: &str) {
    let at = |found: usize| found + 1;
    if let Some(whole) = STATIC.iter().position(|entry| *entry == (name, value)) {
        return integer(out, 0x80, 7, at(whole));
    }
    // RFC 7541, 7.1.3: what nobody on the way may ever index, either.
    let secret = matches!(name, "authorization" | "cookie" | "proxy-authorization");
    let pattern = if secret { 0x10 } else { 0 };
    match STATIC.iter().position(|entry| entry.0 == name) {
        Some(found) => integer(out, pattern, 4, at(found)),
        None => {
            integer(out, pattern, 4, 0);
            text(out, name.as_bytes());
        }
    }
    text(out, value.as_bytes());
}

/// RFC 7541, 5.2.
fn text(out: &mut Vec<u8>, text: &[u8]) {
    let coded = huffman::coded_length(text);
    if coded < text.len() {
        integer(out, 0x80, 7, coded);
        huffman::encode(text, out);
    } else {
        integer(out, 0, 7, text.len());
        out.extend_from_slice(text);
    }
}

/// RFC 7541, 5.1.
fn integer(out: &mut Vec<u8>, pattern: u8, prefix: u32, number: usize) {
    let most = (1 << prefix) - 1;
    if number < most {
        return out.push(pattern | number as u8);
    }
    out.push(pattern | most as u8);
    let mut rest = number - most;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::super::hpack::Decoder;
    use super::*;

    fn fields(block: &[u8]) -> Vec<(String, String)> {
        let (mut decoder, mut all) = (Decoder::default(), Vec::new());
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let each = |name: &[u8], value: &[u8]| {
            all.push((text(name), text(value)));
            Ok(())
        };
        decoder.decode(block, each).unwrap();
        assert_eq!(0, decoder.generation(), "a request must not touch the table");
        all
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        let long = "x".repeat(20_000);
        let odd: String = (1..127_u8).map(char::from).collect();
        let rows = [(":method", "GET"), (":path", "/a?b=c"), ("x-own", "1"), ("cookie", &long), ("odd", &odd)];
        let mut block = Vec::new();
        rows.iter().for_each(|(name, value)| field(&mut block, name, value));
        let expected: Vec<_> = rows.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        assert_eq!(expected, fields(&block));
    }

    #[test]
    fn what_was_put_together_is_found_apart() {
        for length in [0, 1, 20_000, 40_000] {
            for (method, body) in [("GET", ""), ("HEAD", ""), ("HEADER", "x"), ("POST", "some body")] {
                let (mut block, mut encoded) = (Vec::new(), Vec::new());
                field(&mut block, ":method", method);
                field(&mut block, "long", &"X".repeat(length));
                write::headers(&mut encoded, &block, body.is_empty());
                let frames = encoded.clone();
                encoded.extend_from_slice(body.as_bytes());
                assert_eq!((frames.as_slice(), body.as_bytes(), method == "HEAD"), parts(&encoded));
            }
        }
    }

    #[test]
    fn host_becomes_authority_and_names_become_lower_case() {
        let order = serde_json::json!({
            "schema": 3, "target": {"host": "::1", "port": 8080},
            "requests": [{"name": "r", "method": "POST", "path": "/p", "headers": [["Accept", " */* "]]},
                         {"name": "s", "method": "GET", "path": "/", "headers": [["HOST", "a.example"]]}],
            "pace": {"kind": "closed", "connections": 1}, "count": 1, "warmup_ns": 0, "timeout_ns": 1_000_000_000,
            "connect_timeout_ns": 1_000_000_000, "keep_alive": true, "http": "1.1", "threads": 1, "cpus": [], "slice_ns": 1_000_000_000
        });
        let order = Order::parse(&order.to_string()).unwrap();
        let texts = |at: usize, secure| {
            let block = block(&order.requests[at], &order, secure);
            fields(&block).into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
        };
        let first = ":method=POST :scheme=http :authority=[::1]:8080 :path=/p accept=*/* content-length=0";
        assert_eq!(first, texts(0, false));
        assert_eq!(":method=GET :scheme=https :authority=a.example :path=/", texts(1, true));
    }
}
