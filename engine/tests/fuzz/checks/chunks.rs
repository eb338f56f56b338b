//! One check of the reader of chunked bodies on one string of bytes, which follows a head that announces chunks.

use super::answers::read;
use super::draw::Draw;
use super::model;
use webdyno_engine::wire::h1::Template;

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

/// Whole and in two parts, and by the model, the bytes mean the same.
pub fn check(bytes: &[u8]) {
    let whole = [HEAD, bytes].concat();
    let read = |parts: &[&[u8]]| read(parts, false, &mut Template::default());
    let told = read(&[HEAD, bytes]);
    assert_eq!(model::read(&whole, false), told, "the model on the left, the parser on the right");
    let cut = Draw::of(bytes).below(bytes.len() + 1);
    assert_eq!(told, read(&[HEAD, &bytes[..cut], &bytes[cut..]]), "split at {cut}");
}
