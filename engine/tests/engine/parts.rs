//! Several engines that share one load: what each takes of it, when they begin, and that none goes on without its controller.

use crate::theatre::{HELLO, Said, Server, end};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};
use webdyno_engine::now;

const MS: u64 = 1_000_000;

fn order(server: &Server, edit: impl FnOnce(&mut Value)) -> Value {
    let mut order = server.order();
    (order["schema"], order["backend"]) = (5.into(), crate::BACKEND.into());
    edit(&mut order);
    order
}

/// An engine that has its order, in one line, and whose input stays open.
fn begin(order: &Value) -> Child {
    let mut engine = Command::new(env!("CARGO_BIN_EXE_webdyno-engine"));
    let engine = engine.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    writeln!(engine.stdin.as_ref().unwrap(), "{order}").unwrap();
    engine
}

/// The engine from order to end, with nothing after the order.
fn run(order: &Value) -> Said {
    let mut engine = begin(order);
    drop(engine.stdin.take());
    end(engine, Vec::new())
}

fn endless(order: &mut Value) {
    (order["count"], order["duration_ns"]) = (Value::Null, 3_600_000_000_000_u64.into());
}

#[test]
fn requests_are_numbered_through_over_all_engines() {
    let server = Server::start(|mut peer| peer.always(HELLO));
    for (index, threads) in [(0, 2), (1, 1)] {
        let said = run(&order(&server, |o| {
            (o["part"], o["threads"]) = (json!({"index": index, "of": 2}), threads.into());
            o["pace"]["connections"] = threads.into();
            (o["requests"][0]["path"], o["requests"][0]["template"]) = ("/{{counter}}".into(), true.into());
        }));
        assert_eq!((0, 10), (said.exit, said.count("ok")));
    }
    let heard = server.heard();
    let number = |head: &String| head.split_whitespace().nth(1).unwrap()[1..].parse::<u64>().unwrap();
    let mut numbers: Vec<u64> = heard.iter().map(number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    // The two threads of the first share its even numbers out as they come to it.
    assert_eq!(20, numbers.len());
    assert_eq!(
        (0..10).map(|n| 2 * n + 1).collect::<Vec<_>>(),
        numbers.into_iter().filter(|n| n % 2 == 1).collect::<Vec<_>>()
    );
}

#[test]
fn a_run_begins_at_the_time_it_was_told_and_says_how_late_it_was() {
    let (send, asked) = channel();
    let server = Server::start(move |mut peer| {
        while peer.request().is_some() {
            send.send(now()).unwrap();
            peer.say(HELLO);
        }
    });
    let at = now() + 300 * MS;
    let said = run(&order(&server, |o| o["start_at_ns"] = at.into()));
    let begun = said.lines.iter().find(|line| line["event"] == "phase").unwrap();
    assert_eq!((json!(at), 10), (begun["at_ns"].clone(), said.count("ok")));
    assert!(asked.iter().take(10).all(|came| came >= at));
    assert!(said.count("start_late_ns") < 20_000 * MS);
    let said = run(&order(&server, |o| o["start_at_ns"] = (now() - 50 * MS).into()));
    assert!((50 * MS..20_000 * MS).contains(&said.count("start_late_ns")), "{}", said.last());
    assert!(run(&order(&server, |_| {})).last()["start_late_ns"].is_null());
    let said = run(&order(&server, |o| o["start_at_ns"] = (now() + 700_000 * MS).into()));
    assert_eq!((3, "start_at_ns"), (said.exit, said.text("key")));
}

#[test]
fn who_is_gone_before_the_start_never_has_a_load() {
    let server = Server::start(|_| {});
    let mut engine = begin(&order(&server, |o| {
        (o["start_at_ns"], o["watch_ns"]) = ((now() + 60_000 * MS).into(), 100_000_000.into())
    }));
    drop(engine.stdin.take());
    let said = end(engine, Vec::new());
    assert_eq!((4, "abandoned", 0), (said.exit, said.text("ended"), server.accepted()));
}

#[test]
fn who_is_not_heard_any_more_has_its_load_ended() {
    for gone in [true, false] {
        let server = Server::start(|mut peer| peer.always(HELLO));
        let mut engine = begin(&order(&server, |o| {
            endless(o);
            o["watch_ns"] = 200_000_000.into();
        }));
        if gone {
            drop(engine.stdin.take());
        }
        let kept = engine.stdin.take();
        let said = end(engine, Vec::new());
        assert_eq!((4, "abandoned"), (said.exit, said.text("ended")));
        assert_eq!("summary", said.last()["event"]);
        drop(kept);
    }
}

#[test]
fn who_says_a_line_in_time_keeps_the_load() {
    let server = Server::start(|mut peer| peer.always(HELLO));
    let mut engine = begin(&order(&server, |o| {
        endless(o);
        (o["watch_ns"], o["duration_ns"]) = (1_000_000_000.into(), 1_300_000_000.into());
    }));
    let mut alive = engine.stdin.take().unwrap();
    let saying = thread::spawn(move || {
        while alive.write_all(b"\n").is_ok() {
            thread::sleep(Duration::from_millis(20));
        }
    });
    let said = end(engine, Vec::new());
    assert_eq!((0, "duration"), (said.exit, said.text("ended")));
    saying.join().unwrap();
}

#[test]
fn the_load_ends_even_where_nobody_reads_what_is_said_of_it() {
    let (send, closed) = channel();
    let server = Server::start(move |mut peer| {
        peer.always(HELLO);
        let _ = send.send(());
    });
    let mut engine = begin(&order(&server, |o| {
        endless(o);
        // What is said fills the pipe before the watch is over.
        (o["watch_ns"], o["slice_ns"]) = (1_000_000_000.into(), 1_000_000.into());
    }));
    let begun = Instant::now();
    closed.recv_timeout(Duration::from_secs(60)).expect("an end of the load");
    assert!(begun.elapsed() >= Duration::from_millis(900));
    let out = BufReader::new(engine.stdout.take().unwrap());
    let last = out.lines().map_while(Result::ok).last().unwrap();
    assert_eq!("abandoned", serde_json::from_str::<Value>(&last).unwrap()["ended"]);
    assert_eq!(Some(4), engine.wait().unwrap().code());
}

#[test]
fn the_clock_is_told_at_each_line() {
    let mut engine = Command::new(env!("CARGO_BIN_EXE_webdyno-engine"));
    let mut engine = engine.arg("--clock").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut ask, mut told) = (engine.stdin.take().unwrap(), BufReader::new(engine.stdout.take().unwrap()));
    for _ in 0..3 {
        let (before, mut line) = (now(), String::new());
        ask.write_all(b"\n").unwrap();
        told.read_line(&mut line).unwrap();
        assert!((before..=now()).contains(&line.trim().parse().unwrap()), "{line}");
    }
    drop(ask);
    assert!(engine.wait().unwrap().success());
}
