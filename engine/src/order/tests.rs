use super::*;
use serde_json::json;

/// The order of the protocol's document, as a value to be spoilt.
fn right() -> Value {
    json!({
        "schema": 1, "target": {"host": "127.0.0.1", "port": 8080},
        "requests": [{"name": "hello", "method": "GET", "path": "/", "headers": [["Accept", "*/*"]], "body_base64": null, "weight": 1,
            "expect": {"statuses": [200], "body_sha256": null, "body_length": 13, "body_contains": null, "content_type": null}}],
        "pace": {"kind": "closed", "connections": 64},
        "duration_ns": 2_000_000_000_u64, "count": null, "warmup_ns": 500_000_000, "timeout_ns": 5_000_000_000_u64,
        "connect_timeout_ns": 5_000_000_000_u64, "keep_alive": true, "http": "1.1", "threads": 1, "cpus": [1],
        "slice_ns": 1_000_000_000
    })
}

/// Sets the value at a JSON pointer; the last step may be new.
fn with(pointer: &str, value: Value) -> Value {
    let mut order = right();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = order.pointer_mut(parent).unwrap();
    match parent {
        Value::Array(items) => items[key.parse::<usize>().unwrap()] = value,
        other => other[key] = value,
    }
    order
}

fn without(pointer: &str) -> Value {
    let mut order = right();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    order.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(key);
    order
}

fn complaint(order: &Value) -> (String, String) {
    let fault = Order::parse(&order.to_string()).expect_err("a complaint");
    assert_eq!(2, fault.blame.exit());
    (fault.key, fault.message)
}

#[test]
fn the_documented_order_is_read() {
    let order = Order::parse(&right().to_string()).unwrap();
    assert_eq!(64, order.pace.connections());
    assert_eq!(Until::Duration(2_000_000_000), order.until);
    assert_eq!(Some(13), order.requests[0].expect.body_length);
    assert_eq!(vec![("Accept".to_string(), "*/*".to_string())], order.requests[0].headers);
}

#[test]
fn what_may_be_null_may_be_left_out() {
    let order = Order::parse(&without("/requests/0/expect").to_string()).unwrap();
    assert_eq!(Expect::default(), order.requests[0].expect);
    assert!(Order::parse(&without("/count").to_string()).is_ok());
}

#[test]
fn brackets_around_an_ipv6_address_are_taken_off() {
    let order = Order::parse(&with("/target/host", json!("[::1]")).to_string()).unwrap();
    assert_eq!("::1", order.target.host);
}

#[test]
fn a_digest_is_read_as_bytes() {
    let order = Order::parse(&with("/requests/0/expect/body_sha256", json!("0F".repeat(32))).to_string()).unwrap();
    assert_eq!(Some([0x0f; 32]), order.requests[0].expect.body_sha256);
}

#[test]
fn text_that_is_not_json_is_one_sentence() {
    let fault = Order::parse("{").unwrap_err();
    assert_eq!("", fault.key);
    assert!(fault.message.starts_with("the order is not JSON: "), "{fault}");
}

