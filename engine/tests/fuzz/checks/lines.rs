//! One check of the engine's standard input on one string of bytes: an order, and the lines after it.

use std::io::{Write, pipe};
use std::os::fd::AsFd;
use webdyno_engine::error::Blame;
use webdyno_engine::{Heard, Input, Order};

/// What a pipe holds at least.
const MOST: usize = 4096;

/// The order is the first line or all there is; every line after it is heard once, whole and in its place.
pub fn check(bytes: &[u8]) {
    let bytes = &bytes[..bytes.len().min(MOST)];
    let ((source, mut all), (alarm, _ring), (_out, sink)) = (pipe().unwrap(), pipe().unwrap(), pipe().unwrap());
    all.write_all(bytes).unwrap();
    drop(all);
    let mut input = Input::new(source);
    let order = input.order();
    let whole = std::str::from_utf8(bytes).ok().map(Order::parse);
    match &order {
        Err(fault) => assert!(fault.blame == Blame::Order && !fault.message.is_empty()),
        Ok(order) if !order.turns => {
            assert_eq!(Some(Ok(order)), whole.as_ref().map(Result::as_ref), "an order is all of the input");
        }
        Ok(_) => {}
    }
    let turns = order.is_ok_and(|order| order.turns);
    let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').skip(1).collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    for line in lines.into_iter().filter(|_| turns) {
        match input.next(alarm.as_fd(), sink.as_fd()) {
            Ok(Heard::Line(heard)) => assert_eq!(line, heard.as_bytes()),
            Ok(other) => panic!("{other:?} in place of {line:?}"),
            Err(_) => assert!(std::str::from_utf8(line).is_err(), "refused: {line:?}"),
        }
    }
    if turns {
        assert_eq!(Ok(Heard::End), input.next(alarm.as_fd(), sink.as_fd()));
    }
}
