//! Turns: what commands do to a run, and what becomes of connections while it rests. Counts decide, never timing.

use crate::h2_stage::{END, Stage, frame, goaway};
use crate::theatre::{HELLO, Said, Server, end, histogram};
use crate::tunnel::Authority;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpListener};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use webdyno_engine::wire::h2::kind;

pub(crate) const MS: u64 = 1_000_000;

/// An engine that takes turns.
pub(crate) struct Resting {
    child: Child,
    commands: Option<ChildStdin>,
    out: BufReader<ChildStdout>,
    pub(crate) lines: Vec<Value>,
}

impl Resting {
    /// Gives the order of the theatre, edited, as one with turns.
    pub(crate) fn begin(server: &Server, edit: impl FnOnce(&mut Value)) -> Resting {
        let mut order = server.order();
        (order["schema"], order["turns"], order["count"]) = (4.into(), true.into(), Value::Null);
        order["backend"] = crate::BACKEND.into();
        edit(&mut order);
        Resting::given(&format!("{order}\n"))
    }

    fn given(text: &str) -> Resting {
        let mut command = Command::new(env!("CARGO_BIN_EXE_webdyno-engine"));
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (commands, out) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut engine = Resting { child, commands, out, lines: Vec::new() };
        engine.say(text.trim_end());
        engine
    }

    /// As begun, with its connections there.
    pub(crate) fn ready(server: &Server, edit: impl FnOnce(&mut Value)) -> Resting {
        let mut engine = Resting::begin(server, edit);
        engine.hear("ready");
        engine
    }

    pub(crate) fn say(&mut self, line: &str) {
        writeln!(self.commands.as_ref().unwrap(), "{line}").unwrap();
    }

    /// The next line of this kind.
    pub(crate) fn hear(&mut self, event: &str) -> Value {
        loop {
            let mut text = String::new();
            assert!(self.out.read_line(&mut text).unwrap() > 0, "no {event} after {:?}", self.lines.last());
            let line: Value = serde_json::from_str(&text).unwrap();
            self.lines.push(line.clone());
            if line["event"] == event {
                return line;
            }
        }
    }

    fn call(&mut self, phase: &str, ms: u64) {
        self.say(&json!({"turn": {"duration_ns": ms * MS, "phase": phase, "histograms": false}}).to_string());
    }

    /// One turn of a few milliseconds, and its line. An engine that got no processor in it has asked nothing.
    fn turn(&mut self) -> Value {
        self.turn_of(3)
    }

    /// A turn that is long enough for something to be asked and answered on every connection, however busy the machine is.
    fn turn_of(&mut self, ms: u64) -> Value {
        self.call("turn", ms);
        self.hear("slice")
    }

    pub(crate) fn end(mut self) -> Said {
        self.commands = None;
        self.rest_of_it()
    }

    pub(crate) fn killed(self, signal: Signal) -> Said {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        self.rest_of_it()
    }

    fn rest_of_it(mut self) -> Said {
        let mut lines = std::mem::take(&mut self.lines);
        lines.extend(self.out.lines().map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap()));
        end(self.child, lines)
    }
}

pub(crate) fn n(line: &Value, key: &str) -> u64 {
    line[key].as_u64().unwrap_or_else(|| panic!("{key} in {line}"))
}

