//! The requests that an access log holds: over its time, with the busiest window marked, and by the hour of the day.

use super::Chart;
use super::axis::{Axis, Measure, Tick};
use super::curve::top;
use super::number::quantity;
use super::palette::Dash;
use super::parts::{Band, Bar, Key, Line, Mark, Panel, Point, Side, Style};
use super::scale::Scale;
use super::table::{Table, cell};
use crate::figure::count;
use model::units::{SECOND, exact_duration};

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
            notes: self.partial().into_iter().collect(),
            table,
        }
    }

    /// What a point is, and that those at the ends may be low because the log begins and ends within them.
    fn partial(&self) -> Option<String> {
        let length = exact_duration((self.step_s * SECOND as f64) as u64);
        (self.parts.len() > 1).then(|| {
            format!("A point stands for {length}; of the first and the last the log may hold only a part.")
        })
    }
}

/// Requests by the hour of the day: of the first 24 figures each is an hour's.
pub fn by_hour(requests: &[u64]) -> Chart {
    let hours = || (0_u32..24).zip(requests.iter().copied());
    let bar = |(hour, n): (u32, u64)| Bar { x: (hour.into(), (hour + 1).into()), y: n as f64 };
    let bars = Mark::Bars { bars: hours().map(bar).collect(), colour: 0 };
    let tick = |hour: u32| Tick { at: hour.into(), label: format!("{hour}:00"), rank: 0 };
    let ticks = (0..=24).step_by(3).map(tick).collect();
    // The first of equals.
    let busiest = hours().reduce(|a, b| if a.1 >= b.1 { a } else { b }).filter(|(_, n)| *n > 0);
    let most = busiest.map_or(0, |(_, n)| n);
    let axis = Axis::quantity(Measure::Count, most as f64, 4);
    let mut table = Table::new(["hour", "requests"]);
    for (hour, n) in hours() {
        table.push(vec![hour.to_string(), n.to_string()]);
    }
    Chart {
        title: "Requests by the hour of the day".to_owned(),
        subtitle: busiest.map_or_else(
            || "There were no requests.".to_owned(),
            |(hour, n)| format!("{hour}:00 to {}:00 had the most, {}.", hour + 1, count(n)),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_at_the_ends_may_be_of_less_log() {
        let of = |parts: &[(f64, f64)]| {
            Demand { parts: parts.to_vec(), step_s: 300.0, ..Demand::default() }.chart().notes
        };
        assert!(of(&[(0.0, 1.0)]).is_empty());
        let notes = of(&[(0.0, 9.0), (300.0, 10.0), (600.0, 1.0)]);
        assert!(
            notes[0].starts_with("A point stands for 5m; of the first and the last"),
            "{notes:?}"
        );
    }

    #[test]
    fn the_busiest_hour_is_named_with_its_count() {
        let mut requests = [0; 24];
        assert_eq!(by_hour(&requests).subtitle(), "There were no requests.");
        assert_eq!(by_hour(&[]).subtitle(), "There were no requests.");
        (requests[9], requests[20]) = (50, 50);
        assert_eq!(by_hour(&requests).subtitle(), "9:00 to 10:00 had the most, 50.");
        requests[20] = 12_345;
        let chart = by_hour(&requests);
        assert_eq!(chart.subtitle(), "20:00 to 21:00 had the most, 12,345.");
        assert_eq!(chart.table().rows[20], ["20", "12345"]);
    }
}
