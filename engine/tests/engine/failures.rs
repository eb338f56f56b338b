//! Servers that fail, and what the failure is called: one test for each. Counts decide, never timing.

use crate::theatre::{HELLO, Server};
use serde_json::json;
use std::net::TcpListener;

#[test]
fn a_truncated_body_is_truncated() {
    let server = Server::start(|mut peer| {
        peer.request();
        peer.say("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello world");
    });
    let said = server.load(|_| {});
    assert_eq!((0, 10), (said.count("ok"), said.errors("truncated")));
    assert_eq!(
        "truncated: the server closed the connection before the answer to GET / was complete",
        said.text("first_error")
    );
}

#[test]
fn a_close_without_any_answer_on_a_fresh_connection_is_truncated() {
    let server = Server::start(|mut peer| drop(peer.request()));
    let said = server.load(|_| {});
    assert_eq!((10, 0), (said.errors("truncated"), said.count("stale_retries")));
}

#[test]
fn a_reset_in_mid_body_is_reset() {
    let server = Server::start(|mut peer| {
        peer.request();
        peer.say("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello world");
        peer.reset();
    });
    let said = server.load(|_| {});
    assert_eq!((0, 10), (said.count("ok"), said.errors("reset")));
}

#[test]
fn wrong_statuses_are_counted_on_kept_connections() {
    let server = Server::start(|mut peer| peer.always("HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops"));
    let said = server.load(|_| {});
    assert_eq!(
        (10, 1, json!({"500": 10})),
        (said.errors("wrong-status"), said.count("connections_opened"), said.last()["statuses"].clone())
    );
    assert_eq!("wrong-status: GET / answered 500, expected 200", said.text("first_error"));
}

#[test]
fn every_body_is_checked_also_after_right_ones() {
    let server = Server::start(|mut peer| {
        for i in 0.. {
            if peer.request().is_none() {
                return;
            }
            peer.say(if i % 5 == 4 { HELLO.replace("hello", "hellO") } else { HELLO.to_string() });
        }
    });
    let sha = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    let said = server.load(|o| o["requests"][0]["expect"] = json!({"body_sha256": sha}));
    assert_eq!((8, 2, 1), (said.count("ok"), said.errors("wrong-body"), said.count("connections_opened")));
    let begin = "wrong-body: GET / answered 200 with 5 bytes of SHA-256 ";
    assert!(said.text("first_error").starts_with(begin), "{}", said.text("first_error"));
}

#[test]
fn length_text_and_media_type_are_told_apart_in_the_first_error() {
    let server = Server::start(|mut peer| {
        peer.always("HTTP/1.1 200 OK\r\nContent-Type: text/html; a=b\r\nContent-Length: 5\r\n\r\nhello")
    });
    let rows = [
        (json!({"body_length": 6}), "wrong-body: GET / answered 200 with 5 bytes, expected 6 bytes"),
        (json!({"body_contains": "x"}), "wrong-body: GET / answered 200 with 5 bytes that do not contain \"x\""),
        (
            json!({"content_type": "a/b"}),
            "wrong-body: GET / answered 200 with the media type \"text/html\", expected a/b",
        ),
    ];
    for (expect, message) in rows {
        let said = server.load(|o| o["requests"][0]["expect"] = expect);
        assert_eq!((10, message), (said.errors("wrong-body"), said.text("first_error")));
    }
    assert_eq!(10, server.load(|o| o["requests"][0]["expect"] = json!({"content_type": "Text/HTML"})).count("ok"));
}

#[test]
fn a_server_that_never_answers_is_a_timeout_with_its_waiting_time() {
    let server = Server::start(|mut peer| peer.hang());
    let said = server.load(|o| (o["timeout_ns"], o["count"]) = (20_000_000.into(), 3.into()));
    assert_eq!((3, 3), (said.errors("timeout"), said.count("connections_opened")));
    assert!(said.last()["latency_ns"]["min"].as_u64().unwrap() >= 19_900_000, "{}", said.last()["latency_ns"]);
    assert_eq!("timeout: GET / had no complete answer after 0.02 s", said.text("first_error"));
}

