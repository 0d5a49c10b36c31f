//! Connections to Unix sockets whose queue is full.
//!
//! The kernel reports no event when such a queue has room again: a connection waits here, unknown to epoll,
//! and is tried again every millisecond.

use std::io;
use std::os::fd::OwnedFd;

use super::{Conn, Epoll};
use crate::peer::UnixPath;
use crate::{ConnId, Failure, Operation, Peer, clock, socket};

/// Pause before a full queue is tried again.
const PAUSE_NS: u64 = 1_000_000;

/// Connections that wait, in the order in which they were asked for.
#[derive(Debug)]
pub(super) struct Queued {
    waiting: Vec<(ConnId, UnixPath)>,
    /// When they are tried again.
    pub(super) at: u64,
}

impl Default for Queued {
    fn default() -> Self {
        Self { waiting: Vec::new(), at: u64::MAX }
    }
}

impl Epoll {
    /// Lets a connection wait.
    pub(super) fn queue(&mut self, fd: OwnedFd, token: u32, to: UnixPath) -> ConnId {
        let id = self.conns.insert(Conn::connecting(fd, token));
        self.queued.waiting.push((id, to));
        self.queued.at = self.queued.at.min(clock::now() + PAUSE_NS);
        id
    }

    /// Tries those that wait again, until one has to wait on.
    pub(super) fn try_queued(&mut self) {
        let mut waiting = std::mem::take(&mut self.queued.waiting);
        let mut tried = 0;
        for &(id, to) in &waiting {
            let Some(conn) = self.conns.get(id) else {
                tried += 1;
                continue;
            };
            let started = socket::start_connect(&conn.fd, &Peer::Unix(to));
            if started.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
                break;
            }
            tried += 1;
            if let Err(error) = started.and_then(|()| self.watch(id)) {
                self.fail(id, Failure::new(Operation::Connect, &error));
            }
        }
        waiting.drain(..tried);
        self.queued.at = if waiting.is_empty() { u64::MAX } else { clock::now() + PAUSE_NS };
        self.queued.waiting = waiting;
    }
}
