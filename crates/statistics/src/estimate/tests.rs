use rand_core::{Rng as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

use super::*;

fn uniform(random: &mut Pcg64Mcg) -> f64 {
    ((random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

fn normal(random: &mut Pcg64Mcg) -> f64 {
    (-2.0 * uniform(random).ln()).sqrt() * (std::f64::consts::TAU * uniform(random)).cos()
}

/// Values whose logarithm follows an autoregression of lag 1 and is N(0, 1) at rest.
fn autocorrelated(seed: u64, blocks: usize, per_block: usize, rho: f64) -> Vec<Distribution> {
    let random = &mut Pcg64Mcg::seed_from_u64(seed);
    let mut at = normal(random);
    let mut block = || {
        let mut seen = Vec::with_capacity(per_block);
        for _ in 0..per_block {
            at = rho * at + (1.0 - rho * rho).sqrt() * normal(random);
            seen.push((1e6 * (0.5 * at).exp()) as u64);
        }
        seen.sort_unstable();
        Distribution::of(seen.into_iter().map(|value| (value, 1)).collect())
    };
    (0..blocks).map(|_| block()).collect()
}

/// A figure of generated values: its name, its interval, and its true value.
type Case = (&'static str, fn(&[Distribution]) -> Result<Estimate, NoInterval>, f64);

/// Mean exp(1/8), quantiles exp(z/2), share within 2e6: the normal share at 2 ln 2.
fn cases() -> [Case; 4] {
    fn at(blocks: &[Distribution], share: f64) -> Result<Estimate, NoInterval> {
        quantile(&blocks.iter().collect::<Vec<_>>(), share, 0.95)
    }
    let mean = |blocks: &[Distribution]| {
        ratio(&blocks.iter().map(|block| (block.sum, block.count)).collect::<Vec<_>>(), 0.95)
    };
    [
        ("mean", mean, 1e6 * 0.125_f64.exp()),
        ("median", |blocks| at(blocks, 0.5), 1e6),
        ("p99", |blocks| at(blocks, 0.99), 1e6 * (0.5 * 2.326_347_874_f64).exp()),
        ("share", |blocks| share(&within(blocks), 0.95), WITHIN),
    ]
}

const WITHIN: f64 = 0.917_171_5;

fn within(blocks: &[Distribution]) -> Vec<(f64, f64)> {
    blocks.iter().map(|block| (block.within(2_000_000), block.count)).collect()
}

#[test]
fn intervals_hold_the_truth_about_as_often_as_they_say() {
    const RUNS: u64 = 300;
    for (blocks, rho) in [(10, 0.5), (10, 0.95), (60, 0.5), (60, 0.95), (30, 0.99)] {
        let runs: Vec<_> = (0..RUNS).map(|seed| autocorrelated(seed, blocks, 200, rho)).collect();
        for (figure, interval, truth) in cases() {
            let (mut held, mut refused) = (0_u32, 0_u32);
            for run in &runs {
                match interval(run) {
                    Ok(found) => {
                        assert!(found.low <= found.value && found.value <= found.high);
                        held += u32::from((found.low..=found.high).contains(&truth));
                    }
                    Err(_) => refused += 1,
                }
            }
            // Of 300 intervals at 95 %, 93.7 % .. 96.3 % hold the truth, give or take a standard error.
            let right = f64::from(held) / (RUNS as f64 - f64::from(refused));
            assert!(right >= 0.92, "{blocks} blocks, rho {rho}, {figure}: {right}");
            assert!(right < 0.99, "{blocks} blocks, rho {rho}, {figure}: {right}");
            assert!(refused <= 30, "{blocks} blocks, rho {rho}, {figure}: {refused} refused");
        }
    }
}

#[test]
fn requests_alike_would_fool_an_interval_that_took_them_as_independent() {
    let (mut fooled, runs) = (0, 100);
    for seed in 0..runs {
        let run = autocorrelated(seed, 60, 300, 0.95);
        let (good, all) = within(&run).iter().fold((0.0, 0.0), |sum, p| (sum.0 + p.0, sum.1 + p.1));
        let (low, high) = clopper_pearson(good, all, 0.95);
        fooled += u32::from(!(low..=high).contains(&WITHIN));
    }
    assert!(fooled > 40, "{fooled} of {runs}");
}

#[test]
fn without_failures_a_share_is_bounded_all_the_same() {
    let found = share(&[(1000.0, 1000.0); 60], 0.95).unwrap();
    assert_eq!((found.value, found.high), (1.0, 1.0));
    assert!((1e-5..2e-4).contains(&(1.0 - found.low)), "{}", found.low);
}

#[test]
fn a_percentile_beyond_the_samples_is_unbounded_from_above() {
    let block = Distribution::of(vec![(1_000_000, 20)]);
    let found = quantile(&[&block; 10], 0.999, 0.95).unwrap();
    assert_eq!(found.high, f64::INFINITY);
    let median = quantile(&[&block; 10], 0.5, 0.95).unwrap();
    assert_eq!((median.low, median.high), (1e6, 1e6));
}

#[test]
fn too_little_is_refused_with_its_reason() {
    assert_eq!(ratio(&[], 0.95), Err(NoInterval::NoBlocks));
    assert_eq!(quantile(&[], 0.5, 0.95), Err(NoInterval::NoBlocks));
    let few = ratio(&[(10.0, 1.0); 2], 0.95);
    assert_eq!(few, Err(NoInterval::TooFew { effective_blocks: 2.0 }));
    assert_eq!(share(&[(0.0, 0.0); 8], 0.95), Err(NoInterval::NoSamples));
    let empty = Distribution::default();
    assert_eq!(quantile(&[&empty; 8], 0.5, 0.95), Err(NoInterval::NoSamples));
}

/// What came once, or twice, in a long run is no more certain for the empty blocks around it.
#[test]
fn blocks_without_samples_make_nothing_certain() {
    let held = |samples: &[(f64, f64)]| {
        let mut pairs = vec![(0.0, 0.0); 60];
        samples.iter().enumerate().for_each(|(at, pair)| pairs[20 * at] = *pair);
        ratio(&pairs, 0.95)
    };
    assert_eq!(held(&[(10.0, 1.0)]), Err(NoInterval::TooFew { effective_blocks: 1.0 }));
    let twice = held(&[(10.0, 1.0), (12.0, 1.0)]);
    assert_eq!(twice, Err(NoInterval::TooFew { effective_blocks: 2.0 }));
    let among_empty = held(&[(10.0, 1.0), (11.0, 1.0), (12.0, 1.0)]).expect("three blocks");
    let alone = ratio(&[(10.0, 1.0), (11.0, 1.0), (12.0, 1.0)], 0.95).expect("three blocks");
    assert_eq!(among_empty, alone);
    // Student's reach for two degrees of freedom, 4.30, times a standard error of 1 / sqrt(3).
    assert!((alone.high - 11.0 - 2.484).abs() < 1e-3, "{alone:?}");
    let empty = Distribution::default();
    let only = Distribution::of(vec![(1_000_000, 1)]);
    let mut blocks = vec![&empty; 60];
    blocks[7] = &only;
    assert_eq!(quantile(&blocks, 0.5, 0.95), Err(NoInterval::TooFew { effective_blocks: 1.0 }));
}
