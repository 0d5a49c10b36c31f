//! What has quotas, and where its requests are counted: keys, tiers as a whole, routes, and all requests together.
//!
//! For code that reads the counts beside decisions: to store them (`gateway`), and to send them to other gateways (`shared`).
//! Addresses have quotas too, which are neither stored nor sent; `addresses` counts them.

use std::sync::atomic::AtomicU32;

use super::state::NAMES_MOST;
use super::{Policy, Quotas, State};
use crate::limits::Quota;

/// What has quotas of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum QuotaOf {
    /// The key in this slot. Keys that replace each other count in the quota of the first.
    Key(u32),
    /// All keys of the tier of this number together.
    Tier(u32),
    /// The route of this number.
    Route(u32),
    /// All requests together.
    All,
}

/// Above all slots of keys and numbers of tiers and routes.
const ALL_PLACE: u32 = u32::MAX - 1;
/// The place of the first route.
const ROUTE_PLACES: u32 = ALL_PLACE - NAMES_MOST as u32;
/// The place of the first tier: above all slots of keys.
const TIER_PLACES: u32 = ROUTE_PLACES - NAMES_MOST as u32;

impl QuotaOf {
    /// Its unique number: for a key, its slot. Never `u32::MAX`.
    pub(crate) fn place(self) -> u32 {
        match self {
            Self::Key(slot) => slot,
            Self::Tier(number) => TIER_PLACES + number,
            Self::Route(number) => ROUTE_PLACES + number,
            Self::All => ALL_PLACE,
        }
    }

    /// The inverse of [`Self::place`]; `None` for `u32::MAX`.
    pub(crate) fn at(place: u32) -> Option<Self> {
        match place {
            u32::MAX => None,
            ALL_PLACE => Some(Self::All),
            ROUTE_PLACES.. => Some(Self::Route(place - ROUTE_PLACES)),
            TIER_PLACES.. => Some(Self::Tier(place - TIER_PLACES)),
            slot => Some(Self::Key(slot)),
        }
    }
}

impl State {
    /// Where it is counted: of keys that replace each other, the first.
    pub(crate) fn counted_as(&self, of: QuotaOf) -> QuotaOf {
        match of {
            QuotaOf::Key(slot) => QuotaOf::Key(self.keys.counting_slot(slot)),
            other => other,
        }
    }

    /// Where its requests of the day and of the month are counted.
    pub(crate) fn quota_counts(&self, of: QuotaOf) -> (&Quota, &Quota) {
        match of {
            QuotaOf::Key(slot) => {
                let entry = self.keys.counting(self.keys.entry(slot));
                (&entry.day, &entry.month)
            }
            QuotaOf::Tier(number) => self.tiers[number as usize].of_quotas(),
            QuotaOf::Route(number) => self.routes[number as usize].of_quotas(),
            QuotaOf::All => self.all.of_quotas(),
        }
    }

    /// Requests let through that were not sent to other gateways yet.
    pub(crate) fn unreported(&self, of: QuotaOf) -> &AtomicU32 {
        match of {
            QuotaOf::Key(slot) => &self.keys.entry(slot).unreported,
            QuotaOf::Tier(number) => &self.tiers[number as usize].unreported,
            QuotaOf::Route(number) => &self.routes[number as usize].unreported,
            QuotaOf::All => &self.all.unreported,
        }
    }
}

impl Policy {
    /// The quotas of something.
    pub(crate) fn quotas(&self, of: QuotaOf) -> Quotas {
        match of {
            QuotaOf::Key(slot) => {
                let limits = self.limits_of(self.state.keys.entry(slot));
                Quotas { day: limits.day_quota, month: limits.month_quota }
            }
            QuotaOf::Tier(number) => {
                let tier = self.tiers.get(number as usize).and_then(Option::as_ref);
                tier.map_or_else(Quotas::default, |(tier, _)| tier.together_quotas)
            }
            QuotaOf::Route(number) => self.route(number).quotas,
            QuotaOf::All => self.settings.all_quotas,
        }
    }

    /// The tiers and routes that have quotas, and all requests together where they have.
    pub(crate) fn with_quotas(&self) -> impl Iterator<Item = QuotaOf> + '_ {
        let routes = self.routes().map(|route| QuotaOf::Route(route.number));
        let tiers = (0..self.tiers.len() as u32).map(QuotaOf::Tier);
        tiers
            .chain(routes)
            .chain([QuotaOf::All])
            .filter(move |of| self.quotas(*of) != Quotas::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_stands_for_one_thing() {
        for of in [
            QuotaOf::Key(0),
            QuotaOf::Key(1 << 26),
            QuotaOf::Tier(0),
            QuotaOf::Tier(NAMES_MOST as u32 - 1),
            QuotaOf::Route(0),
            QuotaOf::Route(NAMES_MOST as u32 - 1),
            QuotaOf::All,
        ] {
            assert_eq!(QuotaOf::at(of.place()), Some(of));
        }
        assert_eq!(QuotaOf::at(u32::MAX), None);
    }
}