pub(crate) fn errors(line: &Value) -> u64 {
    line["errors"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum()
}

/// A server that answers, and hands each connection over when it was told to let go of one.
fn closing_on_demand() -> (Server, Sender<()>, Receiver<()>) {
    let (close, closed) = (channel::<()>(), channel::<()>());
    let (orders, told) = (Arc::new(Mutex::new(close.1)), Mutex::new(closed.0));
    let server = Server::start(move |mut peer| {
        let stream = peer.clone_stream();
        let (orders, told) = (orders.clone(), told.lock().unwrap().clone());
        std::thread::spawn(move || {
            if orders.lock().unwrap().recv().is_ok() {
                stream.shutdown(Shutdown::Both).unwrap();
                told.send(()).unwrap();
            }
        });
        peer.always(HELLO);
    });
    (server, close.0, closed.1)
}

#[test]
fn turns_add_up_and_nothing_is_under_way_between_them() {
    for threads in [1, 2] {
        let server = Server::start(|mut peer| peer.always(HELLO));
        let mut engine = Resting::begin(&server, |o| {
            (o["threads"], o["pace"]["connections"]) = (threads.into(), 5.into());
        });
        assert_eq!(5, n(&engine.hear("ready"), "connections"));
        let mut offered = 0;
        for index in 0..4 {
            let slice = engine.turn_of(30);
            assert_eq!(
                (index, index, "turn"),
                (n(&slice, "index"), n(&slice, "turn"), slice["phase"].as_str().unwrap())
            );
            offered += n(&slice, "offered");
            assert_eq!((offered, 0, 0), (server.heard().len() as u64, errors(&slice), n(&slice, "in_flight")));
            assert!(
                n(&slice, "offered") >= 5 && slice["latency_hdr"].is_null() && slice["ttfb_hdr"].is_null(),
                "{slice}"
            );
            assert_eq!(n(&slice, "duration_ns"), 30 * MS + n(&slice, "drained_ns"));
            assert_eq!(
                (0, 0, 5),
                (n(&slice, "reopened"), n(&slice, "connections_opened"), n(&slice, "connections_peak"))
            );
        }
        let said = engine.end();
        assert_eq!((0, "commanded", "turn"), (said.exit, said.text("ended"), said.text("of")));
        assert_eq!((offered, 5, 0), (said.count("offered"), server.accepted(), said.count("connections_unanswered")));
        assert!(said.last()["latency_ns"].is_null(), "no turn had histograms");
    }
}

#[test]
fn warm_ups_do_not_count_and_steady_turns_count_alone() {
    let server = Server::start(|mut peer| peer.always(HELLO));
    let mut engine = Resting::ready(&server, |_| {});
    let mut sums = [0; 2];
    for (phase, sum) in
        [("warmup", None), ("turn", None), ("turn", None), ("steady", Some(0)), ("turn", None), ("steady", Some(0))]
    {
        engine.say(&json!({"turn": {"duration_ns": 2 * MS, "phase": phase, "histograms": true}}).to_string());
        let slice = engine.hear("slice");
        assert_eq!(n(&slice, "ok"), histogram(&slice["latency_hdr"]).len());
        sums[sum.unwrap_or(1)] += n(&slice, "offered");
    }
    engine.say("{\"end\": true}");
    let edges: Vec<_> = engine.lines.iter().filter(|l| l["event"] == "phase").map(|l| l["phase"].clone()).collect();
    assert_eq!(vec!["warmup", "turn", "steady", "turn", "steady"], edges);
    let slices = || engine.lines.iter().filter(|l| l["event"] == "slice");
    let length: u64 = slices().filter(|l| l["phase"] == "steady").map(|l| n(l, "duration_ns")).sum();
    let first = slices().find(|l| l["phase"] == "steady").map(|l| n(l, "start_ns")).unwrap();
    let said = engine.end();
    assert_eq!(("steady", sums[0]), (said.text("of"), said.count("offered")));
    assert_eq!((first, length), (said.count("start_ns"), said.count("duration_ns")));
    assert_eq!(sums[0], histogram(&said.last()["latency_hdr"]).len());
}

#[test]
fn what_the_server_closes_at_rest_is_opened_again_before_the_turn() {
    let (server, close, closed) = closing_on_demand();
    let mut engine = Resting::ready(&server, |o| o["pace"]["connections"] = 3.into());
    // More than one answer on each connection: what a server closes after its first is opened again in the turn, which pays for it.
    let answered = n(&engine.turn_of(30), "ok") + n(&engine.turn_of(30), "ok");
    assert!(answered >= 6, "{answered}");
    for _ in 0..3 {
        close.send(()).unwrap();
        closed.recv().unwrap();
    }
    let slice = engine.turn();
    let of =
        ["reopened", "connections_opened", "closes_silent", "closes_announced", "stale_retries"].map(|k| n(&slice, k));
    assert_eq!(([3, 0, 0, 0, 0], 0, 6), (of, errors(&slice), server.accepted()), "{slice}");
    assert_eq!(0, n(&engine.turn(), "reopened"));
    assert_eq!(0, engine.end().count("closes_silent"));
}

#[test]
fn servers_that_close_after_each_answer_pay_for_it_in_their_turns() {
    let rows = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", true),
        ("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", true),
        // It says nothing, and closes.
        ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false),
    ];
    for (answer, announced) in rows {
        let server = Server::start(move |mut peer| {
            if peer.request().is_some() {
                peer.say(answer);
            }
        });
        let mut engine = Resting::ready(&server, |o| o["pace"]["connections"] = 2.into());
        let slices = [engine.turn_of(30), engine.turn_of(30), engine.turn_of(30)];
        for slice in &slices[1..] {
            assert_eq!((0, 0), (n(slice, "reopened"), errors(slice)), "{answer}: {slice}");
            assert!(!announced || n(slice, "connections_opened") == n(slice, "ok"), "{answer}: {slice}");
            assert!(n(slice, "connections_opened") >= 2, "{answer}: {slice}");
        }
        // Those of the opening are in no turn.
        let opened: u64 = slices.iter().map(|slice| n(slice, "connections_opened")).sum();
        assert_eq!(server.accepted() as u64, 2 + opened, "{answer}");
        assert_eq!(opened, engine.end().count("connections_opened"));
    }
}

