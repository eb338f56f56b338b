//! The process: standard input, standard output, signals, exit code.

#![forbid(unsafe_code)]

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::io::{self, Read};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use webdyno_engine::error::Blame;
use webdyno_engine::{Ended, Failure, Fault, Order, fault_line, run};

/// Ended early by a signal.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    let signalled = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // The second signal does not wait for a summary: somebody may not be reading it.
        let second =
            signal_hook::flag::register_conditional_shutdown(signal, i32::from(INTERRUPTED), Arc::clone(&signalled));
        if let Err(e) = second.and_then(|_| signal_hook::flag::register(signal, Arc::clone(&signalled))) {
            eprintln!("webdyno-engine: signal {signal} will end the process without a summary: {e}");
        }
    }
    // The parent-death signal is not used: it comes when the *thread* that started us ends, which is not the end of the controller.
    // A controller that is gone has closed our standard output, and that is looked for.
    let end_early = || signalled.load(Ordering::Relaxed) || nobody_reads();
    match read_order().map_err(Failure::from).and_then(|order| run(&order, &mut io::stdout(), &end_early)) {
        Ok(Ended::Interrupted) => ExitCode::from(INTERRUPTED),
        Ok(_) => ExitCode::SUCCESS,
        Err(Failure::Sink(error)) => {
            eprintln!("webdyno-engine: nobody reads the results any more: {error}");
            ExitCode::from(INTERRUPTED)
        }
        Err(Failure::Fault(fault)) => {
            eprintln!("webdyno-engine: {fault}");
            let _ = fault_line(&mut io::stdout(), &fault);
            ExitCode::from(fault.blame.exit())
        }
    }
}

fn read_order() -> Result<Order, Fault> {
    let mut text = Vec::new();
    let cannot = |why: String| Fault {
        blame: Blame::Order,
        key: String::new(),
        message: format!("the order cannot be read: {why}"),
    };
    io::stdin().read_to_end(&mut text).map_err(|e| cannot(e.to_string()))?;
    let text = String::from_utf8(text).map_err(|e| cannot(e.to_string()))?;
    Order::parse(&text)
}

/// Whether the reader of our standard output has closed it.
fn nobody_reads() -> bool {
    let stdout = io::stdout();
    let mut fds = [PollFd::new(&stdout, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&at_once)).is_ok_and(|n| n > 0) && fds[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}
