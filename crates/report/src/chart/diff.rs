//! Several sweeps over the same levels: QPS and mean latency of each, distinguished by colour and
//! marker.

use model::sweep::LevelKind;

use super::axis::{Axis, Measure};
use super::curve::top;
use super::levels::{
    CurveLevel, CurveSeries, ascending, level_column, level_title, level_words, series_table,
    short, union,
};
use super::number::{duration, quantity, si};
use super::palette::{Dash, Shape};
use super::parts::{Key, Line, Mark, Panel, Point, Sample, Side, Style, doubt_keys};
use super::success::undrawn;
use super::{Chart, MOST_SERIES};

/// The figures of a comparison chart. The last series is what the others are measured against.
#[derive(Clone, Debug, Default)]
pub struct Diff {
    /// Heading.
    pub title: String,
    /// What the levels are.
    pub kind: LevelKind,
    /// The sweeps.
    pub series: Vec<CurveSeries>,
}

/// Up to this many series share one plot with two axes; more get a plot for QPS and one for latency
/// below it.
const MOST_TOGETHER: usize = 2;

impl Diff {
    /// The chart.
    pub fn chart(&self) -> Chart {
        let levels = union(self.series.iter().flat_map(|s| &s.levels).map(|l| l.level));
        let x = Axis::levels(&levels, &[]);
        let x_title = level_title(self.kind, x.is_log());
        let together = self.series.len() <= MOST_TOGETHER;
        let mut keys: Vec<Key> =
            self.drawn().map(|(i, s)| Key::line(style(i, Dash::Solid), s.name.clone())).collect();
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
            panels: if together { vec![self.shared()] } else { self.stacked() },
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

    fn lines(&self, side: Side, dash: Dash, value: fn(&CurveLevel) -> f64) -> Vec<Mark> {
        let line = |(i, s): (usize, &CurveSeries)| {
            Mark::Line(Line {
                side,
                style: style(i, dash),
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
                si(l.requests_per_s),
                duration(l.mean_s)
            );
            Point { validity: l.validity, tip, ..Point::bare(l.level, quantity(value(l))) }
        };
        ascending(&levels).into_iter().map(point).collect()
    }

    /// One plot: QPS solid against the left axis, mean latency dashed against the right.
    fn shared(&self) -> Panel {
        let (qps, mean) = self.tops();
        let (left, right) = Axis::pair((Measure::Count, qps), (Measure::Time, mean));
        let unit = right.time_symbol();
        let mut marks = self.lines(Side::Right, Dash::Dashed, |l| l.mean_s);
        marks.extend(self.lines(Side::Left, Dash::Solid, |l| l.requests_per_s));
        Panel {
            height: 310.0,
            heading: vec![metric(Dash::Solid, "QPS (requests/s)".into())],
            right_heading: vec![metric(Dash::Dashed, format!("mean latency ({unit})"))],
            left,
            right: Some(right),
            tones: (None, None),
            marks,
            names_lines: false,
        }
    }

    /// QPS above mean latency.
    fn stacked(&self) -> Vec<Panel> {
        let (qps, mean) = self.tops();
        let above = Axis::quantity(Measure::Count, qps, 5);
        let below = Axis::quantity(Measure::Time, mean, 4);
        let latency = format!("mean latency ({})", below.time_symbol());
        vec![
            Panel::plain(
                220.0,
                vec![metric(Dash::Solid, "QPS (requests/s)".into())],
                above,
                self.lines(Side::Left, Dash::Solid, |l| l.requests_per_s),
            ),
            Panel::plain(
                170.0,
                vec![metric(Dash::Dashed, latency)],
                below,
                self.lines(Side::Left, Dash::Dashed, |l| l.mean_s),
            ),
        ]
    }

    fn best(series: &CurveSeries) -> Option<&CurveLevel> {
        let sound = series.levels.iter().filter(|l| quantity(l.requests_per_s).is_some());
        sound.max_by(|a, b| a.requests_per_s.total_cmp(&b.requests_per_s))
    }

    /// Best against best, in a sentence.
    fn reading(&self) -> String {
        let Some((last, others)) = self.series.split_last() else {
            return "No series was given.".into();
        };
        let Some(base) = Diff::best(last).filter(|b| b.requests_per_s > 0.0) else {
            return "There is no measured QPS to compare with.".into();
        };
        let share =
            |l: &CurveLevel| format!("{:.2} %", l.requests_per_s / base.requests_per_s * 100.0);
        let at = |l: &CurveLevel| {
            format!("{} at {}", si(l.requests_per_s), level_words(self.kind, l.level))
        };
        let name = short(&last.name);
        match others {
            [] => format!("The best QPS is {}.", at(base)),
            [one] => match Diff::best(one) {
                Some(best) => format!(
                    "Best against best, {} reaches {} of {name}'s QPS: {} against {}.",
                    short(&one.name),
                    share(best),
                    at(best),
                    at(base)
                ),
                None => format!("{} has no measured QPS.", short(&one.name)),
            },
            _ => {
                let each = others
                    .iter()
                    .take(MOST_SERIES)
                    .filter_map(|s| Some(format!("{} {}", short(&s.name), share(Diff::best(s)?))));
                let list: Vec<String> = each.collect();
                format!("Best QPS as a share of {name}'s ({}): {}.", at(base), list.join(", "))
            }
        }
    }
}

fn style(index: usize, dash: Dash) -> Style {
    Style { colour: index, dash, shape: Some(Shape::of_series(index)), thin: dash == Dash::Dashed }
}

/// The key of a metric: its dash in neutral ink, since colour belongs to the series.
fn metric(dash: Dash, label: String) -> Key {
    let look = Style { colour: 6, dash, shape: None, thin: dash == Dash::Dashed };
    Key { sample: Sample::Line(look), label, tone: None }
}
