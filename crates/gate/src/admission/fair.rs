//! Fair shares of the ceiling: how much each key gets while all together ask for more than the API carries.
//!
//! Without shares, the key that asks for most gets most. Shares are max-min fair (D. Bertsekas, R. Gallager, Data Networks, 2nd
//! edition, section 6.5.2): a key that asks for less than its share gets all that it asks for, and the others divide the
//! rest. Keys of more important tiers are served first. Pure: the caller passes what keys asked for.

use std::collections::HashMap;

/// How long the demand of a key is remembered, and its highest demand: a key that comes in bursts gets a share again at its next
/// burst.
const MEMORY_S: f64 = 0.5;
const LATELY_S: f64 = 2.0;
/// The last looks may differ from the remembered demand by this many standard deviations and still be chance.
const BY_CHANCE: f64 = 2.0;
/// Keys that ask for less are dropped, unless they recently asked for more than the least share.
const FORGOTTEN_PER_S: f64 = 0.1;
/// Shares are in force when the demand exceeds this part of the ceiling.
const PRESSURE: f64 = 0.95;
/// The part of the ceiling that is divided; the rest is for requests that come in clusters.
const SHARED: f64 = 0.97;
/// With all other places taken, how often a request may find none of the places that are kept free for it.
const NO_PLACE: f64 = 0.02;
/// The least part of the number in flight that is kept free for others: for keys that did not ask before.
const FREE_LEAST: f64 = 0.04;
/// The least share, so that the demand of a key is still seen if its tier gets nothing else.
const LEAST_PER_S: f64 = 1.0;

/// The demand of one key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Asked {
    /// The priority of its tier.
    pub priority: i32,
    /// Mean requests per second, refused ones included.
    pub per_s: f64,
    /// The highest recent rate.
    pub lately_per_s: f64,
}

/// The recent demand of keys: means in which older requests count less and less, unless the last two looks differ from them by
/// more than chance. So a large change of a key's demand shows at once, and a burst is not taken for a rate.
#[derive(Debug, Default)]
pub struct Asking(HashMap<u32, Known>);

/// What is known of a key.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    per_s: f64,
    lately_per_s: f64,
    /// In the last look, in thousandths of a mean request.
    now_milli: u64,
    /// In the look before that, and its length in seconds: 0 for a new key. Workers may report their counts one look late.
    before_milli: u64,
    before_s: f64,
}

impl Known {
    /// Adds a look of this many seconds with weight `newer` to the mean. `kept` is the part of the highest rate that remains.
    fn learn(&mut self, seconds: f64, newer: f64, kept: f64) {
        let now_milli = std::mem::take(&mut self.now_milli);
        let now_per_s = now_milli as f64 / 1000.0 / seconds;
        let mean = self.per_s + newer * (now_per_s - self.per_s);
        let asked = (self.before_milli + now_milli) as f64 / 1000.0;
        let both_s = self.before_s + seconds;
        let least = (asked - BY_CHANCE * asked.sqrt()) / both_s;
        let most = (asked + 1.0 + BY_CHANCE * (asked + 1.0).sqrt()) / both_s;
        self.per_s = mean.clamp(least, most);
        self.lately_per_s = (self.lately_per_s * kept).max(self.per_s);
        (self.before_milli, self.before_s) = (now_milli, seconds);
    }
}

impl Asking {
    /// Adds the demand of keys, by slot, in the last `seconds`, in thousandths of a mean request. A slot may occur more than
    /// once.
    pub fn note(&mut self, asked_milli: impl Iterator<Item = (u32, u64)>, seconds: f64) {
        let seconds = seconds.max(1e-3);
        let (newer, kept) = (1.0 - (-seconds / MEMORY_S).exp(), (-seconds / LATELY_S).exp());
        for (slot, milli) in asked_milli {
            self.0.entry(slot).or_default().now_milli += milli;
        }
        self.0.values_mut().for_each(|known| known.learn(seconds, newer, kept));
        self.0
            .retain(|_, known| known.per_s >= FORGOTTEN_PER_S || known.lately_per_s > LEAST_PER_S);
    }

    /// The demand of each key; `priority` returns the priority of a slot's tier.
    pub fn asked(&self, priority: impl Fn(u32) -> i32) -> Vec<Asked> {
        let asked = |(slot, known): (&u32, &Known)| Asked {
            priority: priority(*slot),
            per_s: known.per_s,
            lately_per_s: known.lately_per_s,
        };
        self.0.iter().map(asked).collect()
    }
}

/// The share of each key of a priority.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeyShare {
    /// The priority.
    pub priority: i32,
    /// Its share, in mean requests per second.
    pub per_s: f64,
    /// The part of the divided rate that goes to keys of more important tiers, 0..=1.
    pub above: f64,
    /// That part, with what goes to keys of this priority that ask for less than their share.
    pub others: f64,
}

