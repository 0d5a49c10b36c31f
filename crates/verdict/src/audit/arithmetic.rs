//! Figures of one row that must agree with one another.

use model::units::{Nanos, SECOND, show_duration};
use model::{Claim, Tool};

use super::{Found, Severity};
use crate::figures::{self, grouped};

/// Relative slack for percentiles that come from a histogram's buckets.
const BUCKETS: f64 = 0.01;
/// Relative slack where estimates meet.
const SLACK: f64 = 0.05;
/// Responses from which conventions of interpolation no longer matter to the mean.
const ENOUGH: u64 = 1_000;

/// The distribution's known points by share: least, percentiles, greatest.
fn points(claim: &Claim) -> Vec<(f64, Nanos)> {
    let ends = [(claim.min_ns, 0.0), (claim.max_ns, 1.0)].map(|(ns, share)| Some((share, ns?)));
    let [least, greatest] = ends;
    least.into_iter().chain(claim.quantiles.iter().copied()).chain(greatest).collect()
}

pub(super) fn order(_: Tool, claim: &Claim) -> Option<Found> {
    let points = points(claim);
    let slack = |ns: Nanos| ns as f64 * (1.0 + BUCKETS) + 2.0 * claim.widest_error_ns() as f64;
    let pair = points.windows(2).find(|pair| pair[0].1 as f64 > slack(pair[1].1))?;
    let name = |share: f64| match share {
        0.0 => "the least".to_owned(),
        1.0 => "the greatest".to_owned(),
        share => format!("p{}", (share * 1e6).round() / 1e4),
    };
    let evidence = format!(
        "{} is {}, above {}, {}",
        name(pair[0].0),
        show_duration(pair[0].1),
        name(pair[1].0),
        show_duration(pair[1].1)
    );
    Some((Severity::Impossible, evidence, None))
}

/// A share of the samples lies between each two points, so their lower ends bound the mean from
/// below and their upper ends from above.
pub(super) fn mean(_: Tool, claim: &Claim) -> Option<Found> {
    let mean_ns = claim.mean_ns.filter(|_| claim.requests.is_some_and(|n| n >= ENOUGH))?;
    let mut points = points(claim);
    if claim.min_ns.is_none() {
        points.insert(0, (0.0, 0));
    }
    let between = |end: usize| {
        points.windows(2).map(|pair| (pair[1].0 - pair[0].0) * pair[end].1 as f64).sum::<f64>()
    };
    let error = claim.widest_error_ns() as f64;
    let least = between(0) * (1.0 - SLACK) - 2.0 * error;
    let most = claim.max_ns.map(|_| between(1) * (1.0 + SLACK) + 2.0 * error);
    let mean = mean_ns as f64;
    let (word, bound) = if mean < least {
        ("at least", between(0))
    } else if most.is_some_and(|most| mean > most) {
        ("at most", between(1))
    } else {
        return None;
    };
    let evidence = format!(
        "a mean of {}, where its percentiles allow {word} {}",
        show_duration(mean_ns),
        show_duration(bound as Nanos)
    );
    Some((Severity::Impossible, evidence, None))
}

pub(super) fn rate(tool: Tool, claim: &Claim) -> Option<Found> {
    let (requests, duration_ns) = (claim.requests?, claim.duration_ns?);
    // Plimsoll counts as requests what was due in the window, and as QPS what was done in it.
    if duration_ns == 0 || tool == Tool::Plimsoll {
        return None;
    }
    let of = |ns: Nanos| requests as f64 * SECOND as f64 / ns.max(1) as f64;
    let counted = of(duration_ns);
    // The nearest of the rates that the digits of the duration leave.
    let error_ns = claim.duration_error_ns;
    let (least, most) =
        (of(duration_ns.saturating_add(error_ns)), of(duration_ns.saturating_sub(error_ns)));
    let apart = (least - claim.qps).max(claim.qps - most).max(0.0);
    // A request more or less is rounding.
    let requests_apart = apart * duration_ns as f64 / SECOND as f64;
    if apart <= SLACK * claim.qps.max(counted) || requests_apart <= 1.0 {
        return None;
    }
    let evidence = format!(
        "{} requests in {} are {}/s, but {}/s is printed",
        grouped(requests as f64, 0),
        show_duration(duration_ns),
        figures::rate(counted),
        figures::rate(claim.qps)
    );
    Some((Severity::Impossible, evidence, None))
}
