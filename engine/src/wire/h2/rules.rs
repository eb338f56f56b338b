//! The rules of a connection and of its streams: what each frame of a server means, and what it must not be (RFC 9113, 4 to 6 and 8).

mod control;

use super::answer::Answers;
use super::frame::Head;
use super::streams::{Found, Phase, Streams};
use super::window::{Inbound, Outbound};
use super::write;
use super::{Breach, Code, FRAME_HEAD, FRAME_LIMIT, WINDOW_DEFAULT, flag, kind};
use crate::wire::head::Framing;

/// Bytes of the header blocks of one answer, as they are sent.
const BLOCK_LIMIT: usize = 64 * 1024;

/// What a frame came to.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing that anyone has to know.
    Nothing,
    /// The settings of the server are there.
    Ready,
    /// A final header block, the one read last.
    Head { slot: usize, ended: bool },
    /// The bytes are of this stream's body.
    Body { slot: usize, ended: bool },
    /// The answer is complete.
    End(usize),
    /// The server gave the stream up.
    Reset { slot: usize, code: u32 },
    /// We gave the stream up, for this reason.
    Broken { slot: usize, why: &'static str },
    /// Windows or limits are not what they were.
    Room,
    /// No more streams.
    Leaving,
}

/// A header block of which more frames are to come.
#[derive(Debug)]
struct Unfinished {
    stream: u32,
    end_stream: bool,
    /// Bytes of its frames so far.
    weight: usize,
}

/// The state of one connection.
#[derive(Debug)]
pub struct Rules {
    pub out: Vec<u8>,
    pub streams: Streams,
    pub answers: Answers,
    /// Streams that the server allows at a time.
    pub allowed: usize,
    /// What each stream may send at its start.
    pub their_window: i64,
    /// What the connection may send.
    pub outbound: Outbound,
    /// The longest frame that the server takes.
    pub frame_limit: usize,
    /// The next header block has to say that our table is empty.
    pub drop_table: bool,
    pub leaving: bool,
    /// GOAWAY has come, and is yet to be read.
    pub about_to_leave: bool,
    ready: bool,
    inbound: Inbound,
    unfinished: Option<Unfinished>,
    block: Vec<u8>,
    /// Streams above this one were not worked on.
    unworked_above: Option<u32>,
}

impl Rules {
    pub fn new(slots: usize) -> Rules {
        Rules {
            out: Vec::new(),
            streams: Streams::new(slots),
            answers: Answers::default(),
            allowed: usize::MAX,
            their_window: WINDOW_DEFAULT,
            outbound: Outbound(WINDOW_DEFAULT),
            frame_limit: FRAME_LIMIT,
            drop_table: false,
            leaving: false,
            about_to_leave: false,
            ready: false,
            inbound: Inbound::default(),
            unfinished: None,
            block: Vec::new(),
            unworked_above: None,
        }
    }

    #[inline]
    pub fn is_ready(&self) -> bool {
        self.ready
    }

    /// A stream that the server, leaving, did not work on (RFC 9113, 6.8).
    #[inline]
    pub fn next_unworked(&mut self) -> Option<usize> {
        let above = self.unworked_above?;
        let found = self.streams.all().find(|(_, stream)| stream.id > above).map(|(slot, _)| slot);
        match found {
            Some(slot) => self.streams.give_up(slot),
            None => self.unworked_above = None,
        }
        found
    }

    /// Ends a stream from our side.
    pub fn give_up(&mut self, slot: usize, code: Code) {
        write::reset(&mut self.out, self.streams.at(slot).id, code);
        self.streams.give_up(slot);
    }

    fn broken(&mut self, slot: usize, code: Code, why: &'static str) -> Step {
        self.give_up(slot, code);
        Step::Broken { slot, why }
    }

