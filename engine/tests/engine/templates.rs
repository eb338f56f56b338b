//! Requests that differ each time, as the server sees them. Counts decide, never timing.

use crate::theatre::{HELLO, Said, Server};
use rustix::net::sockopt;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::net::TcpListener;

fn load(server: &Server, request: Value, edit: impl FnOnce(&mut Value)) -> Said {
    server.load(|o| {
        (o["schema"], o["requests"]) = (3.into(), json!([request]));
        edit(o);
    })
}

fn get(path: &str) -> Value {
    json!({"name": "r", "method": "GET", "path": path, "template": true})
}

/// What stands between `before` and `after` in each request that was heard.
fn between(server: &Server, before: &str, after: &str) -> Vec<String> {
    let part = |text: &String| text.split_once(before).unwrap().1.split_once(after).unwrap().0.to_string();
    server.heard().iter().map(part).collect()
}

#[test]
fn each_request_has_a_number_of_its_own() {
    let server = Server::start(|mut peer| peer.always(HELLO));
    let said = load(&server, get("/item/{{counter}}"), |o| {
        (o["count"], o["pace"]["connections"]) = (50.into(), 5.into());
    });
    let mut numbers: Vec<u64> = between(&server, "GET /item/", " ").iter().map(|n| n.parse().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!((50, (0..50).collect::<Vec<u64>>()), (said.count("ok"), numbers));
}

#[test]
fn threads_have_numbers_of_their_own_share() {
    let server = Server::start(|mut peer| peer.always(HELLO));
    load(&server, get("/{{counter}}"), |o| {
        (o["count"], o["threads"], o["pace"]["connections"]) = (60.into(), 3.into(), 3.into());
    });
    let numbers: BTreeSet<u64> = between(&server, "GET /", " ").iter().map(|n| n.parse().unwrap()).collect();
    assert_eq!(60, numbers.len(), "none is there twice");
    // Each thread's numbers are its own, 3 apart, without a gap.
    for thread in 0..3 {
        let own: Vec<u64> = numbers.iter().copied().filter(|n| n % 3 == thread).collect();
        assert_eq!((0..own.len() as u64).map(|n| n * 3 + thread).collect::<Vec<_>>(), own);
    }
}

#[test]
fn draws_are_the_seeds() {
    let asked = |seed: u64| {
        let server = Server::start(|mut peer| peer.always(HELLO));
        load(&server, get("/{{random}}/{{random:3-7}}"), |o| o["seed"] = seed.into());
        between(&server, "GET /", " ")
    };
    let (one, other) = (asked(1), asked(2));
    assert_eq!((10, &one), (one.len(), &asked(1)));
    assert!(one.iter().all(|path| !other.contains(path)));
    for path in one {
        let (hex, range) = path.split_once('/').unwrap();
        assert!(hex.len() == 16 && u64::from_str_radix(hex, 16).is_ok(), "{path}");
        assert!((3..=7).contains(&range.parse::<u64>().unwrap()), "{path}");
    }
}

#[test]
fn a_templated_body_has_its_true_length() {
    // The theatre reads as many bytes of body as the header says: a wrong length would leave it waiting, or spoil the next request.
    let server = Server::start(|mut peer| peer.always(HELLO));
    // {"id":{{counter}},"pad":"{{random:1-100000}}"}
    let body = "eyJpZCI6e3tjb3VudGVyfX0sInBhZCI6Int7cmFuZG9tOjEtMTAwMDAwfX0ifQ==";
    let request = json!({"name": "r", "method": "POST", "path": "/", "body_base64": body, "template": true});
    let said = load(&server, request, |o| o["count"] = 300.into());
    assert_eq!((300, 1), (said.count("ok"), said.count("connections_opened")));
    let lengths: BTreeSet<String> = between(&server, "Content-Length: ", "\r\n").into_iter().collect();
    assert!(lengths.len() > 3, "{lengths:?}");
}

#[test]
fn a_second_sending_is_of_the_very_same_bytes() {
    let server = Server::start(|mut peer| {
        // The connection carries one answer, takes another request and is closed without a word.
        if peer.number == 0 {
            peer.request();
            peer.say(HELLO);
            peer.request();
        } else {
            peer.always(HELLO);
        }
    });
    let said = load(&server, get("/{{counter}}/{{random}}"), |o| o["count"] = 3.into());
    let paths = between(&server, "GET /", " ");
    assert_eq!((3, 1, 4), (said.count("ok"), said.count("stale_retries"), paths.len()));
    assert_eq!(paths[1], paths[2]);
    let numbers: Vec<_> = paths.iter().map(|path| path.split('/').next().unwrap()).collect();
    assert_eq!(vec!["0", "1", "1", "2"], numbers);
}

#[test]
fn a_short_send_goes_on_with_the_same_bytes() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    sockopt::set_socket_recv_buffer_size(&listener, 4096).unwrap();
    let server = Server::on(listener, |mut peer| {
        while peer.request().is_some() {
            peer.say(HELLO);
        }
    });
    // 8 MiB of AAAA...: zero bytes, then {{counter}}: the number comes last, after many sends.
    let body = format!("{}e3tjb3VudGVyfX0=", "AAAA".repeat(2 << 20));
    let request = json!({"name": "r", "method": "POST", "path": "/{{random}}", "body_base64": body, "template": true});
    let said = load(&server, request, |o| o["count"] = 12.into());
    assert_eq!((12, 1, 12), (said.count("ok"), said.count("connections_opened"), server.heard().len()));
    let heads: usize = server.heard().iter().map(String::len).sum();
    // Ten numbers of one digit, two of two.
    assert_eq!((heads + 12 * (6 << 20) + 14) as u64, said.count("bytes_out"));
}

