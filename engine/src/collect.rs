//! The collector: joins the workers' slices window by window, writes the lines, and sums up.
//!
//! It runs on the thread that was given the order. A line is written as soon as every worker has closed that window, so a reader sees
//! the load while it runs, and nothing is held in memory but the sum.

mod sum;

pub use sum::Sum;

use crate::clock::{self, Cpu};
use crate::error::Fault;
use crate::ledger::Report;
use crate::lines::{self, PhaseBegins, SliceLine, Tally};
use crate::order::{Order, Request};
use crate::slice::Slice;
use crate::timetable::{Phase, Timetable};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::mpsc::Sender;

/// A window that some workers have closed and others not yet.
#[derive(Default)]
struct Page {
    slice: Slice,
    closed: usize,
    /// Workers that go on after this window.
    going_on: usize,
    /// When the last of the others ended.
    ended: u64,
}

/// Joins slices and writes lines.
pub struct Collector<'w> {
    sink: &'w mut dyn Write,
    requests: &'w [Request],
    timetable: Timetable,
    /// Where empty slices go back to.
    backs: Vec<Sender<Box<Slice>>>,
    pages: BTreeMap<u32, Page>,
    /// Workers that have closed their last window, by that window.
    ended: Vec<u32>,
    cpu: Cpu,
    /// Of the steady phase.
    sum: Sum,
    end: u64,
}

impl<'w> Collector<'w> {
    /// A collector of as many workers as there are ways back.
    pub fn new(
        sink: &'w mut dyn Write,
        requests: &'w [Request],
        timetable: Timetable,
        backs: Vec<Sender<Box<Slice>>>,
    ) -> Collector<'w> {
        Collector {
            sink,
            requests,
            timetable,
            sum: Sum::new(requests.len(), backs.len()),
            backs,
            pages: BTreeMap::new(),
            ended: Vec::new(),
            cpu: Cpu::of_process(),
            end: timetable.start,
        }
    }

    /// Takes in what a worker tells.
    pub fn take(&mut self, report: Report) -> Result<io::Result<()>, Fault> {
        match report {
            Report::Slice { thread, index, slice, ended } => {
                self.enter(thread, index, slice, ended);
                Ok(self.write_complete())
            }
            Report::Totals(totals) => {
                self.sum.tell(*totals);
                Ok(Ok(()))
            }
            // Only orders with turns have an answer to it.
            Report::Ready(_) => Ok(Ok(())),
            Report::Fault(fault) => Err(fault),
        }
    }

    fn enter(&mut self, thread: usize, index: u32, mut slice: Box<Slice>, ended: Option<u64>) {
        let page = self.pages.entry(index).or_default();
        page.slice.merge(&slice);
        page.closed += 1;
        match ended {
            Some(at) => {
                page.ended = page.ended.max(at);
                self.ended.push(index);
            }
            None => page.going_on += 1,
        }
        if self.timetable.window(index).phase == Phase::Steady {
            self.sum.add_thread(thread, &slice);
        }
        slice.clear();
        // A worker that has ended takes nothing back.
        let _ = self.backs[thread].send(slice);
    }

    /// Writes every page that no worker will add to any more.
    fn write_complete(&mut self) -> io::Result<()> {
        while let Some(entry) = self.pages.first_entry() {
            let index = *entry.key();
            let ended_before = self.ended.iter().filter(|at| **at < index).count();
            if entry.get().closed + ended_before < self.backs.len() {
                return Ok(());
            }
            let page = entry.remove();
            self.write_page(index, &page)?;
        }
        Ok(())
    }

    fn write_page(&mut self, index: u32, page: &Page) -> io::Result<()> {
        let window = self.timetable.window(index);
        let end = if page.going_on == 0 { page.ended } else { window.end };
        let cpu = Cpu::of_process();
        let used = cpu.since(self.cpu);
        self.cpu = cpu;
        self.end = end;
        let ns = end.saturating_sub(window.start);
        if window.phase == Phase::Steady {
            self.sum.add(&page.slice, (window.start, ns), used, true);
        }
        let tally = Tally::new(window.start, ns, &page.slice, used);
        let routes = lines::routes::of_slice(&page.slice, self.requests);
        lines::write(self.sink, &SliceLine::new(window.phase.name(), index, tally, routes))?;
        let next = window.phase != Phase::Steady && self.timetable.window(index + 1).phase != window.phase;
        if next && page.going_on > 0 {
            return self.begin_phase(index + 1);
        }
        Ok(())
    }

    /// Tells that the phase of this window has begun.
    pub fn begin_phase(&mut self, index: u32) -> io::Result<()> {
        let window = self.timetable.window(index);
        lines::write(self.sink, &PhaseBegins::new(window.phase.name(), window.start))
    }

    /// Whether every worker has come to its end in order. One that has not has panicked: then there is nothing to sum up.
    pub fn is_whole(&self) -> bool {
        self.sum.is_whole() && self.pages.is_empty()
    }

    /// Writes the end of the load and the summary.
    pub fn finish(self, ended: &'static str, order: &Order) -> io::Result<()> {
        lines::write(self.sink, &PhaseBegins::new("ended", self.end))?;
        lines::write(self.sink, &self.sum.summary(ended, self.end, None, order))
    }

    /// How long it is until the run starts, in nanoseconds.
    pub fn before_start(&self) -> u64 {
        self.timetable.start.saturating_sub(clock::now())
    }

    /// How long after its start the run has come, in nanoseconds.
    pub fn age(&self) -> u64 {
        clock::now().saturating_sub(self.timetable.start)
    }
}
