//! When users of a closed loop are down.

use model::Nanos;
use model::units::SECOND;

use crate::conn::ConnState;

use super::{Pace, Worker};

/// A connection that takes longer to open, or half of the window, is no longer a short wait: the first repeated SYN comes
/// after a second.
const LONG_OPENING: Nanos = SECOND;

impl Worker {
    /// The attempt that user `j` began at `began` failed at `now` without a response; `cut` if the
    /// server ended it, rather than a time-out.
    pub(super) fn mark_down(&mut self, j: u32, began: Nanos, cut: bool, now: Nanos) {
        self.recorder.watch.failed(now);
        // A user with nothing more to send is down only for as long as it waited.
        let ends = self.job.plan.requests.is_some() && !self.may_send(now);
        let conn = &mut self.conns[j];
        conn.troubled = true;
        let down = &mut conn.down;
        self.recorder.watch.mark_down(down, began, cut);
        if ends && down.is() {
            self.recorder.watch.mark_up(down, now);
        }
    }

    /// The run ends while connection `j` may still be opening: where that takes this long, its user is without the server.
    pub(super) fn end_opening(&mut self, j: u32, now: Nanos) {
        let conn = &self.conns[j];
        let opening = matches!(conn.state, ConnState::Connecting | ConnState::Handshaking);
        let began = conn.began;
        let long =
            self.job.plan.duration_ns.map_or(LONG_OPENING, |window| LONG_OPENING.min(window / 2));
        if opening && !self.run.stopped && now.saturating_sub(began) >= long {
            self.mark_down(j, began, false, now);
        }
    }

    /// User `j`, whose last attempt or attempts had failed, got a response to the request that was sent at
    /// `sent`.
    #[cold]
    pub(super) fn mark_up(&mut self, j: u32, sent: Nanos) {
        let conn = &mut self.conns[j];
        conn.recovers();
        if conn.down.is() {
            self.recorder.watch.mark_up(&mut conn.down, sent);
        }
    }

    /// Counts the time that users were down up to `until`, but for the attempts that they wait for now:
    /// those may still get a response.
    pub(super) fn count_down(&mut self, until: Nanos) {
        if !self.recorder.watch.any_down() {
            return;
        }
        for j in 0..self.conns.count() {
            if self.conns[j].down.is() {
                let until = self.conns.waiting_since(j).map_or(until, |since| since.min(until));
                self.recorder.watch.count(&mut self.conns[j].down, until);
            }
        }
    }

    /// Records once a wake-up whether any user waits for the server.
    #[inline]
    pub(super) fn note_presence(&mut self, now: Nanos) {
        let waiting = self.recorder.under_way > 0
            || self.conns.opening > 0
            || matches!(&self.pace, Pace::Open { arrivals, .. } if arrivals.waiting() > 0);
        self.recorder.watch.observe(now, waiting);
    }
}
