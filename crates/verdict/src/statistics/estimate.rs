//! Intervals of one run's figures, from its blocks.
//!
//! Throughput and means are ratios of sums over blocks; their standard error comes from how the
//! blocks differ (W. G. Cochran, *Sampling Techniques*, 6.4), widened for neighbours that are alike,
//! with Student's reach for the number of blocks they are worth. Shares, and percentiles read as
//! shares (R. S. Woodruff 1952), take the number of independent trials that would vary as much as
//! the blocks did, in Clopper and Pearson's interval (E. L. Korn and B. I. Graubard 1998): right near
//! 0 and 1, where tails are.

use std::fmt;

use model::Nanos;

use super::autocorrelation::{effective, neighbours};
use super::proportion::clopper_pearson;
use super::stretches::{Stretch, Times};
use super::student::{reach, reach_of_normal};

/// Independent blocks that an interval takes at least.
pub const FEWEST_EFFECTIVE: f64 = 3.0;

/// Which latencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Time {
    /// done - due.
    Response,
    /// done - sent.
    Service,
}

/// A figure of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Figure {
    /// Answers done per second.
    Qps,
    /// Successes / attempts, 0..=1.
    Success,
    /// Mean latency in nanoseconds.
    Mean(Time),
    /// The latency in nanoseconds that this share (0..1) does not exceed.
    Quantile(Time, f64),
}

/// A figure with how far it can be off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The figure itself, in its unit.
    pub value: f64,
    /// Lowest that is in keeping with what was measured.
    pub low: f64,
    /// Highest; infinite where too few samples are beyond a percentile to bound it.
    pub high: f64,
    /// How often such an interval holds the true figure, 0..1.
    pub confidence: f64,
    /// Independent blocks that the run's blocks are worth for this figure.
    pub effective_blocks: f64,
}

/// Why there is no interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NoInterval {
    /// The run was measured before blocks were kept, or measured nothing.
    NoBlocks,
    /// Its blocks are worth too few independent ones.
    TooFew {
        /// What they are worth.
        effective_blocks: f64,
    },
    /// Nothing was counted that the figure is made of.
    NoSamples,
}

impl fmt::Display for NoInterval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBlocks => f.write_str("the result holds no blocks: measure again"),
            Self::TooFew { effective_blocks } => write!(
                f,
                "the run is worth {effective_blocks:.1} independent stretches, and \
                 {FEWEST_EFFECTIVE:.0} are needed: measure longer"
            ),
            Self::NoSamples => f.write_str("nothing was counted that the figure is made of"),
        }
    }
}

impl std::error::Error for NoInterval {}

/// A figure's interval at a confidence between 0 and 1.
///
/// # Errors
/// See [`NoInterval`].
pub fn estimate(
    blocks: &[Stretch],
    figure: Figure,
    confidence: f64,
) -> Result<Estimate, NoInterval> {
    match figure {
        Figure::Qps => ratio(blocks, confidence, |b| (b.answers_done, b.seconds)),
        Figure::Mean(time) => {
            ratio(blocks, confidence, |b| (b.times(time).sum_ns, b.times(time).count))
        }
        Figure::Success => success(blocks, confidence),
        Figure::Quantile(time, quantile) => percentile(blocks, time, quantile, confidence),
    }
}

/// A ratio of sums over blocks, and how it varies between them.
struct Ratio {
    value: f64,
    standard_error: f64,
    effective_blocks: f64,
}

impl Ratio {
    /// Of (part, whole) per block.
    fn of(pairs: &[(f64, f64)]) -> Result<Self, NoInterval> {
        if pairs.is_empty() {
            return Err(NoInterval::NoBlocks);
        }
        let (part, whole) = pairs.iter().fold((0.0, 0.0), |sum, p| (sum.0 + p.0, sum.1 + p.1));
        if whole <= 0.0 {
            return Err(NoInterval::NoSamples);
        }
        let value = part / whole;
        let deviations: Vec<f64> = pairs.iter().map(|(y, x)| y - value * x).collect();
        let rho = neighbours(&deviations);
        let effective_blocks = effective(pairs.len(), rho);
        if effective_blocks < FEWEST_EFFECTIVE {
            return Err(NoInterval::TooFew { effective_blocks });
        }
        let n = pairs.len() as f64;
        let square: f64 = deviations.iter().map(|d| d * d).sum();
        let variance = square * n / (n - 1.0) * (1.0 + rho) / (1.0 - rho);
        Ok(Self { value, standard_error: variance.sqrt() / whole, effective_blocks })
    }

