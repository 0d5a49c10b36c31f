//! What a gateway loads when it starts: the keys of its store, and how much of their quotas they have used.

use std::collections::BTreeMap;
use std::path::Path;

use super::GatewayError;
use super::control::{Changing, Control, unix_s};
use super::takeover_usage::{Counts, OwnReports};
use crate::keys::{Entry, KeyRecord, NamedByKeys, Settings, Store};
use crate::limits::Periods;
use crate::policy::{PolicySettings, QuotaOf, Quotas, State, Tier};
use crate::usage::{Period, Reached, Whose, reached, used_by_key, used_by_route};

/// In usage, the number of the key of requests without one.
const NO_KEY: u64 = 0;

/// Facts about the keys of a store, found while reading all of them.
#[derive(Default)]
pub(super) struct Loaded {
    /// Whether a key has a quota of its own.
    pub(super) has_quota: bool,
    /// The tiers and routes that keys which are not revoked refer to.
    pub(super) named: NamedByKeys,
}

/// Puts all keys into the table. They are read only once: with a million keys this is most of the time of a start.
pub(super) fn load(store: &Store, state: &State) -> Result<Loaded, GatewayError> {
    let mut loaded = Loaded::default();
    let each = |record: KeyRecord| {
        put(state, &record);
        let key = &record.key;
        loaded.has_quota |= key.day_quota.is_some() || key.month_quota.is_some();
        if record.revoked_s.is_none() {
            loaded.named.add(&key.tier, key.routes.iter().map(String::as_str));
        }
    };
    store.each_key(each).map_err(GatewayError::Store)?;
    for id in store.replaced().map_err(GatewayError::Store)?.keys() {
        let key = store.key(id).map_err(GatewayError::Store)?;
        key.iter().try_for_each(|key| join_limits(store, state, key))?;
    }
    Ok(loaded)
}

/// Puts a key into the table as the store has it, with the key in whose limits it counts.
pub(super) fn follow(store: &Store, state: &State, key: &KeyRecord) -> Result<(), GatewayError> {
    // In force only once it is known where it counts.
    if key.revoked_s.is_none() && state.keys.find(&key.digest).is_none() {
        state.keys.put_revoked(&key.digest, &settings_of(state, key));
    }
    join_limits(store, state, key)?;
    put(state, key);
    Ok(())
}

/// Makes a key that replaces another count in the limits of the first of them, even if that is revoked.
fn join_limits(store: &Store, state: &State, key: &KeyRecord) -> Result<(), GatewayError> {
    let first = store.first_of(key.id).map_err(GatewayError::Store)?;
    let Some(slot) = state.keys.find(&key.digest).filter(|_| first != key.id) else {
        return Ok(());
    };
    if let Some(first) = store.key(first).map_err(GatewayError::Store)? {
        let known = state.keys.find(&first.digest);
        let first = known
            .or_else(|| state.keys.put_revoked(&first.digest, &settings_of(state, &first)))
            .filter(|first| *first != slot);
        first.into_iter().for_each(|first| state.keys.entry(slot).count_in(first));
    }
    Ok(())
}

/// Stores the names of tiers and routes for `keys add`.
pub(super) fn record_names(store: &Store, settings: &PolicySettings) -> Result<(), GatewayError> {
    let tiers: Vec<&str> = settings.tiers.iter().map(|tier| tier.name.as_str()).collect();
    let routes: Vec<&str> = settings.routes.iter().map(|route| route.name.as_str()).collect();
    store.record_configured(&tiers, &routes).map_err(GatewayError::Store)
}

/// Whether any quotas are configured.
pub(super) fn have_quotas(settings: &PolicySettings) -> bool {
    quotas(settings).next().is_some()
}

