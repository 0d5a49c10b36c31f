//! What all policies of a process share: what is used of limits, and the numbers of names.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::QuotaOf;
use super::addresses::Addresses;
use super::shadowed::Shadowed;
use super::sharing::Share;
use crate::admission::Ceiling;
use crate::keys::Keys;
use crate::limits::{AtOnce, Calendar, Gcra, Quota};
use crate::shared::Meter;
use crate::usage::Hub;

/// Names of one kind that a process may ever have.
pub(crate) const NAMES_MOST: usize = 1024;

/// What is used of the limits of one thing.
#[derive(Debug, Default)]
pub(super) struct Used {
    pub rate: Gcra,
    pub in_flight: AtOnce,
    pub day: Quota,
    pub month: Quota,
    /// Requests let through that were not reported to other gateways yet; of what has quotas.
    pub unreported: AtomicU32,
    /// Of a tier: the share of each of its keys.
    pub share: Share,
}

impl Used {
    /// Requests of the day and of the month.
    pub fn of_quotas(&self) -> (&Quota, &Quota) {
        (&self.day, &self.month)
    }
}

/// Names of one kind, numbered as they come. A name keeps its number.
#[derive(Debug, Default)]
pub(super) struct Names(Mutex<Vec<String>>);

impl Names {
    /// The number of a name; `None` where there have been too many names.
    pub fn number(&self, name: &str) -> Option<u32> {
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = names.iter().position(|known| known == name).or_else(|| {
            (names.len() < NAMES_MOST).then(|| {
                names.push(name.to_owned());
                names.len() - 1
            })
        });
        found.map(|number| number as u32)
    }
}

/// What all policies of a process share.
#[derive(Debug)]
pub struct State {
    /// The keys; they may change at any time.
    pub keys: Arc<Keys>,
    /// The time, as far as quotas and expiries need it.
    pub calendar: Calendar,
    /// What is let through in all.
    pub ceiling: Ceiling,
    /// Where workers hand over what they counted.
    pub usage: Arc<Hub>,
    /// What came of shadow requests.
    pub shadowed: Shadowed,
    /// What is reported to other gateways.
    pub shared: Meter,
    /// The unique name of this process in `Via`, by which it recognises requests that come back to it.
    pub via: String,
    pub(super) all: Used,
    pub(super) routes: Box<[Used]>,
    pub(super) tiers: Box<[Used]>,
    pub(super) addresses: Addresses,
    pub(super) route_names: Names,
    pub(super) tier_names: Names,
    pub(super) upstream_names: Names,
    /// Sets of routes that keys are for, as sorted names joined by commas; number 0 is all routes.
    route_sets: Names,
    /// The numbers of the routes of each set.
    routes_of_sets: Box<[OnceLock<Box<[u32]>>]>,
}

impl State {
    /// Nothing used, with these keys. `seed` should be a random number.
    pub fn new(keys: Arc<Keys>, seed: u64) -> Self {
        let used = || (0..NAMES_MOST).map(|_| Used::default()).collect();
        let state = Self {
            keys,
            calendar: Calendar::default(),
            ceiling: Ceiling::default(),
            usage: Arc::default(),
            shadowed: Shadowed::default(),
            shared: Meter::default(),
            via: format!("plimsoll-{:016x}", RandomState::new().hash_one(0)),
            all: Used::default(),
            routes: used(),
            tiers: used(),
            addresses: Addresses::new(seed),
            route_names: Names::default(),
            tier_names: Names::default(),
            upstream_names: Names::default(),
            route_sets: Names::default(),
            routes_of_sets: (0..NAMES_MOST).map(|_| OnceLock::new()).collect(),
        };
        state.route_sets.number("");
        state.tier_names.number("");
        state
    }

    /// The number of a tier by its name, for [`crate::keys::Settings::tier`]; 0 for no name, which stands for the first
    /// tier of the policy in force. So do names that the policy has not. `None` after 1,024 names.
    pub fn tier_number(&self, name: &str) -> Option<u32> {
        self.tier_names.number(name)
    }

    /// The number of a set of routes by their names, for [`crate::keys::Settings::routes`]. `None` after 1,024 sets.
    pub fn route_set(&self, names: &[String]) -> Option<u32> {
        if names.is_empty() {
            return Some(0);
        }
        let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        let set = self.route_sets.number(&names.join(","))?;
        let numbers: Option<Box<[u32]>> =
            names.iter().map(|name| self.route_names.number(name)).collect();
        let mut numbers = numbers?;
        numbers.sort_unstable();
        self.routes_of_sets[set as usize].get_or_init(|| numbers);
        Some(set)
    }

    /// The number of a route by its name. `None` after 1,024 names.
    pub(crate) fn route_number(&self, name: &str) -> Option<u32> {
        self.route_names.number(name)
    }

    /// Sets how much of its quotas something has used: of a day and of a month, each with its number. With `more`, it is added
    /// to what was counted here.
    pub(crate) fn begin_quotas(
        &self,
        of: QuotaOf,
        (day, of_day): (u32, u64),
        (month, of_month): (u32, u64),
        more: bool,
    ) {
        let (its_day, its_month) = self.quota_counts(of);
        let count: fn(&Quota, u32, u64) = if more { Quota::add } else { Quota::raise };
        count(its_day, day, of_day);
        count(its_month, month, of_month);
    }

    /// Whether a set, as [`Self::route_set`] numbered it, has a route.
    pub(super) fn set_has(&self, set: u32, route: u32) -> bool {
        let routes = self.routes_of_sets.get(set as usize).and_then(OnceLock::get);
        set == 0 || routes.is_some_and(|routes| routes.binary_search(&route).is_ok())
    }
}
