//! Periods of seconds that lie off their trend, and where exactly they begin and end.

use statistics::order::median;

/// How many times the usual deviation a period must lie off: of a normal distribution, one in a
/// thousand million.
pub(super) const RARE: f64 = 6.0;
/// Lengths of the running medians with which periods are looked for, in seconds.
const LENGTHS: [usize; 4] = [1, 3, 9, 27];
/// Share of throughput that must be lost, by length.
pub(super) const LEAST_LOSS: [f64; 4] = [0.35, 0.25, 0.15, 0.10];
/// Rise of the latency's logarithm, by length: 2.2 times, 2, 1.6, 1.5.
pub(super) const LEAST_RISE: [f64; 4] = [0.8, 0.7, 0.5, 0.4];
/// Seconds between two periods that are one.
const GAP: usize = 2;
/// Loss of throughput that is no noise, where counts are large enough.
pub(super) const OUTAGE: f64 = 0.95;

/// What counts as off, for a signal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Noise {
    /// Usual deviation at least, of single seconds.
    pub(super) floor: f64,
    /// Least that matters, by length.
    pub(super) least: [f64; 4],
    /// What is off whatever the noise: an outage in a run that wavers between half and twice its
    /// trend.
    pub(super) always: f64,
    /// Seconds that a period must have.
    pub(super) shortest: usize,
}

/// Seconds `from..to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) from: usize,
    pub(super) to: usize,
}

/// The usual deviation around zero: 1.4826 times the median of what lies off, which is the standard
/// deviation of a normal distribution.
pub(super) fn spread(off: &[f64]) -> f64 {
    1.4826 * median(off.iter().map(|x| x.abs()).collect())
}

/// Every period of one signal, in no order.
pub(super) fn find(off: &[f64], noise: &Noise) -> Vec<Span> {
    let mut found = Vec::new();
    for (length, least) in LENGTHS.into_iter().zip(noise.least) {
        // A median over most of the run would be the run's own.
        if length < noise.shortest || length * 4 > off.len() {
            continue;
        }
        let smooth = running_median(off, length);
        let usual = spread(&smooth).max(noise.floor / (length as f64).sqrt());
        let threshold = least.max(RARE * usual).min(noise.always);
        let seeds = runs(&smooth, threshold);
        found.extend(seeds.into_iter().map(|seed| exact(off, seed, length)));
    }
    found.retain(|span| span.to - span.from >= noise.shortest);
    found
}

/// Joins periods that touch or nearly do; in order afterwards.
pub(super) fn unite(spans: &mut Vec<Span>) {
    spans.sort_by_key(|span| span.from);
    spans.dedup_by(|later, kept| {
        let one = later.from <= kept.to + GAP;
        if one {
            kept.to = kept.to.max(later.to);
        }
        one
    });
}

/// Medians over `length` values centred on each, fewer at the ends.
fn running_median(values: &[f64], length: usize) -> Vec<f64> {
    let half = length / 2;
    let near = |i: usize| i.saturating_sub(half)..(i + half + 1).min(values.len());
    (0..values.len()).map(|i| median(values[near(i)].to_vec())).collect()
}

/// Periods that lie at or above `threshold`.
fn runs(values: &[f64], threshold: f64) -> Vec<Span> {
    let mut runs: Vec<Span> = Vec::new();
    for at in (0..values.len()).filter(|&at| values[at] >= threshold) {
        match runs.last_mut() {
            Some(last) if last.to == at => last.to = at + 1,
            _ => runs.push(Span { from: at, to: at + 1 }),
        }
    }
    runs
}

/// The begin and end that a seed really has: of all periods around it, the one whose seconds lie
/// off by most in sum, each counted from half of the seed's own depth on, and no deeper than the seed:
/// a single second far off would pay for all those on trend between it and the next. A median is as
/// wide as its length and knows no edges.
fn exact(off: &[f64], seed: Span, length: usize) -> Span {
    let half = median(off[seed.from..seed.to].to_vec()) / 2.0;
    let reach = length + (seed.to - seed.from);
    let middle = usize::midpoint(seed.from, seed.to - 1);
    let best = |range: &mut dyn Iterator<Item = usize>| {
        let (mut sum, mut most, mut at) = (0.0, f64::NEG_INFINITY, middle);
        for second in range {
            sum += off[second].min(2.0 * half) - half;
            if sum > most {
                (most, at) = (sum, second);
            }
        }
        at
    };
    let first = middle.saturating_sub(reach);
    let last = (middle + reach).min(off.len() - 1);
    let from = best(&mut (first..=middle).rev());
    let to = best(&mut (middle..=last));
    Span { from, to: to + 1 }
}
