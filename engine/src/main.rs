//! The process: standard input, standard output, signals, exit code.

#![forbid(unsafe_code)]

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use webdyno_engine::{Ended, Failure, Fault, Input, fault_line, now, run};

/// Ended early by a signal.
const INTERRUPTED: u8 = 130;
/// Ended early because nothing was heard of who gave the order.
const ABANDONED: u8 = 4;

fn main() -> ExitCode {
    if std::env::args_os().skip(1).eq(["--clock"]) {
        return tell_the_time();
    }
    let signalled = Arc::new(AtomicBool::new(false));
    let alarm = heed_signals(&signalled);
    // The parent-death signal is not used: it comes when the *thread* that started us ends, which is not the end of the controller.
    // A controller that is gone has closed our standard output, and that is looked for.
    let end_early = || signalled.load(Ordering::Relaxed) || nobody_reads();
    match carry_out(&alarm, &end_early) {
        Ok(Ended::Interrupted) => ExitCode::from(INTERRUPTED),
        Ok(Ended::Abandoned) => ExitCode::from(ABANDONED),
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

/// Has signals set `signalled`, and gives what can be read once there was one.
fn heed_signals(signalled: &Arc<AtomicBool>) -> io::Result<UnixStream> {
    let pair = UnixStream::pair();
    for signal in [SIGINT, SIGTERM] {
        // The second signal does not wait for a summary: somebody may not be reading it.
        let second =
            signal_hook::flag::register_conditional_shutdown(signal, i32::from(INTERRUPTED), Arc::clone(signalled));
        let first = second.and_then(|_| signal_hook::flag::register(signal, Arc::clone(signalled)));
        let told = first.and_then(|_| match &pair {
            Ok((_, write)) => signal_hook::low_level::pipe::register(signal, write.try_clone()?).map(drop),
            // Only an order with turns needs it, and says so.
            Err(_) => Ok(()),
        });
        if let Err(e) = told {
            eprintln!("webdyno-engine: signal {signal} will end the process without a summary: {e}");
        }
    }
    pair.map(|(read, _)| read)
}

fn carry_out(alarm: &io::Result<UnixStream>, end_early: &dyn Fn() -> bool) -> Result<Ended, Failure> {
    let (stdin, stdout) = (io::stdin(), io::stdout());
    let mut input = Input::new(stdin.as_fd());
    let order = input.order()?;
    let mut commands = || match alarm {
        Ok(alarm) => input.next(alarm.as_fd(), stdout.as_fd()),
        Err(e) => Err(Fault::machine("turns", format!("this machine gave no socket to wait for signals with: {e}"))),
    };
    run(&order, &mut io::stdout(), end_early, &mut commands, stdin.as_fd())
}

/// Answers each line with the time it was read: whoever asks learns how this machine's clock stands to their own.
fn tell_the_time() -> ExitCode {
    let answered = io::stdin().lines().try_for_each(|line| line.and_then(|_| writeln!(io::stdout(), "{}", now())));
    if answered.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(INTERRUPTED) }
}

/// Whether the reader of our standard output has closed it.
fn nobody_reads() -> bool {
    let stdout = io::stdout();
    let mut fds = [PollFd::new(&stdout, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&at_once)).is_ok_and(|n| n > 0) && fds[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}
