//! Latencies that change for good in a window with few responses.

use std::collections::BTreeMap;

use model::slices::Slice;
use model::units::{Nanos, show_duration};
use model::{Run, Verdict};

use super::{Departure, SHORTEST_NS, WARMS_NS, inside, into_window};

/// Responses before and since an instant from which on their times are told apart, and how many times the p90 of the
/// one the p10 of the other must be.
pub(crate) const EACH_SIDE: u64 = 30;
pub(crate) const APART: f64 = 2.0;

/// Latencies before and since some instant that hardly overlap, in a window of few seconds. It needs no parts with
/// enough responses each, which there are not where these are few.
pub(super) fn apart(run: &Run) -> Option<Departure> {
    let slices = inside(run);
    let (first, last) = (slices.first()?, slices.last()?);
    let length_ns = last.start_ns.saturating_add(last.duration_ns).saturating_sub(first.start_ns);
    if length_ns < SHORTEST_NS {
        return None;
    }
    let split = |at: usize| {
        let (before, since) = (Spread::of(&slices[..at])?, Spread::of(&slices[at..])?);
        // Some of the one level on the other's side shift no p10; the change is where hardly any is.
        let sharp = times_apart(before.nearly_all, since.nearly_all);
        let found = times_apart(before.most, since.most) >= APART;
        found.then_some((sharp, at, before.median_ns, since.median_ns))
    };
    let splits = (1..slices.len()).filter_map(split);
    let (_, at, before_ns, since_ns) = splits.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let slower = since_ns > before_ns;
    let evidence = format!(
        "responses became {} {} into the window and stayed so to its end: median {} before, {} since; the mean and the \
         percentiles of the whole window are of neither",
        if slower { "slower" } else { "faster" },
        into_window(run, slices[at].start_ns),
        show_duration(before_ns),
        show_duration(since_ns)
    );
    Some(Departure { finding: (Verdict::Valid, evidence), slower })
}

/// How many times what one spread ends with the other begins with, whichever is above.
fn times_apart(a: (Nanos, Nanos), b: (Nanos, Nanos)) -> f64 {
    let times = |low: Nanos, high: Nanos| high as f64 / low.max(1) as f64;
    times(a.1, b.0).max(times(b.1, a.0))
}

/// Within which the response times of some slices are.
#[derive(Debug, Clone, Copy)]
struct Spread {
    median_ns: Nanos,
    /// From the p10 to the p90, and from the p2 to the p98.
    most: (Nanos, Nanos),
    nearly_all: (Nanos, Nanos),
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
        Some(Self {
            median_ns: at(0.5),
            most: (at(0.1), at(0.9)),
            nearly_all: (at(0.02), at(0.98)),
        })
    }
}
