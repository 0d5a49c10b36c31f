//! k6's end-of-test summary as JSON, in the shape of `--summary-export` (figures beside the name)
//! and in that of `handleSummary` (figures under `values`).
//!
//! The summary does not say which executor ran: virtual users may pause, and one may send several
//! requests at once, so that the number of users bounds nothing strictly.

use std::collections::BTreeMap;

use model::units::MILLISECOND;
use model::{Claim, Claims, LoopKind, Tool};
use serde::Deserialize;
use serde_json::Value;

use super::json;
use crate::BadFile;
use crate::claims::figure::{json_nanos, plain_number};

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

#[derive(Debug, Deserialize)]
struct Metric {
    values: Option<BTreeMap<String, Value>>,
    #[serde(flatten)]
    beside: BTreeMap<String, Value>,
}

impl Metric {
    fn figures(&self) -> &BTreeMap<String, Value> {
        self.values.as_ref().unwrap_or(&self.beside)
    }

    fn figure(&self, name: &str) -> Result<Option<f64>, BadFile> {
        let value = self.figures().get(name).and_then(Value::as_f64);
        value.map(|value| plain_number(name, value)).transpose()
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
    for (name, value) in durations.figures() {
        let percent = match name.strip_prefix("p(").and_then(|rest| rest.strip_suffix(')')) {
            Some(digits) => digits.parse::<f64>().ok(),
            None => (name == "med").then_some(50.0),
        };
        let percent = percent.filter(|percent| (0.0..100.0).contains(percent));
        if let (Some(percent), Some(value)) = (percent, value.as_f64()) {
            quantiles.push((percent / 100.0, json_nanos(name, value, MILLISECOND)?));
        }
    }
    quantiles.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mean_ns = latency("avg")?;
    Ok(Claim { mean_ns, min_ns: latency("min")?, max_ns: latency("max")?, quantiles, ..claim })
}
