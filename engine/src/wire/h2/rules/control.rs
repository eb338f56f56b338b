//! Frames that carry no part of an answer: settings, windows, and how streams and connections end.

use super::{Rules, Step};
use crate::wire::h2::frame::Head;
use crate::wire::h2::streams::Found;
use crate::wire::h2::table::DEFAULT_SIZE;
use crate::wire::h2::write::{self, setting};
use crate::wire::h2::{Breach, Code, FRAME_LIMIT, WINDOW_LIMIT, flag};

impl Rules {
    /// RFC 9113, 6.5.
    pub(super) fn settings(&mut self, head: &Head, content: &[u8]) -> Result<Step, Breach> {
        let right = if head.has(flag::ACK) { content.is_empty() } else { content.len().is_multiple_of(6) };
        if !right {
            return Err(Breach::new(Code::FrameSize, "a SETTINGS frame of an impossible length"));
        }
        if head.has(flag::ACK) {
            return Ok(Step::Nothing);
        }
        for each in content.chunks_exact(6) {
            let (identifier, value) = (u16::from_be_bytes([each[0], each[1]]), number(&each[2..]));
            self.set(identifier, value)?;
        }
        write::settings_ack(&mut self.out);
        Ok(if std::mem::replace(&mut self.ready, true) { Step::Room } else { Step::Ready })
    }

    fn set(&mut self, identifier: u16, value: u32) -> Result<(), Breach> {
        match identifier {
            // RFC 7541, 4.2: a table that is made smaller has to be acknowledged in the next block.
            setting::HEADER_TABLE_SIZE if value < DEFAULT_SIZE as u32 => self.drop_table = true,
            setting::MAX_CONCURRENT_STREAMS => self.allowed = value as usize,
            setting::ENABLE_PUSH if value != 0 => {
                return Err(Breach::protocol("a server that sets ENABLE_PUSH"));
            }
            setting::INITIAL_WINDOW_SIZE => {
                let window = i64::from(value);
                if window > WINDOW_LIMIT {
                    return Err(Breach::new(Code::FlowControl, "an INITIAL_WINDOW_SIZE beyond 2^31 - 1"));
                }
                // RFC 9113, 6.9.2: it moves the windows of the streams that are open, too.
                let more = window - self.their_window;
                self.streams.all().try_for_each(|(_, stream)| stream.outbound.grow(more))?;
                self.their_window = window;
            }
            setting::MAX_FRAME_SIZE => {
                if !(FRAME_LIMIT as u32..1 << 24).contains(&value) {
                    return Err(Breach::protocol("a MAX_FRAME_SIZE that cannot be"));
                }
                self.frame_limit = value as usize;
            }
            _ => {}
        }
        Ok(())
    }

    /// RFC 9113, 6.9.
    pub(super) fn window_update(&mut self, head: &Head, content: &[u8]) -> Result<Step, Breach> {
        let more = i64::from(four(content)? & 0x7fff_ffff);
        let zero = Breach::protocol("a WINDOW_UPDATE by nothing");
        if head.stream == 0 {
            if more == 0 {
                return Err(zero);
            }
            return self.outbound.grow(more).map(|()| Step::Room);
        }
        match self.streams.find(head.stream) {
            Found::Idle => Err(Breach::protocol("a WINDOW_UPDATE on a stream that was never opened")),
            Found::GivenUp | Found::Closed => Ok(Step::Nothing),
            Found::Open(slot) if more == 0 => Ok(self.broken(slot, zero.code, zero.why)),
            Found::Open(slot) => match self.streams.at(slot).outbound.grow(more) {
                Ok(()) => Ok(Step::Room),
                Err(breach) => Ok(self.broken(slot, breach.code, breach.why)),
            },
        }
    }

    /// RFC 9113, 6.7.
    pub(super) fn ping(&mut self, head: &Head, content: &[u8]) -> Result<Step, Breach> {
        let wrong = Breach::new(Code::FrameSize, "a PING that is not 8 bytes long");
        let content: &[u8; 8] = content.try_into().map_err(|_| wrong)?;
        if !head.has(flag::ACK) {
            write::pong(&mut self.out, content);
        }
        Ok(Step::Nothing)
    }

    /// RFC 9113, 6.4.
    pub(super) fn reset(&mut self, head: &Head, content: &[u8]) -> Result<Step, Breach> {
        let code = four(content)?;
        match self.streams.find(head.stream) {
            Found::Idle => Err(Breach::protocol("a RST_STREAM on a stream that was never opened")),
            Found::GivenUp | Found::Closed => Ok(Step::Nothing),
            Found::Open(slot) => {
                self.streams.end(slot);
                Ok(Step::Reset { slot, code })
            }
        }
    }

    /// RFC 9113, 6.8.
    pub(super) fn goaway(&mut self, content: &[u8]) -> Result<Step, Breach> {
        let last = content.get(..8).ok_or(Breach::new(Code::FrameSize, "a GOAWAY shorter than 8 bytes"))?;
        let last = number(last) & 0x7fff_ffff;
        self.leaving = true;
        self.unworked_above = Some(self.unworked_above.map_or(last, |before| before.min(last)));
        Ok(Step::Leaving)
    }

    /// RFC 9113, 5.3.2 and 6.3: read over, but it has a length.
    pub(super) fn priority(&mut self, head: &Head, content: &[u8]) -> Result<Step, Breach> {
        match self.streams.find(head.stream) {
            Found::Open(slot) if content.len() != 5 => {
                Ok(self.broken(slot, Code::FrameSize, "a PRIORITY frame that is not 5 bytes long"))
            }
            _ => Ok(Step::Nothing),
        }
    }
}

fn four(content: &[u8]) -> Result<u32, Breach> {
    let wrong = Breach::new(Code::FrameSize, "a RST_STREAM or WINDOW_UPDATE that is not 4 bytes long");
    if content.len() == 4 { Ok(number(content)) } else { Err(wrong) }
}

/// The number in the first four bytes.
fn number(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}
