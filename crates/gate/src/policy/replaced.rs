//! A policy in the place of another: what was used of rates that it changes.

use super::Policy;
use crate::limits::{Gcra, Rate};

impl Policy {
    /// Has nobody wait any longer for rates that `before` had and this policy raised. To be called once it is in force.
    /// Looks at all keys where the rate of a tier's keys differs.
    pub(crate) fn forget_waits(&self, before: &Self, now_ns: u64) {
        let state = &*self.state;
        change(&state.all.rate, before.all.rate, self.all.rate, now_ns);
        for (number, route) in self.routes.iter().enumerate() {
            let old = before.routes.get(number).and_then(|route| route.limits.rate);
            change(&state.routes[number].rate, old, route.limits.rate, now_ns);
        }
        for (number, tier) in self.tiers.iter().enumerate() {
            let Some((tier, _)) = tier else { continue };
            let old = before.tier(number as u32).1;
            change(&state.tiers[number].rate, old.together.rate, tier.together.rate, now_ns);
        }
        // A key whose tier is gone is of the default one now.
        let of_keys = |policy: &Self, number| policy.tier(number).1.each.rate;
        let tiers = before.tiers.len().max(self.tiers.len()) as u32 + 1;
        if (0..tiers).any(|number| of_keys(before, number) != of_keys(self, number)) {
            for slot in 0..state.keys.len() as u32 {
                let entry = state.keys.entry(slot);
                let (old, new) = (before.limits_of(entry).rate, self.limits_of(entry).rate);
                change(&entry.used, old, new, now_ns);
            }
        }
        if before.address.rate != self.address.rate {
            let places = state.addresses.places();
            places.for_each(|place| {
                change(&place.used, before.address.rate, self.address.rate, now_ns);
            });
        }
        if before.line != self.line {
            state.ceiling.change(now_ns);
        }
    }
}

fn change(used: &Gcra, before: Option<Rate>, rate: Option<Rate>, now_ns: u64) {
    if let Some(rate) = rate.filter(|_| before != rate) {
        used.change_to(rate.ahead_ns(), now_ns);
    }
}
