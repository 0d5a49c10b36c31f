//! Limits as they are configured: of a tier, a route, an address, or of all requests.

use crate::keys::Entry;
use crate::limits::Rate;

/// Limits of one thing; what is `None` is not limited.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Limits {
    /// Requests per second, with a burst.
    pub rate: Option<Rate>,
    /// Requests at once.
    pub at_once: Option<u32>,
}

/// Requests in a day and a month of UTC; what is `None` is not limited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quotas {
    /// In a day.
    pub day: Option<u64>,
    /// In a month.
    pub month: Option<u64>,
}

/// A tier: keys that are treated alike. The limits of a key are the tier's unless it has its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Tier {
    /// Its name.
    pub name: String,
    /// Under pressure, tiers with lower numbers are refused first.
    pub priority: i32,
    /// Limits of each of its keys.
    pub each: Limits,
    /// Requests of each of its keys in a day of UTC.
    pub day_quota: Option<u64>,
    /// Requests of each of its keys in a month of UTC.
    pub month_quota: Option<u64>,
    /// Limits of all its keys together.
    pub together: Limits,
    /// Quotas of all its keys together.
    pub together_quotas: Quotas,
    /// The longest body, where that is shorter than the route's.
    pub body_max_bytes: Option<u64>,
    /// Where limits are shared with other gateways: its keys are refused while what these do cannot be known. Else the
    /// gateway goes by what it knows itself.
    pub closed: bool,
}

impl Tier {
    /// A tier without limits.
    pub fn unlimited(name: &str) -> Self {
        Self {
            name: name.into(),
            priority: 0,
            each: Limits::default(),
            day_quota: None,
            month_quota: None,
            together: Limits::default(),
            together_quotas: Quotas::default(),
            body_max_bytes: None,
            closed: false,
        }
    }
}

/// The limits of one key: its own, and its tier's where it has none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct KeyLimits {
    pub rate: Option<Rate>,
    pub at_once: Option<u32>,
    pub day_quota: Option<u64>,
    pub month_quota: Option<u64>,
}

impl KeyLimits {
    pub(super) fn of(entry: &Entry, tier: &Tier) -> Self {
        Self {
            rate: entry.rate().or(tier.each.rate),
            at_once: entry.at_once_most().or(tier.each.at_once),
            day_quota: entry.day_most().or(tier.day_quota),
            month_quota: entry.month_most().or(tier.month_quota),
        }
    }
}

/// How much of the burst below the ceiling each tier may use, in thousandths, and of the number in flight at least. All tiers
/// of the highest priority may use all; each lower priority leaves a part free, so that under pressure it is refused first.
pub(super) fn shares_milli(tiers: &[Tier]) -> Vec<u32> {
    let mut priorities: Vec<i32> = tiers.iter().map(|tier| tier.priority).collect();
    priorities.sort_unstable();
    priorities.dedup();
    let steps = priorities.len().saturating_sub(1).max(1) as u32;
    let rank =
        |tier: &Tier| priorities.partition_point(|&priority| priority < tier.priority) as u32;
    let highest = priorities.len().saturating_sub(1) as u32;
    tiers.iter().map(|tier| 1000 - LOWEST_LEAVES_MILLI * (highest - rank(tier)) / steps).collect()
}

/// What the lowest priority leaves free.
const LOWEST_LEAVES_MILLI: u32 = 500;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lower_priorities_leave_room_for_higher_ones() {
        let tier = |priority| Tier { priority, ..Tier::unlimited("x") };
        assert_eq!(shares_milli(&[tier(5)]), [1000]);
        assert_eq!(shares_milli(&[tier(0), tier(0)]), [1000, 1000]);
        assert_eq!(shares_milli(&[tier(1), tier(9), tier(5)]), [500, 1000, 750]);
    }
}