#[test]
fn every_wrong_value_is_named_with_what_would_be_right() {
    #[rustfmt::skip]
    let rows = [
        // (where, what, key of the fault, message)
        ("/schema", json!(6), "schema", "schema must be 1, 2, 3, 4 or 5, which this engine knows, not 6"),
        ("/target", json!("here"), "target", "target must be an object, not \"here\""),
        ("/target/host", json!("http://x/"), "target.host",
         "target.host must be an address or a name, without scheme, port or path, not \"http://x/\""),
        ("/target/port", json!(0), "target.port", "target.port must be an integer from 1 to 65535, not 0"),
        ("/target/hots", json!("a"), "target.hots", "target.hots is not a known key; did you mean host?"),
        ("/requests", json!([]), "requests", "requests must be a list of one or more requests, not a list"),
        ("/requests/0", json!(7), "requests[0]", "requests[0] must be an object, not 7"),
        ("/requests/0/name", json!(1), "requests[0].name", "requests[0].name must be a text, not 1"),
        ("/requests/0/method", json!("G T"), "requests[0].method", "requests[0].method must be a method such as \"GET\", not \"G T\""),
        ("/requests/0/method", json!("CONNECT"), "requests[0].method",
         "requests[0].method must be a method that is answered; CONNECT opens a tunnel, not \"CONNECT\""),
        ("/requests/0/path", json!("x"), "requests[0].path",
         "requests[0].path must be a path such as \"/\", with its query, percent-encoded, without scheme and host, not \"x\""),
        ("/requests/0/headers", json!({"a": "b"}), "requests[0].headers",
         "requests[0].headers must be a list of [name, value] pairs, not an object"),
        ("/requests/0/headers/0", json!(["a"]), "requests[0].headers[0]",
         "requests[0].headers[0] must be a pair [name, value] of texts, not a list"),
        ("/requests/0/headers/0", json!(["a b", "c"]), "requests[0].headers[0][0]",
         "requests[0].headers[0][0] must be a header name such as \"Accept\", not \"a b\""),
        ("/requests/0/headers/0", json!(["a", "b\r\nc"]), "requests[0].headers[0][1]",
         "requests[0].headers[0][1] must be a value without line ends and NUL, not \"b\\r\\nc\""),
        ("/requests/0/headers/0", json!(["content-length", "3"]), "requests[0].headers[0][0]",
         "requests[0].headers[0][0] must be a header other than Content-Length and Transfer-Encoding, which the engine writes, not \"content-length\""),
        ("/requests/0/body_base64", json!("???"), "requests[0].body_base64",
         "requests[0].body_base64 must be base64 with padding (RFC 4648, section 4), not \"???\""),
        ("/requests/0/weight", json!(0), "requests[0].weight", "requests[0].weight must be an integer from 1 to 1000000, not 0"),
        ("/requests/0/expect", json!([]), "requests[0].expect", "requests[0].expect must be an object, not a list"),
        ("/requests/0/expect/statuses", json!([]), "requests[0].expect.statuses",
         "requests[0].expect.statuses must be a list of one or more statuses from 200 to 999, not a list"),
        ("/requests/0/expect/statuses/0", json!(20), "requests[0].expect.statuses[0]",
         "requests[0].expect.statuses[0] must be an integer from 200 to 999, not 20"),
        ("/requests/0/expect/body_sha256", json!("ab"), "requests[0].expect.body_sha256",
         "requests[0].expect.body_sha256 must be 64 hexadecimal digits, the SHA-256 of the body, not \"ab\""),
        ("/requests/0/expect/body_length", json!(-1), "requests[0].expect.body_length",
         "requests[0].expect.body_length must be an integer of at least 0, not -1"),
        ("/requests/0/expect/body_contains", json!(1), "requests[0].expect.body_contains",
         "requests[0].expect.body_contains must be a text, not 1"),
        ("/requests/0/expect/content_type", json!("json"), "requests[0].expect.content_type",
         "requests[0].expect.content_type must be a media type without parameters, such as \"application/json\", not \"json\""),
        ("/requests/0/expect/status", json!(200), "requests[0].expect.status",
         "requests[0].expect.status is not a known key; did you mean statuses?"),
        ("/pace/kind", json!("open"), "pace.kind", "pace.kind must be \"closed\", the only kind of schema 1, not \"open\""),
        ("/pace/connections", json!(0), "pace.connections", "pace.connections must be an integer from 1 to 1000000, not 0"),
        ("/pace/conections", json!(1), "pace.conections", "pace.conections is not a known key; did you mean connections?"),
        ("/pace/rate", json!(1), "pace.rate", "pace.rate is not a known key; the known keys here are kind, connections"),
        ("/count", json!(5), "count", "count must be null when duration_ns is given: exactly one ends the load"),
        ("/duration_ns", json!(null), "duration_ns", "duration_ns is missing, and so is count: exactly one must be given"),
        ("/duration_ns", json!(1.5), "duration_ns", "duration_ns must be an integer from 1000000 to 86400000000000, not 1.5"),
        ("/warmup_ns", json!("1s"), "warmup_ns", "warmup_ns must be an integer from 0 to 86400000000000, not \"1s\""),
        ("/timeout_ns", json!(0), "timeout_ns", "timeout_ns must be an integer from 1000000 to 3600000000000, not 0"),
        ("/connect_timeout_ns", json!(0), "connect_timeout_ns",
         "connect_timeout_ns must be an integer from 1000000 to 3600000000000, not 0"),
        ("/keep_alive", json!(1), "keep_alive", "keep_alive must be true or false, not 1"),
        ("/http", json!(1.1), "http", "http must be \"1.1\" or \"1.0\", not 1.1"),
        ("/threads", json!(0), "threads", "threads must be an integer from 1 to 1024, not 0"),
        ("/threads", json!(65), "threads", "threads must be at most pace.connections, which is 64, not 65"),
        ("/cpus", json!(1), "cpus", "cpus must be a list of processor numbers, empty for not pinned, not 1"),
        ("/cpus/0", json!(-1), "cpus[0]", "cpus[0] must be an integer from 0 to 1023, not -1"),
        ("/slice_ns", json!(0), "slice_ns", "slice_ns must be an integer from 1000000 to 3600000000000, not 0"),
        ("/sclice_ns", json!(0), "sclice_ns", "sclice_ns is not a known key; did you mean slice_ns?"),
    ];
    for (pointer, value, key, message) in rows {
        assert_eq!((key.to_string(), message.to_string()), complaint(&with(pointer, value)));
    }
}

