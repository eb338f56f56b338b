//! What servers do, and what the engine makes of it: one test for each behaviour. Counts decide, never timing.

use crate::theatre::{HELLO, Server, run};
use rustix::net::sockopt;
use serde_json::json;
use std::net::TcpListener;
use std::thread;

#[test]
fn connections_are_kept_and_the_count_is_exact() {
    let server = Server::start(|mut peer| peer.always(HELLO));
    let said = server.load(|o| o["pace"]["connections"] = 3.into());
    assert_eq!((0, "count"), (said.exit, said.text("ended")));
    assert_eq!((10, 10, 3), (said.count("offered"), said.count("ok"), said.count("connections_opened")));
    assert_eq!((10, json!({"200": 10})), (server.heard().len(), said.last()["statuses"].clone()));
    assert_eq!("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", said.text("first_answer"));
    assert!(said.last()["first_error"].is_null());
}

#[test]
fn two_threads_and_a_warmup_keep_the_count_exact() {
    let server = Server::start(|mut peer| peer.always(HELLO));
    let said = server.load(|o| {
        o["pace"]["connections"] = 7.into();
        (o["threads"], o["count"], o["warmup_ns"]) = (2.into(), 1001.into(), 20_000_000.into());
    });
    assert_eq!((1001, 1001), (said.count("offered"), said.count("ok")));
    let phases: Vec<_> =
        said.lines.iter().filter(|l| l["event"] == "phase").map(|l| l["phase"].as_str().unwrap()).collect();
    assert_eq!(vec!["warmup", "steady", "ended"], phases);
}

#[test]
fn a_duration_ends_the_load_and_what_is_in_flight_is_unfinished() {
    let server = Server::start(|mut peer| peer.hang());
    let said = server.load(|o| {
        o["pace"]["connections"] = 4.into();
        (o["count"], o["duration_ns"], o["slice_ns"]) = (json!(null), 30_000_000.into(), 10_000_000.into());
    });
    assert_eq!("duration", said.text("ended"));
    assert_eq!((4, 4, 30_000_000), (said.count("offered"), said.errors("unfinished"), said.count("duration_ns")));
    assert_eq!((4, json!(null)), (said.count("connections_unanswered"), said.last()["latency_ns"].clone()));
    assert_eq!(3, said.lines.iter().filter(|l| l["event"] == "slice").count());
}

#[test]
fn a_silent_close_is_no_error() {
    let server = Server::start(|mut peer| {
        peer.request();
        peer.say(HELLO);
    });
    let said = server.load(|_| {});
    assert_eq!((10, 0), (said.count("ok"), said.count("closes_announced")));
    assert_eq!((10, 0), (said.count("connections_opened"), said.errors("truncated") + said.errors("reset")));
    // Whether the end is seen before or after the next request is sent is a race; both tell of the same close. The last is seen or not.
    let seen = said.count("closes_silent") + said.count("stale_retries");
    assert!((9..=10).contains(&seen), "{seen}");
}

#[test]
fn an_announced_close_is_followed_at_once() {
    let server = Server::start(|mut peer| {
        peer.request();
        peer.say("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello");
        peer.hang();
    });
    let said = server.load(|_| {});
    assert_eq!((10, 10, 10), (said.count("ok"), said.count("closes_announced"), said.count("connections_opened")));
    assert_eq!(
        (0, json!({"min": 1, "p50": 1, "max": 1})),
        (said.count("closes_silent"), said.last()["answers_per_connection"].clone())
    );
}

