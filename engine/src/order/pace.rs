//! The pace of an order: when requests are asked, and over how many connections.
//!
//! Two families. A *closed* pace is a number of clients that wait for their answers, so the server sets the rate. An *open* pace
//! has arrivals of its own, which do not wait for anything; connections are only what carries them. Schema 1 knows the first alone.

use super::HOUR;
use super::crowd::{self, CrowdStage};
use super::fields::{Field, Fields};
use crate::error::Fault;

/// Connections, open or looping, at most.
pub(super) const CONNECTIONS: u64 = 1_000_000;
/// Requests per second: more than any machine sends, so that a slip of the pen is told.
const RATE: f64 = 10_000_000.0;
const KINDS: &str = "\"closed\", \"constant\", \"poisson\", \"stages\" or \"burst\"";
/// Since schema 3.
const KINDS_3: &str = "\"closed\", \"closed-stages\", \"constant\", \"poisson\", \"stages\" or \"burst\"";

/// How the load is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum PaceOrder {
    /// Each of so many connections sends its next request when the answer before it is complete.
    Closed {
        /// How many.
        connections: usize,
    },
    /// As closed, over a number of connections that goes in straight lines.
    ClosedStages(Vec<CrowdStage>),
    /// Requests come due by a schedule, whatever became of those before.
    Open {
        /// The schedule.
        arrivals: Arrivals,
        /// Connections opened before they are needed.
        connections: usize,
        /// The pool may grow to so many.
        max_connections: usize,
    },
}

/// When requests come due.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrivals {
    /// Evenly.
    Constant {
        /// Requests per second.
        rate_per_s: f64,
    },
    /// At random, each without regard to the others.
    Poisson {
        /// Requests per second, on average.
        rate_per_s: f64,
        /// The same seed gives the same arrivals to the same number of threads.
        seed: u64,
    },
    /// Evenly, at a rate that changes in straight lines.
    Stages(Vec<Stage>),
    /// Many at once, then none for a while.
    Burst {
        /// How many at once.
        size: u64,
        /// From one burst to the next.
        every_ns: u64,
    },
}

/// A stretch of time in which the rate goes in a straight line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// How long.
    pub duration_ns: u64,
    /// The rate at its start.
    pub from_per_s: f64,
    /// The rate at its end.
    pub to_per_s: f64,
}

impl PaceOrder {
    /// Connections there are from the start; where their number changes, the most there are.
    pub fn connections(&self) -> usize {
        match self {
            PaceOrder::Closed { connections } | PaceOrder::Open { connections, .. } => *connections,
            PaceOrder::ClosedStages(stages) => crowd::most(stages),
        }
    }

    /// Connections there may be.
    pub fn most_connections(&self) -> usize {
        match self {
            PaceOrder::Closed { .. } | PaceOrder::ClosedStages(_) => self.connections(),
            PaceOrder::Open { max_connections, .. } => *max_connections,
        }
    }

    /// The key that says how many connections there are from the start.
    pub fn key(&self) -> &'static str {
        match self {
            PaceOrder::ClosedStages(_) => "the most connections of pace.stages",
            _ => "pace.connections",
        }
    }

    /// How long all stages take; `None`: the pace has no end of its own.
    pub(super) fn length_ns(&self) -> Option<u64> {
        match self {
            PaceOrder::Open { arrivals: Arrivals::Stages(stages), .. } => {
                Some(stages.iter().map(|stage| stage.duration_ns).sum())
            }
            PaceOrder::ClosedStages(stages) => Some(stages.iter().map(|stage| stage.duration_ns).sum()),
            _ => None,
        }
    }
}

/// The pace of schema 1: closed.
pub(super) fn closed_only(order: &Fields<'_>) -> Result<PaceOrder, Fault> {
    let fields = order.required("pace", "an object with kind and connections")?.object(&["kind", "connections"])?;
    let kind = fields.required("kind", "\"closed\"")?;
    if kind.text()? != "closed" {
        return Err(kind.wrong("\"closed\", the only kind of schema 1"));
    }
    Ok(PaceOrder::Closed { connections: connections(&fields)? })
}

