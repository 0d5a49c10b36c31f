//! What single endpoints and flows brought over a run, summed from intervals.
//!
//! Latencies are kept as the buckets that hold something: a thousand endpoints with a histogram of all
//! buckets each would take a gigabyte. Bounded by what an endpoint can fill, at most [`MOST_ENDPOINTS`]
//! of them are distinguished, and time is kept in few blocks where there are many.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::blocks::{Block, BlockSums};
use crate::histogram::{Latencies, SparseLatencies};
use crate::interval::{
    EndpointTally, FlowTally, Interval, MOST_ENDPOINTS, OTHERS, add_count, tallies_needed,
};
use crate::outcome::{ErrorClass, ErrorCounts};
use crate::percentile::Summary;
use crate::plan::{EndpointPlan, FlowPlan, Mix};
use crate::units::{Nanos, SECOND};

/// With more endpoints than this, time is kept in fewer blocks.
const MANY_ENDPOINTS: usize = 100;
/// Blocks of each endpoint then.
const FEW_BLOCKS: usize = 16;

/// One endpoint's results over the measured window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EndpointRun {
    /// Its name: `GET /users/{id}`.
    pub name: String,
    /// Attempts due in the window, whatever became of them.
    pub attempts: u64,
    /// Whole responses.
    pub requests: u64,
    /// Responses that count as success.
    pub succeeded: u64,
    /// Dropped before sending.
    pub unsent: u64,
    /// Still open when the run ended.
    pub unfinished: u64,
    /// Failures by class.
    pub errors: ErrorCounts,
    /// Responses by status.
    pub statuses: BTreeMap<u16, u64>,
    /// Responses that failed a check, by the check in words.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failed_checks: BTreeMap<String, u64>,
    /// Responses done inside the window / window.
    pub requests_per_s: f64,
    /// Its part of all requests asked for, 0..=1; absent where none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_asked: Option<f64>,
    /// Its part of all attempts, 0..=1; absent without attempts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Arrivals asked for per second, where it has a rate of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_asked_per_s: Option<f64>,
    /// Connections planned, where it has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<u32>,
    /// Its requests unanswered, mean over the window: the sum of service times over the window, or, where those of all
    /// endpoints come to more, its part of the requests that were unanswered.
    pub in_flight_mean: f64,
    /// done - due.
    pub response_ns: Summary,
    /// done - sent.
    pub service_ns: Summary,
    /// Response times: HdrHistogram V2 compressed, base64; absent without samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    /// Service times likewise; absent where they are the response times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// The first response that failed, in words and as much of its body as is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<String>,
    /// The window in periods of equal length, at most 64, or 16 where there are over 100 endpoints.
    pub blocks: Vec<Block>,
}

/// One flow's results: the sessions that were due in the measured window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowRun {
    /// Its name.
    pub name: String,
    /// Sessions that began.
    pub started: u64,
    /// Sessions that ended whole.
    pub completed: u64,
    /// Sessions that a failed step ended.
    pub failed: u64,
    /// Sessions cut off by the window's end.
    pub unfinished: u64,
    /// Failed sessions by the name of the step.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failed_at: BTreeMap<String, u64>,
    /// Whole sessions that ended inside the window / window: TPS.
    pub transactions_per_s: f64,
    /// Requests sent by a session, mean over those that ended, whole or failed; absent where none did,
    /// and in runs of before it was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_per_session: Option<f64>,
    /// Its part of all arrivals or turns asked for, 0..=1; absent where none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_asked: Option<f64>,
    /// Sessions asked for per second, where it has a rate of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_asked_per_s: Option<f64>,
    /// Connections planned, where it has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<u32>,
    /// From when a whole session was due to its last response, pauses included. Sessions that the window's end cut off are
    /// not in it: where these are many, it is of the shorter ones.
    pub session_ns: Summary,
}

/// The sums of a run's endpoints and flows.
#[derive(Debug)]
pub(crate) struct MixSums {
    endpoints: Vec<EndpointSum>,
    flows: Vec<FlowTally>,
}

#[derive(Debug, Default)]
struct EndpointSum {
    tally: EndpointTally,
    blocks: BlockSums,
}

impl MixSums {
    /// Room for the endpoints of a plan.
    pub(crate) fn of(mix: &Mix) -> Self {
        let tallies_needed = tallies_needed(mix.endpoints.len());
        let blocks = || {
            if tallies_needed > MANY_ENDPOINTS {
                BlockSums::of(FEW_BLOCKS)
            } else {
                BlockSums::default()
            }
        };
        let endpoint = |_| EndpointSum { tally: EndpointTally::default(), blocks: blocks() };
        Self {
            endpoints: (0..tallies_needed).map(endpoint).collect(),
            flows: vec![FlowTally::default(); mix.flows.len()],
        }
    }

