//! Servers that do harm by what they do to their sockets: reset, half-close, never read, drop everybody at once.

use crate::theatre::{Said, Server};
use crate::watched::{MEMORY_KIB, closed, every, impatient, open, watch};
use rustix::net::sockopt;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};
use std::io::Read;
use std::net::{Shutdown, TcpListener};
use std::thread;
use std::time::Duration;

/// What the server does on a connection, drawn from its number alone.
fn fate(connection: usize) -> usize {
    let mixed = (connection as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 60) as usize % 4
}

#[test]
fn resets_at_random_are_counted_each() {
    let server = Server::start(|mut peer| {
        peer.request();
        let answer = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello";
        match fate(peer.number) {
            0 => peer.reset(),
            1 => {
                peer.say(&answer[..20]);
                peer.reset();
            }
            2 => {
                peer.say(&answer[..answer.len() - 1]);
                peer.reset();
            }
            _ => {
                peer.say(answer);
                peer.hang();
            }
        }
    });
    // One connection at a time, so that each number belongs to one request.
    let mut order = closed(&server, 200);
    order["pace"]["connections"] = 1.into();
    let watched = watch(&order);
    let right = (0..200).filter(|n| fate(*n) == 3).count() as u64;
    assert!((20..180).contains(&right), "{right}");
    assert_eq!((200, right, 200 - right), told(&watched.said, "reset"));
    // Many at a time: the sum holds, and nothing is called otherwise.
    let watched = watch(&open(&server, 60));
    let (offered, ok, resets) = told(&watched.said, "reset");
    assert_eq!((60, 60), (offered, ok + resets));
}

fn told(said: &Said, kind: &str) -> (u64, u64, u64) {
    (said.count("offered"), said.count("ok"), said.errors(kind))
}

#[test]
fn a_server_that_ends_its_side_and_goes_on_reading_is_truncated() {
    for begin in ["", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"] {
        let server = Server::start(move |mut peer| {
            if !begin.is_empty() {
                peer.request();
            }
            peer.say(begin);
            peer.shut(Shutdown::Write);
            peer.hang();
        });
        every(&server, "truncated", |_| {});
    }
}

#[test]
fn a_server_that_ends_its_reading_side_is_a_timeout_until_it_answers() {
    let server = Server::start(|mut peer| {
        peer.shut(Shutdown::Read);
        peer.keep();
    });
    every(&server, "timeout", impatient);
}

/// A listener whose connections have hardly any room for what they do not read: the window is soon zero.
fn narrow() -> TcpListener {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    sockopt::set_socket_recv_buffer_size(&listener, 4096).unwrap();
    listener
}

/// A request larger than the buffers of both sockets.
fn large(order: &mut Value) {
    order["requests"] =
        json!([{"name": "large", "method": "POST", "path": "/", "body_base64": "QUFB".repeat(7 << 18)}]);
}

#[test]
fn a_server_that_never_reads_is_a_timeout() {
    let server = Server::on(narrow(), |peer| peer.keep());
    every(&server, "timeout", |o| {
        impatient(o);
        large(o);
    });
}

#[test]
fn an_answer_is_read_although_the_request_was_cut_off() {
    // The server does not read on, says why, and closes: what it has not read makes that a reset.
    let server = Server::on(narrow(), |mut peer| {
        peer.head();
        peer.say("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n");
    });
    every(&server, "wrong-status", large);
}

#[test]
fn thousands_of_connections_dropped_at_once_are_each_a_reset() {
    let n = as_many_as_files_allow(10_000);
    println!("{n} connections");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    rustix::net::listen(&listener, 4096).unwrap();
    let address = listener.local_addr().unwrap();
    let dropper = thread::spawn(move || {
        let all: Vec<_> = (0..n).map(|_| listener.accept().unwrap().0).collect();
        for mut stream in &all {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            sockopt::set_socket_linger(stream, Some(Duration::ZERO)).unwrap();
        }
    });
    let mut order = Server::start(|_| {}).order();
    (order["target"]["port"], order["pace"]["connections"]) = (address.port().into(), n.into());
    (order["count"], order["slice_ns"]) = (n.into(), 20_000_000.into());
    let watched = watch(&order);
    dropper.join().unwrap();
    let said = &watched.said;
    assert_eq!(
        (0, n as u64, n as u64),
        (said.exit, said.errors("reset"), said.count("connections_opened")),
        "{}",
        said.last()
    );
    let peak_kib = watched.peak_kib.expect("a line that was read before thousands of connections had ended");
    assert!(peak_kib < MEMORY_KIB, "{peak_kib} KiB");
}

/// So many connections, or what this process may have beside its other tests; the engine, a process of its own, has as many.
fn as_many_as_files_allow(wanted: usize) -> usize {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum }).unwrap();
    limit.maximum.map_or(wanted, |most| wanted.min((most as usize).saturating_sub(1000).max(most as usize / 2)))
}
