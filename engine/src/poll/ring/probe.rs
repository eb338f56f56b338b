//! Whether this machine has the io_uring that [`super::Ring`] needs: tried, and not guessed from a version.

use super::queue::{Event, Kind, Queue};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use std::io;
use std::os::fd::AsFd;

/// Nothing in the trial takes longer, unless this machine stands still.
const PATIENCE_NS: u64 = 1_000_000_000;

/// Sets up a ring and lets a socket pair say something through it. An error is one clause that says why it cannot be had.
///
/// Needed: Linux 6.1 (single issuer, deferred work), a buffer ring, multishot receive, sends without a completion, and leave to use them.
pub fn available() -> Result<(), String> {
    exchange().map_err(|error| reason(&error))
}

/// One message over a socket pair, sent and received by the ring.
fn exchange() -> io::Result<()> {
    let mut queue = Queue::new(2)?;
    queue.enable()?;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let (here, there) = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    let hello = b"hello";
    queue.receive(there.as_fd(), 1)?;
    queue.watch(here.as_fd(), 2)?;
    queue.stage(here.as_fd(), hello, 3);
    while !has(&queue.events, Kind::Watch) || !has(&queue.events, Kind::Receive) {
        let before = queue.events.len();
        queue.submit(Some(PATIENCE_NS))?;
        if queue.events.len() == before {
            return Err(Errno::TIME.into());
        }
    }
    if let Some(errno) = queue.events.iter().find_map(Event::error) {
        return Err(errno.into());
    }
    let received = queue.events.iter().find(|event| event.kind() == Kind::Receive);
    let right = received.is_some_and(|event| {
        event.more() && event.buffer().is_some_and(|id| queue.buffers.filled(id, event.result as usize) == hello)
    });
    // A send that went well must not have told so.
    if right && !has(&queue.events, Kind::Send) { Ok(()) } else { Err(Errno::OPNOTSUPP.into()) }
}

fn has(events: &[Event], kind: Kind) -> bool {
    events.iter().any(|event| event.kind() == kind)
}

fn reason(error: &io::Error) -> String {
    match Errno::from_io_error(error) {
        Some(Errno::PERM | Errno::ACCESS) => format!(
            "io_uring is not permitted here ({error}): containers often forbid it, and so does kernel.io_uring_disabled"
        ),
        Some(Errno::NOSYS) => format!("this kernel has no io_uring that can wait with a time limit ({error})"),
        Some(Errno::INVAL | Errno::OPNOTSUPP) => {
            format!("this kernel's io_uring is older than the engine needs, which is that of Linux 6.1 ({error})")
        }
        Some(Errno::NOMEM) => {
            format!("io_uring got no memory ({error}): the limit of locked memory may be too low (ulimit -l)")
        }
        _ => format!("io_uring was tried and failed: {error}"),
    }
}
