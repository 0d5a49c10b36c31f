//! Success rate over the levels of a sweep, for one series or several.

use model::sweep::LevelKind;

use super::axis::Axis;
use super::levels::{
    CurveLevel, CurveSeries, ascending, level_column, level_title, level_words, series_table,
    short, union,
};
use super::palette::{Dash, Shape};
use super::parts::{Key, Line, Mark, Panel, Point, Side, Style, doubt_keys};
use super::scale::Scale;
use super::{Chart, MOST_SERIES};
use crate::figure;

/// The figures of a success-rate chart.
#[derive(Clone, Debug, Default)]
pub struct SuccessRate {
    /// Heading; names the target.
    pub title: String,
    /// What the levels are.
    pub kind: LevelKind,
    /// The lines.
    pub series: Vec<CurveSeries>,
}

/// Above this many series names at line ends would crowd, and a key stands above the chart.
const MOST_NAMED: usize = 8;

const HEIGHT: f64 = 190.0;
/// A chart on which nothing happens need not be high.
const FLAT_HEIGHT: f64 = 100.0;

impl SuccessRate {
    /// The chart.
    pub fn chart(&self) -> Chart {
        let levels = union(self.series.iter().flat_map(|s| &s.levels).map(|l| l.level));
        let x = Axis::levels(&levels, &[]);
        let x_title = level_title(self.kind, x.is_log());
        let y = Axis::success(&self.ratios());
        let heading = match y.scale {
            Scale::Nines { .. } => "success rate (each step up: a tenth of the failures)",
            _ => "success rate",
        };
        let drawn = self.series.len().min(MOST_SERIES);
        let named = drawn <= MOST_NAMED;
        let marks = (0..drawn).map(|i| Mark::Line(self.line(i, named))).collect();
        let height = if self.ratios().iter().all(|r| *r >= 1.0) { FLAT_HEIGHT } else { HEIGHT };
        let mut panel = Panel::plain(height, vec![Key::words(heading)], y, marks);
        panel.names_lines = named;
        let mut keys = if named { Vec::new() } else { self.keys(drawn) };
        keys.extend(doubt_keys(self.series.iter().flat_map(|s| &s.levels).map(|l| l.validity)));
        Chart {
            title: self.title.clone(),
            subtitle: self.reading(),
            desc: format!(
                "Success rate in per cent over {}. {}",
                level_column(self.kind),
                self.reading()
            ),
            keys,
            x,
            x_title,
            panels: vec![panel],
            bands: Vec::new(),
            notes: undrawn(self.series.len()),
            table: series_table(
                self.kind,
                &self.series,
                &levels,
                &[("success (%)", |l| l.success_ratio.map(|r| r * 100.0))],
            ),
        }
    }

    fn ratios(&self) -> Vec<f64> {
        self.series.iter().flat_map(|s| &s.levels).filter_map(ratio).collect()
    }

    fn style(&self, index: usize) -> Style {
        let colour = if self.series.len() == 1 { 2 } else { index };
        Style {
            colour,
            dash: Dash::of_series(index),
            shape: Some(Shape::of_series(index)),
            thin: false,
        }
    }

    fn keys(&self, drawn: usize) -> Vec<Key> {
        (0..drawn).map(|i| Key::line(self.style(i), self.series[i].name.clone())).collect()
    }

    fn line(&self, index: usize, named: bool) -> Line {
        let series = &self.series[index];
        let levels: Vec<f64> = series.levels.iter().map(|l| l.level).collect();
        let point = |i: usize| {
            let l = &series.levels[i];
            let share = ratio(l);
            Point {
                validity: l.validity,
                tip: format!(
                    "{} {}: {}",
                    short(&series.name),
                    level_words(self.kind, l.level),
                    share.map_or_else(|| "not measured".into(), figure::share)
                ),
                ..Point::bare(l.level, share.map(|r| r * 100.0))
            }
        };
        Line {
            side: Side::Left,
            style: self.style(index),
            name: if named { series.name.clone() } else { String::new() },
            points: ascending(&levels).into_iter().map(point).collect(),
        }
    }

    /// What the chart says, in a sentence.
    fn reading(&self) -> String {
        let ratios = self.ratios();
        if ratios.is_empty() {
            return "No level was measured.".into();
        }
        if ratios.iter().all(|r| *r >= 1.0) {
            return "Every request succeeded at every level.".into();
        }
        let several = self.series.len() > 1;
        let lowest = self
            .series
            .iter()
            .flat_map(|s| s.levels.iter().map(move |l| (s, l)))
            .filter_map(|(s, l)| Some((s, l, ratio(l)?)))
            .min_by(|a, b| a.2.total_cmp(&b.2));
        let Some((series, low, lowest)) = lowest else { return String::new() };
        let whose = if several { format!(" ({})", short(&series.name)) } else { String::new() };
        let worst =
            format!("{} at {}{whose}", figure::share(lowest), level_words(self.kind, low.level));
        match self.first_failing() {
            Some(level) if !several && level < low.level => format!(
                "Requests begin to fail at {}; success is lowest, {worst}.",
                level_words(self.kind, level)
            ),
            _ => format!("Success is lowest, {worst}."),
        }
    }

    fn first_failing(&self) -> Option<f64> {
        let failing = |l: &&CurveLevel| ratio(l).is_some_and(|r| r < 1.0);
        let levels = self.series.iter().flat_map(|s| &s.levels).filter(failing).map(|l| l.level);
        levels.filter(|l| l.is_finite()).min_by(f64::total_cmp)
    }
}

fn ratio(level: &CurveLevel) -> Option<f64> {
    level.success_ratio.filter(|r| (0.0..=1.0).contains(r))
}

/// The note on series left out of a drawing.
pub(super) fn undrawn(series: usize) -> Vec<String> {
    if series <= MOST_SERIES {
        return Vec::new();
    }
    vec![format!("The chart shows the first {MOST_SERIES} of {series} series; the table has all.")]
}
