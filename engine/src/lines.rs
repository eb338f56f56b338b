//! The lines the engine writes, as the protocol spells them. Nothing is decided here.

mod response;
pub mod routes;
mod threads;
mod turns;

pub use response::Response;
pub use threads::Thread;
pub use turns::{Ready, TurnLine};

use crate::clock::Cpu;
use crate::error::Fault;
use crate::order::Order;
use crate::poll::means::Choice;
use crate::recorder::Recorder;
use crate::slice::{Outcome, Slice};
use base64::{Engine, engine::general_purpose::STANDARD};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use routes::RouteLine;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// All threads are about to connect.
#[derive(Serialize)]
pub struct Started {
    event: &'static str,
    schema: u64,
    engine: &'static str,
    at_ns: u64,
    threads: usize,
    connections: usize,
    max_connections: usize,
    backend: &'static str,
    backend_note: Option<String>,
    wait: &'static str,
    address: String,
}

impl Started {
    /// The line.
    pub fn new(order: &Order, at_ns: u64, backend: Choice, wait: &'static str, address: String) -> Started {
        Started {
            event: "started",
            schema: order.schema,
            engine: env!("CARGO_PKG_VERSION"),
            at_ns,
            threads: order.threads,
            connections: order.pace.connections(),
            max_connections: order.pace.most_connections(),
            backend: backend.name,
            backend_note: backend.note,
            wait,
            address,
        }
    }
}

/// A phase begins.
#[derive(Serialize)]
pub struct PhaseBegins {
    event: &'static str,
    phase: &'static str,
    at_ns: u64,
}

impl PhaseBegins {
    /// The line.
    pub fn new(phase: &'static str, at_ns: u64) -> PhaseBegins {
        PhaseBegins { event: "phase", phase, at_ns }
    }
}

/// What a slice and the summary have in common.
#[derive(Serialize)]
pub struct Tally {
    start_ns: u64,
    duration_ns: u64,
    offered: u64,
    ok: u64,
    errors: Map<String, Value>,
    bytes_in: u64,
    bytes_out: u64,
    connections_opened: u64,
    closes_announced: u64,
    closes_silent: u64,
    stale_retries: u64,
    http10_answers: u64,
    handshakes_full: u64,
    handshakes_resumed: u64,
    in_flight: u64,
    connections_peak: u64,
    sends_late: u64,
    censored: u64,
    censored_above_ns: Option<u64>,
    latency_hdr: Option<String>,
    response_hdr: Option<String>,
    lag_hdr: Option<String>,
    ttfb_hdr: Option<String>,
    connect_hdr: Option<String>,
    unfinished_hdr: Option<String>,
    handshake_hdr: Option<String>,
    cpu_user_ns: u64,
    cpu_system_ns: u64,
    idle_ns: Option<u64>,
    run_delay_ns: Option<u64>,
}

impl Tally {
    /// What `slice` says; `cpu` is the engine process's own.
    pub fn new(start_ns: u64, duration_ns: u64, slice: &Slice, cpu: Cpu) -> Tally {
        let latency_hdr = encode(&slice.latency.histogram());
        // At a closed pace they mostly are the same, and writing one costs a millisecond beside the load.
        let same = slice.response == slice.latency && !slice.response.is_empty();
        Tally {
            response_hdr: if same { Some(latency_hdr.clone()) } else { some(&slice.response) },
            latency_hdr: Some(latency_hdr),
            lag_hdr: some(&slice.lag),
            ttfb_hdr: some(&slice.first_byte),
            connect_hdr: some(&slice.connect),
            unfinished_hdr: some(&slice.unfinished),
            handshake_hdr: some(&slice.handshake),
            ..Tally::of_counts(start_ns, duration_ns, slice, cpu)
        }
    }

    /// As [`Tally::new`], without times.
    pub fn of_counts(start_ns: u64, duration_ns: u64, slice: &Slice, cpu: Cpu) -> Tally {
        slice.assert_balanced();
        let error = |o: &Outcome| (o.name().to_string(), slice.outcome(*o).into());
        let c = slice.counts;
        Tally {
            start_ns,
            duration_ns,
            offered: slice.offered,
            ok: slice.outcome(Outcome::Ok),
            errors: Outcome::ALL.iter().filter(|o| **o != Outcome::Ok).map(error).collect(),
            bytes_in: c.bytes_in,
            bytes_out: c.bytes_out,
            connections_opened: c.connections_opened,
            closes_announced: c.closes_announced,
            closes_silent: c.closes_silent,
            stale_retries: c.stale_retries,
            http10_answers: c.http10_answers,
            handshakes_full: c.handshakes_full,
            handshakes_resumed: c.handshakes_resumed,
            in_flight: slice.in_flight,
            connections_peak: slice.connections_peak,
            sends_late: c.sends_late,
            censored: c.censored,
            censored_above_ns: slice.censored_above,
            latency_hdr: None,
            response_hdr: None,
            lag_hdr: None,
            ttfb_hdr: None,
            connect_hdr: None,
            unfinished_hdr: None,
            handshake_hdr: None,
            cpu_user_ns: cpu.user_ns,
            cpu_system_ns: cpu.system_ns,
            idle_ns: slice.spent.idle_ns,
            run_delay_ns: slice.spent.run_delay_ns,
        }
    }
}

/// One stretch of time.
#[derive(Serialize)]
pub struct SliceLine<'r> {
    event: &'static str,
    phase: &'static str,
    index: u32,
    #[serde(flatten)]
    tally: Tally,
    routes: Vec<RouteLine<'r>>,
}

