//! The end of a net: nothing that the kernel still reads or writes is freed.
//!
//! Closing the ring does not wait for what is under way on it: a large send that found the socket full
//! would go on reading its buffer after that has been freed. So everything is cancelled first, and the
//! call returns once it is over. If that fails, the memory is leaked on purpose.

use io_uring::types::{CancelBuilder, Timespec};

use super::Uring;

/// Longest that the kernel is given to cancel what is under way, in seconds.
const PATIENCE_S: u64 = 2;

impl Uring {
    /// Cancels everything under way. Returns whether it has all ended.
    fn cancel_all(&self) -> bool {
        let patience = Timespec::new().sec(PATIENCE_S);
        let everything = CancelBuilder::any().all();
        match self.ring.submitter().register_sync_cancel(Some(patience), everything) {
            Ok(()) => true,
            // Nothing was under way.
            Err(error) => error.raw_os_error() == Some(libc::ENOENT),
        }
    }

    /// Leaks all memory that the kernel may still use.
    fn leak(&mut self) {
        self.buffers.leak();
        std::mem::forget(std::mem::take(&mut self.blobs));
        std::mem::forget(std::mem::take(&mut self.addresses));
        let gone = self.gone.iter_mut().map(|(_, conn)| conn);
        for conn in gone.chain(self.conns.iter_mut()) {
            std::mem::forget(conn.output.take());
        }
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        if !self.cancel_all() {
            self.leak();
        }
    }
}