/// The order of schema 2 with this pace.
fn paced(pace: Value) -> Value {
    let mut order = with("/pace", pace);
    order["schema"] = 2.into();
    order
}

#[test]
fn every_pace_of_schema_2_is_read() {
    let pool = json!({"connections": 64, "max_connections": 100});
    let stage = json!({"duration_ns": 2_000_000_000_u64, "rate_per_s_from": 0, "rate_per_s_to": 10.5});
    let rows = [
        (json!({"kind": "constant", "rate_per_s": 2.5}), Arrivals::Constant { rate_per_s: 2.5 }),
        (json!({"kind": "poisson", "rate_per_s": 3, "seed": 7}), Arrivals::Poisson { rate_per_s: 3.0, seed: 7 }),
        (
            json!({"kind": "stages", "stages": [stage]}),
            Arrivals::Stages(vec![Stage { duration_ns: 2_000_000_000, from_per_s: 0.0, to_per_s: 10.5 }]),
        ),
        (json!({"kind": "burst", "size": 5, "every_ns": 1000}), Arrivals::Burst { size: 5, every_ns: 1000 }),
    ];
    for (mut pace, arrivals) in rows {
        pace.as_object_mut().unwrap().extend(pool.as_object().unwrap().clone());
        let order = Order::parse(&paced(pace).to_string()).unwrap();
        assert_eq!(PaceOrder::Open { arrivals, connections: 64, max_connections: 100 }, order.pace);
        assert_eq!((64, 100, Wait::Auto), (order.pace.connections(), order.pace.most_connections(), order.wait));
    }
    let closed = Order::parse(&paced(json!({"kind": "closed", "connections": 64})).to_string()).unwrap();
    assert_eq!(PaceOrder::Closed { connections: 64 }, closed.pace);
}

