//! Yielding the core before a sleep that would be short.
//!
//! A thread whose last batch had many events has many connections in use, so the next event will come soon.
//! Where the peer runs on another core, that event is there before the sleep has begun. Where the two share a
//! core, sleeping costs both of them: the peer's first response wakes the sleeper, which takes the core, handles
//! that one response and sleeps again. Yielding once instead lets the peer respond to all requests first. A thread
//! with a core to itself pays two short system calls for many events.

/// So many events in a batch are followed by more soon.
const MANY_EVENTS: usize = 8;
/// Another thread may keep the core for as long as the scheduler lets it, some milliseconds: a thread that has
/// something to do before that must not yield.
const LET_RUN_NS: u64 = 5_000_000;

/// Whether a thread that had `events` in its last batch and has nothing to do before the clock reads `until`
/// should yield before it sleeps. The clock reads `now`.
#[inline]
pub(crate) fn should_yield(events: usize, until: u64, now: u64) -> bool {
    events >= MANY_EVENTS && until > now.saturating_add(LET_RUN_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_due_soon_or_with_few_events_does_not_yield() {
        let now = 7_000_000;
        assert!(should_yield(MANY_EVENTS, now + 1_000_000_000, now));
        assert!(should_yield(MANY_EVENTS, u64::MAX, now));
        assert!(!should_yield(MANY_EVENTS - 1, now + 1_000_000_000, now));
        assert!(!should_yield(MANY_EVENTS, now + LET_RUN_NS / 2, now));
        assert!(!should_yield(MANY_EVENTS, 0, now));
    }
}
