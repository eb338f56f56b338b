//! The two queues between us and the kernel, and all memory that the kernel reads or writes on their account.
//!
//! Bytes to send are copied into an arena first. A send has `MSG_DONTWAIT`, so the kernel is done with its bytes when the call that
//! submitted it returns: it has taken them, or it says how many it took. (Without it, a send that finds no room would stay in the
//! kernel and go on reading.) `MSG_WAITALL` makes a short send a failed one, which is told in spite of `SKIP_SUCCESS`; so a send that
//! went well costs no completion. The arena is therefore free again after each submission.

use super::buffers::{Buffers, GROUP};
use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{EnterFlags, IoUring, cqueue, opcode, squeue};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

/// Submissions that fit. A batch is shorter; the rest is room for receives that must be begun anew.
const SUBMISSIONS: u32 = 256;
/// Completions that fit; more wait in the kernel, and end the receives they belong to.
const COMPLETIONS: u32 = 4096;
/// Bytes of the arena: what one batch may send.
const ARENA: usize = 64 * 1024;
/// How often in a row the kernel may say that it has no memory for a request.
const REFUSALS: u32 = 1000;
/// No more waiting than this.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// The kinds of submission, in the two highest bits of a mark; the others are the caller's.
const KINDS: u64 = 3 << 62;
const RECEIVE: u64 = 0;
const WATCH: u64 = 1 << 62;
const SEND: u64 = 2 << 62;

/// What was submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// [`Queue::receive`]
    Receive,
    /// [`Queue::watch`]
    Watch,
    /// [`Queue::stage`]
    Send,
}

/// One completion.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    mark: u64,
    /// Bytes, poll flags, or an error number below 0.
    pub result: i32,
    flags: u32,
}

impl Event {
    /// As if a [`Queue::watch`] had come to its end, with no error.
    pub fn watched(mark: u64) -> Event {
        Event { mark: WATCH | mark, result: 0, flags: 0 }
    }

    /// What it is the completion of.
    #[inline]
    pub fn kind(&self) -> Kind {
        match self.mark & KINDS {
            RECEIVE => Kind::Receive,
            WATCH => Kind::Watch,
            _ => Kind::Send,
        }
    }

    /// The caller's mark.
    #[inline]
    pub fn mark(&self) -> u64 {
        self.mark & !KINDS
    }

    /// The buffer that was filled.
    #[inline]
    pub fn buffer(&self) -> Option<u16> {
        cqueue::buffer_select(self.flags)
    }

    /// Whether more completions of the same submission follow.
    #[inline]
    pub fn more(&self) -> bool {
        cqueue::more(self.flags)
    }

    /// The error, if it is one.
    pub fn error(&self) -> Option<Errno> {
        (self.result < 0).then(|| Errno::from_raw_os_error(-self.result))
    }
}

/// A send that has been promised and not submitted yet.
#[derive(Clone, Copy)]
struct Staged {
    mark: u64,
    fd: RawFd,
    start: usize,
    end: usize,
}

/// What the kernel did not take of a send.
pub struct Rest {
    /// What the send was marked with.
    pub mark: u64,
    /// At least one byte.
    pub bytes: Box<[u8]>,
}

/// The ring, its buffers and its arena.
pub struct Queue {
    ring: ManuallyDrop<IoUring>,
    /// Filled ones are read while events are taken.
    pub buffers: ManuallyDrop<Buffers>,
    arena: Box<[u8]>,
    filled: usize,
    staged: Vec<Staged>,
    /// Those of the last submission.
    gone: Vec<Staged>,
    /// Completions that the kernel has told, oldest first; all but short sends.
    pub events: Vec<Event>,
    /// Short sends of the last submission.
    pub rests: Vec<Rest>,
}

