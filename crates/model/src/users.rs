//! How a run's users were served: who had responses, how many, and who waited in vain.
//!
//! A user is a connection. A worker counts what each of its users had ([`UserTally`]) and hands the counts over once,
//! with its last interval; [`Users`] is their summary. `verdict` says whether that is starvation.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::interval::{add_count, add_counts};
use crate::units::{MILLISECOND, Nanos};

/// Counts and waits are rounded down to their first four binary digits, so that a map has few entries
/// however many users there are.
const DIGITS: u32 = 4;
/// Responses from which on a user's fastest says how fast it was served.
const ENOUGH: u64 = 15;
/// Waits at the window's end are kept from here on, with as many binary digits: some 1,000 entries.
const WAITING: (Nanos, u32) = (500 * MILLISECOND, 7);

/// Users by how they were served. Bounded: some 500 entries a map.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UserTally {
    /// By responses, rounded down: users, and their responses.
    served: BTreeMap<u64, (u64, u64)>,
    /// Fewest and most responses of a user that had any.
    least: u64,
    most: u64,
    /// Users that wanted a response and had none, by how long they had waited, rounded down.
    unserved: BTreeMap<Nanos, u64>,
    /// Attempts of those.
    unserved_tries: u64,
    /// Users that had responses and were left without at the end, likewise.
    left: BTreeMap<Nanos, u64>,
    /// Users that waited when the window ended, by how long they had then, if that was long.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    waiting: BTreeMap<Nanos, u64>,
    /// Users with enough responses by how long the fastest took, rounded down.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    fastest: BTreeMap<Nanos, u64>,
    /// Users that wanted nothing.
    idle: u64,
    /// Connections that were opened and asked, and ended without any response.
    mute: u64,
}

impl UserTally {
    /// A user that had `responses`, at least one.
    pub fn served(&mut self, responses: u64) {
        let none_yet = self.served.is_empty();
        self.least = if none_yet { responses } else { self.least.min(responses) };
        self.most = self.most.max(responses);
        let (users, sum) = self.served.entry(rounded_down(responses)).or_default();
        *users = users.saturating_add(1);
        *sum = sum.saturating_add(responses);
    }

    /// The fastest of a user's `responses` took this long.
    pub fn fastest(&mut self, responses: u64, service_ns: Nanos) {
        if responses >= ENOUGH {
            add_count(&mut self.fastest, rounded_down(service_ns), 1);
        }
    }

    /// A user that wanted a response for `waited`, in `tries` attempts, and had none.
    pub fn unserved(&mut self, waited: Nanos, tries: u64) {
        add_count(&mut self.unserved, rounded_down(waited), 1);
        self.unserved_tries = self.unserved_tries.saturating_add(tries);
    }

    /// One of the users that were served has waited for `waited` when the run ended.
    pub fn left(&mut self, waited: Nanos) {
        add_count(&mut self.left, rounded_down(waited), 1);
    }

    /// A user had waited for `waited` when the window ended, whatever happened then.
    pub fn waiting(&mut self, waited: Nanos) {
        if waited >= WAITING.0 {
            add_count(&mut self.waiting, with_digits(waited, WAITING.1), 1);
        }
    }

    /// A user that wanted nothing.
    pub fn idle(&mut self) {
        self.idle = self.idle.saturating_add(1);
    }

