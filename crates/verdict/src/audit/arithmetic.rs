//! Figures of one row that must agree with one another.

use model::units::{Nanos, SECOND, show_duration};
use model::{Claim, Tool};

use super::{Found, Severity};
use crate::figures::{self, grouped};

/// Relative slack for percentiles that come from a histogram's buckets.
const BUCKETS: f64 = 0.01;
/// Relative slack where estimates meet.
const SLACK: f64 = 0.05;
/// Samples between a percentile and where its share puts it, at most: tools round the rank in different
/// ways, or interpolate between two samples.
const RANKS: f64 = 2.0;

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

/// The least and the greatest mean that samples with these points can have: a share of them lies
/// between each two points, and above the last. Without a greatest nothing bounds the mean from above.
fn bounds_of_mean(claim: &Claim, samples: f64) -> (f64, Option<f64>) {
    let points = points(claim);
    let shares = |by: f64| -> Vec<f64> {
        let moved = |share: f64| match share {
            0.0 | 1.0 => share,
            share => (share + by).clamp(0.0, 1.0),
        };
        points.iter().map(|&(share, _)| moved(share)).collect()
    };
    let (late, early) = (shares(RANKS / samples), shares(-RANKS / samples));
    let above = late.iter().skip(1).chain(&[1.0]).zip(&late).map(|(to, from)| to - from);
    let before = std::iter::once(&0.0).chain(&early);
    let below = early.iter().zip(before).map(|(to, from)| to - from);
    (weighted(&points, above), claim.max_ns.map(|_| weighted(&points, below)))
}

/// Each point's latency times the share that is given to it, added up.
fn weighted(points: &[(f64, Nanos)], shares: impl Iterator<Item = f64>) -> f64 {
    points.iter().zip(shares).map(|(&(_, ns), share)| share * ns as f64).sum()
}

pub(super) fn mean(_: Tool, claim: &Claim) -> Option<Found> {
    let mean_ns = claim.mean_ns?;
    // Some tools time successes only. Without any, what was timed are failures.
    let timed = claim.success.filter(|&success| success > 0.0).unwrap_or(1.0);
    let samples = claim.requests? as f64 * timed;
    if samples < 1.0 {
        return None;
    }
    let (low, high) = bounds_of_mean(claim, samples);
    let error = 2.0 * claim.widest_error_ns() as f64;
    let mean = mean_ns as f64;
    let (word, bound) = match high {
        _ if mean < low * (1.0 - SLACK) - error => ("at least", low),
        Some(high) if mean > high * (1.0 + SLACK) + error => ("at most", high),
        _ => return None,
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
