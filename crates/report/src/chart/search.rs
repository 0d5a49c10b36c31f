//! The picture of a search for capacity: what limits it over the level, what held and what broke, and
//! the interval that the capacity is in.

use model::capacity::Unit;
use model::sweep::LevelKind;

use super::axis::{Axis, Measure};
use super::levels::{level_column, level_title, level_words};
use super::number::{duration, quantity};
use super::palette::{Dash, Shape};
use super::parts::{Band, Key, Line, Mark, Panel, Point, Side, Style};
use super::table::{Table, cell, cell_or_empty};
use super::{Chart, MOST_SERIES};
use crate::figure::{counted, level, rate, share};

/// What became of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tried {
    /// The objectives held.
    Held,
    /// One of them did not.
    Broke,
    /// The step shows nothing about the server.
    Unknown,
}

/// A level of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchLevel {
    /// Requests/s or connections, as [`Search::kind`] says.
    pub level: f64,
    /// The value under the limiting objective: seconds, a ratio or a count, as [`Search::measure`]
    /// says; absent where it was not measured.
    pub value: Option<f64>,
    /// What became of it.
    pub tried: Tried,
    /// What the step was for, in a word.
    pub purpose: String,
}

/// The figures of a search's picture.
#[derive(Clone, Debug)]
pub struct Search {
    /// Heading; names the target.
    pub title: String,
    /// What to read from the chart.
    pub subtitle: String,
    /// What the levels are.
    pub kind: LevelKind,
    /// The limiting objective, as written.
    pub objective: String,
    /// Its unit; times are in seconds all the same.
    pub measure: Unit,
    /// Its limit.
    pub limit: Option<f64>,
    /// The levels in the order they were tried.
    pub levels: Vec<SearchLevel>,
    /// The capacity found.
    pub capacity: Option<f64>,
    /// The interval it is in.
    pub interval: Option<(f64, f64)>,
}

const HELD: Style = Style { colour: 2, dash: Dash::Solid, shape: Some(Shape::Circle), thin: false };
const BROKE: Style =
    Style { colour: 1, dash: Dash::Dashed, shape: Some(Shape::Diamond), thin: false };
const UNKNOWN: Style =
    Style { colour: 6, dash: Dash::Dotted, shape: Some(Shape::Square), thin: false };

const LOOKS: [(Tried, Style, &str); 3] = [
    (Tried::Held, HELD, "held"),
    (Tried::Broke, BROKE, "broke"),
    (Tried::Unknown, UNKNOWN, "cannot tell"),
];

/// A latency axis spans decades once its end is this many times its start.
const LOG_RATIO: f64 = 20.0;

impl Search {
    /// The chart.
    pub fn chart(&self) -> Chart {
        let ends = self.interval.map(|(low, high)| [low, high]);
        let marked: Vec<f64> =
            self.capacity.into_iter().chain(ends.into_iter().flatten()).collect();
        let levels: Vec<f64> =
            self.levels.iter().map(|l| l.level).chain(marked.iter().copied()).collect();
        let x = Axis::levels(&levels, &marked);
        Chart {
            title: self.title.clone(),
            subtitle: self.subtitle.clone(),
            desc: format!(
                "{} over {} tried. {}",
                self.objective,
                counted(self.levels.len() as u64, "level"),
                self.subtitle
            ),
            keys: self.keys(),
            x_title: level_title(self.kind, x.is_log()),
            x,
            panels: vec![self.panel()],
            bands: self.bands(),
            notes: Vec::new(),
            table: self.table(),
        }
    }

    fn keys(&self) -> Vec<Key> {
        let seen = LOOKS.iter().filter(|(tried, ..)| self.levels.iter().any(|l| l.tried == *tried));
        seen.map(|(_, style, name)| Key::line(*style, *name)).collect()
    }