/// The part of the number in flight to keep free for requests that make up `theirs` of the rate carried, 0..=1.
///
/// Only these requests use the places kept free, so each further place is taken for `theirs` of the time in which the previous one
/// is (trunk reservation; F. P. Kelly, Loss networks, Annals of Applied Probability 1, 1991).
pub fn left_free(theirs: f64, at_once: f64) -> f64 {
    let places = 1.0 + NO_PLACE.ln() / theirs.clamp(0.0, 0.999).ln();
    (places / at_once.max(1.0)).clamp(FREE_LEAST, 1.0)
}

/// The shares of keys of each of `priorities`, as far as they need any.
pub fn shares(asked: &mut [Asked], ceiling_per_s: f64, priorities: &[i32]) -> Vec<KeyShare> {
    let in_all: f64 = asked.iter().map(|key| key.lately_per_s).sum();
    if in_all <= ceiling_per_s * PRESSURE {
        return Vec::new();
    }
    asked.sort_by(|a, b| {
        b.priority.cmp(&a.priority).then(a.lately_per_s.total_cmp(&b.lately_per_s))
    });
    let shared_out = ceiling_per_s * SHARED;
    let mut left = shared_out;
    let gone = |left: f64| (1.0 - left / shared_out).clamp(0.0, 1.0);
    let mut found: Vec<KeyShare> = Vec::new();
    // The priority of the tier that leaves nothing.
    let mut last = None;
    for keys in asked.chunk_by_mut(|a, b| a.priority == b.priority) {
        let (priority, above) = (keys[0].priority, gone(left));
        let mut modest = 0;
        while modest < keys.len() && keys[modest].lately_per_s <= even(left, keys.len() - modest) {
            left -= keys[modest].per_s;
            modest += 1;
        }
        let greedy = &mut keys[modest..];
        if !greedy.is_empty() {
            let (per_s, beside) = level(greedy, left);
            found.push(KeyShare { priority, per_s, above, others: gone(beside) });
            left -= greedy.iter().map(|key| key.per_s.min(per_s)).sum::<f64>();
        }
        left = left.max(0.0);
        if left < LEAST_PER_S {
            last.get_or_insert(priority);
        }
    }
    // Keys that have not asked yet, of tiers below one that leaves nothing.
    let unseen = priorities.iter().filter(|priority| last.is_some_and(|last| **priority < last));
    let is_new = |priority: &&i32| found.iter().all(|share| share.priority != **priority);
    let unseen: Vec<i32> = unseen.filter(is_new).copied().collect();
    let crowded_out = |priority| KeyShare { priority, per_s: LEAST_PER_S, above: 1.0, others: 1.0 };
    found.extend(unseen.into_iter().map(crowded_out));
    found
}

/// An even part of `left` for each of `keys`.
fn even(left: f64, keys: usize) -> f64 {
    (left / keys as f64).max(LEAST_PER_S)
}

