//! Open files: each connection is one, and a process may have so many.
//!
//! The limit counts in each *table* of files, and threads can have tables of their own (unshare(2), `CLONE_FILES`). So a process whose
//! limit cannot be raised can still hold that many connections in every thread. This is done only where it is needed: in all else
//! the threads of a process see the same files.

use crate::error::Fault;
use crate::order::{Order, PaceOrder};
use nix::sched::{CloneFlags, unshare};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files a thread needs beside its connections, and the process beside its threads.
const FILES: (u64, u64) = (4, 32);

/// Whose table of files the threads of load use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tables {
    /// All have the process's.
    Shared,
    /// Each has its own.
    Own,
}

/// Files that are open in one table when `connections` of the order are.
fn needed(order: &Order, connections: usize) -> u64 {
    connections as u64 + order.threads as u64 * FILES.0 + FILES.1
}

/// Makes sure that the connections of the order may be held, raising this process's limit where it may.
pub fn reserve(order: &Order) -> Result<Tables, Fault> {
    let most = order.pace.most_connections();
    let all = needed(order, most);
    let limit = getrlimit(Resource::Nofile);
    let each = needed(order, most.div_ceil(order.threads));
    let Some((tables, needed)) = choose(all, each, limit.maximum) else {
        let may = limit.maximum.unwrap_or(u64::MAX);
        let message = format!(
            "{most} connections need {all} open files but this process may have {may}; ask for more threads, of which each can have \
             {may}, or raise it with: sudo prlimit --pid $$ --nofile={all}"
        );
        return Err(Fault::machine(key(order), message));
    };
    if limit.current.is_none_or(|now| now >= needed) {
        return Ok(tables);
    }
    match setrlimit(Resource::Nofile, Rlimit { current: Some(needed), maximum: limit.maximum }) {
        Ok(()) => Ok(tables),
        Err(e) => Err(Fault::machine(key(order), format!("raising the limit of open files to {needed} failed: {e}"))),
    }
}

/// Where `all` files, or the part `each` of them that is one thread's, find room below the limit `most`.
fn choose(all: u64, each: u64, most: Option<u64>) -> Option<(Tables, u64)> {
    let fits = |needed| most.is_none_or(|most| most >= needed);
    match (fits(all), fits(each)) {
        (true, _) => Some((Tables::Shared, all)),
        (false, true) => Some((Tables::Own, each)),
        (false, false) => None,
    }
}

fn key(order: &Order) -> &'static str {
    match order.pace {
        PaceOrder::Closed { .. } => "pace.connections",
        PaceOrder::ClosedStages(_) => "pace.stages",
        PaceOrder::Open { .. } => "pace.max_connections",
    }
}

/// Gives the calling thread its own table, with what is open now in it, if that was chosen.
pub fn take(tables: Tables) -> Result<(), Fault> {
    if tables == Tables::Shared {
        return Ok(());
    }
    unshare(CloneFlags::CLONE_FILES).map_err(|e| {
        Fault::machine(
            "threads",
            format!("this machine gave no table of files of its own to a thread: {e}; ask for fewer connections"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_shared_as_long_as_one_is_enough() {
        assert_eq!(Some((Tables::Shared, 100)), choose(100, 50, Some(100)));
        assert_eq!(Some((Tables::Shared, 100)), choose(100, 50, None));
        assert_eq!(Some((Tables::Own, 50)), choose(100, 50, Some(99)));
        assert_eq!(None, choose(100, 50, Some(49)));
    }

    #[test]
    fn a_thread_with_its_own_table_keeps_what_it_opens_to_itself() {
        use std::os::fd::AsRawFd;
        let path = |fd: i32| {
            std::fs::read_link(format!("/proc/self/task/{}/fd/{fd}", rustix::thread::gettid().as_raw_nonzero()))
        };
        let opened = std::thread::spawn(move || {
            take(Tables::Own).unwrap();
            let file = std::fs::File::open("/dev/zero").unwrap();
            assert_eq!("/dev/zero", path(file.as_raw_fd()).unwrap().to_str().unwrap());
            file.as_raw_fd()
        });
        let fd = opened.join().unwrap();
        assert!(path(fd).map_or(true, |at| at.to_str() != Some("/dev/zero")));
    }
}
