//! Detects when a worker was not running: it was stopped, its machine was paused, or its memory was
//! read back from a disk.
//!
//! Knows until when a worker was expected to be idle (it waits in the kernel, or has nothing to do) and
//! the processor time of its thread. Time beyond that in which the thread neither ran nor waited for a
//! processor is a gap. Gaps go into the recorder. A gap that ends before an expected wait does cannot
//! be distinguished from waiting.
//!
//! Reading a page back from a fast disk takes less than the shortest gap, so a worker that does it all
//! the time would have none. Where the thread had to wait for pages, its short absences are added up.

use model::Nanos;
use model::units::MILLISECOND;

use crate::spent::Spent;

/// The shortest time that counts as a gap. Reading a thread's processor time takes microseconds, so it
/// is read only after this much time has passed.
const LEAST: Nanos = 5 * MILLISECOND;
/// How old the last reading of what the thread has spent may be. What it ran since then is taken off
/// a gap, because how much of it came before the gap is not known.
const READ_EVERY: Nanos = 20 * MILLISECOND;

/// When the worker may be idle. Instants are nanoseconds since the run's start.
#[derive(Debug, Default)]
pub(crate) struct Gaps {
    /// Until when the worker may be idle.
    free_until: Nanos,
    /// How long it was away, in all, since `read_at`.
    away: Nanos,
    read_at: Nanos,
    spent: Spent,
}

impl Gaps {
    /// Time before `now` does not count. `spent` is read at `now` or shortly before it, so that what the thread waits for a
    /// processor until the first check is known.
    pub(crate) fn start(&mut self, now: Nanos, spent: Spent) {
        *self = Self { free_until: now, away: 0, read_at: now, spent };
    }

    /// The worker is going to wait for events, until `until` at the latest.
    #[inline]
    pub(crate) fn wait(&mut self, until: Nanos) {
        self.free_until = until;
    }

    /// The worker runs: an event came.
    #[inline]
    pub(crate) fn awake(&mut self, now: Nanos) {
        self.free_until = self.free_until.min(now);
    }

    /// The gap, from and to, that ends at `now`. `spent` is called only where it may matter.
    pub(crate) fn check(
        &mut self,
        now: Nanos,
        spent: impl FnOnce() -> Spent,
    ) -> Option<(Nanos, Nanos)> {
        let away = now.saturating_sub(self.free_until);
        self.free_until = self.free_until.max(now);
        self.away += away;
        if away < LEAST && now < self.read_at.saturating_add(READ_EVERY) {
            return None;
        }
        let before = std::mem::replace(&mut self.spent, spent());
        let away_in_all = std::mem::take(&mut self.away);
        self.read_at = now;
        let paged = self.spent.page_ins > before.page_ins;
        let ran = self.spent.cpu_ns.saturating_sub(before.cpu_ns);
        let queued = self.spent.queued_ns.saturating_sub(before.queued_ns);
        let (away, least) = if paged { (away_in_all, 1) } else { (away, LEAST) };
        let gap = away.saturating_sub(ran).saturating_sub(queued);
        // A simulated thread has no processor time: nothing is known of it.
        let known = self.spent.wall_ns > before.wall_ns;
        (known && gap >= least).then(|| (now - gap, now))
    }
}

/// The gaps of an interval. The last may go on into the next ones, each of which takes its part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Pauses {
    pub(crate) sum_ns: Nanos,
    /// The longest, in full.
    pub(crate) max_ns: Nanos,
    pub(crate) count: u32,
    /// The rest of the last one, and its length.
    last: Option<(Nanos, Nanos)>,
    last_ns: Nanos,
}

impl Pauses {
    /// Adds a gap, later than those before.
    pub(crate) fn add(&mut self, from: Nanos, to: Nanos) {
        self.settle(Nanos::MAX);
        (self.last, self.last_ns) = (Some((from, to)), to.saturating_sub(from));
    }

    /// Removes and returns the gaps before `end`.
    pub(crate) fn take(&mut self, end: Nanos) -> Self {
        self.settle(end);
        std::mem::replace(self, Self { last: self.last, last_ns: self.last_ns, ..Self::default() })
    }

