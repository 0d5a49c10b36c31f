//! Writes: bytes that the kernel does not take at once wait in the connection.

use std::os::fd::AsRawFd;

use rustix::io::Errno;
use rustix::net::SendFlags;

use super::{ConnState, Epoll, READ_BYTES, failure};
use crate::{ConnId, Event, Handler, Operation, clock, socket};

impl Epoll {
    /// Writes what waits; true when nothing waits any more.
    pub(super) fn flush(&mut self, id: ConnId) -> bool {
        let Some(conn) = self.conns.get_mut(id) else { return true };
        while conn.written < conn.out.len() {
            match rustix::net::send(&conn.fd, &conn.out[conn.written..], SendFlags::NOSIGNAL) {
                Ok(n) => conn.written += n,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return false,
                Err(error) => {
                    self.fail(id, failure(Operation::Send, error));
                    return false;
                }
            }
        }
        conn.out.clear();
        conn.written = 0;
        if conn.out.capacity() > READ_BYTES {
            conn.out.shrink_to(READ_BYTES);
        }
        true
    }

    pub(super) fn write(&mut self, id: ConnId, bytes: &[u8]) {
        let Some(conn) = self.conns.get_mut(id) else { return };
        if conn.failure.is_some() || conn.state == ConnState::Closing {
            return;
        }
        let mut taken = 0;
        if conn.out.is_empty() {
            loop {
                match rustix::net::send(&conn.fd, &bytes[taken..], SendFlags::NOSIGNAL) {
                    Ok(n) => taken += n,
                    Err(Errno::INTR) => continue,
                    Err(Errno::AGAIN) => break,
                    Err(error) => return self.fail(id, failure(Operation::Send, error)),
                }
                if taken == bytes.len() {
                    return;
                }
            }
        }
        conn.out.extend_from_slice(&bytes[taken..]);
    }

    pub(super) fn end_flushed(&mut self, id: ConnId) {
        if let Some(conn) = self.conns.get(id) {
            socket::shutdown(conn.fd.as_raw_fd(), false);
            self.lingering.add_closed(clock::now(), id);
            // No event will come for input that arrived before now.
            self.ready.push(id);
        }
    }

    pub(super) fn writable<P: Handler<Self>>(&mut self, id: ConnId, handler: &mut P) {
        let Some(conn) = self.conns.get(id) else { return };
        if conn.out.is_empty() && !conn.want_drained {
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
