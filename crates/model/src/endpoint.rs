//! What single endpoints and flows brought: tallies an interval at a time, and their sums over a run.
//!
//! Latencies are kept as the buckets that hold something: a thousand endpoints with a histogram of all
//! buckets each would take a gigabyte. Bounded by what an endpoint can fill, at most [`MOST_ENDPOINTS`]
//! of them are told apart, and time is kept in few blocks where there are many.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::blocks::{Block, BlockSum, BlockSums, Span};
use crate::histogram::Latencies;
use crate::interval::Interval;
use crate::outcome::{ErrorClass, ErrorCounts};
use crate::percentile::Summary;
use crate::plan::{EndpointPlan, FlowPlan, Mix};
use crate::units::{Nanos, SECOND};

/// Endpoints told apart; what follows them counts together, as [`OTHERS`].
pub const MOST_ENDPOINTS: usize = 1000;
/// The name of all endpoints that are not told apart.
pub const OTHERS: &str = "(others)";
/// Bytes of a failed answer that are kept.
pub const SAMPLE_BYTES: usize = 4096;
/// From so many endpoints on, time is kept in fewer blocks.
const MANY_ENDPOINTS: usize = 100;
/// Blocks of each endpoint then.
const FEW_BLOCKS: usize = 16;

/// A distribution of latencies as the buckets that hold something. Unlike [`Latencies`] it takes
/// memory for what is in it alone, and time to put something in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Times {
    /// Exact sum.
    sum: u128,
    /// Exact smallest and largest; 0 when empty.
    min: Nanos,
    max: Nanos,
    /// (highest latency of the bucket, count), ascending.
    buckets: Vec<(Nanos, u64)>,
}

impl Times {
    /// Adds latencies, in any order; they are sorted.
    pub fn add(&mut self, values: &mut [Nanos], ruler: &Latencies) {
        values.sort_unstable();
        let [first, .., last] = values else {
            return values.first().into_iter().for_each(|&only| {
                self.append(&Self {
                    sum: only.into(),
                    min: only,
                    max: only,
                    buckets: vec![(ruler.bucket_of(only), 1)],
                });
            });
        };
        let mut added = Self { min: *first, max: *last, ..Self::default() };
        for &value in &*values {
            added.sum += u128::from(value);
            let bucket = ruler.bucket_of(value);
            match added.buckets.last_mut() {
                Some((last, count)) if *last == bucket => *count += 1,
                _ => added.buckets.push((bucket, 1)),
            }
        }
        self.append(&added);
    }

    /// Adds another distribution.
    pub fn append(&mut self, other: &Self) {
        if other.buckets.is_empty() {
            return;
        }
        self.min = if self.buckets.is_empty() { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.sum = self.sum.saturating_add(other.sum);
        self.buckets.extend_from_slice(&other.buckets);
        self.buckets.sort_unstable_by_key(|&(value, _)| value);
        self.buckets.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 = kept.1.saturating_add(later.1);
            }
            same
        });
    }

    /// How many latencies are in it.
    pub fn count(&self) -> u64 {
        self.buckets.iter().fold(0, |count, &(_, n)| count.saturating_add(n))
    }

    /// Exact sum, in nanoseconds.
    pub const fn sum(&self) -> u128 {
        self.sum
    }

    /// Exact largest; 0 when empty.
    pub const fn max(&self) -> Nanos {
        self.max
    }

    /// The buckets that hold something: (highest latency, count), ascending.
    pub fn buckets(&self) -> &[(Nanos, u64)] {
        &self.buckets
    }

    /// The same with all its buckets, in `latencies`, which is emptied first.
    pub fn fill(&self, latencies: &mut Latencies<u64>) {
        latencies.clear();
        self.buckets.iter().for_each(|&(value, n)| latencies.record_many(value, n));
        latencies.set_exact(self.sum, self.min, self.max);
    }
}

/// What one endpoint's attempts came to in an interval, as [`crate::Tally`] says of all.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EndpointTally {
    /// Index into the plan's endpoints.
    pub endpoint: u32,
    /// Attempts that succeeded.
    pub succeeded: u64,
    /// Attempts dropped before sending.
    pub unsent: u64,
    /// Attempts still open when the run ended.
    pub unfinished: u64,
    /// Failed attempts by class.
    pub errors: ErrorCounts,
    /// Whole answers that arrived inside the interval's phase.
    pub answers_done: u64,
    /// Answers by status.
    pub statuses: BTreeMap<u16, u64>,
    /// Answers that failed a check, by its index.
    pub failed_checks: BTreeMap<u16, u64>,
    /// done - due.
    pub response: Times,
    /// done - sent.
    pub service: Times,
    /// The first answer that failed, in words and as much of its body as is kept.
    pub sample: Option<String>,
}

impl EndpointTally {
    /// Attempts that ended here, whatever became of them.
    pub fn attempts(&self) -> u64 {
        let unanswered = self.unsent.saturating_add(self.unfinished);
        self.succeeded.saturating_add(unanswered).saturating_add(self.errors.total())
    }

