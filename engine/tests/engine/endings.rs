//! How a run ends other than by its order: signals, a reader that has gone, limits of the machine.

use crate::theatre::{HELLO, Server, begin, begin_as, end};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::Command;

fn endless(server: &Server) -> String {
    let mut order = server.order();
    order["count"] = Value::Null;
    order["duration_ns"] = 3_600_000_000_000_u64.into();
    order["slice_ns"] = 10_000_000.into();
    order.to_string()
}

#[test]
fn a_signal_ends_the_run_with_a_summary_and_130() {
    for signal in [Signal::INT, Signal::TERM] {
        let server = Server::start(|mut peer| peer.always(HELLO));
        let mut child = begin(&endless(&server));
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut lines = Vec::new();
        while !lines.iter().any(|l: &Value| l["event"] == "slice") {
            let mut line = String::new();
            out.read_line(&mut line).unwrap();
            lines.push(serde_json::from_str(&line).unwrap());
        }
        kill_process(Pid::from_child(&child), signal).unwrap();
        lines.extend(out.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()));
        let said = end(child, lines);
        assert_eq!((130, "interrupted"), (said.exit, said.text("ended")));
        assert!(said.count("ok") > 0);
    }
}

#[test]
fn a_reader_that_has_gone_ends_the_run() {
    let server = Server::start(|mut peer| peer.hang());
    let mut order: Value = serde_json::from_str(&endless(&server)).unwrap();
    // No line is due for an hour: the end of the reader must be seen without writing.
    order["slice_ns"] = 3_600_000_000_000_u64.into();
    let mut child = begin(&order.to_string());
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    drop(out);
    assert_eq!(Some(130), child.wait().unwrap().code());
}

#[test]
fn too_few_files_are_foreseen_with_the_command_to_raise_them() {
    let server = Server::start(|_| {});
    let mut order = server.order();
    order["pace"]["connections"] = 1000.into();
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -n 500; exec \"$0\"", env!("CARGO_BIN_EXE_webdyno-engine")]);
    let said = end(begin_as(shell, &order.to_string()), Vec::new());
    assert_eq!((3, "pace.connections"), (said.exit, said.text("key")));
    assert!(
        said.text("message").ends_with("raise it with: sudo prlimit --pid $$ --nofile=1036"),
        "{}",
        said.text("message")
    );
    assert_eq!(0, server.accepted());
}

#[test]
fn files_are_foreseen_for_all_connections_that_an_open_pace_may_come_to() {
    let server = Server::start(|_| {});
    let mut order = server.order();
    order["schema"] = 2.into();
    order["pace"] = serde_json::json!({"kind": "constant", "rate_per_s": 1, "connections": 1, "max_connections": 1000});
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -n 500; exec \"$0\"", env!("CARGO_BIN_EXE_webdyno-engine")]);
    let said = end(begin_as(shell, &order.to_string()), Vec::new());
    assert_eq!((3, "pace.max_connections"), (said.exit, said.text("key")));
}

#[test]
fn a_soft_limit_of_files_is_raised() {
    let server = Server::start(|mut peer| peer.always(HELLO));
    let mut order = server.order();
    order["pace"]["connections"] = 60.into();
    order["count"] = 60.into();
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -S -n 50; exec \"$0\"", env!("CARGO_BIN_EXE_webdyno-engine")]);
    let said = end(begin_as(shell, &order.to_string()), Vec::new());
    assert_eq!((0, 60), (said.exit, said.count("ok")));
}
