//! HTTP/2: what servers do to several requests on a connection, and what the engine makes of it. Counts decide, never timing.

use crate::h2_stage::{END, Stage, frame, goaway, head, load};
use crate::theatre::{Said, Server};
use serde_json::json;
use webdyno_engine::wire::h2::write::{self, setting};
use webdyno_engine::wire::h2::{Code, flag, kind};

/// ok, connections opened, requests sent once more.
fn counts(said: &Said) -> (u64, u64, u64) {
    (said.count("ok"), said.count("connections_opened"), said.count("stale_retries"))
}

#[test]
fn answers_come_in_any_order_and_each_finds_its_request() {
    let server = Server::start(|peer| {
        let mut stage = Stage::open(peer, &[]);
        for _ in 0..5 {
            let streams = stage.requests(4);
            stage.say(|out| {
                streams.iter().rev().for_each(|stream| head(out, *stream, 0));
                streams.iter().for_each(|stream| write::data(out, *stream, b"hel", false));
                streams.iter().rev().for_each(|stream| write::data(out, *stream, b"lo", true));
            });
        }
        stage.always("");
    });
    let expect = json!({"body_contains": "hello", "body_length": 5});
    let said = load(&server, 4, |o| (o["count"], o["requests"][0]["expect"]) = (20.into(), expect));
    assert_eq!((20, 1, 0), counts(&said), "{}", said.last());
    assert_eq!("HTTP/2 200\r\n\r\n", said.text("first_answer"));
    assert_eq!(json!({"min": 20, "p50": 20, "max": 20}), said.last()["answers_per_connection"]);
    // SETTINGS; then for each answer HEADERS of 10 bytes, DATA of 12 and of 11.
    assert_eq!(9 + 20 * (10 + 12 + 11), said.count("bytes_in"));
}

#[test]
fn answers_may_be_split_anywhere() {
    let mut answer = Vec::new();
    head(&mut answer, 0, 0);
    write::data(&mut answer, 0, b"hello", true);
    let server = Server::start(move |peer| {
        let mut stage = Stage::open(peer, &[]);
        for at in 0..=answer.len() {
            let Some((stream, _)) = stage.request() else { return };
            let mut answer = answer.clone();
            answer[5..9].copy_from_slice(&stream.to_be_bytes());
            answer[15..19].copy_from_slice(&stream.to_be_bytes());
            stage.peer.say(&answer[..at]);
            std::thread::yield_now();
            stage.peer.say(&answer[at..]);
        }
        stage.always("");
    });
    let said = load(&server, 1, |o| o["requests"][0]["expect"] = json!({"body_contains": "hello", "body_length": 5}));
    assert_eq!((10, 1, 0), counts(&said), "{}", said.last());
}

#[test]
fn never_more_streams_than_the_server_allows() {
    let server = Server::start(|peer| {
        let mut stage = Stage::open(peer, &[(setting::MAX_CONCURRENT_STREAMS, 3)]);
        let mut streams = stage.requests(3);
        // What else is sent now would arrive before the answer to this.
        stage.say(|out| frame(out, kind::PING, 0, 0, b"any more"));
        while stage.frame().is_some_and(|(kind, ..)| kind != kind::PING) {
            streams.push(0);
        }
        assert_eq!(vec![1, 3, 5], streams);
        streams.into_iter().for_each(|stream| stage.answer(stream, ""));
        stage.always("");
    });
    let said = load(&server, 8, |o| o["count"] = 40.into());
    assert_eq!((40, 1, 0), counts(&said), "{}", said.last());
}

#[test]
fn a_body_waits_for_windows_and_arrives_whole() {
    let body: Vec<u8> = (0..200_000_u32).map(|i| i as u8).collect();
    let sent = body.clone();
    let server = Server::start(move |peer| {
        let mut stage = Stage::open(peer, &[(setting::INITIAL_WINDOW_SIZE, 10)]);
        let mut got = std::collections::BTreeMap::<u32, Vec<u8>>::new();
        while let Some((kind, flags, stream, content)) = stage.frame() {
            if kind == kind::HEADERS {
                got.insert(stream, Vec::new());
            }
            if kind != kind::DATA {
                continue;
            }
            let more = content.len() as u32 * 2;
            got.get_mut(&stream).unwrap().extend(content);
            if flags & END != 0 {
                let whole = got.remove(&stream).unwrap() == sent;
                stage.answer(stream, if whole { "whole" } else { "not" });
            } else {
                stage.say(|out| write::window_update(out, stream, more));
            }
            stage.say(|out| write::window_update(out, 0, more));
        }
    });
    let said = load(&server, 2, |o| {
        use base64::{Engine, engine::general_purpose::STANDARD};
        let request = &mut o["requests"][0];
        (request["method"], request["body_base64"]) = ("POST".into(), STANDARD.encode(&body).into());
        (request["expect"], o["count"]) = (json!({"body_contains": "whole"}), 6.into());
    });
    assert_eq!((6, 1, 0), counts(&said), "{}", said.last());
    assert!(said.count("bytes_out") > 6 * 200_000);
}

