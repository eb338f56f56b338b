//! One check of the order's reader on one string of bytes.

use webdyno_engine::error::Blame;
use webdyno_engine::order::Command;
use webdyno_engine::wire::encode::encode;
use webdyno_engine::{Fault, Order};

/// A refusal of a command names its key in one short line.
pub fn check_command(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Err(fault) = Command::parse(text) {
        complains(&fault, "the command ");
    }
}

/// A refusal names its key in one short line; an order that is taken can be sent without anybody reading more requests into it.
pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Order::parse(text) {
        Err(fault) => complains(&fault, "the order "),
        Ok(order) => order.requests.iter().for_each(|request| {
            let body = request.body.as_deref().unwrap_or_default();
            let sent = encode(request, &order);
            let head =
                sent.strip_suffix(body).and_then(|h| h.strip_suffix(b"\r\n\r\n")).expect("a head, then the body");
            let head = std::str::from_utf8(head).expect("a head of text");
            assert!(head.starts_with(&format!("{} {} HTTP/1.", request.method, request.path)));
            for line in head.split("\r\n").skip(1) {
                let name = line.split_once(": ").expect("name and value").0;
                assert!(!name.is_empty() && !line.contains(['\r', '\n', '\0']), "{line:?}");
            }
        }),
    }
}

/// `all` is how a complaint begins that is about no key.
fn complains(fault: &Fault, all: &str) {
    assert_eq!(Blame::Order, fault.blame);
    let whole = fault.key.is_empty() && fault.message.starts_with(all);
    let named = !fault.key.is_empty() && fault.message.contains(&fault.key);
    assert!(whole || named, "key {:?} in {:?}", fault.key, fault.message);
    assert!(fault.message.len() <= 2 * fault.key.len() + 600, "a long complaint: {:?}", fault.message);
}
