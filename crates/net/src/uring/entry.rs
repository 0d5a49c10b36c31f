//! Submission entries, and the user data that identifies their completions.

use io_uring::opcode;
use io_uring::squeue::Entry;
use io_uring::types::{Fd, Fixed};

use crate::ConnId;

/// What a completion belongs to, kept in its 64 bits of user data beside the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    Connect = 1,
    Receive,
    /// A send that is refused rather than waits.
    Try,
    Send,
    SendBlob,
    Accept,
    Cancel,
    /// A poll for bytes to be read by `recv`.
    Readable,
}

/// Sends bytes; the kernel itself completes a send that found the socket full.
pub(super) fn send_entry(handle: Handle, bytes: &[u8]) -> Entry {
    send(handle, bytes, libc::MSG_WAITALL)
}

/// Sends bytes at once: whatever does not fit now is refused.
pub(super) fn try_entry(handle: Handle, bytes: &[u8]) -> Entry {
    send(handle, bytes, libc::MSG_WAITALL | libc::MSG_DONTWAIT)
}

/// Bytes of one send at most: its result is a positive 32-bit number. The rest follows once they are
/// out.
pub(super) const MOST_AT_ONCE: usize = 1 << 30;

fn send(handle: Handle, bytes: &[u8], flags: libc::c_int) -> Entry {
    let length = bytes.len().min(MOST_AT_ONCE) as u32;
    let (start, flags) = (bytes.as_ptr(), flags | libc::MSG_NOSIGNAL);
    handle.entry(
        |fd| opcode::Send::new(fd, start, length).flags(flags).build(),
        |fd| opcode::Send::new(fd, start, length).flags(flags).build(),
    )
}

/// How a connection is named to the kernel.
#[derive(Clone, Copy)]
pub(super) enum Handle {
    Fixed(Fixed),
    Fd(Fd),
}

impl Handle {
    pub(super) fn entry(
        self,
        of_fixed: impl FnOnce(Fixed) -> Entry,
        of_fd: impl FnOnce(Fd) -> Entry,
    ) -> Entry {
        match self {
            Self::Fixed(fixed) => of_fixed(fixed),
            Self::Fd(fd) => of_fd(fd),
        }
    }
}

pub(super) fn tag(op: Op, id: ConnId) -> u64 {
    (op as u64) << 56 | u64::from(id.generation) << 32 | u64::from(id.slot)
}

pub(super) fn untag(data: u64) -> (u8, ConnId) {
    let generation = (data >> 32) as u32 & crate::conns::GENERATIONS;
    ((data >> 56) as u8, ConnId { slot: data as u32, generation })
}
