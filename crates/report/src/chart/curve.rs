//! The curve of a sweep: QPS on the left axis, latency on the right, over concurrency or rate.

use model::sweep::LevelKind;
use model::validity::Verdict;

use super::axis::{Axis, Measure};
use super::levels::{CurveLevel, ascending, best, level_column, level_title, level_words, short};
use super::number::{quantity, round_duration};
use super::palette::{Dash, Shape};
use super::parts::{Band, Key, Line, Mark, Panel, Point, Side, Style, doubt_keys};
use super::table::{Table, cell, cell_or_empty};
use super::{Chart, MOST_SERIES};
use crate::figure::{counted, level, rate, share};

/// A further curve on the QPS axis, such as a fitted model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overlay {
    /// Its name in the key.
    pub name: String,
    /// (level, requests/s), in drawing order.
    pub points: Vec<(f64, f64)>,
}

/// A vertical line at a level, with words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LevelMark {
    /// Where, in the unit of the levels.
    pub level: f64,
    /// What for, in a word or two.
    pub label: String,
}

/// The figures of a curve chart.
#[derive(Clone, Debug, Default)]
pub struct Curve {
    /// Heading; names the target.
    pub title: String,
    /// What the levels are.
    pub kind: LevelKind,
    /// The levels, in any order.
    pub levels: Vec<CurveLevel>,
    /// Index in `levels` of the highest QPS, to be ringed and named.
    pub best: Option<usize>,
    /// Index in `levels` of the highest QPS within the objective, to be ringed and named.
    pub best_within: Option<usize>,
    /// Response-time objective in seconds, drawn as a line on the latency axis.
    pub objective_s: Option<f64>,
    /// Further curves on the QPS axis.
    pub overlays: Vec<Overlay>,
    /// Vertical lines.
    pub marks: Vec<LevelMark>,
}

const QPS: Style = Style { colour: 0, dash: Dash::Solid, shape: Some(Shape::Circle), thin: false };
const MEAN: Style =
    Style { colour: 1, dash: Dash::Dashed, shape: Some(Shape::Diamond), thin: false };
const P99: Style = Style { colour: 1, dash: Dash::Dotted, shape: None, thin: false };
const OVERLAY_COLOURS: [usize; 3] = [6, 2, 3];

/// The latency axis turns logarithmic when its end is more than this many times the median of the
/// means,
const FLAT_MEAN_RATIO: f64 = 25.0;
/// or more than this many times the objective.
const FLAT_OBJECTIVE_RATIO: f64 = 12.0;
/// An objective up to this many times the highest latency is drawn; a higher one would flatten the
/// curve.
const OBJECTIVE_RATIO: f64 = 2.5;
/// How far an overlay may raise the QPS axis above the measured best.
const OVERLAY_RATIO: f64 = 1.25;

impl Curve {
    /// The chart.
    pub fn chart(&self) -> Chart {
        let levels: Vec<f64> = self.levels.iter().map(|l| l.level).collect();
        let marked: Vec<f64> = [self.best, self.best_within]
            .iter()
            .flatten()
            .filter_map(|i| levels.get(*i).copied())
            .collect();
        let x = Axis::levels(&levels, &marked);
        let x_title = level_title(self.kind, x.is_log());
        let validities = self.levels.iter().map(|l| l.validity);
        Chart {
            title: self.title.clone(),
            subtitle: self.reading(),
            desc: format!(
                "Requests per second (left axis) and mean latency (right axis) over {} of \
                 {}. {}",
                counted(self.levels.len() as u64, "level"),
                level_column(self.kind),
                self.reading()
            ),
            keys: doubt_keys(validities),
            x,
            x_title,
            panels: vec![self.panel()],
            bands: self
                .marks
                .iter()
                .take(MOST_SERIES)
                .map(|m| Band {
                    from: m.level,
                    to: m.level,
                    label: m.label.clone(),
                    alarming: false,
                })
                .collect(),
            notes: self.notes(),
            table: self.table(),
        }
    }

