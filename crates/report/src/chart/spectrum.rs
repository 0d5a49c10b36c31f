//! The latency spectrum: every percentile from the minimum to the maximum, each further nine given
//! equal room.

use model::validity::Verdict;

use super::axis::{Axis, Measure};
use super::levels::{Lookup, short};
use super::number::{duration, grouped, quantity};
use super::palette::{Dash, Shape};
use super::parts::{Key, Line, Mark, Panel, Point, Side, Style};
use super::success::undrawn;
use super::table::{Table, cell, cell_or_empty};
use super::{Chart, MOST_SERIES};

/// One distribution.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpectrumSeries {
    /// Its name, such as `response` or `service`.
    pub name: String,
    /// (percentile 0 to 100, latency in seconds), in any order. 0 is the minimum; 100 is given as
    /// `max_s`.
    pub points: Vec<(f64, f64)>,
    /// Median and 99th percentile in seconds, where they are known apart from the points.
    pub p50_and_p99_s: Option<(f64, f64)>,
    /// The highest latency in seconds.
    pub max_s: Option<f64>,
    /// Samples behind it, where known.
    pub count: Option<u64>,
}

/// The figures of a latency spectrum.
#[derive(Clone, Debug, Default)]
pub struct Spectrum {
    /// Heading.
    pub title: String,
    /// The distributions.
    pub series: Vec<SpectrumSeries>,
}

/// Latencies spanning more than this ratio are drawn on a logarithmic axis.
const LOG_RATIO: f64 = 20.0;
/// Above this many series a key stands above the chart, since names at line ends would crowd.
const MOST_NAMED: usize = 10;

impl Spectrum {
    /// The chart.
    pub fn chart(&self) -> Chart {
        let drawn = self.series.len().min(MOST_SERIES);
        let named = drawn <= MOST_NAMED;
        let (y, log) = self.latency_axis();
        let unit = if log { "log scale" } else { y.time_symbol() };
        let marks = (0..drawn).flat_map(|i| self.lines(i, named)).collect();
        let mut panel =
            Panel::plain(260.0, vec![Key::words(format!("latency ({unit})"))], y, marks);
        panel.names_lines = named;
        let key = |i: usize| Key::line(style(i), self.series[i].name.clone());
        Chart {
            title: self.title.clone(),
            subtitle: self.reading(),
            desc: format!(
                "Latency by percentile of {} distributions. {}",
                self.series.len(),
                self.reading()
            ),
            keys: if named { Vec::new() } else { (0..drawn).map(key).collect() },
            x: Axis::percentiles(self.deepest()),
            x_title: "percentile (each further nine takes equal width)".into(),
            panels: vec![panel],
            bands: Vec::new(),
            notes: undrawn(self.series.len()),
            table: self.table(),
        }
    }

    /// The highest percentile below 100 that any series has.
    fn deepest(&self) -> f64 {
        let percentiles = self.series.iter().flat_map(|s| &s.points).map(|p| p.0);
        percentiles.filter(|p| (0.0..100.0).contains(p)).fold(90.0, f64::max)
    }

