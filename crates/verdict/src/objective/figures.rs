//! The figures that objectives are about: those of the whole load, or of one endpoint, with their
//! blocks. Everything that has these figures can be judged.

use model::{EndpointRun, ErrorClass, ErrorCounts, Latencies, Nanos, Run, Summary};
use statistics::{Estimate, NoInterval};

use super::{Limit, Metric, Statistic};
use crate::blocks::{self, BlockFigures, Figure, Time, interval};
use crate::offered::untimed;

/// How often an interval of confidence holds the true figure.
pub const CONFIDENCE: f64 = 0.95;

/// What objectives can ask of a load.
#[derive(Debug, Clone)]
pub struct Figures {
    /// Attempts that were due in the window.
    pub attempts: u64,
    /// Attempts that succeeded.
    pub succeeded: u64,
    /// Attempts that an interrupted run did not wait for: nobody knows how they would have ended.
    pub unawaited: u64,
    /// Share of users' time, or of arrivals, for which the server was there; none where it is not known.
    pub available: Option<f64>,
    /// Success by time, where it is less than that by attempts.
    pub succeeding: Option<f64>,
    /// Failed attempts by class.
    pub errors: ErrorCounts,
    /// Users that had a response / users that wanted one; none where that was not counted.
    pub served: Option<f64>,
    /// Responses done inside the window / window.
    pub requests_per_s: f64,
    /// Length of the window.
    pub duration_ns: Nanos,
    /// done - due.
    pub response: Times,
    /// Arrivals that were dropped unsent when the window ended: how long they would have waited is in no distribution.
    pub untimed: u64,
    /// done - sent.
    pub service: Times,
    /// The window's blocks; empty where none were kept, and then no interval can be given.
    pub blocks: Vec<BlockFigures>,
}

/// A distribution: its figures, and its buckets for percentiles that are none of them.
#[derive(Debug, Clone)]
pub struct Times {
    /// Exact mean and maximum.
    pub summary: Summary,
    /// The whole distribution.
    pub latencies: Latencies<u64>,
}

/// One endpoint's figures.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// Method and path template: `GET /users/{id}`.
    pub name: String,
    /// Its figures.
    pub figures: Figures,
}

impl Endpoint {
    /// All endpoints that a run distinguishes.
    ///
    /// # Errors
    /// A sentence, when a stored histogram is damaged.
    pub fn all_of(run: &Run) -> Result<Vec<Self>, String> {
        let duration_ns = run.totals.duration_ns;
        let of = |endpoint: &EndpointRun| {
            let figures = Figures::of_endpoint(endpoint, duration_ns, run.interrupted)?;
            Ok(Self { name: endpoint.name.clone(), figures })
        };
        run.endpoints.iter().map(of).collect()
    }
}

/// A figure as it was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Measured {
    pub(super) value: f64,
    pub(super) spread: Spread,
}

/// How far a figure can be off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Spread {
    /// Asked of this window and no other, so not at all.
    None,
    Interval(Estimate),
    Unknown(NoInterval),
}

impl Figures {
    /// Those of a whole run.
    ///
    /// # Errors
    /// A sentence, when a stored histogram is damaged.
    pub fn of(run: &Run) -> Result<Self, String> {
        let times = |summary: Summary, name| {
            Ok::<_, String>(Times { summary, latencies: run.histogram(name)? })
        };
        Ok(Self {
            attempts: run.totals.attempts,
            succeeded: run.totals.succeeded,
            unawaited: if run.interrupted { run.totals.unfinished } else { 0 },
            available: run.rates.available_ratio,
            succeeding: run.rates.attempts_success_ratio.and(run.rates.success_ratio),
            errors: run.totals.errors,
            served: run.users.as_ref().and_then(model::Users::served_share),
            requests_per_s: run.rates.requests_per_s,
            duration_ns: run.totals.duration_ns,
            untimed: untimed(
                run.totals.unsent,
                run.response_ns.count,
                run.totals.requests,
                run.totals.errors,
            ),
            response: times(run.response_ns, "response")?,
            service: times(run.service_ns, "service")?,
            blocks: blocks::read(&run.blocks)?,
        })
    }

    /// Those of one endpoint of a run whose window lasted `duration_ns`, and that may have been interrupted.
    ///
    /// # Errors
    /// A sentence, when a stored histogram is damaged.
    pub fn of_endpoint(
        endpoint: &EndpointRun,
        duration_ns: Nanos,
        interrupted: bool,
    ) -> Result<Self, String> {
        let read = |text: Option<&str>, summary: Summary| {
            let latencies = text.map_or_else(|| Ok(Latencies::new()), Latencies::from_base64);
            let damaged = |why| format!("the histogram of `{}`: {why}", endpoint.name);
            Ok::<_, String>(Times { summary, latencies: latencies.map_err(damaged)? })
        };
        let response = endpoint.response.as_deref();
        Ok(Self {
            attempts: endpoint.attempts,
            succeeded: endpoint.succeeded,
            unawaited: if interrupted { endpoint.unfinished } else { 0 },
            available: None,
            succeeding: None,
            errors: endpoint.errors,
            served: None,
            requests_per_s: endpoint.requests_per_s,
            duration_ns,
            untimed: untimed(
                endpoint.unsent,
                endpoint.response_ns.count,
                endpoint.requests,
                endpoint.errors,
            ),
            response: read(response, endpoint.response_ns)?,
            service: read(endpoint.service.as_deref().or(response), endpoint.service_ns)?,
            blocks: blocks::read(&endpoint.blocks)?,
        })
    }

