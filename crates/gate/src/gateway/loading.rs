//! What a gateway begins with: the keys of its store, and what they used of their quotas.

use std::collections::BTreeMap;
use std::path::Path;

use super::GatewayError;
use super::control::{Changing, Control, unix_s};
use super::own::{Counts, Own};
use crate::keys::{Entry, KeyRecord, NamedByKeys, Settings, Store};
use crate::limits::Periods;
use crate::policy::{PolicySettings, Quotas, Route, State, Tier};
use crate::usage::{Period, Reached, Whose, reached, used_by_key, used_by_route};

/// What the keys of a store are, all of which were read.
#[derive(Default)]
pub(super) struct Loaded {
    /// Whether one has a quota of its own.
    pub(super) has_quota: bool,
    /// What those that were not revoked name.
    pub(super) named: NamedByKeys,
}

/// Puts all keys into the table. They are read once: a million of them are most of the time of a start.
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
        key.iter().try_for_each(|key| join_quotas(store, state, key))?;
    }
    Ok(loaded)
}

/// Puts a key into the table as the store has it, with the quota that it counts in.
pub(super) fn follow(store: &Store, state: &State, key: &KeyRecord) -> Result<(), GatewayError> {
    put(state, key);
    join_quotas(store, state, key)
}

/// Has a key that replaces another count in the quota of the first of them, be that revoked.
fn join_quotas(store: &Store, state: &State, key: &KeyRecord) -> Result<(), GatewayError> {
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

/// Lets `keys add` know which tiers and routes there are.
pub(super) fn record_names(store: &Store, settings: &PolicySettings) -> Result<(), GatewayError> {
    let tiers: Vec<&str> = settings.tiers.iter().map(|tier| tier.name.as_str()).collect();
    let routes: Vec<&str> = settings.routes.iter().map(|route| route.name.as_str()).collect();
    store.record_configured(&tiers, &routes).map_err(GatewayError::Store)
}

/// Whether something is configured to have quotas.
pub(super) fn have_quotas(settings: &PolicySettings) -> bool {
    quotas(settings).next().is_some()
}

/// What has quotas, and which: keys of tiers, routes, and all requests together.
fn quotas(settings: &PolicySettings) -> impl Iterator<Item = (&str, &str, Quotas)> {
    let of_tier = |tier: &Tier| Quotas { day: tier.day_quota, month: tier.month_quota };
    let tiers = settings.tiers.iter();
    let tiers = tiers.map(move |tier| ("tier", tier.name.as_str(), of_tier(tier)));
    let routes = settings.routes.iter().map(|route| ("route", route.name.as_str(), route.quotas));
    let all = tiers.chain(routes).chain([("all", "", settings.all_quotas)]);
    all.filter(|(_, _, quotas)| *quotas != Quotas::default())
}

/// Requests that were let through, as the store knows them: by the number of their key, the first of those that replace each
/// other, and by the name of their route; `None` stands for all together.
#[derive(Debug)]
pub(super) struct Used {
    day: u32,
    month: u32,
    of_day: BTreeMap<u64, u64>,
    of_month: BTreeMap<u64, u64>,
    routes_of_day: BTreeMap<Option<String>, u64>,
    routes_of_month: BTreeMap<Option<String>, u64>,
}

/// Counts what was written of a quota where that is more than usage says.
fn raise<K: Ord>(used: &mut BTreeMap<K, u64>, whose: K, reached: u64) {
    let own = used.entry(whose).or_default();
    *own = reached.max(*own);
}

/// What came to counts since they were others; `same` says whether they are of the same time.
fn less<K: Ord + Clone>(
    now: &BTreeMap<K, u64>,
    then: &BTreeMap<K, u64>,
    same: bool,
) -> BTreeMap<K, u64> {
    let then = |name: &K| if same { then.get(name).copied().unwrap_or(0) } else { 0 };
    now.iter().map(|(name, used)| (name.clone(), used.saturating_sub(then(name)))).collect()
}

impl Used {
    /// In the day and the month that it is now. With what this gateway reported itself: of other gateways alone.
    pub(super) fn read(
        store: &Store,
        path: &Path,
        own: Option<&Own>,
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
            let all = (None, used.values().sum::<u64>());
            let routes = used.into_iter().map(|(name, used)| (Some(name), used));
            Ok::<BTreeMap<_, _>, GatewayError>(routes.chain([all]).collect())
        };
        let mut used = Self {
            day: periods.day,
            month: periods.month,
            of_day: of(of_day, own_day)?,
            of_month: of(of_month, own_month)?,
            routes_of_day: of_routes(of_day, own_day)?,
            routes_of_month: of_routes(of_month, own_month)?,
        };
        let all = reached(path, periods.day, periods.month).map_err(GatewayError::File)?;
        let others = all.into_iter().filter(|one| own.is_none() || !one.beside);
        for Reached { whose, day, month, .. } in others {
            let route = match whose {
                Whose::Key(id) => {
                    raise(&mut used.of_day, replaced.first(id), day.1);
                    raise(&mut used.of_month, replaced.first(id), month.1);
                    continue;
                }
                Whose::Route(name) => Some(name),
                Whose::All => None,
            };
            raise(&mut used.routes_of_day, route.clone(), day.1);
            raise(&mut used.routes_of_month, route, month.1);
        }
        Ok(used)
    }

    /// Has keys, these routes and all together begin with it.
    pub(super) fn begin(
        &self,
        store: &Store,
        state: &State,
        routes: &[Route],
    ) -> Result<(), GatewayError> {
        self.each_route(state, routes, false);
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
        routes: &[Route],
    ) -> Result<(), GatewayError> {
        let (same_day, same_month) = (self.day == before.day, self.month == before.month);
        let since = Self {
            of_day: less(&self.of_day, &before.of_day, same_day),
            of_month: less(&self.of_month, &before.of_month, same_month),
            routes_of_day: less(&self.routes_of_day, &before.routes_of_day, same_day),
            routes_of_month: less(&self.routes_of_month, &before.routes_of_month, same_month),
            ..*self
        };
        since.each_route(state, routes, true);
        since.each(store, state, |entry, day, month| {
            entry.day.add(self.day, day);
            entry.month.add(self.month, month);
        })
    }

    /// Counts it for routes and all together, on top of what was used here where there is `more`.
    fn each_route(&self, state: &State, routes: &[Route], more: bool) {
        let of = |used: &BTreeMap<Option<String>, u64>, name: &Option<String>| {
            used.get(name).copied().unwrap_or(0)
        };
        let names = routes.iter().map(|route| Some(route.name.clone()));
        for name in names.chain([None]) {
            let (day, month) = (of(&self.routes_of_day, &name), of(&self.routes_of_month, &name));
            state.begin_quotas(name.as_deref(), (self.day, day), (self.month, month), more);
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
        self.read_used(changing, &settings.routes)
    }

    /// Reads what was used of a day or month that begins again: what was counted of it was forgotten for that of another.
    pub(super) fn recall_used(&self) -> Result<(), GatewayError> {
        let changing = self.changing();
        self.read_used(&changing, &changing.settings.routes)
    }

    fn read_used(&self, changing: &Changing, routes: &[Route]) -> Result<(), GatewayError> {
        let (store, path) = (&changing.store, self.store_path());
        match &mut *self.awaited() {
            Some(awaited) => {
                let used = Used::read(store, path, Some(&awaited.own))?;
                used.add_since(&awaited.used, store, self.state(), routes)?;
                awaited.used = used;
                Ok(())
            }
            None => Used::read(store, path, None)?.begin(store, self.state(), routes),
        }
    }

    /// Adds what the gateway that was taken over let through since this one began. To be called once that has ended.
    pub(super) fn add_used(&self) {
        let changing = self.changing();
        let (store, routes) = (&changing.store, &changing.settings.routes);
        let mut awaited = self.awaited();
        let Some(before) = awaited.take() else { return };
        let added = Used::read(store, self.store_path(), Some(&before.own))
            .and_then(|used| used.add_since(&before.used, store, self.state(), routes));
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
        state.keys.put(&key.digest, &settings_of(state, key));
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
    }
}
