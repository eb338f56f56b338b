//! Whether an answer is the right one: every rule, on every answer, at the price of a comparison.
//!
//! A SHA-256 of every body would cost more than the request itself. So the first body that satisfied the rules is kept, and later
//! bodies are compared with it as they arrive: equal bytes satisfy the same rules. The first byte that differs starts a real check
//! of that body, fed with the part that was equal. The outcome is exact in every case; only its price varies.

use crate::order::Expect;
use memchr::memmem;
use sha2::{Digest, Sha256};

/// A body longer than this is not kept: it is checked in full each time.
const KEPT_LIMIT: usize = 4 * 1024 * 1024;
/// Stands for the collecting check once the body proved too long to keep.
const BARRED: u64 = u64::MAX;

/// Which rule an answer broke, with what it had instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// Not one of the expected statuses.
    Status,
    /// Another media type.
    ContentType,
    /// Another length of the body.
    Length(u64),
    /// Another SHA-256 of the body.
    Digest(Box<[u8; 32]>),
    /// The text is not in the body.
    Contains,
}

/// The body that satisfied the rules, once there is one. One for each request, shared by the connections of a worker.
#[derive(Debug, Default)]
pub struct Known {
    body: Option<Vec<u8>>,
    /// The check that is collecting a body, by number: one at a time, or many big bodies would be held at once.
    collector: Option<u64>,
    collected: Vec<u8>,
    numbers: u64,
}

/// The check of one answer's body while it arrives.
#[derive(Debug, Default)]
pub struct Check {
    length: u64,
    mode: Mode,
}

#[derive(Debug, Default)]
enum Mode {
    /// Only the length matters.
    #[default]
    Count,
    /// All bytes so far equal those of the known body.
    Same,
    /// Checked in full.
    Full(Box<Full>),
}

#[derive(Debug)]
struct Full {
    number: u64,
    sha: Option<Sha256>,
    found: bool,
    /// The last bytes, in which the text may have begun.
    tail: Vec<u8>,
}

impl Check {
    /// Begins with a new body; `matters` is false when the answer is wrong already.
    #[inline]
    pub fn begin(&mut self, expect: &Expect, known: &mut Known, matters: bool) {
        self.length = 0;
        self.mode = match &known.body {
            _ if !(matters && expect.has_content()) => Mode::Count,
            Some(_) => Mode::Same,
            None => Mode::Full(Box::new(Full::new(expect, known.collect()))),
        };
    }

    /// Takes the next bytes of the body.
    #[inline]
    pub fn body(&mut self, bytes: &[u8], expect: &Expect, known: &mut Known) {
        let at = self.length as usize;
        self.length += bytes.len() as u64;
        match &mut self.mode {
            Mode::Count => {}
            Mode::Same => {
                let same = known.body.as_deref().unwrap_or_default();
                if same.get(at..at + bytes.len()) != Some(bytes) {
                    let mut full = Full::after(expect, &same[..at]);
                    full.feed(bytes, expect);
                    self.mode = Mode::Full(full);
                }
            }
            Mode::Full(full) => {
                full.feed(bytes, expect);
                known.add(full.number, bytes);
            }
        }
    }

    /// The body is complete: the first rule it breaks.
    #[inline]
    pub fn end(&mut self, expect: &Expect, known: &mut Known) -> Option<Broken> {
        if expect.body_length.is_some_and(|length| length != self.length) {
            return Some(Broken::Length(self.length));
        }
        match std::mem::take(&mut self.mode) {
            Mode::Count => None,
            Mode::Same => {
                let same = known.body.as_deref().unwrap_or_default();
                if self.length == same.len() as u64 {
                    return None;
                }
                Full::after(expect, &same[..self.length as usize]).verdict(expect)
            }
            Mode::Full(full) => {
                let number = full.number;
                let broken = full.verdict(expect);
                known.settle(number, broken.is_none());
                broken
            }
        }
    }

    /// Whether only the number of bytes matters.
    pub fn counts(&self) -> bool {
        matches!(self.mode, Mode::Count)
    }

    /// So many bytes of a body came of which only the number matters.
    pub fn pass(&mut self, bytes: u64) {
        self.length += bytes;
    }

    /// Bytes of the body so far.
    pub fn length(&self) -> u64 {
        self.length
    }
}

impl Full {
    fn new(expect: &Expect, number: u64) -> Full {
        Full { number, sha: expect.body_sha256.map(|_| Sha256::new()), found: false, tail: Vec::new() }
    }

    /// A check that has already been given `before`.
    fn after(expect: &Expect, before: &[u8]) -> Box<Full> {
        let mut full = Box::new(Full::new(expect, 0));
        full.feed(before, expect);
        full
    }

    fn feed(&mut self, bytes: &[u8], expect: &Expect) {
        if let Some(sha) = &mut self.sha {
            sha.update(bytes);
        }
        let Some(text) = expect.body_contains.as_deref().filter(|_| !self.found) else { return };
        // The text may straddle reads: its beginning can lie in the last len - 1 bytes before these.
        let keep = text.len().saturating_sub(1);
        self.tail.extend_from_slice(&bytes[..bytes.len().min(keep)]);
        self.found = memmem::find(&self.tail, text).is_some() || memmem::find(bytes, text).is_some();
        if bytes.len() >= keep {
            self.tail.clear();
            self.tail.extend_from_slice(&bytes[bytes.len() - keep..]);
        } else {
            self.tail.drain(..self.tail.len().saturating_sub(keep));
        }
    }

