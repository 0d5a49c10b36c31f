//! vegeta's JSON report. It says neither how many connections nor how many workers there were.
//!
//! Its `rate` is what was sent, over the time of sending; the responses per second read here are over
//! the time until the last response. A request without a response has the status 0, and its time is among the
//! latencies.

use std::collections::BTreeMap;

use model::{Claim, Claims, LoopKind, Tool};
use serde::Deserialize;

use super::json;
use crate::BadFile;
use crate::claims::figure::{json_nanos, plain_number};

#[derive(Debug, Deserialize)]
struct Document {
    latencies: BTreeMap<String, f64>,
    requests: f64,
    rate: f64,
    /// From the first request to the last, in nanoseconds.
    duration: f64,
    /// From the last request to its response, in nanoseconds.
    wait: f64,
    success: f64,
    /// Requests by status.
    #[serde(default)]
    status_codes: BTreeMap<String, f64>,
}

impl Document {
    /// Requests that had no response.
    fn unanswered(&self) -> Result<f64, BadFile> {
        let status_0 = self.status_codes.get("0").copied().unwrap_or(0.0);
        plain_number("status_codes", status_0)
    }
}

/// Percentiles by vegeta's names.
const QUANTILES: [(&str, f64); 4] = [("50th", 0.5), ("90th", 0.9), ("95th", 0.95), ("99th", 0.99)];

pub(super) fn claims(bytes: &[u8]) -> Result<Claims, BadFile> {
    let document: Document = json(bytes)?;
    let requests = plain_number("requests", document.requests)?;
    let duration_ns = json_nanos("duration", document.duration, 1)?.saturating_add(json_nanos(
        "wait",
        document.wait,
        1,
    )?);
    if plain_number("success", document.success)? > 1.0 {
        let what = format!("`success` is a share above 1: {}", document.success);
        return Err(BadFile::whole(what));
    }
    let latency = |name: &str| {
        let value = document.latencies.get(name);
        value.map(|&value| json_nanos(name, value, 1)).transpose()
    };
    let mut quantiles = Vec::new();
    for (name, share) in QUANTILES {
        quantiles.extend(latency(name)?.map(|ns| (share, ns)));
    }
    let responses = (requests - document.unanswered()?).max(0.0);
    let timed = |value| if responses > 0.0 { value } else { None };
    let per_s = |n: f64| if duration_ns > 0 { n / (duration_ns as f64 / 1e9) } else { 0.0 };
    let row = Claim {
        loop_kind: LoopKind::Open,
        rate_per_s: Some(plain_number("rate", document.rate)?).filter(|&rate| rate > 0.0),
        min_ns: timed(latency("min")?),
        max_ns: timed(latency("max")?),
        quantiles: if responses > 0.0 { quantiles } else { Vec::new() },
        requests: Some(responses as u64),
        duration_ns: Some(duration_ns),
        success: (requests > 0.0).then_some(document.success),
        succeeded_per_s: Some(per_s(requests * document.success)),
        ..Claim::new(per_s(responses), timed(latency("mean")?))
    };
    Ok(Claims::new(Tool::Vegeta, vec![row]))
}
