//! One place of a connection: what it is doing, and what arriving bytes mean to it.
//!
//! A place is the slot of one request at a time, on one of the n connections that were asked for. Sockets come and go in it. Nothing here
//! does I/O: the worker moves bytes, or the parts of an answer that a layer below has read, and the place says what they came to.

use crate::expect::{Broken, Check, Known};
use crate::order::{Expect, Request};
use crate::wire::Malformed;
use crate::wire::h1::{Event, Head, Parser, Template};

/// The first wait after a refused connect, and the longest.
const BACK_OFF: (u32, u32) = (1_000_000, 100_000_000);

/// What a place is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It has no request.
    Idle,
    /// It waits until a time before it connects: the server refused, or the pace has no connection for it before.
    BackOff(u64),
    /// As before, but for this machine: it had no port or descriptor to spare. Its request is kept.
    Starved(u64),
    /// It has a request, and waits until a time before it tries to connect again: the server's queue was full.
    Queued(u64),
    /// It connects before there is a request for it.
    Opening,
    /// It has a request and no connection yet.
    Connecting,
    /// Its request is on the way, or answered in part.
    Asking,
}

/// The slot of one request on one of the connections that were asked for.
#[derive(Debug)]
pub struct Place {
    /// What it is doing.
    pub state: State,
    /// A socket is connected.
    pub connected: bool,
    /// The present request was sent once more on a new connection.
    pub retried: bool,
    /// It has had a complete answer in this run.
    pub answered: bool,
    /// It has had a request in this run.
    pub asked: bool,
    request: u32,
    /// Which of its worker's requests the present one is, from 0.
    pub number: u64,
    /// When the present request was due.
    pub due_at: u64,
    /// When the present request was first sent; 0: not yet.
    pub sent_at: u64,
    /// When the present connect began.
    pub connect_at: u64,
    /// When this machine first had nothing to connect with; 0: it has.
    pub starved_at: u64,
    /// Complete answers at this place on the present connection.
    pub answers: u64,
    /// Bytes of the request already taken by the socket.
    pub taken: usize,
    /// Whether all of them were.
    pub sent: bool,
    /// Whether any byte of the request was ever taken, on this connection or one before.
    pub under_way: bool,
    back_off: u32,
    parser: Parser,
    /// Of the present answer, once it is complete.
    pub status: u16,
    verdict: Verdict,
}

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

/// What arriving bytes came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// More are needed.
    More,
    /// The answer is complete.
    Complete(Answer),
    /// They are not an answer.
    Malformed(&'static str),
}

/// What a worker has learnt about the answers to one request: header block, body, and the last right answer that came in one read.
#[derive(Debug, Default)]
pub struct Lore {
    template: Template,
    known: Known,
    whole: Whole,
}

/// The bytes of a right answer, with what they came to.
///
/// Servers mostly send the same bytes again (the date in them changes once in a second), and reading depends on nothing but the bytes,
/// the request and its rules. So one comparison replaces it, and any answer that differs is read as if this did not exist.
#[derive(Debug, Default)]
struct Whole {
    bytes: Vec<u8>,
    answer: Option<Answer>,
}

impl Whole {
    /// Longer answers are not kept: copying each that differs would cost more than it saves.
    const LIMIT: usize = 4 * 1024;

    #[inline]
    fn is(&self, bytes: &[u8]) -> Option<Answer> {
        // What ends an answer is in its bytes, so that it is the same whatever follows.
        let answer = self.answer.as_ref().filter(|_| bytes.starts_with(&self.bytes))?;
        Some(Answer { rest: bytes.len() - self.bytes.len(), ..answer.clone() })
    }

    fn learn(&mut self, bytes: &[u8], answer: &Answer) {
        let bytes = &bytes[..bytes.len() - answer.rest];
        let right = answer.broken.is_none() && bytes.len() <= Whole::LIMIT;
        self.answer = right.then(|| answer.clone());
        if right {
            self.bytes.clear();
            self.bytes.extend_from_slice(bytes);
        }
    }
}

/// What is kept for the summary because it came first.
#[derive(Debug, Default)]
pub struct First {
    /// Status line and header block of the first answer.
    pub head: Option<(u64, Vec<u8>)>,
    /// The media type that was not the expected one.
    pub odd_type: Option<String>,
}

