//! What was watched beside a run: the samples of each source, summed up over the measured window.
//!
//! Owns the form ([`Observed`], part of `run.json`) and the arithmetic from samples to figures ([`ObservedBuilder`]):
//! counters become rates, and a counter that fell was reset, so that the step is left out. Does not own the samples
//! themselves, which lie in `samples.jsonl`, nor what they mean (`verdict`).

mod possible;
mod series;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::sample::{MOST_VALUES, Role, Sample, stem};
use crate::units::{Nanos, SECOND};

use series::SeriesSums;
pub use series::{Series, Unit, current};

/// Gaps kept of a source.
const MOST_GAPS: usize = 20;
/// Values that are summed up for a source over the run: names may change from sample to sample.
const MOST_FIGURES: usize = 2 * MOST_VALUES;

/// Gauges that a source reports only if they are not zero, or are among the highest. In a sample that could contain such a gauge
/// and does not, it is zero.
const ZERO_WHERE_ABSENT: [(&str, Tells); 5] = [
    ("db.waits", Tells::Unless("db.waits")),
    ("listen.queue", Tells::Unless("listen")),
    ("process.awaits", CONNECTIONS),
    ("process.awaits_first", CONNECTIONS),
    ("process.connections_to", CONNECTIONS),
];

/// Connections are not searched for every sample, since that takes long; samples for which they are contain this too.
const CONNECTIONS: Tells = Tells::With("process.other_sockets");

/// Which samples could contain a gauge.
#[derive(Debug, Clone, Copy)]
enum Tells {
    /// Those that do not say that this is missing.
    Unless(&'static str),
    /// Those that tell this gauge.
    With(&'static str),
}

impl Tells {
    fn in_sample(self, sample: &Sample) -> bool {
        match self {
            Self::Unless(missing) => !sample.missing.contains_key(missing),
            Self::With(gauge) => sample.gauges.contains_key(gauge),
        }
    }
}

/// Everything that was watched beside a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Observed {
    /// Each source, the generator's machine first.
    pub sources: Vec<ObservedSource>,
}

impl Observed {
    /// The generator's own machine.
    pub fn generator(&self) -> Option<&ObservedSource> {
        self.sources.iter().find(|source| source.role == Role::Generator)
    }
}

/// One source over the run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ObservedSource {
    /// Its name.
    pub name: String,
    /// What it is to the load.
    pub role: Role,
    /// How it is read, secrets masked: `local`, `nginx:http://…`.
    pub read_from: String,
    /// Samples taken inside the window.
    pub samples: u64,
    /// Samples that came faster than they could be taken, and were left out.
    #[serde(skip_serializing_if = "crate::sample::is_zero")]
    pub dropped: u64,
    /// Processor time that taking them cost, on the machine that was watched.
    pub cost_ns: Nanos,
    /// That cost as a share of one core.
    pub cost_ratio: f64,
    /// How far the clock of that machine was ahead of the generator's; absent for this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_offset_ns: Option<i64>,
    /// Periods of the run without samples, and why; 20 at most.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
    /// What could not be read, and why.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub missing: BTreeMap<String, String>,
    /// What was read, by name, over the window.
    pub figures: BTreeMap<String, Figure>,
    /// What is drawn over time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Series>,
}

impl ObservedSource {
    /// The figure of this name.
    pub fn figure(&self, name: &str) -> Option<&Figure> {
        self.figures.get(name)
    }

    /// The mean of a figure: of a counter its growth per second.
    pub fn mean(&self, name: &str) -> Option<f64> {
        self.figure(name).map(|figure| figure.mean)
    }

    /// By how much a counter grew in the window.
    pub fn growth(&self, name: &str) -> Option<f64> {
        self.figure(name)?.growth
    }

    /// Every figure with this stem, with its label.
    pub fn labelled<'a>(&'a self, of: &'a str) -> impl Iterator<Item = (&'a str, &'a Figure)> {
        let from = format!("{of}{{");
        self.figures
            .range(from..)
            .take_while(move |(name, _)| stem(name) == of)
            .filter_map(|(name, figure)| Some((crate::sample::label(name)?, figure)))
    }
}

