//! A run over time: throughput, latency, errors and requests in flight, one above the other on the
//! same seconds.

use super::Chart;
use super::axis::{Axis, Measure};
use super::clock::moment;
use super::curve::top;
use super::levels::short;
use super::number::{duration, quantity, round_duration};
use super::palette::Dash;
use super::parts::{Band, Bar, Key, Line, Mark, Panel, Point, Side, Style};
use super::table::{Table, cell, cell_or_empty};
use crate::figure::{count, rate};

/// One second of a run (or whatever the step between entries is).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Second {
    /// When it began, in seconds since the start of the run.
    pub at_s: f64,
    /// Its length in seconds; as long as most others where it is not above zero.
    pub length_s: f64,
    /// Requests completed per second.
    pub requests_per_s: f64,
    /// Arrivals wanted per second; `None` in a closed loop.
    pub offered_per_s: Option<f64>,
    /// Median latency in seconds; `None` where no response came.
    pub p50_s: Option<f64>,
    /// 99th percentile of latency in seconds.
    pub p99_s: Option<f64>,
    /// Highest latency in seconds.
    pub max_s: Option<f64>,
    /// Failed attempts per second.
    pub errors_per_s: f64,
    /// Requests open, where known.
    pub in_flight: Option<f64>,
}

impl Second {
    /// Its length, where most are `step` long.
    fn length(&self, step: f64) -> f64 {
        if self.length_s.is_finite() && self.length_s > 0.0 { self.length_s } else { step }
    }
}

/// What a shaded band is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpanKind {
    /// Belongs to the run but not to the result, such as a warm-up: shaded lightly.
    #[default]
    Aside,
    /// To be noticed, such as a dip: shaded in colour.
    Alarm,
}

/// A shaded band of time with words. Drawn as a line where it is empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Span {
    /// Begin in seconds since the start of the run.
    pub from_s: f64,
    /// End in seconds since the start of the run.
    pub to_s: f64,
    /// A word or two.
    pub label: String,
    /// How it is shaded.
    pub kind: SpanKind,
}

/// A limit that latency was judged by.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limit {
    /// The objective in a few characters.
    pub label: String,
    /// The limit in seconds.
    pub latency_s: f64,
}

/// The figures of a timeline.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// Heading.
    pub title: String,
    /// Requests per second over the measured window; the mean of its seconds where this is `None`.
    pub mean_per_s: Option<f64>,
    /// Attempts of the measured window that did not succeed, where known.
    pub failed: Option<u64>,
    /// The seconds in order.
    pub seconds: Vec<Second>,
    /// Periods to shade.
    pub spans: Vec<Span>,
    /// Lines across the latencies.
    pub limits: Vec<Limit>,
}

/// Limits drawn at most.
const MOST_LIMITS: usize = 4;
/// Limits are drawn up to this many times above the highest latency, and as far below the lowest;
/// farther ones would flatten the lines.
const LIMIT_RATIO: f64 = 10.0;

/// Periods drawn at most.
const MOST_SPANS: usize = 100;

impl Timeline {
    /// The chart.
    pub fn chart(&self) -> Chart {
        let step = self.step();
        let known = self.seconds.iter().filter(|s| s.at_s.is_finite());
        let from = known.map(|s| s.at_s).fold(f64::INFINITY, f64::min);
        let (x, x_title) = Axis::seconds(from, self.end());
        let mut panels = vec![self.throughput(step), self.latency(step)];
        panels.extend(self.errors(step));
        panels.extend(self.in_flight(step));
        Chart {
            title: self.title.clone(),
            subtitle: self.reading(),
            desc: format!(
                "Throughput, latency, errors and requests in flight over {} points in time. {}",
                self.seconds.len(),
                self.reading()
            ),
            keys: Vec::new(),
            x,
            x_title: x_title.into(),
            panels,
            bands: bands(&self.spans),
            notes: self.notes(),
            table: self.table(),
        }
    }

    /// The time from one entry to the next: the median of the differences, one second without any.
    fn step(&self) -> f64 {
        let mut steps: Vec<f64> = self
            .seconds
            .windows(2)
            .map(|pair| pair[1].at_s - pair[0].at_s)
            .filter(|d| d.is_finite() && *d > 0.0)
            .collect();
        steps.sort_by(f64::total_cmp);
        steps.get(steps.len() / 2).copied().unwrap_or(1.0)
    }

