//! Giving way before a sleep that would not last.
//!
//! A thread whose last look brought many events has many connections in use, and the next event is on its
//! way. Where the peer has a core of its own, that event is there before the sleep has begun. Where the two share
//! a core, sleeping is dear for both: the peer's first answer wakes the sleeper, which takes the core, handles that one
//! answer and sleeps again. Standing back once instead lets the peer answer everybody, and a thread with a core to itself
//! pays two short system calls for many events.

/// Events at one look that make a crowd.
const CROWD: usize = 8;
/// Another thread may keep the core for as long as the scheduler lets it, some milliseconds: who has something to
/// do before that must not stand back.
const LET_RUN_NS: u64 = 5_000_000;

/// Whether a thread that had `events` at its last look and has nothing to do before the clock reads `until` should
/// let others run before it sleeps. The clock reads `now`.
#[inline]
pub(crate) fn gives_way(events: usize, until: u64, now: u64) -> bool {
    events >= CROWD && until > now.saturating_add(LET_RUN_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_due_soon_or_has_few_events_does_not_stand_back() {
        let now = 7_000_000;
        assert!(gives_way(CROWD, now + 1_000_000_000, now));
        assert!(gives_way(CROWD, u64::MAX, now));
        assert!(!gives_way(CROWD - 1, now + 1_000_000_000, now));
        assert!(!gives_way(CROWD, now + LET_RUN_NS / 2, now));
        assert!(!gives_way(CROWD, 0, now));
    }
}