#[test]
fn an_answer_that_does_not_wait_for_the_body_is_complete_and_the_connection_stays() {
    let server = Server::start(|peer| {
        let mut stage = Stage::open(peer, &[(setting::INITIAL_WINDOW_SIZE, 1)]);
        while let Some((kind, _, stream, _)) = stage.frame() {
            if kind == kind::HEADERS {
                stage.answer(stream, "early");
            }
        }
    });
    let said = load(&server, 2, |o| {
        let request = &mut o["requests"][0];
        (request["method"], request["body_base64"]) = ("POST".into(), "QUFBQUFB".into());
    });
    assert_eq!((10, 1, 0), counts(&said), "{}", said.last());
}

#[test]
fn a_server_that_leaves_gets_its_answers_out_and_the_rest_goes_to_the_next_connection() {
    let server = Server::start(|peer| {
        let first = peer.number == 0;
        let mut stage = Stage::open(peer, &[]);
        if first {
            let streams = stage.requests(4);
            stage.say(|out| goaway(out, streams[1]));
            stage.answer(streams[0], "hello");
            stage.answer(streams[1], "hello");
        }
        stage.always("hello");
    });
    let said = load(&server, 4, |_| {});
    assert_eq!((10, 2, 2), counts(&said), "{}", said.last());
    assert_eq!((1, 0), (said.count("closes_announced"), said.count("closes_silent")));
}

#[test]
fn a_server_that_leaves_and_ends_in_the_middle_has_announced_it_all_the_same() {
    let server = Server::start(|peer| {
        let first = peer.number == 0;
        let mut stage = Stage::open(peer, &[]);
        if first {
            let streams = stage.requests(2);
            return stage.say(|out| {
                goaway(out, streams[1]);
                head(out, streams[0], END);
            });
        }
        stage.always("");
    });
    let said = load(&server, 2, |_| {});
    assert_eq!((10, 2, 1), counts(&said), "{}", said.last());
    assert_eq!((1, 0), (said.count("closes_announced"), said.count("closes_silent")));
}

#[test]
fn a_server_that_always_leaves_is_asked_once_more_and_no_more() {
    let server = Server::start(|peer| {
        let mut stage = Stage::open(peer, &[]);
        stage.request();
        stage.say(|out| goaway(out, 0));
        stage.always("");
    });
    let said = load(&server, 1, |o| o["count"] = 2.into());
    assert_eq!((0, 2, 2), (said.count("ok"), said.errors("reset"), said.count("stale_retries")), "{}", said.last());
}

#[test]
fn a_refused_stream_is_sent_once_more_on_the_same_connection() {
    let server = Server::start(|peer| {
        let mut stage = Stage::open(peer, &[]);
        // The first is refused once, the third twice.
        for refused in [true, false, true, true] {
            let Some((stream, _)) = stage.request() else { return };
            if refused {
                stage.say(|out| write::reset(out, stream, Code::Refused));
            } else {
                stage.answer(stream, "");
            }
        }
        stage.always("");
    });
    let said = load(&server, 1, |_| {});
    assert_eq!((9, 1, 2), counts(&said), "{}", said.last());
    assert_eq!(1, said.errors("reset"));
    assert_eq!("reset: the server gave up the answer to GET /: REFUSED_STREAM", said.text("first_error"));
}

#[test]
fn a_reset_stream_is_reset_and_the_others_go_on() {
    let server = Server::start(|peer| {
        let mut stage = Stage::open(peer, &[]);
        while let Some((stream, _)) = stage.request() {
            if stream % 4 == 1 {
                stage.say(|out| frame(out, kind::RST_STREAM, 0, stream, &[0, 0, 0, 2]));
            } else {
                stage.answer(stream, "");
            }
        }
    });
    let said = load(&server, 2, |_| {});
    assert_eq!(((5, 1, 0), 5), (counts(&said), said.errors("reset")), "{}", said.last());
    assert_eq!("reset: the server gave up the answer to GET /: INTERNAL_ERROR", said.text("first_error"));
}

#[test]
fn a_request_that_times_out_is_cancelled_alone() {
    let server = Server::start(|peer| {
        let mut stage = Stage::open(peer, &[]);
        assert_eq!(vec![1], stage.requests(1));
        while stage.resets.is_empty() {
            assert!(stage.frame().is_some());
        }
        assert_eq!(vec![(1, Code::Cancel as u32)], stage.resets);
        // Too late, and to be read over.
        stage.answer(1, "late");
        stage.always("");
    });
    let said = load(&server, 1, |o| (o["timeout_ns"], o["count"]) = (1_000_000_000.into(), 3.into()));
    assert_eq!(((2, 1, 0), 1), (counts(&said), said.errors("timeout")), "{}", said.last());
}

