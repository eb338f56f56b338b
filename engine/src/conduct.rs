//! The collecting thread of an order with turns: reads commands, begins turns, writes a line for each.
//!
//! Between two turns it sleeps until there is a command. What a turn costs beside its requests is its wake-up and that of the workers, so
//! as little as possible is done before the line is written: sums are added up after it, and times only where the command wants them.

use crate::LOOK;
use crate::clock;
use crate::collect::Sum;
use crate::cue::Cue;
use crate::error::Fault;
use crate::input::Heard;
use crate::ledger::Report;
use crate::lines::{self, PhaseBegins, Ready, Tally, TurnLine};
use crate::order::{Command, Order, Turn};
use crate::slice::Slice;
use crate::timetable::Phase;
use crate::worker::Job;
use crate::{Ended, Failure};
use std::io::{self, Write};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};

/// Where commands come from.
pub type Commands<'c> = &'c mut dyn FnMut() -> Result<Heard, Fault>;

/// Who begins turns and tells of them.
pub struct Conductor<'c> {
    order: &'c Order,
    job: &'c Job<'c>,
    cue: &'c Cue,
    sink: &'c mut dyn Write,
    reports: Receiver<Report>,
    /// Where empty slices go back to.
    backs: Vec<Sender<Box<Slice>>>,
    interrupted: &'c dyn Fn() -> bool,
    /// What the workers have told of the present turn, and when the last of them was done.
    told: Vec<(usize, Box<Slice>)>,
    ended: u64,
    /// What they have told of its lead.
    led: Vec<(usize, Box<Slice>)>,
    /// Workers that are ready for turns, and their connections.
    ready: usize,
    connections: u64,
    /// All of it.
    page: Slice,
    /// Turns that have been written.
    turns: u32,
    /// The phase of the last one.
    phase: Option<Phase>,
    /// The phase that is summed up.
    of: Phase,
    sum: Sum,
}

impl<'c> Conductor<'c> {
    /// A conductor of as many workers as there are ways back.
    pub fn new(
        order: &'c Order,
        (job, cue): (&'c Job<'c>, &'c Cue),
        sink: &'c mut dyn Write,
        reports: Receiver<Report>,
        backs: Vec<Sender<Box<Slice>>>,
        interrupted: &'c dyn Fn() -> bool,
    ) -> Conductor<'c> {
        let requests = order.requests.len();
        let (page, sum) = (Slice::of(requests), Sum::new(requests, backs.len()));
        Conductor {
            order,
            job,
            cue,
            sink,
            reports,
            backs,
            interrupted,
            told: Vec::new(),
            ended: clock::now(),
            led: Vec::new(),
            ready: 0,
            connections: 0,
            page,
            turns: 0,
            phase: None,
            of: Phase::Turn,
            sum,
        }
    }

    /// Carries out commands until one of them, or something else, ends the run.
    pub fn conduct(mut self, commands: Commands<'_>) -> Result<Ended, Failure> {
        let mut ended = self.open()?;
        while ended.is_none() {
            ended = match commands()? {
                Heard::Interrupted => Some(Ended::Interrupted),
                Heard::End => Some(Ended::Commanded),
                Heard::Line(text) => match Command::parse(&text)? {
                    Command::End => Some(Ended::Commanded),
                    Command::Turn(turn) => self.turn(turn)?,
                },
            };
        }
        self.finish(ended.unwrap_or(Ended::Commanded))
    }

    /// Waits until the connections are there.
    fn open(&mut self) -> Result<Option<Ended>, Failure> {
        let ended = self.gather(|own| own.ready)?;
        if ended.is_none() && !self.job.reached.load(Ordering::Relaxed) {
            return Ok(Some(Ended::Unreachable));
        }
        if ended.is_none() {
            lines::write(self.sink, &Ready::new(clock::now(), self.connections))?;
        }
        Ok(ended)
    }

    fn turn(&mut self, turn: Turn) -> Result<Option<Ended>, Failure> {
        self.cue.call(turn);
        let mut ended = None;
        if turn.lead_ns > 0 {
            ended = self.gather(|own| own.led.len())?;
        }
        if ended.is_none() {
            self.write_lead(turn)?;
            ended = self.gather(|own| own.told.len())?;
        }
        if !self.told.is_empty() {
            self.write(turn)?;
            self.add_up(turn);
        }
        Ok(ended)
    }

