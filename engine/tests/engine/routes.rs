//! Orders of several requests: what each of them came to, beside what all did. Counts decide, never timing.

use crate::theatre::{HELLO, Peer, Said, Server};
use serde_json::{Value, json};

/// Answers by path: right, with a wrong status, cut short, or never.
fn by_path(mut peer: Peer) {
    while let Some(request) = peer.request() {
        match &request[..6] {
            "GET /b" => peer.say("HTTP/1.1 404 No\r\nContent-Length: 9\r\n\r\nnot found"),
            "GET /c" => return peer.say("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"),
            "GET /d" => return peer.hang(),
            _ => peer.say(HELLO),
        }
    }
}

fn requests(paths: &[(&str, u64)]) -> Value {
    paths.iter().map(|(p, w)| json!({"name": &p[1..], "method": "GET", "path": p, "weight": w})).collect()
}

/// Sums over routes are the totals, on every line that has any.
fn check(said: &Said) {
    for line in said.lines.iter().filter(|l| l["event"] == "slice" || l["event"] == "summary") {
        let routes = line["routes"].as_array().unwrap();
        let sum = |key: &str| routes.iter().map(|r| r.pointer(key).unwrap().as_u64().unwrap()).sum::<u64>();
        for key in ["/offered", "/ok", "/bytes_in"] {
            assert_eq!(line.pointer(key).unwrap(), sum(key), "{key}: {line}");
        }
        for (error, n) in line["errors"].as_object().unwrap() {
            assert_eq!(*n, sum(&format!("/errors/{error}")), "{error}: {line}");
        }
    }
}

fn route<'s>(said: &'s Said, name: &str) -> &'s Value {
    said.last()["routes"].as_array().unwrap().iter().find(|r| r["name"] == name).unwrap()
}

#[test]
fn each_route_has_its_own_outcomes_and_the_sums_are_the_totals() {
    let server = Server::start(by_path);
    let said = server.load(|o| {
        (o["requests"], o["count"]) = (requests(&[("/a", 3), ("/b", 2), ("/c", 1)]), 60.into());
        (o["pace"]["connections"], o["threads"]) = (4.into(), 2.into());
    });
    check(&said);
    // Two threads have a mix each, so that only each one's share of the count is mixed exactly.
    let n = |name: &str, key: &str| route(&said, name).pointer(key).unwrap().as_u64().unwrap();
    assert_eq!((60, n("a", "/offered")), (said.count("offered"), n("a", "/ok")));
    assert!(n("a", "/ok").abs_diff(30) <= 3 && n("b", "/offered").abs_diff(20) <= 3, "{}", said.last());
    assert_eq!((0, n("b", "/offered")), (n("b", "/ok"), n("b", "/errors/wrong-status")));
    assert_eq!(n("c", "/offered"), n("c", "/errors/truncated"));
    assert_eq!(json!({"404": n("b", "/offered")}), route(&said, "b")["statuses"]);
    assert_eq!(n("b", "/offered") * 47, n("b", "/bytes_in"));
}

#[test]
fn routes_are_told_in_the_orders_order_with_times_of_their_own() {
    let server = Server::start(by_path);
    let said = server.load(|o| o["requests"] = requests(&[("/a", 1), ("/c", 1)]));
    check(&said);
    let slice = said.lines.iter().find(|l| l["event"] == "slice").unwrap();
    let names: Vec<_> = slice["routes"].as_array().unwrap().iter().map(|r| r["path"].as_str().unwrap()).collect();
    assert_eq!(vec!["/a", "/c"], names);
    let (a, c) = (route(&said, "a"), route(&said, "c"));
    assert!(a["latency_ns"]["p50"].is_u64() && a["response_ns"]["at_least"] == json!([]), "{a}");
    assert_eq!(
        (json!(null), json!({}), json!("GET")),
        (c["latency_ns"].clone(), c["statuses"].clone(), c["method"].clone())
    );
    assert!(a["latency_hdr"].as_str().unwrap().starts_with("HISTFAAAA") && c["response_hdr"].is_null());
    assert!(slice["routes"][0].get("statuses").is_none(), "only the summary tells them");
    // One route alone had complete answers, so its times are those of the whole.
    assert_eq!(said.last()["latency_ns"], a["latency_ns"]);
}

#[test]
fn one_request_has_no_routes() {
    let said = Server::start(by_path).load(|_| {});
    let lines = said.lines.iter().filter(|l| l["event"] == "slice" || l["event"] == "summary");
    assert!(lines.clone().count() >= 2 && lines.clone().all(|l| l["routes"] == json!([])));
}

#[test]
fn requests_that_are_given_up_belong_to_routes_too() {
    let server = Server::start(by_path);
    let said = server.load(|o| {
        (o["schema"], o["count"], o["duration_ns"]) = (2.into(), Value::Null, 50_000_000.into());
        o["pace"] = json!({"kind": "constant", "rate_per_s": 1000, "connections": 1, "max_connections": 1});
        o["requests"] = requests(&[("/d", 1), ("/a", 1)]);
    });
    check(&said);
    let (d, a) = (route(&said, "d"), route(&said, "a"));
    // The first keeps the only connection to the end. The others were never sent, and the mix says which they would have been.
    assert_eq!(
        (json!(25), json!(1), json!(24)),
        (d["offered"].clone(), d["errors"]["unfinished"].clone(), d["errors"]["shed"].clone())
    );
    assert_eq!((json!(25), json!(25)), (a["offered"].clone(), a["errors"]["shed"].clone()));
    assert!(a["response_ns"]["at_least"].as_array().unwrap().contains(&json!("p50")), "{a}");
}

#[test]
fn time_outs_of_a_route_are_in_its_times() {
    let server = Server::start(by_path);
    let said = server.load(|o| {
        (o["requests"], o["count"]) = (requests(&[("/a", 1), ("/d", 1)]), 4.into());
        o["timeout_ns"] = 100_000_000.into();
    });
    check(&said);
    let d = route(&said, "d");
    assert_eq!(
        (json!(2), true),
        (d["errors"]["timeout"].clone(), d["latency_ns"]["min"].as_u64().unwrap() >= 99_900_000),
        "{d}"
    );
}

#[test]
fn bytes_that_nobody_asked_for_belong_to_the_request_before_them() {
    let server = Server::start(|mut peer| peer.always(&format!("{HELLO}{HELLO}")));
    let said = server.load(|o| o["requests"] = requests(&[("/a", 1), ("/b", 1)]));
    check(&said);
    assert!(said.count("bytes_in") >= 10 * HELLO.len() as u64);
}
