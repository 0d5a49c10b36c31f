//! The requests that an access log holds: over its time, with the busiest window marked, and by the hour of the day.

use super::Chart;
use super::axis::{Axis, Measure, Tick};
use super::curve::top;
use super::number::quantity;
use super::palette::Dash;
use super::parts::{Band, Key, Line, Mark, Panel, Point, Side, Style};
use super::scale::Scale;
use super::table::{Table, cell};
use crate::figure::{count, rate};

/// The figures of a log over its time.
#[derive(Clone, Debug, Default)]
pub struct Demand {
    /// Heading.
    pub title: String,
    /// What to read from it.
    pub subtitle: String,
    /// Beginning of each part in seconds since the first, and its requests per second.
    pub parts: Vec<(f64, f64)>,
    /// Length of a part in seconds.
    pub step_s: f64,
    /// The busiest window, in seconds since the first part.
    pub peak: (f64, f64),
}

impl Demand {
    /// The chart.
    pub fn chart(&self) -> Chart {
        let to = self.parts.last().map_or(1.0, |(at, _)| at + self.step_s);
        let (x, x_title) = Axis::seconds(0.0, to);
        let most = top(self.parts.iter().map(|(_, per_s)| Some(*per_s)));
        let points = self
            .parts
            .iter()
            .map(|(at, per_s)| Point::bare(at + self.step_s / 2.0, quantity(*per_s)));
        let style = Style { colour: 0, dash: Dash::Solid, shape: None, thin: true };
        let line = Line { side: Side::Left, style, name: String::new(), points: points.collect() };
        let axis = Axis::quantity(Measure::Count, most, 5);
        let heading = vec![Key::words("requests/s")];
        let (from, to) = self.peak;
        let band = Band { from, to, label: "busiest".to_owned(), alarming: false };
        let mut table = Table::new(["second", "requests/s"]);
        for (at, per_s) in &self.parts {
            table.push(vec![cell(*at), cell(*per_s)]);
        }
        Chart {
            title: self.title.clone(),
            subtitle: self.subtitle.clone(),
            desc: format!("Requests per second over {} parts of a log.", self.parts.len()),
            keys: Vec::new(),
            x,
            x_title: x_title.replace("since the start", "since the beginning of the log"),
            panels: vec![Panel::plain(220.0, heading, axis, vec![Mark::Line(line)])],
            bands: vec![band],
            notes: Vec::new(),
            table,
        }
    }
}

/// Requests by the hour of the day.
pub fn by_hour(requests: &[u64]) -> Chart {
    let hours = requests.iter().take(24).enumerate();
    let points = hours.clone().map(|(hour, n)| Point::bare(hour as f64, Some(*n as f64)));
    let bars = Mark::Bars { points: points.collect(), colour: 0, step: 1.0 };
    let most = requests.iter().max().copied().unwrap_or(0);
    let tick = |hour: u32| Tick { at: hour.into(), label: format!("{hour}:00"), rank: 0 };
    let ticks = (0..=24).step_by(3).map(tick).collect();
    let axis = Axis::quantity(Measure::Count, most as f64, 4);
    let busiest = hours.clone().max_by_key(|(_, n)| **n).map_or(0, |(hour, _)| hour);
    let mut table = Table::new(["hour", "requests"]);
    for (hour, n) in hours {
        table.push(vec![hour.to_string(), count(*n)]);
    }
    Chart {
        title: "Requests by the hour of the day".to_owned(),
        subtitle: format!(
            "{busiest}:00 to {}:00 had the most, {}.",
            busiest + 1,
            rate(most as f64)
        ),
        desc: "Requests of each hour of the day, over all days of the log.".to_owned(),
        keys: Vec::new(),
        x: Axis::of(Scale::linear(0.0, 24.0), ticks, (0.0, 0.0)),
        x_title: "hour of the day, in the log's time zone".to_owned(),
        panels: vec![Panel::plain(140.0, vec![Key::words("requests")], axis, vec![bars])],
        bands: Vec::new(),
        notes: Vec::new(),
        table,
    }
}
