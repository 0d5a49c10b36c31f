//! The load line: how much a target carries within its objectives, `plimsoll.loadline/1`. Written by
//! a search for capacity as `capacity.json`, to be read by whatever holds traffic to it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::environment::Program;
use crate::percentile::Summary;
use crate::plan::{Arriving, Today};
use crate::response::CommonestResponse;
use crate::schedule::Arrivals;
use crate::sweep::LevelKind;
use crate::units::Nanos;
use crate::validity::Reason;

/// The schema's name and version.
pub const SCHEMA: &str = "plimsoll.loadline/1";

/// How much a target carries. Rates are arrivals per second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadLine {
    /// `plimsoll.loadline/1`.
    pub schema: String,
    /// The program that measured.
    pub plimsoll: Program,
    /// When the search started, RFC 3339 in UTC.
    pub measured_at: String,
    /// What was searched for. Where it was a concurrency, rates are those that came of it.
    pub kind: LevelKind,
    /// What the rates of a search for a rate count; those that came of a concurrency are of requests.
    #[serde(default)]
    pub arriving: Arriving,
    /// How arrivals were spaced, which the rate holds for: random ones queue at rates that evenly spaced
    /// ones do not. Absent for a concurrency, and in load lines of before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// Requests that an arrival made, mean at the capacity: 1 but where arrivals are sessions.
    #[serde(default = "one")]
    pub requests_per_arrival: f64,
    /// The capacity: the highest rate that held, approached from idle.
    pub rate_per_s: f64,
    /// The capacity is hardly below this.
    pub rate_low_per_s: f64,
    /// The capacity is hardly above this; absent where nothing above was measured.
    pub rate_high_per_s: Option<f64>,
    /// The daily users whose busiest hour comes to these rates, where the users of the load are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daily_users: Option<DailyUsers>,
    /// Whether more may be carried: the generator, or the highest level asked for, was the limit, or the run at the
    /// capacity is a `LOWER_BOUND`, or its latencies are partly the generator's.
    pub at_least: bool,
    /// How long the rate was held to confirm it; absent where it was not.
    pub confirmed_for_ns: Option<Nanos>,
    /// Requests at once there, mean; connections where a concurrency was searched for.
    pub concurrency: f64,
    /// done - due at the capacity.
    pub response_ns: Summary,
    /// done - sent at the capacity.
    pub service_ns: Summary,
    /// Successes / attempts at the capacity, 0..=1.
    pub success_ratio: Option<f64>,
    /// What is to be known of the responses that count as successes there: that some read as errors, say, or lead elsewhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Reason>,
    /// The objectives that held, as `--slo` takes them.
    pub objectives: Vec<String>,
    /// Those that the capacity falls short of, or that were left undecided: throughput asked for, and what is asked of an
    /// endpoint of which no request was due.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<String>,
    /// Why not more; absent where nothing above was measured, or where what broke there was not tried at the capacity.
    pub limited_by: Option<LimitedBy>,
    /// What an overload does to the target; absent where that was not tried.
    pub overload: Option<Overload>,
    /// What it carries while a bounded number of requests keeps it busy; absent where that was not tried, or broke
    /// an objective.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saturated: Option<Saturated>,
    /// Each endpoint's part in the load that was measured.
    pub endpoints: Vec<EndpointShare>,
    /// The generator's machine.
    pub environment: Environment,
    /// What was measured, so that another target is recognized.
    pub target: TargetPrint,
}

const fn one() -> f64 {
    1.0
}

/// Daily users that a target carries, under the assumption that load grows as users do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DailyUsers {
    /// At the capacity.
    pub users: u64,
    /// At [`LoadLine::rate_low_per_s`].
    pub low: u64,
    /// At [`LoadLine::rate_high_per_s`].
    pub high: Option<u64>,
}

/// The objective that keeps the capacity from being higher.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitedBy {
    /// As written, such as `p99<500ms`.
    pub objective: String,
    /// At the capacity.
    pub below: ValueAt,
    /// At the lowest level above it that broke.
    pub above: ValueAt,
}

/// A value under an objective, in nanoseconds or as a ratio.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ValueAt {
    /// Arrivals per second, or connections where a concurrency was searched for.
    pub level: f64,
    /// The value there.
    pub value: f64,
}

/// How the target does at its capacity once it was pushed above it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Overload {
    /// What it was pushed to, in the unit of the search.
    pub level: f64,
    /// Whether it broke at its capacity, twice, when that was approached from above: a collapse.
    pub collapses: bool,
    /// The highest level tried at which it came back under load; absent where none did, or none was
    /// tried.
    pub recovers_at: Option<f64>,
}

