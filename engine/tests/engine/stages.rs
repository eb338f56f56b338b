//! A closed pace whose number of connections goes in straight lines. Counts decide; where times do, only by what must have been.

use crate::theatre::{HELLO, Said, Server};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const MS: u64 = 1_000_000;

/// Runs stages of (milliseconds, from, to).
fn load(server: &Server, stages: &[(u64, u64, u64)], edit: impl FnOnce(&mut Value)) -> Said {
    let stage = |s: &(u64, u64, u64)| json!({"duration_ns": s.0 * MS, "connections_from": s.1, "connections_to": s.2});
    server.load(|o| {
        o["pace"] = json!({"kind": "closed-stages", "stages": stages.iter().map(stage).collect::<Vec<_>>()});
        (o["schema"], o["count"], o["slice_ns"]) = (3.into(), Value::Null, (50 * MS).into());
        o["duration_ns"] = (stages.iter().map(|s| s.0).sum::<u64>() * MS).into();
        edit(o);
    })
}

fn slices<'s>(said: &'s Said, key: &str) -> Vec<&'s Value> {
    said.lines.iter().filter(|l| l["event"] == "slice").map(|l| &l[key]).collect()
}

#[test]
fn connections_come_and_go_with_the_line_and_nobody_closed_them() {
    let server = Server::start(|mut peer| peer.always(HELLO));
    let said = load(&server, &[(200, 0, 12), (300, 12, 12), (200, 12, 0)], |o| o["threads"] = 2.into());
    assert_eq!((0, "duration", 12), (said.exit, said.text("ended"), said.count("connections_asked")));
    assert_eq!((12, json!(12)), (said.count("connections_peak"), said.lines[0]["connections"].clone()));
    assert_eq!((12, 12), (said.count("connections_opened"), server.accepted()));
    assert_eq!((0, 0), (said.count("closes_announced"), said.count("closes_silent")));
    assert_eq!(said.count("offered"), said.count("ok") + said.errors("unfinished"));
    // The line grows by three in each window of 50 ms. There may be fewer, on a machine that is busy, and never more.
    let in_flight: Vec<u64> = slices(&said, "in_flight").iter().map(|n| n.as_u64().unwrap()).collect();
    assert_eq!(14, in_flight.len());
    for (i, most) in [3, 6, 9, 12].into_iter().enumerate() {
        assert!(in_flight[i] <= most, "{in_flight:?}");
    }
}

#[test]
fn a_closed_pace_opens_its_connections_evenly_over_the_opening_and_asks_when_all_are_there() {
    let server = Server::start(|mut peer| peer.always(HELLO));
    let said = server.load(|o| {
        (o["schema"], o["count"], o["threads"]) = (3.into(), Value::Null, 2.into());
        o["pace"] = json!({"kind": "closed", "connections": 12});
        (o["opening_ns"], o["warmup_ns"]) = ((200 * MS).into(), (300 * MS).into());
        (o["slice_ns"], o["duration_ns"]) = ((50 * MS).into(), (100 * MS).into());
    });
    assert_eq!((0, 12, 12), (said.exit, said.count("connections_peak"), server.accepted()));
    assert_eq!((12, 0), (said.count("connections_asked"), said.count("connections_unanswered")));
    // Three more in each window of 50 ms, the first one at once. On a machine that is busy there may be fewer, never more.
    let there: Vec<u64> = slices(&said, "connections_peak").iter().map(|n| n.as_u64().unwrap()).collect();
    let offered: Vec<u64> = slices(&said, "offered").iter().map(|n| n.as_u64().unwrap()).collect();
    for (i, most) in [3, 6, 9, 12].into_iter().enumerate() {
        assert!(there[i] <= most, "{there:?}");
        assert_eq!(0, offered[i], "{offered:?}");
    }
    assert!(offered[4..].iter().sum::<u64>() >= 12, "{offered:?}");
}