    /// So many connections of a user were opened and asked, and ended without any response.
    pub fn mute(&mut self, connections: u64) {
        self.mute = self.mute.saturating_add(connections);
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds another worker's users.
    pub fn merge(&mut self, other: &Self) {
        if !other.served.is_empty() {
            let none_yet = self.served.is_empty();
            self.least = if none_yet { other.least } else { self.least.min(other.least) };
            self.most = self.most.max(other.most);
        }
        for (&key, &(users, responses)) in &other.served {
            let sum = self.served.entry(key).or_default();
            *sum = (sum.0.saturating_add(users), sum.1.saturating_add(responses));
        }
        add_counts(&mut self.unserved, &other.unserved);
        add_counts(&mut self.left, &other.left);
        add_counts(&mut self.waiting, &other.waiting);
        add_counts(&mut self.fastest, &other.fastest);
        self.unserved_tries = self.unserved_tries.saturating_add(other.unserved_tries);
        self.idle = self.idle.saturating_add(other.idle);
        self.mute = self.mute.saturating_add(other.mute);
    }

    /// What the counts come to; nothing where no user was counted.
    pub fn finish(&self) -> Option<Users> {
        if self.is_empty() {
            return None;
        }
        let served = self.served.values().fold(0, |sum: u64, &(n, _)| sum.saturating_add(n));
        Some(Users {
            served,
            unserved: total(&self.unserved),
            idle: self.idle,
            left: total(&self.left),
            least: self.least,
            p10: self.responses_at(0.1, served),
            median: self.responses_at(0.5, served),
            p90: self.responses_at(0.9, served),
            most: self.most,
            best_tenth_share: self.best_tenth_share(served),
            unserved_tries: self.unserved_tries,
            mute: self.mute,
            unserved_waits: self.unserved.clone(),
            left_waits: self.left.clone(),
            end_waits: self.waiting.clone(),
            fastest: self.fastest.clone(),
        })
    }

    /// Responses of the user at this place when they stand in order; the mean of those counted with it.
    fn responses_at(&self, quantile: f64, served: u64) -> u64 {
        let rank = ((quantile * served as f64).ceil() as u64).max(1);
        let mut seen: u64 = 0;
        for &(users, responses) in self.served.values() {
            seen = seen.saturating_add(users);
            if seen >= rank {
                return responses / users.max(1);
            }
        }
        0
    }

    fn best_tenth_share(&self, served: u64) -> Option<f64> {
        let all: f64 = self.served.values().map(|&(_, responses)| responses as f64).sum();
        let (mut left, mut held) = (served as f64 / 10.0, 0.0);
        for &(users, responses) in self.served.values().rev() {
            let taken = left.min(users as f64);
            held += responses as f64 * taken / users.max(1) as f64;
            left -= taken;
        }
        (all > 0.0).then(|| held / all)
    }
}

fn total(of: &BTreeMap<Nanos, u64>) -> u64 {
    of.values().fold(0, |sum, &n| sum.saturating_add(n))
}

/// The value with all but its first binary digits zero.
fn rounded_down(value: u64) -> u64 {
    with_digits(value, DIGITS)
}

fn with_digits(value: u64, digits: u32) -> u64 {
    let drop = (u64::BITS - value.leading_zeros()).saturating_sub(digits);
    value >> drop << drop
}

/// The users of a run: its connections. Counted are responses to attempts that were due in the window,
/// whatever their status.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Users {
    /// That had at least one response.
    pub served: u64,
    /// That wanted one and had none.
    pub unserved: u64,
    /// That wanted none: an open loop did not need them, or the run ended before they came.
    pub idle: u64,
    /// Of those served, the ones that were without a response at the end: three attempts in a row
    /// failed, or one waited for as long as the window allowed.
    pub left: u64,
    /// Responses of the user that had fewest, among those served.
    pub least: u64,
    /// Responses of the user that a tenth of those served are below.
    pub p10: u64,
    /// Responses of the user in the middle.
    pub median: u64,
    /// Responses of the user that a tenth of those served are above.
    pub p90: u64,
    /// Responses of the user that had most.
    pub most: u64,
    /// The part of all responses that the best-served tenth of the users had, 0..=1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best_tenth_share: Option<f64>,
    /// Attempts of the users that had no response.
    pub unserved_tries: u64,
    /// Connections that were opened and asked, and ended without any response, by the time-out or, where their users were
    /// served on others later, by the server: a user may have several.
    pub mute: u64,
    /// Users without a response by how long they waited, in nanoseconds, rounded down.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub unserved_waits: BTreeMap<Nanos, u64>,
    /// Users left without one at the end, likewise.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub left_waits: BTreeMap<Nanos, u64>,
    /// Users that waited when the window ended, by how long they had then, in nanoseconds, rounded down by less
    /// than 2 %; from half a second on.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub end_waits: BTreeMap<Nanos, u64>,
    /// Users of a closed loop with 15 responses or more by how long the fastest of them took (done - sent), in
    /// nanoseconds, rounded down.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub fastest: BTreeMap<Nanos, u64>,
}

impl Users {
    /// Users that wanted a response.
    pub fn wanting(&self) -> u64 {
        self.served.saturating_add(self.unserved)
    }

    /// The part of the users that wanted a response and had one, 0..=1; none where nobody did.
    pub fn served_share(&self) -> Option<f64> {
        let wanting = self.wanting();
        (wanting > 0).then(|| self.served as f64 / wanting as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_counted_and_merged() {
        let (mut a, mut b) = (UserTally::default(), UserTally::default());
        (0..50).for_each(|_| a.served(10));
        (0..40).for_each(|_| b.served(40));
        b.served(100);
        b.unserved(6_000_000_123, 1);
        b.left(2_000_000_000);
        [3_000_000_000, 3_001_000_000, 400_000_000].iter().for_each(|&waited| b.waiting(waited));
        b.idle();
        [(14, 1_000), (15, 1_000), (300, 1_001)].iter().for_each(|&(n, took)| b.fastest(n, took));
        a.merge(&b);
        let users = a.finish().unwrap();
        assert_eq!((users.served, users.unserved, users.idle, users.left), (91, 1, 1, 1));
        assert_eq!((users.least, users.p10, users.median), (10, 10, 10));
        assert_eq!((users.p90, users.most, users.wanting()), (40, 100, 92));
        let share = users.best_tenth_share.unwrap();
        assert!((share - (100.0 + 8.1 * 40.0) / 2200.0).abs() < 1e-9, "{share}");
        let (&waited, &n) = users.unserved_waits.first_key_value().unwrap();
        assert!(waited <= 6_000_000_123 && waited > 5_300_000_000 && n == 1, "{waited}");
        let (&waited, &n) = users.end_waits.first_key_value().unwrap();
        assert!(waited <= 3_000_000_000 && waited > 2_950_000_000 && n == 2, "{waited}");
        assert_eq!(users.fastest, BTreeMap::from([(960, 2)]));
    }

    #[test]
    fn a_million_users_take_few_entries() {
        let mut tally = UserTally::default();
        (1..1_000_000u64).for_each(|n| tally.served(n * 7919 % 1_000_003));
        assert!(tally.served.len() < 200, "{}", tally.served.len());
        assert_eq!(UserTally::default().finish(), None);
        tally.merge(&UserTally::default());
        assert_eq!(tally.least, 1);
    }
}
