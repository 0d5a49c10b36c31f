//! Queues of the built-in server under Poisson arrivals: means against theory.
//!
//! Connecting takes no time here, so a request comes to the server one way after it was due.

use model::units::{MILLISECOND, SECOND};
use model::{Arrivals, Nanos, Run};
use target::{Distribution, Options};
use testkit::sim::Delay;

use crate::harness::{Load, WAY, drive, open};
use crate::server::built_in;

/// Mean service time.
const MEAN: Nanos = 5 * MILLISECOND;

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

    fn run(&self) -> Run {
        drive(&self.load(), |world| built_in(world, &Options::default())).run
    }
}

/// The mean response by theory, ways included; absent for several servers of fixed service, which
/// have no closed form.
fn by_theory(case: &Case) -> Option<f64> {
    let (mean, rho, servers) = (MEAN as f64, case.busy, f64::from(case.servers));
    let wait = match (case.distribution, case.servers) {
        (Distribution::Exponential, _) => {
            erlang_c(case.servers, rho) * mean / (servers * (1.0 - rho))
        }
        (Distribution::Deterministic, 1) => rho * mean / (2.0 * (1.0 - rho)),
        (Distribution::Deterministic, _) => return None,
    };
    Some(mean + wait + 2.0 * WAY as f64)
}

/// The share of arrivals that wait in M/M/c (Erlang 1917), through Erlang B's recursion.
fn erlang_c(servers: u32, rho: f64) -> f64 {
    let offered = rho * f64::from(servers);
    let b = (1..=servers).fold(1.0, |b, n| offered * b / (f64::from(n) + offered * b));
    b / (1.0 - rho * (1.0 - b))
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

/// How many standard errors the mean over `seeds` seeds, the first ones, is from theory.
fn errors_from_theory(case: &Case, seeds: u64) -> Option<f64> {
    let theory = by_theory(case)?;
    let mean = |seed| Case { seed, ..*case }.run().response_ns.mean as f64;
    let means: Vec<f64> = (1..=seeds).map(mean).collect();
    let n = seeds as f64;
    let mean = means.iter().sum::<f64>() / n;
    let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (n - 1.0);
    Some((mean - theory) / (variance / n).sqrt())
}

#[test]
fn the_mean_over_thirty_seeds_is_theorys() {
    for (servers, distribution) in [
        (1, Distribution::Exponential),
        (4, Distribution::Exponential),
        (1, Distribution::Deterministic),
    ] {
        let warmup = 2 * SECOND;
        let case = Case { servers, distribution, busy: 0.6, seed: 0, requests: 1_500.0, warmup };
        let errors = errors_from_theory(&case, 30).expect("theory has this one");
        assert!(errors.abs() <= 3.0, "{case:?}: {errors:.2} standard errors");
    }
}

#[test]
#[ignore = "thirty seeds of each queue at each utilisation: minutes in a release build"]
fn the_mean_over_thirty_long_seeds_is_theorys_at_every_utilisation() {
    for case in cases(30_000.0) {
        let case = Case { warmup: 20 * SECOND, ..case };
        if let Some(errors) = errors_from_theory(&case, 30) {
            println!("{case:?}: {errors:.2} standard errors from theory");
            assert!(errors.abs() <= 3.0, "{case:?}: {errors:.2} standard errors");
        }
    }
}
