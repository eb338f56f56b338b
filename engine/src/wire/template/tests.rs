use super::*;
use serde_json::{Value, json};

fn order(request: Value) -> Order {
    let value = json!({
        "schema": 3, "target": {"host": "127.0.0.1", "port": 8080}, "requests": [request],
        "pace": {"kind": "closed", "connections": 9}, "count": 1, "warmup_ns": 0, "timeout_ns": 1_000_000_000,
        "connect_timeout_ns": 1_000_000_000, "keep_alive": true, "http": "1.1", "threads": 1, "cpus": [], "slice_ns": 1_000_000_000
    });
    Order::parse(&value.to_string()).unwrap()
}

fn mould(request: Value) -> Option<Mould> {
    let order = order(request);
    Mould::of(&order.requests[0], &order)
}

/// A body of these bytes, as an order has it.
fn base64(body: &str) -> Value {
    use base64::{Engine, engine::general_purpose::STANDARD};
    STANDARD.encode(body).into()
}

fn text(press: &mut Press, mould: &Option<Mould>, number: u64) -> String {
    String::from_utf8(press.render(mould, number).to_vec()).unwrap()
}

/// One text of placeholders, put together.
fn drawn(pattern: &str, press: &Press, number: u64) -> String {
    let mut out = Vec::new();
    press.append_parts(&cut(pattern.as_bytes(), &mut 0).unwrap(), number, &mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn path_headers_and_body_are_filled_and_the_length_is_right() {
    let request = json!({"name": "r", "method": "POST", "path": "/i/{{counter}}?a={{counter}}", "template": true,
        "headers": [["X-Id", "n{{counter}}"]], "body_base64": base64("{\"id\":{{counter}}}")});
    let (mould, mut press) = (mould(request), Press::new(1, 0, 1));
    let expected = |n: u64| {
        let body = format!("{{\"id\":{n}}}");
        format!(
            "POST /i/{n}?a={n} HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nX-Id: n{n}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    for number in [0, 9, 10, 999, 1000, 123_456_789] {
        assert_eq!(expected(number), text(&mut press, &mould, number));
    }
}

#[test]
fn the_length_is_that_of_the_body_whatever_is_drawn() {
    let body = "{{random}} {{random:0-18446744073709551615}} {{counter}} {{random:5-5}} {{random:0-1000}}";
    let request = json!({"name": "r", "method": "PUT", "path": "/", "template": true, "body_base64": base64(body)});
    let (mould, mut press) = (mould(request), Press::new(7, 0, 1));
    for number in 0..1000 {
        let whole = text(&mut press, &mould, number);
        let (head, body) = whole.split_once("\r\n\r\n").unwrap();
        assert!(head.ends_with(&format!("\r\nContent-Length: {}", body.len())), "{whole}");
        assert_eq!(5, body.split(' ').count());
    }
}

#[test]
fn without_placeholders_a_template_is_the_fixed_request() {
    let with = |path: &str| order(json!({"name": "r", "method": "POST", "path": path, "template": true}));
    assert!(Mould::of(&with("/{counter}").requests[0], &with("/{counter}")).is_none());
    // Apart from what is filled in, a template's bytes are those of the fixed request.
    let (fixed, mut press) = (with("/7"), Press::new(1, 0, 1));
    let bytes = encode::encode(&fixed.requests[0], &fixed);
    let mould = Mould::of(&with("/{{counter}}").requests[0], &with("/{{counter}}"));
    assert_eq!(bytes, press.render(&mould, 7));
}

#[test]
fn the_same_number_is_the_same_bytes_and_every_other_differs() {
    let all = |seed: u64, thread: u64| -> Vec<String> {
        let press = Press::new(seed, thread, 2);
        (0..100).map(|number| drawn("{{random}}{{random}}", &press, number)).collect()
    };
    assert_eq!(all(7, 0), all(7, 0));
    let mut seen: Vec<String> = [all(7, 0), all(7, 1), all(8, 0)].concat();
    seen.extend(seen.clone().iter().flat_map(|s| [s[..16].to_string(), s[16..].to_string()]));
    let count = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!(count, seen.len(), "no draw is there twice");
    assert!(seen.iter().all(|s| s.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))));
}

#[test]
fn threads_share_the_counter_out_like_cards() {
    let mut all: Vec<u64> = Vec::new();
    for thread in 0..3 {
        let press = Press::new(1, thread, 3);
        all.extend((0..10).map(|number| drawn("{{counter}}", &press, number).parse::<u64>().unwrap()));
    }
    all.sort_unstable();
    assert_eq!((0..30).collect::<Vec<_>>(), all);
}

#[test]
fn a_range_holds_both_its_ends_and_each_value_alike() {
    let press = Press::new(3, 0, 1);
    let mut counts = [0_u32; 6];
    for number in 0..6000 {
        counts[drawn("{{random:10-15}}", &press, number).parse::<usize>().unwrap() - 10] += 1;
    }
    // 1000 each, with a standard deviation of 29.
    assert!(counts.iter().all(|n| n.abs_diff(1000) < 5 * 29), "{counts:?}");
    assert_eq!("18446744073709551615", drawn("{{random:18446744073709551615-18446744073709551615}}", &press, 1));
}

#[test]
fn nothing_is_allocated_once_the_buffer_has_grown() {
    let request = json!({"name": "r", "method": "GET", "path": "/{{random}}/{{random:10-99}}", "template": true});
    let (mould, mut press) = (mould(request), Press::new(1, 0, 1));
    let before = press.render(&mould, 0).as_ptr();
    assert!((1..1000).all(|number| press.render(&mould, number).as_ptr() == before));
}

#[test]
fn what_is_no_placeholder_is_said_with_what_was_meant() {
    let all = "the placeholders are {{counter}}, {{random}}, {{random:LOW-HIGH}}";
    let range = "have two integers from 0 to 18446744073709551615, as in {{random:1-100}}";
    let rows = [
        ("{{cuonter}}", "has {{cuonter}}, which is no placeholder; did you mean {{counter}}?".to_string()),
        ("a{{ random }}", "has {{ random }}, which is no placeholder; did you mean {{random}}?".to_string()),
        ("{{randm:1-2}}", "has {{randm:1-2}}, which is no placeholder; did you mean {{random:LOW-HIGH}}?".to_string()),
        ("{{uuid}}", format!("has {{{{uuid}}}}, which is no placeholder; {all}")),
        ("{{}}", format!("has {{{{}}}}, which is no placeholder; {all}")),
        ("a{{counter}", format!("has {{{{ without }}}} after it; {all}")),
        ("{{random:9-1}}", "has {{random:9-1}}, which must have its low end first, as in {{random:1-9}}".to_string()),
        ("{{random:1}}", format!("has {{{{random:1}}}}, which must {range}")),
        ("{{random:-5-5}}", format!("has {{{{random:-5-5}}}}, which must {range}")),
        ("{{random:+1-5}}", format!("has {{{{random:+1-5}}}}, which must {range}")),
    ];
    for (text, message) in rows {
        assert_eq!(Err(message), cut(text.as_bytes(), &mut 0), "{text}");
    }
}

#[test]
fn braces_that_open_nothing_are_text() {
    let parts = cut(b"{\"a\":{\"b\":1}} }}{", &mut 0).unwrap();
    assert_eq!(vec![Part::Text(b"{\"a\":{\"b\":1}} }}{".to_vec())], parts);
}