#[test]
fn every_wrong_pace_of_schema_2_is_named_with_what_would_be_right() {
    let stages = |duration: u64, rate: f64| {
        json!({"kind": "stages", "connections": 64, "max_connections": 64,
            "stages": [{"duration_ns": duration, "rate_per_s_from": rate, "rate_per_s_to": rate}]})
    };
    let rows = [
        // (pace, key of the fault, message)
        (
            json!({"kind": "open", "connections": 1}),
            "pace.kind",
            "pace.kind must be \"closed\", \"constant\", \"poisson\", \"stages\" or \"burst\", not \"open\"",
        ),
        (
            json!({"connections": 1}),
            "pace.kind",
            "pace.kind is missing; it must be \"closed\", \"constant\", \"poisson\", \"stages\" or \"burst\"",
        ),
        (
            json!({"kind": "constant", "rate_per_s": 0, "connections": 64, "max_connections": 64}),
            "pace.rate_per_s",
            "pace.rate_per_s must be a number from 0.001 to 10000000, not 0",
        ),
        (
            json!({"kind": "constant", "rate_per_s": 1, "seed": 1, "connections": 64, "max_connections": 64}),
            "pace.seed",
            "pace.seed is not a known key; the known keys here are kind, rate_per_s, connections, max_connections",
        ),
        (
            json!({"kind": "constant", "rate_per_s": 1, "connections": 64, "max_connections": 63}),
            "pace.max_connections",
            "pace.max_connections must be an integer from 64 to 1000000, not 63",
        ),
        (
            stages(2_000_000_000, 0.0),
            "pace.stages",
            "pace.stages must be a list of one or more stages, with a rate above 0 somewhere, not a list",
        ),
        (
            stages(1_000_000_000, 1.0),
            "duration_ns",
            "duration_ns must be the sum of the stages, which is 1000000000, not 2000000000",
        ),
    ];
    for (pace, key, message) in rows {
        assert_eq!((key.to_string(), message.to_string()), complaint(&paced(pace)));
    }
    let mut order = paced(json!({"kind": "closed", "connections": 64}));
    order["wait"] = "nap".into();
    let message = "wait must be \"sleep\", \"hybrid\", \"spin\" or \"auto\", not \"nap\"".to_string();
    assert_eq!(("wait".to_string(), message), complaint(&order));
    (order["schema"], order["wait"]) = (1.into(), "spin".into());
    assert_eq!("wait", complaint(&order).0, "schema 1 does not have it");
}

#[test]
fn http_2_is_of_schema_3_and_shares_connections_only_where_they_are_kept() {
    let order = |edit: fn(&mut Value)| {
        let mut order = with("/http", json!("2"));
        order["schema"] = 3.into();
        edit(&mut order);
        order
    };
    let parsed = Order::parse(&order(|o| o["streams"] = 1000.into()).to_string()).unwrap();
    assert_eq!((Version::Http2, 1000), (parsed.version, parsed.streams));
    assert_eq!(1, Order::parse(&order(|_| {}).to_string()).unwrap().streams);
    let headers = |name: &str| json!([["TE", "trailers"], [name, "x"]]);
    let own = |name| {
        format!(
            "requests[0].headers[1][0] must be a header that HTTP/2 has; those about the connection it has not, not {name}"
        )
    };
    let mut rows = vec![
        (order(|o| o["schema"] = 2.into()), "http must be \"1.1\" or \"1.0\", not \"2\"".to_string()),
        (order(|o| o["http"] = "3".into()), "http must be \"1.1\", \"1.0\" or \"2\", not \"3\"".to_string()),
        (order(|o| o["streams"] = 1001.into()), "streams must be an integer from 1 to 1000, not 1001".to_string()),
        (order(|o| o["pipeline"] = 2.into()), "pipeline must be 1 when http is not \"1.1\", not 2".to_string()),
    ];
    let mut plain = order(|o| o["streams"] = 2.into());
    plain["http"] = "1.1".into();
    rows.push((plain, "streams must be 1 when http is not \"2\", not 2".to_string()));
    let mut closing = order(|o| o["streams"] = 2.into());
    closing["keep_alive"] = false.into();
    rows.push((closing, "streams must be 1 when keep_alive is false, not 2".to_string()));
    for name in ["Connection", "keep-alive", "Upgrade", "proxy-connection", "TE"] {
        let mut order = order(|_| {});
        order["requests"][0]["headers"] = headers(name);
        rows.push((order, own(format!("{name:?}"))));
    }
    for (order, message) in rows {
        assert_eq!(message, complaint(&order).1);
    }
}

