//! A worker's books: the slice of the present window, and how it reaches the collector without holding the worker up.
//!
//! At the end of a window the worker hands its slice over whole and takes an empty one that the collector has given back. That is all
//! the contact there is between threads while the load runs.

use crate::attention::{Attention, Spent, Waits};
use crate::connection::First;
use crate::error::Fault;
use crate::slice::{Outcome, Slice};
use crate::timetable::{Timetable, Window};
use hdrhistogram::Histogram;
use std::sync::mpsc::{Receiver, Sender};

/// What a worker tells the collector.
pub enum Report {
    /// A window is over.
    Slice {
        /// Which worker.
        thread: usize,
        /// Which window.
        index: u32,
        /// What happened in it.
        slice: Box<Slice>,
        /// The worker has ended, at this time.
        ended: Option<u64>,
    },
    /// The worker has ended; its last slice came before.
    Totals(Box<Totals>),
    /// The connections of an order with turns are there, so many of them.
    Ready(u64),
    /// This machine cannot go on.
    Fault(Fault),
}

/// What is told once, at the end.
pub struct Totals {
    /// Places that never had a complete answer.
    pub unanswered: u64,
    /// Complete answers of each connection that came about.
    pub answers_per_connection: Histogram<u64>,
    /// The first request that did not end well, when, and why.
    pub first_error: Option<(u64, String)>,
    /// Why a connection without a request did not come about first, and when.
    pub unopened: Option<(u64, String)>,
    /// The first answer.
    pub first: First,
    /// How long after the end the worker waited for answers.
    pub drained_ns: u64,
    /// How long after the time it was told the worker began; `None`: it was told none.
    pub start_late_ns: Option<u64>,
}

impl Default for Totals {
    fn default() -> Self {
        let answers_per_connection = Histogram::new(3).expect("a constant number of digits");
        Totals {
            unanswered: 0,
            answers_per_connection,
            first_error: None,
            unopened: None,
            first: First::default(),
            drained_ns: 0,
            start_late_ns: None,
        }
    }
}

/// The books of one worker.
pub struct Ledger {
    thread: usize,
    /// Requests of the order.
    requests: usize,
    timetable: Timetable,
    /// What the lead of a turn is followed by; `None`: the timetable says it.
    next: Option<Window>,
    /// The present window.
    pub window: Window,
    /// What has happened in it so far.
    pub slice: Box<Slice>,
    /// The window's own end, while it is held open beyond it.
    pub drain: Option<u64>,
    /// What the loop has seen of its waits since the thread was looked at last.
    pub waits: Waits,
    /// None before the books are opened.
    attention: Option<Attention>,
    /// Requests that were due before then are no longer this phase's.
    since: u64,
    /// The books of those, which nobody reads: their phase has been told.
    past: Option<Box<Slice>>,
    ended: u64,
    out: Sender<Report>,
    back: Receiver<Box<Slice>>,
}

impl Ledger {
    /// Books for so many requests that open with the first window of `timetable`.
    pub fn new(
        thread: usize,
        requests: usize,
        timetable: Timetable,
        out: Sender<Report>,
        back: Receiver<Box<Slice>>,
    ) -> Ledger {
        let (window, slice) = (timetable.window(0), Box::new(Slice::of(requests)));
        let (drain, waits, attention) = (None, Waits::default(), None);
        let (since, past, ended) = (0, None, 0);
        Ledger {
            thread,
            requests,
            timetable,
            next: None,
            window,
            slice,
            drain,
            waits,
            attention,
            since,
            past,
            ended,
            out,
            back,
        }
    }

    /// The calling thread is the one whose books these are.
    pub fn open(&mut self) {
        self.attention = Some(Attention::begin());
    }

    /// A request of the present phase ended.
    #[inline]
    pub fn end(&mut self, outcome: Outcome) {
        self.ended += 1;
        self.slice.end(outcome);
    }

    /// A request that was due then ended.
    #[inline(always)]
    pub fn end_due(&mut self, due: u64, outcome: Outcome) {
        self.ended += 1;
        self.of(due).end(outcome);
    }

