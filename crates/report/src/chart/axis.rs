//! Axes: a scale, its ticks with their labels, and which labels stay when room is short.
//!
//! Owns the choice of domain (what counts, where zero belongs, when to go logarithmic). Draws
//! nothing.

use std::ops::RangeInclusive;

use super::number::{LARGEST, TimeUnit, level, round_duration, si_digits, significant};
use super::scale::{Scale, linear_ticks, log_domain, nines_of, paired_ticks};

/// One tick.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub at: f64,
    /// Empty for a mark without words.
    pub label: String,
    /// Who keeps the label when two would collide: the lower.
    pub rank: u32,
}

/// A scale with its ticks, and the room kept free at either end of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    pub scale: Scale,
    pub ticks: Vec<Tick>,
    /// Pixels between the frame and the first and last value.
    pub inset: (f64, f64),
}

/// What an axis measures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Measure {
    /// Counts and rates, with SI suffixes.
    Count,
    /// Durations in seconds.
    Time,
}

impl Measure {
    /// The label of a tick on a linear axis up to `max`.
    fn linear_label(self, v: f64, max: f64) -> String {
        match self {
            Measure::Count => si_digits(v, 4),
            Measure::Time => {
                let scaled = v / TimeUnit::fitting(max).seconds;
                if scaled.abs() < 1e4 { significant(scaled, 5) } else { si_digits(scaled, 4) }
            }
        }
    }

    /// `max`, or a modest stand-in where nothing was measured.
    fn end(self, max: f64) -> f64 {
        match self {
            _ if max > 1e-18 => max,
            Measure::Count => 1.0,
            Measure::Time => 1e-3,
        }
    }

    /// The size of the unit its labels are in on a linear axis up to `max`.
    fn unit(self, max: f64) -> f64 {
        match self {
            Measure::Count => 1.0,
            Measure::Time => TimeUnit::fitting(max).seconds,
        }
    }

    /// The label of a tick on a logarithmic axis, unit included. Powers of ten stay round in
    /// seconds only.
    fn log_label(self, v: f64) -> String {
        match self {
            Measure::Count => si_digits(v, 4),
            Measure::Time if v > 99.0 => format!("{}s", si_digits(v, 4)),
            Measure::Time => round_duration(v),
        }
    }
}

/// Levels that can be drawn, apart from zero.
const LEVELS: RangeInclusive<f64> = 1e-12..=LARGEST;

const Y_INSET: (f64, f64) = (0.0, 8.0);
const LEVEL_INSET: (f64, f64) = (16.0, 16.0);

impl Axis {
    pub(super) fn of(scale: Scale, ticks: Vec<Tick>, inset: (f64, f64)) -> Axis {
        Axis { scale, ticks, inset }
    }

    /// The axis with `px` pixels free above its last value, for words.
    pub(super) fn with_headroom(mut self, px: f64) -> Axis {
        self.inset.1 = px;
        self
    }

    /// Zero to `max` or a round value just above it, with about `count` steps.
    pub(super) fn quantity(measure: Measure, max: f64, count: usize) -> Axis {
        let max = measure.end(max);
        let unit = measure.unit(max);
        let mut ticks: Vec<f64> =
            linear_ticks(0.0, max / unit, count).into_iter().map(|t| t * unit).collect();
        let mut end = ticks[ticks.len() - 1];
        if ticks.len() > 2 && end > max * 1.15 {
            ticks.pop();
            end = max * 1.05;
        }
        Axis::from_zero(measure, &ticks, end)
    }

    /// Two axes from zero whose ticks stand at the same heights.
    pub(super) fn pair(left: (Measure, f64), right: (Measure, f64)) -> (Axis, Axis) {
        let (left, right) = ((left.0, left.0.end(left.1)), (right.0, right.0.end(right.1)));
        let (left_unit, right_unit) = (left.0.unit(left.1), right.0.unit(right.1));
        let (left_ticks, right_ticks) = paired_ticks(left.1 / left_unit, right.1 / right_unit);
        let axis = |measure, ticks: Vec<f64>, unit: f64| {
            let ticks: Vec<f64> = ticks.into_iter().map(|t| t * unit).collect();
            Axis::from_zero(measure, &ticks, ticks[ticks.len() - 1])
        };
        (axis(left.0, left_ticks, left_unit), axis(right.0, right_ticks, right_unit))
    }

    fn from_zero(measure: Measure, ticks: &[f64], end: f64) -> Axis {
        let labelled = ticks.iter().enumerate().map(|(i, at)| Tick {
            at: *at,
            label: measure.linear_label(*at, end),
            rank: u32::from(i % 2 == 1),
        });
        Axis::of(Scale::linear(0.0, end), labelled.collect(), Y_INSET)
    }

