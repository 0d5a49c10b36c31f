//! What is drawn of a source over time: a few figures that are computed from one sample or two, in bounded memory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::sample::{Sample, stem};
use crate::units::{Nanos, SECOND};

/// Points kept of a series; past that, pairs are folded into one.
const MOST_POINTS: usize = 480;

/// How a series is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A share, 0..=1.
    Ratio,
    /// Processors.
    Cores,
    /// Bytes.
    Bytes,
    /// Bytes per second.
    BytesPerS,
    /// Per second.
    PerS,
    /// A number.
    #[default]
    Count,
}

/// A figure over time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Series {
    /// What it is, in a few words: `CPU`.
    pub name: String,
    /// How it is printed.
    pub unit: Unit,
    /// When each value was taken, since the run's start.
    pub at_ns: Vec<Nanos>,
    /// The values, each the mean of one or more samples.
    pub values: Vec<f64>,
}

impl Series {
    /// The mean of the values inside a period, and of those outside of it.
    pub fn inside_and_outside(&self, from_ns: Nanos, to_ns: Nanos) -> Option<(f64, f64)> {
        let (mut inside, mut outside) = ((0.0, 0_u32), (0.0, 0_u32));
        for (&at, value) in self.at_ns.iter().zip(&self.values) {
            let sum = if (from_ns..=to_ns.saturating_add(SECOND)).contains(&at) {
                &mut inside
            } else {
                &mut outside
            };
            *sum = (sum.0 + value, sum.1 + 1);
        }
        let mean = |(sum, n): (f64, u32)| (n > 0).then(|| sum / f64::from(n));
        mean(inside).zip(mean(outside))
    }
}

/// How a series is computed from the sample before and this one.
type Compute = fn(&Sample, &Sample, f64) -> Option<f64>;

/// Everything that is drawn, where a source tells it.
const CHARTED: &[(&str, Unit, Compute)] = &[
    ("CPU", Unit::Ratio, |before, now, _| cpu_busy(before, now)),
    ("CPU of the processes", Unit::Cores, |before, now, s| {
        Some(grown(before, now, "process.cpu_ns")? / s / SECOND as f64)
    }),
    ("busiest thread", Unit::Ratio, |_, now, _| gauge(now, "process.thread_share")),
    ("throttled", Unit::Ratio, |before, now, s| {
        Some(grown(before, now, "cgroup.throttled_ns")? / s / SECOND as f64)
    }),
    ("memory available", Unit::Bytes, |_, now, _| gauge(now, "memory.available_bytes")),
    ("disk busy", Unit::Ratio, |before, now, s| {
        most_grown(before, now, "disk.busy_ns").map(|ns| (ns / s / SECOND as f64).min(1.0))
    }),
    ("network", Unit::BytesPerS, |before, now, s| {
        let [received, sent] =
            ["net.received_bytes", "net.sent_bytes"].map(|stem| most_grown(before, now, stem));
        Some(received?.max(sent?) / s)
    }),
    ("retransmits", Unit::PerS, |b, now, s| Some(grown(b, now, "tcp.retransmits")? / s)),
    ("TIME_WAIT", Unit::Count, |_, now, _| gauge(now, "tcp.time_wait")),
    ("listen queue", Unit::Count, |_, now, _| most(now, "listen.queue")),
    ("listen drops", Unit::PerS, |b, now, s| Some(grown(b, now, "tcp.listen_drops")? / s)),
    ("open files", Unit::Count, |_, now, _| gauge(now, "process.files")),
    ("connections", Unit::Count, |_, now, _| {
        let known = ["nginx.active", "db.connections", "cache.connections"];
        known.iter().find_map(|name| gauge(now, name))
    }),
    ("limits in the error log", Unit::PerS, |b, now, s| {
        sum_grown(b, now, "nginx.log").map(|n| n / s)
    }),
    ("statements", Unit::PerS, |b, now, s| Some(grown(b, now, "db.statements")? / s)),
    ("transactions", Unit::PerS, |b, now, s| Some(grown(b, now, "db.transactions")? / s)),
    ("sessions at work", Unit::Count, |_, now, _| gauge(now, "db.active")),
    ("waiting for locks", Unit::Count, |_, now, _| gauge(now, "db.lock_waiters")),
    ("operations", Unit::PerS, |b, now, s| Some(grown(b, now, "cache.ops")? / s)),
    ("evictions", Unit::PerS, |b, now, s| Some(grown(b, now, "cache.evictions")? / s)),
];

