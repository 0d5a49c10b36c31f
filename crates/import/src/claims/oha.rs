//! oha's printout and its JSON. Neither says how many connections there were.
//!
//! oha's rate is of all requests, those that the end of the run cut off included; what is kept here is the part of it that
//! is responses.

use std::collections::BTreeMap;

use model::units::{Nanos, SECOND};
use model::{Claim, Claims, Latency, Tool};
use serde::Deserialize;

use super::blocks::{Block, word_after};
use super::hey::{Times, bracketed};
use super::json;
use crate::BadFile;
use crate::claims::figure::{self, Printed, count, in_unit, json_nanos, number, plain_number};

/// How oha names requests that were under way when its time was up.
const CUT_OFF: &str = "aborted due to deadline";

/// How the percentiles are headed: in older versions as hey heads them.
const DISTRIBUTIONS: [&str; 2] = ["Response time distribution", "Latency distribution:"];

/// What its statuses and errors add up to.
#[derive(Debug, Default)]
struct Counts {
    responses: u64,
    succeeded: u64,
    errors: u64,
    cut_off: u64,
}

impl Counts {
    fn status(&mut self, status: u64, n: u64) {
        self.responses = self.responses.saturating_add(n);
        if status < 400 {
            self.succeeded = self.succeeded.saturating_add(n);
        }
    }

    fn error(&mut self, name: &str, n: u64) {
        let sum = if name == CUT_OFF { &mut self.cut_off } else { &mut self.errors };
        *sum = sum.saturating_add(n);
    }

    /// Responses over a time, with latencies and the `rate` of all requests that the file says.
    fn claim(&self, total_ns: Nanos, rate: Option<f64>, mean_ns: Nanos) -> Claim {
        let attempts = self.responses as f64 + self.errors as f64;
        let qps = self.qps(total_ns as f64 / SECOND as f64, rate);
        Claim {
            latency: Latency::Either,
            requests: Some(self.responses),
            duration_ns: Some(total_ns),
            success: (attempts > 0.0).then(|| self.succeeded as f64 / attempts),
            succeeded_per_s: Some(qps * self.succeeded as f64 / self.responses.max(1) as f64),
            ..Claim::new(qps, (self.responses > 0).then_some(mean_ns))
        }
    }

    /// The responses' part of the rate that the file says; of a file without one, what the counts come to.
    fn qps(&self, seconds: f64, rate: Option<f64>) -> f64 {
        let responses = self.responses as f64;
        let counted = if seconds > 0.0 { responses / seconds } else { 0.0 };
        // Whether what was cut off is in the rate may depend on the version.
        let ended = responses + self.errors as f64;
        let all = [ended + self.cut_off as f64, ended].into_iter().filter(|&all| all > 0.0);
        let readings = all.filter_map(|all| Some(rate? * responses / all));
        let apart = |qps: f64| (qps - counted).abs();
        readings.min_by(|a, b| apart(*a).total_cmp(&apart(*b))).unwrap_or(counted)
    }
}

#[derive(Debug, Default)]
pub(super) struct Oha {
    times: Times,
    /// All requests per second.
    rate: Option<f64>,
    distributions: u32,
    quantiles: Vec<(f64, Nanos)>,
    counts: Counts,
    in_statuses: bool,
    in_errors: bool,
}

impl Block for Oha {
    fn opens(line: &str) -> bool {
        line.trim_end() == "Summary:"
    }

    fn line(&mut self, number: usize, line: &str) -> Result<(), BadFile> {
        if let Some((label, place, text)) = self.times.of_line(line) {
            // Without a response it prints NaN and infinities.
            if let Some((digits, unit)) = text.split_once(' ')
                && digits.starts_with(|c: char| c.is_ascii_digit())
            {
                *place = Some(in_unit(number, label, digits, unit.trim())?);
            }
        } else if let Some(word) = word_after(line, "Requests/sec:") {
            if word.starts_with(|c: char| c.is_ascii_digit()) {
                self.rate = Some(figure::number(number, "Requests/sec", word)?);
            }
        } else if DISTRIBUTIONS.iter().any(|heading| line.starts_with(heading)) {
            self.distributions += 1;
        } else if line.starts_with("Status code distribution:") {
            self.in_statuses = true;
        } else if line.starts_with("Error distribution:") {
            self.in_errors = true;
        } else if line.trim().is_empty() {
            self.in_errors = false;
        } else {
            self.counted(number, line)?;
        }
        Ok(())
    }