    fn verdict(self, expect: &Expect) -> Option<Broken> {
        if let (Some(expected), Some(sha)) = (expect.body_sha256, self.sha) {
            let digest: [u8; 32] = sha.finalize().into();
            if digest != expected {
                return Some(Broken::Digest(Box::new(digest)));
            }
        }
        let missing = expect.body_contains.as_ref().is_some_and(|text| !self.found && !text.is_empty());
        missing.then_some(Broken::Contains)
    }
}

impl Known {
    /// A number for a check in full, which collects the body unless another does.
    fn collect(&mut self) -> u64 {
        self.numbers += 1;
        if self.collector.is_none() {
            self.collector = Some(self.numbers);
            self.collected.clear();
        }
        self.numbers
    }

    fn add(&mut self, number: u64, bytes: &[u8]) {
        if self.collector != Some(number) {
            return;
        }
        if self.collected.len() + bytes.len() > KEPT_LIMIT {
            // Stays the collector, so that no other check begins to collect what cannot be kept.
            self.collected = Vec::new();
            self.collector = Some(BARRED);
        } else {
            self.collected.extend_from_slice(bytes);
        }
    }

    fn settle(&mut self, number: u64, right: bool) {
        let mine = self.collector == Some(number);
        if mine && right {
            self.body = Some(std::mem::take(&mut self.collected));
        }
        // A check that collected and broke off with its connection would bar the others for ever: any right one releases it.
        if mine || (right && self.collector != Some(BARRED)) {
            self.collector = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expecting(sha: Option<&[u8]>, contains: Option<&str>) -> Expect {
        Expect {
            body_sha256: sha.map(|body| Sha256::digest(body).into()),
            body_contains: contains.map(|t| t.as_bytes().to_vec()),
            ..Expect::default()
        }
    }

    /// Checks one body in parts of `size`.
    fn check(body: &[u8], size: usize, expect: &Expect, known: &mut Known) -> Option<Broken> {
        let mut check = Check::default();
        check.begin(expect, known, true);
        body.chunks(size).for_each(|part| check.body(part, expect, known));
        check.end(expect, known)
    }

    #[test]
    fn a_known_body_is_compared_and_any_other_is_hashed() {
        let (expect, mut known) = (expecting(Some(b"hello world"), None), Known::default());
        for size in 1..12 {
            assert_eq!(None, check(b"hello world", size, &expect, &mut known));
            assert_eq!(Some(b"hello world".as_slice()), known.body.as_deref());
            for wrong in ["hello", "hello worle", "hello world!", "", "Hello world"] {
                let digest = Box::new(Sha256::digest(wrong).into());
                assert_eq!(Some(Broken::Digest(digest)), check(wrong.as_bytes(), size, &expect, &mut known), "{wrong}");
            }
        }
    }

    #[test]
    fn a_wrong_first_body_is_not_kept() {
        let (expect, mut known) = (expecting(Some(b"a"), None), Known::default());
        assert!(check(b"b", 1, &expect, &mut known).is_some());
        assert_eq!(None, known.body);
        assert_eq!(None, check(b"a", 1, &expect, &mut known));
        assert!(known.body.is_some());
    }

    #[test]
    fn a_text_is_found_across_any_split_and_in_bodies_that_differ() {
        let (expect, mut known) = (expecting(None, Some("needle")), Known::default());
        for size in 1..20 {
            for body in ["xx needle yy", "needle", "neneedle", "other needle here", "needneedle"] {
                assert_eq!(None, check(body.as_bytes(), size, &expect, &mut known), "{body} by {size}");
            }
            for body in ["needl", "xx needl", "neeedle", "", "n e e d l e"] {
                assert_eq!(
                    Some(Broken::Contains),
                    check(body.as_bytes(), size, &expect, &mut known),
                    "{body} by {size}"
                );
            }
        }
    }

    #[test]
    fn length_is_told_before_content() {
        let mut expect = expecting(Some(b"four"), None);
        expect.body_length = Some(4);
        let mut known = Known::default();
        assert_eq!(Some(Broken::Length(5)), check(b"fives", 2, &expect, &mut known));
        assert_eq!(None, check(b"four", 2, &expect, &mut known));
    }

    #[test]
    fn a_collector_that_broke_off_does_not_bar_the_others() {
        let (expect, mut known) = (expecting(Some(b"ab"), None), Known::default());
        let mut lost = Check::default();
        lost.begin(&expect, &mut known, true);
        lost.body(b"a", &expect, &mut known);
        drop(lost);
        (0..2).for_each(|_| assert_eq!(None, check(b"ab", 1, &expect, &mut known)));
        assert_eq!(Some(b"ab".as_slice()), known.body.as_deref());
    }

    #[test]
    fn a_body_too_long_to_keep_is_hashed_every_time() {
        let body = vec![7; KEPT_LIMIT + 1];
        let (expect, mut known) = (expecting(Some(&body), None), Known::default());
        (0..2).for_each(|_| assert_eq!(None, check(&body, 1 << 20, &expect, &mut known)));
        assert_eq!(None, known.body);
    }
}