    fn panel(&self) -> Panel {
        let left_max = self.qps_top();
        let latency_max = self.highest_latency();
        let right_max = self.drawn_objective().map_or(latency_max, |o| o.max(latency_max));
        // Alone, the two points would both stand near the top, one upon the other.
        let right_max = if self.levels.len() == 1 { right_max * 2.0 } else { right_max };
        let (left, right) = Axis::pair((Measure::Count, left_max), (Measure::Time, right_max));
        let log = self.latency_needs_log(right_max);
        let right = if log {
            Axis::quantity_log(Measure::Time, self.lowest_latency(), right_max)
        } else {
            right
        };
        let unit = if log { "log scale" } else { right.time_symbol() };
        let headroom = if self.callouts().is_empty() { 10.0 } else { 26.0 };
        let mut right_heading = vec![Key::line(MEAN, format!("mean latency ({unit})"))];
        if self.has_p99() {
            right_heading.push(Key::line(P99, "p99"));
        }
        Panel {
            height: 300.0,
            heading: self.heading(),
            right_heading,
            left: left.with_headroom(headroom),
            right: Some(right.with_headroom(headroom)),
            tones: (Some(QPS.colour), Some(MEAN.colour)),
            marks: self.panel_marks(),
            names_lines: false,
        }
    }

    fn heading(&self) -> Vec<Key> {
        let mut heading = vec![Key::line(QPS, "QPS (requests/s)")];
        let overlays = self.overlays.iter().enumerate().take(OVERLAY_COLOURS.len());
        heading.extend(overlays.map(|(i, o)| Key::line(overlay_style(i), short(&o.name))));
        heading
    }

    fn panel_marks(&self) -> Vec<Mark> {
        let mut marks: Vec<Mark> = Vec::new();
        for (i, overlay) in self.overlays.iter().enumerate().take(OVERLAY_COLOURS.len()) {
            let points = overlay.points.iter().map(|(x, y)| Point::bare(*x, quantity(*y)));
            marks.push(Mark::Line(line(Side::Left, overlay_style(i), points.collect())));
        }
        if self.has_p99() {
            marks.push(Mark::Line(line(Side::Right, P99, self.points(|l| l.p99_s))));
        }
        marks.push(Mark::Line(line(Side::Right, MEAN, self.points(|l| Some(l.mean_s)))));
        marks.push(Mark::Line(line(Side::Left, QPS, self.points(|l| Some(l.requests_per_s)))));
        if let Some(y) = self.drawn_objective() {
            marks.push(Mark::Rule {
                side: Side::Right,
                y,
                label: format!("objective {}", round_duration(y)),
            });
        }
        marks.extend(self.callouts());
        marks
    }

    fn points(&self, value: impl Fn(&CurveLevel) -> Option<f64>) -> Vec<Point> {
        let levels: Vec<f64> = self.levels.iter().map(|l| l.level).collect();
        let point = |i: usize| {
            let l = &self.levels[i];
            let tip = format!(
                "{}: {} requests/s, mean {}",
                level_words(self.kind, l.level),
                rate(l.requests_per_s),
                l.mean_words()
            );
            Point { validity: l.validity, tip, ..Point::bare(l.level, value(l).and_then(quantity)) }
        };
        ascending(&levels).into_iter().map(point).collect()
    }

    fn callouts(&self) -> Vec<Mark> {
        let at = |index: Option<usize>| {
            let l = self.levels.get(index?)?;
            let sign = if l.at_least().is_empty() { "" } else { "≥" };
            quantity(l.requests_per_s).map(|qps| (l.level, qps, sign))
        };
        let within = self.objective_s.map_or_else(
            || "within the objective".into(),
            |o| format!("within {}", round_duration(o)),
        );
        let callout = |(x, y, sign): (f64, f64, &str), words: String| Mark::Callout {
            side: Side::Left,
            x,
            y,
            label: format!("{words} {sign}{} at {}", rate(y), level(x)),
        };
        match (at(self.best), at(self.best_within)) {
            (Some(a), Some(b)) if a == b => vec![callout(a, format!("best, and {within}:"))],
            (a, b) => a
                .map(|a| callout(a, "best".into()))
                .into_iter()
                .chain(b.map(|b| callout(b, format!("best {within}:"))))
                .collect(),
        }
    }

    fn qps_top(&self) -> f64 {
        let measured = top(self.levels.iter().map(|l| Some(l.requests_per_s)));
        let overlaid = top(self.overlays.iter().flat_map(|o| &o.points).map(|p| Some(p.1)));
        if measured > 0.0 { measured.max(overlaid.min(measured * OVERLAY_RATIO)) } else { overlaid }
    }

    fn highest_latency(&self) -> f64 {
        top(self.levels.iter().flat_map(|l| [Some(l.mean_s), l.p99_s]))
    }