#[test]
fn a_server_that_trickles_is_a_timeout_too() {
    let server = Server::start(|mut peer| {
        peer.request();
        peer.say("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel");
        peer.hang();
    });
    let said = server.load(|o| (o["timeout_ns"], o["count"]) = (20_000_000.into(), 2.into()));
    assert_eq!(2, said.errors("timeout"));
}

#[test]
fn one_connection_in_four_never_answered_is_told() {
    // The first of the four, and whatever takes its place after its timeout, gets no answer.
    let server = Server::start(|mut peer| if (1..4).contains(&peer.number) { peer.always(HELLO) } else { peer.hang() });
    let said = server.load(|o| {
        o["pace"]["connections"] = 4.into();
        (o["count"], o["timeout_ns"]) = (20.into(), 1_000_000_000.into());
    });
    assert_eq!((1, 1, 19), (said.count("connections_unanswered"), said.errors("timeout"), said.count("ok")));
}

#[test]
fn a_port_that_refuses_every_connection_ends_the_run_at_once() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let server = Server::start(|_| {});
    let said = server.load(|o| {
        o["target"]["port"] = address.port().into();
        (o["count"], o["duration_ns"], o["connect_timeout_ns"]) =
            (json!(null), 60_000_000_000_u64.into(), 60_000_000_000_u64.into());
    });
    assert_eq!((0, "unreachable"), (said.exit, said.text("ended")));
    assert_eq!(said.count("offered"), said.errors("connect-refused") + said.errors("unfinished"));
    assert!((2..200).contains(&said.count("offered")), "{}", said.count("offered"));
    assert!(said.count("duration_ns") < 30_000_000_000, "{}", said.last());
    assert_eq!(format!("connect-refused: {address} did not take the connection"), said.text("first_error"));
}

#[test]
fn a_full_backlog_is_a_connect_timeout() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let address = listener.local_addr().unwrap();
    // The kernel keeps backlog + 1 connections that nobody accepts; the next ones are not answered.
    let full: Vec<_> = (0..1).map(|_| std::net::TcpStream::connect(address).unwrap()).collect();
    let server = Server::start(|_| {});
    let said = server.load(|o| {
        o["target"]["port"] = address.port().into();
        (o["count"], o["connect_timeout_ns"]) = (5.into(), 50_000_000.into());
    });
    assert!(said.errors("connect-timeout") > 0, "{}", said.last());
    assert_eq!(("unreachable", 0), (said.text("ended"), said.count("connections_opened")));
    drop(full);
}

#[test]
fn a_request_into_a_closed_connection_is_sent_once_more_and_counted() {
    let server = Server::start(|mut peer| {
        // Answers once, hears the next request, and closes without a byte: as if it had closed just before.
        peer.request();
        peer.say(HELLO);
        peer.request();
    });
    let said = server.load(|o| o["count"] = 5.into());
    assert_eq!((5, 4), (said.count("ok"), said.count("stale_retries")));
}

#[test]
fn a_retry_that_fails_is_not_retried() {
    let server = Server::start(|mut peer| {
        peer.request();
        if peer.number == 0 {
            peer.say(HELLO);
            peer.request();
        }
    });
    let said = server.load(|o| o["count"] = 2.into());
    assert_eq!((1, 1, 1), (said.count("ok"), said.count("stale_retries"), said.errors("truncated")));
}

#[test]
fn a_flood_of_interim_answers_is_malformed() {
    let server = Server::start(|mut peer| {
        peer.request();
        peer.say("HTTP/1.1 102 Processing\r\n\r\n".repeat(10_000));
    });
    let said = server.load(|o| o["count"] = 2.into());
    assert_eq!(2, said.errors("malformed"));
    let message = "malformed: the answer to GET / cannot be read: more than 64 KiB of headers in one answer";
    assert_eq!(message, said.text("first_error"));
}
