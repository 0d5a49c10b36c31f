//! The figures that runs are compared by.

use model::Run;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::statistics::{Figure, Time};

/// Samples that must lie beyond a percentile for it to be compared.
const FEWEST_BEYOND: f64 = 10.0;

/// A figure compared. Latencies are response times in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Answers per second; compared in closed loops, where the server sets it.
    Qps,
    /// Mean response time.
    Mean,
    /// Median.
    P50,
    /// 90th percentile.
    P90,
    /// 95th percentile.
    P95,
    /// 99th percentile.
    P99,
    /// 99.9th percentile.
    P999,
}

impl Measure {
    /// Every measure, in the order they are shown.
    pub const ALL: [Self; 7] =
        [Self::Qps, Self::Mean, Self::P50, Self::P90, Self::P95, Self::P99, Self::P999];

    /// As tables name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Qps => "QPS",
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::P999 => "p99.9",
        }
    }

    /// Whether a larger figure is the better one.
    pub const fn more_is_better(self) -> bool {
        matches!(self, Self::Qps)
    }

    /// What it is read from in blocks.
    pub const fn figure(self) -> Figure {
        match self.quantile() {
            Some(quantile) => Figure::Quantile(Time::Response, quantile),
            None if matches!(self, Self::Qps) => Figure::Qps,
            None => Figure::Mean(Time::Response),
        }
    }

    const fn quantile(self) -> Option<f64> {
        match self {
            Self::Qps | Self::Mean => None,
            Self::P50 => Some(0.5),
            Self::P90 => Some(0.9),
            Self::P95 => Some(0.95),
            Self::P99 => Some(0.99),
            Self::P999 => Some(0.999),
        }
    }
}

/// A run's figure; 0 where nothing was answered.
pub fn reading(run: &Run, measure: Measure) -> f64 {
    let response = &run.response_ns;
    let nanos = match measure {
        Measure::Qps => return run.rates.requests_per_s,
        Measure::Mean => response.mean,
        Measure::P50 => response.p50,
        Measure::P90 => response.p90,
        Measure::P95 => response.p95,
        Measure::P99 => response.p99,
        Measure::P999 => response.p999,
    };
    nanos as f64
}

/// What all of these runs can be compared by: QPS in closed loops (in an open one the schedule sets
/// it), and the percentiles that each has samples beyond.
pub fn measures<'a>(runs: impl Iterator<Item = &'a Run> + Clone) -> Vec<Measure> {
    let samples = runs.clone().map(|run| run.response_ns.count).min().unwrap_or(0) as f64;
    let open = runs.clone().any(|run| run.plan.rate_per_s.is_some());
    let has = |measure: &Measure| match measure.quantile() {
        Some(quantile) => samples * (1.0 - quantile) >= FEWEST_BEYOND,
        None => !(open && *measure == Measure::Qps),
    };
    let told = |measure: &Measure| runs.clone().all(|run| reading(run, *measure) > 0.0);
    Measure::ALL.into_iter().filter(has).filter(told).collect()
}
