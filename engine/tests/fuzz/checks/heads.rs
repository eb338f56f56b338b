//! One check of the reader of header blocks on one string of bytes: where a block ends, what it says, and that a split changes neither.

use super::draw::Draw;
use webdyno_engine::wire::h1::{Event, Framing, Head, Parser, Template};
use webdyno_engine::wire::head;

/// The end of a block is that of its first empty line, and the parser says of it what [`head::parse`] says.
///
/// Empty lines before a block are between answers (RFC 9112, 2.2), and are not its own.
pub fn check(bytes: &[u8]) {
    let between = bytes.iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
    let bytes = &bytes[between..];
    let end = head::end(bytes, 0);
    assert_eq!(naive_end(bytes), end);
    let Some(end) = end else { return };
    let block = &bytes[..end];
    let alone = head::parse(block);
    if let Ok(head) = &alone {
        sound(head, block);
    }
    if alone.as_ref().is_ok_and(|head| head.status < 200) {
        return;
    }
    let cut = Draw::of(bytes).below(end + 1);
    for parts in [[block, &[]], [&block[..cut], &block[cut..]]] {
        let (mut parser, mut template, mut seen) = (Parser::default(), Template::default(), None);
        parser.begin(false);
        for mut part in parts {
            match parser.next(&mut template, &mut part) {
                Ok(None) => {}
                Ok(Some(Event::Head(head, raw))) => {
                    assert!(part.is_empty() && raw == block && seen.is_none());
                    seen = Some(Ok(head));
                    break;
                }
                Ok(Some(other)) => panic!("{other:?} before a head"),
                Err(why) => {
                    seen = Some(Err(why));
                    break;
                }
            }
        }
        assert_eq!(alone.as_ref().ok(), seen.expect("a whole block is read").as_ref().ok());
    }
}

/// One past the first line that is empty and is not the first.
fn naive_end(bytes: &[u8]) -> Option<usize> {
    let ends = |at: &usize| bytes[..*at].ends_with(b"\n\n") || bytes[..*at].ends_with(b"\n\r\n");
    (0..=bytes.len()).find(ends)
}

fn sound(head: &Head, block: &[u8]) {
    assert!((100..=999).contains(&head.status));
    assert!(!(head.http10 && head.framing == Framing::Chunked), "chunked in HTTP/1.0");
    if let Some(range) = &head.content_type {
        let text = &block[range.clone()];
        let blank = |b: Option<&u8>| b.is_some_and(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n'));
        assert!(!blank(text.first()) && !blank(text.last()), "{text:?}");
    }
}
