//! Connections that were closed with [`crate::Close::Flush`] and wait for the peer to close too.

use std::collections::VecDeque;

use crate::ConnId;

/// How long a peer gets to close after we did.
const LINGER_NS: u64 = 2_000_000_000;

/// Deadlines of lingering connections. All wait equally long, so a queue keeps them sorted.
#[derive(Debug, Default)]
pub(crate) struct Lingering(VecDeque<(u64, ConnId)>);

impl Lingering {
    pub(crate) fn add(&mut self, now: u64, conn: ConnId) {
        self.0.push_back((now + LINGER_NS, conn));
    }

    /// When the next one is due.
    pub(crate) fn next(&self) -> u64 {
        self.0.front().map_or(u64::MAX, |&(at, _)| at)
    }

    /// A connection whose time is over; it may be gone already.
    pub(crate) fn expired(&mut self, now: u64) -> Option<ConnId> {
        if self.next() > now {
            return None;
        }
        self.0.pop_front().map(|(_, conn)| conn)
    }
}