#[test]
fn every_missing_key_is_named() {
    let keys = "schema target requests pace warmup_ns timeout_ns connect_timeout_ns keep_alive http threads cpus slice_ns \
                target.host target.port pace.kind pace.connections";
    for key in keys.split_whitespace() {
        let (named, message) = complaint(&without(&format!("/{}", key.replace('.', "/"))));
        assert_eq!(key, named);
        assert!(message.starts_with(&format!("{key} is missing; it must be ")), "{message}");
    }
    for key in ["name", "method", "path"] {
        let (named, _) = complaint(&without(&format!("/requests/0/{key}")));
        assert_eq!(format!("requests[0].{key}"), named);
    }
}

#[test]
fn connections_are_opened_over_a_part_of_the_warmup_of_a_closed_pace() {
    let order = |pace: Value, opening: Value| {
        let mut order = paced(pace);
        (order["schema"], order["opening_ns"]) = (3.into(), opening);
        order["warmup_ns"] = 500_000_000.into();
        order
    };
    let closed = json!({"kind": "closed", "connections": 64});
    let parsed = |opening: u64| Order::parse(&order(closed.clone(), opening.into()).to_string()).unwrap().opening_ns;
    assert_eq!([0, 500_000_000], [parsed(0), parsed(500_000_000)]);
    let open = json!({"kind": "constant", "rate_per_s": 5, "connections": 1, "max_connections": 1});
    let right =
        "opening_ns must be 0, or at most warmup_ns at a closed pace, whose connections are opened evenly over it, not";
    for (pace, opening) in [(closed.clone(), json!(500_000_001)), (closed, json!("1s")), (open, json!(1))] {
        let (key, message) = complaint(&order(pace, opening.clone()));
        assert_eq!(("opening_ns", format!("{right} {opening}")), (key.as_str(), message));
    }
}

#[test]
fn requests_go_ahead_only_where_a_connection_is_kept_and_speaks_http_1_1() {
    let order = |depth: Value, edit: &[(&str, Value)]| {
        let mut order = with("/schema", 3.into());
        order["pipeline"] = depth;
        edit.iter().for_each(|(key, value)| order[*key] = value.clone());
        order
    };
    let depth = |order: Value| Order::parse(&order.to_string()).unwrap().pipeline;
    assert_eq!([1, 1, 256], [json!(null), json!(1), json!(256)].map(|n| depth(order(n, &[]))));
    assert_eq!(1, depth(order(json!(1), &[("http", "1.0".into()), ("keep_alive", false.into())])));
    let said = |depth: Value, edit: &[(&str, Value)]| complaint(&order(depth, edit)).1;
    assert_eq!("pipeline must be an integer from 1 to 256, not 257", said(json!(257), &[]));
    assert_eq!("pipeline must be 1 when http is not \"1.1\", not 2", said(json!(2), &[("http", "1.0".into())]));
    assert_eq!("pipeline must be 1 when keep_alive is false, not 2", said(json!(2), &[("keep_alive", false.into())]));
    assert!(said(json!(2), &[("schema", 2.into())]).starts_with("pipeline is not a known key"));
}

#[test]
fn the_back_end_is_one_of_three_words_since_schema_3() {
    let with_backend = |schema: u64, name: Value| {
        let mut order = right();
        (order["schema"], order["backend"]) = (schema.into(), name);
        order
    };
    let rows = [("auto", Backend::Auto), ("epoll", Backend::Epoll), ("io_uring", Backend::IoUring)]
        .map(|(n, b)| (json!(n), b));
    for (name, backend) in rows.into_iter().chain([(Value::Null, Backend::Auto)]) {
        assert_eq!(backend, Order::parse(&with_backend(3, name).to_string()).unwrap().backend);
    }
    let (key, message) = complaint(&with_backend(3, json!("kqueue")));
    assert_eq!(("backend", "backend must be \"auto\", \"epoll\" or \"io_uring\", not \"kqueue\""), (&*key, &*message));
    assert_eq!("backend", complaint(&with_backend(2, json!("epoll"))).0);
}

