//! Turns: an order whose load is begun by commands, stretch by stretch, and those commands.

use super::fields::{Fields, shown};
use super::{HOUR, PaceOrder, Wait};
use crate::error::Fault;
use crate::timetable::Phase;
use serde_json::Value;

/// The shortest turn, as any time of an order.
const SHORTEST: u64 = 1_000_000;

/// A stretch of load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// What it counts as.
    pub phase: Phase,
    /// How long load goes on before it counts.
    pub lead_ns: u64,
    /// How long requests are begun in it, after the lead.
    pub duration_ns: u64,
    /// Its times are told, and are part of the summary's.
    pub histograms: bool,
}

/// A line after an order with turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Take a turn.
    Turn(Turn),
    /// End the run.
    End,
}

impl Command {
    /// Parses and checks one command.
    pub fn parse(text: &str) -> Result<Command, Fault> {
        let right = "{\"turn\": {\"duration_ns\": 50000000, \"phase\": \"turn\"}} or {\"end\": true}";
        let wrong = |what: String| Fault::order("", format!("the command {what}; write {right} in one line"));
        let value: Value = serde_json::from_str(text).map_err(|e| wrong(format!("is not JSON: {e}")))?;
        if !value.is_object() {
            return Err(wrong(format!("must be an object, not {}", shown(&value))));
        }
        let fields = Fields::open(&value, "", &["turn", "end"])?;
        match (fields.optional("turn"), fields.optional("end")) {
            (Some(turn), None) => {
                Ok(Command::Turn(self::turn(&turn.object(&["lead_ns", "duration_ns", "phase", "histograms"])?)?))
            }
            (None, Some(end)) => {
                if fields.flag("end")? {
                    Ok(Command::End)
                } else {
                    Err(end.wrong("true"))
                }
            }
            _ => Err(wrong("must have exactly one of turn and end".to_string())),
        }
    }
}

fn turn(fields: &Fields<'_>) -> Result<Turn, Fault> {
    let phases = [Phase::Warmup, Phase::Turn, Phase::Steady];
    let right = "\"warmup\", \"turn\" or \"steady\"";
    let field = fields.required("phase", right)?;
    let phase = field.text().ok().and_then(|text| phases.into_iter().find(|phase| phase.name() == text));
    Ok(Turn {
        phase: phase.ok_or_else(|| field.wrong(right))?,
        lead_ns: fields.optional("lead_ns").map_or(Ok(0), |_| fields.integer("lead_ns", 0, HOUR))?,
        duration_ns: fields.integer("duration_ns", SHORTEST, HOUR)?,
        histograms: fields.optional("histograms").map_or(Ok(true), |_| fields.flag("histograms"))?,
    })
}

/// Whether the order has turns; then its load is a closed one, and nothing but commands begins and ends it.
pub(super) fn turns(order: &Fields<'_>, pace: &PaceOrder) -> Result<bool, Fault> {
    if order.optional("turns").is_none() || !order.flag("turns")? {
        return Ok(false);
    }
    if !matches!(pace, PaceOrder::Closed { .. }) {
        return Err(Fault::order("pace.kind", "pace.kind must be \"closed\" where turns is true"));
    }
    for key in ["duration_ns", "count"] {
        if let Some(field) = order.optional(key) {
            return Err(field.wrong("null where turns is true: commands say how long they are"));
        }
    }
    if order.integer("warmup_ns", 0, 24 * HOUR)? > 0 {
        return Err(order.required("warmup_ns", "0")?.wrong("0 where turns is true: warm-ups are turns too"));
    }
    if let Some(field) = order.optional("wait")
        && !matches!(super::wait(&field)?, Wait::Auto | Wait::Sleep)
    {
        return Err(field.wrong("\"sleep\" or \"auto\" where turns is true: who rests sleeps"));
    }
    Ok(true)
}
