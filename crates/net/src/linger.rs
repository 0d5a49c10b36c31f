//! Connections that the handler has closed and that wait for the peer to close too.

use std::collections::VecDeque;

use crate::ConnId;

/// How long a peer gets to close after we did ([`crate::Close::Flush`]).
const AFTER_US_NS: u64 = 2_000_000_000;
/// How long a peer gets to close before we do ([`crate::Close::Passive`]).
const BEFORE_US_NS: u64 = 100_000_000;

/// Deadlines of lingering connections. All of a kind wait equally long, so that queues keep them
/// sorted.
#[derive(Debug, Default)]
pub(crate) struct Lingering {
    after_us: VecDeque<(u64, ConnId)>,
    before_us: VecDeque<(u64, ConnId)>,
}

impl Lingering {
    /// We have closed; the peer is to follow.
    pub(crate) fn add_closed(&mut self, now: u64, conn: ConnId) {
        self.after_us.push_back((now + AFTER_US_NS, conn));
    }

    /// The peer is to close first.
    pub(crate) fn add_open(&mut self, now: u64, conn: ConnId) {
        self.before_us.push_back((now + BEFORE_US_NS, conn));
    }

    /// When the next one is due.
    pub(crate) fn next(&self) -> u64 {
        due(&self.after_us).min(due(&self.before_us))
    }

    /// A connection whose time is over; it may be gone already.
    pub(crate) fn expired(&mut self, now: u64) -> Option<ConnId> {
        let queue =
            [&mut self.after_us, &mut self.before_us].into_iter().find(|q| due(q) <= now)?;
        queue.pop_front().map(|(_, conn)| conn)
    }
}

fn due(queue: &VecDeque<(u64, ConnId)>) -> u64 {
    queue.front().map_or(u64::MAX, |&(at, _)| at)
}