    /// Waits until so many as there are workers have told, or where there is a reason to end, until each has ended.
    fn gather(&mut self, told: fn(&Self) -> usize) -> Result<Option<Ended>, Failure> {
        let mut ended = None;
        while told(self) < self.backs.len() || ended.is_some() {
            match self.reports.recv_timeout(LOOK) {
                Ok(report) => self.take(report)?,
                Err(RecvTimeoutError::Timeout) if ended.is_none() && (self.interrupted)() => {
                    ended = Some(Ended::Interrupted);
                    self.job.end();
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) if ended.is_some() => break,
                Err(RecvTimeoutError::Disconnected) => return Err(Fault::broken_off().into()),
            }
        }
        Ok(ended)
    }

    /// Takes in what a worker tells.
    fn take(&mut self, report: Report) -> Result<(), Fault> {
        match report {
            Report::Ready(connections) => {
                self.ready += 1;
                self.connections += connections;
            }
            Report::Slice { thread, slice, ended: Some(ended), .. } => {
                self.ended = self.ended.max(ended);
                self.told.push((thread, slice));
            }
            Report::Slice { thread, slice, ended: None, .. } => self.led.push((thread, slice)),
            Report::Totals(totals) => self.sum.tell(*totals),
            Report::Fault(fault) => return Err(fault),
        }
        Ok(())
    }

    /// The lead is over, and the load goes on: counts alone, which cost it least.
    fn write_lead(&mut self, turn: Turn) -> io::Result<()> {
        if turn.lead_ns == 0 {
            return Ok(());
        }
        self.led.iter().for_each(|(_, slice)| self.page.merge_counts(slice));
        let (page, start) = (&self.page, self.cue.start());
        let tally = Tally::of_counts(start, turn.lead_ns, page, page.spent.cpu);
        let routes = lines::routes::of_counts(page, &self.order.requests);
        let own = (0, page.counts.reopened);
        lines::write(self.sink, &TurnLine::new((Phase::Lead.name(), self.turns), own, tally, routes))?;
        self.page.clear();
        give_back(&self.backs, self.led.drain(..));
        Ok(())
    }

    fn write(&mut self, turn: Turn) -> io::Result<()> {
        for (_, slice) in &self.told {
            if turn.histograms { self.page.merge(slice) } else { self.page.merge_counts(slice) }
        }
        let (start, ns) = self.span(turn);
        if self.phase.replace(turn.phase) != Some(turn.phase) {
            lines::write(self.sink, &PhaseBegins::new(turn.phase.name(), start))?;
        }
        let (page, cpu, requests) = (&self.page, self.page.spent.cpu, &self.order.requests);
        let (tally, routes) = if turn.histograms {
            (Tally::new(start, ns, page, cpu), lines::routes::of_slice(page, requests))
        } else {
            (Tally::of_counts(start, ns, page, cpu), lines::routes::of_counts(page, requests))
        };
        let own = (ns.saturating_sub(turn.duration_ns), page.counts.reopened);
        lines::write(self.sink, &TurnLine::new((turn.phase.name(), self.turns), own, tally, routes))?;
        self.turns += 1;
        Ok(())
    }

    /// When the present turn began to count, and how long it did.
    fn span(&self, turn: Turn) -> (u64, u64) {
        let start = self.cue.start() + turn.lead_ns;
        (start, self.ended.saturating_sub(start))
    }

    /// The line has been written: what is left to be done of the turn.
    fn add_up(&mut self, turn: Turn) {
        if (self.of, turn.phase) == (Phase::Turn, Phase::Steady) {
            self.of = Phase::Steady;
            self.sum.begin_anew();
        }
        let (span, counts) = (self.span(turn), turn.phase == self.of);
        if counts {
            self.sum.add(&self.page, span, self.page.spent.cpu, turn.histograms);
            self.sum.add_drained(span.1.saturating_sub(turn.duration_ns));
        }
        for (thread, slice) in self.told.iter().filter(|_| counts) {
            self.sum.add_thread(*thread, slice);
        }
        give_back(&self.backs, self.told.drain(..));
        self.page.clear();
    }

    fn finish(mut self, ended: Ended) -> Result<Ended, Failure> {
        self.job.end();
        while let Ok(report) = self.reports.recv() {
            self.take(report)?;
        }
        if !self.sum.is_whole() {
            return Err(Fault::broken_off().into());
        }
        lines::write(self.sink, &PhaseBegins::new("ended", self.ended))?;
        lines::write(self.sink, &self.sum.summary(ended.name(), self.ended, Some(self.of.name()), self.order))?;
        Ok(ended)
    }
}

fn give_back(backs: &[Sender<Box<Slice>>], slices: impl Iterator<Item = (usize, Box<Slice>)>) {
    for (thread, mut slice) in slices {
        slice.clear();
        // A worker that has ended takes nothing back.
        let _ = backs[thread].send(slice);
    }
}
