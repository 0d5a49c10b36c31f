//! How the worker's users were served, counted once, when the worker ends.

use model::{Nanos, UserTally};

use super::{Pace, Worker};

/// Attempts that fail one after the other before a user that was served counts as left.
const FAILED_IN_A_ROW: u32 = 3;

impl Worker {
    /// Keeps how long users have waited at `end` of the window. What the drain brings them comes too late for it.
    pub(super) fn note_waiting(&mut self, end: Nanos) {
        for since in (0..self.conns.count()).filter_map(|j| self.conns.waiting_since(j)) {
            let waited = end.saturating_sub(since.max(self.job.plan.warmup_ns));
            self.recorder.tally.users.waiting(waited);
        }
    }

    /// Counts every user by how it was served in the window; call before open requests are given up.
    pub(super) fn users(&self, now: Nanos) -> UserTally {
        let mut tally = UserTally::default();
        (0..self.conns.count()).for_each(|j| self.count_user(j, now, &mut tally));
        tally
    }

    fn count_user(&self, j: u32, now: Nanos, tally: &mut UserTally) {
        let conn = &self.conns[j];
        tally.mute(conn.mute.into());
        let waiting = self.conns.waiting_since(j);
        let failed = (conn.failing_since > 0).then_some(conn.failing_since);
        let tries = failed.map_or(0, |_| conn.tries);
        // A user that makes no more attempts wants nothing any more.
        let until = if waiting.is_some() { now } else { conn.failed_at };
        let since = failed.or(waiting);
        let waited = since.map(|since| until.saturating_sub(since.max(self.job.plan.warmup_ns)));
        match (conn.served, waited) {
            (0, None) => tally.idle(),
            (0, Some(waited)) => {
                tally.unserved(waited, u64::from(tries) + u64::from(waiting.is_some()));
            }
            (served, waited) => {
                tally.served(served.into());
                // In an open loop some connections are used only while others wait for responses.
                if matches!(self.pace, Pace::Closed { .. }) {
                    tally.fastest(served.into(), self.conns.fastest(j));
                }
                if let Some(waited) = waited.filter(|_| self.is_left(tries)) {
                    tally.left(waited);
                }
            }
        }
    }

    /// Whether a user without a response since `tries` attempts stays without one, as far as is
    /// known: where a time-out is longer than the window, no attempt could end in it.
    fn is_left(&self, tries: u32) -> bool {
        let plan = &self.job.plan;
        let window_ns = plan.duration_ns.unwrap_or(Nanos::MAX);
        tries >= FAILED_IN_A_ROW || plan.timeout_ns >= window_ns
    }
}
