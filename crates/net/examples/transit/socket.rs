//! Reading bytes with the instant at which the kernel had them, the clock that it stamps with, and that of another process.

use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, RawFd};
use std::ptr;

use rustix::time::{ClockId, clock_gettime};

/// Wall clock time in nanoseconds: what the kernel stamps with.
pub fn now() -> u64 {
    let time = clock_gettime(ClockId::Realtime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The processor time that a process has had, all threads together.
#[derive(Clone, Copy)]
pub struct ProcessClock(libc::clockid_t);

impl ProcessClock {
    /// # Errors
    /// Where there is no such process.
    pub fn of(pid: libc::pid_t) -> io::Result<Self> {
        let mut clock = 0;
        // SAFETY: the clock's number is written to memory that is ours.
        match unsafe { libc::clock_getcpuclockid(pid, &raw mut clock) } {
            0 => Ok(Self(clock)),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }

    /// In nanoseconds; 0 once it has ended.
    pub fn ns(self) -> u64 {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the time is written to memory that is ours.
        unsafe { libc::clock_gettime(self.0, &raw mut time) };
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }
}

/// Has the kernel stamp what arrives.
pub fn stamp_arrivals(socket: &impl AsRawFd) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the option's value is an int that outlives the call, given with its length.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPNS,
            ptr::from_ref(&on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// What was read, and when its last bytes had arrived.
pub struct Arrival {
    pub bytes: usize,
    pub at: u64,
}

/// Room for the one control message that is asked for, aligned as its header is.
#[repr(align(8))]
struct Control([u8; 64]);

/// Reads what is there. `None` if there is nothing.
pub fn receive(fd: RawFd, buffer: &mut [u8]) -> io::Result<Option<Arrival>> {
    let mut control = Control([0; 64]);
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: all fields of a message header may be zero.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = control.0.len() as _;
    // SAFETY: the header points to buffers that are exclusively ours for the length of the call, with their lengths.
    let read = unsafe { libc::recvmsg(fd, &raw mut message, 0) };
    if read < 0 {
        let error = io::Error::last_os_error();
        return if error.kind() == io::ErrorKind::WouldBlock { Ok(None) } else { Err(error) };
    }
    let at = stamp(&message).ok_or_else(|| io::Error::other("the kernel gave no time of arrival"));
    // The end of a stream has no stamp, and needs none.
    let at = if read == 0 { 0 } else { at? };
    Ok(Some(Arrival { bytes: read as usize, at }))
}

fn stamp(message: &libc::msghdr) -> Option<u64> {
    // SAFETY: the kernel has filled in the control messages and their length.
    let mut header = unsafe { libc::CMSG_FIRSTHDR(message) };
    while !header.is_null() {
        // SAFETY: the header was found within the control buffer.
        let (level, kind) = unsafe { ((*header).cmsg_level, (*header).cmsg_type) };
        if level == libc::SOL_SOCKET && kind == libc::SO_TIMESTAMPNS {
            // SAFETY: a message of this kind carries a timespec; it may be unaligned.
            let time: libc::timespec =
                unsafe { ptr::read_unaligned(libc::CMSG_DATA(header).cast()) };
            return Some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64);
        }
        // SAFETY: as above.
        header = unsafe { libc::CMSG_NXTHDR(message, header) };
    }
    None
}

/// Real-time priority for this thread: what has less waits for its core.
pub fn real_time(priority: i32) -> io::Result<()> {
    let parameter = libc::sched_param { sched_priority: priority };
    // SAFETY: the parameter outlives the call; 0 is the calling thread.
    let result = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameter) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