    /// A logarithmic axis over the positive ones of `lo..hi`.
    pub(super) fn quantity_log(measure: Measure, lo: f64, hi: f64) -> Axis {
        let lo = if lo > 0.0 { lo } else { hi.min(1.0) };
        let (lo, hi) = if hi > 0.0 { (lo.min(hi), hi) } else { (0.001, 1.0) };
        let (ticks, first, last) = log_domain(lo, hi);
        let tick = |at| Tick { at, label: measure.log_label(at), rank: roundness(at) };
        Axis::of(Scale::log(first, last), ticks.into_iter().map(tick).collect(), Y_INSET)
    }

    /// The symbol of the unit that the tick labels of a linear axis of durations are in.
    pub(super) fn time_symbol(&self) -> &'static str {
        match self.scale {
            Scale::Linear { hi, .. } => TimeUnit::fitting(hi).symbol,
            _ => "s",
        }
    }

    /// The levels of a sweep: a tick at each that was measured, logarithmic when the highest is more
    /// than 20 times the lowest. `levels` may be unsorted, repeat and hold rubbish; those `marked` keep
    /// their labels before others.
    pub(super) fn levels(levels: &[f64], marked: &[f64]) -> Axis {
        let mut levels: Vec<f64> =
            levels.iter().copied().filter(|v| *v == 0.0 || LEVELS.contains(&v.abs())).collect();
        levels.sort_by(f64::total_cmp);
        levels.dedup();
        let (Some(&lo), Some(&hi)) = (levels.first(), levels.last()) else {
            return Axis::of(Scale::linear(0.0, 1.0), Vec::new(), LEVEL_INSET);
        };
        let log = lo > 0.0 && hi / lo > 20.0;
        let scale = if log {
            Scale::log(lo, hi)
        } else if lo > 0.0 && lo < hi / 2.0 {
            Scale::linear(0.0, hi)
        } else {
            Scale::linear(lo, hi)
        };
        let ticks = levels.iter().map(|&at| Tick {
            at,
            label: level(at),
            rank: match () {
                () if at == lo || at == hi => 0,
                () if marked.contains(&at) => 1,
                () => 2 + roundness(at),
            },
        });
        Axis::of(scale, ticks.collect(), LEVEL_INSET)
    }

    /// Whether the axis is logarithmic.
    pub(super) fn is_log(&self) -> bool {
        matches!(self.scale, Scale::Log { .. })
    }

    /// Percentiles on the nines scale from `from` to `deepest` per cent, with 100 set apart as
    /// "max".
    pub(super) fn percentiles(deepest: f64) -> Axis {
        let nines = nines_of(deepest).clamp(1.0, 9.0);
        let scale = Scale::Nines { from: 0.0, nines, rim: (nines * 0.14).max(0.3) };
        let mut ticks = vec![tick(0.0, "min", 0), tick(50.0, "50", 2), tick(90.0, "90", 1)];
        ticks.extend(nine_ticks(2, (nines + 1e-6).floor() as i32).map(|t| Tick { rank: 1, ..t }));
        ticks.push(tick(100.0, "max", 0));
        Axis::of(scale, ticks, (4.0, 22.0))
    }

    /// Success in per cent, given the ratios to be shown: flat near the top when nothing failed;
    /// linear while that shows all failures apart; else each gridline has a tenth of the failures below
    /// it.
    pub(super) fn success(ratios: &[f64]) -> Axis {
        let failing = |r: &f64| (1.0 - r) * 100.0;
        let worst = ratios.iter().map(failing).fold(0.0, f64::max);
        let least = ratios.iter().map(failing).filter(|f| *f > 1e-9).fold(worst, f64::min);
        let inset = (0.0, 12.0);
        if worst <= 1e-9 {
            let ticks = [99.0, 99.5, 100.0].map(|at| tick(at, &percent_label(at), 0));
            return Axis::of(Scale::linear(99.0, 100.0), ticks.to_vec(), inset);
        }
        if least >= worst / 25.0 {
            let ticks = linear_ticks((100.0 - worst * 1.05).max(0.0), 100.0, 4);
            let ticks: Vec<Tick> =
                ticks.iter().map(|at| tick(*at, &percent_label(*at), 0)).collect();
            return Axis::of(Scale::linear(ticks[0].at, 100.0), ticks, inset);
        }
        Axis::success_nines(worst, least)
    }

    fn success_nines(worst: f64, least: f64) -> Axis {
        let nines = (-(least / 100.0).log10() - 1e-9).ceil().clamp(1.0, 9.0);
        let from =
            [99.9, 99.0, 90.0, 50.0].into_iter().find(|p| 100.0 - p >= worst * 1.02).unwrap_or(0.0);
        let mut ticks: Vec<Tick> = [(0.0, 0), (50.0, 0), (90.0, 0)]
            .into_iter()
            .filter(|(p, _)| *p >= from)
            .map(|(p, rank)| tick(p, &percent_label(p), rank))
            .collect();
        ticks.extend(nine_ticks(2, nines as i32).filter(|t| t.at >= from - 1e-9));
        for t in &mut ticks {
            t.label = percent_label(t.at);
        }
        ticks.push(tick(100.0, "100 %", 0));
        Axis::of(Scale::Nines { from, nines, rim: 0.75 }, ticks, (0.0, 12.0))
    }
}