    /// Adds an interval of the window or the drain.
    pub(crate) fn add(&mut self, interval: &Interval) {
        let mut held = interval.tally.endpoints.iter().peekable();
        let nothing = EndpointTally::default();
        for (index, sum) in self.endpoints.iter_mut().enumerate() {
            let tally = held.next_if(|tally| tally.endpoint as usize == index).unwrap_or(&nothing);
            sum.blocks.add_endpoint(interval, tally);
            sum.tally.merge(tally);
        }
        for tally in &interval.tally.flows {
            if let Some(sum) = self.flows.get_mut(tally.flow as usize) {
                sum.merge(tally);
            }
        }
    }

    /// The results of all endpoints and flows.
    pub(crate) fn finish(self, mix: &Mix, over: &Over) -> (Vec<EndpointRun>, Vec<FlowRun>) {
        let mut scratch = Latencies::new();
        let others = EndpointPlan { name: OTHERS.into(), ..EndpointPlan::default() };
        let plans = mix.endpoints.iter().take(MOST_ENDPOINTS).chain(std::iter::once(&others));
        let endpoints = self.endpoints.into_iter().zip(plans);
        let endpoints = endpoints.map(|(sum, plan)| sum.finish(plan, over, &mut scratch));
        let mut endpoints: Vec<EndpointRun> = endpoints.collect();
        over.share_in_flight(&mut endpoints);
        let flows = self.flows.iter().zip(&mix.flows);
        let flows = flows.map(|(sum, plan)| flow(sum, plan, mix, over, &mut scratch)).collect();
        (endpoints, flows)
    }
}

/// What shares and rates are of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Over {
    attempts: u64,
    seconds: f64,
    /// What rates are over: the window, or longer.
    rates_s: f64,
    in_flight: f64,
}

impl Over {
    /// All attempts of a run, its window, and its requests unanswered, mean over the window.
    pub(crate) fn new(attempts: u64, duration_ns: Nanos, in_flight: f64) -> Self {
        let seconds = duration_ns as f64 / SECOND as f64;
        Self { attempts, seconds, rates_s: seconds, in_flight }
    }

    /// With rates over so long, as those of the whole run are.
    pub(crate) fn with_rates_over(self, over_ns: Nanos) -> Self {
        Self { rates_s: over_ns as f64 / SECOND as f64, ..self }
    }

    /// Service times that reach beyond the window are whole in their sums: of requests that hang these would be more than
    /// were in flight at all.
    fn share_in_flight(&self, endpoints: &mut [EndpointRun]) {
        let all: f64 = endpoints.iter().map(|endpoint| endpoint.in_flight_mean).sum();
        if self.in_flight > 0.0 && all > self.in_flight {
            let part = self.in_flight / all;
            endpoints.iter_mut().for_each(|endpoint| endpoint.in_flight_mean *= part);
        }
    }

    fn per_second(&self, count: f64) -> f64 {
        if self.rates_s > 0.0 { count / self.rates_s } else { 0.0 }
    }

    /// The mean over the window of a level, of which this is the sum over its seconds.
    fn mean(&self, sum: f64) -> f64 {
        if self.seconds > 0.0 { sum / self.seconds } else { 0.0 }
    }
}

impl EndpointSum {
    fn finish(self, plan: &EndpointPlan, over: &Over, scratch: &mut Latencies<u64>) -> EndpointRun {
        let EndpointSum { tally, blocks } = self;
        let attempts = tally.attempts();
        let check = |index: u16| {
            let words = plan.checks.get(usize::from(index)).cloned();
            words.unwrap_or_else(|| format!("check {}", index + 1))
        };
        let (service_ns, service) = stored(&tally.service, scratch);
        let (response_ns, response) = stored(&tally.response, scratch);
        EndpointRun {
            name: plan.name.clone(),
            attempts,
            requests: tally
                .succeeded
                .saturating_add(tally.errors.of(ErrorClass::Status))
                .saturating_add(tally.errors.of(ErrorClass::Check)),
            succeeded: tally.succeeded,
            unsent: tally.unsent,
            unfinished: tally.unfinished,
            errors: tally.errors,
            statuses: tally.statuses,
            failed_checks: tally.failed_checks.iter().map(|(&i, &n)| (check(i), n)).collect(),
            requests_per_s: over.per_second(tally.responses_done as f64),
            share_asked: plan.share,
            share: (over.attempts > 0).then(|| attempts as f64 / over.attempts as f64),
            rate_asked_per_s: plan.rate_per_s,
            connections: plan.connections,
            in_flight_mean: over.mean(tally.service.sum() as f64 / SECOND as f64),
            response_ns,
            service_ns,
            service: if tally.service == tally.response { None } else { service },
            response,
            sample: tally.sample,
            blocks: blocks.finish(),
        }
    }
}

