//! Several sweeps over the same levels: QPS of each, and mean latency of each below it, distinguished
//! by colour and marker. One plot with two axes would hold two lines a server, of which only the dash
//! says which is which.

use model::sweep::LevelKind;
use verdict::diff::bound;
use verdict::figures::times;

use super::axis::{Axis, Measure};
use super::curve::top;
use super::levels::{
    CurveLevel, CurveSeries, ascending, best, level_column, level_title, level_words, series_table,
    short, union,
};
use super::number::quantity;
use super::palette::{Dash, Shape};
use super::parts::{Key, Line, Mark, Panel, Point, Side, Style, doubt_keys};
use super::success::undrawn;
use super::{Chart, MOST_SERIES};
use crate::figure::rate;

/// The figures of a comparison chart. The first series is what the others are measured against.
#[derive(Clone, Debug, Default)]
pub struct Diff {
    /// Heading.
    pub title: String,
    /// What the levels are.
    pub kind: LevelKind,
    /// The sweeps.
    pub series: Vec<CurveSeries>,
}

impl Diff {
    /// The chart.
    pub fn chart(&self) -> Chart {
        let levels = union(self.series.iter().flat_map(|s| &s.levels).map(|l| l.level));
        let x = Axis::levels(&levels, &[]);
        let x_title = level_title(self.kind, x.is_log());
        let mut keys: Vec<Key> =
            self.drawn().map(|(i, s)| Key::line(style(i), s.name.clone())).collect();
        keys.extend(doubt_keys(self.series.iter().flat_map(|s| &s.levels).map(|l| l.validity)));
        Chart {
            title: self.title.clone(),
            subtitle: self.reading(),
            desc: format!(
                "Requests per second and mean latency of {} series over {}. {}",
                self.series.len(),
                level_column(self.kind),
                self.reading()
            ),
            keys,
            x,
            x_title,
            panels: self.panels(),
            bands: Vec::new(),
            notes: undrawn(self.series.len()),
            table: series_table(
                self.kind,
                &self.series,
                &levels,
                &[
                    ("QPS (1/s)", |l| Some(l.requests_per_s)),
                    ("mean latency (ms)", |l| Some(l.mean_s * 1e3)),
                ],
            ),
        }
    }

    fn drawn(&self) -> impl Iterator<Item = (usize, &CurveSeries)> {
        self.series.iter().enumerate().take(MOST_SERIES)
    }

    fn tops(&self) -> (f64, f64) {
        let levels = || self.series.iter().flat_map(|s| &s.levels);
        (top(levels().map(|l| Some(l.requests_per_s))), top(levels().map(|l| Some(l.mean_s))))
    }

    fn lines(&self, value: fn(&CurveLevel) -> f64) -> Vec<Mark> {
        let line = |(i, s): (usize, &CurveSeries)| {
            Mark::Line(Line {
                side: Side::Left,
                style: style(i),
                name: String::new(),
                points: self.points(s, value),
            })
        };
        self.drawn().map(line).collect()
    }

    fn points(&self, series: &CurveSeries, value: fn(&CurveLevel) -> f64) -> Vec<Point> {
        let levels: Vec<f64> = series.levels.iter().map(|l| l.level).collect();
        let point = |i: usize| {
            let l = &series.levels[i];
            let tip = format!(
                "{}, {}: {} requests/s, mean {}",
                short(&series.name),
                level_words(self.kind, l.level),
                rate(l.requests_per_s),
                l.mean_words()
            );
            Point { validity: l.validity, tip, ..Point::bare(l.level, quantity(value(l))) }
        };
        ascending(&levels).into_iter().map(point).collect()
    }

    /// QPS above mean latency.
    fn panels(&self) -> Vec<Panel> {
        let (qps, mean) = self.tops();
        let above = Axis::quantity(Measure::Count, qps, 5);
        let below = Axis::quantity(Measure::Time, mean, 4);
        let latency = format!("mean latency ({})", below.time_symbol());
        vec![
            Panel::plain(
                220.0,
                vec![Key::words("QPS (requests/s)")],
                above,
                self.lines(|l| l.requests_per_s),
            ),
            Panel::plain(170.0, vec![Key::words(latency)], below, self.lines(|l| l.mean_s)),
        ]
    }

    /// Best against best, in a sentence: of levels that may be quoted.
    fn reading(&self) -> String {
        let Some((first, others)) = self.series.split_first() else {
            return "No series was given.".into();
        };
        let Some(base) = best(&first.levels) else {
            return "There is no usable QPS to compare with.".into();
        };
        let ratio = |l: &CurveLevel| {
            bound(l.validity, base.validity).to_owned()
                + &times(l.requests_per_s / base.requests_per_s)
        };
        let at = |l: &CurveLevel| {
            let (at_least, qps) = (l.at_least(), rate(l.requests_per_s));
            format!("{at_least}{qps} at {}", level_words(self.kind, l.level))
        };
        let name = short(&first.name);
        match others {
            [] => format!("The best QPS is {}.", at(base)),
            [one] => match best(&one.levels) {
                Some(best) => format!(
                    "Best against best, {} reaches {} of {name}'s QPS: {} against {}.",
                    short(&one.name),
                    ratio(best),
                    at(best),
                    at(base)
                ),
                None => format!("{} has no usable QPS.", short(&one.name)),
            },
            _ => {
                let each = others.iter().take(MOST_SERIES).filter_map(|s| {
                    Some(format!("{} {}", short(&s.name), ratio(best(&s.levels)?)))
                });
                let list: Vec<String> = each.collect();
                if list.is_empty() {
                    return "Of the others none has a usable QPS.".into();
                }
                format!("Best QPS as a share of {name}'s ({}): {}.", at(base), list.join(", "))
            }
        }
    }
}

fn style(index: usize) -> Style {
    Style { colour: index, dash: Dash::Solid, shape: Some(Shape::of_series(index)), thin: false }
}