    fn line(
        &self,
        step: f64,
        style: Style,
        name: &str,
        value: impl Fn(&Second) -> Option<f64>,
    ) -> Mark {
        let points = self
            .seconds
            .iter()
            .map(|s| Point::bare(s.at_s + s.length(step) / 2.0, value(s).and_then(quantity)));
        Mark::Line(Line { side: Side::Left, style, name: name.into(), points: points.collect() })
    }

    fn throughput(&self, step: f64) -> Panel {
        let open_loop = self.seconds.iter().any(|s| s.offered_per_s.is_some());
        let answered = top(self.seconds.iter().map(|s| Some(s.requests_per_s)));
        let highest = answered.max(top(self.seconds.iter().map(|s| s.offered_per_s)));
        let mut marks = Vec::new();
        if open_loop {
            marks.push(self.line(step, style(6, Dash::Dashed), "offered", |s| s.offered_per_s));
        }
        let name = if open_loop { "QPS" } else { "" };
        marks.push(self.line(step, style(0, Dash::Solid), name, |s| Some(s.requests_per_s)));
        let axis = Axis::quantity(Measure::Count, highest, 4);
        Panel::plain(120.0, vec![Key::words("QPS (requests/s)")], axis, marks)
    }

    /// The lowest and the highest latency; where there is none, ends for an empty axis.
    fn latencies(&self) -> (f64, f64) {
        let all = || self.seconds.iter().flat_map(|s| [s.p50_s, s.p99_s, s.max_s]);
        let positive = all().flatten().filter_map(quantity).filter(|v| *v > 0.0);
        let highest = top(all());
        if highest > 0.0 { (positive.fold(f64::INFINITY, f64::min), highest) } else { (0.001, 1.0) }
    }

    /// The limits, and whether each is near enough to the latencies to be drawn.
    fn limits(&self) -> impl Iterator<Item = (&Limit, bool)> {
        let (lowest, highest) = self.latencies();
        let near = lowest / LIMIT_RATIO..=highest * LIMIT_RATIO;
        let limits = self.limits.iter().filter(|l| quantity(l.latency_s).is_some_and(|s| s > 0.0));
        limits.take(MOST_LIMITS).map(move |limit| (limit, near.contains(&limit.latency_s)))
    }

    fn latency(&self, step: f64) -> Panel {
        let near = || self.limits().filter(|(_, near)| *near).map(|(limit, _)| limit);
        let (lowest, highest) = near().fold(self.latencies(), |(lowest, highest), limit| {
            (lowest.min(limit.latency_s), highest.max(limit.latency_s))
        });
        let axis = Axis::quantity_log(Measure::Time, lowest, highest);
        let positive = |v: Option<f64>| v.filter(|v| *v > 0.0);
        let rules = near().map(|limit| Mark::Rule {
            side: Side::Left,
            y: limit.latency_s,
            label: limit.label.clone(),
        });
        let mut marks = vec![
            self.line(step, style(5, Dash::Dotted), "max", move |s| positive(s.max_s)),
            self.line(step, style(1, Dash::Dashed), "p99", move |s| positive(s.p99_s)),
            self.line(step, style(2, Dash::Solid), "p50", move |s| positive(s.p50_s)),
        ];
        marks.extend(rules);
        Panel::plain(150.0, vec![Key::words("latency (log scale)")], axis, marks)
    }

    fn errors(&self, step: f64) -> Option<Panel> {
        let peak = top(self.seconds.iter().map(|s| Some(s.errors_per_s)));
        if peak <= 0.0 {
            return None;
        }
        let bar = |s: &Second| {
            Some(Bar { x: (s.at_s, s.at_s + s.length(step)), y: quantity(s.errors_per_s)? })
        };
        let bars = Mark::Bars { bars: self.seconds.iter().filter_map(bar).collect(), colour: 1 };
        let heading = Key::words(format!("errors/s (most: {})", rate(peak)));
        Some(Panel::plain(64.0, vec![heading], Axis::quantity(Measure::Count, peak, 2), vec![bars]))
    }

