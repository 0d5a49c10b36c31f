//! Latencies that change for good in a window with few responses.

use std::collections::BTreeMap;

use model::slices::Slice;
use model::units::{Nanos, show_duration};
use model::{Run, Verdict};

use super::{Finding, SHORTEST_NS, WARMS_NS, inside};

/// Responses before and since an instant from which on their times are told apart, and how many times the p90 of the
/// one the p10 of the other must be.
pub(crate) const EACH_SIDE: u64 = 30;
pub(crate) const APART: f64 = 2.0;

/// Latencies before and since some instant that hardly overlap, in a window of few seconds. It needs no parts with
/// enough responses each, which there are not where these are few.
pub(super) fn apart(run: &Run) -> Option<Finding> {
    let slices = inside(run);
    let (first, last) = (slices.first()?, slices.last()?);
    let length_ns = last.start_ns.saturating_add(last.duration_ns).saturating_sub(first.start_ns);
    if length_ns < SHORTEST_NS {
        return None;
    }
    let split = |at: usize| {
        let (before, since) = (Spread::of(&slices[..at])?, Spread::of(&slices[at..])?);
        let far = before.below(since).max(since.below(before));
        (far >= APART).then_some((far, at, before.p50_ns, since.p50_ns))
    };
    let splits = (1..slices.len()).filter_map(split);
    let (_, at, before_ns, since_ns) = splits.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let evidence = format!(
        "responses became {} {} into the window and stayed so to its end: median {} before, {} since; the mean and the \
         percentiles of the whole window are of neither",
        if since_ns > before_ns { "slower" } else { "faster" },
        show_duration(slices[at].start_ns.saturating_sub(first.start_ns)),
        show_duration(before_ns),
        show_duration(since_ns)
    );
    Some((Verdict::Valid, evidence))
}

/// Within which most response times of some slices are.
#[derive(Debug, Clone, Copy)]
struct Spread {
    p10_ns: Nanos,
    p50_ns: Nanos,
    p90_ns: Nanos,
}

impl Spread {
    /// None of too few responses, or of too short a time.
    fn of(slices: &[&Slice]) -> Option<Self> {
        let mut counts: BTreeMap<Nanos, u64> = BTreeMap::new();
        for &(range_ns, n) in slices.iter().flat_map(|slice| &slice.response_counts) {
            let sum = counts.entry(range_ns).or_default();
            *sum = sum.saturating_add(n);
        }
        let all = counts.values().fold(0, |sum: u64, &n| sum.saturating_add(n));
        let length_ns = slices.iter().map(|slice| slice.duration_ns).fold(0, Nanos::saturating_add);
        if all < EACH_SIDE || length_ns < WARMS_NS {
            return None;
        }
        let at = |quantile: f64| {
            let (rank, mut seen) = ((quantile * all as f64).ceil() as u64, 0_u64);
            let reached = counts.iter().find(|&(_, &n)| {
                seen = seen.saturating_add(n);
                seen >= rank
            });
            reached.map_or(0, |(&range_ns, _)| range_ns)
        };
        Some(Self { p10_ns: at(0.1), p50_ns: at(0.5), p90_ns: at(0.9) })
    }

    /// How many times what nine tenths of these took nine tenths of the others did.
    fn below(self, other: Self) -> f64 {
        other.p10_ns as f64 / self.p90_ns.max(1) as f64
    }
}
