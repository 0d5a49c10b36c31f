//! Fair shares of the ceiling: what each key may have while all together ask for more than the API carries.
//!
//! Without them, who asks for most gets most. Shares are max-min fair (D. Bertsekas, R. Gallager, Data Networks, 2nd
//! edition, section 6.5.2): a key that asks for no more than its share has all of it, and what it leaves is shared by
//! the others. Keys of more important tiers are served first. Pure: what was asked for is handed in.

use std::collections::HashMap;

/// How long what a key asked for is remembered.
const MEMORY_S: f64 = 0.5;
/// A key that asked for so many mean requests in a look at once is taken at its word; one that asked for fewer may not do
/// so again.
const TELLING_MILLI: u64 = 10_000;
/// Keys that asked for less are forgotten.
const FORGOTTEN_PER_S: f64 = 0.1;
/// Shares are given from this part of the ceiling on.
const PRESSURE: f64 = 0.95;
/// Of the ceiling, what is shared: the rest lets requests through that come in clusters.
const SHARED: f64 = 0.97;
/// The least share, so that a key of a tier that is crowded out is still seen to ask.
const LEAST_PER_S: f64 = 1.0;

/// What one key asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Asked {
    /// Of its tier.
    pub priority: i32,
    /// Mean requests per second, refused ones included.
    pub per_s: f64,
}

/// What keys have asked for lately: means in which older requests count less and less. A key that begins to ask for much
/// is seen at once, and one that stops for a moment is not forgotten.
#[derive(Debug, Default)]
pub struct Asking(HashMap<u32, f64>);

impl Asking {
    /// Notes what the slots of keys asked for in the last `seconds`, in thousandths of a mean request.
    pub fn note(&mut self, asked_milli: impl Iterator<Item = (u32, u64)>, seconds: f64) {
        let newer = 1.0 - (-seconds / MEMORY_S).exp();
        self.0.values_mut().for_each(|per_s| *per_s *= 1.0 - newer);
        for (slot, milli) in asked_milli {
            let per_s = milli as f64 / 1000.0 / seconds.max(1e-3);
            match self.0.get_mut(&slot) {
                Some(known) => *known += newer * per_s,
                None if milli >= TELLING_MILLI => drop(self.0.insert(slot, per_s)),
                None => drop(self.0.insert(slot, newer * per_s)),
            }
        }
        self.0.retain(|_, per_s| *per_s >= FORGOTTEN_PER_S);
    }

    /// Mean requests per second of each slot, refused ones included.
    pub fn per_s(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.0.iter().map(|(slot, per_s)| (*slot, *per_s))
    }
}

/// The share of each key of a priority, in mean requests per second; for those of `priorities` that are to be held to
/// one.
pub fn shares(asked: &mut [Asked], ceiling_per_s: f64, priorities: &[i32]) -> Vec<(i32, f64)> {
    let in_all: f64 = asked.iter().map(|key| key.per_s).sum();
    if in_all <= ceiling_per_s * PRESSURE {
        return Vec::new();
    }
    asked.sort_by(|a, b| b.priority.cmp(&a.priority).then(a.per_s.total_cmp(&b.per_s)));
    let mut left = ceiling_per_s * SHARED;
    let mut found: Vec<(i32, f64)> = Vec::new();
    for keys in asked.chunk_by(|a, b| a.priority == b.priority) {
        for (served, key) in keys.iter().enumerate() {
            let share = (left / (keys.len() - served) as f64).max(LEAST_PER_S);
            if key.per_s > share {
                found.push((key.priority, share));
                left = 0.0;
                break;
            }
            left -= key.per_s;
        }
        left = left.max(0.0);
    }
    // Keys that have not asked yet, of tiers below one that leaves nothing.
    let lowest = found.first().map_or(i32::MIN, |(priority, _)| *priority);
    let unseen = priorities.iter().filter(|priority| **priority < lowest);
    let unseen: Vec<_> = unseen.filter(|p| found.iter().all(|(known, _)| known != *p)).collect();
    found.extend(unseen.into_iter().map(|priority| (*priority, LEAST_PER_S)));
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(asked: &[(i32, f64)]) -> Vec<(i32, f64)> {
        let mut asked: Vec<_> =
            asked.iter().map(|&(priority, per_s)| Asked { priority, per_s }).collect();
        shares(&mut asked, 1000.0, &[0, 1])
    }

    #[test]
    fn who_asks_for_little_has_all_of_it() {
        // Ceiling 1000, of which 970 are shared.
        type Rates = [(i32, f64)];
        let cases: [(&Rates, &Rates); 6] = [
            (&[(0, 400.0), (0, 500.0)], &[]),
            (&[(0, 5000.0)], &[(0, 970.0)]),
            (&[(0, 100.0), (0, 5000.0), (0, 170.0)], &[(0, 700.0)]),
            (&[(0, 5000.0), (0, 600.0)], &[(0, 485.0)]),
            (&[(1, 700.0), (0, 1300.0)], &[(0, 270.0)]),
            (&[(1, 2000.0), (0, 100.0)], &[(1, 970.0), (0, 1.0)]),
        ];
        for (asked, expected) in cases {
            assert_eq!(of(asked), expected, "{asked:?}");
        }
    }

    #[test]
    fn who_begins_is_seen_at_once_and_who_pauses_is_not_forgotten() {
        let mut asking = Asking::default();
        let per_s = |asking: &Asking| asking.per_s().map(|(_, per_s)| per_s).sum::<f64>();
        asking.note([(7, 1000)].into_iter(), 0.1);
        assert!(per_s(&asking) < 2.0, "one request is no 10 a second: {asking:?}");
        asking.note([(8, 500_000)].into_iter(), 0.1);
        assert!(per_s(&asking) >= 5000.0, "{asking:?}");
        let mut asking = Asking::default();
        for _ in 0..50 {
            asking.note([(7, 500_000)].into_iter(), 0.1);
        }
        assert!((per_s(&asking) - 5000.0).abs() < 1.0, "{asking:?}");
        asking.note([].into_iter(), 0.5);
        assert!((1500.0..2500.0).contains(&per_s(&asking)), "{asking:?}");
        for _ in 0..100 {
            asking.note([].into_iter(), 0.1);
        }
        assert_eq!(asking.0.len(), 0);
    }

    #[test]
    fn tiers_below_one_that_takes_all_are_held_back_before_they_ask() {
        assert_eq!(of(&[(1, 3000.0)]), [(1, 970.0), (0, 1.0)]);
    }

    proptest! {
        /// Nobody has less than an even part unless it asked for less, and all together have what there is.
        #[test]
        fn shares_are_max_min_fair(rates in prop::collection::vec(1.0f64..3000.0, 1..40)) {
            let mut asked: Vec<_> =
                rates.iter().map(|&per_s| Asked { priority: 0, per_s }).collect();
            let held = shares(&mut asked, 1000.0, &[0]);
            let in_all: f64 = rates.iter().sum();
            prop_assert_eq!(held.is_empty(), in_all <= 970.0);
            if let [(_, share)] = held[..] {
                let had: f64 = rates.iter().map(|rate| rate.min(share)).sum();
                prop_assert!((had - 970.0).abs() < 1e-6, "{} {}", had, share);
                prop_assert!(share >= 970.0 / rates.len() as f64 - 1e-6);
            }
        }
    }
}