    /// Independent trials that would vary as much as this share did, each block's worth of
    /// uncertainty about that included; never more than there were.
    fn trials(&self, share: f64, count: f64, confidence: f64) -> f64 {
        let variance = self.standard_error.powi(2);
        let worth = share * (1.0 - share) / variance;
        let worth = if worth.is_finite() { worth.min(count) } else { count };
        let freedom = self.effective_blocks - 1.0;
        worth * (reach_of_normal(confidence) / reach(confidence, freedom)).powi(2)
    }
}

fn ratio(
    blocks: &[Stretch],
    confidence: f64,
    pair: impl Fn(&Stretch) -> (f64, f64),
) -> Result<Estimate, NoInterval> {
    let pairs: Vec<(f64, f64)> = blocks.iter().map(pair).collect();
    let Ratio { value, standard_error, effective_blocks } = Ratio::of(&pairs)?;
    let half = reach(confidence, effective_blocks - 1.0) * standard_error;
    let low = (value - half).max(0.0);
    Ok(Estimate { value, low, high: value + half, confidence, effective_blocks })
}

/// Without failures the blocks cannot tell how failures would bunch: they are then taken to come
/// singly, and Student's reach for the blocks is still paid.
fn success(blocks: &[Stretch], confidence: f64) -> Result<Estimate, NoInterval> {
    let pairs: Vec<(f64, f64)> = blocks.iter().map(|b| (b.succeeded, b.attempts)).collect();
    let share = Ratio::of(&pairs)?;
    let attempts: f64 = pairs.iter().map(|pair| pair.1).sum();
    let trials = share.trials(share.value, attempts, confidence);
    let (low, high) = clopper_pearson(share.value * trials, trials, confidence);
    Ok(Estimate {
        value: share.value,
        low,
        high,
        confidence,
        effective_blocks: share.effective_blocks,
    })
}

fn percentile(
    blocks: &[Stretch],
    time: Time,
    quantile: f64,
    confidence: f64,
) -> Result<Estimate, NoInterval> {
    let all = merged(blocks.iter().map(|block| block.times(time)));
    let value = at_quantile(&all, quantile).ok_or(NoInterval::NoSamples)?;
    let counts = |block: &Stretch| (block.times(time).within(value), block.times(time).count);
    let pairs: Vec<(f64, f64)> = blocks.iter().map(counts).collect();
    let share = Ratio::of(&pairs)?;
    let trials = share.trials(quantile, all.count, confidence);
    let (low, high) = clopper_pearson(quantile * trials, trials, confidence);
    // As many trials could all lie below the percentile: then nothing bounds it from above.
    let unbounded = quantile.powf(trials) > (1.0 - confidence) / 2.0;
    let read = |share| at_quantile(&all, share).map_or(0.0, |nanos| nanos as f64);
    Ok(Estimate {
        value: value as f64,
        low: read(low),
        high: if unbounded { f64::INFINITY } else { read(high) },
        confidence,
        effective_blocks: share.effective_blocks,
    })
}

/// All latencies of several stretches together.
pub fn merged<'a>(parts: impl Iterator<Item = &'a Times>) -> Times {
    let mut buckets: Vec<(Nanos, u64)> = parts.flat_map(|times| &times.buckets).copied().collect();
    buckets.sort_unstable_by_key(|&(value, _)| value);
    buckets.dedup_by(|later, kept| {
        let same = later.0 == kept.0;
        if same {
            kept.1 += later.1;
        }
        same
    });
    Times::of(buckets)
}

/// The latency that a share does not exceed; none without latencies.
pub fn at_quantile(times: &Times, quantile: f64) -> Option<Nanos> {
    let rank = (quantile * times.count).ceil().max(1.0);
    let mut seen = 0.0;
    for &(value, n) in &times.buckets {
        seen += n as f64;
        if seen >= rank {
            return Some(value);
        }
    }
    times.buckets.last().map(|&(value, _)| value)
}

#[cfg(test)]
mod tests;
