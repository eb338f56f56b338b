//! The order: what to load, how, and what a correct answer is. Parsed once, checked wholly, never changed afterwards.
//!
//! An order is written by a program, but the mistakes in it were made by people: every complaint is one sentence that names
//! the key by its path and says what would be right. Nothing is guessed and nothing is silently clamped.

mod backend;
mod crowd;
mod fields;
mod pace;
mod part;
mod reach;
mod request;
mod turns;

pub use backend::Backend;
pub use crowd::CrowdStage;
pub use pace::{Arrivals, PaceOrder, Stage};
pub(crate) use part::FURTHEST_START;
pub use part::Part;
pub use reach::{Linger, Target, TlsOrder};
pub use request::{Expect, Request};
pub use turns::{Command, Turn};

use crate::error::Fault;
pub(crate) use fields::nearest;
use fields::{Field, Fields};
use serde_json::Value;
use std::net::IpAddr;

/// The schemas this engine reads: 2 knows open paces and waiting, 3 the rest of the protocols, 4 turns, 5 parts of a load; each has
/// all of those before.
const SCHEMAS: (u64, u64) = (1, 5);
const HOUR: u64 = 3_600_000_000_000;

/// The keys of an order, each with the first schema that has it.
const KEYS: &[(&str, u64)] = &[
    ("schema", 1),
    ("target", 1),
    ("requests", 1),
    ("pace", 1),
    ("duration_ns", 1),
    ("count", 1),
    ("warmup_ns", 1),
    ("timeout_ns", 1),
    ("connect_timeout_ns", 1),
    ("keep_alive", 1),
    ("http", 1),
    ("threads", 1),
    ("cpus", 1),
    ("slice_ns", 1),
    ("wait", 2),
    ("drain_ns", 3),
    ("seed", 3),
    ("sources", 3),
    ("linger", 3),
    ("tls", 3),
    ("pipeline", 3),
    ("streams", 3),
    ("backend", 3),
    ("opening_ns", 3),
    ("turns", 4),
    ("part", 5),
    ("start_at_ns", 5),
    ("watch_ns", 5),
];

/// The keys that an order of this schema may have; one of no known schema is read as the newest.
fn keys(schema: Option<u64>) -> Vec<&'static str> {
    let schema = schema.filter(|n| (SCHEMAS.0..=SCHEMAS.1).contains(n)).unwrap_or(SCHEMAS.1);
    KEYS.iter().filter(|(_, since)| *since <= schema).map(|(key, _)| *key).collect()
}

/// What ends the steady phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// So many nanoseconds have passed.
    Duration(u64),
    /// So many requests have ended.
    Count(u64),
    /// A command says so.
    Commands,
}

/// The version that requests speak. Answers may be of either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.0
    Http10,
    /// HTTP/1.1
    Http11,
    /// HTTP/2
    Http2,
}

impl Version {
    /// The names of the protocol to offer to a TLS server (RFC 7301); HTTP/1.0 has a name that nobody asks for.
    pub fn alpn(self) -> &'static [&'static [u8]] {
        match self {
            Version::Http10 | Version::Http11 => &[b"http/1.1"],
            Version::Http2 => &[b"h2"],
        }
    }
}

/// How a thread waits for what comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// It sleeps until then: cheapest, and late by what a wake-up takes.
    Sleep,
    /// It sleeps until shortly before a request is due, and then looks without end.
    Hybrid,
    /// It never sleeps.
    Spin,
    /// As this machine and the order allow.
    Auto,
}

impl Wait {
    /// As the protocol spells it.
    pub fn name(self) -> &'static str {
        match self {
            Wait::Sleep => "sleep",
            Wait::Hybrid => "hybrid",
            Wait::Spin => "spin",
            Wait::Auto => "auto",
        }
    }
}

