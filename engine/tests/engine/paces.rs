//! Open paces: what is due is offered, whatever the server does. Counts decide; where times do, only by what they cannot be less than.

use crate::theatre::{HELLO, Said, Server, schema};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::sync::{Arc, Barrier, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Runs an order of schema 2 with this pace, for so many milliseconds.
fn load(server: &Server, pace: Value, ms: u64, edit: impl FnOnce(&mut Value)) -> Said {
    server.load(|o| {
        (o["schema"], o["pace"], o["count"]) = (2.into(), pace, Value::Null);
        o["duration_ns"] = (ms * 1_000_000).into();
        edit(o);
    })
}

fn constant(rate: u64, connections: usize, most: usize) -> Value {
    json!({"kind": "constant", "rate_per_s": rate, "connections": connections, "max_connections": most})
}

#[test]
fn every_request_that_was_due_is_offered_and_nothing_else() {
    let server = Server::start(|mut peer| peer.always(HELLO));
    for wait in ["sleep", "hybrid", "spin", "auto"] {
        let said = load(&server, constant(1000, 2, 50), 100, |o| o["wait"] = wait.into());
        let left = said.errors("shed") + said.errors("unfinished");
        assert_eq!((0, 100, 100), (said.exit, said.count("offered"), said.count("ok") + left), "{wait}");
        assert_eq!((left, 50), (said.count("censored"), said.lines[0]["max_connections"].as_u64().unwrap()));
        let shown = if wait == "auto" { "hybrid" } else { wait };
        assert_eq!((json!(schema(2)), json!(shown)), (said.lines[0]["schema"].clone(), said.lines[0]["wait"].clone()));
        assert!(said.last()["lag_ns"]["max"].is_u64() && said.last()["response_ns"]["p50"].is_u64());
    }
}

#[test]
fn threads_share_the_schedule_without_loss() {
    let server = Server::start(|mut peer| peer.always(HELLO));
    let said = load(&server, constant(2000, 3, 30), 50, |o| o["threads"] = 3.into());
    assert_eq!((100, 3), (said.count("offered"), said.last()["threads"].as_array().unwrap().len()));
}

#[test]
fn a_count_at_an_open_pace_is_exact() {
    let server = Server::start(|mut peer| peer.always(HELLO));
    let pace = json!({"kind": "poisson", "rate_per_s": 5000, "seed": 1, "connections": 2, "max_connections": 64});
    let said = load(&server, pace, 0, |o| {
        (o["duration_ns"], o["count"]) = (Value::Null, 50.into());
        (o["threads"], o["warmup_ns"]) = (2.into(), 10_000_000.into());
    });
    assert_eq!(("count", 50, 50), (said.text("ended"), said.count("offered"), said.count("ok")));
}

#[test]
fn stages_offer_the_area_under_their_line() {
    let server = Server::start(|mut peer| peer.always(HELLO));
    let stages = json!([{"duration_ns": 50_000_000, "rate_per_s_from": 0, "rate_per_s_to": 2000},
                        {"duration_ns": 50_000_000, "rate_per_s_from": 1000, "rate_per_s_to": 1000}]);
    let pace = json!({"kind": "stages", "stages": stages, "connections": 1, "max_connections": 50});
    assert_eq!(100, load(&server, pace, 100, |_| {}).count("offered"));
}

#[test]
fn a_burst_is_on_the_way_all_at_once() {
    // Nobody is answered before five requests are there: fewer than five at once would all time out.
    let five = Arc::new(Barrier::new(5));
    let server = Server::start(move |mut peer| {
        while peer.request().is_some() {
            five.wait();
            peer.say(HELLO);
        }
    });
    let pace = json!({"kind": "burst", "size": 5, "every_ns": 10_000_000, "connections": 1, "max_connections": 5});
    let said = load(&server, pace, 0, |o| (o["duration_ns"], o["count"]) = (Value::Null, 10.into()));
    assert_eq!((10, 5), (said.count("ok"), said.count("connections_peak")));
}

#[test]
fn what_finds_no_connection_waits_and_is_shed_at_the_end_at_its_age() {
    let server = Server::start(|mut peer| peer.hang());
    let said = load(&server, constant(1000, 1, 1), 50, |_| {});
    assert_eq!((50, 1, 49), (said.count("offered"), said.errors("unfinished"), said.errors("shed")));
    assert_eq!((50, json!(null)), (said.count("censored"), said.last()["latency_ns"].clone()));
    assert!(said.last()["unfinished_hdr"].is_string(), "the one that was under way: {}", said.last());
    let response = &said.last()["response_ns"];
    // The first was due 50 ms before the end, the last one 1 ms: exact but for the histogram's three digits.
    assert!(response["max"].as_u64().unwrap() >= 49_900_000, "{response}");
    assert!(said.count("censored_above_ns") >= 1_000_000, "{}", said.last());
    assert_eq!(json!(["p50", "p75", "p90", "p99", "p99.9", "max"]), response["at_least"]);
    assert!(said.last()["first_error"].is_null(), "the end of the run is nobody's fault");
}

/// Offered, unfinished and answered, of the slices of a phase.
fn of_phase(said: &Said, phase: &str) -> [u64; 3] {
    let slices = || said.lines.iter().filter(|l| l["event"] == "slice" && l["phase"] == phase);
    let sum = |of: &dyn Fn(&Value) -> &Value| slices().map(|slice| of(slice).as_u64().unwrap()).sum();
    [sum(&|s| &s["offered"]), sum(&|s| &s["errors"]["unfinished"]), sum(&|s| &s["ok"])]
}

#[test]
fn the_steady_phase_offers_what_was_due_in_it_and_the_warmup_the_rest() {
    // Nothing is answered before the steady phase: its requests are the 26th and on, due from 25 ms on.
    let server = Server::start(|mut peer| {
        while peer.request().is_some() {
            sleep(Duration::from_millis(60));
            peer.say(HELLO);
        }
    });
    for (connections, threads) in [(50, 1), (4, 2), (1, 1)] {
        let said = load(&server, constant(1000, connections, connections), 25, |o| {
            (o["schema"], o["warmup_ns"], o["drain_ns"]) = (3.into(), 25_000_000.into(), 20_000_000_000_u64.into());
            (o["threads"], o["slice_ns"]) = (threads.into(), 10_000_000.into());
        });
        assert_eq!([25, 25, 0], of_phase(&said, "warmup"), "{connections}");
        assert_eq!([25, 0, 25], of_phase(&said, "steady"), "{connections}");
        assert_eq!((25, 25), (said.count("offered"), said.count("ok")));
    }
}

#[test]
fn a_count_is_of_requests_that_were_due_in_the_steady_phase() {
    let server = Server::start(|mut peer| {
        while peer.request().is_some() {
            sleep(Duration::from_millis(30));
            peer.say(HELLO);
        }
    });
    let said = load(&server, constant(1000, 4, 4), 0, |o| {
        (o["duration_ns"], o["count"], o["warmup_ns"]) = (Value::Null, 10.into(), 20_000_000.into());
    });
    assert_eq!(([20, 20, 0], [10, 0, 10]), (of_phase(&said, "warmup"), of_phase(&said, "steady")));
    // The 24 before it took their turns, four at a time.
    assert!(said.last()["response_ns"]["max"].as_u64().unwrap() >= 180_000_000, "{}", said.last());
}

#[test]
fn what_waits_longer_than_the_timeout_is_shed() {
    let server = Server::start(|mut peer| peer.hang());
    let said = load(&server, constant(1000, 1, 1), 100, |o| o["timeout_ns"] = 20_000_000.into());
    let (timeout, shed, left) = (said.errors("timeout"), said.errors("shed"), said.errors("unfinished"));
    assert_eq!((100, 100), (said.count("offered"), timeout + shed + left));
    assert!(timeout >= 1 && shed >= 1, "{}", said.last());
}

#[test]
fn a_closed_pace_has_no_lag_and_its_response_is_its_service() {
    let server = Server::start(|mut peer| peer.always(HELLO));
    let said = server.load(|_| {});
    assert_eq!(
        (json!(null), json!("sleep"), json!(schema(1))),
        (said.last()["lag_ns"].clone(), said.lines[0]["wait"].clone(), said.lines[0]["schema"].clone())
    );
    assert!(said.last()["unfinished_hdr"].is_null(), "{}", said.last());
    assert_eq!(said.text("latency_hdr"), said.text("response_hdr"));
    assert_eq!(json!([]), said.last()["response_ns"]["at_least"]);
}

#[test]
fn a_refused_port_at_an_open_pace_is_unreachable_and_all_that_was_due_is_booked() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let server = Server::start(|_| {});
    let said = load(&server, constant(1000, 2, 4), 60_000, |o| {
        o["target"]["port"] = address.port().into();
        o["connect_timeout_ns"] = 60_000_000_000_u64.into();
    });
    assert_eq!((0, "unreachable"), (said.exit, said.text("ended")));
    let booked = said.errors("connect-refused") + said.errors("shed") + said.errors("unfinished");
    assert_eq!(said.count("offered"), booked);
    assert!(said.errors("connect-refused") > 0, "{}", said.last());
}

