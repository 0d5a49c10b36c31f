//! The ring of receive buffers that the kernel fills and this net lends out.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::IoUring;
use io_uring::types::BufRingEntry;

/// The one buffer group of a ring.
pub(super) const GROUP: u16 = 0;
/// Bytes in one buffer. Pages of a buffer that no answer reaches are never touched.
const BUFFER_BYTES: usize = 8 * 1024;
/// From one buffer to the next. A power of two would put the first lines of all buffers, the only
/// ones that short answers fill, into the same few sets of the processor's caches.
const STRIDE: usize = BUFFER_BYTES + 192;
const PAGE: usize = 4096;

/// Buffers registered with a ring. The kernel writes into those whose entries lie between its head
/// and our tail; each comes back by its index with a completion and is returned by [`Self::give`].
#[derive(Debug)]
pub(super) struct Buffers {
    entries: NonNull<BufRingEntry>,
    bytes: NonNull<u8>,
    count: u16,
    tail: u16,
}

impl Buffers {
    /// Allocates and registers `count` buffers (rounded up to a power of two, 16 to 1,024).
    pub(super) fn register(ring: &IoUring, count: usize) -> io::Result<Self> {
        let count = count.next_power_of_two().clamp(16, 1024) as u16;
        let mut buffers = Self {
            entries: allocate(entries_layout(count)).cast(),
            bytes: allocate(bytes_layout(count)),
            count,
            tail: 0,
        };
        // SAFETY: the entries are page-aligned, `count` of them long, and are freed only after the
        // ring: the net drops its ring first.
        unsafe {
            let address = buffers.entries.as_ptr() as u64;
            ring.submitter().register_buf_ring_with_flags(address, count, GROUP, 0)?;
        }
        (0..count).for_each(|index| buffers.put(index));
        buffers.publish();
        Ok(buffers)
    }

    /// The first `length` bytes of a buffer that a completion named.
    ///
    /// # Safety
    /// The completion was the latest for this buffer and [`Self::give`] was not called since; the
    /// slice must not be used after it is.
    #[inline]
    pub(super) unsafe fn lend<'a>(&self, index: u16, length: usize) -> &'a [u8] {
        debug_assert!(index < self.count && length <= BUFFER_BYTES);
        // SAFETY: inside the allocation by the assertion's terms, which the kernel keeps; the kernel
        // does not write to a buffer between its completion and its return.
        unsafe {
            let start = self.bytes.as_ptr().add(usize::from(index) * STRIDE);
            std::slice::from_raw_parts(start, length)
        }
    }

    /// Returns a buffer to the kernel.
    #[inline]
    pub(super) fn give(&mut self, index: u16) {
        self.put(index);
        self.publish();
    }

    #[inline]
    fn put(&mut self, index: u16) {
        let at = usize::from(self.tail & (self.count - 1));
        // SAFETY: `at` is inside the ring, and the entry is ours: at most `count` are out.
        unsafe {
            let entry = &mut *self.entries.as_ptr().add(at);
            entry.set_addr(self.bytes.as_ptr().add(usize::from(index) * STRIDE) as u64);
            entry.set_len(BUFFER_BYTES as u32);
            entry.set_bid(index);
        }
        self.tail = self.tail.wrapping_add(1);
    }

    #[inline]
    fn publish(&self) {
        // SAFETY: the tail lies in the first entry of the ring, which is allocated and aligned; only
        // this thread writes it, and the kernel reads it atomically.
        unsafe {
            let tail = BufRingEntry::tail(self.entries.as_ptr()).cast::<AtomicU16>();
            (*tail).store(self.tail, Ordering::Release);
        }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: both were allocated with these layouts; the ring is gone, and with it the kernel's
        // use of them.
        unsafe {
            dealloc(self.entries.as_ptr().cast(), entries_layout(self.count));
            dealloc(self.bytes.as_ptr(), bytes_layout(self.count));
        }
    }
}

fn entries_layout(count: u16) -> Layout {
    let bytes = usize::from(count) * size_of::<BufRingEntry>();
    Layout::from_size_align(bytes, PAGE).expect("a small power of two times 16 bytes")
}

fn bytes_layout(count: u16) -> Layout {
    let bytes = usize::from(count) * STRIDE;
    Layout::from_size_align(bytes, PAGE).expect("a small power of two times a small stride")
}

fn allocate(layout: Layout) -> NonNull<u8> {
    // SAFETY: the layout is never of size zero: there are at least 16 buffers.
    let pointer = unsafe { alloc_zeroed(layout) };
    NonNull::new(pointer).unwrap_or_else(|| handle_alloc_error(layout))
}
