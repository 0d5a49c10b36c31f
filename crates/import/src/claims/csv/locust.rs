//! `NAME_stats.csv` of Locust: the row of all requests is the one that counts. Times are in milliseconds.

use model::quote::quote;
use model::units::{MILLISECOND, Nanos};
use model::{Claim, LoopKind};

use super::{Header, cell};
use crate::BadFile;
use crate::claims::figure::{self, in_unit};

/// How Locust calls the row of all requests.
const ALL: &str = "Aggregated";

/// The columns.
pub(super) struct Locust<'h> {
    header: &'h Header,
    name: Option<usize>,
}

impl<'h> Locust<'h> {
    pub(super) fn new(header: &'h Header) -> Self {
        Self { header, name: header.place(&["name"]) }
    }

    /// The claim of a row; none of one that is not of all requests.
    pub(super) fn row(
        &self,
        line: usize,
        record: &::csv::StringRecord,
    ) -> Result<Option<Claim>, BadFile> {
        if cell(record, self.name) != Some(ALL) {
            return Ok(None);
        }
        let needed = |column: &str| {
            let place = self.header.names.iter().position(|name| name == column);
            cell(record, place).ok_or_else(|| {
                BadFile::at(line, format!("no {} (is the line cut short?)", quote(column)))
            })
        };
        let number = |column: &str| figure::number(line, column, needed(column)?);
        let time =
            |column: &str| in_unit(line, column, needed(column)?, "ms").map(|printed| printed.ns);
        let requests = number("Request Count")?;
        let failures = number("Failure Count")?;
        let min_ns = time("Min Response Time")?;
        let max_ns = time("Max Response Time")?;
        let mean_ns = time("Average Response Time")?;
        let mut quantiles = Vec::new();
        for (name, cell) in self.header.names.iter().zip(record) {
            let percent = name.strip_suffix('%').and_then(|percent| percent.parse::<f64>().ok());
            if let Some(percent) = percent.filter(|percent| *percent < 100.0)
                && let Ok(printed) = in_unit(line, name, cell.trim(), "ms")
            {
                quantiles.push((percent / 100.0, within_rounding(printed.ns, min_ns, max_ns)));
            }
        }
        Ok(Some(Claim {
            loop_kind: LoopKind::Users,
            error_ns: MILLISECOND,
            min_ns: Some(min_ns),
            max_ns: Some(max_ns),
            quantiles,
            requests: Some(requests as u64),
            success: (requests > 0.0).then(|| 1.0 - (failures / requests).min(1.0)),
            pauses: true,
            ..Claim::new(number("Requests/s")?, Some(mean_ns))
        }))
    }
}

/// A percentile of Locust's, which rounds latencies to two digits but the least and greatest: one that lies outside
/// those by no more than the rounding is the end itself.
fn within_rounding(ns: Nanos, min_ns: Nanos, max_ns: Nanos) -> Nanos {
    let half_step = |end: Nanos| match end / MILLISECOND {
        0..100 => MILLISECOND / 2,
        100..1_000 => 5 * MILLISECOND,
        1_000..10_000 => 50 * MILLISECOND,
        _ => 500 * MILLISECOND,
    };
    let near = |end: Nanos| ns.abs_diff(end) <= half_step(end);
    match ns {
        _ if ns > max_ns && near(max_ns) => max_ns,
        _ if ns < min_ns && near(min_ns) => min_ns,
        _ => ns,
    }
}
