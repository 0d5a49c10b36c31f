//! A table with a row for each level.
//!
//! Owns the names that columns go by, and their units: a mean without one is refused, not guessed.

use model::{Claim, LoopKind};

use super::{Header, cell, folded};
use crate::BadFile;
use crate::claims::figure::{self, Printed, in_unit};

/// Names of columns, without case and what stands between words; those that can mean something else come last.
pub(super) const QPS: [&str; 10] = [
    "qps",
    "rps",
    "requestspersec",
    "requestspersecond",
    "requestspers",
    "requestss",
    "reqs",
    "reqsec",
    "requestssec",
    "throughput",
];
const CONNECTIONS: [&str; 6] = ["connections", "concurrency", "c", "users", "vus", "threads"];
const RATE: [&str; 5] = ["rate", "ratepers", "targetrate", "offered", "arrivals"];
const MEAN: [&str; 7] =
    ["mean", "avg", "average", "meanlatency", "avglatency", "latencymean", "latencyavg"];
/// Units of times at the end of a column's name; the micro sign is a letter of its own beside the Greek one.
const UNITS: [&str; 6] = ["ns", "us", "µs", "μs", "ms", "s"];

/// Where the columns that matter are.
pub(super) struct Levels {
    qps: Option<usize>,
    connections: Option<usize>,
    rate: Option<usize>,
    times: Vec<Time>,
}

/// A column of means or, with the share that it is of, percentiles.
struct Time {
    place: usize,
    name: String,
    share: Option<f64>,
    unit: &'static str,
}

impl Levels {
    pub(super) fn new(header: &Header) -> Self {
        let time = |(place, name): (usize, &String)| {
            let (share, unit) = match mean_unit(name) {
                Some(unit) => (None, unit),
                None => percentile(name).map(|(share, unit)| (Some(share), unit))?,
            };
            Some(Time { place, name: name.clone(), share, unit })
        };
        Self {
            qps: header.place(&QPS),
            connections: header.place(&CONNECTIONS),
            rate: header.place(&RATE),
            times: header.names.iter().enumerate().filter_map(time).collect(),
        }
    }

    /// The claim of a row.
    pub(super) fn row(&self, line: usize, record: &::csv::StringRecord) -> Result<Claim, BadFile> {
        let number = |place, what| {
            cell(record, place).map(|cell| figure::number(line, what, cell)).transpose()
        };
        let Some(qps) = number(self.qps, "qps")? else {
            return Err(BadFile::at(line, "no requests per second (is the line cut short?)"));
        };
        let above_zero = |number: Option<f64>| number.filter(|number| *number > 0.0);
        let mut claim = Claim::new(qps, None);
        claim.connections = above_zero(number(self.connections, "connections")?);
        claim.rate_per_s = above_zero(number(self.rate, "rate")?);
        if claim.rate_per_s.is_some() {
            claim.loop_kind = LoopKind::Open;
        }
        for Time { place, name, share, unit } in &self.times {
            let Some(text) = cell(record, Some(*place)) else { continue };
            let Printed { ns, error_ns } = in_unit(line, name, text, unit)?;
            match share {
                Some(share) => {
                    claim.quantile_error_ns = claim.quantile_error_ns.max(error_ns);
                    claim.quantiles.push((*share, ns));
                }
                None => (claim.mean_ns, claim.error_ns) = (Some(ns), error_ns),
            }
        }
        claim.quantiles.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(claim)
    }
}

/// The unit of a column of means, by its name: `mean_ms`, `Average (us)`.
pub(super) fn mean_unit(name: &str) -> Option<&'static str> {
    unit_behind(name, |rest| MEAN.contains(&rest))
}

/// The unit at the end of a name whose rest is named so. The `s` of a plural, as in `means`, is not a unit.
fn unit_behind(name: &str, is_named: impl Fn(&str) -> bool) -> Option<&'static str> {
    let plural = name.trim_end_matches(|c: char| !c.is_alphanumeric());
    let plural =
        plural.strip_suffix(['s', 'S']).is_some_and(|rest| rest.ends_with(char::is_alphanumeric));
    let folded = folded(name);
    let known = |unit: &&str| {
        !(plural && *unit == "s") && folded.strip_suffix(*unit).is_some_and(&is_named)
    };
    UNITS.into_iter().find(known)
}

/// The share of a column of percentiles and its unit: `p99_ms`, `99%` with the unit of the whole.
fn percentile(name: &str) -> Option<(f64, &'static str)> {
    let text = name.trim().strip_prefix(['p', 'P'])?;
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let percent: f64 = text[..end].parse().ok()?;
    let unit = unit_behind(&text[end..], str::is_empty)?;
    (percent > 0.0 && percent < 100.0).then_some((percent / 100.0, unit))
}