    /// A whole frame other than DATA.
    #[inline]
    pub fn frame(&mut self, head: &Head, content: &[u8]) -> Result<Step, Breach> {
        if self.unfinished.is_some() && head.kind != kind::CONTINUATION {
            return Err(INTERRUPTED);
        }
        // RFC 9113, 6: each type belongs to a stream or to the connection, or (WINDOW_UPDATE) to either.
        match (head.kind, head.stream) {
            (kind::HEADERS | kind::PRIORITY | kind::RST_STREAM | kind::CONTINUATION, 0) => {
                return Err(Breach::protocol("a frame of a stream that names none"));
            }
            (kind::SETTINGS | kind::PING | kind::GOAWAY, 1..) => {
                return Err(Breach::protocol("a frame of the connection that names a stream"));
            }
            _ => {}
        }
        match head.kind {
            kind::HEADERS => self.headers(head, content),
            kind::CONTINUATION => self.continuation(head, content),
            kind::SETTINGS => self.settings(head, content),
            kind::WINDOW_UPDATE => self.window_update(head, content),
            kind::PING => self.ping(head, content),
            kind::RST_STREAM => self.reset(head, content),
            kind::GOAWAY => self.goaway(content),
            kind::PRIORITY => self.priority(head, content),
            kind::PUSH_PROMISE => Err(Breach::protocol("a PUSH_PROMISE, although push was forbidden")),
            // RFC 9113, 4.1: frames of unknown types are ignored.
            _ => Ok(Step::Nothing),
        }
    }

    fn headers(&mut self, head: &Head, content: &[u8]) -> Result<Step, Breach> {
        let skip = if head.has(flag::PRIORITY) { 5 } else { 0 };
        let block =
            content.get(skip..).ok_or(Breach::new(Code::FrameSize, "a HEADERS frame too short for its flags"))?;
        let end_stream = head.has(flag::END_STREAM);
        if head.has(flag::END_HEADERS) {
            return self.header_block(head.stream, end_stream, block);
        }
        self.block.clear();
        self.block.extend_from_slice(block);
        self.unfinished = Some(Unfinished { stream: head.stream, end_stream, weight: FRAME_HEAD + block.len() });
        Ok(Step::Nothing)
    }

    /// RFC 9113, 6.10. A block without an end would fill the memory: empty frames count too.
    fn continuation(&mut self, head: &Head, content: &[u8]) -> Result<Step, Breach> {
        let Some(mut unfinished) = self.unfinished.take().filter(|open| open.stream == head.stream) else {
            return Err(Breach::protocol("a CONTINUATION that continues nothing"));
        };
        unfinished.weight += FRAME_HEAD + content.len();
        if unfinished.weight > BLOCK_LIMIT {
            return Err(TOO_LONG);
        }
        self.block.extend_from_slice(content);
        if !head.has(flag::END_HEADERS) {
            self.unfinished = Some(unfinished);
            return Ok(Step::Nothing);
        }
        let block = std::mem::take(&mut self.block);
        let step = self.header_block(head.stream, unfinished.end_stream, &block);
        self.block = block;
        step
    }

    #[inline]
    fn header_block(&mut self, id: u32, end_stream: bool, block: &[u8]) -> Result<Step, Breach> {
        let slot = match self.streams.find(id) {
            Found::Open(slot) => slot,
            // It must be read all the same: it may change the table (RFC 9113, 4.3).
            Found::GivenUp => return self.answers.pass(block).map(|_| Step::Nothing),
            Found::Idle => return Err(Breach::protocol("an answer on a stream that was never opened")),
            Found::Closed => return Err(Breach::new(Code::StreamClosed, "an answer on a stream that has ended")),
        };
        let stream = self.streams.at(slot);
        stream.weight += block.len() as u32;
        if stream.weight as usize > BLOCK_LIMIT {
            return Err(TOO_LONG);
        }
        if stream.phase == Phase::Body {
            return self.trailers(slot, end_stream, block);
        }
        let meaning = self.answers.read(block)?;
        if let Some(why) = meaning.fault {
            return Ok(self.broken(slot, Code::Protocol, why));
        }
        let (status, framing) = (meaning.head.status, meaning.head.framing);
        if status < 200 {
            // RFC 9113, 8.1: any number of interim answers may come first.
            return Ok(match end_stream {
                true => self.broken(slot, Code::Protocol, "an interim answer that ends its stream"),
                false => Step::Nothing,
            });
        }
        stream.phase = Phase::Body;
        stream.left = match framing {
            // RFC 9110, 6.4.1: these have no content, whatever length they name.
            _ if stream.to_head || matches!(status, 204 | 304) => Some(0),
            Framing::Length(length) => Some(length),
            _ => None,
        };
        if !end_stream {
            return Ok(Step::Head { slot, ended: false });
        }
        Ok(match self.finish(slot) {
            Step::End(_) => Step::Head { slot, ended: true },
            broken => broken,
        })
    }

