//! A request as bytes. Done once per request of the order, before the load; afterwards the same bytes are sent each time. One that
//! differs each time is a [`template`](super::template).

use super::h2;
use crate::order::{Order, Request, Version};

/// The bytes of `request` as this order wants it sent.
pub fn encode(request: &Request, order: &Order) -> Vec<u8> {
    if order.version == Version::Http2 {
        return h2::encode::encode(request, order, order.tls.is_some());
    }
    let mut text = format!("{} {} HTTP/{}\r\n", request.method, request.path, version(order));
    text.push_str(&host_line(request, order));
    for (name, value) in &request.headers {
        text.push_str(&line(name, value));
    }
    text.push_str(&connection_line(request, order));
    if let Some(length) = content_length(request) {
        text.push_str(&line("Content-Length", &length.to_string()));
    }
    text.push_str("\r\n");
    let mut bytes = text.into_bytes();
    bytes.extend_from_slice(request.body.as_deref().unwrap_or_default());
    bytes
}

fn line(name: &str, value: &str) -> String {
    format!("{name}: {value}\r\n")
}

/// The version as a request line ends with it.
pub(super) fn version(order: &Order) -> &'static str {
    match order.version {
        Version::Http11 => "1.1",
        Version::Http10 => "1.0",
        Version::Http2 => "2",
    }
}

/// RFC 9110, 7.2: Host comes first, and every HTTP/1.1 request carries one. Empty where the order gives it.
pub(super) fn host_line(request: &Request, order: &Order) -> String {
    if given(request, "host") { String::new() } else { line("Host", &host(order)) }
}

/// What the request says of its connection. Empty where the order says it, or there is nothing to say.
pub(super) fn connection_line(request: &Request, order: &Order) -> String {
    match (order.keep_alive, order.version) {
        _ if given(request, "connection") => String::new(),
        (false, _) => line("Connection", "close"),
        (true, Version::Http10) => line("Connection", "keep-alive"),
        (true, _) => String::new(),
    }
}

/// Whether the order gives this header itself.
fn given(request: &Request, name: &str) -> bool {
    request.headers.iter().any(|(n, _)| n.eq_ignore_ascii_case(name))
}

/// RFC 9110, 8.6: a method that expects a body says `Content-Length: 0` when it has none.
pub(super) fn content_length(request: &Request) -> Option<usize> {
    match &request.body {
        Some(body) => Some(body.len()),
        None if ["POST", "PUT", "PATCH"].contains(&request.method.as_str()) => Some(0),
        None => None,
    }
}

/// RFC 9110, 7.2 and RFC 3986, 3.2: IPv6 in brackets; the port is left out where it is the scheme's own (RFC 9110, 4.2.1 and 4.2.2).
pub(super) fn host(order: &Order) -> String {
    let name = &order.target.host;
    let name = if name.contains(':') { format!("[{name}]") } else { name.clone() };
    let own = if order.tls.is_some() { 443 } else { 80 };
    if order.target.port == own { name } else { format!("{name}:{}", order.target.port) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(edit: impl FnOnce(&mut serde_json::Value)) -> Order {
        let mut value = serde_json::json!({
            "schema": 1, "target": {"host": "127.0.0.1", "port": 8080},
            "requests": [{"name": "r", "method": "GET", "path": "/"}],
            "pace": {"kind": "closed", "connections": 1}, "count": 1, "warmup_ns": 0, "timeout_ns": 1_000_000_000,
            "connect_timeout_ns": 1_000_000_000, "keep_alive": true, "http": "1.1", "threads": 1, "cpus": [], "slice_ns": 1_000_000_000
        });
        edit(&mut value);
        Order::parse(&value.to_string()).unwrap()
    }

    fn encoded(edit: impl FnOnce(&mut serde_json::Value)) -> String {
        let order = order(edit);
        String::from_utf8(encode(&order.requests[0], &order)).unwrap()
    }

    #[test]
    fn a_plain_get_carries_host_and_nothing_else() {
        assert_eq!("GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n", encoded(|_| {}));
    }

    #[test]
    fn the_default_port_is_left_out_and_ipv6_is_bracketed() {
        let text = encoded(|o| o["target"] = serde_json::json!({"host": "::1", "port": 80}));
        assert_eq!("GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n", text);
    }

    #[test]
    fn the_port_is_left_out_only_where_it_is_the_schemes_own() {
        for (secure, port, host) in [(false, 80, "h"), (false, 443, "h:443"), (true, 443, "h"), (true, 80, "h:80")] {
            let text = encoded(|o| {
                (o["schema"], o["target"]) = (3.into(), serde_json::json!({"host": "h", "port": port}));
                o["tls"] = if secure { serde_json::json!({"verify": false}) } else { serde_json::Value::Null };
            });
            assert_eq!(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"), text, "TLS {secure}, port {port}");
        }
    }

    #[test]
    fn close_is_asked_for_when_connections_are_not_kept() {
        let text = encoded(|o| o["keep_alive"] = false.into());
        assert!(text.contains("\r\nConnection: close\r\n"), "{text}");
    }

    #[test]
    fn http10_asks_to_keep_the_connection() {
        let text = encoded(|o| o["http"] = "1.0".into());
        assert_eq!("GET / HTTP/1.0\r\nHost: 127.0.0.1:8080\r\nConnection: keep-alive\r\n\r\n", text);
    }

    #[test]
    fn headers_of_the_order_win() {
        let text = encoded(|o| {
            o["keep_alive"] = false.into();
            o["requests"][0]["headers"] = serde_json::json!([["HOST", "a"], ["connection", "keep-alive"]]);
        });
        assert_eq!("GET / HTTP/1.1\r\nHOST: a\r\nconnection: keep-alive\r\n\r\n", text);
    }

    #[test]
    fn a_body_brings_its_length_and_a_bare_post_says_zero() {
        let text = encoded(|o| {
            o["requests"][0]["method"] = "POST".into();
            o["requests"][0]["body_base64"] = "YWJj".into();
        });
        assert!(text.ends_with("Content-Length: 3\r\n\r\nabc"), "{text}");
        let bare = encoded(|o| o["requests"][0]["method"] = "POST".into());
        assert!(bare.ends_with("Content-Length: 0\r\n\r\n"), "{bare}");
    }
}
