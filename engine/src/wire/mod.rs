//! HTTP without I/O: bytes in, events out; a request in, bytes out.
//!
//! No socket, no clock and no allocation per message, so that every rule of RFC 9110 and RFC 9112 that the engine keeps can be
//! tested from a byte string, in any split of it.

pub mod encode;
pub mod h1;
pub mod h2;
pub mod head;
pub mod template;

/// Whether `b` may stand in a token, such as a method or a header name (RFC 9110, 5.6.2).
pub fn is_token(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b)
}

/// Without the white space around it, which is spaces and tabs alone (RFC 9110, 5.6.3). Readers that take form feeds and their like
/// for white space see another length, or another coding, than those that do not.
pub fn trim(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

/// The answer is not HTTP, or is framed in a way that RFC 9112 forbids. Says why, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);
