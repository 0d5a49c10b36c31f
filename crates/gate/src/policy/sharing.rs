//! Fair shares between keys, put in force: what each key may have of the ceiling while it is asked for more.
//!
//! `admission` works the shares out; here they are found for tiers, and taken from.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Policy;
use crate::admission::{Asked, shares};
use crate::keys::Entry;

/// A key may come so far ahead of an even pace of its share: one that begins to ask for too much takes no more than that
/// from the others.
const AHEAD_NS: f64 = 100e6;
/// Mean requests that it may come ahead by at least.
const AHEAD_LEAST: f64 = 10.0;

/// The share of each key of a tier: nanoseconds that a mean request takes up, as bits of an `f64`; 0 where keys are
/// not held to one.
#[derive(Debug, Default)]
pub(super) struct Share(AtomicU64);

/// How much of its share a key has used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spent {
    /// It asks for less, or keys are not held to shares.
    Little,
    /// It has come more than half as far ahead of an even pace as it may: it asks for as much as its share, or more.
    Much,
}

impl Share {
    fn set(&self, per_s: Option<f64>) {
        let ns = per_s.map_or(0.0, |per_s| 1e9 / per_s);
        self.0.store(ns.to_bits(), Ordering::Relaxed);
    }

    /// Takes a request of a key.
    ///
    /// # Errors
    /// How long until there is room, in nanoseconds.
    pub(super) fn take(&self, entry: &Entry, cost_milli: u32, now_ns: u64) -> Result<Spent, u64> {
        let ns = f64::from_bits(self.0.load(Ordering::Relaxed));
        if ns == 0.0 {
            return Ok(Spent::Little);
        }
        let increment_ns = (ns * f64::from(cost_milli) / 1000.0).ceil() as u64;
        let ahead_ns = AHEAD_NS.max(ns * AHEAD_LEAST) as u64;
        // Further ahead it came under a smaller share.
        if entry.shared.ahead_ns(now_ns) > ahead_ns.max(increment_ns) {
            entry.shared.change_to(ahead_ns, now_ns);
        }
        entry.shared.take_within(increment_ns, ahead_ns, now_ns)?;
        let much = entry.shared.ahead_ns(now_ns) > ahead_ns / 2;
        Ok(if much { Spent::Much } else { Spent::Little })
    }
}

impl Policy {
    /// Shares the ceiling out, or what the API carries where that is less, by what keys asked for lately: each slot of a
    /// key, with mean requests per second, refused ones included. To be called some times a second.
    pub fn share_out(&self, asked: impl Iterator<Item = (u32, f64)>, carried_per_s: f64) {
        let priority = |slot| self.tier(self.state.keys.entry(slot).tier()).1.priority;
        let mut asked: Vec<Asked> =
            asked.map(|(slot, per_s)| Asked { priority: priority(slot), per_s }).collect();
        let tiers =
            || self.tiers.iter().enumerate().filter_map(|(n, tier)| Some((n, tier.as_ref()?)));
        let priorities: Vec<i32> = tiers().map(|(_, (tier, _))| tier.priority).collect();
        let found = match &self.line {
            Some(_) => {
                let most_per_s = self.state.ceiling.own_per_s().min(carried_per_s);
                shares(&mut asked, most_per_s, &priorities)
            }
            None => Vec::new(),
        };
        for (number, (tier, _)) in tiers() {
            let share = found.iter().find(|(priority, _)| *priority == tier.priority);
            self.state.tiers[number].share.set(share.map(|(_, per_s)| *per_s));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_that_grew_keeps_nobody_waiting_for_the_smaller_one() {
        let (share, entry, now_ns) = (Share::default(), Entry::default(), 10_000_000_000);
        share.set(Some(1.0));
        let taken = (0..20).filter(|_| share.take(&entry, 1000, now_ns).is_ok()).count();
        assert_eq!(taken, 10);
        share.set(Some(500.0));
        assert_eq!(share.take(&entry, 1000, now_ns), Err(2_000_000));
        assert_eq!(share.take(&entry, 1000, now_ns + 2_000_000), Ok(Spent::Much));
    }
}