/// A period without samples.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Gap {
    /// When the last sample before it was taken, since the run's start; 0 where there was none.
    pub from_ns: Nanos,
    /// When the first sample behind it was, or the next failure of another kind, or the end of the run.
    pub to_ns: Nanos,
    /// Why.
    pub error: String,
}

/// A value over the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Figure {
    /// Of a gauge, its mean over the samples that contain it, or over all if its absence means zero (connections that wait,
    /// queues of listeners); of a counter, its growth per second.
    pub mean: f64,
    /// The least that a sample showed; of a counter between two samples, per second.
    pub min: f64,
    /// The most.
    pub max: f64,
    /// By how much a counter grew; absent for a gauge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth: Option<f64>,
}

/// Adds up what a run's sources said. Memory is bounded by the number of sources and of names.
#[derive(Debug, Default)]
pub struct ObservedBuilder {
    sources: Vec<SourceSums>,
}

impl ObservedBuilder {
    /// A source from which samples will come; its number.
    pub fn source(&mut self, name: &str, role: Role, read_from: &str) -> usize {
        let source = ObservedSource {
            name: name.to_owned(),
            role,
            read_from: read_from.to_owned(),
            ..ObservedSource::default()
        };
        self.sources.push(SourceSums { source, ..SourceSums::default() });
        self.sources.len() - 1
    }

    /// Adds a sample of a source; those of other times than the window are only drawn.
    pub fn add(&mut self, source: usize, sample: &Sample, in_window: bool) {
        if let Some(sums) = self.sources.get_mut(source) {
            sums.add(sample, in_window);
        }
    }

    /// Keeps how far a source's clock is ahead.
    pub fn offset(&mut self, source: usize, offset_ns: i64) {
        if let Some(sums) = self.sources.get_mut(source) {
            sums.source.clock_offset_ns = Some(offset_ns);
        }
    }

    /// So many samples of a source were left out, since they came faster than they could be taken.
    pub fn dropped(&mut self, source: usize, samples: u64) {
        if let Some(sums) = self.sources.get_mut(source) {
            sums.source.dropped = samples;
        }
    }

    /// The run is over: what fails still has failed until now.
    pub fn end(&mut self, end_ns: Nanos) {
        for sums in &mut self.sources {
            sums.extend_gap(end_ns);
        }
    }

    /// What was watched.
    pub fn finish(self) -> Observed {
        let mut sources: Vec<_> = self.sources.into_iter().map(SourceSums::finish).collect();
        sources.sort_by_key(|source| source.role != Role::Generator);
        Observed { sources }
    }
}

#[derive(Debug, Default)]
struct SourceSums {
    source: ObservedSource,
    before: Option<Sample>,
    figures: BTreeMap<String, Sum>,
    series: SeriesSums,
    /// Samples of the window that could tell each of [`ZERO_WHERE_ABSENT`].
    able: [u64; ZERO_WHERE_ABSENT.len()],
    /// Time between the samples of the window.
    watched_ns: Nanos,
    /// When the last sample was taken that did not fail.
    last_ns: Nanos,
    /// Whether the last gap lasts still.
    failing: bool,
}

/// What a value may be at most to be kept in a result: half of what a reader of results takes.
const MOST_VALUE: f64 = (1_u64 << 54) as f64;

fn is_kept(value: f64) -> bool {
    value.is_finite() && value.abs() <= MOST_VALUE
}

impl Figure {
    fn is_kept(&self) -> bool {
        [self.mean, self.min, self.max, self.growth.unwrap_or(0.0)].into_iter().all(is_kept)
    }
}

/// A value so far.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    sum: f64,
    over: f64,
    min: f64,
    max: f64,
    counter: bool,
}

impl Sum {
    /// With the zeros of samples that did not tell it.
    fn with_zeros(mut self, name: &str, able: [u64; ZERO_WHERE_ABSENT.len()]) -> Self {
        let known = ZERO_WHERE_ABSENT.iter().position(|(of, _)| *of == stem(name));
        let zeros = known.map_or(0.0, |at| able[at] as f64 - self.over);
        if zeros > 0.0 && !self.counter {
            (self.over, self.min) = (self.over + zeros, self.min.min(0.0));
        }
        self
    }

