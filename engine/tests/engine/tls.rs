//! TLS: what is trusted, what is counted, and how a connection may end.

use crate::theatre::{HELLO, Server};
use crate::tunnel::{Authority, VERSIONS, expire, serve};
use rustls::RootCertStore;
use rustls::server::WebPkiClientVerifier;
use serde_json::json;
use std::io::{Read, Write};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, Mutex};

#[test]
fn both_versions_answer_and_the_handshake_has_a_time_of_its_own() {
    for version in VERSIONS {
        let authority = Authority::new();
        let server = serve(authority.config(&[version]), |mut tunnel| tunnel.always(HELLO));
        let said = authority.load(&server, |_| {});
        assert_eq!((10, 1, 1), (said.count("ok"), said.count("connections_opened"), said.count("handshakes_full")));
        assert!(said.last()["handshake_hdr"].is_string() && said.last()["connect_hdr"].is_string());
        assert_eq!(10 * HELLO.len() as u64, said.count("bytes_in"), "bytes are those of HTTP");
    }
}

#[test]
fn without_tls_there_is_no_handshake() {
    let said = Server::start(|mut peer| peer.always(HELLO)).load(|_| {});
    assert_eq!((0, 0), (said.count("handshakes_full"), said.count("handshakes_resumed")));
    assert!(said.last()["handshake_hdr"].is_null());
}

#[test]
fn any_certificate_will_do_where_none_is_checked() {
    let authority = Authority::new();
    let certificate = authority.sign(expire);
    let server = serve(authority.config_with(certificate, VERSIONS), |mut tunnel| tunnel.always(HELLO));
    let said = authority.load(&server, |o| o["tls"] = json!({"verify": false, "server_name": "other.test"}));
    assert_eq!((10, 1), (said.count("ok"), said.count("handshakes_full")));
}

#[test]
fn a_certificate_that_cannot_be_trusted_is_told_with_the_way_out() {
    let authority = Authority::new();
    let good = || serve(authority.config(VERSIONS), |mut tunnel| tunnel.always(HELLO));
    let expired = serve(authority.config_with(authority.sign(expire), VERSIONS), |mut tunnel| tunnel.always(HELLO));
    let rows = [
        (
            good(),
            json!({"roots_pem": Authority::new().pem}),
            "tls: the certificate of 127.0.0.1 is not trusted (UnknownIssuer); give its root with --cacert (tls.roots_pem) or use \
             --insecure (tls.verify false)",
        ),
        (
            good(),
            json!({"roots_pem": authority.pem, "server_name": "other.test"}),
            "tls: the certificate of other.test is for another name (NotValidForName); say in tls.server_name which one it is for",
        ),
        (
            expired,
            json!({"roots_pem": authority.pem}),
            "tls: the certificate of 127.0.0.1 has expired; renew it or use --insecure (tls.verify false)",
        ),
    ];
    for (server, tls, message) in rows {
        let said = authority.load(&server, |o| (o["tls"], o["count"]) = (tls, 3.into()));
        assert_eq!((3, 0), (said.errors("tls"), said.count("connections_opened")));
        assert_eq!((message, "unreachable"), (said.text("first_error"), said.text("ended")));
    }
}

#[test]
fn the_name_that_is_asked_for_may_be_another_than_the_hosts() {
    let (authority, server) = Authority::with_server(|mut tunnel| tunnel.always(HELLO));
    let said = authority.load(&server, |o| o["tls"]["server_name"] = "localhost".into());
    assert_eq!(10, said.count("ok"));
}

#[test]
fn sessions_are_taken_up_again_unless_the_order_says_not_to() {
    for version in VERSIONS {
        let authority = Authority::new();
        let answer = HELLO.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
        let server = serve(authority.config(&[version]), move |mut tunnel| tunnel.always(&answer));
        for (resume, full, resumed) in [(true, 1, 9), (false, 10, 0)] {
            let said = authority.load(&server, |o| {
                o["keep_alive"] = false.into();
                o["tls"]["resume"] = resume.into();
            });
            assert_eq!(
                (10, full, resumed),
                (said.count("ok"), said.count("handshakes_full"), said.count("handshakes_resumed")),
                "{version:?}"
            );
        }
    }
}

#[test]
fn a_server_that_takes_the_connection_and_is_silent_is_a_connect_timeout() {
    let server = Server::start(|mut peer| peer.hang());
    let said =
        Authority::new().load(&server, |o| (o["connect_timeout_ns"], o["count"]) = (50_000_000.into(), 2.into()));
    assert_eq!((2, 0), (said.errors("connect-timeout"), said.count("connections_opened")));
    let message = format!(
        "connect-timeout: no connection to {} after 0.05 s: the server took it, and did not complete the TLS handshake",
        server.address
    );
    assert_eq!(message, said.text("first_error"));
}

