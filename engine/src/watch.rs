//! The watch: who gave the order says a line every so often, and where it does not, the load ends.
//!
//! A controller that is gone closes our standard output, which is looked for. One that is stopped, or on the other side of a network that
//! is down, closes nothing; and then the collecting thread may be stuck in writing, so that the watch is a thread of its own, which ends
//! the load by itself.

use crate::LOOK;
use crate::clock;
use crate::worker::Job;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read};
use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering;

/// Ends the load of `job` where nothing comes from `lifeline` for so long, or it is at its end. Returns when the load is over.
pub fn watch(lifeline: BorrowedFd<'_>, within_ns: u64, job: &Job<'_>) {
    let mut heard = clock::now();
    while !job.stop.load(Ordering::Relaxed) {
        // Before the look: what came while this thread was kept from running is heard before it is missed.
        let asked = clock::now();
        match look(lifeline) {
            Some(true) => heard = clock::now(),
            Some(false) if asked.saturating_sub(heard) < within_ns => {}
            Some(false) | None => {
                job.abandoned.store(true, Ordering::Relaxed);
                return job.end();
            }
        }
    }
}

/// Whether something came within a short while; `None`: nothing ever will.
fn look(lifeline: BorrowedFd<'_>) -> Option<bool> {
    let mut fds = [PollFd::from_borrowed_fd(lifeline, PollFlags::IN)];
    let while_ = Timespec { tv_sec: 0, tv_nsec: LOOK.as_nanos() as i64 };
    match poll(&mut fds, Some(&while_)) {
        Ok(0) | Err(Errno::INTR) => return Some(false),
        Ok(_) => {}
        Err(_) => return None,
    }
    match read(lifeline, &mut [0; 4096]) {
        Ok(0) => None,
        Ok(_) => Some(true),
        Err(Errno::INTR | Errno::AGAIN) => Some(false),
        Err(_) => None,
    }
}
