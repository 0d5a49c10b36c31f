//! Rules about the window as a whole.

use model::claim::window_edges;
use model::units::{SECOND, show_duration};
use model::{PERCENTILES, Percentile, Run, Verdict};

use super::Finding;
use crate::figures::{grouped, rate};

/// How far above the cap QPS x mean service may come out by rounding and sampling.
pub(super) const TOLERANCE: f64 = 1.05;
/// Percentiles that people quote though few samples lie above them.
pub(super) fn tail() -> impl DoubleEndedIterator<Item = &'static Percentile> {
    PERCENTILES.iter().filter(|percentile| percentile.share >= 0.99)
}

/// Little's law, L = lambda W, on a finite window: what its ends explain is allowed.
pub(super) fn little(run: &Run) -> Option<Finding> {
    let (service, window_ns) = (&run.service_ns, run.totals.duration_ns as f64);
    if service.count == 0 || window_ns == 0.0 {
        return None;
    }
    let cap = f64::from(run.plan.inflight_cap());
    let in_flight = run.rates.requests_per_s * service.mean as f64 / SECOND as f64;
    if in_flight <= TOLERANCE * cap * window_edges(run) {
        return None;
    }
    let evidence = format!(
        "{} responses/s x {} mean service time is {} requests in flight, where {} connections x {} \
         allow {}: impossible",
        rate(run.rates.requests_per_s),
        show_duration(service.mean),
        grouped(in_flight, 1),
        grouped(f64::from(run.plan.connections), 0),
        run.plan.pipeline,
        grouped(cap, 0)
    );
    Some((Verdict::Invalid, evidence))
}

pub(super) fn too_short(run: &Run) -> Option<Finding> {
    let timed = run.response_ns.count;
    let percentile = tail().find(|percentile| timed < percentile.enough())?;
    if timed == 0 {
        return None;
    }
    let (attempts, are) = if timed == 1 { ("attempt", "is") } else { ("attempts", "are") };
    let evidence = format!(
        "{} {attempts} in {} {are} too few to quote {} or above: {} of them are above it",
        grouped(timed as f64, 0),
        show_duration(run.totals.duration_ns),
        percentile.name,
        grouped((timed as f64 * 10.0 / percentile.enough() as f64).floor(), 0)
    );
    Some((Verdict::Valid, evidence))
}

pub(super) fn interrupted(run: &Run) -> Option<Finding> {
    let planned = run.plan.duration_ns.map(|ns| format!(" of {}", show_duration(ns)));
    run.interrupted.then(|| {
        let ran = show_duration(run.totals.duration_ns);
        (Verdict::Valid, format!("ended after {ran}{}", planned.unwrap_or_default()))
    })
}
