//! The end of an open pace that waits for what is missing. The server holds its answers until the run's own end is behind, so that
//! each test decides what is drained; it does not depend on how fast anything is.

use crate::theatre::{HELLO, Said, Server};
use serde_json::{Value, json};
use std::thread::sleep;
use std::time::Duration;

const MS: u64 = 1_000_000;

/// 20 requests, due in 20 ms, and then so many milliseconds of patience.
fn load(server: &Server, connections: usize, drain_ms: u64, edit: impl FnOnce(&mut Value)) -> Said {
    server.load(|o| {
        (o["schema"], o["count"], o["duration_ns"]) = (3.into(), Value::Null, (20 * MS).into());
        o["pace"] =
            json!({"kind": "constant", "rate_per_s": 1000, "connections": connections, "max_connections": connections});
        (o["drain_ns"], o["slice_ns"]) = ((drain_ms * MS).into(), (10 * MS).into());
        edit(o);
    })
}

/// Answers each request no earlier than so many milliseconds after it came.
fn slow(ms: u64) -> Server {
    Server::start(move |mut peer| {
        while peer.request().is_some() {
            sleep(Duration::from_millis(ms));
            peer.say(HELLO);
        }
    })
}

#[test]
fn answers_after_the_end_are_booked_with_their_true_times_in_the_last_slice() {
    let said = load(&slow(100), 20, 20_000, |_| {});
    assert_eq!((0, "duration", 20, 20), (said.exit, said.text("ended"), said.count("offered"), said.count("ok")));
    assert_eq!((0, 20 * MS), (said.count("censored"), said.count("duration_ns")));
    let slices: Vec<_> = said.lines.iter().filter(|l| l["event"] == "slice").collect();
    assert_eq!(
        (2, json!(10 * MS), json!(20)),
        (slices.len(), slices[1]["duration_ns"].clone(), slices[1]["ok"].clone())
    );
    // The first can have been answered 80 ms after the end at the earliest, the last 99 ms after it.
    assert!(said.last()["latency_ns"]["min"].as_u64().unwrap() >= 99 * MS, "{}", said.last());
    assert!((79 * MS..20_000 * MS).contains(&said.count("drained_ns")), "{}", said.last());
}

#[test]
fn without_a_drain_they_are_unfinished() {
    let said = load(&slow(100), 20, 0, |_| {});
    assert_eq!((20, 0, 0), (said.count("offered"), said.count("ok"), said.count("drained_ns")));
    assert_eq!(20, said.errors("unfinished") + said.errors("shed"));
}

#[test]
fn what_was_due_and_waits_for_a_connection_gets_it_after_the_end() {
    let server = slow(10);
    let said = load(&server, 2, 20_000, |o| o["threads"] = 2.into());
    assert_eq!((20, 20, 20), (said.count("offered"), said.count("ok"), server.heard().len()));
    assert_eq!(2, said.count("connections_peak"));
    // Ten on each connection, one after another, and the last of them had been due for 19 ms at the end.
    assert!(said.last()["response_ns"]["max"].as_u64().unwrap() >= 79 * MS, "{}", said.last());
}

#[test]
fn what_is_missing_after_the_drain_is_unfinished_at_its_age() {
    let server = Server::start(|mut peer| peer.hang());
    let said = load(&server, 1, 50, |_| {});
    assert_eq!((20, 1, 19), (said.count("offered"), said.errors("unfinished"), said.errors("shed")));
    assert_eq!((20, 50 * MS), (said.count("censored"), said.count("drained_ns")));
    assert!(said.count("censored_above_ns") >= 50 * MS, "{}", said.last());
    assert_eq!(20 * MS, said.count("duration_ns"));
}

#[test]
fn time_outs_go_on_while_it_waits() {
    let server = Server::start(|mut peer| peer.hang());
    let said = load(&server, 20, 20_000, |o| o["timeout_ns"] = (100 * MS).into());
    assert_eq!((20, 20), (said.count("offered"), said.errors("timeout")));
    assert!(said.count("drained_ns") < 20_000 * MS, "nothing is left to wait for");
}

#[test]
fn a_drain_where_nothing_is_cut_off_is_refused() {
    let server = Server::start(|_| {});
    let said = server.load(|o| (o["schema"], o["drain_ns"]) = (3.into(), 5.into()));
    let message = "drain_ns must be 0 where no open pace is cut off after duration_ns, not 5";
    assert_eq!((2, "drain_ns", message), (said.exit, said.text("key"), said.text("message")));
}
