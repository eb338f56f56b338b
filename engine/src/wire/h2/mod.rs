//! HTTP/2 without I/O (RFC 9113 and RFC 7541): the client's side of one connection.
//!
//! [`frame`] cuts the server's bytes into frames, in whatever split they come; [`hpack`] with its [`table`] and [`huffman`] code reads
//! header blocks; [`answer`] holds what a block means, and knows again what it has read before; [`session`] keeps the rules of the connection and of
//! its streams (with [`streams`] and [`window`]) and says what happened to which of them; [`write`](mod@write) makes what we send. Everything that we send goes into a
//! buffer of the session's, so that all frames of a moment can leave in one system call.
//!
//! Left out, because nothing here would use it: server push (forbidden by our SETTINGS, so that a PUSH_PROMISE is an error),
//! priorities (read over, as RFC 9113, 5.3 asks), the HPACK encoder's dynamic table (a request is prepared once and copied).

pub mod answer;
pub mod encode;
pub mod frame;
pub mod hpack;
pub mod huffman;
pub(crate) mod rules;
pub mod session;
pub mod streams;
pub mod table;
pub mod window;
pub mod write;

/// What goes wrong, as the protocol numbers it (RFC 9113, 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// All is well: the connection ends in order.
    No = 0x0,
    /// Against the rules in a way that has no number of its own.
    Protocol = 0x1,
    /// More bytes than were allowed.
    FlowControl = 0x3,
    /// A frame on a stream that is closed.
    StreamClosed = 0x5,
    /// A frame of a length that its type cannot have.
    FrameSize = 0x6,
    /// The stream was not worked on: it may be sent again.
    Refused = 0x7,
    /// No longer needed.
    Cancel = 0x8,
    /// A header block that cannot be read.
    Compression = 0x9,
    /// More of something than makes sense.
    Calm = 0xb,
}

/// The number that ended a stream, as RFC 9113, 7 names it.
pub fn code_name(code: u32) -> &'static str {
    const NAMES: [&str; 14] = [
        "NO_ERROR",
        "PROTOCOL_ERROR",
        "INTERNAL_ERROR",
        "FLOW_CONTROL_ERROR",
        "SETTINGS_TIMEOUT",
        "STREAM_CLOSED",
        "FRAME_SIZE_ERROR",
        "REFUSED_STREAM",
        "CANCEL",
        "COMPRESSION_ERROR",
        "CONNECT_ERROR",
        "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY",
        "HTTP_1_1_REQUIRED",
    ];
    NAMES.get(code as usize).copied().unwrap_or("a number that HTTP/2 does not know")
}

/// The server broke a rule: what we tell it, and what we tell people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breach {
    /// For RST_STREAM or GOAWAY.
    pub code: Code,
    /// For people; ends a sentence.
    pub why: &'static str,
}

impl Breach {
    const fn new(code: Code, why: &'static str) -> Breach {
        Breach { code, why }
    }

    const fn protocol(why: &'static str) -> Breach {
        Breach::new(Code::Protocol, why)
    }
}

/// Types of frames (RFC 9113, 6).
pub mod kind {
    /// Bytes of a body.
    pub const DATA: u8 = 0x0;
    /// Begins a header block.
    pub const HEADERS: u8 = 0x1;
    /// Deprecated.
    pub const PRIORITY: u8 = 0x2;
    /// Ends one stream at once.
    pub const RST_STREAM: u8 = 0x3;
    /// What the sender allows.
    pub const SETTINGS: u8 = 0x4;
    /// Announces an answer that nobody asked for.
    pub const PUSH_PROMISE: u8 = 0x5;
    /// To be sent back.
    pub const PING: u8 = 0x6;
    /// No more streams on this connection.
    pub const GOAWAY: u8 = 0x7;
    /// Room for more bytes.
    pub const WINDOW_UPDATE: u8 = 0x8;
    /// Goes on with a header block.
    pub const CONTINUATION: u8 = 0x9;
}

/// Flags of frames (RFC 9113, 6).
pub mod flag {
    /// The last frame of a stream.
    pub const END_STREAM: u8 = 0x1;
    /// An answer to SETTINGS or PING.
    pub const ACK: u8 = 0x1;
    /// The last frame of a header block.
    pub const END_HEADERS: u8 = 0x4;
    /// Padding follows the content, and its length comes first.
    pub const PADDED: u8 = 0x8;
    /// Five bytes of priority come before a header block.
    pub const PRIORITY: u8 = 0x20;
}

/// Bytes before the content of each frame (RFC 9113, 4.1).
pub const FRAME_HEAD: usize = 9;
/// The longest content of a frame that everybody must take, and the longest that we take (RFC 9113, 4.2).
pub const FRAME_LIMIT: usize = 16_384;
/// The largest window there can be (RFC 9113, 6.9.1).
pub const WINDOW_LIMIT: i64 = (1 << 31) - 1;
/// The window of everything nobody has spoken about yet (RFC 9113, 6.9.2).
pub const WINDOW_DEFAULT: i64 = 65_535;
/// The largest number of a stream (RFC 9113, 5.1.1).
pub const STREAM_LIMIT: u32 = (1 << 31) - 1;
