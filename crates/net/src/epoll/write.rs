//! Writes: bytes that the kernel does not take at once wait in the connection.

use std::net::Shutdown;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::SendFlags;

use super::{Conn, ConnState, Epoll, READ_BYTES, failure};
use crate::{BlobId, ConnId, Event, Handler, Operation, clock, socket};

impl Conn {
    /// Whether the kernel has taken everything.
    pub(super) fn is_drained(&self) -> bool {
        self.lent.is_none() && self.out.is_empty()
    }

    pub(super) fn acknowledged(&self) -> Option<u64> {
        socket::acknowledged(self.fd.as_raw_fd())
    }
}

/// Sends as much as the kernel takes now.
fn send(fd: &OwnedFd, bytes: &[u8]) -> Result<usize, Errno> {
    let mut taken = 0;
    while taken < bytes.len() {
        match rustix::net::send(fd, &bytes[taken..], SendFlags::NOSIGNAL) {
            Ok(n) => taken += n,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(taken)
}

impl Epoll {
    /// Writes what waits; true when nothing waits any more.
    pub(super) fn flush(&mut self, id: ConnId) -> bool {
        let Some(conn) = self.conns.get_mut(id) else { return true };
        if let Some((blob, at)) = conn.lent {
            let rest = &self.blobs[blob.0 as usize][at..];
            match send(&conn.fd, rest) {
                Ok(n) if n == rest.len() => conn.lent = None,
                Ok(n) => {
                    conn.lent = Some((blob, at + n));
                    return false;
                }
                Err(error) => {
                    self.fail(id, failure(Operation::Send, error));
                    return false;
                }
            }
        }
        match send(&conn.fd, &conn.out[conn.written..]) {
            Ok(n) => conn.written += n,
            Err(error) => {
                self.fail(id, failure(Operation::Send, error));
                return false;
            }
        }
        if conn.written < conn.out.len() {
            return false;
        }
        conn.out.clear();
        conn.written = 0;
        if conn.out.capacity() > READ_BYTES {
            conn.out.shrink_to(READ_BYTES);
        }
        true
    }

    pub(super) fn write(&mut self, id: ConnId, bytes: &[u8]) {
        if let Some(taken) = self.write_at_once(id, bytes)
            && let Some(conn) = self.conns.get_mut(id)
        {
            conn.out.extend_from_slice(&bytes[taken..]);
        }
    }

    /// Writes a blob; what the kernel does not take stays lent.
    pub(super) fn write_blob(&mut self, id: ConnId, blob: BlobId) {
        let bytes = std::mem::take(&mut self.blobs[blob.0 as usize]);
        if let Some(taken) = self.write_at_once(id, &bytes)
            && taken < bytes.len()
            && let Some(conn) = self.conns.get_mut(id)
        {
            match conn.is_drained() {
                true => conn.lent = Some((blob, taken)),
                false => conn.out.extend_from_slice(&bytes),
            }
        }
        self.blobs[blob.0 as usize] = bytes;
    }

    /// Writes what the kernel takes now, unless other bytes come before. Returns how much that was; nothing
    /// where nothing is to be written any more.
    fn write_at_once(&mut self, id: ConnId, bytes: &[u8]) -> Option<usize> {
        let conn = self.conns.get(id)?;
        if conn.failure.is_some() || conn.state == ConnState::Closing {
            return None;
        }
        if !conn.is_drained() {
            return Some(0);
        }
        match send(&conn.fd, bytes) {
            Ok(taken) => Some(taken),
            Err(error) => {
                self.fail(id, failure(Operation::Send, error));
                None
            }
        }
    }

    pub(super) fn end_flushed(&mut self, id: ConnId) {
        if let Some(conn) = self.conns.get(id) {
            socket::shutdown(conn.fd.as_raw_fd(), Shutdown::Write);
            self.lingering.add_closed(clock::now(), id);
            // No event will come for input that arrived before now.
            self.ready.push(id);
        }
    }

    /// Resets connections that are being closed whose peers have taken next to nothing for long.
    pub(super) fn cut_off(&mut self, now: u64) {
        while let Some(unsent) = self.lingering.unsent(now) {
            let Some(conn) = self.conns.get(unsent.conn) else { continue };
            let waits = conn.state == ConnState::Closing && !conn.is_drained();
            if waits && !self.lingering.goes_on(now, unsent, conn.acknowledged()) {
                socket::reset_on_close(conn.fd.as_raw_fd());
                self.conns.remove(unsent.conn);
            }
        }
    }

    pub(super) fn writable<P: Handler<Self>>(&mut self, id: ConnId, handler: &mut P) {
        let Some(conn) = self.conns.get(id) else { return };
        if conn.is_drained() && !conn.want_drained {
            return;
        }
        if !self.flush(id) {
            return;
        }
        let Some(conn) = self.conns.get_mut(id) else { return };
        if conn.state == ConnState::Closing {
            self.end_flushed(id);
        } else if std::mem::take(&mut conn.want_drained) {
            let token = conn.token;
            handler.event(self, token, Event::Drained);
        }
    }
}