fn tick(at: f64, label: &str, rank: u32) -> Tick {
    Tick { at, label: label.to_string(), rank }
}

/// 99, 99.9 ... from `first` to `last` nines.
fn nine_ticks(first: i32, last: i32) -> impl Iterator<Item = Tick> {
    (first..=last).map(|n| {
        let at = 100.0 - 100.0 * 10f64.powi(-n);
        tick(at, &significant(at, n.max(2)), 0)
    })
}

fn percent_label(p: f64) -> String {
    format!("{} %", significant(p, 12))
}

/// 0 for powers of ten, then 5, then 2 and powers of two, then the rest.
fn roundness(v: f64) -> u32 {
    let mantissa = v.abs() / 10f64.powf(v.abs().log10().floor());
    match (mantissa * 1e6).round() as i64 {
        1_000_000 | 10_000_000 => 0,
        5_000_000 => 1,
        2_000_000 => 2,
        _ if v.abs() >= 1.0 && v.abs().log2().fract() == 0.0 => 2,
        _ => 3,
    }
}

/// Which of these bands (start, end, rank) stay when each keeps `gap` from its neighbours:
/// lower ranks first, then in the order given.
pub(super) fn kept(bands: &[(f64, f64, u32)], gap: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..bands.len()).collect();
    order.sort_by_key(|&i| bands[i].2);
    let mut keep = vec![false; bands.len()];
    let mut taken: Vec<(f64, f64)> = Vec::new();
    for i in order {
        let (start, end, _) = bands[i];
        if taken.iter().all(|(s, e)| end + gap <= *s || *e + gap <= start) {
            taken.push((start, end));
            keep[i] = true;
        }
    }
    keep
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLASSIC: [f64; 10] = [200.0, 500.0, 1000.0, 3000.0, 5000.0, 1e4, 1.5e4, 2e4, 2.5e4, 5e4];

    #[test]
    fn levels_choose_their_scale() {
        assert!(Axis::levels(&CLASSIC, &[]).is_log());
        assert!(!Axis::levels(&[100.0, 200.0, 400.0], &[]).is_log());
        assert!(!Axis::levels(&[0.0, 1.0, 400.0], &[]).is_log());
        assert!(Axis::levels(&[f64::NAN, f64::INFINITY], &[]).ticks.is_empty());
        assert_eq!(Axis::levels(&CLASSIC, &[]).ticks.len(), 10);
    }

    #[test]
    fn success_axis_follows_the_failures() {
        let flat = Axis::success(&[1.0, 1.0]);
        assert_eq!(flat.scale, Scale::linear(99.0, 100.0));
        assert_eq!(flat.scale.place(100.0), Some(1.0));
        let apart = Axis::success(&[1.0, 0.999]);
        let gap = apart.scale.place(100.0).unwrap() - apart.scale.place(99.9).unwrap();
        assert!(gap > 0.5, "{gap}");
        let both = Axis::success(&[1.0, 0.9993, 0.7178]);
        let gap = both.scale.place(100.0).unwrap() - both.scale.place(99.93).unwrap();
        assert!(gap > 0.1, "{gap}");
        assert!(both.scale.place(71.78).unwrap() > 0.0);
        assert!(Axis::success(&[0.0, 0.5]).scale.place(0.0).unwrap() >= 0.0);
    }

    #[test]
    fn crowded_labels_give_way_by_rank() {
        let keep = kept(&[(0.0, 10.0, 1), (8.0, 18.0, 0), (20.0, 30.0, 1)], 4.0);
        assert_eq!(keep, [false, true, false]);
    }

    #[test]
    fn percentile_ticks_end_with_the_maximum() {
        let axis = Axis::percentiles(99.99);
        let labels: Vec<_> = axis.ticks.iter().map(|t| t.label.as_str()).collect();
        assert_eq!(labels, ["min", "50", "90", "99", "99.9", "99.99", "max"]);
    }
}
