//! Where a value stands along an axis, and which round values deserve a tick.
//!
//! Owns the three scales (linear, logarithmic, nines) and nice numbers. Knows no pixels and no
//! labels: `axis` turns scales into axes, `frame` gives them room.

use super::number::LARGEST;

/// A mapping of values onto 0 (start of the axis) to 1 (end).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scale {
    /// Equal differences take equal room.
    Linear { lo: f64, hi: f64 },
    /// Equal ratios take equal room. `0 < lo < hi`.
    Log { lo: f64, hi: f64 },
    /// Per cent, each further nine taking equal room: 90, 99, 99.9 ... `from` is the lowest per
    /// cent shown, `nines` the finest share shown before 100 (3 is 99.9), and 100 itself stands
    /// `rim` of a nine beyond it.
    Nines { from: f64, nines: f64, rim: f64 },
}

/// Places beyond this count as this: far off the page, yet near enough to reckon with pixels
/// exactly.
const FAR: f64 = 1e6;

impl Scale {
    /// A linear scale over `lo..hi`; widened where that is empty or not finite.
    pub(super) fn linear(lo: f64, hi: f64) -> Scale {
        let (lo, hi) = (tame(lo), tame(hi));
        if hi > lo {
            return Scale::Linear { lo, hi };
        }
        let half = if lo == 0.0 { 0.5 } else { lo.abs() / 2.0 };
        Scale::Linear { lo: lo - half, hi: lo + half }
    }

    /// A logarithmic scale over `lo..hi`; widened by two each way where that is empty.
    pub(super) fn log(lo: f64, hi: f64) -> Scale {
        let lo = tame(lo).max(1e-18);
        let hi = tame(hi).max(1e-18);
        if hi > lo * 1.000_001 {
            Scale::Log { lo, hi }
        } else {
            Scale::Log { lo: lo / 2.0, hi: lo * 2.0 }
        }
    }

    /// The place of `v`: 0 to 1 inside the axis, outside that beyond it; `None` where `v` has no
    /// place at all.
    pub(super) fn place(&self, v: f64) -> Option<f64> {
        if !v.is_finite() {
            return None;
        }
        match *self {
            Scale::Linear { lo, hi } => Some(((v - lo) / (hi - lo)).clamp(-FAR, FAR)),
            Scale::Log { lo, hi } => {
                (v > 0.0).then(|| ((v.ln() - lo.ln()) / (hi / lo).ln()).clamp(-FAR, FAR))
            }
            Scale::Nines { from, nines, rim } => {
                let start = nines_of(from);
                let depth = nines - start + rim;
                if v >= 100.0 {
                    return Some(1.0);
                }
                Some((nines_of(v.max(from)).min(nines) - start) / depth)
            }
        }
    }
}

fn tame(v: f64) -> f64 {
    if v.is_finite() { v.clamp(-LARGEST, LARGEST) } else { 0.0 }
}

/// How many nines `percent` has: 0 for 0, 1 for 90, 2 for 99.
pub(super) fn nines_of(percent: f64) -> f64 {
    -(1.0 - percent.clamp(0.0, 100.0 - 1e-12) / 100.0).log10()
}

const STEPS: [f64; 10] = [1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0];

/// The smallest round step of at least `v`. `v > 0`.
fn step_at_least(v: f64, steps: &[f64]) -> f64 {
    let decade = 10f64.powf(v.log10().floor());
    let fits = |s: &&f64| **s * decade >= v * (1.0 - 1e-9);
    steps.iter().find(fits).map_or(decade * 10.0, |s| s * decade)
}

/// A logarithmic domain for `lo..hi` that ends soon after the data: round ticks, without those that
/// stand far outside. Returns the ticks and the ends of the domain. `0 < lo <= hi`.
pub(super) fn log_domain(lo: f64, hi: f64) -> (Vec<f64>, f64, f64) {
    const FAR: f64 = 2.0;
    const MARGIN: f64 = 1.25;
    let mut ticks = log_ticks(lo, hi);
    let (mut first, mut last) = (ticks[0], ticks[ticks.len() - 1]);
    if ticks.len() > 3 && last > hi * FAR {
        ticks.pop();
        last = (hi * MARGIN).max(ticks[ticks.len() - 1]);
    }
    if ticks.len() > 3 && first < lo / FAR {
        ticks.remove(0);
        first = (lo / MARGIN).min(ticks[0]);
    }
    (ticks, first, last)
}

/// Multiples of a round step (1, 2, 2.5 or 5 times a power of ten) from at or below `lo` to at or
/// above `hi`, about `count`.
pub(super) fn linear_ticks(lo: f64, hi: f64, count: usize) -> Vec<f64> {
    let (lo, hi) = (tame(lo), tame(hi));
    if hi <= lo {
        return vec![lo];
    }
    let step = step_at_least((hi - lo) / count.max(1) as f64, &[1.0, 2.0, 2.5, 5.0]);
    let first = (lo / step + 1e-9).floor();
    let last = (hi / step - 1e-9).ceil();
    let steps = (last - first).clamp(1.0, 64.0) as usize;
    (0..=steps).map(|i| (first + i as f64) * step).collect()
}