#[test]
fn a_server_that_hangs_in_a_turn_is_a_timeout_and_the_next_turn_works() {
    let server = Server::start(|mut peer| {
        if peer.number < 2 {
            peer.request();
            return peer.hang();
        }
        peer.always(HELLO);
    });
    let mut engine =
        Resting::ready(&server, |o| (o["timeout_ns"], o["pace"]["connections"]) = (100_000_000.into(), 2.into()));
    let hung = engine.turn_of(30);
    assert_eq!((2, 2, 0), (n(&hung, "offered"), n(&hung["errors"], "timeout"), n(&hung, "in_flight")), "{hung}");
    assert!(n(&hung, "drained_ns") >= 60 * MS, "{hung}");
    let next = engine.turn_of(30);
    assert_eq!((2, 0, 0), (n(&next, "reopened"), errors(&next), n(&next, "connections_opened")), "{next}");
    assert!(n(&next, "ok") >= 2);
    assert_eq!(2, engine.end().errors("timeout"));
}

#[test]
fn a_request_whose_connection_had_gone_is_sent_again_while_its_turn_drains() {
    let cut = Arc::new(AtomicBool::new(false));
    let cuts = cut.clone();
    let server = Server::start(move |mut peer| {
        while peer.request().is_some() {
            if peer.number == 0 && cuts.load(Ordering::SeqCst) {
                // Its turn is over by then.
                return std::thread::sleep(Duration::from_millis(200));
            }
            peer.say(HELLO);
        }
    });
    let mut engine = Resting::ready(&server, |_| {});
    // On a connection that never answered, none is sent again.
    while n(&engine.turn(), "ok") == 0 {}
    cut.store(true, Ordering::SeqCst);
    let slice = engine.turn_of(100);
    let of = ["offered", "ok", "stale_retries", "connections_opened"].map(|key| n(&slice, key));
    assert_eq!([1; 4], of, "{slice}");
    engine.end();
}

#[test]
fn the_end_of_the_input_ends_it_and_so_does_a_command() {
    for command in [None, Some("{\"end\": true}")] {
        let server = Server::start(|mut peer| peer.always(HELLO));
        let mut engine = Resting::ready(&server, |_| {});
        command.into_iter().for_each(|command| engine.say(command));
        // After the command the input stays open.
        let said = if command.is_some() { engine.rest_of_it() } else { engine.end() };
        assert_eq!((0, "commanded", 0), (said.exit, said.text("ended"), said.count("offered")));
    }
}

#[test]
fn commands_that_were_written_ahead_are_carried_out() {
    let server = Server::start(|mut peer| peer.always(HELLO));
    let mut engine = Resting::begin(&server, |_| {});
    (0..3).for_each(|_| engine.call("turn", 1));
    let said = engine.end();
    assert_eq!(3, said.lines.iter().filter(|l| l["event"] == "slice").count());
    assert_eq!(server.heard().len() as u64, said.count("offered"));
}

#[test]
fn a_signal_ends_it_at_rest_and_in_a_turn() {
    for signal in [Signal::TERM, Signal::INT] {
        for in_turn in [false, true] {
            let (begun, first) = channel();
            let server = Server::start(move |mut peer| {
                peer.request();
                let _ = begun.send(());
                peer.hang();
            });
            let mut engine = Resting::ready(&server, |_| {});
            if in_turn {
                engine.call("turn", 10_000); // in a short one an engine without a processor asks nothing, ever
                first.recv().unwrap();
            }
            let said = engine.killed(signal);
            assert_eq!((130, "interrupted"), (said.exit, said.text("ended")), "{in_turn}");
            assert_eq!(u64::from(in_turn), said.errors("unfinished"));
            assert_eq!(usize::from(in_turn), said.lines.iter().filter(|l| l["event"] == "slice").count());
        }
    }
}

#[test]
fn a_reader_that_has_gone_ends_it_at_rest() {
    let server = Server::start(|mut peer| peer.always(HELLO));
    let engine = Resting::ready(&server, |_| {});
    let Resting { mut child, commands, out, .. } = engine;
    drop(out);
    assert_eq!(Some(130), child.wait().unwrap().code());
    drop(commands);
}

