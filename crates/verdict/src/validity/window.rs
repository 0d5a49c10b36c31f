//! Rules about the window as a whole.

use model::claim::window_edges;
use model::units::{Nanos, SECOND, show_duration};
use model::{PERCENTILES, Percentile, Run, Verdict};

use super::Finding;
use crate::figures::{counted, grouped, rate};

/// How far above the cap QPS x mean service may come out by rounding and sampling.
pub(super) const TOLERANCE: f64 = 1.05;
/// Attempts of a closed loop below which there is no rate to speak of,
pub(super) const FEWEST: u64 = 30;
/// and attempts for each connection up to which its QPS is that of a burst.
pub(super) const FEWEST_EACH: u64 = 2;
/// The shortest part of a window that tells anything, where what was to be sent ended it.
pub(super) const SHORTEST_PART_NS: Nanos = SECOND;
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
        "{} responses/s x {} mean service time is {} requests in flight, where {} x {} allow {}: impossible",
        rate(run.rates.requests_per_s),
        show_duration(service.mean),
        grouped(in_flight, 1),
        counted(f64::from(run.plan.connections), "connection"),
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
    let are = if timed == 1 { "is" } else { "are" };
    let attempts = counted(timed as f64, "attempt");
    if shows_no_rate(run) {
        let connections = counted(f64::from(run.plan.connections), "connection");
        let few = format!("{attempts} on {connections} {are} too few");
        return Some((Verdict::Valid, format!("{few} to quote QPS or a percentile")));
    }
    let above = (timed as f64 * 10.0 / percentile.enough() as f64).floor();
    let evidence = format!(
        "{attempts} in {} {are} too few to quote {} or above: {} of them {} above it",
        show_duration(run.totals.duration_ns),
        percentile.name,
        grouped(above, 0),
        if above == 1.0 { "is" } else { "are" }
    );
    Some((Verdict::Valid, evidence))
}

/// Whether a closed loop made so few requests that its QPS is that of the first and the last of them.
pub fn shows_no_rate(run: &Run) -> bool {
    let timed = run.response_ns.count;
    let each = FEWEST_EACH * u64::from(run.plan.connections);
    run.plan.rate_per_s.is_none() && timed > 0 && (timed < FEWEST || timed <= each)
}

/// Whether the number of requests asked for ended the window: a longer one would not have had more of them.
pub fn ended_by_count(run: &Run) -> bool {
    run.plan.requests.is_some_and(|most| run.totals.attempts >= most)
}

pub(super) fn interrupted(run: &Run) -> Option<Finding> {
    let ended = || {
        let planned = run.plan.duration_ns.map(|ns| format!(" of {}", show_duration(ns)));
        let ran = show_duration(run.totals.duration_ns);
        format!("ended after {ran}{}", planned.unwrap_or_default())
    };
    if let Some(why) = &run.halted
        && run.interrupted
        && run.totals.duration_ns < SHORTEST_PART_NS
    {
        return Some((Verdict::Invalid, format!("{}: {why}", ended())));
    }
    run.interrupted.then(|| (Verdict::Valid, not_waited_for(run).unwrap_or_else(ended)))
}

/// What a run lacks that was interrupted behind its window: `the window is whole, but 2 of its responses were not waited
/// for`. None where it was interrupted inside of it, or not at all.
pub fn not_waited_for(run: &Run) -> Option<String> {
    let behind = run.interrupted && run.aborted.is_none() && run.is_window_whole();
    let left = match run.totals.unfinished {
        0 => String::new(),
        1 => ", but 1 of its responses was not waited for".to_owned(),
        n => format!(", but {} of its responses were not waited for", grouped(n as f64, 0)),
    };
    behind.then(|| format!("the window is whole{left}"))
}