    /// Whether a linear axis up to `right_max` would press the mean, or the objective, flat against
    /// its floor.
    fn latency_needs_log(&self, right_max: f64) -> bool {
        let mut means: Vec<f64> = self.levels.iter().filter_map(|l| quantity(l.mean_s)).collect();
        means.retain(|m| *m > 0.0);
        means.sort_by(f64::total_cmp);
        let typical = means.get(means.len() / 2).copied().unwrap_or(right_max);
        let objective = self.drawn_objective().unwrap_or(right_max);
        right_max > typical * FLAT_MEAN_RATIO || right_max > objective * FLAT_OBJECTIVE_RATIO
    }

    fn lowest_latency(&self) -> f64 {
        let all = self.levels.iter().flat_map(|l| [Some(l.mean_s), l.p99_s]);
        all.flatten().filter_map(quantity).filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min)
    }

    fn has_p99(&self) -> bool {
        self.levels.iter().any(|l| l.p99_s.and_then(quantity).is_some())
    }

    fn objective(&self) -> Option<f64> {
        self.objective_s.and_then(quantity).filter(|o| *o > 0.0)
    }

    fn drawn_objective(&self) -> Option<f64> {
        let top = self.highest_latency();
        self.objective().filter(|o| top <= 0.0 || *o <= top * OBJECTIVE_RATIO)
    }

    fn notes(&self) -> Vec<String> {
        match (self.objective(), self.drawn_objective()) {
            (Some(o), None) => {
                vec![format!("The objective, {}, lies far above this scale.", round_duration(o))]
            }
            _ => Vec::new(),
        }
    }

    /// What the curve says, in a sentence or two: of levels that may be quoted.
    fn reading(&self) -> String {
        if self.levels.is_empty() {
            return "No level was measured.".into();
        }
        let Some(best) = self.best.and_then(|i| self.levels.get(i)).or_else(|| best(&self.levels))
        else {
            return "No level has a usable QPS.".into();
        };
        let at_least = best.at_least();
        let verb = if self.levels.len() == 1 || !at_least.is_empty() { "is" } else { "peaks at" };
        let bounded = !at_least.is_empty() && self.kind == LevelKind::Concurrency;
        let at_most = if bounded { "at most " } else { "" };
        let peak = format!(
            "QPS {verb} {at_least}{} with {}, where the mean latency is {at_most}{}.",
            rate(best.requests_per_s),
            level_words(self.kind, best.level),
            best.mean_words()
        );
        peak + &self.beyond(best)
    }

    /// What comes after the best level, in a sentence: only what is VALID can have fallen.
    fn beyond(&self, best: &CurveLevel) -> String {
        let above = |l: &&CurveLevel| l.level > best.level;
        let beyond = || self.levels.iter().filter(above);
        if beyond().all(|l| !l.is_known()) && self.levels.len() > 1 {
            let last = if beyond().next().is_none() { "level" } else { "usable level" };
            return format!(" That is the last {last} measured: the true peak may lie beyond it.");
        }
        let valid = beyond().filter(|l| l.validity == Verdict::Valid && !l.cut_short);
        let last = valid.max_by(|a, b| a.level.total_cmp(&b.level));
        let ratio =
            |l: &CurveLevel| quantity(l.requests_per_s).map(|qps| qps / best.requests_per_s);
        match last.and_then(|l| Some((l, ratio(l)?))) {
            Some((last, ratio)) if ratio < 0.9 => format!(
                " By {} it has fallen to {} of that.",
                level_words(self.kind, last.level),
                share(ratio)
            ),
            _ => String::new(),
        }
    }

    fn table(&self) -> Table {
        let p99 = self.has_p99();
        let mut headers = vec![level_column(self.kind), "QPS (1/s)", "mean latency (ms)"];
        headers.extend(p99.then_some("p99 latency (ms)"));
        headers.push("validity");
        let mut table = Table::new(headers);
        for l in &self.levels {
            let mut row = vec![cell(l.level), cell(l.requests_per_s), cell(l.mean_s * 1e3)];
            row.extend(p99.then(|| cell_or_empty(l.p99_s.map(|p| p * 1e3))));
            row.push(l.validity.name().into());
            table.push(row);
        }
        table
    }
}

fn line(side: Side, style: Style, points: Vec<Point>) -> Line {
    Line { side, style, name: String::new(), points }
}

fn overlay_style(index: usize) -> Style {
    Style {
        colour: OVERLAY_COLOURS[index],
        dash: Dash::of_series(index + 2),
        shape: None,
        thin: true,
    }
}

/// The highest drawable value, zero without one.
pub(super) fn top(values: impl Iterator<Item = Option<f64>>) -> f64 {
    values.flatten().filter_map(quantity).fold(0.0, f64::max)
}