impl Queue {
    /// A ring with so many buffers that nobody submits to yet, so that another thread may become its only one.
    pub fn new(buffers: u16) -> io::Result<Queue> {
        let ring = IoUring::builder()
            .setup_r_disabled()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_taskrun_flag()
            .setup_submit_all()
            .setup_cqsize(COMPLETIONS)
            .build(SUBMISSIONS)?;
        if !(ring.params().is_feature_ext_arg() && ring.params().is_feature_nodrop()) {
            return Err(Errno::NOSYS.into());
        }
        let queue = Queue {
            ring: ManuallyDrop::new(ring),
            buffers: ManuallyDrop::new(Buffers::new(buffers)),
            arena: vec![0; ARENA].into_boxed_slice(),
            filled: 0,
            staged: Vec::new(),
            gone: Vec::new(),
            events: Vec::new(),
            rests: Vec::new(),
        };
        queue.buffers.register(&queue.ring.submitter())?;
        Ok(queue)
    }

    /// Makes this thread the one that submits.
    pub fn enable(&self) -> io::Result<()> {
        self.ring.submitter().register_enable_rings()
    }

    /// Begins to receive, again and again until the completion without more.
    pub fn receive(&mut self, fd: BorrowedFd<'_>, mark: u64) -> Result<(), Errno> {
        self.push(&opcode::RecvMulti::new(Fd(fd.as_raw_fd()), GROUP).build().user_data(RECEIVE | mark))
    }

    /// Tells once when there is room to send, or an error.
    pub fn watch(&mut self, fd: BorrowedFd<'_>, mark: u64) -> Result<(), Errno> {
        let flags = PollFlags::OUT.bits() as u32;
        self.push(&opcode::PollAdd::new(Fd(fd.as_raw_fd()), flags).build().user_data(WATCH | mark))
    }

    /// Tells each time that there is something to read, until the completion without more.
    pub fn listen(&mut self, fd: BorrowedFd<'_>, mark: u64) -> Result<(), Errno> {
        let flags = PollFlags::IN.bits() as u32;
        self.push(&opcode::PollAdd::new(Fd(fd.as_raw_fd()), flags).multi(true).build().user_data(WATCH | mark))
    }

    /// How many sends are staged.
    #[inline]
    pub fn staged(&self) -> usize {
        self.staged.len()
    }

    /// The marks of the sends of the last submission, in the order they went.
    pub fn gone(&self) -> impl ExactSizeIterator<Item = u64> {
        self.gone.iter().map(|staged| staged.mark)
    }

    /// Whether the send staged last has this mark.
    #[inline]
    pub fn staged_last(&self, mark: u64) -> bool {
        self.staged.last().is_some_and(|staged| staged.mark == mark)
    }

    /// Stages a send; with the mark of the one before it becomes part of it. False: there is no room.
    #[inline]
    pub fn stage(&mut self, fd: BorrowedFd<'_>, bytes: &[u8], mark: u64) -> bool {
        let (start, end) = (self.filled, self.filled + bytes.len());
        let Some(room) = self.arena.get_mut(start..end) else { return false };
        room.copy_from_slice(bytes);
        self.filled = end;
        match self.staged.last_mut() {
            Some(last) if last.mark == mark => last.end = end,
            _ => self.staged.push(Staged { mark, fd: fd.as_raw_fd(), start, end }),
        }
        true
    }

    /// Whether the kernel has something to tell, or we have something to submit.
    #[inline]
    pub fn has_work(&mut self) -> bool {
        let submissions = self.ring.submission();
        let work = !submissions.is_empty() || submissions.taskrun() || submissions.cq_overflow();
        drop(submissions);
        work || !self.staged.is_empty() || !self.ring.completion().is_empty()
    }

