//! An engine that was away: stopped, or without a processor. What the server did meanwhile it did in time, and is not given up; and the
//! engine says how long it was away. It is stopped for longer than its timeout, so that no machine is too fast for these tests; one
//! would have to be slower than a whole timeout in sending one burst to fail them.

use crate::theatre::{HELLO, Said, Server, begin, end};
use crate::watched::watch_begun;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::process::Child;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::sleep;
use std::time::Duration;

const MS: u64 = 1_000_000;
const TIMEOUT: Duration = Duration::from_secs(2);

/// A number that can be waited for.
#[derive(Default)]
struct Count(Mutex<usize>, Condvar);

impl Count {
    fn up(&self) {
        *self.0.lock().unwrap() += 1;
        self.1.notify_all();
    }

    fn wait(&self, least: usize) {
        drop(self.1.wait_while(self.0.lock().unwrap(), |count| *count < least).unwrap());
    }
}

/// A server that holds its answers until it is told, and says what has come and what has gone.
fn holding() -> (Server, Arc<[Count; 3]>) {
    let counts: Arc<[Count; 3]> = Arc::default();
    let shared = counts.clone();
    let server = Server::start(move |mut peer| {
        let [came, told, went] = &*shared;
        while peer.request().is_some() {
            came.up();
            told.wait(1);
            peer.say(HELLO);
            went.up();
        }
    });
    (server, counts)
}

fn signal(engine: &Child, signal: Signal) {
    kill_process(Pid::from_child(engine), signal).unwrap();
}

/// The engine is stopped, `meanwhile` happens, and it goes on after more than its timeout.
fn stopped(engine: &Child, meanwhile: impl FnOnce()) {
    signal(engine, Signal::STOP);
    meanwhile();
    sleep(TIMEOUT + Duration::from_millis(200));
    signal(engine, Signal::CONT);
}

fn stall_ns(said: &Said) -> u64 {
    said.last()["threads"][0]["loop_stall_max_ns"].as_u64().unwrap()
}

fn order(server: &Server, pace: Value, count: u64) -> Value {
    let mut order = server.order();
    (order["schema"], order["pace"], order["count"]) = (2.into(), pace, count.into());
    order["timeout_ns"] = (TIMEOUT.as_nanos() as u64).into();
    order
}

/// More connections than one wait of either back end tells of.
#[test]
fn answers_that_lie_in_the_sockets_are_read_before_deadlines_pass() {
    let (server, counts) = holding();
    let [came, told, went] = &*counts;
    let engine = begin(&order(&server, json!({"kind": "closed", "connections": 600}), 600).to_string());
    came.wait(600);
    stopped(&engine, || {
        told.up();
        went.wait(600);
    });
    let said = end(engine, Vec::new());
    assert_eq!((600, 600, 0), (said.count("offered"), said.count("ok"), said.errors("timeout")), "{}", said.last());
    assert!(stall_ns(&said) >= 2000 * MS, "{}", said.last());
}

#[test]
fn what_was_not_answered_is_still_given_up() {
    let (server, counts) = holding();
    let engine = begin(&order(&server, json!({"kind": "closed", "connections": 4}), 4).to_string());
    counts[0].wait(4);
    stopped(&engine, || ());
    let said = end(engine, Vec::new());
    assert_eq!((4, 4), (said.count("offered"), said.errors("timeout")), "{}", said.last());
}

/// The server answers at once, so that it has a free connection for whatever comes due. Here the engine is stopped for a second more than a
/// request may wait.
#[test]
fn what_came_due_while_the_engine_was_away_is_late_and_not_shed() {
    for connections in [1, 8] {
        let came = Arc::new(Count::default());
        let seen = came.clone();
        let server = Server::start(move |mut peer| {
            while peer.request().is_some() {
                seen.up();
                peer.say(HELLO);
            }
        });
        let pace =
            json!({"kind": "constant", "rate_per_s": 100, "connections": connections, "max_connections": connections});
        let engine = begin(&order(&server, pace, 400).to_string());
        came.wait(1);
        stopped(&engine, || sleep(Duration::from_secs(1)));
        let said = end(engine, Vec::new());
        assert_eq!((400, 400, 0), (said.count("offered"), said.count("ok"), said.errors("shed")), "{}", said.last());
        assert!(said.count("sends_late") >= 200, "{}", said.last());
        assert!(said.last()["lag_ns"]["max"].as_u64().unwrap() >= 2000 * MS, "{}", said.last());
        assert!(stall_ns(&said) >= 3000 * MS, "{}", said.last());
    }
}

/// All connections are taken when the engine is stopped, and the answers come while it is: the requests behind them could have gone.
#[test]
fn what_waited_for_answers_that_the_engine_had_no_eye_for_is_not_shed() {
    let (server, counts) = holding();
    let [came, told, went] = &*counts;
    let pace = json!({"kind": "constant", "rate_per_s": 200, "connections": 2, "max_connections": 2});
    let engine = begin(&order(&server, pace, 440).to_string());
    came.wait(2);
    stopped(&engine, || {
        told.up();
        went.wait(2);
    });
    let said = end(engine, Vec::new());
    assert_eq!((440, 440), (said.count("offered"), said.count("ok")), "{}", said.last());
    assert!(said.count("sends_late") >= 200, "{}", said.last());
}

#[test]
fn slices_say_how_long_threads_had_nothing_to_do_and_how_long_they_waited_for_a_processor() {
    let server = Server::start(|mut peer| {
        while peer.request().is_some() {
            sleep(Duration::from_millis(20));
            peer.say(HELLO);
        }
    });
    for (threads, wait) in [(1, "sleep"), (2, "spin")] {
        let mut order = order(&server, json!({"kind": "closed", "connections": 2}), 20);
        (order["threads"], order["wait"]) = (threads.into(), wait.into());
        let said = watch_begun(begin(&order.to_string()), |_| {}).said;
        let slice = said.lines.iter().find(|line| line["event"] == "slice").unwrap();
        let known = std::fs::read_to_string("/proc/thread-self/schedstat").is_ok_and(|text| text.trim() != "0 0 0");
        for line in [slice, said.last(), &said.last()["threads"][0]] {
            assert_eq!([known, known], ["idle_ns", "run_delay_ns"].map(|key| line[key].is_u64()), "{line}");
        }
        if known {
            let span = threads * said.count("duration_ns");
            assert!(said.count("idle_ns") > 0, "{}", said.last());
            // Each reads the clock for itself at the edges.
            assert!(said.count("idle_ns") <= span + 100 * MS, "{}", said.last());
        }
    }
}
