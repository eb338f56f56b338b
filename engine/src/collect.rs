//! The collector: joins the workers' slices window by window, writes the lines, and sums up.
//!
//! It runs on the thread that was given the order. A line is written as soon as every worker has closed that window, so a reader sees
//! the load while it runs, and nothing is held in memory but the sum.

use crate::clock::{self, Cpu};
use crate::error::Fault;
use crate::ledger::{Report, Totals};
use crate::lines::{self, Answers, Lag, Latency, PhaseBegins, Response, SliceLine, Summary, Tally, Thread};
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
    steady: Slice,
    steady_cpu: Cpu,
    steady_span: Option<(u64, u64)>,
    end: u64,
    threads: Vec<Thread>,
    totals: Totals,
    /// Workers that have told their totals.
    told: usize,
}

impl<'w> Collector<'w> {
    /// A collector of as many workers as there are ways back.
    pub fn new(
        sink: &'w mut dyn Write,
        requests: &'w [Request],
        timetable: Timetable,
        backs: Vec<Sender<Box<Slice>>>,
    ) -> Collector<'w> {
        let threads = vec![Thread::default(); backs.len()];
        Collector {
            sink,
            requests,
            timetable,
            backs,
            pages: BTreeMap::new(),
            ended: Vec::new(),
            cpu: Cpu::of_process(),
            steady: Slice::of(requests.len()),
            steady_cpu: Cpu::default(),
            steady_span: None,
            end: timetable.start,
            threads,
            totals: Totals::default(),
            told: 0,
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
                self.sum_up(*totals);
                Ok(Ok(()))
            }
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
            self.threads[thread].add(&slice);
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
        if window.phase == Phase::Steady {
            let peak = self.steady.connections_peak;
            self.steady.merge(&page.slice);
            // In flight is a level, not a flow: the last slice's stands. Of peaks the highest does.
            self.steady.in_flight = page.slice.in_flight;
            self.steady.connections_peak = peak.max(page.slice.connections_peak);
            self.steady_cpu.add(used);
            let start = self.steady_span.map_or(window.start, |(start, _)| start);
            self.steady_span = Some((start, end));
        }
        let tally = Tally::new(window.start, end.saturating_sub(window.start), &page.slice, used);
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
        self.told == self.backs.len() && self.pages.is_empty()
    }

    fn sum_up(&mut self, totals: Totals) {
        self.told += 1;
        self.totals.unanswered += totals.unanswered;
        self.totals.drained_ns = self.totals.drained_ns.max(totals.drained_ns);
        let all = &mut self.totals.answers_per_connection;
        // Both resize, so adding cannot fail.
        all.add(totals.answers_per_connection).expect("histograms that resize");
        self.totals.first_error = earlier(self.totals.first_error.take(), totals.first_error);
        self.totals.first.head = earlier(self.totals.first.head.take(), totals.first.head);
    }

    /// Writes the end of the load and the summary.
    pub fn finish(mut self, ended: &'static str, order: &Order) -> io::Result<()> {
        lines::write(self.sink, &PhaseBegins::new("ended", self.end))?;
        let (start, end) = self.steady_span.unwrap_or((self.end, self.end));
        let statuses = self.steady.statuses().map(|(status, n)| (status.to_string(), n)).collect();
        let head = self.totals.first.head.take();
        let summary = Summary {
            event: "summary",
            ended,
            tally: Tally::new(start, end.saturating_sub(start), &self.steady, self.steady_cpu),
            routes: lines::routes::of_summary(&self.steady, self.requests),
            statuses,
            latency_ns: Latency::of(&self.steady.latency.histogram()),
            response_ns: Response::of(&self.steady),
            lag_ns: Lag::of(&self.steady.lag.histogram()),
            connections_asked: order.pace.connections(),
            connections_unanswered: self.totals.unanswered,
            answers_per_connection: Answers::of(&self.totals.answers_per_connection),
            drained_ns: self.totals.drained_ns,
            first_error: self.totals.first_error.take().map(|(_, text)| text),
            first_answer: head.map(|(_, bytes)| String::from_utf8_lossy(&bytes).into_owned()),
            threads: self.threads,
        };
        lines::write(self.sink, &summary)
    }

    /// How long after its begin the run has come, in nanoseconds.
    pub fn age(&self) -> u64 {
        clock::now().saturating_sub(self.timetable.start)
    }
}

/// The one of two that happened first.
fn earlier<T>(a: Option<(u64, T)>, b: Option<(u64, T)>) -> Option<(u64, T)> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.0 < a.0 { b } else { a }),
        (a, b) => a.or(b),
    }
}
