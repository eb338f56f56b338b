//! What can keep an order from being carried out.
//!
//! There is one error type because there is one reader of it: the process that gave the order. A [`Fault`] becomes the
//! `fault` line and the exit code. What the *server* does wrong is never a fault, it is data (see [`crate::slice::Outcome`]).

use std::fmt;

/// Whose doing a fault is, and with that the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The order is wrong: exit code 2.
    Order,
    /// The order is fine but this machine cannot do it: exit code 3.
    Machine,
}

impl Blame {
    /// The exit code of the process.
    pub fn exit(self) -> u8 {
        match self {
            Blame::Order => 2,
            Blame::Machine => 3,
        }
    }
}

/// Why the order was not carried out: one sentence about one key of the order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Order or machine.
    pub blame: Blame,
    /// Path of the key, as in `requests[0].expect.statuses`; empty when the order as a whole is meant.
    pub key: String,
    /// One sentence: what is wrong and what would be right.
    pub message: String,
}

impl Fault {
    /// The order says something impossible at `key`.
    pub fn order(key: impl Into<String>, message: impl Into<String>) -> Fault {
        Fault { blame: Blame::Order, key: key.into(), message: message.into() }
    }

    /// A thread of ours has panicked.
    pub(crate) fn broken_off() -> Fault {
        Fault::machine("", "a thread of the engine broke off; its message is on standard error")
    }

    /// This machine cannot do what `key` asks.
    pub fn machine(key: impl Into<String>, message: impl Into<String>) -> Fault {
        Fault { blame: Blame::Machine, key: key.into(), message: message.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}
