//! HTTP without I/O: bytes in, events out; a request in, bytes out.
//!
//! No socket, no clock and no allocation per message, so that every rule of RFC 9110 and RFC 9112 that the engine keeps can be
//! tested from a byte string, in any split of it.

pub mod encode;
pub mod h1;
pub mod h2;
pub mod head;

/// Whether `b` may stand in a token, such as a method or a header name (RFC 9110, 5.6.2).
pub fn is_token(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b)
}

/// The answer is not HTTP, or is framed in a way that RFC 9112 forbids. Says why, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);
