//! Queues of the built-in server under Poisson arrivals: every response against Lindley's recursion
//! (1952; Kiefer and Wolfowitz 1955 for several servers) on the same draws, and means against theory.
//!
//! Connecting takes no time here, so a request comes to the server one way after it was due. Claims are
//! printed for `cargo xtask truth`, which runs the long versions as well.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use model::histogram::Latencies;
use model::units::{MILLISECOND, SECOND};
use model::{Arrivals, Nanos, Run};
use target::{Distribution, Options, Queue, QueueKey};
use testkit::queueing::{Service, mean_response};
use testkit::sim::Delay;

use crate::harness::{Load, Outcome, WAY, drive, open};
use crate::server::built_in;

/// Mean service time.
const MEAN: Nanos = 5 * MILLISECOND;
/// Figures read from the histogram are this near to the exact ones, relative.
const THREE_DIGITS: f64 = 1e-3;

/// A queue under a load.
#[derive(Debug, Clone, Copy)]
struct Case {
    servers: u32,
    distribution: Distribution,
    /// Share of the queue's capacity that is offered.
    busy: f64,
    seed: u64,
    /// Requests after the warm-up, about.
    requests: f64,
    warmup: Nanos,
}

impl Case {
    /// In Kendall's notation.
    fn name(&self) -> String {
        let service = if self.distribution == Distribution::Exponential { 'M' } else { 'D' };
        format!("M/{service}/{} at {}", self.servers, self.busy)
    }

    fn key(&self) -> QueueKey {
        let Self { servers, distribution, seed, .. } = *self;
        QueueKey { servers, mean_ns: MEAN, distribution, seed }
    }

    fn rate_per_s(&self) -> f64 {
        self.busy * f64::from(self.servers) * SECOND as f64 / MEAN as f64
    }

    fn load(&self) -> Load {
        let name = if self.distribution == Distribution::Exponential { "exp" } else { "det" };
        let path =
            format!("/queue?servers={}&mean=5ms&dist={name}&seed={}", self.servers, self.seed);
        let rate = self.rate_per_s();
        let mut load = open(rate, 100_000).with(|plan| {
            plan.arrivals = Some(Arrivals::Poisson);
            plan.seed = self.seed;
            plan.warmup_ns = self.warmup;
            plan.duration_ns = Some((self.requests / rate * 1e9) as Nanos);
        });
        load.request = format!("GET {path} HTTP/1.1\r\nHost: sim\r\n\r\n").into_bytes();
        load.conditions.handshake = Delay::Fixed(0);
        load
    }

    fn run(&self) -> (Load, Outcome) {
        let load = self.load();
        let outcome = drive(&load, |world| built_in(world, &Options::default()));
        (load, outcome)
    }
}

/// What the recursion alone makes of a load: each request's due time and response.
fn by_recursion(case: &Case, load: &Load) -> Vec<(Nanos, Nanos)> {
    let model::Load::Open(schedule) = load.plan.load() else { panic!("an open loop") };
    let mut draws = Queue::new(case.key());
    let mut free: BinaryHeap<Reverse<Nanos>> = (0..case.servers).map(|_| Reverse(0)).collect();
    let served = schedule.share(0, 1).map(|due| {
        let Reverse(first) = free.pop().expect("a server");
        let departs = first.max(due) + draws.service();
        free.push(Reverse(departs));
        (due, departs - due + 2 * WAY)
    });
    served.collect()
}

/// How far the histogram's percentiles and the mean are from the exact ones at most, relative.
fn furthest(run: &Run, exact: &mut [Nanos]) -> f64 {
    exact.sort_unstable();
    let seen = run.histogram("response").expect("responses");
    let of = |quantile: f64| {
        let rank = ((quantile * exact.len() as f64).ceil() as usize).clamp(1, exact.len());
        (seen.at_quantile(quantile) as f64, exact[rank - 1] as f64)
    };
    let mean = exact.iter().map(|&nanos| nanos as f64).sum::<f64>() / exact.len() as f64;
    let figures = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999].map(of);
    let all = figures.into_iter().chain([(run.response_ns.mean as f64, mean)]);
    all.map(|(seen, exact)| (seen / exact - 1.0).abs()).fold(0.0, f64::max)
}

