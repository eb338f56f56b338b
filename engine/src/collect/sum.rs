//! What the summary is made of: the slices of the phase that counts, added up, and what the workers tell at their end.

use crate::clock::Cpu;
use crate::ledger::Totals;
use crate::lines::{self, Answers, Lag, Latency, Response, Summary, Tally, Thread};
use crate::order::Order;
use crate::slice::Slice;

/// The sum of slices.
pub struct Sum {
    slice: Slice,
    cpu: Cpu,
    start: Option<u64>,
    /// How long the slices were, added up.
    ns: u64,
    threads: Vec<Thread>,
    totals: Totals,
    /// Workers that have told their totals.
    told: usize,
}

impl Sum {
    /// Nothing yet, of an order with so many requests and so many threads.
    pub fn new(requests: usize, threads: usize) -> Sum {
        Sum {
            slice: Slice::of(requests),
            cpu: Cpu::default(),
            start: None,
            ns: 0,
            threads: vec![Thread::default(); threads],
            totals: Totals::default(),
            told: 0,
        }
    }

    /// Drops the slices so far: they are not of the phase that counts.
    pub fn begin_anew(&mut self) {
        self.slice.clear();
        self.threads.fill(Thread::default());
        (self.cpu, self.start, self.ns, self.totals.drained_ns) = (Cpu::default(), None, 0, 0);
    }

    /// Adds one thread's part of a slice.
    pub fn add_thread(&mut self, thread: usize, slice: &Slice) {
        self.threads[thread].add(slice);
    }

    /// Adds a slice of all threads that began then and was so long. `times`: those of its requests too.
    pub fn add(&mut self, slice: &Slice, (start, ns): (u64, u64), cpu: Cpu, times: bool) {
        let peak = self.slice.connections_peak;
        if times {
            self.slice.merge(slice);
        } else {
            self.slice.merge_counts(slice);
        }
        // In flight is a level, not a flow: the last slice's stands. Of peaks the highest does.
        self.slice.in_flight = slice.in_flight;
        self.slice.connections_peak = peak.max(slice.connections_peak);
        self.cpu.add(cpu);
        self.start.get_or_insert(start);
        self.ns += ns;
    }

    /// So long the end of a turn was waited for.
    pub fn add_drained(&mut self, ns: u64) {
        self.totals.drained_ns += ns;
    }

    /// A worker tells its totals.
    pub fn tell(&mut self, totals: Totals) {
        self.told += 1;
        self.totals.unanswered += totals.unanswered;
        self.totals.drained_ns = self.totals.drained_ns.max(totals.drained_ns);
        self.totals.start_late_ns = self.totals.start_late_ns.max(totals.start_late_ns);
        let all = &mut self.totals.answers_per_connection;
        // Both resize, so adding cannot fail.
        all.add(totals.answers_per_connection).expect("histograms that resize");
        self.totals.first_error = earlier(self.totals.first_error.take(), totals.first_error);
        self.totals.first.head = earlier(self.totals.first.head.take(), totals.first.head);
    }

    /// Whether every worker has told its totals.
    pub fn is_whole(&self) -> bool {
        self.told == self.threads.len()
    }

    /// The line; `end` is that of the run, `of` the phase of turns.
    pub fn summary<'r>(
        mut self,
        ended: &'static str,
        end: u64,
        of: Option<&'static str>,
        order: &'r Order,
    ) -> Summary<'r> {
        let statuses = self.slice.statuses().map(|(status, n)| (status.to_string(), n)).collect();
        let head = self.totals.first.head.take();
        Summary {
            event: "summary",
            ended,
            of,
            tally: Tally::new(self.start.unwrap_or(end), self.ns, &self.slice, self.cpu),
            routes: lines::routes::of_summary(&self.slice, &order.requests),
            statuses,
            latency_ns: Latency::of(&self.slice.latency.histogram()),
            response_ns: Response::of(&self.slice),
            lag_ns: Lag::of(&self.slice.lag.histogram()),
            connections_asked: order.pace.connections(),
            connections_unanswered: self.totals.unanswered,
            answers_per_connection: Answers::of(&self.totals.answers_per_connection),
            drained_ns: self.totals.drained_ns,
            start_late_ns: self.totals.start_late_ns,
            first_error: self.totals.first_error.take().map(|(_, text)| text),
            first_answer: head.map(|(_, bytes)| String::from_utf8_lossy(&bytes).into_owned()),
            threads: self.threads,
        }
    }
}

/// The one of two that happened first.
fn earlier<T>(a: Option<(u64, T)>, b: Option<(u64, T)>) -> Option<(u64, T)> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.0 < a.0 { b } else { a }),
        (a, b) => a.or(b),
    }
}