    /// Adds what was counted elsewhere or later.
    pub fn merge(&mut self, other: &Self) {
        self.succeeded = self.succeeded.saturating_add(other.succeeded);
        self.unsent = self.unsent.saturating_add(other.unsent);
        self.unfinished = self.unfinished.saturating_add(other.unfinished);
        self.errors.merge(&other.errors);
        self.answers_done = self.answers_done.saturating_add(other.answers_done);
        add_counts(&mut self.statuses, &other.statuses);
        add_counts(&mut self.failed_checks, &other.failed_checks);
        self.response.append(&other.response);
        self.service.append(&other.service);
        if self.sample.is_none() {
            self.sample.clone_from(&other.sample);
        }
    }
}

/// What one flow's sessions came to in an interval: those that began in the window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FlowTally {
    /// Index into the plan's flows.
    pub flow: u32,
    /// Sessions that began.
    pub started: u64,
    /// Sessions that ended whole.
    pub completed: u64,
    /// Those of them that ended inside the interval's phase, whenever they began: throughput.
    pub completed_done: u64,
    /// Sessions that failed, by the step that they failed at.
    pub failed_at: BTreeMap<u16, u64>,
    /// Requests sent by the sessions that ended, whole or failed.
    pub requests: u64,
    /// From when a session was due to its end, of those that ended whole.
    pub times: Times,
}

impl FlowTally {
    /// Adds what was counted elsewhere or later.
    pub fn merge(&mut self, other: &Self) {
        self.started = self.started.saturating_add(other.started);
        self.completed = self.completed.saturating_add(other.completed);
        self.completed_done = self.completed_done.saturating_add(other.completed_done);
        add_counts(&mut self.failed_at, &other.failed_at);
        self.requests = self.requests.saturating_add(other.requests);
        self.times.append(&other.times);
    }
}

fn add_counts<K: Ord + Copy>(into: &mut BTreeMap<K, u64>, from: &BTreeMap<K, u64>) {
    for (&key, n) in from {
        let sum = into.entry(key).or_default();
        *sum = sum.saturating_add(*n);
    }
}

/// Adds the tallies of `from` to those of the same index in `into`; both are in the order of indexes.
pub(crate) fn merge_by<T: Clone>(
    into: &mut Vec<T>,
    from: &[T],
    index: impl Fn(&T) -> u32,
    merge: impl Fn(&mut T, &T),
) {
    for one in from {
        match into.binary_search_by_key(&index(one), &index) {
            Ok(at) => merge(&mut into[at], one),
            Err(at) => into.insert(at, one.clone()),
        }
    }
}

/// One endpoint's results over the measured window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EndpointRun {
    /// Its name: `GET /users/{id}`.
    pub name: String,
    /// Attempts due in the window, whatever became of them.
    pub attempts: u64,
    /// Whole answers.
    pub requests: u64,
    /// Answers that count as success.
    pub succeeded: u64,
    /// Dropped before sending.
    pub unsent: u64,
    /// Still open when the run ended.
    pub unfinished: u64,
    /// Failures by class.
    pub errors: ErrorCounts,
    /// Answers by status.
    pub statuses: BTreeMap<u16, u64>,
    /// Answers that failed a check, by the check in words.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failed_checks: BTreeMap<String, u64>,
    /// Answers done inside the window / window.
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
    /// Its requests unanswered, mean over the window: the sum of service times over the window.
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
    /// The first answer that failed, in words and as much of its body as is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<String>,
    /// The window in stretches of equal length, at most 64, or 16 where there are over 100 endpoints.
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
    /// From when a whole session was due to its last answer, pauses included.
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
    /// Room for what a plan tells apart.
    pub(crate) fn of(mix: &Mix) -> Self {
        let told_apart = told_apart(mix.endpoints.len());
        let blocks = || {
            if told_apart > MANY_ENDPOINTS {
                BlockSums::of(FEW_BLOCKS)
            } else {
                BlockSums::default()
            }
        };
        let endpoint = |_| EndpointSum { tally: EndpointTally::default(), blocks: blocks() };
        Self {
            endpoints: (0..told_apart).map(endpoint).collect(),
            flows: vec![FlowTally::default(); mix.flows.len()],
        }
    }

    /// Adds an interval of the window or the drain.
    pub(crate) fn add(&mut self, interval: &Interval) {
        let span = Span::of(interval);
        let mut held = interval.tally.endpoints.iter().peekable();
        let nothing = EndpointTally::default();
        for (index, sum) in self.endpoints.iter_mut().enumerate() {
            let tally = held.next_if(|tally| tally.endpoint as usize == index).unwrap_or(&nothing);
            sum.blocks.put(span, BlockSum::of_endpoint(span, tally));
            sum.tally.merge(tally);
        }
        for tally in &interval.tally.flows {
            if let Some(sum) = self.flows.get_mut(tally.flow as usize) {
                sum.merge(tally);
            }
        }
    }

    /// The results of all endpoints and flows over `duration_ns`.
    pub(crate) fn finish(
        self,
        mix: &Mix,
        attempts: u64,
        duration_ns: Nanos,
    ) -> (Vec<EndpointRun>, Vec<FlowRun>) {
        let mut scratch = Latencies::new();
        let over = Over { attempts, seconds: duration_ns as f64 / SECOND as f64 };
        let others = EndpointPlan { name: OTHERS.into(), ..EndpointPlan::default() };
        let plans = mix.endpoints.iter().take(MOST_ENDPOINTS).chain(std::iter::once(&others));
        let endpoints = self.endpoints.into_iter().zip(plans);
        let endpoints =
            endpoints.map(|(sum, plan)| sum.finish(plan, &over, &mut scratch)).collect();
        let flows = self.flows.iter().zip(&mix.flows);
        let flows = flows.map(|(sum, plan)| flow(sum, plan, mix, &over, &mut scratch)).collect();
        (endpoints, flows)
    }
}