/// Everything that has quotas, with these: keys of tiers, tiers as a whole, routes, and all requests together.
fn quotas(settings: &PolicySettings) -> impl Iterator<Item = (&str, &str, Quotas)> {
    let of_tier = |tier: &Tier| Quotas { day: tier.day_quota, month: tier.month_quota };
    let tiers = settings.tiers.iter();
    let tiers = tiers.map(move |tier| ("tier", tier.name.as_str(), of_tier(tier)));
    let wholes = settings.tiers.iter();
    let wholes = wholes.map(|tier| ("whole tier", tier.name.as_str(), tier.together_quotas));
    let routes = settings.routes.iter().map(|route| ("route", route.name.as_str(), route.quotas));
    let all = tiers.chain(wholes).chain(routes).chain([("all", "", settings.all_quotas)]);
    all.filter(|(_, _, quotas)| *quotas != Quotas::default())
}

/// Requests that were let through, as the store knows them: by the number of their key, the first of those that replace each
/// other, and by what else has quotas.
#[derive(Debug)]
pub(super) struct Used {
    day: u32,
    month: u32,
    of_day: BTreeMap<u64, u64>,
    of_month: BTreeMap<u64, u64>,
    others_of_day: BTreeMap<Whose, u64>,
    others_of_month: BTreeMap<Whose, u64>,
}

/// Uses the stored count of a quota if it is higher than usage says.
fn raise<K: Ord>(used: &mut BTreeMap<K, u64>, whose: K, reached: u64) {
    let own = used.entry(whose).or_default();
    *own = reached.max(*own);
}

/// How much counts have grown; `same` says whether they are of the same period.
fn less<K: Ord + Clone>(
    now: &BTreeMap<K, u64>,
    then: &BTreeMap<K, u64>,
    same: bool,
) -> BTreeMap<K, u64> {
    let then = |name: &K| if same { then.get(name).copied().unwrap_or(0) } else { 0 };
    now.iter().map(|(name, used)| (name.clone(), used.saturating_sub(then(name)))).collect()
}

impl Used {
    /// In the day and the month that it is now, of these tiers among others. With what this gateway reported itself: of other
    /// gateways alone.
    pub(super) fn read(
        store: &Store,
        path: &Path,
        tiers: &[Tier],
        own: Option<&OwnReports>,
    ) -> Result<Self, GatewayError> {
        let now = unix_s();
        let replaced = store.replaced().map_err(GatewayError::Store)?;
        let periods = Periods::at(now);
        let day_to = now + i64::from(periods.day_left_s);
        let of_day = Period { from_s: day_to - 86_400, to_s: day_to };
        let month_to = now + i64::from(periods.month_left_s);
        let of_month = Period { from_s: first_of_month(now, &periods), to_s: month_to };
        let own_day = own.and_then(|own| own.of_day(periods.day));
        let own_month = own.and_then(|own| own.of_month(periods.month));
        let of = |period, own: Option<&Counts>| {
            let mut used: BTreeMap<u64, u64> = BTreeMap::new();
            for (id, count) in used_by_key(path, period).map_err(GatewayError::File)? {
                let own = own.and_then(|own| own.by_key.get(&id)).copied().unwrap_or(0);
                *used.entry(replaced.first(id)).or_default() += count.saturating_sub(own);
            }
            Ok::<_, GatewayError>(used)
        };
        let of_routes = |period, own: Option<&Counts>| {
            let mut used = used_by_route(path, period).map_err(GatewayError::File)?;
            for (name, own) in own.into_iter().flat_map(|own| &own.by_route) {
                used.entry(name.clone()).and_modify(|used| *used = used.saturating_sub(*own));
            }
            let all = (Whose::All, used.values().sum::<u64>());
            let routes = used.into_iter().map(|(name, used)| (Whose::Route(name), used));
            Ok::<BTreeMap<_, _>, GatewayError>(routes.chain([all]).collect())
        };
        let mut used = Self {
            day: periods.day,
            month: periods.month,
            of_day: of(of_day, own_day)?,
            of_month: of(of_month, own_month)?,
            others_of_day: of_routes(of_day, own_day)?,
            others_of_month: of_routes(of_month, own_month)?,
        };
        let all = reached(path, periods.day, periods.month).map_err(GatewayError::File)?;
        let all: Vec<_> = all.into_iter().filter(|one| own.is_none() || !one.beside).collect();
        for Reached { whose, day, month, .. } in &all {
            if let Whose::Key(id) = whose {
                raise(&mut used.of_day, replaced.first(*id), day.1);
                raise(&mut used.of_month, replaced.first(*id), month.1);
            }
        }
        used.count_tiers(store, tiers)?;
        for Reached { whose, day, month, .. } in all {
            if !matches!(whose, Whose::Key(_)) {
                raise(&mut used.others_of_day, whose.clone(), day.1);
                raise(&mut used.others_of_month, whose, month.1);
            }
        }
        Ok(used)
    }

