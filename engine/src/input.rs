//! Standard input: the order, and where it has turns, a command on each line after it.
//!
//! An order with turns or a watch is the first line, since commands or signs of life follow; any other is all there is to the end of the input, over as many lines
//! as it likes. Who waits for a command sleeps until there is one, or a reason to wait no more.

use crate::error::Fault;
use crate::order::Order;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use serde_json::Value;
use std::os::fd::{AsFd, BorrowedFd};

/// What one read takes.
const PIECE: usize = 64 * 1024;

/// What there is to hear after the order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// A line, without its end.
    Line(String),
    /// The input is at its end: the program that gave the order has ended, or has no more commands.
    End,
    /// A signal came, or nobody reads what we write.
    Interrupted,
}

/// An input that is read line by line.
pub struct Input<F> {
    source: F,
    /// What has been read, and not been taken.
    buffer: Vec<u8>,
    ended: bool,
}

impl<F: AsFd> Input<F> {
    /// Nothing has been read of `source`.
    pub fn new(source: F) -> Input<F> {
        Input { source, buffer: Vec::new(), ended: false }
    }

    /// The order: the first line where more lines follow it, which its turns and its watch say; else all of the input.
    pub fn order(&mut self) -> Result<Order, Fault> {
        let cannot = |why: String| Fault::order("", format!("the order cannot be read: {why}"));
        let mut looked = 0;
        while !self.ended && !self.buffer[looked..].contains(&b'\n') {
            looked = self.buffer.len();
            self.read().map_err(|e| cannot(e.to_string()))?;
        }
        let first = self.buffer.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let goes_on = |order: Value| order["turns"] == true || order["watch_ns"].is_number();
        let is_a_line = serde_json::from_slice::<Value>(first).is_ok_and(goes_on);
        while !self.ended && !is_a_line {
            self.read().map_err(|e| cannot(e.to_string()))?;
        }
        let text = if is_a_line { self.take_line() } else { std::mem::take(&mut self.buffer) };
        let order = Order::parse(&String::from_utf8(text).map_err(|e| cannot(e.to_string()))?)?;
        let goes_on =
            [("turns", order.turns), ("watch_ns", order.watch_ns.is_some())].into_iter().find(|(_, goes_on)| *goes_on);
        if let Some((key, _)) = goes_on.filter(|_| !is_a_line) {
            return Err(Fault::order(
                key,
                format!("{key} must be left out of an order of several lines: write it in one"),
            ));
        }
        Ok(order)
    }

    /// The next command. Waits until there is one; until there is something to read from `alarm`; or until the reader of `sink` has gone.
    pub fn next(&mut self, alarm: BorrowedFd<'_>, sink: BorrowedFd<'_>) -> Result<Heard, Fault> {
        let cannot = |why: String| Fault::order("", format!("the command cannot be read: {why}"));
        let mut looked = 0;
        loop {
            if self.buffer[looked..].contains(&b'\n') || self.ended && !self.buffer.is_empty() {
                let line = String::from_utf8(self.take_line());
                return line.map(Heard::Line).map_err(|e| cannot(e.to_string()));
            }
            if self.ended {
                return Ok(Heard::End);
            }
            looked = self.buffer.len();
            let source = self.source.as_fd();
            let mut all = [PollFd::from_borrowed_fd(source, PollFlags::IN), alarm_of(alarm), reader_of(sink)];
            match poll(&mut all, None) {
                Err(Errno::INTR) => continue,
                Err(errno) => return Err(cannot(errno.to_string())),
                Ok(_) => {}
            }
            if all[1..].iter().any(|fd| !fd.revents().is_empty()) {
                return Ok(Heard::Interrupted);
            }
            self.read().map_err(|e| cannot(e.to_string()))?;
        }
    }

    fn read(&mut self) -> Result<(), Errno> {
        let before = self.buffer.len();
        self.buffer.resize(before + PIECE, 0);
        let got = loop {
            match rustix::io::read(&self.source, &mut self.buffer[before..]) {
                Err(Errno::INTR) => {}
                got => break got,
            }
        };
        self.buffer.truncate(before + *got.as_ref().unwrap_or(&0));
        self.ended = got? == 0;
        Ok(())
    }

    /// The first line, or what there is of it.
    fn take_line(&mut self) -> Vec<u8> {
        let end = self.buffer.iter().position(|byte| *byte == b'\n');
        let rest = end.map_or(Vec::new(), |end| self.buffer.split_off(end + 1));
        let mut line = std::mem::replace(&mut self.buffer, rest);
        line.truncate(end.unwrap_or(line.len()));
        line
    }
}

fn alarm_of(alarm: BorrowedFd<'_>) -> PollFd<'_> {
    PollFd::from_borrowed_fd(alarm, PollFlags::IN)
}

/// Nothing is asked of it: that its reader has gone is told unasked.
fn reader_of(sink: BorrowedFd<'_>) -> PollFd<'_> {
    PollFd::from_borrowed_fd(sink, PollFlags::empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::io::Write;
    use std::io::pipe;

    fn order(turns: bool) -> Value {
        let mut order = json!({
            "schema": 4, "target": {"host": "127.0.0.1", "port": 8080}, "turns": turns,
            "requests": [{"name": "r", "method": "GET", "path": "/"}], "pace": {"kind": "closed", "connections": 2},
            "warmup_ns": 0, "timeout_ns": 1_000_000_000, "connect_timeout_ns": 1_000_000_000, "keep_alive": true,
            "http": "1.1", "threads": 2, "cpus": [], "slice_ns": 1_000_000_000
        });
        if !turns {
            order["count"] = 1.into();
        }
        order
    }

    #[test]
    fn commands_are_the_lines_after_an_order_with_turns() {
        let ((source, mut all), (alarm, _ring), (_out, sink)) = (pipe().unwrap(), pipe().unwrap(), pipe().unwrap());
        let mut input = Input::new(source);
        write!(all, "{}\n{{\"end\"", order(true)).unwrap();
        assert!(input.order().unwrap().turns);
        write!(all, ": true}}\n\nlast").unwrap();
        drop(all);
        let mut next = || input.next(alarm.as_fd(), sink.as_fd()).unwrap();
        let heard = ["{\"end\": true}", "", "last"].map(|line| Heard::Line(line.to_string()));
        assert_eq!(heard, [next(), next(), next()]);
        assert_eq!([Heard::End, Heard::End], [next(), next()]);
    }

    #[test]
    fn an_order_without_turns_is_all_of_the_input() {
        for text in [serde_json::to_string_pretty(&order(false)).unwrap(), format!("{}\n \n", order(false))] {
            let (source, mut all) = pipe().unwrap();
            all.write_all(text.as_bytes()).unwrap();
            drop(all);
            assert!(!Input::new(source).order().unwrap().turns);
        }
    }

    #[test]
    fn who_waits_for_a_command_hears_of_signals_and_of_a_reader_that_has_gone() {
        for signal in [true, false] {
            let ((source, _all), (alarm, mut ring), (out, sink)) = (pipe().unwrap(), pipe().unwrap(), pipe().unwrap());
            if signal {
                ring.write_all(b"!").unwrap();
            } else {
                drop(out);
            }
            assert_eq!(Ok(Heard::Interrupted), Input::new(source).next(alarm.as_fd(), sink.as_fd()));
        }
    }
}
