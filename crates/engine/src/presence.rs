//! Whether the server is there, as one worker sees it, for each interval.
//!
//! Two things are kept: in which slots of time users waited, were served, or failed; and how long users
//! of a closed loop were down. A request that succeeds sets only one flag: slots are set once a
//! wake-up, and times are summed when a failed attempt is over.

use model::units::{MILLISECOND, SECOND};
use model::{Nanos, PresenceTally, Stages};

/// A worker checks at least every 50 ms. A worker that did not check for this long was not running
/// itself, and knows nothing of the server in that time.
const NOT_RUNNING: Nanos = 200 * MILLISECOND;
/// From when on a wait is long, of those that may end at once: half of the shortest absence that counts.
pub(crate) const LONG_WAIT: Nanos = 250 * MILLISECOND;
/// A user that is not down.
const UP: Nanos = Nanos::MAX;

/// Since when a user of a closed loop is down, if it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Down {
    since: Nanos,
    /// Because of what the server did, not because of a time-out.
    cut: bool,
}

impl Down {
    pub(crate) const NOT: Self = Self { since: UP, cut: false };

    #[inline]
    pub(crate) const fn is(self) -> bool {
        self.since != UP
    }
}

/// What a worker knows of the server's presence in the interval that is open.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Part of a response came since the last observation. The only field that is set for every response.
    pub(crate) served: bool,
    tally: PresenceTally,
    /// Whether a user waited at the last observation.
    waiting: bool,
    /// When that was.
    observed_at: Nanos,
    start: Nanos,
    /// Users that are down.
    downs: u32,
    /// The measured window: times are clipped to it.
    window: (Nanos, Nanos),
    /// Users of a closed loop, and how long it takes until all of them are there; 0 in an open loop.
    users: u32,
    ramp: Nanos,
    /// The number of users over time, and this worker's share of them, where it varies by stages.
    stages: Option<(Stages, f64)>,
}

impl Watch {
    pub(crate) fn of_window(start: Nanos, end: Nanos) -> Self {
        Self { window: (start, end), ..Self::default() }
    }

    /// The load is a closed loop of `users` that begin one after another over `ramp`.
    pub(crate) fn of_users(&mut self, users: u32, ramp: Nanos) {
        (self.users, self.ramp) = (users, ramp);
    }

    /// The users come and go by stages, of all of whom `share` are this worker's.
    pub(crate) fn of_stages(&mut self, stages: Stages, share: f64) {
        self.stages = Some((stages, share));
    }

    /// The window ends at `end`, or has.
    pub(crate) fn end_window(&mut self, end: Nanos) {
        self.window.1 = self.window.1.min(end);
    }

    /// After a wake-up: records whether a user waits from `now` on.
    #[inline]
    pub(crate) fn observe(&mut self, now: Nanos, waiting: bool) {
        self.pass(now, now);
        if waiting {
            self.tally.waited |= PresenceTally::slot(self.start, now);
        }
        self.waiting = waiting;
    }

    /// Time passed until `until`, noticed at `now`.
    #[inline]
    fn pass(&mut self, until: Nanos, now: Nanos) {
        let since = self.observed_at.min(until);
        if self.waiting {
            self.tally.waited |= PresenceTally::slots(self.start, since, until);
        }
        if now.saturating_sub(self.observed_at) > NOT_RUNNING {
            self.tally.unseen |= PresenceTally::slots(self.start, since, until);
        }
        if std::mem::take(&mut self.served) {
            self.tally.served |= PresenceTally::slot(self.start, until);
        }
        self.observed_at = self.observed_at.max(until);
    }

    /// A response came at `now` that had been awaited for [`LONG_WAIT`] or longer.
    pub(crate) fn waited_long(&mut self, now: Nanos) {
        self.tally.waited_long(self.start, now);
    }

    /// An attempt failed at `now`, without a response or with a server error.
    pub(crate) fn failed(&mut self, now: Nanos) {
        self.tally.failed |= PresenceTally::slot(self.start, now);
    }

    /// A user received a response that failed, between these instants.
    pub(crate) fn failing(&mut self, from: Nanos, to: Nanos) {
        if self.users > 0 {
            self.tally.failing_ns = self.tally.failing_ns.saturating_add(self.inside(from, to));
        }
    }

    /// A user's attempt that began at `began` failed without a response. The user is down from then on.
    pub(crate) fn mark_down(&mut self, down: &mut Down, began: Nanos, cut: bool) {
        if self.users > 0 {
            if !down.is() {
                down.since = began;
                self.downs += 1;
            }
            down.cut = cut;
        }
    }

    /// A user is no longer down from `at` on.
    pub(crate) fn mark_up(&mut self, down: &mut Down, at: Nanos) {
        self.count(down, at);
        self.downs = self.downs.saturating_sub(1);
        *down = Down::NOT;
    }

    /// Counts the time that a user was down up to `until`, and restarts the count there.
    pub(crate) fn count(&mut self, down: &mut Down, until: Nanos) {
        let time = self.inside(down.since, until);
        self.tally.down_ns = self.tally.down_ns.saturating_add(time);
        if down.cut {
            self.tally.cut_ns = self.tally.cut_ns.saturating_add(time);
        }
        down.since = down.since.max(until);
    }

