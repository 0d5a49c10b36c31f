//! Fair shares of keys in force: how much of the ceiling each key may use while keys ask for more than the ceiling.
//!
//! `admission` computes the shares; this module applies them to tiers, and takes requests from them.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::at_line::Full;
use super::{Policy, State};
use crate::admission::{Asking, KeyShare, Room, left_free, shares};
use crate::keys::Entry;

/// How far a key may be ahead of the even pace of its share: a key that begins to ask for too much takes no more than this
/// from the others.
const AHEAD_NS: f64 = 100e6;
/// The same in mean requests: at least this many.
const AHEAD_LEAST: f64 = 10.0;
/// The part of its tier's room that a key which has used up its share leaves free for keys which have not: always of the burst, at
/// most of the number in flight. In thousandths.
const GREEDY_LEAVES_MILLI: u32 = 250;
/// How much of that room a key may use beyond its share, in thousandths: room that is free below this is not asked for by other
/// keys. So shares need not be exact, and a burst is let through as long as the API is below its line.
const SPARE_MILLI: u32 = 400;

/// The room for a request above the share of its key, whose tier may use `part_milli`.
pub(super) fn spare(part_milli: u32) -> Room {
    let milli = part_milli * SPARE_MILLI / 1000;
    Room { ahead_milli: milli, at_once_milli: milli }
}

/// The share of each key of a tier.
#[derive(Debug, Default)]
pub(super) struct Share {
    /// Mean requests per second, as bits of an `f64`; 0 while no share is in force.
    per_s: AtomicU64,
    /// The part of the number in flight, in thousandths, that keys leave free: those that ask for less than their share, and those
    /// that have used it up.
    leaves_milli: [AtomicU32; 2],
}

impl Share {
    /// Puts a share in force, or none. Keys of more important tiers ask for the part `above` of the ceiling, 0..=1, and
    /// `at_once` requests may be in flight.
    fn set(&self, held: Option<&KeyShare>, above: f64, at_once: f64) {
        let per_s = held.map_or(0.0, |held| held.per_s);
        let theirs = held.map_or([above, above], |held| [held.above, held.others]);
        for (leaves_milli, theirs) in self.leaves_milli.iter().zip(theirs) {
            let free_milli = (left_free(theirs, at_once) * 1000.0).ceil() as u32;
            leaves_milli.store(free_milli, Ordering::Relaxed);
        }
        self.per_s.store(per_s.to_bits(), Ordering::Relaxed);
    }

    /// The room for a request of the tier, which may use `part_milli` of the burst, and at least that of the number in flight.
    /// `much`: its key has used up its share.
    pub(super) fn room(&self, part_milli: u32, much: bool) -> Room {
        let ahead_milli =
            if much { part_milli * (1000 - GREEDY_LEAVES_MILLI) / 1000 } else { part_milli };
        let leaves_milli = self.leaves_milli[usize::from(much)].load(Ordering::Relaxed);
        Room { ahead_milli, at_once_milli: 1000_u32.saturating_sub(leaves_milli).max(ahead_milli) }
    }

    /// Takes a request from the share of its key. Returns its room, as [`Self::room`].
    ///
    /// # Errors
    /// How long until there is room.
    pub(super) fn take(
        &self,
        entry: &Entry,
        cost_milli: u32,
        part_milli: u32,
        now_ns: u64,
    ) -> Result<Room, Full> {
        let per_s = f64::from_bits(self.per_s.load(Ordering::Relaxed));
        if per_s == 0.0 {
            return Ok(self.room(part_milli, false));
        }
        let ns = 1e9 / per_s;
        let increment_ns = (ns * f64::from(cost_milli) / 1000.0).ceil() as u64;
        let ahead_ns = AHEAD_NS.max(ns * AHEAD_LEAST) as u64;
        // It got further ahead than this under a smaller share.
        if entry.shared.ahead_ns(now_ns) > ahead_ns.max(increment_ns) {
            entry.shared.change_to(ahead_ns, now_ns);
        }
        let taken = entry.shared.take_within(increment_ns, ahead_ns, now_ns);
        taken.map_err(|wait_ns| Full::Share { per_s, wait_ns })?;
        // Ahead by more than half of what is allowed: it asks for its share or more.
        let much = entry.shared.ahead_ns(now_ns) > ahead_ns / 2;
        Ok(self.room(part_milli, much))
    }
}