impl<'r> SliceLine<'r> {
    /// The line.
    pub fn new(phase: &'static str, index: u32, tally: Tally, routes: Vec<RouteLine<'r>>) -> SliceLine<'r> {
        SliceLine { event: "slice", phase, index, tally, routes }
    }
}

/// Service times in nanoseconds.
#[derive(Serialize)]
pub struct Latency {
    mean: u64,
    stdev: u64,
    min: u64,
    max: u64,
    p50: u64,
    p75: u64,
    p90: u64,
    p99: u64,
    #[serde(rename = "p99.9")]
    p999: u64,
}

impl Latency {
    /// What the histogram says; nothing when it is empty, for an unknown time is not 0.
    pub fn of(h: &Histogram<u64>) -> Option<Latency> {
        let q = |quantile| h.value_at_quantile(quantile);
        (!h.is_empty()).then(|| Latency {
            mean: h.mean().round() as u64,
            stdev: h.stdev().round() as u64,
            min: h.min(),
            max: h.max(),
            p50: q(0.5),
            p75: q(0.75),
            p90: q(0.9),
            p99: q(0.99),
            p999: q(0.999),
        })
    }
}

/// How late the engine itself was, in nanoseconds.
#[derive(Serialize)]
pub struct Lag {
    p50: u64,
    p99: u64,
    max: u64,
}

impl Lag {
    /// What the histogram says; nothing at a closed pace, which has no schedule to be late for.
    pub fn of(h: &Histogram<u64>) -> Option<Lag> {
        let q = |quantile| h.value_at_quantile(quantile);
        (!h.is_empty()).then(|| Lag { p50: q(0.5), p99: q(0.99), max: h.max() })
    }
}

/// How many answers connections carried.
#[derive(Serialize)]
pub struct Answers {
    min: u64,
    p50: u64,
    max: u64,
}

impl Answers {
    /// What the histogram says; nothing when no connection came about.
    pub fn of(h: &Histogram<u64>) -> Option<Answers> {
        (!h.is_empty()).then(|| Answers { min: h.min(), p50: h.value_at_quantile(0.5).min(h.max()), max: h.max() })
    }
}

/// The last line.
#[derive(Serialize)]
pub struct Summary<'r> {
    /// Always "summary".
    pub event: &'static str,
    /// What ended the run.
    pub ended: &'static str,
    /// The phase of the turns that are summed up; left out where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<&'static str>,
    /// The steady phase.
    #[serde(flatten)]
    pub tally: Tally,
    /// Each request of the order, where there are several.
    pub routes: Vec<RouteLine<'r>>,
    /// How often each occurred.
    pub statuses: BTreeMap<String, u64>,
    /// Service times.
    pub latency_ns: Option<Latency>,
    /// Response times.
    pub response_ns: Option<Response>,
    /// How late the engine was.
    pub lag_ns: Option<Lag>,
    /// The n of the order.
    pub connections_asked: usize,
    /// Places that never had a complete answer.
    pub connections_unanswered: u64,
    /// Over all connections that came about in the run.
    pub answers_per_connection: Option<Answers>,
    /// How long after the end the last answers were waited for.
    pub drained_ns: u64,
    /// How long after it was to begin the last thread began; nothing was said of that where it is null.
    pub start_late_ns: Option<u64>,
    /// One sentence.
    pub first_error: Option<String>,
    /// Status line and header block.
    pub first_answer: Option<String>,
    /// Each thread.
    pub threads: Vec<Thread>,
}

/// Instead of a summary.
#[derive(Serialize)]
pub struct FaultLine<'f> {
    event: &'static str,
    exit: u8,
    key: &'f str,
    message: &'f str,
}

impl<'f> FaultLine<'f> {
    /// The line.
    pub fn new(fault: &'f Fault) -> FaultLine<'f> {
        FaultLine { event: "fault", exit: fault.blame.exit(), key: &fault.key, message: &fault.message }
    }
}

/// Writes one line and flushes it.
pub fn write(sink: &mut dyn Write, line: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    sink.write_all(&text)?;
    sink.flush()
}

/// Null where nothing was recorded.
fn some(times: &Recorder) -> Option<String> {
    (!times.is_empty()).then(|| encode(&times.histogram()))
}

/// HdrHistogram V2, DEFLATE, base64: the form that histogram logs carry.
fn encode(h: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    // Writing to memory cannot fail, and the counts are far below the format's limit.
    V2DeflateSerializer::new().serialize(h, &mut bytes).expect("a histogram in memory");
    STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::Deserializer;

    #[test]
    fn a_histogram_survives_its_line() {
        let mut slice = Slice::default();
        slice.latency.record(123_456);
        let text = encode(&slice.latency.histogram());
        assert!(text.starts_with("HISTFAAAA"), "{text}");
        let back: Histogram<u64> =
            Deserializer::new().deserialize(&mut STANDARD.decode(text).unwrap().as_slice()).unwrap();
        assert_eq!((1, slice.latency.histogram().max()), (back.len(), back.max()));
    }

    #[test]
    fn an_unknown_time_is_null_and_not_zero() {
        assert!(Latency::of(&Slice::default().latency.histogram()).is_none());
        let tally = serde_json::to_value(Tally::new(0, 1, &Slice::default(), Cpu::default())).unwrap();
        assert_eq!(Value::Null, tally["connect_hdr"]);
        assert_eq!(11, tally["errors"].as_object().unwrap().len());
    }
}
