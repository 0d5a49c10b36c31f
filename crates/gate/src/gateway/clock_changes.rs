//! Finds jumps of the machine's clock, to be said: keys expire and quotas are counted by it. It jumps where it is set, and where
//! the machine slept, which is no part of the time that the gateway ran.
//!
//! Pure: the caller reads the clocks.

use super::notes::time;

/// A change by less than this, as of NTP or a leap second, needs no word.
const LEAST_S: i64 = 60;

/// The clock at the last look.
#[derive(Debug, Default)]
pub(super) struct ClockChanges {
    /// What it said, and how long the gateway ran then, in seconds.
    last_s: Option<(i64, i64)>,
}

impl ClockChanges {
    /// Looks at the clock, in seconds since the epoch, so many seconds after the start; what to say where it has jumped since
    /// the last look.
    pub(super) fn look(&mut self, unix_s: i64, since_start_s: u64) -> Option<String> {
        let since_start_s = since_start_s as i64;
        let (before_s, then_s) = self.last_s.replace((unix_s, since_start_s))?;
        let due_s = before_s.saturating_add(since_start_s - then_s);
        (unix_s.saturating_sub(due_s).abs() >= LEAST_S).then(|| {
            format!(
                "the machine's clock jumped from {} to {}: keys expire, and days and months of quotas begin, by it",
                time(due_s),
                time(unix_s)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_changed_is_reported_once() {
        let mut changes = ClockChanges::default();
        // 2026-11-23T12:00:00Z.
        let now_s = 1_795_435_200;
        for (unix_s, since_start_s) in
            [(now_s, 7), (now_s + 1, 8), (now_s + 60, 8), (now_s + 91, 98), (now_s + 5000, 5008)]
        {
            assert_eq!(changes.look(unix_s, since_start_s), None, "{unix_s}");
        }
        let said = changes.look(now_s + 5001 + 86_400, 5009).unwrap();
        assert!(said.contains("from 2026-11-23T13:23:21Z to 2026-11-24T13:23:21Z: keys"), "{said}");
        assert_eq!(changes.look(now_s + 5002 + 86_400, 5010), None);
        let said = changes.look(3, 5011).unwrap();
        assert!(said.contains("to 1970-01-01T00:00:03Z"), "{said}");
    }
}
