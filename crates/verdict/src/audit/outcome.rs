//! What came of the requests, and what the tool itself is known for.

use model::units::{Nanos, show_duration};
use model::{Claim, Tool, Verdict};

use super::{Found, Severity};
use crate::curve::MIN_SUCCESS;
use crate::figures::{counted, grouped, often, percent, share};

/// Results that hey keeps.
pub(super) const HEY_KEEPS: u64 = 1_000_000;
/// Responses below which fewer than ten are above p99.
const ENOUGH_FOR_P99: u64 = 1_000;
/// Share of the connections that may fail to open before concurrency is another.
const CONNECTS: f64 = 0.01;
/// Share of a schedule's arrivals that may be left out.
const DROPPED: f64 = 0.001;

fn doubtful(evidence: String) -> Option<Found> {
    Some((Severity::Doubtful, evidence, None))
}

pub(super) fn hey_million(tool: Tool, claim: &Claim) -> Option<Found> {
    let requests = claim.requests.filter(|&n| tool == Tool::Hey && n > HEY_KEEPS)?;
    let mean_ns = claim.mean_ns?;
    let corrected = mean_ns as f64 * HEY_KEEPS as f64 / requests as f64;
    doubtful(format!(
        "of {} responses the mean is {}, not {}",
        grouped(requests as f64, 0),
        show_duration(corrected as Nanos),
        show_duration(mean_ns)
    ))
}

pub(super) fn nothing(_: Tool, claim: &Claim) -> Option<Found> {
    if claim.qps > 0.0 && claim.requests != Some(0) && claim.mean_ns.is_some() {
        return None;
    }
    let what = if claim.qps > 0.0 { "no latency in the file" } else { "no response arrived" };
    doubtful(what.to_owned())
}

pub(super) fn failing(_: Tool, claim: &Claim) -> Option<Found> {
    let success = claim.success.filter(|&success| success < MIN_SUCCESS)?;
    let carried = crate::figures::rate(claim.carried_per_s()?);
    doubtful(format!("{} succeeded: {carried}/s were carried", share(success)))
}

pub(super) fn connects(_: Tool, claim: &Claim) -> Option<Found> {
    if claim.connect_errors == 0 {
        return None;
    }
    let failed = claim.connect_errors as f64;
    let few = claim.connections.is_some_and(|connections| failed < CONNECTS * connections);
    let severity = if few { Severity::Note } else { Severity::Doubtful };
    let of = claim.connections.map(|n| format!(" for {}", counted(n, "connection")));
    let evidence = format!("connecting failed {}{}", often(failed), of.unwrap_or_default());
    Some((severity, evidence, None))
}

pub(super) fn dropped(_: Tool, claim: &Claim) -> Option<Found> {
    let dropped = claim.dropped as f64;
    let made = claim.arrivals.or(claim.requests).unwrap_or(0);
    let due = dropped + made as f64;
    if dropped <= DROPPED * due {
        return None;
    }
    doubtful(format!("left out: {}, {}", counted(dropped, "arrival"), percent(dropped / due)))
}

pub(super) fn own_verdict(_: Tool, claim: &Claim) -> Option<Found> {
    let validity = claim.validity.as_ref().filter(|v| v.verdict != Verdict::Valid)?;
    let reasons = validity.reasons.iter().filter(|reason| reason.consequence != Verdict::Valid);
    let codes: Vec<&str> = reasons.map(|reason| reason.code.name()).collect();
    doubtful(format!("{} by its own rules: {}", validity.verdict.name(), codes.join(", ")))
}

pub(super) fn no_keepalive(_: Tool, claim: &Claim) -> Option<Found> {
    (claim.keepalive == Some(false))
        .then(|| (Severity::Note, "a connection for each request".to_owned(), None))
}

pub(super) fn few(_: Tool, claim: &Claim) -> Option<Found> {
    let requests = claim.requests.filter(|&n| n > 0 && n < ENOUGH_FOR_P99)?;
    let quoted = claim.quantiles.iter().any(|&(share, _)| share >= 0.99);
    quoted.then(|| {
        let evidence = format!("too few to quote p99: {}", counted(requests as f64, "response"));
        (Severity::Note, evidence, None)
    })
}
