//! oha's printout and its JSON. Neither says how many connections there were.
//!
//! oha's rate counts requests that the end of the run cut off; what is kept here is responses only.

use std::collections::BTreeMap;

use model::units::{Nanos, SECOND};
use model::{Claim, Claims, Latency, Tool};
use serde::Deserialize;

use super::blocks::Block;
use super::hey::{Times, bracketed};
use super::json;
use crate::BadFile;
use crate::claims::figure::{Printed, count, in_unit, json_nanos, number, plain_number};

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
}

impl Counts {
    fn status(&mut self, status: u64, n: u64) {
        self.responses = self.responses.saturating_add(n);
        if status < 400 {
            self.succeeded = self.succeeded.saturating_add(n);
        }
    }

    fn error(&mut self, name: &str, n: u64) {
        if name != CUT_OFF {
            self.errors = self.errors.saturating_add(n);
        }
    }

    /// Responses over a time, with latencies that the file says.
    fn claim(&self, total_ns: Nanos, mean_ns: Nanos) -> Claim {
        let seconds = total_ns as f64 / SECOND as f64;
        let per_s = |n: u64| if seconds > 0.0 { n as f64 / seconds } else { 0.0 };
        let attempts = self.responses as f64 + self.errors as f64;
        Claim {
            latency: Latency::Either,
            requests: Some(self.responses),
            duration_ns: Some(total_ns),
            success: (attempts > 0.0).then(|| self.succeeded as f64 / attempts),
            succeeded_per_s: Some(per_s(self.succeeded)),
            ..Claim::new(per_s(self.responses), (self.responses > 0).then_some(mean_ns))
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Oha {
    times: Times,
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
        let claim = self.counts.claim(total.ns, average.ns);
        Ok(Claim {
            min_ns: fastest.map(|printed| printed.ns),
            max_ns: slowest.map(|printed| printed.ns),
            error_ns: average.error_ns,
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
struct Summary {
    total: f64,
    slowest: Option<f64>,
    fastest: Option<f64>,
    average: Option<f64>,
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
    let Summary { total, slowest, fastest, average } = document.summary;
    let mean_ns = seconds("average", average)?.unwrap_or(0);
    let claim = counts.claim(json_nanos("total", total, SECOND)?, mean_ns);
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