#[test]
fn how_the_server_is_reached_is_read_from_schema_3_on() {
    let mut order = right();
    order["schema"] = 3.into();
    let plain = Order::parse(&order.to_string()).unwrap();
    assert_eq!((Linger::Fin, None, 0, None), (plain.linger, plain.tls, plain.sources.len(), plain.target.unix));
    (order["sources"], order["linger"]) = (json!(["127.0.0.2", "[::1]"]), json!("reset"));
    order["tls"] = json!({"verify": false, "server_name": "other.test"});
    let full = Order::parse(&order.to_string()).unwrap();
    let tls = TlsOrder { verify: false, roots: None, server_name: Some("other.test".to_string()), resume: true };
    assert_eq!((Linger::Reset, Some(tls), 2), (full.linger, full.tls, full.sources.len()));
    for key in ["sources", "linger", "tls"] {
        assert_eq!(key, complaint(&with(&format!("/{key}"), json!(null))).0, "schema 1 does not have it");
    }
    order["target"]["unix"] = "x".repeat(108).into();
    assert_eq!("target.unix", complaint(&order).0);
}

#[test]
fn a_part_its_start_and_its_watch_are_of_schema_5_and_say_what_is_possible() {
    let order = |key: &str, value: Value| {
        let mut order = with("/schema", json!(5));
        order[key] = value;
        order
    };
    let whole = Order::parse(&order("part", Value::Null).to_string()).unwrap();
    assert_eq!((Part::WHOLE, None, None), (whole.part, whole.start_at_ns, whole.watch_ns));
    let parsed = Order::parse(&order("part", json!({"index": 3, "of": 4})).to_string()).unwrap();
    assert_eq!((3, 4, [(3, 8), (7, 8)]), (parsed.part.index, parsed.part.of, [0, 1].map(|i| parsed.part.deal(i, 2))));
    #[rustfmt::skip]
    let rows = [
        ("part", json!({"index": 4, "of": 4}), "part.index", "part.index must be an integer from 0 to 3, not 4"),
        ("part", json!({"index": 0, "of": 0}), "part.of", "part.of must be an integer from 1 to 1024, not 0"),
        ("start_at_ns", json!(-1), "start_at_ns", "start_at_ns must be an integer from 0 to 9223372036854775807, not -1"),
        ("watch_ns", json!(1), "watch_ns", "watch_ns must be an integer from 100000000 to 2500000000, not 1"),
    ];
    for (key, value, named, message) in rows {
        assert_eq!((named.to_string(), message.to_string()), complaint(&order(key, value)));
    }
    for key in ["part", "start_at_ns", "watch_ns"] {
        assert_eq!(key, complaint(&with(&format!("/{key}"), Value::Null)).0, "schema 1 does not have it");
        let value = if key == "part" { json!({"index": 0, "of": 1}) } else { json!(200_000_000) };
        let mut turns = order(key, value);
        (turns["turns"], turns["duration_ns"], turns["warmup_ns"]) = (true.into(), Value::Null, 0.into());
        let (named, message) = complaint(&turns);
        assert!(named == key && message.contains("null where turns is true"), "{message}");
    }
    let mut crowd = order("part", json!({"index": 1, "of": 2}));
    crowd["pace"] = json!({"kind": "closed-stages", "stages": [
        {"duration_ns": 2_000_000_000_u64, "connections_from": 64, "connections_to": 65}]});
    assert_eq!("part", complaint(&crowd).0);
}
