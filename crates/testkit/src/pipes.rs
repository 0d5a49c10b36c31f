//! Named pipes (FIFOs), which nothing waits for: opening, reading and writing return at once.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};

/// Makes a named pipe that nobody has open.
///
/// # Panics
/// When it cannot be made.
pub fn make(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).expect("a named pipe");
}

/// Opens a named pipe to read from. While it is empty, reading returns no bytes if no writer has it open, and
/// [`WouldBlock`](std::io::ErrorKind::WouldBlock) otherwise.
///
/// # Panics
/// When it cannot be opened.
pub fn reader(path: &Path) -> File {
    open(OpenOptions::new().read(true), path)
}

/// Opens a named pipe that has a reader to write to. While it is full, writing returns
/// [`WouldBlock`](std::io::ErrorKind::WouldBlock).
///
/// # Panics
/// When it cannot be opened, or has no reader.
pub fn writer(path: &Path) -> File {
    open(OpenOptions::new().write(true), path)
}

fn open(options: &mut OpenOptions, path: &Path) -> File {
    let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
    options.custom_flags(nonblocking).open(path).expect("the named pipe opens")
}