impl State {
    /// Notes what the keys in these slots asked for in the last `seconds`, in thousandths of a mean request. Keys that replace
    /// each other count as one.
    pub fn note_asked(
        &self,
        asking: &mut Asking,
        asked_milli: impl Iterator<Item = (u32, u64)>,
        seconds: f64,
    ) {
        let counted = asked_milli.map(|(slot, milli)| (self.keys.counting_slot(slot), milli));
        asking.note(counted, seconds);
    }
}

impl Policy {
    /// Divides the ceiling, or what the API carries if that is less, by what keys asked for recently. To be called a few times
    /// per second.
    pub fn share_out(&self, asking: &Asking, carried_per_s: f64) {
        let mut asked =
            asking.asked(|slot| self.tier(self.state.keys.entry(slot).tier()).1.priority);
        let tiers =
            || self.tiers.iter().enumerate().filter_map(|(n, tier)| Some((n, tier.as_ref()?)));
        let priorities: Vec<i32> = tiers().map(|(_, (tier, _))| tier.priority).collect();
        let ceiling = &self.state.ceiling;
        let most_per_s = match self.line() {
            Some(_) => ceiling.own_per_s().min(carried_per_s),
            None => f64::INFINITY,
        };
        let found = shares(&mut asked, most_per_s, &priorities);
        for (number, (tier, _)) in tiers() {
            let held = found.iter().find(|held| held.priority == tier.priority);
            let higher = asked.iter().filter(|key| key.priority > tier.priority);
            let above = higher.map(|key| key.per_s).sum::<f64>() / most_per_s;
            self.state.tiers[number].share.set(held, above, ceiling.at_once());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(per_s: f64, above: f64, others: f64) -> KeyShare {
        KeyShare { priority: 0, per_s, above, others }
    }

    #[test]
    fn a_share_that_grew_keeps_nobody_waiting_for_the_smaller_one() {
        let (share, entry, now_ns) = (Share::default(), Entry::default(), 10_000_000_000);
        share.set(Some(&held(1.0, 0.0, 0.5)), 0.0, 4.0);
        let taken = (0..20).filter(|_| share.take(&entry, 1000, 1000, now_ns).is_ok()).count();
        assert_eq!(taken, 10);
        share.set(Some(&held(500.0, 0.0, 0.5)), 0.0, 4.0);
        let full = Full::Share { per_s: 500.0, wait_ns: 2_000_000 };
        assert_eq!(share.take(&entry, 1000, 1000, now_ns), Err(full));
        let much = Room { ahead_milli: 750, at_once_milli: 750 };
        assert_eq!(share.take(&entry, 1000, 1000, now_ns + 2_000_000), Ok(much));
    }

    /// Nobody else asks: a quarter of the places was left free all the same, and an API that needs all of them for its rate
    /// completed three quarters of it.
    #[test]
    fn what_is_left_free_is_as_much_as_others_ask_for() {
        let share = Share::default();
        let rooms = |above, others, part_milli| {
            share.set(Some(&held(1000.0, above, others)), above, 64.0);
            // 100 may come ahead.
            let (entry, now_ns) = (Entry::default(), 10_000_000_000);
            let take = || share.take(&entry, 1000, part_milli, now_ns).unwrap().at_once_milli;
            let little = take();
            ((0..60).fold(little, |_, _| take()), little)
        };
        assert_eq!(rooms(0.0, 0.0, 1000), (960, 1000));
        assert_eq!(rooms(0.0, 0.5, 1000), (896, 1000));
        assert_eq!(rooms(0.0, 0.99, 1000), (750, 1000), "never less than three quarters");
        assert_eq!(rooms(0.0, 0.0, 500), (960, 960), "a less important tier alone");
        assert_eq!(rooms(0.99, 0.99, 500), (375, 500), "beside one that takes all");
        for (above, at_once_milli) in [(0.0, 960), (0.5, 896), (0.99, 500)] {
            share.set(None, above, 64.0);
            assert_eq!(share.room(500, false), Room { ahead_milli: 500, at_once_milli }, "{above}");
        }
    }
}