/// The max-min fair share of keys, each of which may ask for more later; and the rate that is left for the keys that use up their
/// share, or for the key with the highest demand if none does.
fn level(keys: &mut [Asked], mut left: f64) -> (f64, f64) {
    keys.sort_by(|a, b| a.per_s.total_cmp(&b.per_s));
    let (mut per_s, mut beside) = (LEAST_PER_S, left);
    for (served, key) in keys.iter().enumerate() {
        (per_s, beside) = (even(left, keys.len() - served), left);
        if key.per_s > per_s {
            break;
        }
        left -= key.per_s;
    }
    (per_s, beside)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn steady(priority: i32, per_s: f64) -> Asked {
        Asked { priority, per_s, lately_per_s: per_s }
    }

    fn in_all(asking: &Asking) -> f64 {
        asking.asked(|_| 0).iter().map(|key| key.per_s).sum()
    }

    fn of(asked: &[(i32, f64)]) -> Vec<(i32, f64)> {
        let mut asked: Vec<_> =
            asked.iter().map(|&(priority, per_s)| steady(priority, per_s)).collect();
        let found = shares(&mut asked, 1000.0, &[0, 1]);
        found.iter().map(|share| (share.priority, share.per_s)).collect()
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
    fn who_begins_or_ends_is_seen_at_once() {
        let mut asking = Asking::default();
        asking.note([(7, 1000)].into_iter(), 0.1);
        assert!(in_all(&asking) < 2.0, "one request is no 10 a second: {asking:?}");
        asking.note([(8, 500_000)].into_iter(), 0.1);
        assert!((4500.0..5100.0).contains(&in_all(&asking)), "{asking:?}");
        let mut asking = Asking::default();
        for _ in 0..50 {
            asking.note([(7, 500_000)].into_iter(), 0.1);
        }
        assert!((in_all(&asking) - 5000.0).abs() < 1.0, "{asking:?}");
        // Counts that were handed over a look late are no pause.
        asking.note([].into_iter(), 0.1);
        assert!((2500.0..5000.0).contains(&in_all(&asking)), "{asking:?}");
        asking.note([].into_iter(), 0.1);
        assert!(in_all(&asking) < 20.0, "{asking:?}");
        for _ in 0..300 {
            asking.note([].into_iter(), 0.1);
        }
        assert_eq!(asking.0.len(), 0);
    }

    /// So many keys with one request each cost little.
    #[test]
    fn a_key_with_one_request_is_soon_forgotten() {
        let mut asking = Asking::default();
        asking.note((0..1000).map(|slot| (slot, 1000)), 0.1);
        assert_eq!(asking.0.len(), 1000);
        for _ in 0..20 {
            asking.note([].into_iter(), 0.1);
        }
        assert_eq!(asking.0.len(), 0);
    }

    #[test]
    fn the_more_others_ask_for_the_more_places_are_left_free() {
        for (theirs, at_once, free) in [
            (0.0, 4.0, 0.25),
            (0.0, 64.0, FREE_LEAST),
            (0.2, 64.0, 0.0536),
            (0.5, 64.0, 0.104),
            (1.0, 64.0, 1.0),
            (0.0, 0.0, 1.0),
        ] {
            assert!((left_free(theirs, at_once) - free).abs() < 1e-3, "{theirs} of {at_once}");
        }
        // Of 970, gold takes 485 and a key of silver 97.
        let rates = [(2, 485.0), (1, 97.0), (1, 5000.0), (0, 10.0)];
        let mut asked = rates.map(|(priority, per_s)| steady(priority, per_s));
        let held = shares(&mut asked, 1000.0, &[0, 1, 2]);
        let told: Vec<_> =
            held.iter().map(|held| (held.priority, held.above, held.others)).collect();
        let expected = [(1, 0.5, 0.6), (0, 1.0, 1.0)];
        assert_eq!(told.len(), expected.len(), "{told:?}");
        for (told, expected) in told.iter().zip(expected) {
            assert_eq!(told.0, expected.0);
            let differs = (told.1 - expected.1).abs() + (told.2 - expected.2).abs();
            assert!(differs < 1e-9, "{told:?}");
        }
    }

    /// One key asks for much now and then, one did and asks for little now: each is held to what there is, and all of that is for
    /// who asks for it.
    #[test]
    fn who_comes_in_bursts_is_held_to_a_share_when_it_comes_again() {
        let mut asking = Asking::default();
        for burst in [500_000, 0, 0, 0] {
            let asked = [(1, 18_000), (2, burst)];
            asking.note(asked.into_iter().filter(|(_, milli)| *milli > 0), 0.1);
        }
        let held = shares(&mut asking.asked(|_| 0), 1000.0, &[0]);
        let all = format!("{held:?}, {asking:?}");
        assert!(held.len() == 1 && (800.0..850.0).contains(&held[0].per_s), "{all}");
        let mut asked = [
            Asked { priority: 0, per_s: 100.0, lately_per_s: 900.0 },
            steady(0, 2500.0),
            steady(1, 70.0),
        ];
        let held = shares(&mut asked, 1000.0, &[0, 1, 2]);
        assert_eq!(held.len(), 1, "{held:?}");
        assert!((held[0].per_s - 800.0).abs() < 1e-9, "{held:?}");
    }

    /// The first hundred of a key with a rate of its own: what it was taken to ask for was kept from the others for a second.
    #[test]
    fn a_burst_is_no_rate() {
        let mut asking = Asking::default();
        for asked_milli in [106_000, 10_000, 10_000] {
            asking.note([(7, asked_milli)].into_iter(), 0.1);
        }
        assert!((100.0..160.0).contains(&in_all(&asking)), "{asking:?}");
    }

    /// Of keys that ask at random, the mean stays what they ask for.
    #[test]
    fn chance_moves_little() {
        let mut draws = model::random::Draws::of(3);
        for rate_per_s in [20.0, 200.0, 2000.0] {
            let (mut asking, mut sum) = (Asking::default(), 0.0);
            for look in 0..1100 {
                let mut left_s = 0.1;
                let mut asked_milli = 0;
                loop {
                    left_s += (1.0 - draws.unit()).ln() / rate_per_s;
                    if left_s < 0.0 {
                        break;
                    }
                    asked_milli += 1000;
                }
                let asked = (asked_milli > 0).then_some((7, asked_milli));
                asking.note(asked.into_iter(), 0.1);
                sum += if look < 100 { 0.0 } else { in_all(&asking) };
            }
            let mean = sum / 1000.0 / rate_per_s;
            assert!((0.9..1.1).contains(&mean), "{rate_per_s}: {mean}");
        }
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
                rates.iter().map(|&per_s| steady(0, per_s)).collect();
            let held = shares(&mut asked, 1000.0, &[0]);
            let in_all: f64 = rates.iter().sum();
            prop_assert_eq!(held.is_empty(), in_all <= 970.0);
            if let [KeyShare { per_s: share, .. }] = held[..] {
                let had: f64 = rates.iter().map(|rate| rate.min(share)).sum();
                prop_assert!((had - 970.0).abs() < 1e-6, "{} {}", had, share);
                prop_assert!(share >= 970.0 / rates.len() as f64 - 1e-6);
            }
        }
    }
}