/// Steps for two axes from zero that share their grid: the same number of equal round steps covers
/// both maxima, wasting as little height as can be. Returns the ticks of each.
pub(super) fn paired_ticks(left_max: f64, right_max: f64) -> (Vec<f64>, Vec<f64>) {
    let left_max = positive_or_one(left_max);
    let right_max = positive_or_one(right_max);
    let waste = |max: f64, n: usize| step_at_least(max / n as f64, &STEPS) * n as f64 / max;
    let best = (4..=6)
        .min_by(|a, b| {
            let cost = |n: usize| waste(left_max, n) + waste(right_max, n);
            cost(*a).total_cmp(&cost(*b))
        })
        .unwrap_or(5);
    let ticks = |max: f64| {
        let step = step_at_least(max / best as f64, &STEPS);
        (0..=best).map(|i| i as f64 * step).collect()
    };
    (ticks(left_max), ticks(right_max))
}

fn positive_or_one(v: f64) -> f64 {
    if v.is_finite() && v > 1e-18 { v.min(LARGEST) } else { 1.0 }
}

/// Round values for a logarithmic axis covering `lo..hi`: 1-2-5 over few decades, powers of ten
/// over many, never more than about ten. The first is at or below `lo`, the last at or above `hi`.
/// `0 < lo <= hi`.
pub(super) fn log_ticks(lo: f64, hi: f64) -> Vec<f64> {
    let (lo, hi) = (lo.max(1e-18), hi.max(1e-18));
    let first = lo.log10().floor() as i32;
    let last = (hi.log10().ceil() as i32).max(first + 1);
    let decades = (hi / lo).log10();
    let mantissas: &[f64] = match decades {
        d if d <= 1.5 => &[1.0, 2.0, 3.0, 5.0],
        d if d <= 3.0 => &[1.0, 2.0, 5.0],
        _ => &[1.0],
    };
    let stride = ((last - first) / 9 + 1) as usize;
    let mut ticks: Vec<f64> = (first..=last)
        .step_by(stride)
        .flat_map(|exponent| mantissas.iter().map(move |m| m * 10f64.powi(exponent)))
        .collect();
    let below = ticks.iter().rposition(|t| *t <= lo * (1.0 + 1e-9)).unwrap_or(0);
    ticks.drain(..below);
    if let Some(above) = ticks.iter().position(|t| *t >= hi * (1.0 - 1e-9)) {
        ticks.truncate(above + 1);
    } else {
        ticks.push(hi);
    }
    if ticks.len() < 2 {
        ticks = vec![ticks[0], ticks[0] * 10.0];
    }
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_ticks_are_round_and_cover() {
        assert_eq!(linear_ticks(0.0, 97.0, 5), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        let shares = linear_ticks(99.2, 100.0, 4);
        assert!(shares.len() == 5 && (shares[1] - 99.4).abs() < 1e-9, "{shares:?}");
        assert_eq!(linear_ticks(5.0, 5.0, 4), [5.0]);
        assert!(linear_ticks(f64::NAN, f64::INFINITY, 4).len() < 70);
    }

    #[test]
    fn paired_axes_share_their_grid() {
        for (a, b) in [(648_380.0, 0.344), (1.0, 1e12), (3e-9, 7.0), (0.0, f64::NAN)] {
            let (left, right) = paired_ticks(a, b);
            assert_eq!(left.len(), right.len());
            assert!(*left.last().unwrap() >= a * 0.999_999);
            assert!(left.last().unwrap() / a.max(1e-9) < 1.6 || a == 0.0);
        }
    }

    #[test]
    fn log_ticks_cover_without_crowding() {
        for (lo, hi) in [(0.001, 1.0), (0.0012, 0.0013), (1e-9, 1e9), (5.0, 5.0), (1.0, 1e18)] {
            let ticks = log_ticks(lo, hi);
            assert!((2..=12).contains(&ticks.len()), "{lo} {hi} {ticks:?}");
            assert!(
                ticks[0] <= lo * 1.000_001 && *ticks.last().unwrap() >= hi * 0.999_999,
                "{ticks:?}"
            );
            assert!(ticks.is_sorted(), "{ticks:?}");
        }
    }

    #[test]
    fn nines_take_equal_room_and_the_whole_stands_apart() {
        let scale = Scale::Nines { from: 0.0, nines: 3.0, rim: 1.0 };
        let at = |v| scale.place(v).unwrap();
        assert_eq!(at(0.0), 0.0);
        assert!((at(90.0) - 0.25).abs() < 1e-9);
        assert!((at(99.9) - 0.75).abs() < 1e-9);
        assert!((at(99.99) - 0.75).abs() < 1e-9);
        assert_eq!(at(100.0), 1.0);
        assert_eq!(scale.place(f64::NAN), None);
    }

    #[test]
    fn empty_domains_are_widened() {
        for v in [0.0, 3.0, -2.0, f64::NAN, f64::INFINITY] {
            let place = Scale::linear(v, v).place(tame(v)).unwrap();
            assert!((place - 0.5).abs() < 1e-9);
        }
        assert!((Scale::log(7.0, 7.0).place(7.0).unwrap() - 0.5).abs() < 1e-9);
        assert_eq!(Scale::log(1.0, 10.0).place(0.0), None);
    }
}
