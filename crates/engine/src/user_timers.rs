//! Closed-loop users that wait for an instant: to start (ramp), for their pace, to think, or to try
//! to connect again.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use model::Nanos;

/// The instants at which users go on; at most one for each user.
#[derive(Debug)]
pub(crate) struct UserTimers(BinaryHeap<Reverse<(Nanos, u32)>>);

impl UserTimers {
    /// No timers yet, with room for one for each user.
    pub(crate) fn with_capacity(users: usize) -> Self {
        Self(BinaryHeap::with_capacity(users))
    }

    /// Wakes `user` at `at`.
    pub(crate) fn add(&mut self, at: Nanos, user: u32) {
        self.0.push(Reverse((at, user)));
    }

    /// The next timer.
    pub(crate) fn next(&self) -> Option<Nanos> {
        self.0.peek().map(|Reverse((at, _))| *at)
    }

    /// A user whose time has come.
    pub(crate) fn due(&mut self, now: Nanos) -> Option<u32> {
        if self.next()? > now {
            return None;
        }
        self.0.pop().map(|Reverse((_, user))| user)
    }
}