impl Default for Place {
    fn default() -> Self {
        Place {
            state: State::Idle,
            connected: false,
            retried: false,
            answered: false,
            asked: false,
            request: 0,
            number: 0,
            due_at: 0,
            sent_at: 0,
            connect_at: 0,
            starved_at: 0,
            answers: 0,
            taken: 0,
            sent: false,
            under_way: false,
            back_off: 0,
            status: 0,
            parser: Parser::default(),
            verdict: Verdict::default(),
        }
    }
}

impl Place {
    /// A new request, due then, is this place's to carry out.
    #[inline]
    pub fn assign(&mut self, request: usize, due: u64) {
        (self.request, self.due_at, self.asked) = (request as u32, due, true);
        (self.sent_at, self.retried, self.under_way) = (0, false, false);
    }

    /// Whether no byte of the present answer has come.
    #[inline]
    pub fn silent(&self) -> bool {
        !self.parser.begun()
    }

    /// The present request is about to be sent.
    #[inline]
    pub fn ask(&mut self, to_head: bool) {
        (self.state, self.taken, self.sent) = (State::Asking, 0, false);
        self.parser.begin(to_head);
    }

    /// So many bytes of the request went, `now`. A request that had to wait for the server's leave to be sent, was sent now.
    #[inline]
    pub fn went(&mut self, bytes: usize, now: u64, due_when_sent: bool) {
        self.taken += bytes;
        if !self.under_way && bytes > 0 {
            (self.under_way, self.sent_at) = (true, now);
            if due_when_sent {
                self.due_at = now;
            }
        }
    }

    /// The connection came about.
    pub fn connect(&mut self) {
        (self.connected, self.answers, self.back_off, self.starved_at) = (true, 0, 0, 0);
    }

    /// Index of the present request.
    #[inline]
    pub fn request(&self) -> usize {
        self.request as usize
    }

    /// Whether a request is under way.
    pub fn busy(&self) -> bool {
        matches!(self.state, State::Starved(_) | State::Queued(_) | State::Connecting | State::Asking)
    }

    /// Whether a request may be sent here now.
    pub fn is_free(&self) -> bool {
        self.connected && self.state == State::Idle
    }

    /// How long to wait after one more refusal.
    pub fn next_back_off(&mut self) -> u64 {
        self.back_off = (self.back_off * 2).clamp(BACK_OFF.0, BACK_OFF.1);
        u64::from(self.back_off)
    }

    /// Whether a connection that broke now, after `answers` in all its lanes, may have been closed before the request arrived: no byte
    /// of an answer has come, and the connection carried an answer before (RFC 9112, 9.3.1). Such a request is sent once more,
    /// and only once.
    pub fn may_retry(&self, answers: u64) -> bool {
        answers > 0 && !self.retried && !self.parser.begun()
    }

    /// What is overdue first for this place, if anything is.
    pub fn deadline(&self, timeout: u64, connect_timeout: u64) -> Option<u64> {
        let answer_by = self.sent_at.saturating_add(timeout);
        match self.state {
            State::Idle => None,
            State::BackOff(until) | State::Starved(until) | State::Queued(until) => Some(until),
            State::Asking => Some(answer_by),
            State::Opening => Some(self.connect_at + connect_timeout),
            // The clock of a request that is being sent once more goes on while it connects.
            State::Connecting if self.sent_at > 0 => Some(answer_by.min(self.connect_at + connect_timeout)),
            State::Connecting => Some(self.connect_at + connect_timeout),
        }
    }

    /// What `bytes` come to. `at` is when they came.
    #[inline]
    pub fn absorb(&mut self, bytes: &[u8], at: u64, request: &Request, lore: &mut Lore, first: &mut First) -> Progress {
        let fresh = self.silent();
        if let Some(answer) = fresh.then(|| lore.whole.is(bytes)).flatten() {
            self.parser.skip();
            return Progress::Complete(answer);
        }
        let progress = self.read(bytes, at, request, lore, first);
        match &progress {
            Progress::Complete(answer) if fresh => lore.whole.learn(bytes, answer),
            _ => {}
        }
        progress
    }