    /// Sums up by tiers what keys used, where a tier has quotas as a whole. Keys of no tier that is configured, and requests
    /// without a key, are of the first.
    fn count_tiers(&mut self, store: &Store, tiers: &[Tier]) -> Result<(), GatewayError> {
        let Some(first) = tiers.first() else { return Ok(()) };
        if tiers.iter().all(|tier| tier.together_quotas == Quotas::default()) {
            return Ok(());
        }
        let mut count = |tier: &str, id: u64| {
            let tier = tiers.iter().find(|known| known.name == tier).unwrap_or(first);
            for (of_keys, of_others) in [
                (&self.of_day, &mut self.others_of_day),
                (&self.of_month, &mut self.others_of_month),
            ] {
                if let Some(used) = of_keys.get(&id) {
                    *of_others.entry(Whose::Tier(tier.name.clone())).or_default() += used;
                }
            }
        };
        count("", NO_KEY);
        let each = |key: KeyRecord| count(&key.key.tier, key.id);
        store.each_key(each).map_err(GatewayError::Store)
    }

    /// Sets the counts of keys, and of everything that has quotas by these settings, to this.
    pub(super) fn begin(
        &self,
        store: &Store,
        state: &State,
        settings: &PolicySettings,
    ) -> Result<(), GatewayError> {
        self.each_other(state, settings, false);
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
        settings: &PolicySettings,
    ) -> Result<(), GatewayError> {
        let (same_day, same_month) = (self.day == before.day, self.month == before.month);
        let since = Self {
            of_day: less(&self.of_day, &before.of_day, same_day),
            of_month: less(&self.of_month, &before.of_month, same_month),
            others_of_day: less(&self.others_of_day, &before.others_of_day, same_day),
            others_of_month: less(&self.others_of_month, &before.others_of_month, same_month),
            ..*self
        };
        since.each_other(state, settings, true);
        since.each(store, state, |entry, day, month| {
            entry.day.add(self.day, day);
            entry.month.add(self.month, month);
        })
    }

    /// Counts it for tiers, routes and all together, on top of what was used here where there is `more`.
    fn each_other(&self, state: &State, settings: &PolicySettings, more: bool) {
        let tiers = settings.tiers.iter().map(|tier| {
            let number = state.tier_number(&tier.name);
            (Whose::Tier(tier.name.clone()), number.map(QuotaOf::Tier))
        });
        let routes = settings.routes.iter().map(|route| {
            let number = state.route_number(&route.name);
            (Whose::Route(route.name.clone()), number.map(QuotaOf::Route))
        });
        for (whose, of) in tiers.chain(routes).chain([(Whose::All, Some(QuotaOf::All))]) {
            // With too many names, no policy is made.
            let Some(of) = of else { continue };
            let used = |used: &BTreeMap<Whose, u64>| used.get(&whose).copied().unwrap_or(0);
            let (day, month) = (used(&self.others_of_day), used(&self.others_of_month));
            state.begin_quotas(of, (self.day, day), (self.month, month), more);
        }
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
        settings: &PolicySettings,
    ) -> Result<(), GatewayError> {
        if !have_quotas(settings) || quotas(settings).eq(quotas(&changing.settings)) {
            return Ok(());
        }
        self.read_used(changing, settings)
    }

    /// Reads what was used of a day or month that the clock was changed to: what was counted of it was forgotten for that of
    /// another, or was counted before this process.
    pub(super) fn recall_used(&self) -> Result<(), GatewayError> {
        let changing = self.changing();
        self.read_used(&changing, &changing.settings)
    }

