//! Turns: stretches of closed load by command, and the rest between them.
//!
//! A turn is a window whose begin is commanded, and whose end lies where its last answer is: when its time is over nothing more is begun,
//! and the window is held open until nothing is under way. A worker that rests sleeps in the same loop and wait as ever, so that it answers
//! what a connection asks of it (a PING of HTTP/2) and sees the server close one; nothing wakes it but a socket and the [`Cue`].

use super::{NAP_NS, Worker};
use crate::clock;
use crate::connection::State;
use crate::cue::Cue;
use crate::order::Turn;
use crate::poll::Poll;
use crate::schedule::Schedule;
use crate::timetable::{Phase, Window};
use std::sync::atomic::Ordering;

/// The longest sleep of a worker that rests: some systems cannot sleep without an end.
const REST_NS: u64 = 3600 * clock::SECOND;

/// What a worker's loop is to bring to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The load: all of it, or one turn.
    Load,
    /// Each place is to have its connection, or to have failed once.
    Opening,
    /// The rest, until the turn of this number is called.
    Resting(u64),
    /// The other workers are to be ready for it.
    Meeting(u64),
}

impl<P: Poll> Worker<'_, P> {
    /// Takes one turn after the other, until a stop or a fault ends it.
    pub(super) fn take_turns(mut self, cue: &Cue) {
        self.begin();
        self.ledger.rest();
        self.bring_to_end(Part::Opening, NAP_NS);
        self.pace.rest();
        self.ledger.be_ready(self.connections);
        for number in 1.. {
            self.bring_to_end(Part::Resting(number), REST_NS);
            self.look();
            self.open_again();
            self.meet(cue, number);
            if !self.has_to_end() {
                self.take_turn(cue.turn(), cue.start(), number);
            }
            if self.has_to_end() {
                break;
            }
        }
        self.finish(clock::now());
    }

    /// Whether the present part is over, where no request is under way.
    #[cold]
    #[inline(never)]
    pub(super) fn has_ended(&self) -> bool {
        let cue = || self.job.cue.as_ref();
        match self.part {
            Part::Load => self.has_drained(),
            Part::Opening => self.has_opened(),
            Part::Resting(number) => cue().is_some_and(|cue| cue.has_called(number)),
            Part::Meeting(number) => cue().is_some_and(|cue| cue.has_begun(number)),
        }
    }

    fn bring_to_end(&mut self, part: Part, longest_nap: u64) -> u64 {
        (self.part, self.longest_nap) = (part, longest_nap);
        self.load()
    }

    fn has_to_end(&self) -> bool {
        self.fault.is_some() || self.job.stop.load(Ordering::Relaxed)
    }

    fn has_opened(&self) -> bool {
        let rests = |state| state == State::BackOff(Schedule::NEVER);
        self.unopened == self.pace.opened() && self.places.iter().all(|p| rests(p.state))
    }

    /// What the sockets have to tell is told before anything is begun.
    fn look(&mut self) {
        if let Err(errno) = self.poll.wait(0) {
            self.give_up(format!("waiting for sockets failed: {errno}"));
        }
    }

    /// Opens what was closed while it rested, or broke in the turn before, and what did not come about then.
    fn open_again(&mut self) {
        self.pace.open_again();
        self.unopened = 0;
        self.bring_to_end(Part::Opening, NAP_NS);
        self.pace.rest();
    }

    /// Waits until all workers are ready, so that the turn begins in all of them at once. The last one says when.
    fn meet(&mut self, cue: &Cue, number: u64) {
        if !cue.arrive(number, clock::now()) {
            self.bring_to_end(Part::Meeting(number), REST_NS);
        }
    }

    fn take_turn(&mut self, turn: Turn, start: u64, number: u64) {
        self.poll.untold();
        self.ledger.begin_turn(windows(turn, start, number as u32 - 1));
        self.ledger.slice.connections_peak = self.connections;
        self.pace.ask();
        (self.repeats, self.unopened) = (self.job.repeats(), 0);
        let now = self.bring_to_end(Part::Load, NAP_NS);
        if self.has_to_end() {
            return;
        }
        self.count_untold();
        self.ledger.end_turn(now);
        self.ledger.rest();
        self.part = Part::Resting(number + 1);
        // Deadlines of requests that have ended would wake it up.
        self.timers.clear();
        self.places.iter_mut().for_each(|p| p.state = State::BackOff(Schedule::NEVER));
    }

    /// The time of the turn is over: nothing is begun any more, and what is under way is waited for.
    pub(super) fn begin_end_of_turn(&mut self) -> bool {
        self.pace.rest();
        self.repeats = false;
        self.ledger.hold(Schedule::NEVER);
        true
    }
}

/// What the turn of this index consists of: its lead, where it has one, and what counts.
fn windows(turn: Turn, start: u64, index: u32) -> (Option<Window>, Window) {
    let counts = start.saturating_add(turn.lead_ns);
    let end = counts.saturating_add(turn.duration_ns);
    let lead = Window { index, phase: Phase::Lead, start, end: counts, last: false };
    ((turn.lead_ns > 0).then_some(lead), Window { index, phase: turn.phase, start: counts, end, last: true })
}