/// A whole order, all of it possible as far as it can be known without looking at the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// 1 to 5.
    pub schema: u64,
    /// Where the server is.
    pub target: Target,
    /// At least one.
    pub requests: Vec<Request>,
    /// How the load is asked.
    pub pace: PaceOrder,
    /// What ends the steady phase.
    pub until: Until,
    /// Load before the steady phase; 0 for none.
    pub warmup_ns: u64,
    /// From sent to complete answer.
    pub timeout_ns: u64,
    /// From connect to writable.
    pub connect_timeout_ns: u64,
    /// Whether connections are used for more than one request.
    pub keep_alive: bool,
    /// What requests speak.
    pub version: Version,
    /// How many threads; never more than connections.
    pub threads: usize,
    /// Thread i runs on `cpus[i % len]`; empty: wherever the kernel likes.
    pub cpus: Vec<usize>,
    /// Length of a slice.
    pub slice_ns: u64,
    /// How threads wait.
    pub wait: Wait,
    /// How long the end of an open pace waits for answers.
    pub drain_ns: u64,
    /// Where the random draws of templates begin.
    pub seed: u64,
    /// Local addresses that connections leave from; empty: the kernel's choice.
    pub sources: Vec<IpAddr>,
    /// How connections are closed.
    pub linger: Linger,
    /// TLS; `None`: plain.
    pub tls: Option<TlsOrder>,
    /// Requests sent ahead on a connection; 1 for none.
    pub pipeline: usize,
    /// Requests under way on each connection of HTTP/2.
    pub streams: usize,
    /// What drives the sockets.
    pub backend: Backend,
    /// The connections of a closed pace are opened evenly over so much of the warm-up; 0: all at once.
    pub opening_ns: u64,
    /// The load is begun by commands.
    pub turns: bool,
    /// Which part of a load that several engines share it is.
    pub part: Part,
    /// When the run begins, by this machine's monotonic clock; `None`: as soon as it can.
    pub start_at_ns: Option<u64>,
    /// The load ends where nothing is heard from who gave the order for so long; `None`: it need say nothing.
    pub watch_ns: Option<u64>,
}

impl Order {
    /// Parses and checks a whole order.
    pub fn parse(text: &str) -> Result<Order, Fault> {
        let value: Value = serde_json::from_str(text).map_err(|e| {
            Fault::order("", format!("the order is not JSON: {e}; write one JSON object and close the input"))
        })?;
        let fields = Fields::open(&value, "", &keys(value["schema"].as_u64()))?;
        let field = fields.required("schema", "1, 2, 3, 4 or 5")?;
        let schema =
            field.integer(SCHEMAS.0, SCHEMAS.1).map_err(|_| field.wrong("1, 2, 3, 4 or 5, which this engine knows"))?;
        let pace = if schema == 1 { pace::closed_only(&fields)? } else { pace::any(&fields, schema)? };
        let target = reach::target(&fields, schema)?;
        let turns = turns::turns(&fields, &pace)?;
        let order = Order {
            schema,
            requests: request::list(&fields, schema, version(&fields)?)?,
            until: if turns { Until::Commands } else { until(&fields, &pace)? },
            warmup_ns: fields.integer("warmup_ns", 0, 24 * HOUR)?,
            timeout_ns: fields.integer("timeout_ns", 1_000_000, HOUR)?,
            connect_timeout_ns: fields.integer("connect_timeout_ns", 1_000_000, HOUR)?,
            keep_alive: fields.flag("keep_alive")?,
            version: version(&fields)?,
            threads: threads(&fields, &pace)?,
            cpus: cpus(&fields)?,
            slice_ns: fields.integer("slice_ns", 1_000_000, HOUR)?,
            drain_ns: drain(&fields, &pace)?,
            seed: fields.optional("seed").map_or(Ok(1), |field| field.integer(0, u64::MAX))?,
            wait: fields.optional("wait").map_or(Ok(Wait::Auto), |field| wait(&field))?,
            sources: reach::sources(&fields, &target)?,
            linger: reach::linger(&fields, &target)?,
            tls: reach::tls(&fields)?,
            target,
            pipeline: pipeline(&fields)?,
            streams: streams(&fields)?,
            backend: backend::backend(&fields)?,
            opening_ns: opening(&fields, &pace, turns)?,
            part: part::part(&fields, &pace, turns)?,
            start_at_ns: part::start_at(&fields, turns)?,
            watch_ns: part::watch(&fields, turns)?,
            turns,
            pace,
        };
        Ok(order)
    }
}

/// Over how long the connections of a closed pace are opened: a part of the warm-up, so that all are there when it counts; with turns,
/// before the first of them.
fn opening(order: &Fields<'_>, pace: &PaceOrder, turns: bool) -> Result<u64, Fault> {
    let Some(field) = order.optional("opening_ns") else { return Ok(0) };
    if turns {
        let most = order.integer("connect_timeout_ns", 1_000_000, HOUR)?;
        return field.integer(0, most).map_err(|_| field.wrong("0, or at most connect_timeout_ns where turns is true"));
    }
    let right = "0, or at most warmup_ns at a closed pace, whose connections are opened evenly over it";
    let most = if matches!(pace, PaceOrder::Closed { .. }) { order.integer("warmup_ns", 0, 24 * HOUR)? } else { 0 };
    field.integer(0, most).map_err(|_| field.wrong(right))
}