/// Endpoints that are told apart of so many, those that count together being one of them.
pub const fn told_apart(endpoints: usize) -> usize {
    if endpoints > MOST_ENDPOINTS { MOST_ENDPOINTS + 1 } else { endpoints }
}

/// What shares and rates are of.
struct Over {
    attempts: u64,
    seconds: f64,
}

impl Over {
    fn per_second(&self, count: f64) -> f64 {
        if self.seconds > 0.0 { count / self.seconds } else { 0.0 }
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
            requests_per_s: over.per_second(tally.answers_done as f64),
            share_asked: plan.share,
            share: (over.attempts > 0).then(|| attempts as f64 / over.attempts as f64),
            rate_asked_per_s: plan.rate_per_s,
            connections: plan.connections,
            in_flight_mean: over.per_second(tally.service.sum() as f64 / SECOND as f64),
            response_ns,
            service_ns,
            service: if tally.service == tally.response { None } else { service },
            response,
            sample: tally.sample,
            blocks: blocks.finish(),
        }
    }
}

fn stored(times: &Times, scratch: &mut Latencies<u64>) -> (Summary, Option<String>) {
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
    for (&at, &n) in &sum.failed_at {
        let count: &mut u64 = failed_at.entry(step(at)).or_default();
        *count = count.saturating_add(n);
    }
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
    use proptest::prelude::*;

    use super::*;
    use crate::interval::{Phase, Tally};

    proptest! {
        #[test]
        fn sparse_times_are_the_whole_histogram(
            mut first in prop::collection::vec(0..10 * SECOND, 0..60),
            mut second in prop::collection::vec(0..10 * SECOND, 0..60),
        ) {
            let ruler = Latencies::new();
            let mut whole = Latencies::<u64>::new();
            first.iter().chain(&second).for_each(|&nanos| whole.record_many(nanos, 1));
            let (mut times, mut later) = (Times::default(), Times::default());
            times.add(&mut first, &ruler);
            later.add(&mut second, &ruler);
            times.append(&later);
            let mut filled = Latencies::new();
            times.fill(&mut filled);
            prop_assert_eq!(times.count(), whole.count());
            prop_assert_eq!(filled.summary(), whole.summary());
        }
    }

    fn interval(index: u32, endpoints: Vec<EndpointTally>) -> Interval {
        let start_ns = u64::from(index) * SECOND;
        let tally = Tally { endpoints, ..Tally::default() };
        let (end_ns, phase) = (start_ns + SECOND, Phase::Window);
        Interval {
            index,
            phase,
            start_ns,
            end_ns,
            due: 0,
            tally,
            workers: Vec::new(),
            machine: None,
        }
    }

    fn succeeded(endpoint: u32, n: u64) -> EndpointTally {
        EndpointTally { endpoint, succeeded: n, answers_done: n, ..EndpointTally::default() }
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
        let (endpoints, _) = sums.finish(&mix, 5, 10 * SECOND);
        assert_eq!((endpoints[0].attempts, endpoints[0].blocks.len()), (0, 10));
        let second = &endpoints[1];
        assert_eq!((second.attempts, second.share, second.requests_per_s), (5, Some(1.0), 0.5));
        let by_block: Vec<u64> = second.blocks.iter().map(|block| block.answers_done).collect();
        assert_eq!(by_block, [0, 0, 0, 0, 0, 0, 0, 5, 0, 0]);
    }

    #[test]
    fn more_than_a_thousand_count_together_and_in_few_blocks() {
        let mix = mix(1500);
        let mut sums = MixSums::of(&mix);
        for index in 0..100 {
            sums.add(&interval(index, vec![succeeded(3, 1), succeeded(1000, 2)]));
        }
        let (endpoints, _) = sums.finish(&mix, 300, 100 * SECOND);
        assert_eq!((endpoints.len(), endpoints[1000].name.as_str()), (1001, OTHERS));
        assert_eq!((endpoints[3].attempts, endpoints[1000].attempts), (100, 200));
        assert!(endpoints[3].blocks.len() <= FEW_BLOCKS);
    }
}