    /// A figure in the unit of its limit; none when nothing was counted that it is made of.
    pub(super) fn measure(&self, metric: Metric, limit: Limit) -> Option<Measured> {
        let value = match metric {
            Metric::Latency(time, statistic) => self.latency(time, statistic)?,
            Metric::Qps => self.requests_per_s,
            Metric::Achieved => return None,
            Metric::Success => match self.succeeding {
                Some(succeeding) => succeeding,
                None => self.share(self.succeeded)?,
            },
            Metric::Available => self.available?,
            Metric::Served => self.served?,
            Metric::Errors(class) => match limit {
                Limit::Count(_) => self.failed(class) as f64,
                _ => self.share(self.failed(class))?,
            },
        };
        Some(Measured { value, spread: self.spread(metric, limit, value) })
    }

    /// Attempts that did not succeed, or those of one class.
    fn failed(&self, class: Option<ErrorClass>) -> u64 {
        match class {
            Some(class) => self.errors.of(class),
            None => self.awaited().saturating_sub(self.succeeded),
        }
    }

    const fn awaited(&self) -> u64 {
        self.attempts.saturating_sub(self.unawaited)
    }

    fn share(&self, part: u64) -> Option<f64> {
        let awaited = self.awaited();
        (awaited > 0).then(|| part as f64 / awaited as f64)
    }

    fn latency(&self, time: Time, statistic: Statistic) -> Option<f64> {
        let times = match time {
            Time::Response => &self.response,
            Time::Service => &self.service,
        };
        let nanos = match statistic {
            Statistic::Mean => times.summary.mean,
            Statistic::Max => times.summary.max,
            Statistic::Percentile(percentile) => times.latencies.at_quantile(percentile.share()),
        };
        (times.summary.count > 0).then_some(nanos as f64)
    }

    fn spread(&self, metric: Metric, limit: Limit, value: f64) -> Spread {
        let interval = |figure| interval(&self.blocks, figure, CONFIDENCE);
        let made = match (metric, limit) {
            (Metric::Latency(_, Statistic::Max) | Metric::Served, _) | (_, Limit::Count(_)) => {
                return Spread::None;
            }
            // Time is counted, not drawn.
            (Metric::Available, _) => return Spread::None,
            (Metric::Success, _) if self.succeeding.is_some() => return self.by_time(limit, value),
            // What may not happen once is asked of the attempts that were made.
            (Metric::Success, Limit::Percent(100.0)) => return Spread::None,
            (Metric::Errors(_), Limit::Percent(0.0)) => return Spread::None,
            (Metric::Latency(time, Statistic::Mean), _) => interval(Figure::Mean(time)),
            (Metric::Latency(time, Statistic::Percentile(percentile)), _) => {
                interval(Figure::Quantile(time, percentile.share()))
            }
            (Metric::Success, _) => interval(Figure::Success),
            (Metric::Errors(class), _) => {
                blocks::interval(&self.without(class), Figure::Success, CONFIDENCE).map(complement)
            }
            (Metric::Qps | Metric::Achieved, _) => interval(Figure::Qps),
        };
        // An interval of buckets need not hold the exact value that stands beside it.
        let around = |made: Estimate| Estimate {
            low: made.low.min(value),
            high: made.high.max(value),
            ..made
        };
        made.map_or_else(Spread::Unknown, |made| Spread::Interval(around(made)))
    }

    /// How far success can be off where it counts by time: of the window's time nothing is left to
    /// chance, but what attempts leave open stays so.
    fn by_time(&self, limit: Limit, value: f64) -> Spread {
        if value < limit.value() {
            return Spread::None;
        }
        let by_attempts = Self { succeeding: None, ..self.clone() };
        match by_attempts.spread(Metric::Success, limit, value) {
            Spread::Interval(made) => Spread::Interval(Estimate { high: value, ..made }),
            other => other,
        }
    }

    /// The blocks with everything counted as success but the failures of a class.
    fn without(&self, class: Option<ErrorClass>) -> Vec<BlockFigures> {
        let mut blocks = self.blocks.clone();
        if let Some(class) = class {
            for block in &mut blocks {
                block.succeeded = block.attempts - block.errors.of(class) as f64;
            }
        }
        blocks
    }
}

/// The share of the others.
fn complement(share: Estimate) -> Estimate {
    Estimate { value: 1.0 - share.value, low: 1.0 - share.high, high: 1.0 - share.low, ..share }
}
