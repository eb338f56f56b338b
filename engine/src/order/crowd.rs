//! The pace `closed-stages`: a closed pace whose number of connections goes in straight lines.

use super::HOUR;
use super::fields::{Field, Fields};
use super::pace::CONNECTIONS;
use crate::error::Fault;

/// A stretch of time in which the number of connections goes in a straight line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrowdStage {
    /// How long, in nanoseconds.
    pub duration_ns: u64,
    /// Connections at its start.
    pub from: u64,
    /// Connections at its end.
    pub to: u64,
}

/// The stages of an order's pace.
pub(super) fn stages(fields: &Fields<'_>) -> Result<Vec<CrowdStage>, Fault> {
    let right = "a list of one or more stages, with a connection or more somewhere";
    let field = fields.required("stages", right)?;
    let stages: Vec<CrowdStage> = field.list(right)?.iter().map(stage).collect::<Result<_, _>>()?;
    if most(&stages) == 0 {
        return Err(field.wrong(right));
    }
    Ok(stages)
}

/// The most connections of any stage.
pub(super) fn most(stages: &[CrowdStage]) -> usize {
    stages.iter().map(|stage| stage.from.max(stage.to)).max().unwrap_or(0) as usize
}

fn stage(item: &Field<'_>) -> Result<CrowdStage, Fault> {
    let fields = item.object(&["duration_ns", "connections_from", "connections_to"])?;
    Ok(CrowdStage {
        duration_ns: fields.integer("duration_ns", 1_000_000, 24 * HOUR)?,
        from: fields.integer("connections_from", 0, CONNECTIONS)?,
        to: fields.integer("connections_to", 0, CONNECTIONS)?,
    })
}