    fn read(&mut self, mut bytes: &[u8], at: u64, request: &Request, lore: &mut Lore, first: &mut First) -> Progress {
        loop {
            match self.parser.next(&mut lore.template, &mut bytes) {
                Ok(Some(Event::Head(head, raw))) => {
                    first.keep(at, raw);
                    self.verdict.head(&head, raw, &request.expect, &mut lore.known, first);
                }
                Ok(Some(Event::Body(part))) => self.verdict.body(part, &request.expect, &mut lore.known),
                Ok(Some(Event::End)) => {
                    return Progress::Complete(self.verdict.end(bytes.len(), &request.expect, &mut lore.known));
                }
                Ok(None) => return Progress::More,
                Err(Malformed(why)) => return Progress::Malformed(why),
            }
        }
    }

    /// The server ended the connection: the answer, if that was its end.
    pub fn end(&mut self, request: &Request, lore: &mut Lore) -> Option<Answer> {
        if !self.parser.may_close() {
            return None;
        }
        self.verdict.keep_alive = false;
        Some(self.verdict.end(0, &request.expect, &mut lore.known))
    }

    /// The head of an answer that a layer below reads, with its header block as text; it came `at`.
    pub fn head(&mut self, head: &Head, raw: &[u8], at: u64, request: &Request, lore: &mut Lore, first: &mut First) {
        self.parser.skip();
        first.keep(at, raw);
        self.verdict.head(head, raw, &request.expect, &mut lore.known, first);
    }

    /// A part of the body of an answer that a layer below reads.
    pub fn body(&mut self, part: &[u8], request: &Request, lore: &mut Lore) {
        self.verdict.body(part, &request.expect, &mut lore.known);
    }

    /// The end of an answer that a layer below reads.
    pub fn done(&mut self, request: &Request, lore: &mut Lore) -> Answer {
        self.verdict.end(0, &request.expect, &mut lore.known)
    }
}

/// What an answer has come to so far. The one place where its parts are judged, whoever read them.
#[derive(Debug, Default)]
struct Verdict {
    check: Check,
    status: u16,
    http10: bool,
    keep_alive: bool,
    broken: Option<Broken>,
}

impl Verdict {
    #[inline]
    fn head(&mut self, head: &Head, raw: &[u8], expect: &Expect, known: &mut Known, first: &mut First) {
        self.broken = head_broken(head, raw, expect, first);
        self.check.begin(expect, known, self.broken.is_none());
        (self.status, self.http10, self.keep_alive) = (head.status, head.http10, head.keep_alive);
    }

    #[inline]
    fn body(&mut self, part: &[u8], expect: &Expect, known: &mut Known) {
        self.check.body(part, expect, known);
    }

    #[inline]
    fn end(&mut self, rest: usize, expect: &Expect, known: &mut Known) -> Answer {
        let broken = self.broken.take().or_else(|| self.check.end(expect, known));
        let (status, http10, keep_alive) = (self.status, self.http10, self.keep_alive);
        Answer { status, http10, keep_alive, broken, rest, length: self.check.length() }
    }
}

/// The rules that a header block can break.
#[inline]
fn head_broken(head: &Head, raw: &[u8], expect: &Expect, first: &mut First) -> Option<Broken> {
    if !expect.statuses.contains(&head.status) {
        return Some(Broken::Status);
    }
    let expected = expect.content_type.as_deref()?;
    // RFC 9110, 8.3.1: type and subtype are case-insensitive; what follows a semicolon are parameters.
    let value = head.content_type.clone().map_or(&b""[..], |range| &raw[range]);
    let media = value.split(|b| *b == b';').next().unwrap_or_default().trim_ascii();
    if media.eq_ignore_ascii_case(expected.as_bytes()) {
        return None;
    }
    first.odd_type.get_or_insert_with(|| String::from_utf8_lossy(media).into_owned());
    Some(Broken::ContentType)
}

impl First {
    /// How much of the first header block is kept.
    const LIMIT: usize = 2048;

    #[inline]
    fn keep(&mut self, at: u64, raw: &[u8]) {
        if self.head.is_none() {
            self.head = Some((at, raw[..raw.len().min(First::LIMIT)].to_vec()));
        }
    }
}

#[cfg(test)]
mod tests;
