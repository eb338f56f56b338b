//! Servers whose answers do harm: without an end, without sense, too early, too slow. Whatever they send, every request that came due
//! is offered and booked as what it was, and the engine stays small.

use crate::theatre::{HELLO, Server, begin};
use crate::watched::{every, impatient, open, watch, watch_begun};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::thread;
use std::time::Duration;

const OK: &str = "HTTP/1.1 200 OK\r\n";
const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

/// A server that, once asked, says `first` and then `again` without end.
fn endless(first: &'static str, again: &'static str) -> Server {
    Server::start(move |mut peer| {
        peer.request();
        peer.say(first);
        peer.flood(again);
    })
}

#[test]
fn headers_without_end_are_malformed() {
    every(&endless(OK, "X: y\r\n"), "malformed", |_| {});
    every(&endless("HTTP/1.1 200 OK\r\nX: ", "y"), "malformed", |_| {});
}

#[test]
fn interim_answers_without_end_are_malformed() {
    every(&endless("", "HTTP/1.1 102 Processing\r\n\r\n"), "malformed", |_| {});
}

#[test]
fn a_chunk_extension_or_trailers_without_end_are_malformed() {
    every(&endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=", "y"), "malformed", |_| {});
    every(&endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X: y\r\n"), "malformed", |_| {});
}

#[test]
fn bodies_without_end_are_timeouts() {
    every(&endless(CHUNKED, "1\r\nx\r\n"), "timeout", impatient);
    every(&endless("HTTP/1.1 200 OK\r\n\r\n", "x"), "timeout", |o| {
        impatient(o);
        o["requests"][0]["expect"] = json!({"body_contains": "needle", "body_sha256": "0".repeat(64)});
    });
}

#[test]
fn empty_lines_without_end_are_timeouts() {
    every(&endless("", "\r\n"), "timeout", impatient);
}

#[test]
fn a_body_without_end_does_not_keep_a_signal_from_ending_the_run() {
    let server = endless(CHUNKED, "1\r\nx\r\n");
    let mut order = open(&server, 1);
    (order["count"], order["duration_ns"]) = (Value::Null, 3_600_000_000_000_u64.into());
    (order["timeout_ns"], order["slice_ns"]) = (3_600_000_000_000_u64.into(), 50_000_000.into());
    order["pace"]["max_connections"] = 8.into();
    let child = begin(&order.to_string());
    let pid = Pid::from_child(&child);
    // Once: a second signal would end it at once.
    let said = watch_begun(child, |line| {
        if line["event"] == "slice" && line["index"] == 0 {
            let _ = kill_process(pid, Signal::TERM);
        }
    })
    .said;
    assert_eq!((130, "interrupted"), (said.exit, said.text("ended")));
}

#[test]
fn lengths_that_are_none_are_malformed() {
    let server = Server::start(|mut peer| {
        let lengths = ["-1", "+1", "0x10", "1 2", "\x0c1", "18446744073709551616", "1, 2", ""];
        peer.request();
        peer.say(format!("{OK}Content-Length: {}\r\n\r\nx", lengths[peer.number % lengths.len()]));
        peer.hang();
    });
    every(&server, "malformed", |_| {});
    let server = Server::start(|mut peer| {
        let sizes = ["-1", "+1", "0x1", "10000000000000001", "", " 1", "1\r", "1\x0c"];
        peer.request();
        peer.say(format!("{CHUNKED}{}\r\nx\r\n0\r\n\r\n", sizes[peer.number % sizes.len()]));
        peer.hang();
    });
    every(&server, "malformed", |_| {});
}

#[test]
fn a_giant_length_takes_no_memory_and_is_a_timeout_or_truncated() {
    let giant = "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n";
    let server = Server::start(move |mut peer| {
        peer.request();
        peer.say(giant);
        peer.hang();
    });
    every(&server, "timeout", impatient);
    let server = Server::start(move |mut peer| {
        peer.request();
        peer.say(giant);
    });
    every(&server, "truncated", |_| {});
}

#[test]
fn garbage_is_malformed() {
    let server = Server::start(|mut peer| {
        peer.request();
        peer.say(
            b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x48\xcd\xc9\xc9\x07\x00\x86\xa6\x10\x36\x05\x00\x00\x00",
        );
        peer.hang();
    });
    every(&server, "malformed", |_| {});
}

#[test]
fn one_byte_now_and_then_does_not_put_the_timeout_off() {
    let server = Server::start(|mut peer| {
        peer.request();
        for byte in [OK, &"X: y\r\n".repeat(1000)].concat().bytes() {
            if !peer.says([byte]) {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
    });
    every(&server, "timeout", impatient);
}

/// No reader can tell such an answer from one that came at once, but on an idle connection the bytes have nobody to go to.
#[test]
fn an_answer_before_its_request_is_taken_on_a_fresh_connection_and_spoils_an_idle_one() {
    let server = Server::start(|mut peer| {
        peer.say("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello");
        peer.hang();
    });
    every(&server, "ok", |_| {});
}

#[test]
fn two_answers_to_one_request_are_one_and_the_connection_is_replaced() {
    let server = Server::start(|mut peer| peer.always(&HELLO.repeat(2)));
    let watched = watch(&open(&server, 60));
    assert_eq!((60, 60), (watched.said.count("offered"), watched.said.count("ok")));
    assert!(watched.said.count("connections_opened") >= 60, "{}", watched.said.last());
}
