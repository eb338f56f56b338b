//! Whether an answer is right, as far as it has come.

use crate::expect::{Broken, Check, Known};
use crate::order::Expect;
use crate::wire::h1::{Framing, Head};

/// A body of so many bytes is worth not looking at.
const LONG: u64 = 8 * 1024;

/// A complete answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// 200 to 999.
    pub status: u16,
    /// It speaks HTTP/1.0.
    pub http10: bool,
    /// The server keeps the connection.
    pub keep_alive: bool,
    /// The rule it breaks.
    pub broken: Option<Broken>,
    /// Bytes that came with it and are not part of it.
    pub rest: usize,
    /// Length of its body.
    pub length: u64,
}

/// What is kept for the summary because it came first.
#[derive(Debug, Default)]
pub struct First {
    /// Status line and header block of the first answer.
    pub head: Option<(u64, Vec<u8>)>,
    /// The media type that was not the expected one.
    pub odd_type: Option<String>,
}

/// What an answer has come to so far. Its parts are judged here and nowhere else, whichever reader found them.
#[derive(Debug, Default)]
pub struct Verdict {
    pub(super) check: Check,
    pub(super) status: u16,
    http10: bool,
    pub(super) keep_alive: bool,
    /// The head said the length.
    measured: bool,
    head: HeadRule,
}

/// What a header block broke. Apart from [`Broken`], which is eight times as large and would be in every place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum HeadRule {
    /// Nothing.
    #[default]
    Kept,
    /// The status is not expected.
    Status,
    /// The media type is not.
    ContentType,
}

impl Verdict {
    /// Whether this answer has a long body of which only the length, which it said before, mattered.
    pub fn is_long(&self, answer: &Answer, expect: &Expect) -> bool {
        answer.length >= LONG && answer.broken.is_none() && self.measured && !expect.has_content()
    }

    /// The header block, as `raw` says it and as it was understood.
    #[inline]
    pub fn head(&mut self, head: &Head, raw: &[u8], expect: &Expect, known: &mut Known, first: &mut First) {
        self.head = head_rule(head, raw, expect, first);
        self.check.begin(expect, known, self.head == HeadRule::Kept);
        (self.status, self.http10, self.keep_alive) = (head.status, head.http10, head.keep_alive);
        self.measured = matches!(head.framing, Framing::Length(_));
    }

    /// The next bytes of the body.
    #[inline]
    pub fn body(&mut self, part: &[u8], expect: &Expect, known: &mut Known) {
        self.check.body(part, expect, known);
    }

    /// The answer is complete, and so many bytes follow it.
    #[inline]
    pub fn end(&mut self, rest: usize, expect: &Expect, known: &mut Known) -> Answer {
        let broken = match std::mem::take(&mut self.head) {
            HeadRule::Kept => self.check.end(expect, known),
            HeadRule::Status => Some(Broken::Status),
            HeadRule::ContentType => Some(Broken::ContentType),
        };
        let (status, http10, keep_alive) = (self.status, self.http10, self.keep_alive);
        Answer { status, http10, keep_alive, broken, rest, length: self.check.length() }
    }
}

/// The rules that a header block can break.
#[inline]
fn head_rule(head: &Head, raw: &[u8], expect: &Expect, first: &mut First) -> HeadRule {
    if !expect.statuses.contains(&head.status) {
        return HeadRule::Status;
    }
    let Some(expected) = expect.content_type.as_deref() else { return HeadRule::Kept };
    // RFC 9110, 8.3.1: type and subtype are case-insensitive; what follows a semicolon are parameters.
    let value = head.content_type.clone().map_or(&b""[..], |range| &raw[range]);
    let media = value.split(|b| *b == b';').next().unwrap_or_default().trim_ascii();
    if media.eq_ignore_ascii_case(expected.as_bytes()) {
        return HeadRule::Kept;
    }
    first.odd_type.get_or_insert_with(|| String::from_utf8_lossy(media).into_owned());
    HeadRule::ContentType
}

impl First {
    /// How much of the first header block is kept.
    const LIMIT: usize = 2048;

    /// Keeps a header block that came `at`, if none came before.
    #[inline]
    pub fn keep(&mut self, at: u64, raw: &[u8]) {
        if self.head.is_none() {
            self.head = Some((at, raw[..raw.len().min(First::LIMIT)].to_vec()));
        }
    }
}