    /// The books of a request that was due then.
    #[inline(always)]
    pub fn of(&mut self, due: u64) -> &mut Slice {
        if self.is_past(due) { self.past() } else { &mut self.slice }
    }

    /// Whether a request that was due then is of a phase that has been told.
    #[inline(always)]
    pub fn is_past(&self, due: u64) -> bool {
        due < self.since
    }

    #[cold]
    #[inline(never)]
    fn past(&mut self) -> &mut Slice {
        self.past.get_or_insert_with(|| Box::new(Slice::of(self.requests)))
    }

    /// With the end of the present window all that was due before it is past.
    pub fn leave_behind(&mut self) {
        self.since = self.window.end;
    }

    /// Which worker's they are.
    pub fn thread(&self) -> usize {
        self.thread
    }

    /// Requests ended in all windows.
    pub fn ended(&self) -> u64 {
        self.ended
    }

    /// The window after the present one.
    pub fn next_window(&self) -> Window {
        self.next.unwrap_or_else(|| self.timetable.window(self.window.index + 1))
    }

    /// Closes the present window and opens the next.
    pub fn turn(&mut self, in_flight: u64) {
        self.hand_over(in_flight, None);
        self.window = self.next_window();
    }

    /// Holds the present window open for so many nanoseconds more, for the answers that are missing. Its length stays what it was, and
    /// how the thread spends the time after it is nobody's question.
    pub fn hold(&mut self, ns: u64) {
        self.look();
        self.drain = Some(self.window.end);
        self.window.end = self.window.end.saturating_add(ns);
    }

    /// Closes the books at `at`.
    pub fn close(&mut self, at: u64, mut totals: Totals) {
        let at = at.min(self.window.end);
        let end = self.drain.unwrap_or(at);
        totals.drained_ns = at - end;
        self.hand_over(0, Some(end));
        // The collector is gone only when the run has been given up; then nobody wants the totals.
        let _ = self.out.send(Report::Totals(Box::new(totals)));
    }

    /// No turn is being taken.
    pub fn rest(&mut self) {
        (self.window, self.drain) = (Window::rest(), None);
    }

    /// The connections are there, so many.
    pub fn be_ready(&mut self, connections: u64) {
        self.slice.clear();
        let _ = self.out.send(Report::Ready(connections));
    }

    /// A turn begins, with its lead if it has one. Of what was before it one thing is reported: connections that were opened again.
    pub fn begin_turn(&mut self, (lead, counts): (Option<Window>, Window)) {
        self.look();
        let reopened = self.slice.counts.connections_opened;
        self.slice.clear();
        self.slice.counts.reopened = reopened;
        (self.window, self.next) = (lead.unwrap_or(counts), Some(counts));
    }

    /// A turn is over, with nothing under way, at `at`.
    pub fn end_turn(&mut self, at: u64) {
        self.look();
        self.send(Some(at));
    }

    /// Closes the books of turns; the last one, if it was not over, at that time.
    pub fn leave(&mut self, in_turn: Option<u64>, totals: Totals) {
        in_turn.into_iter().for_each(|at| self.end_turn(at));
        let _ = self.out.send(Report::Totals(Box::new(totals)));
    }

    /// Gives up: this machine cannot go on.
    pub fn fail(&mut self, fault: Fault) {
        let _ = self.out.send(Report::Fault(fault));
    }

    /// Books how the thread has spent its time since the last look.
    fn look(&mut self) {
        let waits = std::mem::take(&mut self.waits);
        let spent = self.attention.as_mut().map_or_else(Spent::default, |attention| attention.look(waits));
        self.slice.spent.add(spent);
    }

    fn hand_over(&mut self, in_flight: u64, ended: Option<u64>) {
        if self.drain.is_none() {
            self.look();
        }
        self.slice.in_flight = in_flight;
        self.send(ended);
    }

    fn send(&mut self, ended: Option<u64>) {
        let fresh = self.back.try_recv().unwrap_or_else(|_| Box::new(Slice::of(self.requests)));
        let slice = std::mem::replace(&mut self.slice, fresh);
        let _ = self.out.send(Report::Slice { thread: self.thread, index: self.window.index, slice, ended });
    }
}