#[test]
fn fixed_and_templated_requests_mix() {
    let server = Server::start(|mut peer| peer.always(HELLO));
    let said = server.load(|o| {
        (o["schema"], o["requests"]) =
            (3.into(), json!([get("/{{counter}}"), {"name": "f", "method": "GET", "path": "/{{f}}"}]));
    });
    let mut paths = between(&server, "GET /", " ");
    paths.sort();
    assert_eq!(vec!["0", "2", "4", "6", "8", "{{f}}", "{{f}}", "{{f}}", "{{f}}", "{{f}}"], paths);
    assert_eq!(
        (json!("/{{counter}}"), json!(5)),
        (said.last()["routes"][0]["path"].clone(), said.last()["routes"][0]["ok"].clone())
    );
}

#[test]
fn a_placeholder_that_is_none_is_refused_with_its_key() {
    let server = Server::start(|_| {});
    let rows = [
        (
            "/path",
            json!("/{{cuonter}}"),
            "requests[0].path",
            "requests[0].path has {{cuonter}}, which is no placeholder; did you mean {{counter}}?",
        ),
        (
            "/headers",
            json!([["A", "b"], ["X", "{{random:9-1}}"]]),
            "requests[0].headers[1][1]",
            "requests[0].headers[1][1] has {{random:9-1}}, which must have its low end first, as in {{random:1-9}}",
        ),
        (
            "/body_base64",
            json!("e3s="),
            "requests[0].body_base64",
            "requests[0].body_base64 has {{ without }} after it; the placeholders are {{counter}}, {{random}}, {{random:LOW-HIGH}}",
        ),
        ("/template", json!(1), "requests[0].template", "requests[0].template must be true or false, not 1"),
    ];
    for (at, value, key, message) in rows {
        let mut request = get("/");
        request[&at[1..]] = value;
        let said = load(&server, request, |_| {});
        assert_eq!((2, key, message), (said.exit, said.text("key"), said.text("message")));
    }
    let said = load(&server, get("/"), |o| o["schema"] = 2.into());
    assert_eq!("requests[0].template", said.text("key"), "schema 2 does not have it");
}
