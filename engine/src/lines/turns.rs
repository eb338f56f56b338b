//! What an order with turns says beside the lines of every order.

use super::Tally;
use super::routes::RouteLine;
use serde::Serialize;

/// Each place has its connection, or has failed once.
#[derive(Serialize)]
pub struct Ready {
    event: &'static str,
    at_ns: u64,
    connections: u64,
}

impl Ready {
    /// The line.
    pub fn new(at_ns: u64, connections: u64) -> Ready {
        Ready { event: "ready", at_ns, connections }
    }
}

/// One turn: a slice, with what turns alone have.
#[derive(Serialize)]
pub struct TurnLine<'r> {
    event: &'static str,
    phase: &'static str,
    index: u32,
    turn: u32,
    drained_ns: u64,
    reopened: u64,
    #[serde(flatten)]
    tally: Tally,
    routes: Vec<RouteLine<'r>>,
}

impl<'r> TurnLine<'r> {
    /// The line.
    pub fn new(
        (phase, index): (&'static str, u32),
        (drained_ns, reopened): (u64, u64),
        tally: Tally,
        routes: Vec<RouteLine<'r>>,
    ) -> TurnLine<'r> {
        TurnLine { event: "slice", phase, index, turn: index, drained_ns, reopened, tally, routes }
    }
}