    /// Counts the last one's part before `end`.
    fn settle(&mut self, end: Nanos) {
        let Some((from, to)) = self.last.take_if(|(from, _)| *from < end) else { return };
        let part_to = to.min(end);
        self.sum_ns += part_to.saturating_sub(from);
        self.max_ns = self.max_ns.max(self.last_ns);
        self.count += 1;
        self.last = (part_to < to).then_some((part_to, to));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = MILLISECOND;

    /// Thread time read at `now`, in milliseconds.
    fn spent(now: Nanos, ran: Nanos, queued: Nanos) -> Spent {
        Spent { wall_ns: now * MS, cpu_ns: ran * MS, queued_ns: queued * MS, page_ins: 0 }
    }

    /// A worker that started at 1 s, waits from then on until 1.05 s, and is seen again at `now`.
    fn seen(event: Option<Nanos>, now: Nanos, ran: Nanos, queued: Nanos) -> Option<Nanos> {
        let mut gaps = Gaps::default();
        gaps.start(1000 * MS, spent(1000, 0, 0));
        gaps.wait(1050 * MS);
        event.into_iter().for_each(|at| gaps.awake(at * MS));
        let gap = gaps.check(now * MS, || spent(now, ran, queued));
        gap.map(|(from, to)| {
            assert_eq!(to, now * MS);
            (to - from) / MS
        })
    }

    #[test]
    fn what_is_gone_and_neither_ran_nor_queued_is_a_gap() {
        for (name, event, now, ran, queued, gap) in [
            ("woke for an event", None, 1040, 0, 0, None),
            ("woke on time", None, 1050, 0, 0, None),
            ("woke a little late", None, 1054, 0, 0, None),
            ("stopped while waiting", None, 2550, 0, 0, Some(1500)),
            ("stopped, then much to do", None, 2550, 20, 0, Some(1480)),
            ("waited for a processor", None, 2550, 3, 1497, None),
            ("busy for long", Some(1001), 1301, 299, 0, None),
            ("busy, held up by neighbours", Some(1001), 1301, 100, 198, None),
            ("stopped while busy", Some(1001), 1301, 100, 0, Some(200)),
            ("stopped as it handled events", Some(1010), 1045, 1, 0, Some(34)),
        ] {
            assert_eq!(seen(event, now, ran, queued), gap, "{name}");
        }
    }

    #[test]
    fn a_gap_is_reported_once() {
        let mut gaps = Gaps::default();
        gaps.start(0, spent(0, 0, 0));
        gaps.wait(50 * MS);
        assert_eq!(gaps.check(500 * MS, || spent(500, 0, 0)), Some((50 * MS, 500 * MS)));
        assert_eq!(gaps.check(501 * MS, || spent(501, 0, 0)), None);
        assert_eq!(gaps.check(520 * MS, || spent(520, 19, 0)), None);
    }

    /// A worker that runs for 0.6 ms of each millisecond, and for the rest waits for a page or for nothing known.
    #[test]
    fn short_absences_add_up_where_pages_were_read_back() {
        for (page_ins, lost) in [(1, 8), (0, 0)] {
            let mut gaps = Gaps::default();
            gaps.start(0, spent(1, 0, 0));
            let found = (1..=20).filter_map(|at| {
                gaps.wait((at - 1) * MS);
                let read = || Spent { page_ins: at * page_ins, ..spent(1 + at, 0, 0) };
                gaps.check(at * MS, || Spent { cpu_ns: at * 600_000, ..read() })
            });
            assert_eq!(found.map(|(from, to)| (to - from) / MS).sum::<Nanos>(), lost);
        }
    }

    #[test]
    fn what_is_not_read_is_not_judged() {
        let mut gaps = Gaps::default();
        gaps.start(0, Spent::default());
        gaps.wait(50 * MS);
        assert_eq!(gaps.check(9000 * MS, Spent::default), None);
    }

    #[test]
    fn a_gap_is_shared_by_the_intervals_it_lies_in() {
        let mut pauses = Pauses::default();
        pauses.add(100, 120);
        pauses.add(700, 2300);
        let taken = |pauses: &mut Pauses, end| {
            let Pauses { sum_ns, max_ns, count, .. } = pauses.take(end);
            (sum_ns, max_ns, count)
        };
        assert_eq!(taken(&mut pauses, 1000), (320, 1600, 2));
        assert_eq!(taken(&mut pauses, 2000), (1000, 1600, 1));
        assert_eq!(taken(&mut pauses, 3000), (300, 1600, 1));
        assert_eq!(taken(&mut pauses, 4000), (0, 0, 0));
    }

    /// Threads that compete for processors, sleep, and work in turn, and are never stopped.
    #[test]
    fn no_thread_that_runs_when_it_may_is_called_paused() {
        for seed in 0..1000_u64 {
            let mut draw = seed;
            let mut below = |most: Nanos| {
                draw = draw
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (draw >> 33) % most
            };
            let (mut now, mut ran, mut queued) = (0, 0, 0);
            let mut gaps = Gaps::default();
            gaps.start(0, Spent { wall_ns: 1, ..Spent::default() });
            for _ in 0..300 {
                let until = now + below(50 * MS);
                gaps.wait(until);
                // An event may come before; a processor, long after either.
                now = if below(2) == 0 { until } else { now + below(until - now + 1) };
                let (waited, overslept) = (below(30 * MS), below(MS));
                (now, queued) = (now + waited + overslept, queued + waited);
                gaps.awake(now);
                let (worked, preempted) = (below(20 * MS), below(20 * MS));
                (now, ran, queued) = (now + worked + preempted, ran + worked, queued + preempted);
                let page_ins = 0;
                let read = || Spent { wall_ns: 1 + now, cpu_ns: ran, queued_ns: queued, page_ins };
                assert_eq!(gaps.check(now, read), None, "seed {seed} at {now}");
            }
        }
    }
}