fn until(order: &Fields<'_>, pace: &PaceOrder) -> Result<Until, Fault> {
    if let Some(length) = pace.length_ns() {
        let right = format!("the sum of the stages, which is {length}");
        let field = order.required("duration_ns", &right)?;
        field.integer(length, length).map_err(|_| field.wrong(&right))?;
    }
    match (order.optional("duration_ns"), order.optional("count")) {
        (Some(duration), None) => Ok(Until::Duration(duration.integer(1_000_000, 24 * HOUR)?)),
        (None, Some(count)) => Ok(Until::Count(count.integer(1, i64::MAX as u64)?)),
        (Some(_), Some(_)) => {
            Err(Fault::order("count", "count must be null when duration_ns is given: exactly one ends the load"))
        }
        (None, None) => {
            Err(Fault::order("duration_ns", "duration_ns is missing, and so is count: exactly one must be given"))
        }
    }
}

/// Only where requests come due until a time is there anything to wait for after it.
fn drain(order: &Fields<'_>, pace: &PaceOrder) -> Result<u64, Fault> {
    let Some(field) = order.optional("drain_ns") else { return Ok(0) };
    let ns = field.integer(0, HOUR)?;
    let cut_off = matches!(pace, PaceOrder::Open { .. }) && order.optional("duration_ns").is_some();
    if ns > 0 && !cut_off {
        return Err(field.wrong("0 where no open pace is cut off after duration_ns"));
    }
    Ok(ns)
}

fn version(order: &Fields<'_>) -> Result<Version, Fault> {
    let newest = order.optional("schema").is_none_or(|field| field.integer(1, 2).is_err());
    let right = if newest { "\"1.1\", \"1.0\" or \"2\"" } else { "\"1.1\" or \"1.0\"" };
    let field = order.required("http", right)?;
    match field.text() {
        Ok("1.1") => Ok(Version::Http11),
        Ok("1.0") => Ok(Version::Http10),
        Ok("2") if newest => Ok(Version::Http2),
        _ => Err(field.wrong(right)),
    }
}

fn wait(field: &Field<'_>) -> Result<Wait, Fault> {
    let modes = [Wait::Sleep, Wait::Hybrid, Wait::Spin, Wait::Auto];
    let mode = field.text().ok().and_then(|text| modes.into_iter().find(|mode| mode.name() == text));
    mode.ok_or_else(|| field.wrong("\"sleep\", \"hybrid\", \"spin\" or \"auto\""))
}

/// Pipelining needs a connection that is kept, and HTTP/1.1 (RFC 9112, 9.3.2).
fn pipeline(order: &Fields<'_>) -> Result<usize, Fault> {
    let Some(field) = order.optional("pipeline") else { return Ok(1) };
    let depth = field.integer(1, 256)? as usize;
    if depth > 1 && version(order)? != Version::Http11 {
        return Err(field.wrong("1 when http is not \"1.1\""));
    }
    if depth > 1 && !order.flag("keep_alive")? {
        return Err(field.wrong("1 when keep_alive is false"));
    }
    Ok(depth)
}

/// One connection for each request has nothing to share with others.
fn streams(order: &Fields<'_>) -> Result<usize, Fault> {
    let Some(field) = order.optional("streams") else { return Ok(1) };
    let streams = field.integer(1, 1000)? as usize;
    if streams > 1 && version(order)? != Version::Http2 {
        return Err(field.wrong("1 when http is not \"2\""));
    }
    if streams > 1 && !order.flag("keep_alive")? {
        return Err(field.wrong("1 when keep_alive is false"));
    }
    Ok(streams)
}

fn threads(order: &Fields<'_>, pace: &PaceOrder) -> Result<usize, Fault> {
    let connections = pace.connections();
    let field = order.required("threads", "an integer of at least 1")?;
    let threads = field.integer(1, 1024)? as usize;
    if threads > connections {
        return Err(field.wrong(&format!("at most {}, which is {connections}", pace.key())));
    }
    Ok(threads)
}

fn cpus(order: &Fields<'_>) -> Result<Vec<usize>, Fault> {
    let right = "a list of processor numbers, empty for not pinned";
    let items = order.required("cpus", right)?.list(right)?;
    items.iter().map(|item| item.integer(0, 1023).map(|cpu| cpu as usize)).collect()
}

#[cfg(test)]
mod tests;