#[test]
fn a_wrong_command_is_a_fault_that_names_its_key() {
    let rows = [
        ("{", "", "the command is not JSON"),
        ("[]", "", "the command must be an object, not a list"),
        ("{}", "", "the command must have exactly one of turn and end"),
        ("{\"trun\": {}}", "trun", "trun is not a known key; did you mean turn?"),
        ("{\"end\": false}", "end", "end must be true, not false"),
        (
            "{\"turn\": {\"phase\": \"turn\"}}",
            "turn.duration_ns",
            "turn.duration_ns is missing; it must be an integer from",
        ),
        (
            "{\"turn\": {\"phase\": \"tun\", \"duration_ns\": 5000000}}",
            "turn.phase",
            "turn.phase must be \"warmup\", \"turn\"",
        ),
        (
            "{\"turn\": {\"phase\": \"turn\", \"duration_ns\": 5}}",
            "turn.duration_ns",
            "turn.duration_ns must be an integer from 1000000",
        ),
    ];
    let server = Server::start(|mut peer| peer.always(HELLO));
    for (command, key, message) in rows {
        let mut engine = Resting::ready(&server, |_| {});
        engine.say(command);
        let said = engine.rest_of_it();
        assert_eq!((2, "fault", key), (said.exit, said.text("event"), said.text("key")), "{command}");
        assert!(said.text("message").starts_with(message), "{}", said.text("message"));
    }
}

#[test]
fn an_order_with_turns_has_nothing_else_that_begins_or_ends_load() {
    let server = Server::start(|_| {});
    let rows = [
        ("duration_ns", json!(1_000_000_000), "duration_ns"),
        ("count", json!(5), "count"),
        ("warmup_ns", json!(5), "warmup_ns"),
        ("wait", json!("spin"), "wait"),
        ("opening_ns", json!(20_000_000_001_u64), "opening_ns"),
        ("pace", json!({"kind": "constant", "rate_per_s": 5, "connections": 1, "max_connections": 1}), "pace.kind"),
        ("schema", json!(3), "turns"),
    ];
    for (key, value, named) in rows {
        let said = Resting::begin(&server, |o| o[key] = value).rest_of_it();
        assert_eq!((2, named), (said.exit, said.text("key")), "{}", said.last());
    }
    let mut order = server.order();
    (order["schema"], order["turns"], order["count"]) = (4.into(), true.into(), Value::Null);
    let said = Resting::given(&serde_json::to_string_pretty(&order).unwrap()).end();
    assert_eq!((2, "turns"), (said.exit, said.text("key")));
}

#[test]
fn nobody_there_is_unreachable() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = Server::start(|_| {});
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let said = Resting::begin(&server, |o| o["target"]["port"] = port.into()).rest_of_it();
    assert_eq!((0, "unreachable"), (said.exit, said.text("ended")));
    assert!(said.text("first_error").starts_with("connect-refused: "), "{}", said.last());
}

#[test]
fn bytes_that_nobody_asked_for_cost_the_connection_at_rest() {
    let (saying, said) = channel();
    let server = Server::start(move |mut peer| {
        if peer.number == 0 {
            peer.say("HTTP/1.1 408 Too slow\r\n\r\n");
            saying.send(()).unwrap();
            return peer.hang();
        }
        peer.always(HELLO);
    });
    let mut engine = Resting::ready(&server, |_| {});
    said.recv().unwrap();
    let slice = engine.turn();
    assert_eq!((1, 0, 0), (n(&slice, "reopened"), errors(&slice), n(&slice, "stale_retries")), "{slice}");
    engine.end();
}

#[test]
fn connections_are_opened_over_the_opening_and_asked_nothing() {
    let server = Server::start(|mut peer| peer.always(HELLO));
    let mut engine = Resting::begin(&server, |o| {
        (o["opening_ns"], o["pace"]["connections"], o["threads"]) = ((20 * MS).into(), 8.into(), 2.into());
    });
    assert_eq!(8, n(&engine.hear("ready"), "connections"));
    assert_eq!(0, server.heard().len());
    engine.turn();
    assert_eq!(0, engine.end().errors("connect-refused"));
}

#[test]
fn a_pipeline_drains_every_lane() {
    let server = Server::start(|mut peer| peer.always(HELLO));
    let mut engine = Resting::ready(&server, |o| (o["pipeline"], o["pace"]["connections"]) = (8.into(), 2.into()));
    let sum: u64 = (0..3).map(|_| engine.turn()).map(|slice| n(&slice, "ok")).sum();
    assert_eq!((sum, 2), (server.heard().len() as u64, server.accepted()));
    assert_eq!(sum, engine.end().count("offered"));
}

