//! The engine under watch: how much memory it came to need, and that it ends.

use crate::theatre::{Said, Server, begin, end};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::Child;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// An engine that is still there after so long is killed, which fails the test. Nothing here lasts a twentieth of it.
const LIMIT: Duration = Duration::from_secs(60);
/// What the engine may need for a few hundred connections, in KiB; it needs some 10 MiB when the server behaves.
pub const MEMORY_KIB: u64 = 64 * 1024;

/// What a run under watch came to.
pub struct Watched {
    pub said: Said,
    /// The most memory the process had at a time, as its last lines were read, in KiB; `None`: it had ended before the first was.
    pub peak_kib: Option<u64>,
}

/// Runs an order to its end and watches.
pub fn watch(order: &Value) -> Watched {
    watch_begun(begin(&order.to_string()), |_| {})
}

/// The same until there was time to look at its memory: on a busy machine a short run may be over before.
pub fn watch_memory(order: &Value) -> (Said, u64) {
    let mut runs = (0..100).map(|_| watch(order));
    runs.find_map(|run| Some((run.said, run.peak_kib?))).expect("one run in a hundred that could be looked at")
}

/// Watches an engine to its end; `each` is called after each of its lines.
pub fn watch_begun(mut child: Child, each: impl Fn(&Value)) -> Watched {
    let pid = Pid::from_child(&child);
    let (done, waits) = channel::<()>();
    let guard = thread::spawn(move || {
        if waits.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
            let _ = kill_process(pid, Signal::KILL);
        }
    });
    let (mut lines, mut peak_kib) = (Vec::new(), None);
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        lines.push(serde_json::from_str(&line.unwrap()).unwrap());
        peak_kib = peak(pid).or(peak_kib);
        each(lines.last().unwrap());
    }
    let said = end(child, lines);
    drop(done);
    guard.join().unwrap();
    Watched { said, peak_kib }
}

/// proc_pid_status(5), VmHWM; `None`: it has ended.
fn peak(pid: Pid) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())).ok()?;
    status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?.trim().strip_suffix(" kB")?.parse().ok()
}

/// The order for a server that does harm: at an open pace, 200 requests a second and a place for each.
pub fn open(server: &Server, count: u64) -> Value {
    let mut order = server.order();
    order["schema"] = 2.into();
    order["pace"] = json!({"kind": "constant", "rate_per_s": 200, "connections": 4, "max_connections": 4 + count});
    (order["count"], order["slice_ns"]) = (count.into(), 20_000_000.into());
    order
}

/// The same at a closed pace, on two connections.
pub fn closed(server: &Server, count: u64) -> Value {
    let mut order = server.order();
    order["pace"]["connections"] = 2.into();
    (order["count"], order["slice_ns"]) = (count.into(), 20_000_000.into());
    order
}

/// Loads the server at both paces: every request is offered and comes to `outcome`, in bounded memory and time.
pub fn every(server: &Server, outcome: &str, edit: impl Fn(&mut Value)) {
    for mut order in [open(server, 30), closed(server, 6)] {
        edit(&mut order);
        let count = order["count"].as_u64().unwrap();
        let (said, peak_kib) = watch_memory(&order);
        let mut come = if outcome == "ok" { said.count("ok") } else { said.errors(outcome) };
        // An engine that gets no processor for as long as its timeout gives up what has come due meanwhile.
        come += if outcome == "timeout" { said.errors("shed") } else { 0 };
        assert_eq!(
            (0, "count", count, count),
            (said.exit, said.text("ended"), said.count("offered"), come),
            "{}",
            said.last()
        );
        assert!(peak_kib < MEMORY_KIB, "{peak_kib} KiB");
    }
}

/// Requests are given up after 50 ms.
pub fn impatient(order: &mut Value) {
    order["timeout_ns"] = 50_000_000.into();
}