/// What a target carries while so many requests are in flight, no more and no fewer: more than of arrivals that come
/// when they like, which leave it idle at times and queue at others. For who can hold requests back.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Saturated {
    /// Requests in flight.
    pub concurrency: u32,
    /// Successful responses per second; every objective held.
    pub requests_per_s: f64,
    /// Mean response time.
    pub mean_ns: Nanos,
    /// How long that was measured.
    pub held_for_ns: Nanos,
}

/// Standard deviations of a Poisson number above its mean: enough for a target never to be idle,
const BUSY_DEVIATIONS: f64 = 3.0;
/// and so many that more come once in a billion.
const SELDOM_DEVIATIONS: f64 = 6.0;

/// How many requests in flight keep a target busy that works on so many at a time at its capacity.
fn keeps_busy(at_a_time: f64) -> f64 {
    (at_a_time + BUSY_DEVIATIONS * at_a_time.sqrt()).max(1.0).ceil()
}

/// How many requests of random arrivals at a rate are seldom exceeded in flight, where their mean number was measured and
/// the p99 of their response times: as many as arrive within that, and at least six deviations of a Poisson number
/// above the mean.
pub fn seldom_exceeded(rate_per_s: f64, in_flight_mean: f64, p99_ns: Nanos) -> f64 {
    let in_p99 = rate_per_s * p99_ns as f64 / 1e9;
    let by_chance = in_flight_mean + SELDOM_DEVIATIONS * in_flight_mean.sqrt();
    by_chance.max(in_p99).max(1.0).ceil()
}

/// Where a target is kept busy, percentiles are to be within this part of their limits: beside them, chance puts them outside.
pub const WITHIN: f64 = 0.8;
/// Numbers in flight that a target is tried with at most.
const BUSY_TRIES: usize = 5;

/// The number in flight to try a target with next that is kept busy, if one, after those `tried` that were too many: first
/// what lets all random arrivals wait (`most`, of [`seldom_exceeded`]), then always half of the way down to the number that
/// it works on at a time.
pub fn busy_next(most: f64, at_a_time: f64, tried: &[f64]) -> Option<f64> {
    let Some(last) = tried.last() else { return Some(most.max(keeps_busy(at_a_time))) };
    let next = f64::midpoint(at_a_time, *last).floor();
    (tried.len() < BUSY_TRIES && (1.0..*last).contains(&next)).then_some(next)
}

/// One endpoint in the load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EndpointShare {
    /// Method and path template.
    pub endpoint: String,
    /// Its share of the requests, 0..=1.
    pub share: f64,
    /// Its mean service time at the capacity.
    pub service_mean_ns: Nanos,
    /// What one of its requests costs, by service time, where the mean over all requests costs 1.
    pub cost: f64,
    /// Its requests per second at the capacity.
    #[serde(default)]
    pub requests_per_s: f64,
    /// Those that the workload file asks for; absent where it says no rates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted_per_s: Option<f64>,
    /// done - due at the capacity; absent in load lines of before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_ns: Option<Summary>,
    /// How fast it answers in production, where the workload file says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub today: Option<Today>,
}

/// What distinguishes targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetPrint {
    /// The URL asked for.
    pub url: String,
    /// The HTTP method.
    pub method: String,
    /// Addresses connected to.
    pub addresses: Vec<String>,
    /// Whether TLS was used.
    pub tls: bool,
    /// The commonest response.
    #[serde(rename = "answer")]
    pub commonest_response: Option<CommonestResponse>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_seldom_exceeded_is_six_deviations_or_arrives_within_the_p99() {
        assert_eq!(seldom_exceeded(941.0, 11.0, 40_000_000), 38.0);
        assert_eq!(seldom_exceeded(941.0, 11.0, 0), 31.0);
        assert_eq!(seldom_exceeded(1.0, 0.0, 0), 1.0);
    }

    #[test]
    fn fewer_are_tried_where_more_are_too_many() {
        let all = |most, at_a_time| {
            let mut tried = Vec::new();
            while let Some(next) = busy_next(most, at_a_time, &tried) {
                tried.push(next);
            }
            tried
        };
        assert_eq!(all(38.0, 3.8), [38.0, 20.0, 11.0, 7.0, 5.0]);
        // Nothing waits at the line.
        assert_eq!(all(3.0, 3.8)[0], 10.0);
        assert_eq!(all(112.0, 60.0), [112.0, 86.0, 73.0, 66.0, 63.0]);
        assert_eq!(all(1.0, 0.0), [1.0]);
    }
}
