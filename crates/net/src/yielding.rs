//! Yielding the core before a sleep that would be short.
//!
//! A thread whose last batch had many events has many connections in use, so the next event will come soon.
//! Where the peer runs on another core, that event is there before the sleep has begun. Where the two share a
//! core, sleeping costs both of them: the peer's first response wakes the sleeper, which takes the core, handles
//! that one response and sleeps again. Yielding once instead lets the peer respond to all requests first. A thread
//! with a core to itself pays two short system calls for many events.
//!
//! Where the core is shared with a program that always has work, a yield gives it a whole turn, and the scheduler
//! charges the thread for the rest of its own: beside one such program, it would get a fifth of the core instead of
//! half. A yield that lasts longer than a peer needs for its responses is therefore not repeated for a while.

/// So many events in a batch are followed by more soon.
const MANY_EVENTS: usize = 8;
/// Another thread may keep the core for as long as the scheduler lets it, some milliseconds: a thread that has
/// something to do before that must not yield.
const LET_RUN_NS: u64 = 5_000_000;
/// A yield that lasts longer than this for each event of the batch before has let somebody else run than a peer
/// on the same core, or one for which a sleep costs little in comparison.
const PER_EVENT_NS: u64 = 32_000;
/// How long there is no further yield after such a one, in times its length: then it costs one part in this many.
const PAUSE: u64 = 64;

/// Whether a thread yields before it sleeps.
#[derive(Debug, Default)]
pub(crate) struct Yielding {
    not_before: u64,
}

impl Yielding {
    /// Whether a thread that had `events` in its last batch and has nothing to do before the clock reads `until`
    /// should yield before it sleeps. The clock reads `now`.
    #[inline]
    pub(crate) fn should(&self, events: usize, until: u64, now: u64) -> bool {
        events >= MANY_EVENTS && until > now.saturating_add(LET_RUN_NS) && now >= self.not_before
    }

    /// The thread yielded from one reading of the clock to the other; its last batch had `events`.
    #[inline]
    pub(crate) fn yielded(&mut self, events: usize, from: u64, to: u64) {
        let lasted = to.saturating_sub(from);
        if lasted > PER_EVENT_NS.saturating_mul(events as u64) {
            self.not_before = to.saturating_add(lasted.saturating_mul(PAUSE));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_due_soon_or_with_few_events_does_not_yield() {
        let (yielding, now) = (Yielding::default(), 7_000_000);
        assert!(yielding.should(MANY_EVENTS, now + 1_000_000_000, now));
        assert!(yielding.should(MANY_EVENTS, u64::MAX, now));
        assert!(!yielding.should(MANY_EVENTS - 1, now + 1_000_000_000, now));
        assert!(!yielding.should(MANY_EVENTS, now + LET_RUN_NS / 2, now));
        assert!(!yielding.should(MANY_EVENTS, 0, now));
    }

    #[test]
    fn a_thread_whose_core_was_kept_by_others_does_not_yield_for_a_while() {
        let (mut yielding, now) = (Yielding::default(), 7_000_000);
        let responses = now + 50 * PER_EVENT_NS;
        yielding.yielded(50, now, responses);
        assert!(yielding.should(50, u64::MAX, responses), "a peer responded to all");
        let kept = 3_000_000;
        yielding.yielded(50, responses, responses + kept);
        let again = responses + kept + PAUSE * kept;
        assert!(!yielding.should(50, u64::MAX, again - 1));
        assert!(yielding.should(50, u64::MAX, again));
    }
}
