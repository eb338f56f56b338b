//! Flow control (RFC 9113, 5.2 and 6.9): how many bytes of bodies one side may still send.

use super::{Breach, Code, WINDOW_LIMIT};

/// What we let the server send, on each stream and on the connection. Every byte is read at once, so a window guards nothing here; this one is so
/// large that telling the server about more room costs a frame in half a gigabyte.
pub const OURS: i64 = 1 << 30;

/// What the server may still send.
#[derive(Clone, Copy, Debug)]
pub struct Inbound(pub i64);

impl Default for Inbound {
    fn default() -> Self {
        Inbound(OURS)
    }
}

impl Inbound {
    /// A DATA frame of this length has come. Says how much room to announce, when it is time.
    #[inline]
    pub fn take(&mut self, length: u32) -> Result<Option<u32>, Breach> {
        self.0 -= i64::from(length);
        if self.0 < 0 {
            return Err(Breach::new(Code::FlowControl, "more bytes than the flow-control window allows"));
        }
        if self.0 >= OURS / 2 {
            return Ok(None);
        }
        let more = OURS - self.0;
        self.0 = OURS;
        Ok(Some(more as u32))
    }
}

/// What we may still send; less than nothing after the server has made windows smaller.
#[derive(Clone, Copy, Debug)]
pub struct Outbound(pub i64);

impl Outbound {
    /// Bytes that may go now.
    #[inline]
    pub fn room(&self) -> usize {
        self.0.max(0) as usize
    }

    /// So many went.
    #[inline]
    pub fn spend(&mut self, bytes: usize) {
        self.0 -= bytes as i64;
    }

    /// The server allows `more`, or less. RFC 9113, 6.9.1: beyond 2^31 - 1 it has lost count.
    pub fn grow(&mut self, more: i64) -> Result<(), Breach> {
        self.0 += more;
        if self.0 > WINDOW_LIMIT {
            return Err(Breach::new(Code::FlowControl, "a flow-control window beyond 2^31 - 1"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_announced_when_half_is_used_and_not_before() {
        let mut window = Inbound::default();
        assert_eq!(Ok(None), window.take((OURS / 2) as u32));
        assert_eq!(Ok(Some((OURS / 2 + 1) as u32)), window.take(1));
        assert_eq!(Ok(None), window.take((OURS / 2) as u32));
    }

    #[test]
    fn more_than_the_window_is_a_breach() {
        let mut window = Inbound(5);
        assert_eq!(Code::FlowControl, window.take(6).unwrap_err().code);
        let mut out = Outbound(WINDOW_LIMIT - 1);
        assert_eq!(Ok(()), out.grow(1));
        assert_eq!(Code::FlowControl, out.grow(1).unwrap_err().code);
        let mut out = Outbound(10);
        out.grow(-20).unwrap();
        assert_eq!(0, out.room());
    }
}