#[test]
fn routes_of_a_turn_have_no_times_either() {
    let server = Server::start(|mut peer| peer.always(HELLO));
    let mut engine = Resting::ready(&server, |o| {
        o["requests"] =
            json!([{"name": "a", "method": "GET", "path": "/a"}, {"name": "b", "method": "GET", "path": "/b"}]);
    });
    let slice = engine.turn();
    let routes = slice["routes"].as_array().unwrap();
    assert!(routes.len() == 2 && routes.iter().all(|r| r["latency_hdr"].is_null() && r["response_hdr"].is_null()));
    assert_eq!(n(&slice, "ok"), routes.iter().map(|r| n(r, "ok")).sum::<u64>());
    engine.end();
}

#[test]
fn tls_lives_through_the_rest() {
    let (authority, server) = Authority::with_server(|mut tunnel| tunnel.always(HELLO));
    let mut engine = Resting::ready(&server, |o| o["tls"] = json!({"roots_pem": authority.pem}));
    for _ in 0..2 {
        let slice = engine.turn_of(30);
        assert_eq!((0, 0, 0), (errors(&slice), n(&slice, "handshakes_full"), n(&slice, "reopened")), "{slice}");
        assert!(n(&slice, "ok") > 0);
    }
    engine.end();
    assert_eq!(1, server.accepted());
}

#[test]
fn tls_that_does_not_come_about_is_told_why() {
    let (_, server) = Authority::with_server(|mut tunnel| tunnel.always(HELLO));
    let said = Resting::begin(&server, |o| o["tls"] = json!({"roots_pem": Authority::new().pem})).rest_of_it();
    assert_eq!("unreachable", said.text("ended"));
    assert!(said.text("first_error").starts_with("tls: the certificate of"), "{}", said.last());
}

#[test]
fn a_ping_is_answered_at_rest_and_goaway_at_rest_costs_the_turn_nothing() {
    let (answered, pinged) = channel();
    let server = Server::start(move |peer| {
        let first = peer.number == 0;
        let mut stage = Stage::open(peer, &[]);
        if first {
            // Of the first turn; there is a PING in the rest after it.
            while let Some((kind, flags, stream, content)) = stage.frame() {
                if kind == kind::HEADERS && flags & END != 0 {
                    stage.answer(stream, "hello");
                    stage.say(|out| frame(out, kind::PING, 0, 0, b"restful?"));
                }
                if kind == kind::PING && flags & 1 != 0 && content == b"restful?" {
                    answered.send(()).unwrap();
                }
                if kind == kind::SETTINGS && flags & 1 == 0 {
                    stage.say(|out| frame(out, kind::PING, 0, 0, b"restful?"));
                }
            }
        }
        stage.always("hello");
    });
    let mut engine = Resting::ready(&server, |o| (o["http"], o["streams"]) = ("2".into(), 4.into()));
    // Asked for as soon as the connection was there: nobody has asked anything.
    pinged.recv().unwrap();
    let slice = engine.turn();
    (0..n(&slice, "ok")).for_each(|_| pinged.recv().unwrap());
    assert_eq!((0, 0), (errors(&slice), n(&engine.turn(), "reopened")));
    assert_eq!(1, server.accepted());
    engine.end();
}

#[test]
fn goaway_at_rest_is_a_connection_opened_again() {
    let (streams, (ended, gone)) = (Arc::new(Mutex::new(Vec::new())), channel());
    let kept = streams.clone();
    let server = Server::start(move |peer| {
        kept.lock().unwrap().push(peer.clone_stream());
        Stage::open(peer, &[]).always("hello");
        let _ = ended.send(());
    });
    let mut engine = Resting::ready(&server, |o| (o["http"], o["streams"]) = ("2".into(), 2.into()));
    assert!(n(&engine.turn_of(30), "ok") > 1);
    let mut leave = Vec::new();
    goaway(&mut leave, i32::MAX as u32);
    streams.lock().unwrap()[0].write_all(&leave).unwrap();
    // The engine closes its side, at rest.
    gone.recv().unwrap();
    let slice = engine.turn_of(30);
    assert_eq!((1, 0, 0), (n(&slice, "reopened"), errors(&slice), n(&slice, "closes_announced")), "{slice}");
    assert_eq!(2, server.accepted());
    engine.end();
}