    fn figure(self) -> Figure {
        Figure {
            mean: self.sum / self.over,
            min: self.min,
            max: self.max,
            growth: self.counter.then_some(self.sum),
        }
    }
}

impl SourceSums {
    fn add(&mut self, sample: &Sample, in_window: bool) {
        let at_ns = sample.at_ns.unwrap_or(0);
        for (what, why) in &sample.missing {
            if self.source.missing.len() < 64 {
                self.source.missing.entry(what.clone()).or_insert_with(|| why.clone());
            }
        }
        if let Some(error) = &sample.error {
            self.gap(at_ns, error);
            return;
        }
        self.extend_gap(at_ns);
        (self.last_ns, self.failing) = (at_ns, false);
        let before = self.before.replace(sample.clone());
        self.series.add(before.as_ref(), sample);
        if !in_window {
            return;
        }
        self.source.samples += 1;
        self.source.cost_ns = self.source.cost_ns.saturating_add(sample.cost_ns);
        for (able, (_, tells)) in self.able.iter_mut().zip(ZERO_WHERE_ABSENT) {
            *able += u64::from(tells.in_sample(sample));
        }
        for (name, &value) in &sample.gauges {
            self.sum(name, value, 1.0, value, false);
        }
        let Some(before) = before else { return };
        let elapsed_ns = at_ns.saturating_sub(before.at_ns.unwrap_or(0));
        if elapsed_ns == 0 {
            return;
        }
        self.watched_ns = self.watched_ns.saturating_add(elapsed_ns);
        let elapsed_s = elapsed_ns as f64 / SECOND as f64;
        for (name, &value) in &sample.counters {
            // One that fell was reset, or has wrapped: nothing is known of this step.
            if let Some(grown) = before.counters.get(name).and_then(|&b| value.checked_sub(b)) {
                self.sum(name, grown as f64, elapsed_s, grown as f64 / elapsed_s, true);
            }
        }
    }

    fn gap(&mut self, at_ns: Nanos, error: &str) {
        // What a counter did meanwhile belongs to no period that can be named.
        self.before = None;
        let from_ns = if self.failing { at_ns } else { self.last_ns };
        self.extend_gap(at_ns);
        let gaps = &mut self.source.gaps;
        let full = gaps.len() >= MOST_GAPS;
        match gaps.last() {
            Some(last) if self.failing && (last.error == error || full) => {}
            _ if full => return,
            _ => gaps.push(Gap { from_ns, to_ns: at_ns, error: error.to_owned() }),
        }
        self.failing = true;
    }

    /// The last gap, where it lasts still, has lasted until `at_ns`.
    fn extend_gap(&mut self, at_ns: Nanos) {
        if let Some(last) = self.source.gaps.last_mut().filter(|_| self.failing) {
            last.to_ns = last.to_ns.max(at_ns);
        }
    }

    fn sum(&mut self, name: &str, amount: f64, over: f64, seen: f64, counter: bool) {
        if !self.figures.contains_key(name) && self.figures.len() >= MOST_FIGURES {
            return;
        }
        let sum = self.figures.entry(name.to_owned()).or_insert(Sum {
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            counter,
            ..Sum::default()
        });
        sum.sum += amount;
        sum.over += over;
        sum.min = sum.min.min(seen);
        sum.max = sum.max.max(seen);
    }

    fn finish(self) -> ObservedSource {
        let mut source = self.source;
        if self.watched_ns > 0 {
            source.cost_ratio = source.cost_ns as f64 / self.watched_ns as f64;
        }
        let able = self.able;
        let figures = self.figures.into_iter().map(|(name, sum)| {
            let figure = sum.with_zeros(&name, able).figure();
            (name, figure)
        });
        for (name, figure) in figures {
            if figure.is_kept() {
                source.figures.insert(name, figure);
            } else if source.missing.len() < 64 {
                let why = "the source told a value beyond 2^54, which no machine has";
                source.missing.insert(name, why.to_owned());
            }
        }
        source.series = self.series.finish();
        possible::leave_out_the_impossible(&mut source);
        source
    }
}

#[cfg(test)]
mod tests;
