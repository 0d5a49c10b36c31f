//! What a gateway begins with: the keys of its store, and what they used of their quotas.

use std::path::Path;

use super::GatewayError;
use super::control::unix_s;
use crate::keys::{KeyRecord, Settings, Store};
use crate::limits::Periods;
use crate::policy::State;
use crate::usage::used_since;

/// Puts all keys into the table, with what they used of their quotas.
pub(super) fn load(store: &Store, state: &State, path: &Path) -> Result<(), GatewayError> {
    // By number, ascending, as the store hands them out.
    let mut slots: Vec<(u64, u32)> = Vec::new();
    store
        .each_key(|key| slots.extend(put(state, &key).map(|slot| (key.id, slot))))
        .map_err(GatewayError::Store)?;
    let now = unix_s();
    let periods = Periods::at(now);
    let (day, month) = (now - 86_400 + i64::from(periods.day_left_s), state.calendar.month());
    let month_from = first_of_month(now, &periods);
    for (since, daily) in [(day, true), (month_from, false)] {
        for (id, used) in used_since(path, since).map_err(GatewayError::File)? {
            let Ok(place) = slots.binary_search_by_key(&id, |(id, _)| *id) else { continue };
            let entry = state.keys.entry(slots[place].1);
            match daily {
                true => entry.day.set(periods.day, used),
                false => entry.month.set(month, used),
            }
        }
    }
    Ok(())
}

/// The beginning of the month, in seconds since the epoch: day by day back, since months differ.
fn first_of_month(unix_s: i64, periods: &Periods) -> i64 {
    let mut day = unix_s - unix_s.rem_euclid(86_400);
    while day >= 86_400 && Periods::at(day - 1).month == periods.month {
        day -= 86_400;
    }
    day
}

/// Puts a key into the table as the store has it.
pub(super) fn put(state: &State, key: &KeyRecord) -> Option<u32> {
    if key.revoked_s.is_some() {
        state.keys.revoke(&key.digest);
        return None;
    }
    // With too many names, a key is of the default tier, and for no route rather than for all.
    let settings = Settings {
        id: key.id,
        tier: if key.key.tier.is_empty() {
            0
        } else {
            state.tier_number(&key.key.tier).unwrap_or(0)
        },
        routes: state.route_set(&key.key.routes).unwrap_or(u32::MAX),
        expires_s: key.key.expires_s,
        rate: key.key.rate,
        at_once: key.key.at_once,
        day_quota: key.key.day_quota,
        month_quota: key.key.month_quota,
    };
    state.keys.put(&key.digest, &settings)
}
