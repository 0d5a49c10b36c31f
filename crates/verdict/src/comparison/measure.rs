//! The figures that runs are compared by.

use std::borrow::Cow;

use model::Run;
use model::percentile::{PERCENTILES, Percentile};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, Serializer};

use crate::blocks::{Figure, Time};

/// Samples that must lie beyond a percentile for it to be compared.
const FEWEST_BEYOND: f64 = 10.0;

/// A figure compared. Latencies are response times in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Responses per second; compared in closed loops, where the server sets it.
    Qps,
    /// Mean response time.
    Mean,
    /// A percentile of the response times.
    Percentile(&'static Percentile),
}

impl Measure {
    /// Every measure, in the order they are shown.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        let percentiles = PERCENTILES.iter().filter(|percentile| percentile.compared);
        [Self::Qps, Self::Mean].into_iter().chain(percentiles.map(Self::Percentile))
    }

    /// As tables name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Qps => "QPS",
            Self::Mean => "mean",
            Self::Percentile(percentile) => percentile.name,
        }
    }

    /// As JSON names it.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Qps => "qps",
            Self::Mean => "mean",
            Self::Percentile(percentile) => percentile.key,
        }
    }

    /// As the schema describes it.
    const fn description(self) -> &'static str {
        match self {
            Self::Qps => {
                "Responses per second; compared in closed loops, where the server sets it."
            }
            Self::Mean => "Mean response time.",
            Self::Percentile(percentile) => percentile.description,
        }
    }

    /// Whether a larger figure is the better one.
    pub const fn more_is_better(self) -> bool {
        matches!(self, Self::Qps)
    }

    /// What it is read from in blocks.
    pub const fn figure(self) -> Figure {
        match self {
            Self::Qps => Figure::Qps,
            Self::Mean => Figure::Mean(Time::Response),
            Self::Percentile(percentile) => Figure::Quantile(Time::Response, percentile.share),
        }
    }
}

impl Serialize for Measure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.key())
    }
}

impl<'de> Deserialize<'de> for Measure {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let key = String::deserialize(deserializer)?;
        let found = Self::all().find(|measure| measure.key() == key);
        found.ok_or_else(|| D::Error::custom(format!("no figure is called {key:?}")))
    }
}

impl JsonSchema for Measure {
    fn schema_name() -> Cow<'static, str> {
        "Measure".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let one_of = Self::all().map(|measure| {
            json_schema!({
                "description": measure.description(),
                "type": "string",
                "const": measure.key()
            })
        });
        json_schema!({
            "description": "A figure compared. Latencies are response times in nanoseconds.",
            "oneOf": one_of.collect::<Vec<_>>()
        })
    }
}

/// A run's figure; 0 where no response came.
pub fn reading(run: &Run, measure: Measure) -> f64 {
    let response = &run.response_ns;
    match measure {
        Measure::Qps => run.rates.requests_per_s,
        Measure::Mean => response.mean as f64,
        Measure::Percentile(percentile) => (percentile.of)(response) as f64,
    }
}

/// What all of these runs can be compared by: QPS in closed loops (in an open one the schedule sets
/// it), and the percentiles that each has samples beyond.
pub fn measures<'a>(runs: impl Iterator<Item = &'a Run> + Clone) -> Vec<Measure> {
    let samples = runs.clone().map(|run| run.response_ns.count).min().unwrap_or(0) as f64;
    let open = runs.clone().any(|run| run.plan.rate_per_s.is_some());
    let has = |measure: &Measure| match measure {
        Measure::Percentile(percentile) => samples * (1.0 - percentile.share) >= FEWEST_BEYOND,
        measure => !(open && *measure == Measure::Qps),
    };
    let measured = |measure: &Measure| runs.clone().all(|run| reading(run, *measure) > 0.0);
    Measure::all().filter(has).filter(measured).collect()
}
