//! The rule about a time in which nothing was asked of the server, because its users were thinking.

use model::timeline::Point;
use model::units::{Nanos, SECOND, show_duration};
use model::{Run, Verdict};

use super::Finding;
use crate::figures::{counted, percent, rate};
use crate::gone::gone;

/// The time at the window's end in which nothing was asked from which on it counts: so long, and this part of the window.
pub(super) const UNASKED: (Nanos, f64) = (SECOND, 0.2);
/// Connections beyond those with a request in flight that stood, of all, for the server to have closed them while idle.
const STOOD: f64 = 0.05;

pub(super) fn nothing_asked(run: &Run) -> Option<Finding> {
    closed_meanwhile(run).or_else(|| shorter_than_cycle(run))
}

/// Whether no user can send twice in the window, and all began at once: QPS is then what the window's length makes of it,
/// and no bound of anything. Users with a pace begin evenly spread over it.
pub(super) fn is_one_burst(run: &Run) -> bool {
    let plan = &run.plan;
    let by_time = plan.rate_per_s.is_none() && plan.requests.is_none() && plan.ramp_ns == 0;
    let longer = plan.think_ns.is_some_and(|think| think >= run.totals.duration_ns);
    by_time && !run.interrupted && longer
}

fn shorter_than_cycle(run: &Run) -> Option<Finding> {
    let think_ns = run.plan.think_ns?;
    if !is_one_burst(run) || run.totals.requests == 0 {
        return None;
    }
    let cycle_ns = think_ns.saturating_add(run.service_ns.mean).max(1);
    let users = f64::from(run.plan.connections);
    let evidence = format!(
        "{} thought for {} after each response, and the window lasted for {}: nobody sent twice in it, and QPS is of how \
         long it was; in the long run they send {}/s",
        counted(users, "user"),
        show_duration(think_ns),
        show_duration(run.totals.duration_ns),
        rate(users * SECOND as f64 / cycle_ns as f64)
    );
    Some((Verdict::Valid, evidence))
}

/// The server closed all connections while their users thought, and nobody has asked it since.
pub(super) fn closed_meanwhile(run: &Run) -> Option<Finding> {
    let (plan, totals) = (&run.plan, &run.totals);
    let pauses = plan.think_ns.is_some() || plan.pace_ns.is_some();
    // Who has connected again behind a close knows that the server does so and is there.
    let never_again = totals.connects > 0
        && totals.connects <= u64::from(plan.connections)
        && totals.server_closes >= totals.connects;
    if plan.rate_per_s.is_some() || !pauses || !never_again || gone(run).is_some() {
        return None;
    }
    let points: Vec<&Point> = run.timeline.iter().filter(|point| point.phase == "window").collect();
    let asked = |point: &&Point| {
        point.in_flight_mean > 0.0
            || point.achieved_per_s > 0.0
            || point.requests_per_s > 0.0
            || point.failed > 0
    };
    let since = points.iter().rposition(asked)? + 1;
    let (idle, last) = (&points[since..], points.last()?);
    let idle_ns = idle.iter().map(|point| point.duration_ns).fold(0, Nanos::saturating_add);
    let part = idle_ns as f64 / totals.duration_ns.max(1) as f64;
    // A server that closes each connection behind its response lets none stand idle.
    let idle_ones = |point: &Point| point.open_mean - point.in_flight_mean;
    let stood = points[since - 1..]
        .iter()
        .any(|point| idle_ones(point) >= STOOD * f64::from(plan.connections));
    if idle_ns < UNASKED.0 || part < UNASKED.1 || !stood || last.open_mean > 0.0 {
        return None;
    }
    let evidence = format!(
        "the server closed all {} while their users thought, and nothing was asked of it in the last {} of the window, \
         {} of it: whether it was still there then nobody knows",
        counted(totals.connects as f64, "connection"),
        show_duration(idle_ns),
        percent(part)
    );
    Some((Verdict::Invalid, evidence))
}