    /// Whether any user is down.
    pub(crate) const fn any_down(&self) -> bool {
        self.downs > 0
    }

    /// The part of a span of time that lies inside the window.
    fn inside(&self, from: Nanos, to: Nanos) -> Nanos {
        let (start, end) = self.window;
        to.min(end).saturating_sub(from.max(start))
    }

    /// Hands over the interval that ends at `end`, seen at `now`, and begins the next.
    pub(crate) fn take(&mut self, end: Nanos, now: Nanos) -> PresenceTally {
        let last = end.saturating_sub(1).max(self.start);
        self.pass(last, now.max(last));
        let (from, to) = (self.start.max(self.window.0), end.min(self.window.1));
        let mut tally = std::mem::take(&mut self.tally);
        tally.user_ns = self.present(to).saturating_sub(self.present(from.min(to)));
        self.start = end;
        tally
    }

    /// Time that users had from the run's start to `at`.
    fn present(&self, at: Nanos) -> Nanos {
        if let Some((stages, share)) = &self.stages {
            return (stages.integral(at) * share * SECOND as f64) as Nanos;
        }
        let (at, ramp) = (u128::from(at), u128::from(self.ramp));
        let each = if at < ramp { at * at / (2 * ramp) } else { at - ramp / 2 };
        Nanos::try_from(u128::from(self.users) * each).unwrap_or(Nanos::MAX)
    }
}

#[cfg(test)]
mod tests {
    use model::workload::{Rate, Stage, Time};

    use super::*;

    fn watch() -> Watch {
        let mut watch = Watch::of_window(SECOND, 3 * SECOND);
        watch.of_users(10, 0);
        watch
    }

    #[test]
    fn time_down_is_that_inside_the_window() {
        let (mut watch, mut down) = (watch(), Down::NOT);
        watch.mark_down(&mut down, SECOND / 2, true);
        watch.mark_down(&mut down, SECOND, true);
        assert!(watch.any_down());
        watch.count(&mut down, 2 * SECOND);
        let tally = watch.take(2 * SECOND, 2 * SECOND);
        // One of the two seconds so far lies in the window.
        assert_eq!((tally.user_ns, tally.down_ns, tally.cut_ns), (10 * SECOND, SECOND, SECOND));
        watch.mark_up(&mut down, 5 * SECOND);
        let tally = watch.take(3 * SECOND, 5 * SECOND);
        assert_eq!((tally.user_ns, tally.down_ns), (10 * SECOND, SECOND));
        assert!(!watch.any_down() && !down.is());
    }

    #[test]
    fn users_that_are_not_there_yet_have_no_time() {
        let mut watch = Watch::of_window(0, 4 * SECOND);
        watch.of_users(10, 2 * SECOND);
        assert_eq!(watch.take(SECOND, SECOND).user_ns, 10 * SECOND / 4);
        assert_eq!(watch.take(2 * SECOND, 2 * SECOND).user_ns, 30 * SECOND / 4);
        assert_eq!(watch.take(4 * SECOND, 4 * SECOND).user_ns, 20 * SECOND);
    }

    #[test]
    fn users_of_stages_have_the_time_that_the_stages_give_them() {
        let hold = |at, s| Stage::Hold { at: Rate(at), r#for: Time(s * SECOND) };
        let mut watch = Watch::of_window(0, 3 * SECOND);
        watch.of_users(5, 0);
        watch.of_stages(Stages::new(&[hold(2.0, 2), hold(10.0, 1)]).unwrap(), 0.5);
        assert_eq!(watch.take(2 * SECOND, 2 * SECOND).user_ns, 2 * SECOND);
        assert_eq!(watch.take(3 * SECOND, 3 * SECOND).user_ns, 5 * SECOND);
    }

    #[test]
    fn a_worker_that_did_not_run_is_no_sign_of_the_server() {
        let mut watch = watch();
        watch.observe(0, true);
        watch.observe(50 * MILLISECOND, true);
        watch.observe(400 * MILLISECOND, true);
        watch.observe(450 * MILLISECOND, true);
        let tally = watch.take(SECOND / 2, SECOND / 2);
        let blind = PresenceTally::slots(0, 50 * MILLISECOND, 400 * MILLISECOND);
        assert_eq!((tally.served, tally.unseen), (0, blind));
        assert_eq!(tally.waited, PresenceTally::slots(0, 0, SECOND / 2 - 1));
    }

    #[test]
    fn a_response_is_in_the_slot_of_its_wake_up() {
        let mut watch = watch();
        watch.observe(0, true);
        watch.served = true;
        watch.observe(40 * MILLISECOND, false);
        watch.observe(90 * MILLISECOND, false);
        let tally = watch.take(100 * MILLISECOND, 100 * MILLISECOND);
        assert_eq!(tally.served, PresenceTally::slot(0, 40 * MILLISECOND));
        assert_eq!(tally.waited, PresenceTally::slots(0, 0, 40 * MILLISECOND));
    }
}
