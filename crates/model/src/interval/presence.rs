//! Whether the server was there in an interval: the time that users of a closed loop were without it, and
//! when somebody was served, waited or failed.
//!
//! A worker fills a [`PresenceTally`]; [`crate::presence`] makes the run's of them.

use serde::{Deserialize, Serialize};

use crate::units::Nanos;

/// The logarithm of a slot's length: 2^24 ns, 16.8 ms. An interval of a second has 60.
pub(crate) const SLOT_BITS: u32 = 24;
/// Slots kept of an interval; what comes later counts as the last.
pub(crate) const SLOTS: u32 = 64;

/// One interval of it. Times are summed over users and lie inside the window; the sets have a bit
/// for each slot of 16.8 ms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PresenceTally {
    /// Time that the users of a closed loop had in the window.
    pub user_ns: Nanos,
    /// Of it, the time that users were down: from the beginning of an attempt that failed without a
    /// response to the beginning of the next that got one.
    pub down_ns: Nanos,
    /// Of that, what was ended by the server and not by a time-out: refused, reset, cut off.
    pub cut_ns: Nanos,
    /// Time that users spent on responses that failed.
    pub failing_ns: Nanos,
    /// Slots in which a user was served: a part of a response came that is not a server error.
    #[serde(rename = "served_set")]
    pub served: u64,
    /// Slots in which the generator itself did not run: nothing is known of them.
    #[serde(rename = "unseen_set")]
    pub unseen: u64,
    /// Slots in which a user waited.
    #[serde(rename = "waited_set")]
    pub waited: u64,
    /// Slots in which an attempt failed without a response, or with a server error.
    #[serde(rename = "failed_set")]
    pub failed: u64,
    /// How many responses that had been awaited for long came in each slot, three at most: the low and the high bits of these
    /// numbers.
    #[serde(rename = "long_waits_sets")]
    pub long_waits: [u64; 2],
}

impl PresenceTally {
    /// The slot that an instant of an interval begun at `start_ns` falls into, as a set of one.
    pub fn slot(start_ns: Nanos, at_ns: Nanos) -> u64 {
        1 << (at_ns.saturating_sub(start_ns) >> SLOT_BITS).min(u64::from(SLOTS) - 1)
    }

    /// The slots from one instant to another, both included.
    pub fn slots(start_ns: Nanos, from_ns: Nanos, to_ns: Nanos) -> u64 {
        let (first, last) = (Self::slot(start_ns, from_ns), Self::slot(start_ns, to_ns));
        // All bits from the first to the last.
        if last < first { 0 } else { last | (last - first) }
    }

    /// Counts a response that came at an instant and had been awaited for long.
    pub fn waited_long(&mut self, start_ns: Nanos, at_ns: Nanos) {
        self.long_waits = add_to_three(self.long_waits, [Self::slot(start_ns, at_ns), 0]);
    }

    /// How many responses that had been awaited for long came in one of these slots, three of each at most.
    pub(crate) fn long_waits_in(&self, slots: u64) -> u32 {
        let [low, high] = self.long_waits.map(|bits| (bits & slots).count_ones());
        low + 2 * high
    }

    /// Adds another worker's.
    pub fn merge(&mut self, other: &Self) {
        self.user_ns = self.user_ns.saturating_add(other.user_ns);
        self.down_ns = self.down_ns.saturating_add(other.down_ns);
        self.cut_ns = self.cut_ns.saturating_add(other.cut_ns);
        self.failing_ns = self.failing_ns.saturating_add(other.failing_ns);
        self.served |= other.served;
        self.unseen |= other.unseen;
        self.waited |= other.waited;
        self.failed |= other.failed;
        self.long_waits = add_to_three(self.long_waits, other.long_waits);
    }

    /// The share of the users' time in which the server was there for them; none in an open loop.
    pub fn available(&self) -> Option<f64> {
        self.left_by(self.down_ns)
    }

    /// The share of the users' time that was spent neither down nor on responses that failed.
    pub fn succeeding(&self) -> Option<f64> {
        self.left_by(self.down_ns.saturating_add(self.failing_ns))
    }

    fn left_by(&self, lost_ns: Nanos) -> Option<f64> {
        let lost = lost_ns as f64 / self.user_ns.max(1) as f64;
        (self.user_ns > 0).then(|| (1.0 - lost).max(0.0))
    }
}

/// Adds the numbers of each slot, given by their low and high bits, to three at most.
const fn add_to_three(one: [u64; 2], other: [u64; 2]) -> [u64; 2] {
    let carry = one[0] & other[0];
    let more = (one[1] & other[1]) | (carry & (one[1] | other[1]));
    [(one[0] ^ other[0]) | more, (one[1] ^ other[1] ^ carry) | more]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::SECOND;

    const SLOT: Nanos = 1 << SLOT_BITS;

    #[test]
    fn slots_of_a_period() {
        for (from, to, slots) in [
            (0, 0, 0b1),
            (0, SLOT, 0b11),
            (SLOT, 3 * SLOT, 0b1110),
            (SLOT, 0, 0),
            (0, Nanos::MAX, u64::MAX),
            (63 * SLOT, 99 * SLOT, 1 << 63),
        ] {
            assert_eq!(
                PresenceTally::slots(SECOND, SECOND + from, (SECOND).saturating_add(to)),
                slots
            );
        }
        assert_eq!(PresenceTally::slot(SECOND, 0), 1, "what came before counts as the first");
    }

    #[test]
    fn long_waits_of_a_slot_are_counted_to_three() {
        let of = |times: u32| {
            let mut tally = PresenceTally::default();
            (0..times).for_each(|_| tally.waited_long(SECOND, SECOND + 2 * SLOT));
            tally
        };
        for (one, other) in (0..=4_u32).flat_map(|one| (0..=4).map(move |other| (one, other))) {
            let mut both = of(one);
            both.merge(&of(other));
            assert_eq!(both.long_waits_in(0b100), (one + other).min(3), "{one} and {other}");
            assert_eq!(both.long_waits_in(!0b100), 0);
        }
    }

    #[test]
    fn time_that_is_lost() {
        let tally =
            PresenceTally { user_ns: 100, down_ns: 10, failing_ns: 20, ..Default::default() };
        assert_eq!((tally.available(), tally.succeeding()), (Some(0.9), Some(0.7)));
        let claimed = PresenceTally { down_ns: Nanos::MAX, ..tally };
        assert_eq!(claimed.succeeding(), Some(0.0));
        assert_eq!(PresenceTally::default().available(), None);
    }
}
