//! So many requests in a period of the calendar.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bits of the count; the rest is the period. 2^40 requests a day are 12 million a second.
const COUNT_BITS: u32 = 40;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;

/// Requests of one period: the count and the number of the period it is of, in one word, so that neither is ever
/// seen without the other.
#[derive(Debug, Default)]
pub struct Quota(AtomicU64);

impl Quota {
    /// Takes one request of the period's quota; what is left then, or `None` when it was used up before. A count of
    /// another period is forgotten.
    pub fn take(&self, quota: u64, period: u32) -> Option<u64> {
        let taken = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |word| {
            let used = used(word, period);
            (used < quota && used < COUNT_MASK).then(|| packed(period, used + 1))
        });
        taken.ok().map(|before| quota - used(before, period) - 1)
    }

    /// Gives back a request that another limit refused.
    pub fn give_back(&self, period: u32) {
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |word| {
            let used = used(word, period);
            (used > 0).then(|| packed(period, used - 1))
        });
    }

    /// Requests counted in the period.
    pub fn used(&self, period: u32) -> u64 {
        used(self.0.load(Ordering::Relaxed), period)
    }

    /// Counts what is known elsewhere: `used` in all, this count's own included.
    pub fn raise(&self, period: u32, used: u64) {
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |word| {
            let own = self::used(word, period);
            (used > own).then(|| packed(period, used.min(COUNT_MASK)))
        });
    }

    /// Forgets what is counted, whatever the period.
    pub fn forget(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Counts so many more, which another process let through.
    pub fn add(&self, period: u32, more: u64) {
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |word| {
            let used = used(word, period).saturating_add(more).min(COUNT_MASK);
            (more > 0).then(|| packed(period, used))
        });
    }
}

fn packed(period: u32, used: u64) -> u64 {
    u64::from(period) << COUNT_BITS | used
}

fn used(word: u64, period: u32) -> u64 {
    if word >> COUNT_BITS == u64::from(period) { word & COUNT_MASK } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_has_its_quota_and_no_more() {
        let quota = Quota::default();
        assert_eq!(quota.take(2, 20_000), Some(1));
        assert_eq!(quota.take(2, 20_000), Some(0));
        assert_eq!(quota.take(2, 20_000), None);
        assert_eq!(quota.used(20_000), 2);
        quota.give_back(20_000);
        assert_eq!(quota.take(2, 20_000), Some(0));
        assert_eq!(quota.take(2, 20_001), Some(1));
        assert_eq!((quota.used(20_000), quota.used(20_001)), (0, 1));
    }

    #[test]
    fn a_count_of_before_goes_on() {
        let quota = Quota::default();
        quota.raise(700, 8);
        quota.add(700, 1);
        quota.add(700, 0);
        assert_eq!(quota.take(10, 700), Some(0));
        assert_eq!(quota.take(10, 700), None);
        assert_eq!(quota.take(0, 701), None);
        quota.raise(702, 5);
        quota.raise(702, 3);
        assert_eq!((quota.used(702), quota.take(6, 702), quota.take(6, 702)), (5, Some(0), None));
    }
}
