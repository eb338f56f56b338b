//! What is sent again when a connection ends under a request, and what is not (RFC 9110, 9.2.2; RFC 9113, 8.7).

use crate::h2_stage::{self, Stage, goaway, head};
use crate::theatre::{HELLO, Said, Server};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use webdyno_engine::wire::h2::{Code, write};

const LAST: &str = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello";

/// Orders this method, with a body.
fn method(order: &mut Value, method: &str) {
    (order["requests"][0]["method"], order["requests"][0]["body_base64"]) = (method.into(), "eHh4".into());
}

/// ok, sent once more, truncated, reset.
fn counts(said: &Said) -> (u64, u64, u64, u64) {
    (said.count("ok"), said.count("stale_retries"), said.errors("truncated"), said.errors("reset"))
}

/// Answers once on each connection, hears one more request, and resets.
fn one_and_reset() -> Server {
    Server::start(|mut peer| {
        peer.request();
        peer.say(HELLO);
        if peer.request().is_some() {
            peer.reset();
        }
    })
}

#[test]
fn a_post_is_not_sent_again_after_a_reset() {
    let server = one_and_reset();
    let said = server.load(|o| {
        method(o, "POST");
        o["count"] = 30.into();
    });
    assert_eq!((15, 0, 0, 15), counts(&said), "{}", said.last());
    assert_eq!(30, server.heard().len(), "each was heard once");
    let why =
        "reset: the server reset the connection before the answer to POST / was complete, and a POST is not sent twice";
    assert_eq!(why, said.text("first_error"));
}

#[test]
fn only_the_methods_that_may_be_repeated_are() {
    for name in ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"] {
        let server = Server::start(move |mut peer| {
            peer.request();
            peer.say(if name == "HEAD" { "HTTP/1.1 200 OK\r\n\r\n" } else { HELLO });
            peer.request();
        });
        let said = server.load(|o| {
            method(o, name);
            o["count"] = 4.into();
        });
        assert_eq!((4, 3, 0, 0), counts(&said), "{name}: {}", said.last());
    }
    for name in ["POST", "PATCH", "PROPPATCH", "get"] {
        let server = Server::start(|mut peer| {
            peer.request();
            peer.say(HELLO);
            peer.request();
        });
        let said = server.load(|o| {
            method(o, name);
            o["count"] = 4.into();
        });
        assert_eq!((2, 0, 2, 0), counts(&said), "{name}: {}", said.last());
        assert_eq!(4, server.heard().len());
    }
}

/// Runs POSTs with so many ahead.
fn ahead(server: &Server, pipeline: u64, edit: impl FnOnce(&mut Value)) -> Said {
    server.load(|o| {
        (o["schema"], o["pipeline"]) = (3.into(), pipeline.into());
        method(o, "POST");
        edit(o);
    })
}

#[test]
fn a_post_behind_an_announced_close_was_not_worked_on_and_goes_again() {
    let server = Server::start(|mut peer| {
        if peer.number > 0 {
            return peer.always(HELLO);
        }
        (0..4).for_each(|_| drop(peer.request()));
        peer.say(LAST);
        peer.hang();
    });
    let said = ahead(&server, 4, |_| {});
    assert_eq!((10, 3, 0, 0), counts(&said), "{}", said.last());
}

#[test]
fn a_post_behind_a_close_without_a_word_is_not_sent_twice() {
    let server = Server::start(|mut peer| {
        if peer.number > 0 {
            return peer.always(HELLO);
        }
        (0..4).for_each(|_| drop(peer.request()));
        peer.say("HTTP/1.1 200 OK\r\n\r\nuntil the end");
    });
    let said = ahead(&server, 4, |_| {});
    assert_eq!((7, 0, 3, 0), counts(&said), "{}", said.last());
    assert_eq!(10, server.heard().len(), "each was heard once");
    let why = "truncated: POST / was behind a request whose connection was closed, and a POST is not sent twice";
    assert_eq!(why, said.text("first_error"));
}

#[test]
fn a_post_that_never_left_goes_with_the_next_connection() {
    for reset in [false, true] {
        let server = Server::start(move |mut peer| {
            // After the first end the second connection carries one request alone, until its answer is there: the others wait unsent.
            match peer.number {
                0 => (0..3).for_each(|_| drop(peer.request())),
                1 => drop(peer.request()),
                _ => return peer.always(HELLO),
            }
            if peer.number == 1 && reset {
                return peer.reset();
            }
            peer.say("nonsense");
            peer.hang();
        });
        let said = ahead(&server, 3, |_| {});
        // The two behind the first nonsense were heard; of the three that follow them, two waited for the first one's answer.
        let (malformed, resets) = if reset { (1, 1) } else { (2, 0) };
        assert_eq!(((6, 2, 2, resets), malformed), (counts(&said), said.errors("malformed")), "{}", said.last());
        assert_eq!(10, server.heard().len());
    }
}

/// Runs POSTs over HTTP/2 with so many streams.
fn streams(server: &Server, streams: u64, edit: impl FnOnce(&mut Value)) -> Said {
    h2_stage::load(server, streams, |o| {
        method(o, "POST");
        edit(o);
    })
}

#[test]
fn a_post_that_the_server_refused_or_never_took_goes_again() {
    let server = Server::start(|peer| {
        let first = peer.number == 0;
        let mut stage = Stage::open(peer, &[]);
        if first {
            let taken = stage.requests(3);
            stage.say(|out| write::reset(out, taken[0], Code::Refused));
            let again = stage.requests(1);
            stage.say(|out| goaway(out, taken[1]));
            stage.answer(taken[1], "");
            assert!(again[0] > taken[2]);
        }
        stage.always("");
    });
    let said = streams(&server, 3, |_| {});
    // The one that was refused once is not taken a second time: that is one too many.
    assert_eq!((9, 2, 0, 1), counts(&said), "{}", said.last());
}

#[test]
fn a_post_that_the_server_took_is_not_sent_twice() {
    let server = Server::start(|peer| {
        let first = peer.number == 0;
        let mut stage = Stage::open(peer, &[]);
        if first {
            let taken = stage.requests(2);
            stage.answer(taken[0], "");
            stage.requests(1);
            return stage.say(|out| head(out, taken[1], 0));
        }
        stage.always("");
    });
    let said = streams(&server, 2, |_| {});
    assert_eq!((8, 0, 2, 0), counts(&said), "{}", said.last());
}

#[test]
fn nothing_is_begun_on_a_connection_after_a_goaway_in_the_same_read() {
    let heard = Arc::new(AtomicUsize::new(0));
    let requests = heard.clone();
    let server = Server::start(move |peer| {
        let mut stage = Stage::open(peer, &[]);
        while let Some((stream, _)) = stage.request() {
            requests.fetch_add(1, Ordering::SeqCst);
            stage.say(|out| {
                head(out, stream, 0);
                write::data(out, stream, b"hello", true);
                goaway(out, stream);
            });
        }
    });
    let said = streams(&server, 1, |_| {});
    assert_eq!(((10, 0, 0, 0), 10), (counts(&said), said.count("connections_opened")), "{}", said.last());
    // With the last answer all is done, and what is behind it is not read.
    assert_eq!((10, 9), (heard.load(Ordering::SeqCst), said.count("closes_announced")));
    assert_eq!(json!({"min": 1, "p50": 1, "max": 1}), said.last()["answers_per_connection"]);
}
