//! A policy that replaces another: what was used of the rates that it changes.

use super::Policy;
use crate::limits::{Gcra, Rate};

impl Policy {
    /// Ends waits for rates that `before` had and that this policy raised. To be called once this policy is in force. Visits
    /// all keys if the rate of a tier's keys differs.
    pub(crate) fn forget_waits(&self, before: &Self, now_ns: u64) {
        let state = &*self.state;
        change(&state.all.rate, before.settings.all.rate, self.settings.all.rate, now_ns);
        for (number, route) in self.routes.iter().enumerate() {
            let old = before.routes.get(number).and_then(|route| route.limits.rate);
            change(&state.routes[number].rate, old, route.limits.rate, now_ns);
        }
        for (number, tier) in self.tiers.iter().enumerate() {
            let Some((tier, _)) = tier else { continue };
            let old = before.tier(number as u32).1;
            change(&state.tiers[number].rate, old.together.rate, tier.together.rate, now_ns);
        }
        // A key whose tier is gone is in the default tier now.
        let of_keys = |policy: &Self, number| policy.tier(number).1.each.rate;
        let tiers = before.tiers.len().max(self.tiers.len()) as u32 + 1;
        if (0..tiers).any(|number| of_keys(before, number) != of_keys(self, number)) {
            for slot in 0..state.keys.len() as u32 {
                let entry = state.keys.entry(slot);
                let (old, new) = (before.limits_of(entry).rate, self.limits_of(entry).rate);
                change(&entry.used, old, new, now_ns);
            }
        }
        let (old, new) = (before.settings.address.rate, self.settings.address.rate);
        if old != new {
            state.addresses.places().for_each(|place| change(&place.used, old, new, now_ns));
        }
        if before.line() != self.line() {
            state.ceiling.change(now_ns);
        }
    }
}

fn change(used: &Gcra, before: Option<Rate>, rate: Option<Rate>, now_ns: u64) {
    if let Some(rate) = rate.filter(|_| before != rate) {
        used.change_to(rate.ahead_ns(), now_ns);
    }
}