/// The pace of schema 2 and later: any that it has.
pub(super) fn any(order: &Fields<'_>, schema: u64) -> Result<PaceOrder, Fault> {
    let field = order.required("pace", "an object with kind and connections")?;
    let kind = field.text_of("kind").unwrap_or_default();
    let kinds = if schema == 2 { KINDS } else { KINDS_3 };
    let Some(own) = keys_of(kind).filter(|_| schema > 2 || kind != "closed-stages") else {
        let fields = field.object(&[ALL, POOL].concat())?;
        return Err(fields.required("kind", kinds)?.wrong(kinds));
    };
    let fields = field.object(own)?;
    if kind == "closed" {
        return Ok(PaceOrder::Closed { connections: connections(&fields)? });
    }
    if kind == "closed-stages" {
        return Ok(PaceOrder::ClosedStages(crowd::stages(&fields)?));
    }
    let arrivals = match kind {
        "constant" => Arrivals::Constant { rate_per_s: rate(&fields)? },
        "poisson" => Arrivals::Poisson { rate_per_s: rate(&fields)?, seed: fields.integer("seed", 0, u64::MAX)? },
        "stages" => Arrivals::Stages(stages(&fields)?),
        _ => Arrivals::Burst {
            size: fields.integer("size", 1, 1_000_000)?,
            every_ns: fields.integer("every_ns", 1_000, HOUR)?,
        },
    };
    let connections = connections(&fields)?;
    let most = fields.integer("max_connections", connections as u64, CONNECTIONS)?;
    Ok(PaceOrder::Open { arrivals, connections, max_connections: most as usize })
}

const ALL: &[&str] = &["rate_per_s", "seed", "stages", "size", "every_ns"];
const POOL: &[&str] = &["kind", "connections", "max_connections"];

/// The keys that a kind of pace has; `None`: there is no such kind.
fn keys_of(kind: &str) -> Option<&'static [&'static str]> {
    match kind {
        "closed" => Some(&["kind", "connections"]),
        "closed-stages" => Some(&["kind", "stages"]),
        "constant" => Some(&["kind", "rate_per_s", "connections", "max_connections"]),
        "poisson" => Some(&["kind", "rate_per_s", "seed", "connections", "max_connections"]),
        "stages" => Some(&["kind", "stages", "connections", "max_connections"]),
        "burst" => Some(&["kind", "size", "every_ns", "connections", "max_connections"]),
        _ => None,
    }
}

fn connections(fields: &Fields<'_>) -> Result<usize, Fault> {
    Ok(fields.integer("connections", 1, CONNECTIONS)? as usize)
}

fn rate(fields: &Fields<'_>) -> Result<f64, Fault> {
    fields.required("rate_per_s", "a number of requests per second")?.number(0.001, RATE)
}

fn stages(fields: &Fields<'_>) -> Result<Vec<Stage>, Fault> {
    let right = "a list of one or more stages, with a rate above 0 somewhere";
    let field = fields.required("stages", right)?;
    let stages: Vec<Stage> = field.list(right)?.iter().map(stage).collect::<Result<_, _>>()?;
    if stages.iter().all(|stage| stage.from_per_s == 0.0 && stage.to_per_s == 0.0) {
        return Err(field.wrong(right));
    }
    Ok(stages)
}

fn stage(item: &Field<'_>) -> Result<Stage, Fault> {
    let fields = item.object(&["duration_ns", "rate_per_s_from", "rate_per_s_to"])?;
    let rate = |key| fields.required(key, "a number of requests per second")?.number(0.0, RATE);
    Ok(Stage {
        duration_ns: fields.integer("duration_ns", 1_000_000, 24 * HOUR)?,
        from_per_s: rate("rate_per_s_from")?,
        to_per_s: rate("rate_per_s_to")?,
    })
}
