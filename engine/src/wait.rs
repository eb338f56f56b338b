//! How long a thread may sleep before the next request is due, and whether it may sleep at all.
//!
//! A sleep ends late: waking up costs the processor some 20 to 60 us, which at an open pace would be the engine's error in every
//! response time. A thread that looks without end ("spins") is late by a tenth of a microsecond, and burns a processor for it. In
//! between, a hybrid sleeps until [`MARGIN_NS`] before the due time and spins from there: requests leave on time, answers that come
//! while it sleeps are seen late.

use crate::clock::MILLISECOND;
use crate::order::{Order, PaceOrder, Wait};
use std::collections::BTreeSet;

/// What a wake-up may take.
const MARGIN_NS: u64 = 60_000;

/// How the threads of this order wait. Never [`Wait::Auto`].
///
/// A closed pace sleeps: its requests are never due, and a spinning client would only measure a different system. An open pace spins
/// where each thread has a processor that no other thread of the engine uses, the collector's included: when the order pins to more
/// processors than there are threads. Not pinned, no processor is known to be free.
pub fn resolve(order: &Order) -> Wait {
    let own = order.cpus.iter().collect::<BTreeSet<_>>().len();
    match (order.wait, &order.pace) {
        (Wait::Auto, PaceOrder::Closed { .. } | PaceOrder::ClosedStages(_)) => Wait::Sleep,
        (Wait::Auto, _) if own > order.threads => Wait::Spin,
        (Wait::Auto, _) => Wait::Hybrid,
        (wait, _) => wait,
    }
}

/// How long to sleep at `now` when the next request is due at `due` and nothing else happens before `other`. Where nothing is due,
/// whole milliseconds, rounded up, are good enough, and cost one system call less.
#[inline]
pub fn nap(wait: Wait, now: u64, due: u64, other: u64) -> u64 {
    let due = match wait {
        Wait::Spin => return 0,
        Wait::Hybrid => due.saturating_sub(MARGIN_NS),
        Wait::Sleep | Wait::Auto => due,
    };
    let until_due = due.saturating_sub(now);
    other.saturating_sub(now).next_multiple_of(MILLISECOND).min(until_due)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn order(edit: impl FnOnce(&mut serde_json::Value)) -> Order {
        let mut value = serde_json::json!({
            "schema": 2, "target": {"host": "127.0.0.1", "port": 8080},
            "requests": [{"name": "r", "method": "GET", "path": "/"}],
            "pace": {"kind": "constant", "rate_per_s": 10, "connections": 2, "max_connections": 2}, "count": 1,
            "warmup_ns": 0, "timeout_ns": 1_000_000_000, "connect_timeout_ns": 1_000_000_000, "keep_alive": true,
            "http": "1.1", "threads": 2, "cpus": [], "slice_ns": 1_000_000_000
        });
        edit(&mut value);
        Order::parse(&value.to_string()).unwrap()
    }

    #[test]
    fn auto_spins_only_on_processors_that_are_surely_free() {
        assert_eq!(Wait::Hybrid, resolve(&order(|_| {})));
        assert_eq!(Wait::Hybrid, resolve(&order(|o| o["cpus"] = json!([1, 2]))));
        assert_eq!(Wait::Hybrid, resolve(&order(|o| o["cpus"] = json!([1, 2, 2]))));
        assert_eq!(Wait::Spin, resolve(&order(|o| o["cpus"] = json!([1, 2, 3]))));
        assert_eq!(
            Wait::Sleep,
            resolve(&order(
                |o| (o["cpus"], o["pace"]) = (json!([1, 2, 3]), json!({"kind": "closed", "connections": 2}))
            ))
        );
    }

    #[test]
    fn what_the_order_says_holds() {
        for (name, wait) in [("sleep", Wait::Sleep), ("hybrid", Wait::Hybrid), ("spin", Wait::Spin)] {
            assert_eq!(wait, resolve(&order(|o| o["wait"] = name.into())));
        }
    }

    #[test]
    fn a_nap_ends_at_the_due_time_or_as_much_earlier_as_a_wake_up_takes() {
        let rows = [
            // (wait, due, other, nap) at 1,000,000
            (Wait::Sleep, 1_200_000, u64::MAX, 200_000),
            (Wait::Hybrid, 1_200_000, u64::MAX, 140_000),
            (Wait::Hybrid, 1_050_000, u64::MAX, 0),
            (Wait::Hybrid, u64::MAX, 1_300_000, 1_000_000),
            (Wait::Sleep, 1_700_000, 1_300_000, 700_000),
            (Wait::Sleep, u64::MAX, 900_000, 0),
            (Wait::Spin, u64::MAX, u64::MAX, 0),
        ];
        for (wait, due, other, expected) in rows {
            assert_eq!(expected, nap(wait, 1_000_000, due, other), "{wait:?} {due}");
        }
    }
}