    fn read_used(
        &self,
        changing: &Changing,
        settings: &PolicySettings,
    ) -> Result<(), GatewayError> {
        let (store, path, tiers) = (&changing.store, self.store_path(), &settings.tiers);
        match &mut *self.awaited() {
            Some(awaited) => {
                let used = Used::read(store, path, tiers, Some(&awaited.own))?;
                used.add_since(&awaited.used, store, self.state(), settings)?;
                awaited.used = used;
                Ok(())
            }
            None => Used::read(store, path, tiers, None)?.begin(store, self.state(), settings),
        }
    }

    /// Adds what the gateway that was taken over let through since this one started. To be called once that one has ended.
    pub(super) fn add_used(&self) {
        let changing = self.changing();
        let (store, settings) = (&changing.store, &changing.settings);
        let mut awaited = self.awaited();
        let Some(before) = awaited.take() else { return };
        let added = Used::read(store, self.store_path(), &settings.tiers, Some(&before.own))
            .and_then(|used| used.add_since(&before.used, store, self.state(), settings));
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
fn put(state: &State, key: &KeyRecord) {
    if key.revoked_s.is_some() {
        state.keys.revoke(&key.digest);
    } else {
        state.keys.put_of(&key.key.owner, &key.digest, &settings_of(state, key));
    }
}

fn settings_of(state: &State, key: &KeyRecord) -> Settings {
    // With too many names, a key is of the default tier, and for no route rather than for all.
    Settings {
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
        body_max_bytes: key.key.body_max_bytes,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::keys::{Keys, NewKey, Stamp};
    use crate::policy::{Route, Upstream};
    use crate::usage::ReachedTable;

    /// Requests of the day that each of these tiers begins with, where keys used 100, 10 and 1, and so much of the first tier was
    /// written besides.
    fn begun(tiers: &[&str], written: u64) -> Vec<u64> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gate.db");
        let mut store = Store::open(&path).unwrap();
        let now = Periods::at(unix_s());
        let of = |whose: Whose, used: u64| Reached {
            whose,
            day: (now.day, used),
            month: (now.month, used),
            beside: false,
        };
        let mut all = vec![of(Whose::Tier("free".into()), written)];
        for (tier, used) in [("free", 100), ("gold", 10), ("", 1)] {
            let new = NewKey { tier: tier.into(), ..NewKey::default() };
            let (_, id) = store.add(&new, &Stamp { at_s: 0, by: "test" }).unwrap();
            all.push(of(Whose::Key(id), used));
        }
        ReachedTable::open(&path).unwrap().raise(&all).unwrap();
        let state = State::new(Arc::new(Keys::with_room(3)), 1);
        load(&store, &state).unwrap();
        let quotas = Quotas { day: Some(1000), month: None };
        let tier = |name: &&str| Tier { together_quotas: quotas, ..Tier::unlimited(name) };
        let settings = PolicySettings {
            routes: vec![Route::to(0)],
            tiers: tiers.iter().map(tier).collect(),
            ..PolicySettings::open(Upstream::of("api", "127.0.0.1:1".parse().unwrap()))
        };
        let used = Used::read(&store, &path, &settings.tiers, None).unwrap();
        used.begin(&store, &state, &settings).unwrap();
        let number = |name: &&str| state.tier_number(name).unwrap();
        let day = |name| state.quota_counts(QuotaOf::Tier(number(name))).0.used(now.day);
        tiers.iter().map(day).collect()
    }

    #[test]
    fn a_tier_as_a_whole_begins_with_what_its_keys_used() {
        // A key of no tier, or of one that is not configured, is of the first.
        for (tiers, written, expected) in [
            (&["free", "gold"][..], 0, &[101, 10][..]),
            (&["gold", "free"][..], 0, &[11, 100][..]),
            (&["free"][..], 0, &[111][..]),
            (&["free", "gold"][..], 200, &[200, 10][..]),
        ] {
            assert_eq!(begun(tiers, written), expected, "{tiers:?} {written}");
        }
    }
}