#[test]
fn connections_that_the_server_closes_while_idle_cost_no_request() {
    let server = Server::start(|mut peer| {
        peer.request();
        peer.say(HELLO);
    });
    let said = load(&server, constant(1000, 2, 50), 0, |o| (o["duration_ns"], o["count"]) = (Value::Null, 50.into()));
    assert_eq!((50, 50), (said.count("offered"), said.count("ok")));
}

/// How even the arrivals really were, as the server saw them. Told and not asserted: a busy machine may delay anything.
#[test]
fn evenness_of_live_arrivals_is_printed() {
    let (times, began) = (Arc::new(Mutex::new(Vec::new())), Instant::now());
    let seen = times.clone();
    let server = Server::start(move |mut peer| {
        while peer.request().is_some() {
            seen.lock().unwrap().push(began.elapsed().as_nanos() as u64);
            peer.say(HELLO);
        }
    });
    let said = load(&server, constant(1000, 4, 50), 500, |_| {});
    let mut times = times.lock().unwrap().clone();
    times.sort_unstable();
    let (first, mut counts) = (times[0], [0.0; 50]);
    times.iter().filter_map(|t| counts.get_mut(((t - first) / 10_000_000) as usize).map(|n| *n += 1.0)).count();
    let mean = counts.iter().sum::<f64>() / 50.0;
    let fano = counts.iter().map(|n| (n - mean) * (n - mean)).sum::<f64>() / 50.0 / mean;
    println!("{} arrivals, Fano factor {fano:.3} per 10 ms, lag {}", times.len(), said.last()["lag_ns"]);
    assert_eq!(500, said.count("offered"));
}