#[test]
fn a_server_that_speaks_no_tls_is_told_from_one_that_ends() {
    let rows =
        [("HTTP/1.1 400 Bad Request\r\n\r\n", "tls: the server's bytes are not TLS"), ("", "tls: the server closed")];
    for (bytes, begin) in rows {
        let server = Server::start(move |peer| {
            let mut stream = peer.into_stream();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(bytes.as_bytes());
        });
        let said = Authority::new().load(&server, |o| o["count"] = 3.into());
        assert_eq!(3, said.errors("tls"));
        let first = said.text("first_error");
        assert!(first.starts_with(begin) && first.ends_with("does it speak TLS on this port?"), "{first}");
    }
}

#[test]
fn an_alert_is_told_by_its_name_also_after_the_handshake() {
    let authority = Authority::new();
    let mut other = authority.config(VERSIONS);
    other.alpn_protocols = vec![b"h2".to_vec()];
    let said = authority.load(&serve(other, |_| {}), |o| o["count"] = 3.into());
    assert_eq!(
        (3, "tls: the server refused with the alert NoApplicationProtocol"),
        (said.errors("tls"), said.text("first_error"))
    );

    // A client without a certificate learns in TLS 1.3 only after its own last word that it should have had one.
    let mut roots = RootCertStore::empty();
    roots.add(authority.sign(|_| {}).0).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let asks = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build().unwrap();
    let (certificate, key) = authority.sign(|_| {});
    let builder = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = builder.with_client_cert_verifier(asks).with_single_cert(vec![certificate], key).unwrap();
    let said = authority.load(&serve(config, |_| {}), |o| o["count"] = 3.into());
    assert_eq!(
        (3, "tls: the server refused with the alert CertificateRequired"),
        (said.errors("tls"), said.text("first_error"))
    );
}

#[test]
fn http_1_is_offered_and_a_server_that_knows_no_alpn_is_taken_to_speak_it() {
    for (knows, chosen) in [(vec![b"h2".to_vec(), b"http/1.1".to_vec()], Some("http/1.1")), (Vec::new(), None)] {
        let authority = Authority::new();
        let mut config = authority.config(VERSIONS);
        config.alpn_protocols = knows;
        let (tell, told) = channel();
        let tell = Mutex::new(tell);
        let server = serve(config, move |mut tunnel| {
            tell.lock().unwrap().send(tunnel.protocol()).unwrap();
            tunnel.always(HELLO);
        });
        assert_eq!(10, authority.load(&server, |_| {}).count("ok"));
        assert_eq!(chosen, told.recv().unwrap().as_deref());
    }
}

#[test]
fn an_end_is_an_end_only_when_it_was_announced() {
    const UNFRAMED: &str = "HTTP/1.1 200 OK\r\n\r\nhello";
    const SHORT: &str = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello";
    // (answer, announced, ok, truncated)
    let rows = [
        (UNFRAMED, true, 3, 0),
        (UNFRAMED, false, 0, 3),
        (HELLO, true, 3, 0),
        (HELLO, false, 3, 0),
        (SHORT, true, 0, 3),
    ];
    for (answer, announced, ok, truncated) in rows {
        let (authority, server) = Authority::with_server(move |mut tunnel| {
            tunnel.request();
            tunnel.say(answer);
            if announced {
                tunnel.farewell();
            }
        });
        let said = authority.load(&server, |o| o["count"] = 3.into());
        assert_eq!((ok, truncated), (said.count("ok"), said.errors("truncated")), "{answer:?} {announced}");
    }
}

