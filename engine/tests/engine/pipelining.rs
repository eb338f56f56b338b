//! Several requests ahead on a connection: what servers do to them, and what the engine makes of it.

use crate::theatre::{HELLO, Peer, Said, Server};
use serde_json::{Value, json};

const LAST: &str = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello";

/// Runs the order of the theatre with so many requests ahead on its one connection.
fn load(server: &Server, ahead: u64, edit: impl FnOnce(&mut Value)) -> Said {
    server.load(|o| {
        (o["schema"], o["pipeline"]) = (3.into(), ahead.into());
        edit(o);
    })
}

/// Takes so many requests.
fn hear(peer: &mut Peer, requests: usize) {
    (0..requests).for_each(|_| {
        peer.request();
    });
}

#[test]
fn requests_go_ahead_of_their_answers_and_several_answers_come_in_one_read() {
    let server = Server::start(|mut peer| {
        for _ in 0..5 {
            hear(&mut peer, 4);
            peer.say(HELLO.repeat(4));
        }
        peer.hang();
    });
    let said = load(&server, 4, |o| o["count"] = 20.into());
    assert_eq!((20, 20, 1), (said.count("offered"), said.count("ok"), said.count("connections_opened")));
    assert_eq!((20, 1), (server.heard().len(), server.accepted()));
    assert_eq!(json!({"min": 20, "p50": 20, "max": 20}), said.last()["answers_per_connection"]);
    assert_eq!((20 * HELLO.len() as u64, 0), (said.count("bytes_in"), said.count("connections_unanswered")));
    assert_eq!((0, 1), (said.count("closes_silent"), said.count("connections_peak")));
}

#[test]
fn answers_may_be_split_anywhere() {
    let pair = HELLO.repeat(2);
    let server = Server::start(move |mut peer| {
        for at in 0..pair.len() {
            hear(&mut peer, 2);
            peer.say(&pair[..at]);
            std::thread::yield_now();
            peer.say(&pair[at..]);
        }
        peer.hang();
    });
    let count = 4 * HELLO.len() as u64;
    let said = load(&server, 2, |o| {
        (o["count"], o["requests"][0]["expect"]) = (count.into(), json!({"body_contains": "hello", "body_length": 5}));
    });
    assert_eq!((count, 1), (said.count("ok"), said.count("connections_opened")));
    assert_eq!(HELLO.len() as u64 * count, said.count("bytes_in"));
}

#[test]
fn what_was_behind_an_announced_close_is_sent_again_until_it_is_answered() {
    let server = Server::start(|mut peer| {
        hear(&mut peer, 1);
        peer.say(LAST);
        peer.hang();
    });
    let said = load(&server, 4, |_| {});
    assert_eq!((10, 10, 10), (said.count("offered"), said.count("ok"), said.count("connections_opened")));
    assert_eq!((10, 0), (said.count("closes_announced"), said.count("closes_silent")));
    // Of the first four, three were behind once, two twice, one three times.
    assert!(said.count("stale_retries") >= 6, "{}", said.last());
    assert!(said.last()["first_error"].is_null());
}

#[test]
fn a_close_in_the_middle_of_many_answers_keeps_the_count() {
    let server = Server::start(|mut peer| {
        hear(&mut peer, 1);
        peer.say(HELLO);
        hear(&mut peer, 1);
        // What follows a last answer is not read as one.
        peer.say(format!("{LAST}{HELLO}"));
        peer.hang();
    });
    let said = load(&server, 8, |o| o["count"] = 50.into());
    assert_eq!((50, 50, 25), (said.count("offered"), said.count("ok"), said.count("connections_opened")));
    assert_eq!(25, said.count("closes_announced"));
}

#[test]
fn a_reset_after_an_answer_has_the_others_sent_once_more() {
    let server = Server::start(|mut peer| {
        if peer.number > 0 {
            return peer.always(HELLO);
        }
        hear(&mut peer, 4);
        peer.say(HELLO);
        // The fifth tells that the first answer has been read.
        hear(&mut peer, 1);
        peer.reset();
    });
    let said = load(&server, 4, |_| {});
    assert_eq!((10, 4, 2), (said.count("ok"), said.count("stale_retries"), said.count("connections_opened")));
}

#[test]
fn a_reset_before_any_answer_is_everybodys_outcome() {
    let server = Server::start(|mut peer| {
        if peer.number > 0 {
            return peer.always(HELLO);
        }
        hear(&mut peer, 4);
        peer.reset();
    });
    let said = load(&server, 4, |_| {});
    assert_eq!((6, 4, 0), (said.count("ok"), said.errors("reset"), said.count("stale_retries")));
}

#[test]
fn an_end_in_the_middle_of_an_answer_is_that_ones_outcome_alone() {
    let server = Server::start(|mut peer| {
        if peer.number > 0 {
            return peer.always(HELLO);
        }
        hear(&mut peer, 4);
        peer.say(format!("{HELLO}{}", &HELLO[..HELLO.len() - 1]));
        // The fifth has been read too, so that the end is no reset.
        hear(&mut peer, 1);
    });
    let said = load(&server, 4, |_| {});
    assert_eq!((9, 1, 2), (said.count("ok"), said.errors("truncated"), said.count("connections_opened")));
}