    fn trailers(&mut self, slot: usize, end_stream: bool, block: &[u8]) -> Result<Step, Breach> {
        let fault = self.answers.pass(block)?;
        let endless = (!end_stream).then_some("a second header block that does not end its stream");
        Ok(match fault.or(endless) {
            Some(why) => self.broken(slot, Code::Protocol, why),
            None => self.finish(slot),
        })
    }

    /// The server has said all of its answer.
    #[inline]
    fn finish(&mut self, slot: usize) -> Step {
        let stream = self.streams.at(slot);
        if stream.left.is_some_and(|left| left > 0) {
            return self.broken(slot, Code::Protocol, SHORT);
        }
        if stream.sent {
            self.streams.end(slot);
        } else {
            // RFC 9113, 8.1: an answer may come before the request has been sent, whose rest then nobody needs.
            self.give_up(slot, Code::Cancel);
        }
        Step::End(slot)
    }

    /// A part of a DATA frame with so many `bytes` of the body; the first part says how many there are in the `whole` frame.
    #[inline]
    pub fn data(&mut self, head: &Head, bytes: usize, whole: Option<usize>, last: bool) -> Result<Step, Breach> {
        if whole.is_some() {
            if self.unfinished.is_some() {
                return Err(INTERRUPTED);
            }
            if let Some(more) = self.inbound.take(head.length)? {
                write::window_update(&mut self.out, 0, more);
            }
        }
        let slot = match self.streams.find(head.stream) {
            Found::Open(slot) => slot,
            Found::GivenUp => return Ok(Step::Nothing),
            Found::Idle => return Err(Breach::protocol("a body on a stream that was never opened")),
            Found::Closed => return Err(Breach::new(Code::StreamClosed, "a body on a stream that has ended")),
        };
        let end_stream = head.has(flag::END_STREAM);
        let fault = whole.map_or(Ok(None), |whole| self.begin_data(slot, head, whole))?;
        if let Some(why) = fault {
            return Ok(self.broken(slot, Code::Protocol, why));
        }
        let ended = match end_stream && last {
            true => self.finish(slot),
            false => Step::Nothing,
        };
        Ok(match ended {
            Step::Nothing if bytes == 0 => Step::Nothing,
            Step::Nothing => Step::Body { slot, ended: false },
            Step::End(slot) if bytes > 0 => Step::Body { slot, ended: true },
            other => other,
        })
    }

    /// A DATA frame begins: whether it may be there, and be so long.
    #[inline]
    fn begin_data(&mut self, slot: usize, head: &Head, whole: usize) -> Result<Option<&'static str>, Breach> {
        let stream = self.streams.at(slot);
        let more = stream.inbound.take(head.length)?;
        if let Some(more) = more.filter(|_| !head.has(flag::END_STREAM)) {
            write::window_update(&mut self.out, head.stream, more);
        }
        if stream.phase == Phase::Head {
            return Ok(Some("a body before its header block"));
        }
        if let Some(left) = &mut stream.left {
            let Some(after) = left.checked_sub(whole as u64) else { return Ok(Some("a body longer than it may be")) };
            *left = after;
            if after > 0 && head.has(flag::END_STREAM) {
                return Ok(Some(SHORT));
            }
        }
        Ok(None)
    }
}

const SHORT: &str = "a body shorter than its Content-Length";
const INTERRUPTED: Breach = Breach::protocol("another frame within a header block");
const TOO_LONG: Breach = Breach::new(Code::Calm, "more than 64 KiB of headers in one answer");