/// Runs a case and holds every response against the recursion; how far the figures are off at most.
fn follows_the_recursion(case: &Case) -> (usize, f64) {
    let (load, Outcome { run, received, .. }) = case.run();
    let expected = by_recursion(case, &load);
    let totals = &run.totals;
    assert_eq!((totals.attempts, totals.succeeded), (totals.succeeded, expected.len() as u64));
    // Each response came when it must have come, to the nanosecond.
    let mut responses: Vec<Nanos> = expected.iter().map(|(due, response)| due + response).collect();
    responses.sort_unstable();
    let start = received[0] - responses[0];
    assert_eq!(received.len(), responses.len(), "{case:?}");
    for (nth, (received, response)) in received.iter().zip(&responses).enumerate() {
        assert_eq!(received - start, *response, "{case:?}: response {nth}");
    }
    // And each response belongs to its request: bucket by bucket, and exactly in sum.
    let mut buckets: Latencies<u64> = Latencies::new();
    expected.iter().for_each(|&(_, response)| buckets.record(response));
    let seen = run.histogram("response").expect("responses");
    assert!(seen.recorded().eq(buckets.recorded()), "{case:?}");
    let exact = (run.response_ns.mean, run.response_ns.min, run.response_ns.max);
    assert_eq!(exact, (buckets.mean(), buckets.min(), buckets.max()), "{case:?}");
    let mut responses: Vec<Nanos> = expected.into_iter().map(|(_, response)| response).collect();
    (responses.len(), furthest(&run, &mut responses))
}

fn cases(requests: f64) -> Vec<Case> {
    let mut cases = Vec::new();
    for servers in [1, 4] {
        for distribution in [Distribution::Exponential, Distribution::Deterministic] {
            for busy in [0.3, 0.6, 0.9] {
                cases.push(Case { servers, distribution, busy, seed: 11, requests, warmup: 0 });
            }
        }
    }
    cases
}

fn print_claim(claim: &str, reach: &str, got: &str, met: bool) {
    println!("truth | {claim} | {reach} | {got} | {}", if met { "yes" } else { "no" });
}

#[test]
fn every_response_of_a_queue_equals_lindleys_recursion() {
    for case in cases(5_000.0) {
        let (_, off) = follows_the_recursion(&case);
        assert!(off <= THREE_DIGITS, "{case:?}: {off}");
    }
}

#[test]
#[ignore = "twelve times a million requests; `cargo xtask truth simulation` runs it"]
fn a_million_responses_of_each_queue_equal_lindleys_recursion() {
    for case in cases(1_000_000.0) {
        let (responses, off) = follows_the_recursion(&case);
        let claim = format!("{} in simulation, each response", case.name());
        print_claim(
            &claim,
            "equals Lindley's recursion",
            &format!("{responses} of {responses}"),
            true,
        );
        let claim = format!("{} in simulation, mean to p99.99 by histogram", case.name());
        let got = format!("{:.3} %", 100.0 * off);
        print_claim(&claim, "within 0.1 % of the recursion", &got, off <= THREE_DIGITS);
        assert!(off <= THREE_DIGITS, "{case:?}: {off}");
    }
}

/// The mean response by theory, ways included.
fn by_theory(case: &Case) -> f64 {
    let service = match case.distribution {
        Distribution::Exponential => Service::Exponential,
        Distribution::Deterministic => Service::Fixed,
    };
    mean_response(case.servers, service, case.busy) * MEAN as f64 + 2.0 * WAY as f64
}

/// How many standard errors the mean over `seeds` seeds, the first ones, is from theory.
fn errors_from_theory(case: &Case, seeds: u64) -> f64 {
    let theory = by_theory(case);
    let mean = |seed| Case { seed, ..*case }.run().1.run.response_ns.mean as f64;
    let means: Vec<f64> = (1..=seeds).map(mean).collect();
    let n = seeds as f64;
    let mean = means.iter().sum::<f64>() / n;
    let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean - theory) / (variance / n).sqrt()
}

#[test]
fn the_mean_over_thirty_seeds_is_theorys() {
    for (servers, distribution) in [
        (1, Distribution::Exponential),
        (4, Distribution::Exponential),
        (1, Distribution::Deterministic),
        (4, Distribution::Deterministic),
    ] {
        let warmup = 2 * SECOND;
        let case = Case { servers, distribution, busy: 0.6, seed: 0, requests: 1_500.0, warmup };
        let errors = errors_from_theory(&case, 30);
        assert!(errors.abs() <= 3.0, "{case:?}: {errors:.2} standard errors");
    }
}

#[test]
#[ignore = "ten million requests; `cargo xtask truth simulation` runs it"]
fn the_mean_over_thirty_long_seeds_is_theorys_at_every_utilisation() {
    let mut far = Vec::new();
    for case in cases(30_000.0) {
        let case = Case { warmup: 20 * SECOND, ..case };
        let errors = errors_from_theory(&case, 30);
        let claim = format!("{} in simulation, mean over seeds 1 to 30", case.name());
        let got = format!("{errors:+.2} standard errors");
        print_claim(&claim, "theory within 3 standard errors", &got, errors.abs() <= 3.0);
        if errors.abs() > 3.0 {
            far.push((case, errors));
        }
    }
    assert!(far.is_empty(), "{far:?}");
}
