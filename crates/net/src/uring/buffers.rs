//! The ring of receive buffers that the kernel fills and this net lends out.
//!
//! The kernel takes buffers in the order in which they were given, so that with many of them each is
//! cold, and its page unknown to the processor, by the time it is filled again. So the kernel has only
//! a few more than recent batches have needed; the others are spare, for when it runs out.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::IoUring;
use io_uring::types::BufRingEntry;

/// The one buffer group of a ring.
pub(super) const GROUP: u16 = 0;
/// Bytes in one buffer. Pages of a buffer that no response reaches are never touched.
pub(super) const BUFFER_BYTES: usize = 16 * 1024;
/// From one buffer to the next. A power of two would put the first lines of all buffers, the only
/// ones that short responses fill, into the same few sets of the processor's caches.
const STRIDE: usize = BUFFER_BYTES + 192;
const PAGE: usize = 4096;
/// Buffers in the kernel's hands at least.
const LEAST: u16 = 32;
/// Batches after which the number of buffers wanted is computed anew.
const REVIEW: u32 = 1024;
/// Buffers wanted for each that a batch filled on average. A batch that needs more costs its last
/// connections another submission.
const MARGIN: u32 = 4;

/// Buffers registered with a ring. The kernel writes into those whose entries lie between its head
/// and our tail; each comes back by its index with a completion and is returned by [`Self::give`].
#[derive(Debug)]
pub(super) struct Buffers {
    entries: NonNull<BufRingEntry>,
    bytes: NonNull<u8>,
    count: u16,
    tail: u16,
    /// Buffers in the kernel's hands or lent.
    out: u16,
    /// How many are wanted there.
    wanted: u16,
    /// The others.
    spare: Vec<u16>,
    /// Batches since the last review, and the buffers that they filled.
    batches: u32,
    filled: u32,
    /// The kernel ran out in this batch.
    ran_out: bool,
    /// The memory must not be freed.
    leaked: bool,
}

impl Buffers {
    /// Allocates and registers `count` buffers (rounded up to a power of two, 32 to 1,024).
    pub(super) fn register(ring: &IoUring, count: usize) -> io::Result<Self> {
        let count = count.next_power_of_two().clamp(usize::from(LEAST), 1024) as u16;
        let mut buffers = Self {
            entries: allocate(entries_layout(count)).cast(),
            bytes: allocate(bytes_layout(count)),
            count,
            tail: 0,
            out: 0,
            wanted: LEAST.min(count),
            spare: (0..count).rev().collect(),
            batches: 0,
            filled: 0,
            ran_out: false,
            leaked: false,
        };
        // SAFETY: the entries are page-aligned, `count` of them long, and are freed only after the
        // ring: the net drops its ring first.
        unsafe {
            let address = buffers.entries.as_ptr() as u64;
            ring.submitter().register_buf_ring_with_flags(address, count, GROUP, 0)?;
        }
        buffers.add();
        Ok(buffers)
    }

    /// The first `length` bytes of a buffer that a completion named, for the handler to use and change.
    ///
    /// # Safety
    /// The completion was the latest for this buffer and [`Self::give`] was not called since; the
    /// slice must not be used after it is.
    #[inline]
    pub(super) unsafe fn lend<'a>(&mut self, index: u16, length: usize) -> &'a mut [u8] {
        debug_assert!(index < self.count && length <= BUFFER_BYTES);
        // SAFETY: inside the allocation by the assertion's terms, which the kernel keeps; the kernel
        // does not write to a buffer between its completion and its return.
        unsafe {
            let start = self.bytes.as_ptr().add(usize::from(index) * STRIDE);
            std::slice::from_raw_parts_mut(start, length)
        }
    }

    /// Takes back a buffer that was lent: for the kernel, unless that has enough.
    #[inline]
    pub(super) fn give(&mut self, index: u16) {
        self.filled += 1;
        if self.out > self.wanted {
            self.out -= 1;
            return self.spare.push(index);
        }
        self.put(index);
        self.publish();
    }

    /// The kernel had no buffer left for a receive.
    pub(super) fn ran_out(&mut self) {
        self.ran_out = true;
    }

    /// Whether it had none for one of this batch.
    #[inline]
    pub(super) fn have_run_out(&self) -> bool {
        self.ran_out
    }

    /// The kernel may use the memory for as long as the process lives.
    pub(super) fn leak(&mut self) {
        self.leaked = true;
    }

    /// A batch of completions has been handled.
    #[inline]
    pub(super) fn batch_over(&mut self) {
        self.batches += 1;
        if self.ran_out {
            self.wanted = self.wanted.saturating_mul(2).min(self.count);
            self.add();
            (self.ran_out, self.batches, self.filled) = (false, 0, 0);
        } else if self.batches == REVIEW {
            let wanted = (MARGIN * (self.filled / REVIEW)).next_power_of_two();
            self.wanted = wanted.clamp(u32::from(LEAST), u32::from(self.count)) as u16;
            self.add();
            (self.batches, self.filled) = (0, 0);
        }
    }

    /// Gives the kernel what is wanted of the spare ones.
    fn add(&mut self) {
        while self.out < self.wanted
            && let Some(index) = self.spare.pop()
        {
            self.out += 1;
            self.put(index);
        }
        self.publish();
    }

    #[inline]
    fn put(&mut self, index: u16) {
        let at = usize::from(self.tail & (self.count - 1));
        // SAFETY: `at` is inside the ring, and the kernel does not hold the entry: at most `count` are out.
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
        if self.leaked {
            return;
        }
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
    // SAFETY: the layout is never of size zero: there are always some buffers.
    let pointer = unsafe { alloc_zeroed(layout) };
    NonNull::new(pointer).unwrap_or_else(|| handle_alloc_error(layout))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ready() -> Option<(IoUring, Buffers)> {
        let ring = IoUring::new(8).ok()?;
        let buffers = Buffers::register(&ring, 1000).ok()?;
        Some((ring, buffers))
    }

    fn batch(buffers: &mut Buffers, size: u16) {
        (0..size).for_each(|index| buffers.give(index));
        buffers.batch_over();
    }

    #[test]
    fn the_kernel_has_a_few_more_than_batches_need() {
        // Without io_uring there is nothing to register with.
        let Some((_ring, mut buffers)) = ready() else { return };
        assert_eq!((buffers.out, buffers.spare.len()), (LEAST, 1024 - usize::from(LEAST)));
        for (size, out) in [(1, LEAST), (20, 128), (100, 512), (3, LEAST)] {
            (0..2 * REVIEW).for_each(|_| batch(&mut buffers, size));
            assert_eq!((buffers.wanted, buffers.out), (out, out), "batches of {size}");
            assert_eq!(usize::from(buffers.out) + buffers.spare.len(), 1024);
        }
    }

    #[test]
    fn running_out_doubles_them_once_a_batch() {
        let Some((_ring, mut buffers)) = ready() else { return };
        for out in [64, 128, 256, 512, 1024, 1024] {
            (0..9).for_each(|_| buffers.ran_out());
            buffers.batch_over();
            assert_eq!(buffers.out, out);
        }
    }
}