    /// Submits everything, and then waits so many nanoseconds for a completion; 0: takes what there is; `None`: does not look.
    pub fn submit(&mut self, at_most_ns: Option<u64>) -> Result<(), Errno> {
        for i in 0..self.staged.len() {
            let Staged { mark, fd, start, end } = self.staged[i];
            let flags = (SendFlags::DONTWAIT | SendFlags::NOSIGNAL).bits() | RecvFlags::WAITALL.bits();
            let send = opcode::Send::new(Fd(fd), self.arena[start..end].as_ptr(), (end - start) as u32);
            let entry = send.flags(flags as i32).build().flags(squeue::Flags::SKIP_SUCCESS);
            self.push(&entry.user_data(SEND | mark))?;
        }
        self.buffers.publish();
        self.enter(at_most_ns)?;
        self.collect();
        while self.ring.submission().cq_overflow() {
            self.enter(Some(0))?;
            self.collect();
        }
        std::mem::swap(&mut self.staged, &mut self.gone);
        self.staged.clear();
        self.filled = 0;
        Ok(())
    }

    #[inline]
    fn push(&mut self, entry: &squeue::Entry) -> Result<(), Errno> {
        // SAFETY: no entry has a pointer but a send, whose bytes are in the arena, where they lie untouched until `submit` has
        // seen the kernel be done with them. Receives write to `buffers`, which outlive the kernel's use of them (see `drop`).
        while unsafe { self.ring.submission().push(entry) }.is_err() {
            self.enter(None)?;
        }
        Ok(())
    }

    fn enter(&mut self, at_most_ns: Option<u64>) -> Result<(), Errno> {
        let ns = at_most_ns.unwrap_or(0).min(LONGEST_NS);
        let time = Timespec::new().sec(ns / 1_000_000_000).nsec((ns % 1_000_000_000) as u32);
        let arguments = SubmitArgs::new().timespec(&time);
        let flags =
            if at_most_ns.is_some() { EnterFlags::GETEVENTS } else { EnterFlags::empty() } | EnterFlags::EXT_ARG;
        let mut refusals = 0;
        loop {
            let left = self.ring.submission().len();
            // SAFETY: the argument is what EXT_ARG says it is, and it and its time live until the call has returned.
            let entered =
                unsafe { self.ring.submitter().enter(left as u32, u32::from(ns > 0), flags.bits(), Some(&arguments)) };
            match entered.map_err(|e| e.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error)) {
                Ok(taken) if taken < left => {}
                Ok(_) | Err(Errno::TIME) => return Ok(()),
                Err(Errno::INTR) if self.ring.submission().is_empty() => return Ok(()),
                Err(Errno::INTR) => {}
                Err(Errno::BUSY | Errno::AGAIN) if refusals < REFUSALS => {
                    refusals += 1;
                    self.collect();
                    std::thread::yield_now();
                }
                Err(errno) => return Err(errno),
            }
        }
    }

    /// Takes the completions there are.
    fn collect(&mut self) {
        for entry in self.ring.completion() {
            let event = Event { mark: entry.user_data(), result: entry.result(), flags: entry.flags() };
            if event.kind() == Kind::Send
                && let Some(taken) = taken(event.result)
                && let Some(staged) = self.staged.iter().find(|staged| staged.mark == event.mark())
            {
                let bytes = self.arena[staged.start + taken..staged.end].into();
                self.rests.push(Rest { mark: staged.mark, bytes });
            } else {
                self.events.push(event);
            }
        }
    }
}

/// How many bytes a send took that did not take all; `None`: it failed.
fn taken(result: i32) -> Option<usize> {
    const NONE: [i32; 2] = [-Errno::AGAIN.raw_os_error(), -Errno::INTR.raw_os_error()];
    if NONE.contains(&result) { Some(0) } else { usize::try_from(result).ok() }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // The kernel picks a buffer only while this thread is in a call for this ring, so once it has let go of the group nothing
        // writes to them. Where it does not let go, they stay allocated until the process ends.
        let released = self.ring.submitter().unregister_buf_ring(GROUP).is_ok();
        // SAFETY: neither is used after this. The ring's descriptor goes first, and with it every request that is still under way.
        unsafe {
            ManuallyDrop::drop(&mut self.ring);
            if released {
                ManuallyDrop::drop(&mut self.buffers);
            }
        }
    }
}
