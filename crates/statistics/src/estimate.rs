//! Intervals of figures of a series, from its blocks.
//!
//! Throughput and means are ratios of sums over blocks; their standard error comes from how the
//! blocks differ (W. G. Cochran, *Sampling Techniques*, 6.4), widened for neighbours that are alike,
//! with Student's reach for the number of blocks they are worth. Shares, and percentiles read as
//! shares (R. S. Woodruff 1952), take the number of independent trials that would vary as much as
//! the blocks did, in Clopper and Pearson's interval (E. L. Korn and B. I. Graubard 1998): right near
//! 0 and 1, where tails are.

use crate::Distribution;
use crate::autocorrelation::{effective, neighbours};
use crate::proportion::clopper_pearson;
use crate::student::{reach, reach_of_normal};

/// Independent blocks that an interval takes at least.
pub const FEWEST_EFFECTIVE: f64 = 3.0;

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
    /// Independent blocks that the blocks are worth for this figure.
    pub effective_blocks: f64,
}

/// Why there is no interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NoInterval {
    /// There are no blocks.
    NoBlocks,
    /// The blocks are worth too few independent ones.
    TooFew {
        /// What they are worth.
        effective_blocks: f64,
    },
    /// Nothing was counted that the figure is made of.
    NoSamples,
}

/// A ratio of sums over blocks, and how it varies between them.
struct Ratio {
    value: f64,
    standard_error: f64,
    effective_blocks: f64,
}

impl Ratio {
    /// Of (part, whole) per block. A block that holds nothing of the whole says nothing of how the ratio varies: counted
    /// as one that is on it, a single sample among empty blocks would be exact.
    fn of(pairs: &[(f64, f64)]) -> Result<Self, NoInterval> {
        if pairs.is_empty() {
            return Err(NoInterval::NoBlocks);
        }
        let pairs: Vec<(f64, f64)> = pairs.iter().copied().filter(|pair| pair.1 > 0.0).collect();
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

/// A ratio of sums over blocks, each of (part, whole), which is never below 0: at a confidence between
/// 0 and 1.
///
/// # Errors
/// See [`NoInterval`].
pub fn ratio(pairs: &[(f64, f64)], confidence: f64) -> Result<Estimate, NoInterval> {
    let Ratio { value, standard_error, effective_blocks } = Ratio::of(pairs)?;
    let half = reach(confidence, effective_blocks - 1.0) * standard_error;
    let low = (value - half).max(0.0);
    Ok(Estimate { value, low, high: value + half, confidence, effective_blocks })
}

/// A share of a count, from (part, whole) of each block. Where the part is the whole, the blocks do not
/// show how failures would cluster: they are then assumed to come singly, and Student's reach for the
/// blocks is still paid.
///
/// # Errors
/// See [`NoInterval`].
pub fn share(pairs: &[(f64, f64)], confidence: f64) -> Result<Estimate, NoInterval> {
    let share = Ratio::of(pairs)?;
    let count: f64 = pairs.iter().map(|pair| pair.1).sum();
    let trials = share.trials(share.value, count, confidence);
    let (low, high) = clopper_pearson(share.value * trials, trials, confidence);
    let Ratio { value, effective_blocks, .. } = share;
    Ok(Estimate { value, low, high, confidence, effective_blocks })
}

/// A quantile (0..1) of what all blocks hold.
///
/// # Errors
/// See [`NoInterval`].
pub fn quantile(
    blocks: &[&Distribution],
    quantile: f64,
    confidence: f64,
) -> Result<Estimate, NoInterval> {
    if blocks.is_empty() {
        return Err(NoInterval::NoBlocks);
    }
    let all = Distribution::merged(blocks.iter().copied());
    let value = all.at_quantile(quantile).ok_or(NoInterval::NoSamples)?;
    let counts = |block: &&Distribution| (block.within(value), block.count);
    let pairs: Vec<(f64, f64)> = blocks.iter().map(counts).collect();
    let share = Ratio::of(&pairs)?;
    let trials = share.trials(quantile, all.count, confidence);
    let (low, high) = clopper_pearson(quantile * trials, trials, confidence);
    // As many trials could all lie below the percentile: then nothing bounds it from above.
    let unbounded = quantile.powf(trials) > (1.0 - confidence) / 2.0;
    let read = |share| all.at_quantile(share).map_or(0.0, |value| value as f64);
    Ok(Estimate {
        value: value as f64,
        low: read(low),
        high: if unbounded { f64::INFINITY } else { read(high) },
        confidence,
        effective_blocks: share.effective_blocks,
    })
}

#[cfg(test)]
mod tests;
