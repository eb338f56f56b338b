//! What a worker has learnt about the answers to one request, so that those to come cost it less.

use super::verdict::Answer;
use crate::expect::Known;
use crate::wire::h1::Template;

/// What a worker has learnt about the answers to one request: header block, body, and the last correct answer that came in one read.
#[derive(Debug, Default)]
pub struct Lore {
    pub(super) template: Template,
    pub(super) known: Known,
    pub(super) whole: Whole,
    /// A correct answer had a long body that was only counted, and said its length before.
    pub(super) long: bool,
    /// Something followed an answer that was not looked at.
    pub(super) surplus: bool,
}

impl Lore {
    /// Whether answers like those before have bodies that need not be looked at.
    #[inline]
    pub fn may_look_away(&self) -> bool {
        self.long && !self.surplus
    }
}

/// The bytes of a correct answer, with what they came to.
///
/// Servers mostly send the same bytes again (the date in them changes once in a second), and reading depends on nothing but the bytes,
/// the request and its rules. So one comparison replaces it, and any answer that differs is read as if this did not exist.
#[derive(Debug, Default)]
pub struct Whole {
    bytes: Vec<u8>,
    right: Option<Right>,
}

/// What a correct answer is beside its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Right {
    /// As [`Answer::status`].
    pub status: u16,
    /// As [`Answer::http10`].
    pub http10: bool,
    /// As [`Answer::keep_alive`].
    pub keep_alive: bool,
    /// As [`Answer::length`].
    length: u64,
}

impl Right {
    /// The same as an answer with so many bytes behind it.
    pub fn answer(self, rest: usize) -> Answer {
        let Right { status, http10, keep_alive, length } = self;
        Answer { status, http10, keep_alive, broken: None, rest, length }
    }
}

impl Whole {
    /// Longer answers are not kept: copying each that differs would cost more than it saves.
    const LIMIT: usize = 4 * 1024;

    /// The known answer that `bytes` begin with, and how many bytes follow it. What ends an answer is in its bytes, so that it is the same
    /// whatever follows.
    #[inline(always)]
    pub fn is(&self, bytes: &[u8]) -> Option<(Right, usize)> {
        let right = self.right.filter(|_| bytes.starts_with(&self.bytes))?;
        Some((right, bytes.len() - self.bytes.len()))
    }

    /// A whole answer came in one read, as `bytes`, which may hold more.
    pub fn learn(&mut self, bytes: &[u8], answer: &Answer) {
        let bytes = &bytes[..bytes.len() - answer.rest];
        let right = answer.broken.is_none() && bytes.len() <= Whole::LIMIT;
        let Answer { status, http10, keep_alive, length, .. } = *answer;
        self.right = right.then_some(Right { status, http10, keep_alive, length });
        if right {
            self.bytes.clear();
            self.bytes.extend_from_slice(bytes);
        }
    }
}
