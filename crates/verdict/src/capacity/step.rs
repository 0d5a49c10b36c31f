//! Steps that can be run: their levels rounded, their windows long enough, and whether the budget has room for them.

use model::capacity::{Purpose, Step};
use model::units::SECOND;
use model::{Arrivals, LevelKind, Nanos};

use super::Search;

/// Arrivals that a step waits for: where none is due, neither the server nor the objectives were asked.
const FEWEST_ARRIVALS: f64 = 2.0;
/// The same of random arrivals: with this many expected, none comes in one step of four hundred.
const FEWEST_RANDOM: f64 = 6.0;
/// A step from idle at a level, of this length or as long as it takes for some arrivals to be due.
pub(super) fn from_idle(search: &Search, purpose: Purpose, level: f64, window_ns: Nanos) -> Step {
    let Search { settings, .. } = search;
    let fewest = match settings.arrivals {
        Some(Arrivals::Poisson) => FEWEST_RANDOM,
        _ => FEWEST_ARRIVALS,
    };
    let window_ns = match settings.kind {
        LevelKind::Rate => window_ns.max((fewest / level * SECOND as f64) as Nanos),
        LevelKind::Concurrency => window_ns,
    };
    Step { purpose, level, rest_ns: settings.rest_ns, warmup_ns: settings.warmup_ns, window_ns }
}

/// A level that can be run and read: three significant digits, or a whole number of connections.
pub(super) fn level(search: &Search, wanted: f64) -> f64 {
    rounded(search, wanted, f64::round)
}

/// The same, never above what is wanted.
pub(super) fn level_below(search: &Search, wanted: f64) -> f64 {
    // What was rounded before must not go down again by an error in the last bit.
    rounded(search, wanted * (1.0 + 1e-9), f64::floor)
}

fn rounded(search: &Search, wanted: f64, round: fn(f64) -> f64) -> f64 {
    match search.settings.kind {
        LevelKind::Concurrency => round(wanted).max(1.0),
        LevelKind::Rate => rounded_out(wanted, round),
    }
}

/// A rate to three significant digits, in the direction of `round`.
pub(super) fn rounded_out(wanted: f64, round: fn(f64) -> f64) -> f64 {
    let digits = 2 - wanted.abs().max(f64::MIN_POSITIVE).log10().floor() as i32;
    let scale = 10_f64.powi(digits.abs());
    if digits >= 0 { round(wanted * scale) / scale } else { round(wanted / scale) * scale }
}

/// Whether these steps end within the budget, if they take as much longer than planned as those
/// before them did.
pub(super) fn affords(search: &Search, steps: &[Step]) -> bool {
    let planned = |step: &Step| {
        [step.rest_ns, step.warmup_ns, step.window_ns].iter().map(|&ns| ns as f64).sum::<f64>()
    };
    let spent = search.spent_ns() as f64;
    let before: f64 = search.fed.iter().map(|fed| planned(&fed.step)).sum();
    let stretch = if before > 0.0 { (spent / before).max(1.0) } else { 1.0 };
    let wanted = steps.iter().map(planned).sum::<f64>() * stretch;
    spent + wanted <= search.settings.budget_ns as f64
}
