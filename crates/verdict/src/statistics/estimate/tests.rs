use rand_core::{Rng as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

use super::*;

fn share(random: &mut Pcg64Mcg) -> f64 {
    ((random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

fn normal(random: &mut Pcg64Mcg) -> f64 {
    (-2.0 * share(random).ln()).sqrt() * (std::f64::consts::TAU * share(random)).cos()
}

/// A run of a server whose log latency follows an autoregression of lag 1 and is N(0, 1) at rest.
fn autocorrelated(seed: u64, blocks: usize, per_block: usize, rho: f64) -> Vec<Stretch> {
    let random = &mut Pcg64Mcg::seed_from_u64(seed);
    let mut at = normal(random);
    let mut block = || {
        let mut seen = Vec::with_capacity(per_block);
        for _ in 0..per_block {
            at = rho * at + (1.0 - rho * rho).sqrt() * normal(random);
            seen.push((1e6 * (0.5 * at).exp()) as u64);
        }
        seen.sort_unstable();
        let times = Times::of(seen.into_iter().map(|nanos| (nanos, 1)).collect());
        let good = times.within(2_000_000);
        Stretch {
            seconds: 1.0,
            answers_done: per_block as f64,
            attempts: per_block as f64,
            succeeded: good,
            response: times.clone(),
            service: times,
        }
    };
    (0..blocks).map(|_| block()).collect()
}

/// Mean exp(1/8), quantiles exp(z/2), share within 2 ms: the normal share at 2 ln 2.
fn truth(figure: Figure) -> f64 {
    match figure {
        Figure::Mean(_) => 1e6 * 0.125_f64.exp(),
        Figure::Quantile(_, 0.5) => 1e6,
        Figure::Quantile(_, _) => 1e6 * (0.5 * 2.326_347_874_f64).exp(),
        Figure::Success => 0.917_171_5,
        Figure::Qps => unreachable!("constant here"),
    }
}

#[test]
fn intervals_hold_the_truth_about_as_often_as_they_say() {
    let figures = [
        Figure::Mean(Time::Response),
        Figure::Quantile(Time::Response, 0.5),
        Figure::Quantile(Time::Response, 0.99),
        Figure::Success,
    ];
    const RUNS: u64 = 300;
    for (blocks, rho) in [(10, 0.5), (10, 0.95), (60, 0.5), (60, 0.95), (30, 0.99)] {
        let runs: Vec<_> = (0..RUNS).map(|seed| autocorrelated(seed, blocks, 200, rho)).collect();
        for figure in figures {
            let (mut held, mut refused) = (0_u32, 0_u32);
            for run in &runs {
                match estimate(run, figure, 0.95) {
                    Ok(found) => {
                        assert!(found.low <= found.value && found.value <= found.high);
                        held += u32::from((found.low..=found.high).contains(&truth(figure)));
                    }
                    Err(_) => refused += 1,
                }
            }
            // Of 300 intervals at 95 %, 93.7 % .. 96.3 % hold the truth, give or take a standard error.
            let share = f64::from(held) / (RUNS as f64 - f64::from(refused));
            assert!(share >= 0.92, "{blocks} blocks, rho {rho}, {figure:?}: {share}");
            assert!(share < 0.99, "{blocks} blocks, rho {rho}, {figure:?}: {share}");
            assert!(refused <= 30, "{blocks} blocks, rho {rho}, {figure:?}: {refused} refused");
        }
    }
}

#[test]
fn requests_alike_would_fool_an_interval_that_took_them_as_independent() {
    let (mut fooled, runs) = (0, 100);
    for seed in 0..runs {
        let run = autocorrelated(seed, 60, 300, 0.95);
        let good: f64 = run.iter().map(|block| block.succeeded).sum();
        let all: f64 = run.iter().map(|block| block.attempts).sum();
        let (low, high) = clopper_pearson(good, all, 0.95);
        fooled += u32::from(!(low..=high).contains(&truth(Figure::Success)));
    }
    assert!(fooled > 40, "{fooled} of {runs}");
}

fn steady(blocks: usize, per_block: u64, failed: u64) -> Vec<Stretch> {
    let times = Times::of(vec![(1_000_000, per_block)]);
    let block = Stretch {
        seconds: 1.0,
        answers_done: per_block as f64,
        attempts: per_block as f64,
        succeeded: (per_block - failed) as f64,
        response: times.clone(),
        service: times,
    };
    vec![block; blocks]
}

#[test]
fn without_failures_the_success_rate_is_bounded_all_the_same() {
    let found = estimate(&steady(60, 1000, 0), Figure::Success, 0.95).unwrap();
    assert_eq!((found.value, found.high), (1.0, 1.0));
    assert!((1e-5..2e-4).contains(&(1.0 - found.low)), "{}", found.low);
}

#[test]
fn a_percentile_beyond_the_samples_is_unbounded_from_above() {
    let run = steady(10, 20, 0);
    let found = estimate(&run, Figure::Quantile(Time::Response, 0.999), 0.95).unwrap();
    assert_eq!(found.high, f64::INFINITY);
    let median = estimate(&run, Figure::Quantile(Time::Response, 0.5), 0.95).unwrap();
    assert_eq!((median.low, median.high), (1e6, 1e6));
}

#[test]
fn too_little_is_refused_with_its_reason() {
    assert_eq!(estimate(&[], Figure::Qps, 0.95), Err(NoInterval::NoBlocks));
    let few = estimate(&steady(2, 10, 0), Figure::Qps, 0.95);
    assert_eq!(few, Err(NoInterval::TooFew { effective_blocks: 2.0 }));
    let empty = vec![Stretch { seconds: 1.0, ..Stretch::default() }; 8];
    assert_eq!(estimate(&empty, Figure::Success, 0.95), Err(NoInterval::NoSamples));
    let none = estimate(&empty, Figure::Quantile(Time::Service, 0.5), 0.95);
    assert_eq!(none, Err(NoInterval::NoSamples));
}
