//! Judging two runs that are worth too few independent periods for a bootstrap ([`super::blocks`]).
//!
//! What dependence does to so few blocks cannot be estimated, so the worst is taken: the largest
//! difference between any two blocks of a run stands where the standard deviation of three independent
//! periods would, and Student's interval has the two degrees of freedom of three. A slow wave over the
//! whole run is in that difference; three thirds of the run never differ by more than its blocks do. So
//! a difference far beyond the spread is reported, and a small one is not.

use model::Run;

use super::LogRatio;
use super::measure::{Measure, reading};
use crate::blocks::{BlockFigures, Figure, blocks};

/// Independent periods that a run is taken for.
const WORTH: f64 = 3.0;
/// Fewer blocks than this do not show how they spread,
const FEWEST: usize = 3;
/// and are taken to spread so far at least, as a logarithm: a quarter up or down.
const UNSEEN: f64 = 0.25;
/// Times more that requests may vary than independent ones do: what the spread is at least.
const DISPERSION: f64 = 10.0;

/// The log ratio of a figure; none where a run has no block with that figure.
pub(super) fn log_ratio(runs: [&Run; 2], measure: Measure) -> Option<LogRatio> {
    let [a, b] = runs.map(|run| standard_error(run, measure));
    let [low, high] = runs.map(|run| reading(run, measure));
    let standard_error = (a?.powi(2) + b?.powi(2)).sqrt();
    Some(LogRatio { mean: (high / low).ln(), standard_error, freedom: WORTH - 1.0 })
}

/// Of the logarithm of a run's figure.
fn standard_error(run: &Run, measure: Measure) -> Option<f64> {
    let blocks = blocks(run).ok()?;
    let logs: Vec<f64> = blocks.iter().filter_map(|block| figure(block, measure)).collect();
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = logs.iter().copied().fold(f64::INFINITY, f64::min);
    if !(most - least).is_finite() || logs.len() < blocks.len() {
        return None;
    }
    let unseen = if logs.len() < FEWEST { UNSEEN } else { 0.0 };
    let spread = (most - least).max(unseen) / WORTH.sqrt();
    let requests: f64 = blocks.iter().map(|block| block.responses_done).sum();
    Some((spread.powi(2) + DISPERSION / requests.max(1.0)).sqrt())
}

/// The logarithm of a block's figure; none where nothing ended in it.
fn figure(block: &BlockFigures, measure: Measure) -> Option<f64> {
    let figure = match measure.figure() {
        Figure::Qps => block.responses_done / block.seconds,
        Figure::Quantile(_, quantile) => block.response.at_quantile(quantile)? as f64,
        _ => block.response.sum / block.response.count,
    };
    Some(figure.ln()).filter(|log| log.is_finite())
}