    fn in_flight(&self, step: f64) -> Option<Panel> {
        self.seconds.iter().find(|s| s.in_flight.is_some())?;
        let axis = Axis::quantity(Measure::Count, top(self.seconds.iter().map(|s| s.in_flight)), 2);
        let line = self.line(step, style(3, Dash::Solid), "", |s| s.in_flight);
        Some(Panel::plain(64.0, vec![Key::words("requests in flight")], axis, vec![line]))
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let none_drawn = self.seconds.iter().all(|s| s.errors_per_s == 0.0);
        match self.failed.unwrap_or(0) {
            _ if !none_drawn || self.seconds.is_empty() => {}
            0 => notes.push("No attempt failed.".into()),
            n => notes.push(format!(
                "Attempts that did not succeed: {}, none of them in what is drawn.",
                count(n)
            )),
        }
        notes.extend(self.limits().filter(|(_, near)| !near).map(|(limit, _)| {
            format!("The limit of {} lies far outside the latencies.", short(&limit.label))
        }));
        if self.spans.len() > MOST_SPANS {
            notes.push(format!(
                "The first {MOST_SPANS} of {} periods are shaded.",
                self.spans.len()
            ));
        }
        notes
    }

    /// Where the time axis ends.
    fn end(&self) -> f64 {
        let step = self.step();
        let known = self.seconds.iter().filter(|s| s.at_s.is_finite());
        known.map(|s| s.at_s + s.length(step)).fold(f64::NEG_INFINITY, f64::max)
    }

    /// What the run looked like, in a sentence.
    fn reading(&self) -> String {
        let aside = |at_s: f64| {
            let asides = self.spans.iter().filter(|span| span.kind == SpanKind::Aside);
            asides.into_iter().any(|span| span.from_s <= at_s && at_s < span.to_s)
        };
        let measured = || self.seconds.iter().filter(|s| !aside(s.at_s));
        let sound: Vec<f64> = measured().filter_map(|s| quantity(s.requests_per_s)).collect();
        if sound.is_empty() {
            return "Nothing was measured.".into();
        }
        let mean = self.mean_per_s.unwrap_or(sound.iter().sum::<f64>() / sound.len() as f64);
        let worst = measured()
            .filter_map(|s| Some((s.p99_s.and_then(quantity)?, s.at_s)))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let tail = worst.map_or_else(String::new, |(p99, at)| {
            let (p99, at) = (duration(p99), moment(at, self.end()));
            let step = self.step();
            let length = match step {
                1.0 => "one second".to_owned(),
                step => format!("one period of {}", round_duration(step)),
            };
            format!(" The p99 of {length} was highest, {p99}, {at} into the run.")
        });
        format!("{} requests/s on average.{tail}", rate(mean))
    }

    fn table(&self) -> Table {
        const COLUMNS: [Column; 8] = [
            ("second", |s| cell(s.at_s)),
            ("offered (1/s)", |s| cell_or_empty(s.offered_per_s)),
            ("QPS (1/s)", |s| cell(s.requests_per_s)),
            ("p50 (ms)", |s| milliseconds(s.p50_s)),
            ("p99 (ms)", |s| milliseconds(s.p99_s)),
            ("max (ms)", |s| milliseconds(s.max_s)),
            ("errors (1/s)", |s| cell(s.errors_per_s)),
            ("in flight", |s| cell_or_empty(s.in_flight)),
        ];
        // A closed loop offers no rate.
        let open_loop = self.seconds.iter().any(|s| s.offered_per_s.is_some());
        let columns: Vec<_> =
            COLUMNS.into_iter().filter(|(name, _)| open_loop || *name != "offered (1/s)").collect();
        let mut table = Table::new(columns.iter().map(|(name, _)| *name));
        for s in &self.seconds {
            table.push(columns.iter().map(|(_, of)| of(s)).collect());
        }
        table
    }
}

/// Periods as bands, as many as are drawn.
pub(super) fn bands(spans: &[Span]) -> Vec<Band> {
    let drawn = spans.iter().filter(|s| s.from_s <= s.to_s && s.from_s.is_finite());
    let band = |s: &Span| Band {
        from: s.from_s,
        to: s.to_s,
        label: s.label.clone(),
        alarming: s.kind == SpanKind::Alarm,
    };
    drawn.take(MOST_SPANS).map(band).collect()
}

/// A column of the table: its heading, and a second's cell.
type Column = (&'static str, fn(&Second) -> String);

/// A time that may be missing as a cell.
fn milliseconds(seconds: Option<f64>) -> String {
    cell_or_empty(seconds.map(|seconds| seconds * 1e3))
}

fn style(colour: usize, dash: Dash) -> Style {
    Style { colour, dash, shape: None, thin: true }
}
