//! Outcomes of shadow requests, over all workers.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The most pairs of statuses that are counted separately.
const PAIRS: usize = 32;

/// A route's shadow: another upstream that gets copies of some of its requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shadow {
    /// Index into [`super::Policy::upstreams`].
    pub upstream: u32,
    /// The share of the route's requests that are copied, in millionths.
    pub share_ppm: u32,
    /// Whether statuses are compared with those of the first upstream.
    pub compare: bool,
}

/// Counts of shadow requests.
#[derive(Debug, Default)]
pub struct Shadowed {
    sent: AtomicU64,
    dropped: AtomicU64,
    failed: AtomicU64,
    alike: AtomicU64,
    different: AtomicU64,
    /// The first upstream's status, the shadow's, and how often: 16, 16 and 32 bits; 0 for an empty place.
    pairs: [AtomicU64; PAIRS],
}

/// Counts of shadow requests so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShadowView {
    /// Requests sent to shadows.
    pub sent: u64,
    /// Requests left out: too many were in flight, or the body was too long.
    pub dropped: u64,
    /// Requests sent that got no response.
    pub failed: u64,
    /// Responses whose status was the same.
    pub alike: u64,
    /// Responses whose status was another.
    pub different: u64,
    /// Of the latter: the first upstream's status, the shadow's, and how often. Only the first 32 pairs.
    pub pairs: Vec<(u16, u16, u32)>,
}

impl Shadowed {
    pub(crate) fn sent(&self) {
        self.sent.fetch_add(1, Relaxed);
    }

    pub(crate) fn dropped(&self) {
        self.dropped.fetch_add(1, Relaxed);
    }

    pub(crate) fn failed(&self) {
        self.failed.fetch_add(1, Relaxed);
    }

    /// Both upstreams have answered.
    pub(crate) fn compared(&self, first: u16, second: u16) {
        if first == second {
            self.alike.fetch_add(1, Relaxed);
            return;
        }
        self.different.fetch_add(1, Relaxed);
        let pair = u64::from(first) << 48 | u64::from(second) << 32;
        for place in &self.pairs {
            let held = place.load(Relaxed);
            let own = held >> 32 == pair >> 32
                || (held == 0 && place.compare_exchange(0, pair, Relaxed, Relaxed).is_ok());
            if own {
                place.fetch_add(1, Relaxed);
                return;
            }
        }
    }

    /// What was counted so far.
    pub fn view(&self) -> ShadowView {
        let pair = |word: u64| ((word >> 48) as u16, (word >> 32) as u16, word as u32);
        let words = self.pairs.iter().map(|place| place.load(Relaxed));
        ShadowView {
            sent: self.sent.load(Relaxed),
            dropped: self.dropped.load(Relaxed),
            failed: self.failed.load(Relaxed),
            alike: self.alike.load(Relaxed),
            different: self.different.load(Relaxed),
            pairs: words.take_while(|word| *word != 0).map(pair).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_counted_and_bounded() {
        let shadowed = Shadowed::default();
        shadowed.compared(200, 200);
        for second in 0..100 {
            shadowed.compared(200, 400 + second);
            shadowed.compared(200, 400);
        }
        let view = shadowed.view();
        assert_eq!((view.alike, view.different, view.pairs.len()), (1, 200, PAIRS));
        assert_eq!(view.pairs[0], (200, 400, 101));
        assert_eq!(view.pairs[31], (200, 431, 1));
    }
}