#[test]
fn the_engine_announces_its_own_end() {
    let (tell, told) = channel();
    let tell = Mutex::new(tell);
    let (authority, server) = Authority::with_server(move |mut tunnel| {
        tunnel.request();
        tunnel.say(HELLO.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
        tell.lock().unwrap().send(tunnel.heard_farewell()).unwrap();
    });
    assert_eq!(3, authority.load(&server, |o| o["count"] = 3.into()).count("ok"));
    assert_eq!(vec![true; 3], told.iter().take(3).collect::<Vec<_>>());
}

#[test]
fn big_bodies_go_both_ways() {
    use base64::{Engine, engine::general_purpose::STANDARD};
    let sent: Vec<u8> = (0..3_000_000_u32).map(|i| (i % 251) as u8).collect();
    let expected = sent.clone();
    let (authority, server) = Authority::with_server(move |mut tunnel| {
        while let Some((_, body)) = tunnel.request() {
            // Slower than the engine sends, so that it has to wait for room.
            assert!(body == expected);
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", 2 * body.len());
            tunnel.say([head.as_bytes(), &body, &body].concat());
        }
    });
    let said = authority.load(&server, |o| {
        (o["count"], o["requests"][0]["method"]) = (4.into(), "POST".into());
        o["requests"][0]["body_base64"] = STANDARD.encode(&sent).into();
        let tail = String::from_utf8_lossy(&sent[100..127]).into_owned();
        o["requests"][0]["expect"] = json!({"body_length": 6_000_000, "body_contains": tail});
    });
    assert_eq!((4, 1), (said.count("ok"), said.count("connections_opened")), "{}", said.last());
}

#[test]
fn an_answer_may_come_in_any_number_of_records_and_keys_may_change() {
    for version in VERSIONS {
        let authority = Authority::new();
        let server = serve(authority.config(&[version]), |mut tunnel| {
            for i in 0.. {
                if tunnel.request().is_none() {
                    return;
                }
                HELLO.bytes().for_each(|byte| tunnel.say([byte]));
                if i == 4 && tunnel.is_newest() {
                    tunnel.refresh_keys();
                }
            }
        });
        let said = authority.load(&server, |_| {});
        assert_eq!((10, 1), (said.count("ok"), said.count("connections_opened")));
    }
}

#[test]
fn threads_have_sessions_of_their_own() {
    // Nobody is answered before all are there.
    let all = Barrier::new(8);
    let (authority, server) = Authority::with_server(move |mut tunnel| {
        tunnel.request();
        all.wait();
        tunnel.say(HELLO);
        tunnel.always(HELLO);
    });
    let said = authority.load(&server, |o| {
        (o["threads"], o["count"]) = (2.into(), 400.into());
        o["pace"]["connections"] = 8.into();
    });
    assert_eq!((400, 8), (said.count("ok"), said.count("handshakes_full") + said.count("handshakes_resumed")));
}

#[test]
fn an_open_pace_opens_tls_connections_before_they_are_needed() {
    let (authority, server) = Authority::with_server(|mut tunnel| tunnel.always(HELLO));
    let said = authority.load(&server, |o| {
        o["pace"] = json!({"kind": "constant", "rate_per_s": 500, "connections": 3, "max_connections": 6});
        o["count"] = 50.into();
    });
    let handshakes = said.count("handshakes_full") + said.count("handshakes_resumed");
    assert_eq!((50, said.count("connections_opened")), (said.count("ok"), handshakes));
}

#[test]
fn impossible_tls_is_refused_before_the_load() {
    let (authority, server) = Authority::with_server(|_| {});
    let rows = [
        (json!({"server_name": "not a name"}), "tls.server_name"),
        (json!({"roots_pem": "no certificate"}), "tls.roots_pem"),
        (json!({"verify": "yes"}), "tls.verify"),
        (json!({"roots": "x"}), "tls.roots"),
    ];
    for (tls, key) in rows {
        let said = authority.load(&server, |o| o["tls"] = tls);
        assert_eq!((2, key), (said.exit, said.text("key")), "{}", said.last());
    }
    assert_eq!(0, server.accepted());
}

#[test]
fn a_damaged_byte_anywhere_in_the_handshake_is_an_error_and_nothing_worse() {
    let (authority, server) = Authority::with_server(|mut tunnel| tunnel.always(HELLO));
    let inner = server.address;
    // Each connection has another byte of the server's side turned over: of all records, of their heads and of what is in them.
    let between = Server::start(move |peer| {
        let number = peer.number;
        let mut outside = peer.into_stream();
        let mut inside = std::net::TcpStream::connect(inner).unwrap();
        let (mut up, mut down) = (outside.try_clone().unwrap(), inside.try_clone().unwrap());
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut up, &mut down);
        });
        let (mut bytes, mut seen) = ([0; 4096], 0);
        while let Ok(n @ 1..) = inside.read(&mut bytes) {
            if let Some(byte) = (number * 9).checked_sub(seen).and_then(|at| bytes[..n].get_mut(at)) {
                *byte ^= 0x41;
            }
            seen += n;
            if outside.write_all(&bytes[..n]).is_err() {
                return;
            }
        }
    });
    let said = authority.load(&between, |o| {
        (o["count"], o["pace"]["connections"]) = (60.into(), 60.into());
        (o["connect_timeout_ns"], o["timeout_ns"]) = (2_000_000_000_u64.into(), 2_000_000_000_u64.into());
    });
    // The version in the head of a record must be ignored (RFC 8446, 5.1), so a few of them do no harm.
    assert_eq!((0, 60), (said.exit, said.count("offered")), "{}", said.last());
    assert!(said.errors("tls") >= 50, "{}", said.last());
}
