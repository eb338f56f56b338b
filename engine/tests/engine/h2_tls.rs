//! HTTP/2 in TLS: what ALPN decides, and frames that come in records of any size.

use crate::h2_stage::{Stage, goaway, head};
use crate::theatre::{HELLO, Said, Server};
use crate::tunnel::{Authority, Tunnel, VERSIONS, serve};
use serde_json::{Value, json};
use webdyno_engine::wire::h2::write;

/// A server of both versions of TLS that chooses from `protocols` (none: it knows no ALPN) and plays `script`.
fn choosing(authority: &Authority, protocols: &[&str], script: impl Fn(Tunnel) + Send + Sync + 'static) -> Server {
    let mut config = authority.config(VERSIONS);
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    serve(config, script)
}

/// Runs the order of the theatre over HTTP/2 in TLS, with so many streams on its one connection.
fn load(authority: &Authority, server: &Server, streams: u64, edit: impl FnOnce(&mut Value)) -> Said {
    authority.load(server, |o| {
        (o["http"], o["streams"]) = ("2".into(), streams.into());
        edit(o);
    })
}

#[test]
fn a_server_that_chooses_h2_is_spoken_to_in_frames() {
    let authority = Authority::new();
    let server = choosing(&authority, &["http/1.1", "h2"], |mut tunnel| {
        assert_eq!(Some("h2"), tunnel.protocol().as_deref());
        Stage::open(tunnel, &[]).always("hello");
    });
    let said = load(&authority, &server, 4, |o| o["count"] = 40.into());
    assert_eq!((40, 1, 1), (said.count("ok"), said.count("connections_opened"), said.count("handshakes_full")));
    assert_eq!("HTTP/2 200\r\n\r\n", said.text("first_answer"));
    // SETTINGS; then for each answer HEADERS of 10 bytes and DATA of 14: bytes are those of HTTP.
    assert_eq!(9 + 40 * (10 + 14), said.count("bytes_in"));
}

#[test]
fn a_server_that_does_not_choose_h2_has_no_connection() {
    for protocols in [&[][..], &["http/1.1"][..]] {
        let authority = Authority::new();
        let server = choosing(&authority, protocols, |mut tunnel| tunnel.always(HELLO));
        let said = load(&authority, &server, 2, |o| o["count"] = 4.into());
        assert_eq!((0, 4, 0), (said.count("ok"), said.errors("tls"), said.count("connections_opened")));
        assert_eq!("unreachable", said.text("ended"), "{}", said.last());
        assert!(said.text("first_error").starts_with("tls: "), "{}", said.text("first_error"));
    }
}

#[test]
fn frames_may_come_in_any_number_of_records() {
    let authority = Authority::new();
    let server = choosing(&authority, &["h2"], |tunnel| {
        let mut stage = Stage::open(tunnel, &[]);
        while let Some((stream, _)) = stage.request() {
            let mut out = Vec::new();
            head(&mut out, stream, 0);
            write::data(&mut out, stream, b"hello", true);
            out.iter().for_each(|byte| stage.peer.say([*byte]));
        }
    });
    let said = load(&authority, &server, 1, |o| o["requests"][0]["expect"] = json!({"body_length": 5}));
    assert_eq!((10, 1), (said.count("ok"), said.count("connections_opened")), "{}", said.last());
}

#[test]
fn bodies_larger_than_any_record_are_whole() {
    let authority = Authority::new();
    let server = choosing(&authority, &["h2"], |tunnel| {
        let mut stage = Stage::open(tunnel, &[]);
        while let Some((stream, _)) = stage.request() {
            stage.say(|out| {
                head(out, stream, 0);
                (0..40).for_each(|i| write::data(out, stream, &[b'x'; 16_384], i == 39));
            });
        }
    });
    let length = 40 * 16_384;
    let said = load(&authority, &server, 1, |o| o["requests"][0]["expect"] = json!({"body_length": length}));
    assert_eq!((10, 1), (said.count("ok"), said.count("connections_opened")), "{}", said.last());
}

#[test]
fn a_server_that_leaves_orderly_is_left_and_its_other_requests_go_elsewhere() {
    let authority = Authority::new();
    let server = choosing(&authority, &["h2"], |tunnel| {
        let mut stage = Stage::open(tunnel, &[]);
        let Some((stream, _)) = stage.request() else { return };
        stage.say(|out| goaway(out, stream));
        stage.answer(stream, "hello");
        stage.peer.farewell();
    });
    let said = load(&authority, &server, 1, |_| {});
    let handshakes = said.count("handshakes_full") + said.count("handshakes_resumed");
    assert_eq!((10, 10, 10), (said.count("ok"), said.count("connections_opened"), handshakes), "{}", said.last());
    assert_eq!(0, said.count("closes_silent"), "{}", said.last());
}