#[test]
fn a_server_without_settings_loses_its_connection_to_the_timeout() {
    let server = Server::start(|mut peer| peer.hang());
    let said = load(&server, 2, |o| (o["timeout_ns"], o["count"]) = (20_000_000.into(), 4.into()));
    assert_eq!(4, said.errors("timeout"), "{}", said.last());
    assert!(said.count("connections_opened") > 1, "{}", said.last());
}

#[test]
fn an_answer_of_http_1_is_malformed() {
    let server = Server::start(|mut peer| {
        peer.say("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        peer.hang();
    });
    let said = load(&server, 2, |o| o["count"] = 4.into());
    assert_eq!(4, said.errors("malformed"), "{}", said.last());
    let why = "malformed: the answer to GET / cannot be read: the server does not begin with the SETTINGS of HTTP/2";
    assert_eq!(why, said.text("first_error"));
}

#[test]
fn a_broken_connection_is_malformed_for_all_its_requests_and_is_replaced() {
    let server = Server::start(|peer| {
        let first = peer.number == 0;
        let mut stage = Stage::open(peer, &[]);
        if first {
            stage.requests(3);
            stage.say(|out| frame(out, kind::PUSH_PROMISE, flag::END_HEADERS, 1, &[0, 0, 0, 2, 0x88]));
            let last = std::iter::from_fn(|| stage.frame()).last().unwrap();
            assert_eq!((kind::GOAWAY, [0, 0, 0, 0, 0, 0, 0, 1].to_vec()), (last.0, last.3));
        }
        stage.always("");
    });
    let said = load(&server, 3, |_| {});
    assert_eq!(((7, 2, 0), 3), (counts(&said), said.errors("malformed")), "{}", said.last());
}

#[test]
fn a_malformed_answer_ends_its_stream_alone() {
    let server = Server::start(|peer| {
        let mut stage = Stage::open(peer, &[]);
        while let Some((stream, _)) = stage.request() {
            match stream {
                3 => stage.say(|out| write::data(out, stream, b"no head", true)),
                _ => stage.answer(stream, ""),
            }
        }
    });
    let said = load(&server, 2, |_| {});
    assert_eq!(((9, 1, 0), 1), (counts(&said), said.errors("malformed")), "{}", said.last());
}

#[test]
fn an_end_in_the_middle_is_truncated_and_one_between_answers_is_silent() {
    let server = Server::start(|peer| {
        let number = peer.number;
        let mut stage = Stage::open(peer, &[]);
        for _ in 0..3 {
            let Some((stream, _)) = stage.request() else { return };
            if number == 0 {
                stage.say(|out| head(out, stream, 0));
                stage.say(|out| write::data(out, stream, b"hel", false));
                return;
            }
            stage.answer(stream, "");
        }
    });
    let said = load(&server, 1, |_| {});
    let ended = said.count("closes_silent") + said.count("stale_retries");
    assert_eq!((9, 1, 4), (said.count("ok"), said.errors("truncated"), said.count("connections_opened")));
    // Each of the two connections after three answers ended before or after the next request was on its way.
    assert!((2..=3).contains(&ended), "{}", said.last());
}

#[test]
fn heads_without_bodies_and_interim_answers_are_answers() {
    let server = Server::start(|peer| {
        let mut stage = Stage::open(peer, &[]);
        while let Some((stream, _)) = stage.request() {
            let block = [&[0x88, 0x0f, 0x0d, 1][..], b"9"].concat();
            stage.say(|out| {
                frame(out, kind::HEADERS, flag::END_HEADERS, stream, &[8, 3, b'1', b'0', b'3']);
                frame(out, kind::HEADERS, flag::END_HEADERS | END, stream, &block);
            });
        }
    });
    let said = load(&server, 2, |o| o["requests"][0]["method"] = "HEAD".into());
    assert_eq!((10, 1, 0), counts(&said), "{}", said.last());
    let get = load(&server, 2, |_| {});
    assert_eq!((10, 1), (get.errors("malformed"), get.count("connections_opened")), "{}", get.last());
}

#[test]
fn open_paces_use_the_lanes_of_what_is_connected() {
    let server = Server::start(|peer| Stage::open(peer, &[]).always("hello"));
    let pace = json!({"kind": "constant", "rate_per_s": 5000, "connections": 2, "max_connections": 4});
    let said = load(&server, 16, |o| (o["pace"], o["count"]) = (pace, 200.into()));
    assert_eq!((200, 0), (said.count("ok"), said.count("stale_retries")), "{}", said.last());
}

#[test]
fn one_request_on_each_connection() {
    let server = Server::start(|peer| Stage::open(peer, &[]).always("hello"));
    let said = load(&server, 1, |o| o["keep_alive"] = false.into());
    assert_eq!((10, 10, 0), counts(&said), "{}", said.last());
    assert_eq!(10, said.count("closes_announced"));
}