fn stored(times: &SparseLatencies, scratch: &mut Latencies<u64>) -> (Summary, Option<String>) {
    times.fill(scratch);
    (scratch.summary(), (scratch.count() > 0).then(|| scratch.to_base64()))
}

fn flow(
    sum: &FlowTally,
    plan: &FlowPlan,
    mix: &Mix,
    over: &Over,
    scratch: &mut Latencies<u64>,
) -> FlowRun {
    let step = |index: u16| {
        let endpoint = plan.steps.get(usize::from(index));
        let named = endpoint.and_then(|&endpoint| mix.endpoints.get(endpoint as usize));
        named.map_or_else(|| format!("step {}", index + 1), |endpoint| endpoint.name.clone())
    };
    let failed = sum.failed_at.values().fold(0, |sum: u64, &n| sum.saturating_add(n));
    let mut failed_at = BTreeMap::new();
    sum.failed_at.iter().for_each(|(&at, &n)| add_count(&mut failed_at, step(at), n));
    sum.times.fill(scratch);
    let ended = sum.completed.saturating_add(failed);
    FlowRun {
        name: plan.name.clone(),
        started: sum.started,
        completed: sum.completed,
        failed,
        unfinished: sum.started.saturating_sub(ended),
        failed_at,
        requests_per_session: (sum.requests > 0).then(|| sum.requests as f64 / ended as f64),
        transactions_per_s: over.per_second(sum.completed_done as f64),
        share_asked: plan.share,
        rate_asked_per_s: plan.rate_per_s,
        connections: plan.connections,
        session_ns: scratch.summary(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::{Phase, Tally};

    fn interval(index: u32, endpoints: Vec<EndpointTally>) -> Interval {
        let start_ns = u64::from(index) * SECOND;
        let tally = Tally { endpoints, ..Tally::default() };
        let (end_ns, phase) = (start_ns + SECOND, Phase::Window);
        Interval { tally, ..Interval::new(index, phase, start_ns, end_ns) }
    }

    fn succeeded(endpoint: u32, n: u64) -> EndpointTally {
        EndpointTally { endpoint, succeeded: n, responses_done: n, ..EndpointTally::default() }
    }

    fn mix(endpoints: usize) -> Mix {
        let named = |n| EndpointPlan { name: format!("GET /{n}"), ..EndpointPlan::default() };
        Mix { endpoints: (0..endpoints).map(named).collect(), flows: Vec::new() }
    }

    #[test]
    fn seconds_without_an_attempt_are_blocks_as_well() {
        let mix = mix(2);
        let mut sums = MixSums::of(&mix);
        for index in 0..10 {
            let tallies = if index == 7 { vec![succeeded(1, 5)] } else { Vec::new() };
            sums.add(&interval(index, tallies));
        }
        let (endpoints, _) = sums.finish(&mix, &Over::new(5, 10 * SECOND, 0.0));
        assert_eq!((endpoints[0].attempts, endpoints[0].blocks.len()), (0, 10));
        let second = &endpoints[1];
        assert_eq!((second.attempts, second.share, second.requests_per_s), (5, Some(1.0), 0.5));
        let over = Over::new(5, 9 * SECOND, 0.0).with_rates_over(20 * SECOND);
        let mut sums = MixSums::of(&mix);
        sums.add(&interval(0, vec![succeeded(1, 5)]));
        assert_eq!(sums.finish(&mix, &over).0[1].requests_per_s, 0.25, "as the run's");
        let by_block: Vec<u64> = second.blocks.iter().map(|block| block.responses_done).collect();
        assert_eq!(by_block, [0, 0, 0, 0, 0, 0, 0, 5, 0, 0]);
    }

    #[test]
    fn more_than_a_thousand_count_together_and_in_few_blocks() {
        let mix = mix(1500);
        let mut sums = MixSums::of(&mix);
        for index in 0..100 {
            sums.add(&interval(index, vec![succeeded(3, 1), succeeded(1000, 2)]));
        }
        let (endpoints, _) = sums.finish(&mix, &Over::new(300, 100 * SECOND, 0.0));
        assert_eq!((endpoints.len(), endpoints[1000].name.as_str()), (1001, OTHERS));
        assert_eq!((endpoints[3].attempts, endpoints[1000].attempts), (100, 200));
        assert!(endpoints[3].blocks.len() <= FEW_BLOCKS);
    }
}
