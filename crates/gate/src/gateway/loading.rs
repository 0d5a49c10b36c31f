//! What a gateway begins with: the keys of its store, and what they used of their quotas.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::PoisonError;

use super::GatewayError;
use super::control::{Changing, Control, unix_s};
use crate::keys::{Entry, KeyRecord, Settings, Store};
use crate::limits::Periods;
use crate::policy::{PolicySettings, State, Tier};
use crate::usage::used_since;

/// Puts all keys into the table. Whether one has a quota of its own.
pub(super) fn load(store: &Store, state: &State) -> Result<bool, GatewayError> {
    let mut has_quota = false;
    let each = |key: KeyRecord| {
        has_quota |= key.key.day_quota.is_some() || key.key.month_quota.is_some();
        put(state, &key);
    };
    store.each_key(each).map_err(GatewayError::Store)?;
    Ok(has_quota)
}

/// Lets `keys add` know which tiers and routes there are.
pub(super) fn record_names(
    store: &Store,
    settings: &PolicySettings,
) -> Result<(), GatewayError> {
    let tiers: Vec<&str> = settings.tiers.iter().map(|tier| tier.name.as_str()).collect();
    let routes: Vec<&str> = settings.routes.iter().map(|route| route.name.as_str()).collect();
    store.record_configured(&tiers, &routes).map_err(GatewayError::Store)
}

/// Whether keys of these tiers have quotas.
pub(super) fn have_quotas(tiers: &[Tier]) -> bool {
    tiers.iter().any(|tier| tier.day_quota.is_some() || tier.month_quota.is_some())
}

/// The names of tiers, with the quotas of their keys.
fn quotas(tiers: &[Tier]) -> impl Iterator<Item = (&str, Option<u64>, Option<u64>)> {
    tiers.iter().map(|tier| (tier.name.as_str(), tier.day_quota, tier.month_quota))
}

/// Requests that were let through, by the number of their key, as the store knows them.
#[derive(Debug)]
pub(super) struct Used {
    day: u32,
    month: u32,
    of_day: BTreeMap<u64, u64>,
    of_month: BTreeMap<u64, u64>,
}

impl Used {
    /// In the day and the month that it is now.
    pub(super) fn read(path: &Path) -> Result<Self, GatewayError> {
        let now = unix_s();
        let periods = Periods::at(now);
        let day_from = now - 86_400 + i64::from(periods.day_left_s);
        let of = |since| used_since(path, since).map_err(GatewayError::File);
        let of_month = of(first_of_month(now, &periods))?;
        Ok(Self { day: periods.day, month: periods.month, of_day: of(day_from)?, of_month })
    }

    /// Has keys begin with it.
    pub(super) fn begin(&self, store: &Store, state: &State) -> Result<(), GatewayError> {
        self.each(store, state, |entry, day, month| {
            entry.day.raise(self.day, day);
            entry.month.raise(self.month, month);
        })
    }

    /// Counts what came to it since `before` was read, on top of what keys have used here.
    pub(super) fn add_since(
        &self,
        before: &Self,
        store: &Store,
        state: &State,
    ) -> Result<(), GatewayError> {
        let less = |now: &BTreeMap<u64, u64>, then: &BTreeMap<u64, u64>, same: bool| {
            let then = |id| if same { then.get(&id).copied().unwrap_or(0) } else { 0 };
            now.iter().map(|(&id, &used)| (id, used.saturating_sub(then(id)))).collect()
        };
        let since = Self {
            of_day: less(&self.of_day, &before.of_day, self.day == before.day),
            of_month: less(&self.of_month, &before.of_month, self.month == before.month),
            ..*self
        };
        since.each(store, state, |entry, day, month| {
            entry.day.add(self.day, day);
            entry.month.add(self.month, month);
        })
    }

    fn each(
        &self,
        store: &Store,
        state: &State,
        count: impl Fn(&Entry, u64, u64),
    ) -> Result<(), GatewayError> {
        let of = |used: &BTreeMap<u64, u64>, id| used.get(&id).copied().unwrap_or(0);
        let each = |key: KeyRecord| {
            let (day, month) = (of(&self.of_day, key.id), of(&self.of_month, key.id));
            if let Some(slot) = state.keys.find(&key.digest).filter(|_| day + month > 0) {
                count(state.keys.entry(slot), day, month);
            }
        };
        if self.of_day.is_empty() && self.of_month.is_empty() {
            return Ok(());
        }
        store.each_key(each).map_err(GatewayError::Store)
    }
}

impl Control {
    /// Reads what keys used where other quotas are to come in force: requests of a key without one are counted in the store
    /// alone.
    pub(super) fn know_used(
        &self,
        changing: &Changing,
        tiers: &[Tier],
    ) -> Result<(), GatewayError> {
        if !have_quotas(tiers) || quotas(tiers).eq(quotas(&changing.settings.tiers)) {
            return Ok(());
        }
        let used = Used::read(self.store_path())?;
        let mut before = self.used_before.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *before {
            Some(before) => {
                used.add_since(before, &changing.store, self.state())?;
                *before = used;
            }
            None => used.begin(&changing.store, self.state())?,
        }
        Ok(())
    }

    /// Puts a key into the table as the store has it. One that replaces another begins with what that has used here, which
    /// may not all have been reported.
    pub(super) fn follow(&self, store: &Store, key: &KeyRecord) -> Result<(), GatewayError> {
        let state = self.state();
        let is_new = state.keys.find(&key.digest).is_none();
        let slot = put(state, key).filter(|_| is_new);
        let Some(new) = slot.map(|slot| state.keys.entry(slot)) else { return Ok(()) };
        let old = store.replaced_by(key.id).map_err(GatewayError::Store)?;
        let Some(old) = old else { return Ok(()) };
        let old = store.key(old).map_err(GatewayError::Store)?;
        if let Some(old) = old.and_then(|old| state.keys.find(&old.digest)) {
            let (old, day, month) =
                (state.keys.entry(old), state.calendar.day(), state.calendar.month());
            let (of_day, of_month) = (old.day.used(day), old.month.used(month));
            new.day.raise(day, of_day);
            new.month.raise(month, of_month);
            let now = unix_s();
            let since = first_of_month(now, &Periods::at(now));
            if let Err(error) = store.raise_used(key.id, now, of_day, (since, of_month)) {
                self.troubles()
                    .say(format!("{error}: a restart forgets what key {} began with", key.id));
            }
        }
        // What the store has of it is what the old one used.
        let mut before = self.used_before.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Used { of_day, of_month, .. }) = &mut *before {
            [of_day, of_month].map(|of| of.insert(key.id, u64::MAX));
        }
        Ok(())
    }

    /// Whether something is to be added by [`Self::add_used`].
    pub(super) fn awaits_used(&self) -> bool {
        self.used_before.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Adds what the gateway that was taken over reported since this one began. To be called once that has ended, and before
    /// this one reports.
    pub(super) fn add_used(&self) {
        let before = self.used_before.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(before) = before else { return };
        let added = Used::read(self.store_path())
            .and_then(|used| used.add_since(&before, &self.changing().store, self.state()));
        if let Err(error) = added {
            self.troubles()
                .say(format!("{error}: what the earlier gateway let through is not in quotas"));
        }
    }
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
