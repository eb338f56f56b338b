//! One place of a connection: what it is doing, and what arriving bytes mean to it.
//!
//! A place is the slot of one request at a time, on one of the n connections that were asked for. Sockets come and go in it. Nothing here
//! does I/O: the worker moves bytes, or the parts of an answer that a layer below has read, and the place says what they came to.

mod lore;
mod verdict;

pub use lore::{Lore, Right};
pub use verdict::{Answer, First};

use crate::order::Request;
use crate::wire::Malformed;
use crate::wire::h1::{Event, Head, Parser};
use verdict::Verdict;

/// The first wait after a refused connect, in nanoseconds, and the longest.
const BACK_OFF: (u64, u64) = (1_000_000, 100_000_000);
/// After so many refusals the wait is the longest.
const REFUSALS: u8 = 7;

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
    /// Complete answers at this place on the present connection, as far as the number goes.
    pub answers: u32,
    /// The present connection, or the last one, ended with an answer of this place.
    pub spent: bool,
    /// Bytes of the request already taken by the socket.
    pub taken: usize,
    /// Whether all of them were.
    pub sent: bool,
    /// Whether any byte of the request was ever taken, on this connection or one before.
    pub under_way: bool,
    /// Refusals in a row.
    refusals: u8,
    parser: Parser,
    verdict: Verdict,
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
            spent: false,
            taken: 0,
            sent: false,
            under_way: false,
            refusals: 0,
            parser: Parser::default(),
            verdict: Verdict::default(),
        }
    }
}

impl Place {
    /// A new request, due then, is this place's to carry out.
    #[inline(always)]
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
    #[inline(always)]
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

    /// The present request, which was taken to be sent before, left at `at`; a time before that says nothing. With its first bytes only:
    /// later the times of the answer have been told.
    #[inline(always)]
    pub fn left(&mut self, at: u64, due_when_sent: bool) {
        if at > self.sent_at && !self.retried && self.silent() {
            self.sent_at = at;
            if due_when_sent {
                self.due_at = at;
            }
        }
    }

    /// The connection came about.
    pub fn connect(&mut self) {
        (self.connected, self.answers, self.spent) = (true, 0, false);
        (self.refusals, self.starved_at) = (0, 0);
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
        let wait = (BACK_OFF.0 << self.refusals).min(BACK_OFF.1);
        self.refusals = REFUSALS.min(self.refusals + 1);
        wait
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

    /// The answer that the first bytes of an answer are, where one like it came before, and how many bytes follow it. Nothing changes.
    #[inline(always)]
    pub fn known(&self, bytes: &[u8], lore: &Lore) -> Option<(Right, usize)> {
        lore.whole.is(bytes)
    }

    /// The present answer is this one.
    #[inline(always)]
    pub fn take(&mut self, right: Right, rest: usize) -> Answer {
        self.parser.skip();
        (self.verdict.status, self.verdict.keep_alive) = (right.status, right.keep_alive);
        right.answer(rest)
    }

    /// The present request has been answered and is to be sent once more, `now`, on the same connection, as number `number`. The parser
    /// is where it was: the answer was known, and nothing of it was read.
    #[inline(always)]
    pub fn repeat(&mut self, number: u64, now: u64) {
        (self.answered, self.answers, self.retried) = (true, self.answers.saturating_add(1), false);
        (self.number, self.due_at, self.sent_at) = (number, now, now);
    }

    /// Of what [`Place::repeat`] began, only so many bytes went.
    #[cold]
    pub fn fell_short(&mut self, sent: usize) {
        (self.taken, self.sent, self.under_way) = (sent, false, sent > 0);
    }

    /// Whether the present answer, which is complete, said that its connection ends with it. One that only ended with it did not.
    pub fn said_close(&self) -> bool {
        !self.verdict.keep_alive
    }

    /// Status of the present answer, once it is complete.
    pub fn status(&self) -> u16 {
        self.verdict.status
    }

    /// What `bytes`, which are not those of a known answer, come to. `at` is when they came.
    pub fn absorb(&mut self, bytes: &[u8], at: u64, request: &Request, lore: &mut Lore, first: &mut First) -> Progress {
        let fresh = self.silent();
        let progress = self.read(bytes, at, request, lore, first);
        if let Progress::Complete(answer) = &progress {
            lore.long |= self.verdict.is_long(answer, &request.expect);
            if fresh {
                lore.whole.learn(bytes, answer);
            }
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

    /// How many bytes are missing of the body of the present answer, if nobody needs to see them.
    pub fn unseen(&self) -> Option<u64> {
        self.parser.left().filter(|_| self.verdict.check.counts())
    }

    /// So many bytes came that nobody saw, as [`Place::unseen`] allowed. The answer, if that was its end.
    pub fn pass(&mut self, bytes: u64, request: &Request, lore: &mut Lore) -> Option<Answer> {
        let (taken, whole) = self.parser.pass(bytes);
        self.verdict.check.pass(taken);
        let rest = (bytes - taken) as usize;
        lore.surplus |= rest > 0;
        whole.then(|| self.verdict.end(rest, &request.expect, &mut lore.known))
    }

    /// The server ended the connection: the answer, if that was its end.
    pub fn end(&mut self, request: &Request, lore: &mut Lore) -> Option<Answer> {
        if !self.parser.may_close() {
            return None;
        }
        let answer = self.verdict.end(0, &request.expect, &mut lore.known);
        Some(Answer { keep_alive: false, ..answer })
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

#[cfg(test)]
mod tests;