#[test]
fn an_answer_that_is_none_costs_the_connection_but_not_the_others() {
    let server = Server::start(|mut peer| {
        if peer.number > 0 {
            return peer.always(HELLO);
        }
        hear(&mut peer, 4);
        peer.say(format!("{HELLO}nonsense"));
        peer.hang();
    });
    let said = load(&server, 4, |_| {});
    assert_eq!((9, 1, 2), (said.count("ok"), said.errors("malformed"), said.count("connections_opened")));
}

#[test]
fn a_wrong_body_in_the_middle_is_one_requests_outcome() {
    let server = Server::start(|mut peer| {
        for _ in 0..2 {
            hear(&mut peer, 4);
            peer.say(format!("{HELLO}{}{}", HELLO.replace("hello", "hallo"), HELLO.repeat(2)));
        }
        peer.hang();
    });
    let said = load(&server, 4, |o| {
        (o["count"], o["requests"][0]["expect"]) = (8.into(), json!({"body_contains": "hello"}));
    });
    assert_eq!((6, 2, 1), (said.count("ok"), said.errors("wrong-body"), said.count("connections_opened")));
}

#[test]
fn bytes_that_nobody_asked_for_make_the_connection_useless() {
    let server = Server::start(|mut peer| {
        if peer.number > 0 {
            return peer.always(HELLO);
        }
        hear(&mut peer, 2);
        peer.say(HELLO.repeat(3));
        peer.hang();
    });
    let said = load(&server, 2, |_| {});
    assert_eq!((10, 2, 2), (said.count("ok"), said.count("connections_opened"), server.accepted() as u64));
}

#[test]
fn what_was_behind_a_request_that_timed_out_is_sent_again() {
    let server = Server::start(|mut peer| {
        if peer.number > 0 {
            return peer.always(HELLO);
        }
        hear(&mut peer, 2);
        std::thread::sleep(std::time::Duration::from_millis(300));
        peer.say(HELLO);
        peer.hang();
    });
    let said = load(&server, 2, |o| o["timeout_ns"] = 600_000_000.into());
    assert_eq!((9, 1, 2), (said.count("ok"), said.errors("timeout"), said.count("connections_opened")));
    assert_eq!(1, said.count("stale_retries"));
}

#[test]
fn two_threads_and_a_warmup_keep_the_count_exact() {
    let server = Server::start(|mut peer| peer.always(HELLO));
    let said = load(&server, 5, |o| {
        o["pace"]["connections"] = 3.into();
        (o["threads"], o["count"], o["warmup_ns"]) = (2.into(), 1001.into(), 20_000_000.into());
    });
    assert_eq!((1001, 1001), (said.count("offered"), said.count("ok")));
    assert_eq!(json!(0), said.last()["in_flight"]);
}

#[test]
fn more_requests_than_the_count_are_never_begun() {
    let server = Server::start(|mut peer| peer.always(HELLO));
    let said = load(&server, 256, |o| o["count"] = 3.into());
    assert_eq!((3, 3, 3), (said.count("offered"), said.count("ok"), server.heard().len()));
}

#[test]
fn a_refused_connect_is_the_outcome_of_each_request_that_waited_for_it() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = Server::start(|mut peer| peer.hang());
    let said = load(&server, 4, |o| (o["count"], o["target"]["port"]) = (8.into(), port.into()));
    assert_eq!((8, 8), (said.count("offered"), said.errors("connect-refused")));
    assert_eq!(("unreachable", 1), (said.text("ended"), said.count("connections_unanswered")));
}

#[test]
fn an_open_pace_fills_the_lanes_there_are_before_it_opens_another_connection() {
    let server = Server::start(|mut peer| {
        hear(&mut peer, 50);
        peer.say(HELLO.repeat(50));
        peer.always(HELLO);
    });
    let said = load(&server, 60, |o| {
        // The fiftieth is due after seven tenths of the second.
        let stages = json!([{"duration_ns": 1_000_000_000, "rate_per_s_from": 0, "rate_per_s_to": 200}]);
        o["pace"] = json!({"kind": "stages", "stages": stages, "connections": 1, "max_connections": 50});
        (o["count"], o["duration_ns"]) = (json!(null), 1_000_000_000.into());
    });
    // The first request is due at once, before the connection that was opened for it is there.
    assert!(server.accepted() <= 2, "{}", server.accepted());
    assert!(said.count("ok") >= 50, "{}", said.last());
}

#[test]
fn requests_longer_than_the_socket_takes_arrive_whole() {
    let server = Server::start(|mut peer| peer.always(HELLO));
    let said = load(&server, 4, |o| {
        (o["requests"][0]["method"], o["requests"][0]["body_base64"]) = ("POST".into(), "eHh4".repeat(500_000).into());
    });
    assert_eq!((10, 10, 1), (said.count("ok"), server.heard().len(), said.count("connections_opened")));
}
