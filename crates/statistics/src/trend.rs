//! The trend of a series: what it would have been without its outliers.
//!
//! Two robust steps on at most `BLOCKS` block medians, so that a run of any length costs the same:
//! a line by Theil and Sen (the median of the slopes between all pairs of blocks), which takes out a
//! steady drift; then the running median of what is left over half of the run, which takes out slow
//! waves. Up to a quarter of the run may lie off without moving the trend.

use crate::order::median;

/// Blocks at most.
const BLOCKS: usize = 240;
/// Blocks to either side that a running median looks at, as a share of all: a quarter.
const REACH: usize = 4;
/// The reach is at least this many blocks.
const LEAST_REACH: usize = 10;

/// The trend of `values`, one for each.
pub fn of(values: &[f64]) -> Vec<f64> {
    let size = values.len().div_ceil(BLOCKS).max(1);
    let blocks: Vec<f64> = values.chunks(size).map(|chunk| median(chunk.to_vec())).collect();
    let slope = slope(&blocks);
    let level: Vec<f64> = blocks.iter().enumerate().map(|(i, v)| v - slope * i as f64).collect();
    let reach = (blocks.len() / REACH).max(LEAST_REACH);
    let smooth: Vec<f64> = (0..level.len())
        .map(|i| {
            let near = i.saturating_sub(reach)..(i + reach + 1).min(level.len());
            median(level[near].to_vec()) + slope * i as f64
        })
        .collect();
    let middle = (size - 1) as f64 / 2.0;
    (0..values.len()).map(|i| between(&smooth, (i as f64 - middle) / size as f64)).collect()
}

/// Theil (1950), Sen (1968): the median of the slopes between all pairs.
fn slope(blocks: &[f64]) -> f64 {
    let pairs = (0..blocks.len())
        .flat_map(|i| (i + 1..blocks.len()).map(move |j| (blocks[j] - blocks[i]) / (j - i) as f64));
    median(pairs.collect())
}

/// The line through the blocks' middles, level beyond the first and the last.
fn between(blocks: &[f64], at: f64) -> f64 {
    let last = blocks.len() - 1;
    let at = at.clamp(0.0, last as f64);
    let below = at as usize;
    let above = (below + 1).min(last);
    let share = at - below as f64;
    blocks[below] * (1.0 - share) + blocks[above] * share
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trend_follows_a_drift_and_ignores_a_hole() {
        let drifting: Vec<f64> = (0..1000).map(|i| 1000.0 + f64::from(i)).collect();
        let mut holed = drifting.clone();
        holed[400..600].fill(0.0);
        for (at, (trend, truth)) in of(&holed).iter().zip(&drifting).enumerate() {
            assert!((trend / truth - 1.0).abs() < 0.06, "{at}: {trend} for {truth}");
        }
    }
}