    fn panel(&self) -> Panel {
        let lines = LOOKS.iter().map(|(tried, style, _)| Mark::Line(self.line(*tried, *style)));
        let mut marks: Vec<Mark> = lines.collect();
        if let Some(y) = self.limit.and_then(quantity) {
            let y = self.scaled(y);
            marks.push(Mark::Rule { side: Side::Left, y, label: self.objective.clone() });
        }
        let axis = self.axis();
        let unit = match self.measure {
            Unit::Nanoseconds if axis.is_log() => " (log scale)".to_owned(),
            Unit::Nanoseconds => format!(" ({})", axis.time_symbol()),
            _ => String::new(),
        };
        let name = format!("measured under {}{unit}", self.objective);
        let mut panel = Panel::plain(300.0, vec![Key::words(name)], axis, marks);
        panel.names_lines = false;
        panel
    }

    fn axis(&self) -> Axis {
        let values: Vec<f64> = self
            .levels
            .iter()
            .filter_map(|l| l.value)
            .chain(self.limit)
            .filter_map(quantity)
            .collect();
        let most = values.iter().copied().fold(0.0, f64::max);
        let least = values.iter().copied().filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min);
        let axis = match self.measure {
            Unit::Nanoseconds if most > LOG_RATIO * least => {
                Axis::quantity_log(Measure::Time, least, most)
            }
            Unit::Nanoseconds => Axis::quantity(Measure::Time, most, 5),
            Unit::Ratio => {
                let shares: Vec<f64> = values.into_iter().filter(|v| *v <= 1.0).collect();
                Axis::success(&shares)
            }
            Unit::Count => Axis::quantity(Measure::Count, most, 5),
        };
        axis.with_headroom(22.0)
    }

    /// A value in the unit of the axis.
    fn scaled(&self, value: f64) -> f64 {
        if self.measure == Unit::Ratio { value * 100.0 } else { value }
    }

    /// The points of one look, not joined: successive steps of a search have no trend.
    fn line(&self, tried: Tried, style: Style) -> Line {
        let alike = self.levels.iter().filter(|l| l.tried == tried);
        let point = |l: &SearchLevel| {
            let value = l.value.and_then(quantity).map(|v| self.scaled(v));
            let shown = l.value.map_or_else(|| "not measured".to_owned(), |v| self.words(v));
            let tip = format!("{}, {}: {shown}", l.purpose, level_words(self.kind, l.level));
            [Point { tip, ..Point::bare(l.level, value) }, Point::bare(l.level, None)]
        };
        Line {
            side: Side::Left,
            style,
            name: String::new(),
            points: alike.flat_map(point).collect(),
        }
    }

    fn words(&self, value: f64) -> String {
        match self.measure {
            Unit::Nanoseconds => duration(value),
            Unit::Ratio => share(value),
            Unit::Count => rate(value),
        }
    }

    fn bands(&self) -> Vec<Band> {
        let band = |from, to, label: String| Band { from, to, label, alarming: false };
        let interval = self.interval.map(|(low, high)| band(low, high, "interval".to_owned()));
        let capacity = self.capacity.map(|at| band(at, at, format!("capacity {}", level(at))));
        interval.into_iter().chain(capacity).take(MOST_SERIES).collect()
    }

    fn table(&self) -> Table {
        let unit = match self.measure {
            Unit::Nanoseconds => "(ms)",
            Unit::Ratio => "(%)",
            Unit::Count => "",
        };
        let value = format!("{} {unit}", self.objective);
        let mut table = Table::new(["step", level_column(self.kind), value.trim(), "outcome"]);
        for l in &self.levels {
            let scale = match self.measure {
                Unit::Nanoseconds => 1e3,
                Unit::Ratio => 100.0,
                Unit::Count => 1.0,
            };
            let outcome = LOOKS.iter().find(|(tried, ..)| *tried == l.tried).map_or("", |l| l.2);
            table.push(vec![
                l.purpose.clone(),
                cell(l.level),
                cell_or_empty(l.value.map(|v| v * scale)),
                outcome.to_owned(),
            ]);
        }
        table
    }
}
