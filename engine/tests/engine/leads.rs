//! Leads: what is loaded before a turn counts is kept apart from it, and nothing of it is lost.

use crate::theatre::{HELLO, Server};
use crate::turns::{MS, Resting, errors, n};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::sync::mpsc::channel;
use std::thread::sleep;
use std::time::Duration;

/// A turn of a few milliseconds after a lead of so many, and the lines of both.
fn led(engine: &mut Resting, lead_ms: u64, histograms: bool) -> (Value, Value) {
    let turn = json!({"lead_ns": lead_ms * MS, "duration_ns": 3 * MS, "phase": "turn", "histograms": histograms});
    engine.say(&json!({"turn": turn}).to_string());
    (engine.hear("slice"), engine.hear("slice"))
}

#[test]
fn a_lead_is_a_slice_of_its_own_and_its_turn_goes_on_without_a_break() {
    for threads in [1, 2] {
        let server = Server::start(|mut peer| peer.always(HELLO));
        let mut engine =
            Resting::ready(&server, |o| (o["threads"], o["pace"]["connections"]) = (threads.into(), 5.into()));
        let (mut heard, mut counted) = (0, 0);
        for index in 0..3 {
            let (lead, turn) = led(&mut engine, 4, false);
            assert_eq!(("lead", "turn"), (lead["phase"].as_str().unwrap(), turn["phase"].as_str().unwrap()));
            assert_eq!([index; 4], [n(&lead, "index"), n(&lead, "turn"), n(&turn, "index"), n(&turn, "turn")]);
            assert_eq!((4 * MS, 0), (n(&lead, "duration_ns"), n(&lead, "drained_ns")));
            assert_eq!(n(&lead, "start_ns") + 4 * MS, n(&turn, "start_ns"), "{turn}");
            assert_eq!(n(&turn, "duration_ns"), 3 * MS + n(&turn, "drained_ns"));
            assert_eq!(0, n(&turn, "in_flight"));
            heard += n(&lead, "offered") + n(&turn, "offered");
            counted += n(&turn, "offered");
            assert_eq!((heard, 0, 0), (server.heard().len() as u64, errors(&lead), errors(&turn)));
        }
        let said = engine.end();
        assert_eq!((0, counted, "turn"), (said.exit, said.count("offered"), said.text("of")));
        assert_eq!(5, server.accepted());
    }
}

#[test]
fn what_is_under_way_when_a_lead_ends_is_answered_in_its_turn() {
    // Each answers for the first time when the lead is long over.
    let server = Server::start(|mut peer| {
        while peer.request().is_some() {
            sleep(Duration::from_millis(100));
            peer.say(HELLO);
        }
    });
    let mut engine = Resting::ready(&server, |o| o["pace"]["connections"] = 3.into());
    let (lead, turn) = led(&mut engine, 50, false);
    assert_eq!((0, 3, 3, 0), (n(&lead, "offered"), n(&lead, "in_flight"), n(&turn, "ok"), n(&turn, "in_flight")));
    engine.end();
}

#[test]
fn an_error_in_a_lead_is_told_with_it() {
    let server = Server::start(|mut peer| {
        peer.request();
        peer.say("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n");
        peer.request();
        // There was time enough for the first answer before the lead was over.
        sleep(Duration::from_millis(600));
        peer.say(HELLO);
        peer.always(HELLO);
    });
    let mut engine = Resting::ready(&server, |o| o["pace"]["connections"] = 2.into());
    let (lead, turn) = led(&mut engine, 500, true);
    assert_eq!((2, 0), (n(&lead["errors"], "wrong-status"), errors(&turn)), "{lead}");
    assert!(lead["latency_hdr"].is_null() && !turn["latency_hdr"].is_null());
    // No phase begins with a lead: it belongs to its turn.
    let edges = engine.lines.iter().filter(|line| line["event"] == "phase").count();
    assert_eq!((1, 0), (edges, engine.end().errors("wrong-status")));
}

#[test]
fn a_run_that_is_ended_in_a_lead_tells_what_was_under_way() {
    let (tell, begun) = channel();
    let server = Server::start(move |mut peer| {
        peer.request();
        tell.send(()).unwrap();
        peer.hang();
    });
    let mut engine = Resting::ready(&server, |o| o["pace"]["connections"] = 2.into());
    engine.say(&json!({"turn": {"lead_ns": 3_600_000 * MS, "duration_ns": MS, "phase": "turn"}}).to_string());
    begun.recv().and(begun.recv()).unwrap();
    let said = engine.killed(Signal::INT);
    assert_eq!(("interrupted", 2), (said.text("ended"), said.errors("unfinished")));
}