    fn finish(self) -> Result<Claim, &'static str> {
        let Times { total, slowest, fastest, average } = self.times;
        let total = total.ok_or("`Total:` line")?;
        if !self.in_statuses {
            return Err("`Status code distribution:`");
        }
        let average = average.unwrap_or(Printed { ns: 0, error_ns: 0 });
        let claim = self.counts.claim(total.ns, self.rate, average.ns);
        Ok(Claim {
            min_ns: fastest.map(|printed| printed.ns),
            max_ns: slowest.map(|printed| printed.ns),
            error_ns: average.error_ns,
            duration_error_ns: total.error_ns,
            quantiles: self.quantiles,
            ..claim
        })
    }
}

impl Oha {
    fn counted(&mut self, line: usize, text: &str) -> Result<(), BadFile> {
        let words: Vec<&str> = text.split_whitespace().take(5).collect();
        if let [share, "in", value, unit @ ..] = words.as_slice()
            && share.ends_with('%')
            && self.distributions == 1
            && *value != "NaN"
        {
            let percent = number(line, "percentile", share.trim_end_matches('%'))?;
            let latency = in_unit(line, "percentile", value, &unit.join(" "))?;
            self.quantiles.push((percent / 100.0, latency.ns));
        } else if let Some((inside, rest)) = bracketed(text) {
            if self.in_errors && text.starts_with(' ') {
                self.counts.error(rest, count(line, "errors", inside)?);
            } else if self.in_statuses
                && let Some(n) = rest.strip_suffix("responses")
            {
                let n = count(line, "responses", n.trim())?;
                self.counts.status(count(line, "status", inside)?, n);
            }
        }
        Ok(())
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    summary: Summary,
    #[serde(default)]
    latency_percentiles: BTreeMap<String, Option<f64>>,
    #[serde(default)]
    status_code_distribution: BTreeMap<String, f64>,
    #[serde(default)]
    error_distribution: BTreeMap<String, f64>,
}

/// In seconds. Without a response some are null.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    total: f64,
    slowest: Option<f64>,
    fastest: Option<f64>,
    average: Option<f64>,
    requests_per_sec: Option<f64>,
}

/// Reads the JSON of `--output-format json`.
pub(super) fn from_json(bytes: &[u8]) -> Result<Claims, BadFile> {
    let document: Document = json(bytes)?;
    let mut counts = Counts::default();
    for (status, &n) in &document.status_code_distribution {
        let n = plain_number("statusCodeDistribution", n)? as u64;
        counts.status(status.parse().unwrap_or(u64::MAX), n);
    }
    for (name, &n) in &document.error_distribution {
        counts.error(name, plain_number("errorDistribution", n)? as u64);
    }
    let seconds = |what: &str, value: Option<f64>| {
        value.map(|value| json_nanos(what, value, SECOND)).transpose()
    };
    let Summary { total, slowest, fastest, average, requests_per_sec } = document.summary;
    let rate = requests_per_sec.map(|rate| plain_number("requestsPerSec", rate)).transpose()?;
    let mean_ns = seconds("average", average)?.unwrap_or(0);
    let claim = counts.claim(json_nanos("total", total, SECOND)?, rate, mean_ns);
    let row = Claim {
        min_ns: seconds("fastest", fastest)?,
        max_ns: seconds("slowest", slowest)?,
        quantiles: quantiles(&document.latency_percentiles)?,
        ..claim
    };
    Ok(Claims::new(Tool::Oha, vec![row]))
}

fn quantiles(named: &BTreeMap<String, Option<f64>>) -> Result<Vec<(f64, Nanos)>, BadFile> {
    let mut quantiles = Vec::new();
    for (name, value) in named {
        let percent = name.strip_prefix('p').and_then(|digits| digits.parse::<f64>().ok());
        let Some(percent) = percent.filter(|percent| (0.0..100.0).contains(percent)) else {
            continue;
        };
        if let Some(value) = value {
            quantiles.push((percent / 100.0, json_nanos("latencyPercentiles", *value, SECOND)?));
        }
    }
    quantiles.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(quantiles)
}
