//! The buffers that the kernel receives into: a ring of them that it takes from and we give back to.
//!
//! Each has room for a large piece of a body. The kernel takes them in turn, so small answers walk through all of them; each
//! therefore begins at another offset within a page, or all would fall into the same few lines of the processor's first cache.

use io_uring::Submitter;
use io_uring::types::BufRingEntry;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

/// Bytes in one buffer.
pub const SIZE: usize = 16 * 1024;
/// From one buffer to the next: five cache lines more, an odd number, so that beginnings spread evenly.
const STRIDE: usize = SIZE + 5 * 64;
/// The only group of buffers of a ring.
pub const GROUP: u16 = 0;
/// What the kernel wants the ring of entries to be aligned to, on every machine we know.
const PAGE: usize = 64 * 1024;

/// Buffers, and the entries that tell the kernel of those it may fill.
pub struct Buffers {
    entries: NonNull<BufRingEntry>,
    bytes: NonNull<u8>,
    count: u16,
    /// Entries ever given, modulo 2^16.
    given: u16,
}

// SAFETY: both allocations belong to this value alone; nothing in them is tied to a thread.
unsafe impl Send for Buffers {}

impl Buffers {
    /// `count` buffers (a power of two up to 2^15), all of them the kernel's. Memory is taken when it is first filled.
    pub fn new(count: u16) -> Buffers {
        assert!(count.is_power_of_two() && count <= 1 << 15);
        let mut buffers = Buffers { entries: zeroed(entries(count)), bytes: zeroed(bytes(count)), count, given: 0 };
        (0..count).for_each(|id| buffers.give_back(id));
        buffers
    }

    /// Tells the kernel of them.
    pub fn register(&self, ring: &Submitter<'_>) -> io::Result<()> {
        // SAFETY: the entries are aligned and as many as is said, and live until `Queue` has seen the ring let go of them.
        unsafe { ring.register_buf_ring_with_flags(self.entries.as_ptr() as u64, self.count, GROUP, 0) }?;
        self.publish();
        Ok(())
    }

    /// Gives buffer `id` back, from the next [`Buffers::publish`] on.
    #[inline]
    pub fn give_back(&mut self, id: u16) {
        let at = usize::from(self.given & (self.count - 1));
        // SAFETY: `at` is below `count`, which is how many entries there are. The kernel reads an entry only once the published tail
        // is beyond it, and it is not yet. The fields set here leave out the one that is the tail in entry 0.
        let entry = unsafe { self.entries.add(at).as_mut() };
        entry.set_addr(self.at(id).as_ptr() as u64);
        entry.set_len(SIZE as u32);
        entry.set_bid(id);
        self.given = self.given.wrapping_add(1);
    }

    /// Makes what was given back the kernel's.
    #[inline]
    pub fn publish(&self) {
        // SAFETY: the entries are alive, and their tail is two aligned bytes that we write and the kernel reads, both atomically.
        let tail = unsafe { AtomicU16::from_ptr(BufRingEntry::tail(self.entries.as_ptr()).cast_mut()) };
        tail.store(self.given, Ordering::Release);
    }

    /// The first `length` bytes of buffer `id`, which the kernel has filled and not been given back.
    #[inline]
    pub fn filled(&self, id: u16, length: usize) -> &[u8] {
        assert!(length <= SIZE);
        // SAFETY: `length` bytes from there are within the allocation, which was zeroed, and the kernel writes to a buffer only
        // between its being given and the completion that names it.
        unsafe { std::slice::from_raw_parts(self.at(id).as_ptr(), length) }
    }

    #[inline]
    fn at(&self, id: u16) -> NonNull<u8> {
        assert!(id < self.count);
        // SAFETY: `id` is below `count`, and there are `count` strides in the allocation.
        unsafe { self.bytes.add(usize::from(id) * STRIDE) }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: allocated by `new` with these layouts. That the kernel has let go of them is seen to by `Queue`.
        unsafe {
            dealloc(self.entries.as_ptr().cast(), entries(self.count));
            dealloc(self.bytes.as_ptr(), bytes(self.count));
        }
    }
}

fn entries(count: u16) -> Layout {
    Layout::array::<BufRingEntry>(usize::from(count)).and_then(|l| l.align_to(PAGE)).expect("a small layout")
}

fn bytes(count: u16) -> Layout {
    // Of no greater alignment than `calloc` gives: zeroed memory is then not touched before it is used.
    Layout::from_size_align(usize::from(count) * STRIDE, 16).expect("a small layout")
}

fn zeroed<T>(layout: Layout) -> NonNull<T> {
    // SAFETY: both layouts have a size, since `count` is at least 1.
    let memory = unsafe { alloc_zeroed(layout) };
    NonNull::new(memory.cast()).unwrap_or_else(|| handle_alloc_error(layout))
}