/// What is drawn, of the latest sample and the one before it.
pub fn current<'a>(
    before: &'a Sample,
    now: &'a Sample,
) -> impl Iterator<Item = (&'static str, Unit, f64)> + 'a {
    let elapsed_ns = now.at_ns.unwrap_or(0).saturating_sub(before.at_ns.unwrap_or(0));
    let elapsed_s = elapsed_ns as f64 / SECOND as f64;
    let all = CHARTED.iter().filter(move |_| elapsed_s > 0.0);
    all.filter_map(move |(name, unit, compute)| {
        Some((*name, *unit, compute(before, now, elapsed_s)?))
    })
}

fn gauge(sample: &Sample, name: &str) -> Option<f64> {
    sample.gauges.get(name).copied()
}

fn grown(before: &Sample, now: &Sample, name: &str) -> Option<f64> {
    let (before, now) = (before.counters.get(name)?, now.counters.get(name)?);
    now.checked_sub(*before).map(|grown| grown as f64)
}

/// The most that a counter of this stem grew.
fn most_grown(before: &Sample, now: &Sample, of: &str) -> Option<f64> {
    let names = now.counters.range(format!("{of}{{")..).map(|(name, _)| name);
    let growths = names.take_while(|name| stem(name) == of).filter_map(|n| grown(before, now, n));
    growths.reduce(f64::max)
}

/// By how much all counters of this stem grew together.
fn sum_grown(before: &Sample, now: &Sample, of: &str) -> Option<f64> {
    let names = now.counters.range(format!("{of}{{")..).map(|(name, _)| name);
    let growths = names.take_while(|name| stem(name) == of).filter_map(|n| grown(before, now, n));
    growths.reduce(|a, b| a + b)
}

/// The highest gauge of this stem.
fn most(now: &Sample, of: &str) -> Option<f64> {
    let gauges = now.gauges.range(format!("{of}{{")..);
    gauges.take_while(|(name, _)| stem(name) == of).map(|(_, &value)| value).reduce(f64::max)
}

/// The share of all processors that was used: everything but idle, waiting for disks and steal.
fn cpu_busy(before: &Sample, now: &Sample) -> Option<f64> {
    let busy = ["cpu.user_ns", "cpu.system_ns", "cpu.softirq_ns"]
        .iter()
        .map(|name| grown(before, now, name))
        .sum::<Option<f64>>()?;
    let idle = ["cpu.idle_ns", "cpu.iowait_ns", "cpu.steal_ns"]
        .iter()
        .map(|name| grown(before, now, name))
        .sum::<Option<f64>>()?;
    (busy + idle > 0.0).then(|| busy / (busy + idle))
}

/// The series of one source so far.
#[derive(Debug)]
pub(super) struct SeriesSums {
    series: Vec<Folded>,
}

impl Default for SeriesSums {
    fn default() -> Self {
        Self { series: CHARTED.iter().map(|_| Folded::default()).collect() }
    }
}

impl SeriesSums {
    pub(super) fn add(&mut self, before: Option<&Sample>, now: &Sample) {
        let at_ns = now.at_ns.unwrap_or(0);
        let Some(before) = before else { return };
        let elapsed_s = at_ns.saturating_sub(before.at_ns.unwrap_or(0)) as f64 / SECOND as f64;
        if elapsed_s <= 0.0 {
            return;
        }
        for ((_, _, compute), folded) in CHARTED.iter().zip(&mut self.series) {
            if let Some(value) =
                compute(before, now, elapsed_s).filter(|value| super::is_kept(*value))
            {
                folded.add(at_ns, value);
            }
        }
    }

    pub(super) fn finish(self) -> Vec<Series> {
        CHARTED
            .iter()
            .zip(self.series)
            .filter(|(_, folded)| folded.points.iter().any(|point| point.1 != 0.0))
            .map(|((name, unit, _), folded)| Series {
                name: (*name).to_owned(),
                unit: *unit,
                at_ns: folded.points.iter().map(|point| point.0).collect(),
                values: folded.points.iter().map(|point| rounded(point.1)).collect(),
            })
            .collect()
    }
}

/// Five significant digits: charts show no more, and results stay small.
fn rounded(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

/// Values over time; each point stands for `fold` samples.
#[derive(Debug)]
struct Folded {
    points: Vec<(Nanos, f64)>,
    fold: u32,
    pending: u32,
}

impl Default for Folded {
    fn default() -> Self {
        Self { points: Vec::new(), fold: 1, pending: 0 }
    }
}

impl Folded {
    fn add(&mut self, at_ns: Nanos, value: f64) {
        match self.points.last_mut() {
            Some(last) if self.pending < self.fold && self.pending > 0 => {
                self.pending += 1;
                last.1 += (value - last.1) / f64::from(self.pending);
                return;
            }
            _ => self.points.push((at_ns, value)),
        }
        self.pending = 1;
        if self.points.len() > MOST_POINTS {
            let pairs = self.points.chunks(2);
            self.points = pairs
                .map(|pair| match pair {
                    [one, two] => (one.0, f64::midpoint(one.1, two.1)),
                    rest => rest[0],
                })
                .collect();
            self.fold *= 2;
        }
    }
}