    fn latency_axis(&self) -> (Axis, bool) {
        let all = || {
            let points =
                self.series.iter().flat_map(|s| s.points.iter().map(|p| p.1).chain(s.max_s));
            points.filter_map(quantity)
        };
        let highest = all().fold(0.0, f64::max);
        let lowest = all().filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min);
        let log = highest > 0.0 && highest / lowest > LOG_RATIO;
        let axis = if log {
            Axis::quantity_log(Measure::Time, lowest, highest)
        } else {
            Axis::quantity(Measure::Time, highest, 5)
        };
        (axis.with_headroom(14.0), log)
    }

    /// The line of series `index`, and the dotted step from its last percentile to its maximum.
    fn lines(&self, index: usize, named: bool) -> Vec<Mark> {
        let series = &self.series[index];
        let mut points: Vec<(f64, f64)> =
            series.points.iter().copied().filter(|p| (0.0..100.0).contains(&p.0)).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let name = if named { series.name.clone() } else { String::new() };
        let bare = |(p, v): (f64, f64)| Point::bare(p, quantity(v));
        let max = series.max_s.and_then(quantity);
        let look = style(index);
        let mut marks = Vec::new();
        if let Some(max) = max {
            let tip = format!("{} max: {}", short(&series.name), duration(max));
            let end = Point { x: 100.0, y: max, validity: Verdict::Valid, tip };
            let start = points.last().map(|p| bare(*p));
            let step = Style { dash: Dash::Dotted, shape: None, thin: true, ..look };
            let points = start.into_iter().chain([end.clone()]).collect();
            let label = if named {
                format!("{} max {}", short(&series.name), duration(max)).trim_start().into()
            } else {
                name.clone()
            };
            marks.push(Mark::Line(Line {
                side: Side::Left,
                style: step,
                name: String::new(),
                points,
            }));
            marks.push(Mark::Line(Line {
                side: Side::Left,
                style: look,
                name: label,
                points: vec![end],
            }));
        }
        let body = Line {
            side: Side::Left,
            style: Style { shape: None, ..look },
            name: if max.is_some() { String::new() } else { name },
            points: points.into_iter().map(bare).collect(),
        };
        marks.insert(0, Mark::Line(body));
        marks
    }

    /// The first series in words.
    fn reading(&self) -> String {
        let Some(series) = self.series.first() else { return "No distribution was given.".into() };
        let at = |wanted: f64| {
            series.points.iter().find(|p| (p.0 - wanted).abs() < 1e-9).map(|point| point.1)
        };
        let (p50, p99) = series
            .p50_and_p99_s
            .map_or_else(|| (at(50.0), at(99.0)), |(p50, p99)| (Some(p50), Some(p99)));
        let words = |value: Option<f64>| value.and_then(quantity).map(duration);
        let mut parts = Vec::new();
        parts.extend(words(p50).map(|v| format!("half the requests took at most {v}")));
        parts.extend(words(p99).map(|v| format!("one in a hundred more than {v}")));
        parts.extend(
            series.max_s.and_then(quantity).map(|v| format!("the slowest {}", duration(v))),
        );
        if parts.is_empty() {
            return String::new();
        }
        let whose = if self.series.len() > 1 {
            format!("{}: ", short(&series.name))
        } else {
            String::new()
        };
        let count =
            series.count.map_or_else(String::new, |n| format!(" ({} samples)", grouped(n as f64)));
        let mut sentence = whose + &parts.join(", ") + &count + ".";
        if let Some(first) = sentence.get(..1).filter(|_| self.series.len() == 1) {
            sentence = first.to_uppercase() + &sentence[1..];
        }
        sentence
    }

    fn table(&self) -> Table {
        let mut percentiles: Vec<f64> = self
            .series
            .iter()
            .flat_map(|s| &s.points)
            .map(|p| p.0)
            .filter(|p| (0.0..100.0).contains(p))
            .collect();
        percentiles.sort_by(f64::total_cmp);
        percentiles.dedup();
        let columns = self.series.iter().map(|s| format!("{} (ms)", s.name));
        let mut table = Table::new(std::iter::once("percentile".to_string()).chain(columns));
        let by_percentile: Vec<_> =
            self.series.iter().map(|s| Lookup::new(&s.points, |point| point.0)).collect();
        for p in percentiles {
            let value = |s: &Lookup<(f64, f64)>| cell_or_empty(s.at(p).map(|point| point.1 * 1e3));
            table.push(std::iter::once(cell(p)).chain(by_percentile.iter().map(value)).collect());
        }
        let max = |s: &SpectrumSeries| cell_or_empty(s.max_s.map(|m| m * 1e3));
        table.push(std::iter::once("100".into()).chain(self.series.iter().map(max)).collect());
        table
    }
}

fn style(index: usize) -> Style {
    Style {
        colour: index,
        dash: Dash::of_series(index),
        shape: Some(Shape::of_series(index)),
        thin: false,
    }
}
