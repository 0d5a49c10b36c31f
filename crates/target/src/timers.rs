//! When connections are due. One instant a connection, removed with it: a client that asks for long
//! delays and goes away leaves nothing behind.

use std::collections::BTreeSet;

use model::Nanos;

/// Instants at which connections, by their tokens, are due.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    due: BTreeSet<(Nanos, u32)>,
}

impl Timers {
    pub(crate) fn set(&mut self, at: Nanos, token: u32) {
        self.due.insert((at, token));
    }

    pub(crate) fn clear(&mut self, at: Nanos, token: u32) {
        self.due.remove(&(at, token));
    }

    /// The earliest instant; `u64::MAX` when there is none.
    pub(crate) fn next(&self) -> Nanos {
        self.due.first().map_or(u64::MAX, |&(at, _)| at)
    }

    /// Takes out the earliest that is due at `now`.
    pub(crate) fn expired(&mut self, now: Nanos) -> Option<u32> {
        if self.next() > now {
            return None;
        }
        self.due.pop_first().map(|(_, token)| token)
    }
}