#[test]
fn http10_without_keep_alive_is_an_announced_close() {
    let server = Server::start(|mut peer| {
        peer.request();
        peer.say("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    });
    let said = server.load(|_| {});
    assert_eq!((10, 10, 10), (said.count("ok"), said.count("http10_answers"), said.count("closes_announced")));
}

#[test]
fn http10_with_keep_alive_is_kept() {
    let server = Server::start(|mut peer| {
        peer.always("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello")
    });
    let said = server.load(|o| o["http"] = "1.0".into());
    assert_eq!((10, 1), (said.count("ok"), said.count("connections_opened")));
    assert!(
        server.heard().iter().all(|r| r.starts_with("GET / HTTP/1.0\r\n") && r.contains("Connection: keep-alive\r\n"))
    );
}

#[test]
fn a_body_may_end_by_close() {
    let server = Server::start(|mut peer| {
        peer.request();
        peer.say("HTTP/1.1 200 OK\r\n\r\nhello");
    });
    let said = server.load(|o| o["requests"][0]["expect"] = json!({"body_length": 5, "body_contains": "hello"}));
    assert_eq!((10, 10), (said.count("ok"), said.count("closes_announced")));
}

#[test]
fn a_chunked_body_is_checked_decoded() {
    let server = Server::start(|mut peer| {
        peer.always("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x\r\nlo\r\n0\r\nT: x\r\n\r\n");
    });
    let sha = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    let said = server.load(|o| o["requests"][0]["expect"] = json!({"body_length": 5, "body_sha256": sha}));
    assert_eq!((10, 1), (said.count("ok"), said.count("connections_opened")));
}

#[test]
fn an_answer_in_single_bytes_is_read() {
    let server = Server::start(|mut peer| {
        while peer.request().is_some() {
            HELLO.bytes().for_each(|b| peer.say([b]));
        }
    });
    assert_eq!(10, server.load(|o| o["requests"][0]["expect"] = json!({"body_contains": "hello"})).count("ok"));
}

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
fn a_refused_port_is_unreachable_and_not_hammered() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let server = Server::start(|_| {});
    let said = server.load(|o| {
        o["target"]["port"] = address.port().into();
        (o["count"], o["duration_ns"], o["connect_timeout_ns"]) =
            (json!(null), 60_000_000_000_u64.into(), 100_000_000.into());
    });
    assert_eq!((0, "unreachable"), (said.exit, said.text("ended")));
    assert_eq!(said.count("offered"), said.errors("connect-refused") + said.errors("unfinished"));
    assert!((2..200).contains(&said.count("offered")), "{}", said.count("offered"));
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

#[test]
fn an_interim_answer_is_skipped() {
    let server = Server::start(|mut peer| peer.always(&format!("HTTP/1.1 103 Early Hints\r\n\r\n{HELLO}")));
    assert_eq!(10, server.load(|_| {}).count("ok"));
}

#[test]
fn bytes_that_are_not_http_are_malformed() {
    let server = Server::start(|mut peer| peer.say("220 mail.example ESMTP\r\n"));
    assert_eq!(2, server.load(|o| o["count"] = 2.into()).errors("malformed"));
}

#[test]
fn more_bytes_than_the_answer_has_cost_the_connection_and_nothing_else() {
    let server = Server::start(|mut peer| peer.always(&format!("{HELLO}{HELLO}")));
    let said = server.load(|_| {});
    assert_eq!((10, 10, 10), (said.count("offered"), said.count("ok"), said.count("connections_opened")));
}

#[test]
fn answers_to_head_and_204_have_no_body() {
    let head = Server::start(|mut peer| peer.always("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"));
    assert_eq!(10, head.load(|o| o["requests"][0]["method"] = "HEAD".into()).count("ok"));
    let none = Server::start(|mut peer| peer.always("HTTP/1.1 204 No Content\r\n\r\n"));
    assert_eq!(10, none.load(|o| o["requests"][0]["expect"] = json!({"statuses": [204]})).count("ok"));
}

#[test]
fn without_keep_alive_every_request_has_its_own_connection() {
    let server = Server::start(|mut peer| peer.always(HELLO));
    let said = server.load(|o| o["keep_alive"] = false.into());
    assert_eq!((10, 10, 10), (said.count("ok"), said.count("connections_opened"), said.count("closes_announced")));
    assert!(server.heard().iter().all(|r| r.contains("Connection: close\r\n")));
    assert_eq!(10, server.accepted());
}

#[test]
fn weights_are_kept_exactly() {
    let server = Server::start(|mut peer| peer.always(HELLO));
    server.load(|o| {
        o["count"] = 12.into();
        o["requests"] = json!([{"name": "a", "method": "GET", "path": "/a", "weight": 3}, {"name": "b", "method": "GET", "path": "/b"}]);
    });
    let count = |path: &str| server.heard().iter().filter(|r| r.starts_with(&format!("GET {path} "))).count();
    assert_eq!((9, 3), (count("/a"), count("/b")));
}

#[test]
fn each_request_has_its_own_right_answer() {
    let server = Server::start(|mut peer| {
        while let Some(request) = peer.request() {
            peer.say(if request.starts_with("GET /a") { HELLO.to_string() } else { HELLO.replace("hello", "olleh") });
        }
    });
    let said = server.load(|o| {
        let expect = |text: &str| json!({"body_contains": text});
        o["requests"] = json!([{"name": "a", "method": "GET", "path": "/a", "expect": expect("hello")},
                               {"name": "b", "method": "GET", "path": "/b", "expect": expect("olleh")}]);
    });
    assert_eq!(10, said.count("ok"));
}

#[test]
fn ipv6_is_spoken() {
    let Ok(listener) = TcpListener::bind("[::1]:0") else { return };
    let server = Server::on(listener, |mut peer| peer.always(HELLO));
    let said = server.load(|o| o["target"]["host"] = "[::1]".into());
    assert_eq!(10, said.count("ok"));
    assert!(server.heard()[0].contains(&format!("Host: [::1]:{}\r\n", server.address.port())), "{}", server.heard()[0]);
}

#[test]
fn a_big_answer_is_checked_whole() {
    let body = "0123456789abcdef".repeat(1 << 16);
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let server = Server::start(move |mut peer| peer.always(&answer));
    let expect = json!({"body_length": 1 << 20, "body_contains": "ef0123456789abcdef0"});
    let said = server.load(|o| o["requests"][0]["expect"] = expect);
    assert_eq!((10, 1), (said.count("ok"), said.count("connections_opened")));
    assert!(said.count("bytes_in") > 10 << 20);
}

#[test]
fn a_big_request_is_sent_whole_also_to_a_slow_reader() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    sockopt::set_socket_recv_buffer_size(&listener, 4096).unwrap();
    let server = Server::on(listener, |mut peer| {
        thread::yield_now();
        peer.always(HELLO);
    });
    let said = server.load(|o| {
        o["count"] = 3.into();
        o["requests"][0]["method"] = "POST".into();
        o["requests"][0]["body_base64"] = "AAAA".repeat(1 << 20).into();
    });
    assert_eq!((3, 3), (said.count("ok"), server.heard().len()));
    assert!(said.count("bytes_out") > 9 << 20);
}

#[test]
fn an_order_that_is_wrong_ends_with_two() {
    let said = run("{\"schema\": 2}");
    assert_eq!((2, "fault", "schema"), (said.exit, said.text("event"), said.text("key")));
    assert_eq!(1, said.lines.len());
}

#[test]
fn a_host_without_an_address_ends_with_three() {
    let server = Server::start(|_| {});
    let said = server.load(|o| o["target"]["host"] = "no-such-host.invalid".into());
    assert_eq!((3, 3, "target.host"), (said.exit, said.count("exit"), said.text("key")));
}

#[test]
fn a_processor_that_is_not_ours_ends_with_three() {
    let server = Server::start(|_| {});
    let said = server.load(|o| o["cpus"] = json!([1023]));
    assert_eq!((3, "cpus[0]"), (said.exit, said.text("key")));
}
