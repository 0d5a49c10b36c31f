//! Which attempts are overdue. All have the same time-out, so nothing is kept per request: the next
//! scan is made no earlier than the oldest attempt that the last scan saw can expire.

use model::Nanos;
use model::units::MILLISECOND;

/// The instant of the next scan.
#[derive(Debug)]
pub(crate) struct Timeouts {
    timeout: Nanos,
    next_scan: Nanos,
}

impl Timeouts {
    /// Starts with no attempt from before `now`.
    pub(crate) fn new(timeout: Nanos, now: Nanos) -> Self {
        Self { timeout, next_scan: now.saturating_add(timeout) }
    }

    /// When to scan next.
    pub(crate) fn next(&self) -> Nanos {
        self.next_scan
    }

    /// Whether an attempt begun at `since` has had its time.
    pub(crate) fn expired(&self, since: Nanos, now: Nanos) -> bool {
        since.saturating_add(self.timeout) <= now
    }

    /// Whether a response that comes now to an attempt begun at `since` is too late.
    pub(crate) fn overdue(&self, since: Nanos, now: Nanos) -> bool {
        since.saturating_add(self.timeout) < now
    }

    /// After a scan: `oldest` is when the oldest attempt still open was begun. Scans are at least a
    /// millisecond apart, which bounds their cost when everything hangs.
    pub(crate) fn scanned(&mut self, oldest: Option<Nanos>, now: Nanos) {
        let begun = oldest.unwrap_or(now);
        self.next_scan = begun.saturating_add(self.timeout).max(now + MILLISECOND);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_scan_follows_the_oldest_attempt() {
        let mut timeouts = Timeouts::new(100 * MILLISECOND, 0);
        assert_eq!(timeouts.next(), 100 * MILLISECOND);
        assert!(!timeouts.expired(1, 100 * MILLISECOND));
        assert!(timeouts.expired(0, 100 * MILLISECOND));
        assert!(!timeouts.overdue(0, 100 * MILLISECOND), "what comes at the instant is in time");
        assert!(timeouts.overdue(0, 100 * MILLISECOND + 1));
        timeouts.scanned(Some(30 * MILLISECOND), 100 * MILLISECOND);
        assert_eq!(timeouts.next(), 130 * MILLISECOND);
        timeouts.scanned(Some(5), 100 * MILLISECOND);
        assert_eq!(timeouts.next(), 101 * MILLISECOND);
        timeouts.scanned(None, 100 * MILLISECOND);
        assert_eq!(timeouts.next(), 200 * MILLISECOND);
    }
}