#[test]
fn a_server_that_hangs_up_on_who_says_nothing_is_asked_on_new_connections() {
    let first = AtomicUsize::new(0);
    let server = Server::start(move |mut peer| {
        if first.fetch_add(1, Ordering::SeqCst) >= 4 {
            peer.always(HELLO);
        }
    });
    let said = server.load(|o| {
        (o["schema"], o["count"]) = (3.into(), Value::Null);
        o["pace"] = json!({"kind": "closed", "connections": 4});
        // The last is opened 125 ms before it is asked: the server has time to close it.
        (o["opening_ns"], o["warmup_ns"]) = ((500 * MS).into(), (550 * MS).into());
        (o["slice_ns"], o["duration_ns"]) = ((50 * MS).into(), (100 * MS).into());
    });
    let sum = |key: &str| slices(&said, key).iter().map(|n| n.as_u64().unwrap()).sum::<u64>();
    assert_eq!((0, 8, 8), (said.exit, sum("connections_opened"), server.accepted()));
    assert_eq!((4, 0), (sum("closes_silent"), said.count("connections_unanswered")));
}

#[test]
fn a_connection_that_is_too_many_ends_after_its_answer() {
    // It answers when asked, and counts who leaves without having been answered.
    let cut = Arc::new(AtomicUsize::new(0));
    let (seen, gone) = (cut.clone(), Arc::new(AtomicUsize::new(0)));
    let left = gone.clone();
    let server = Server::start(move |mut peer| {
        let mut answered = 0;
        while peer.request().is_some() {
            peer.say(HELLO);
            answered += 1;
        }
        seen.fetch_add(usize::from(answered == 0), Ordering::SeqCst);
        gone.fetch_add(1, Ordering::SeqCst);
    });
    let said = load(&server, &[(100, 8, 8), (300, 1, 1)], |_| {});
    assert_eq!(
        (8, 8, 0),
        (said.count("connections_peak"), said.count("connections_opened"), cut.load(Ordering::SeqCst))
    );
    assert!(left.load(Ordering::SeqCst) >= 7, "seven have ended, and the last may be on its way");
    assert!(said.errors("unfinished") <= 1, "{}", said.last());
    assert_eq!(json!(1), *slices(&said, "connections_peak")[7], "the second stage has one");
}

#[test]
fn a_place_opens_again_when_the_number_grows_again() {
    let server = Server::start(|mut peer| peer.always(HELLO));
    let said = load(&server, &[(200, 3, 3), (300, 1, 1), (300, 3, 3)], |_| {});
    assert_eq!((3, 5), (said.count("connections_peak"), said.count("connections_opened")));
    assert_eq!(0, said.count("connections_unanswered"));
}

#[test]
fn a_warm_up_has_the_first_number() {
    let server = Server::start(|mut peer| peer.always(HELLO));
    let said = load(&server, &[(100, 2, 2), (300, 5, 5)], |o| o["warmup_ns"] = (50 * MS).into());
    let peaks = slices(&said, "connections_peak");
    assert_eq!((json!(2), json!(2), json!(5)), (peaks[0].clone(), peaks[1].clone(), peaks[8].clone()));
}

#[test]
fn no_connection_for_a_while_is_not_a_server_that_cannot_be_reached() {
    let server = Server::start(|mut peer| peer.always(HELLO));
    let said = load(&server, &[(500, 0, 0), (300, 1, 1)], |o| o["connect_timeout_ns"] = (20 * MS).into());
    assert_eq!(("duration", 1), (said.text("ended"), said.count("connections_opened")));
}

#[test]
fn what_is_wrong_with_stages_is_said() {
    let server = Server::start(|_| {});
    let complaint = |said: Said| (said.text("key").to_string(), said.text("message").to_string());
    let none = complaint(load(&server, &[(100, 0, 0)], |_| {}));
    let right = "pace.stages must be a list of one or more stages, with a connection or more somewhere, not a list";
    assert_eq!(("pace.stages".to_string(), right.to_string()), none);
    let (key, message) = complaint(load(&server, &[(100, 1, 2)], |o| o["duration_ns"] = (99 * MS).into()));
    assert_eq!(("duration_ns", true), (key.as_str(), message.contains("the sum of the stages, which is 100000000")));
    let (key, message) = complaint(load(&server, &[(100, 1, 2)], |o| o["threads"] = 3.into()));
    let right = "threads must be at most the most connections of pace.stages, which is 2, not 3";
    assert_eq!(("threads", right), (key.as_str(), message.as_str()));
    let (key, message) = complaint(load(&server, &[(100, 1, 2)], |o| o["schema"] = 2.into()));
    assert_eq!("pace.kind", key);
    assert!(message.ends_with("\"stages\" or \"burst\", not \"closed-stages\""), "{message}");
}
