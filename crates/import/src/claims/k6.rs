//! k6's end-of-test summary as JSON, in the shape of `--summary-export` (figures beside the name)
//! and in that of `handleSummary` (figures under `values`).
//!
//! The summary does not say which executor ran: virtual users may pause, and one may send several
//! requests at once, so that the number of users bounds nothing strictly.

use std::collections::BTreeMap;
use std::fmt;

use model::units::MILLISECOND;
use model::{Claim, Claims, LoopKind, Tool};
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::json;
use crate::BadFile;
use crate::claims::figure::{json_nanos, plain_number};

/// Figures of one metric at most; a trend has about ten.
const MOST_FIGURES: usize = 1_000;

#[derive(Debug, Deserialize)]
struct Document {
    metrics: Metrics,
    #[serde(default)]
    state: TestState,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct TestState {
    test_run_duration_ms: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Metrics {
    http_reqs: Option<Metric>,
    http_req_duration: Option<Metric>,
    http_req_failed: Option<Metric>,
    vus_max: Option<Metric>,
    iterations: Option<Metric>,
    dropped_iterations: Option<Metric>,
}

/// A metric: its figures by name, beside one another or under `values`. What is no figure is passed over.
#[derive(Debug, Default)]
struct Metric(BTreeMap<String, f64>);

impl Metric {
    fn figure(&self, name: &str) -> Result<Option<f64>, BadFile> {
        self.0.get(name).map(|&value| plain_number(name, value)).transpose()
    }
}

impl<'de> Deserialize<'de> for Metric {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_any(PartVisitor)? {
            Part::Figures(figures) => Ok(Self(figures)),
            Part::Figure(_) | Part::Neither => Ok(Self::default()),
        }
    }
}

/// A value within a metric. Nothing is kept of one that is neither a number nor holds any.
enum Part {
    Figure(f64),
    Figures(BTreeMap<String, f64>),
    Neither,
}

struct PartVisitor;

impl<'de> DeserializeSeed<'de> for PartVisitor {
    type Value = Part;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Part, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for PartVisitor {
    type Value = Part;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("figures")
    }

    fn visit_f64<E>(self, value: f64) -> Result<Part, E> {
        Ok(Part::Figure(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Part, E> {
        Ok(Part::Figure(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Part, E> {
        Ok(Part::Figure(value as f64))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Part, E> {
        Ok(Part::Neither)
    }

    fn visit_unit<E>(self) -> Result<Part, E> {
        Ok(Part::Neither)
    }

    fn visit_str<E>(self, _: &str) -> Result<Part, E> {
        Ok(Part::Neither)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Part, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Part::Neither)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Part, A::Error> {
        let mut figures = BTreeMap::new();
        while let Some(name) = entries.next_key::<String>()? {
            match entries.next_value_seed(Self)? {
                Part::Figure(value) => {
                    figures.insert(name, value);
                }
                Part::Figures(inside) if name == "values" => figures = inside,
                Part::Figures(_) | Part::Neither => {}
            }
            if figures.len() > MOST_FIGURES {
                return Err(A::Error::custom(format!(
                    "more than {MOST_FIGURES} figures of a metric"
                )));
            }
        }
        Ok(Part::Figures(figures))
    }
}

/// A metric's figure, where there are both.
fn figure(metric: Option<&Metric>, name: &str) -> Result<Option<f64>, BadFile> {
    metric.map_or(Ok(None), |metric| metric.figure(name))
}

pub(super) fn claims(bytes: &[u8]) -> Result<Claims, BadFile> {
    let Document { metrics, state } = json(bytes)?;
    let requests = metrics.http_reqs.as_ref();
    let (Some(count), Some(qps)) = (figure(requests, "count")?, figure(requests, "rate")?) else {
        return Err(BadFile::whole(
            "a summary of k6 without `http_reqs`: no HTTP request was made, or it is not the \
             whole summary",
        ));
    };
    let duration_ms = match state.test_run_duration_ms {
        Some(ms) => Some(json_nanos("testRunDurationMs", ms, MILLISECOND)?),
        None => None,
    };
    let claim = Claim {
        loop_kind: LoopKind::Users,
        connections: figure(metrics.vus_max.as_ref(), "max")?.filter(|&users| users > 0.0),
        requests: Some(count as u64),
        duration_ns: duration_ms,
        success: failed(metrics.http_req_failed.as_ref())?.map(|failed| 1.0 - failed),
        pauses: true,
        dropped: figure(metrics.dropped_iterations.as_ref(), "count")?.unwrap_or(0.0) as u64,
        arrivals: figure(metrics.iterations.as_ref(), "count")?.map(|count| count as u64),
        ..Claim::new(qps, None)
    };
    let row = match &metrics.http_req_duration {
        Some(durations) => timed(claim, durations)?,
        None => claim,
    };
    Ok(Claims::new(Tool::K6, vec![row]))
}

/// The share of failed requests: `value` beside the name, `rate` under `values`.
fn failed(metric: Option<&Metric>) -> Result<Option<f64>, BadFile> {
    let ratio = match figure(metric, "value")? {
        None => figure(metric, "rate")?,
        beside => beside,
    };
    match ratio {
        Some(ratio) if ratio > 1.0 => {
            Err(BadFile::whole(format!("`http_req_failed` is a share above 1: {ratio}")))
        }
        ratio => Ok(ratio),
    }
}

fn timed(claim: Claim, durations: &Metric) -> Result<Claim, BadFile> {
    let latency = |name: &str| {
        let value = durations.figure(name)?;
        value.map(|value| json_nanos(name, value, MILLISECOND)).transpose()
    };
    let mut quantiles = Vec::new();
    for (name, &value) in &durations.0 {
        let percent = match name.strip_prefix("p(").and_then(|rest| rest.strip_suffix(')')) {
            Some(digits) => digits.parse::<f64>().ok(),
            None => (name == "med").then_some(50.0),
        };
        let percent = percent.filter(|percent| (0.0..100.0).contains(percent));
        if let Some(percent) = percent {
            quantiles.push((percent / 100.0, json_nanos(name, value, MILLISECOND)?));
        }
    }
    quantiles.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mean_ns = latency("avg")?;
    Ok(Claim { mean_ns, min_ns: latency("min")?, max_ns: latency("max")?, quantiles, ..claim })
}
