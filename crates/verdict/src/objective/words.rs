//! Rulings in words, for every output alike.

use model::objective::Unit;
use model::units::{Nanos, SECOND, exact_duration, show_duration};
use model::{Judgement, Ruling};

use crate::figures::{grouped, rate};

/// From how many times over an objective counts as met by a wide margin.
pub const WIDE: f64 = 2.0;

/// A figure with its unit: `3.21ms`, `99.50 %`, `1,250/s`.
pub fn figure(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Ns => show_duration(value.max(0.0) as Nanos),
        Unit::Ratio => share(value),
        Unit::PerS => format!("{}/s", rate(value)),
        Unit::Count => grouped(value, 0),
    }
}

/// Per cent with as many decimals as distinguish it from 0 and from 100, two at least.
fn share(value: f64) -> String {
    let percent = value * 100.0;
    let rest = percent.min(100.0 - percent);
    let decimals = if rest > 0.0 { (1.0 - rest.log10().floor()).clamp(2.0, 6.0) } else { 2.0 };
    format!("{} %", grouped(percent, decimals as usize))
}

/// A judgement's interval: `3.10ms to 3.35ms`; `None` where it has none.
pub fn interval(judgement: &Judgement) -> Option<String> {
    let (unit, low) = (judgement.unit?, figure(judgement.unit?, judgement.low?));
    Some(match judgement.high {
        Some(high) => format!("{low} to {}", figure(unit, high)),
        None => format!("{low} or more"),
    })
}

/// A judgement's margin: `496ms within`, `12/s beyond`; none without a value.
pub fn margin(judgement: &Judgement) -> Option<String> {
    let (unit, margin) = (judgement.unit?, judgement.margin?);
    let side = if margin >= 0.0 { "within" } else { "beyond" };
    let points = if unit == Unit::Ratio { " points" } else { "" };
    let shown = match unit {
        Unit::Ratio => grouped(margin.abs() * 100.0, 2),
        _ => figure(unit, margin.abs()),
    };
    Some(format!("{shown}{points} {side} the limit"))
}

/// How many times over: `149`, `2.4`.
pub fn times(over: f64) -> String {
    grouped(over, if over < 10.0 { 1 } else { 0 })
}

/// How long a run must be to decide, estimated from this one.
pub(super) fn run_longer(longer_ns: Nanos, so_far_ns: Nanos) -> String {
    let whole_seconds_ns = so_far_ns.div_ceil(SECOND).saturating_mul(SECOND);
    let in_all = exact_duration(whole_seconds_ns.saturating_add(longer_ns));
    format!("about {} more would decide it (-d {in_all})", exact_duration(longer_ns))
}

/// What all judgements come to, in a sentence; none without any.
pub fn conclusion(judgements: &[Judgement]) -> Option<String> {
    let count = |ruling| judgements.iter().filter(|held| held.ruling == ruling).count();
    let (missed, open) = (count(Ruling::Fail), count(Ruling::Inconclusive));
    let least = judgements.iter().filter_map(|held| held.times_over).reduce(f64::min);
    match (judgements.len(), missed, open, least) {
        (0, ..) => None,
        (_, 0, 0, Some(least)) if least >= WIDE => Some(format!(
            "Every objective is met at least {} times over: tuning can stop.",
            times(least)
        )),
        (1, 0, 0, _) => Some("The objective is met.".to_owned()),
        (all, 0, 0, _) => Some(format!("All {all} objectives are met.")),
        (all, missed, 0, _) => Some(format!("{missed} of {all} missed.")),
        (all, 0, open, _) => Some(format!("{open} of {all} undecided.")),
        (all, missed, open, _) => Some(format!("{missed} of {all} missed, {open} undecided.")),
    }
}
