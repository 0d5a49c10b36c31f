//! `hey -o csv`, a row for each response, summed up.

use model::units::{LONGEST, MICROSECOND, Nanos, SECOND};
use model::{Claim, Claims, Latencies, Tool};

use super::{Header, cell};
use crate::BadFile;
use crate::claims::figure::{self, in_unit};

/// Where the columns that matter are, and the sums.
pub(super) struct Samples {
    response_time: Option<usize>,
    offset: Option<usize>,
    status_code: Option<usize>,
    latencies: Latencies,
    succeeded: u64,
    first_ns: Option<Nanos>,
    last_ns: Nanos,
}

impl Samples {
    pub(super) fn new(header: &Header) -> Self {
        let place = |column: &str| header.names.iter().position(|name| name == column);
        Self {
            response_time: place("response-time"),
            offset: place("offset"),
            status_code: place("status-code"),
            latencies: Latencies::default(),
            succeeded: 0,
            first_ns: None,
            last_ns: 0,
        }
    }

    pub(super) fn add(&mut self, line: usize, record: &::csv::StringRecord) -> Result<(), BadFile> {
        let cell = |place| cell(record, place).unwrap_or_default();
        let took = in_unit(line, "response-time", cell(self.response_time), "secs")?.ns;
        let began = in_unit(line, "offset", cell(self.offset), "secs")?.ns;
        if began.max(took) > LONGEST / 2 {
            return Err(BadFile::at(line, "longer than ten years"));
        }
        let status = figure::count(line, "status-code", cell(self.status_code))?;
        self.latencies.record(took);
        self.succeeded += u64::from(status < 400);
        self.first_ns = Some(self.first_ns.map_or(began, |first| first.min(began)));
        self.last_ns = self.last_ns.max(began + took);
        Ok(())
    }

    pub(super) fn claims(self) -> Result<Claims, BadFile> {
        let Some(first_ns) = self.first_ns else {
            return Err(BadFile::whole("a CSV of hey without any response"));
        };
        let summary = self.latencies.summary();
        let duration_ns = self.last_ns - first_ns;
        let seconds = duration_ns as f64 / SECOND as f64;
        let qps = if seconds > 0.0 { summary.count as f64 / seconds } else { 0.0 };
        let row = Claim {
            // Four decimals of a second.
            error_ns: 50 * MICROSECOND,
            min_ns: Some(summary.min),
            max_ns: Some(summary.max),
            quantiles: vec![(0.5, summary.p50), (0.9, summary.p90), (0.99, summary.p99)],
            requests: Some(summary.count),
            duration_ns: Some(duration_ns),
            // hey leaves requests that failed out of it.
            success: Some(self.succeeded as f64 / summary.count as f64),
            ..Claim::new(qps, Some(summary.mean))
        };
        Ok(Claims::new(Tool::Hey, vec![row]))
    }
}
