//! Parts: one load that several engines carry out together, each on processors, and maybe a machine, of its own.

use super::PaceOrder;
use super::fields::{Field, Fields};
use crate::clock::{MILLISECOND, SECOND};
use crate::error::Fault;

/// Engines that share one load, at most.
const MOST: u64 = 1024;
/// Within so long after it was to hear something, and that is at most so long, the load has ended: three seconds together.
const WATCH: (u64, u64) = (100 * MILLISECOND, 2500 * MILLISECOND);

/// Which of several engines this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// From 0.
    pub index: u64,
    /// How many there are.
    pub of: u64,
}

impl Part {
    /// The only one.
    pub const WHOLE: Part = Part { index: 0, of: 1 };

    /// The number that `thread` of `threads` of this engine has among the threads of all, and how many those are. Engines are dealt
    /// first, so that those of this one have every `of`-th number between them, however many threads the others have.
    pub fn deal(self, thread: u64, threads: u64) -> (u64, u64) {
        (thread * self.of + self.index, threads * self.of)
    }
}

/// Which part the order is; left out: it is the whole.
pub(super) fn part(order: &Fields<'_>, pace: &PaceOrder, turns: bool) -> Result<Part, Fault> {
    let Some(field) = order.optional("part") else { return Ok(Part::WHOLE) };
    without_turns(&field, turns)?;
    let fields = field.object(&["index", "of"])?;
    let of = fields.integer("of", 1, MOST)?;
    let part = Part { index: fields.integer("index", 0, of - 1)?, of };
    if of > 1 && matches!(pace, PaceOrder::ClosedStages(_)) {
        return Err(field.wrong("null where pace.kind is \"closed-stages\", whose line is that of one engine"));
    }
    Ok(part)
}

/// When the run begins.
pub(super) fn start_at(order: &Fields<'_>, turns: bool) -> Result<Option<u64>, Fault> {
    let Some(field) = order.optional("start_at_ns") else { return Ok(None) };
    without_turns(&field, turns)?;
    field.integer(0, i64::MAX as u64).map(Some)
}

/// How often something must be heard from who gave the order.
pub(super) fn watch(order: &Fields<'_>, turns: bool) -> Result<Option<u64>, Fault> {
    let Some(field) = order.optional("watch_ns") else { return Ok(None) };
    without_turns(&field, turns)?;
    field.integer(WATCH.0, WATCH.1).map(Some)
}

/// How far ahead a start may lie: more is the clock of another machine.
pub(crate) const FURTHEST_START: u64 = 600 * SECOND;

fn without_turns(field: &Field<'_>, turns: bool) -> Result<(), Fault> {
    if turns { Err(field.wrong("null where turns is true: commands begin and end the load")) } else { Ok(()) }
}
