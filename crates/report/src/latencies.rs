//! The latency table of a run, for text and page: its columns, its rows, and the notes below it.

use model::percentile::{PERCENTILES, Summary};
use model::run::Run;
use model::units::show_duration;

use crate::figure::{count, share};

/// The columns of a latency table after its first.
pub(crate) fn latency_columns() -> impl Iterator<Item = &'static str> {
    PERCENTILES.iter().map(|percentile| percentile.name).chain(["max", "mean"])
}

/// A summary's figures in these columns.
pub(crate) fn latency_cells(summary: &Summary) -> impl Iterator<Item = String> {
    let percentiles = PERCENTILES.iter().map(|percentile| (percentile.of)(summary));
    percentiles.chain([summary.max, summary.mean]).map(show_duration)
}

/// The distributions that a run has, response first. One line stands for response and service where
/// they are the same. What is zero throughout is left out, as lateness and waits of a closed loop are.
pub(crate) fn distributions(run: &Run) -> Vec<(&'static str, &Summary)> {
    let same = response_is_service(run);
    let mut rows = vec![
        (if same { "Service time" } else { "Response time" }, &run.response_ns),
        ("Service time", &run.service_ns),
        ("Late", &run.late_ns),
        ("Observed late", &run.observed_late_ns),
        ("Wait", &run.wait_ns),
        ("First byte", &run.first_byte_ns),
        ("Connect", &run.connect_ns),
        ("TLS", &run.tls_ns),
    ];
    if same {
        rows.remove(1);
    }
    rows.retain(|(_, summary)| summary.max > 0);
    rows
}

/// Whether this is a closed loop whose response times are its service times, sample by sample.
pub(crate) fn response_is_service(run: &Run) -> bool {
    run.plan.rate_per_s.is_none() && run.response_ns == run.service_ns
}

/// Said where one line stands for two.
pub(crate) const SAME: &str =
    "In a closed loop a request is due when it is sent: response time = service time.";

/// The share of an open loop's arrivals that the distributions lack; nothing where they lack none.
pub(crate) fn untimed(run: &Run) -> Option<String> {
    let lacking = share(verdict::untimed_share(run)?);
    Some(format!("{lacking} of the arrivals were not sent and are in no percentile."))
}

/// How many TLS handshakes were full and how many went on with an earlier session; nothing without
/// any, or where it was not counted.
pub(crate) fn handshakes(run: &Run) -> Option<String> {
    let resumed = run.totals.tls_resumed.filter(|_| run.tls_ns.count > 0)?;
    let full = run.tls_ns.count.saturating_sub(resumed);
    Some(match resumed {
        0 => format!("TLS handshakes: {}, all full.", count(full)),
        resumed => format!("TLS handshakes: {} full, {} resumed.", count(full), count(resumed)),
    })
}
