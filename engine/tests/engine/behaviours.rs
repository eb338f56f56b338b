//! What right servers do, and what the engine makes of it: one test for each behaviour. Counts decide, never timing.

use crate::theatre::{HELLO, Server, histogram, run};
use rustix::net::sockopt;
use serde_json::json;
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

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
fn a_count_smaller_than_what_the_warmup_left_in_flight_is_exact_too() {
    let server = Server::start(|mut peer| peer.hang());
    let said = server.load(|o| {
        o["pace"]["connections"] = 8.into();
        (o["threads"], o["count"]) = (2.into(), 3.into());
        (o["warmup_ns"], o["timeout_ns"]) = (50_000_000.into(), 400_000_000.into());
    });
    assert_eq!((3, 3), (said.count("offered"), said.errors("timeout")));
    let warmup = said.lines.iter().find(|l| l["phase"] == "warmup" && l["event"] == "slice").unwrap();
    assert_eq!(json!(5), warmup["errors"]["unfinished"]);
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
fn an_empty_line_too_many_is_no_matter() {
    let server = Server::start(|mut peer| peer.always(&format!("{HELLO}\r\n")));
    let said = server.load(|_| {});
    assert_eq!((10, 1), (said.count("ok"), said.count("connections_opened")));
}

#[test]
fn empty_lines_before_an_answer_are_not_its_first_byte() {
    let server = Server::start(|mut peer| {
        while peer.request().is_some() {
            for line in ["\r\n", "\r\n", "\n"] {
                peer.say(line);
                thread::sleep(Duration::from_millis(5));
            }
            peer.say(HELLO);
        }
    });
    let said = server.load(|o| o["count"] = 3.into());
    assert_eq!((3, 1), (said.count("ok"), said.count("connections_opened")));
    let first_byte = histogram(&said.last()["ttfb_hdr"]);
    assert_eq!(3, first_byte.len(), "one for each answer");
    assert!(first_byte.min() >= 14_000_000, "{}", first_byte.min());
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
fn a_big_answer_that_nobody_compares_is_over_with_its_last_byte() {
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", 1 << 20, "x".repeat(1 << 20));
    let bytes = answer.len() as u64;
    let server = Server::start(move |mut peer| peer.always(&answer));
    for expect in [json!({}), json!({"body_length": 1 << 20})] {
        // The first tells the engine that they are long; the others come unseen.
        let said = server.load(|o| (o["count"], o["requests"][0]["expect"]) = (3.into(), expect));
        let counted = (said.count("ok"), said.count("connections_opened"), said.count("bytes_in"));
        assert_eq!((3, 1, 3 * bytes), counted, "{}", said.last());
    }
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
    let said = run("{\"schema\": 6}");
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
