//! Whether what was offered was sent: arrivals that were left out, connections that were all in use.

use model::{ErrorClass, ErrorCounts, Run};

use crate::validity::SENT_AGAIN_NS;

/// Share of arrivals that may go unsent.
pub(crate) const SHORTFALL: f64 = 0.001;
/// Share of the cap that counts as every connection in use: workers own their connections, so one
/// may be out of them just before the others are.
const AT_CAP: f64 = 0.9;

/// Share of the requests due whose responses count as all of them.
const ALL: f64 = 0.99;

/// Whether the server of an open loop responded to all that was due, but for its last responses: they come after the window.
pub fn kept_up(run: &Run) -> bool {
    // The block in which it was quickest is as near to a server at rest as the run shows.
    let means = run.blocks.iter().map(|block| block.response_mean_ns);
    let at_rest_ns = means.filter(|&mean_ns| mean_ns > 0).min().unwrap_or(0) as f64;
    run.responded_ratio(at_rest_ns).is_some_and(|ratio| ratio >= ALL)
}

/// Whether users come on a schedule.
pub(crate) fn open_loop(run: &Run) -> bool {
    run.plan.rate_per_s.is_some()
}

/// Arrivals of an open loop that were due in the window: all attempts but the later steps of sessions.
pub(crate) fn arrivals(run: &Run) -> f64 {
    let sessions = !run.plan.mix.flows.is_empty() && run.late_ns.count > 0;
    let arrivals = if sessions { run.late_ns.count } else { run.totals.attempts };
    arrivals as f64
}

/// Arrivals of an open loop that were due in the window and not sent in it, when they are more than
/// can be in the workers' hands as the window ends.
pub(crate) fn shortfall(run: &Run) -> Option<f64> {
    let (offered, attempts) = (run.rates.offered_per_s, run.totals.attempts as f64);
    let unsent = (1.0 - run.rates.achieved_per_s / offered) * attempts;
    (open_loop(run) && offered > 0.0 && unsent > in_hands(run)).then_some(unsent)
}

/// Whether more arrivals were left than the server refused: an attempt that found no connection was not sent either. Where
/// connections had to be asked for a second time, its queue of them was full, and the attempts are those of an overload.
pub(crate) fn left_behind(run: &Run) -> bool {
    let errors = &run.totals.errors;
    let refused = match run.connect_ns.max < SENT_AGAIN_NS {
        true => errors.of(ErrorClass::Connect).saturating_add(errors.of(ErrorClass::Tls)),
        false => 0,
    };
    shortfall(run).is_some_and(|unsent| unsent - refused as f64 > in_hands(run))
}

/// As many arrivals as may be in the workers' hands as the window ends.
fn in_hands(run: &Run) -> f64 {
    (SHORTFALL * arrivals(run)).max(f64::from(run.plan.threads))
}

/// The share of an open loop's arrivals that were dropped unsent and are in no percentile, when they are more than can be
/// in the workers' hands as the window ends.
pub fn untimed_share(run: &Run) -> Option<f64> {
    let totals = &run.totals;
    let untimed = untimed(totals.unsent, run.response_ns.count, totals.requests, totals.errors);
    let untimed = untimed as f64;
    (open_loop(run) && untimed > in_hands(run)).then(|| untimed / arrivals(run))
}

/// Of the arrivals that were not sent, those without a response time: it is kept of what was answered, timed out, or had
/// waited for longer than the time-out when it was dropped.
pub(crate) fn untimed(unsent: u64, timed: u64, answered: u64, errors: ErrorCounts) -> u64 {
    let sent = answered.saturating_add(errors.of(ErrorClass::Timeout));
    unsent.saturating_sub(timed.saturating_sub(sent))
}

/// Whether as many requests were in flight at once as may be, or sessions held all connections.
pub(crate) fn at_cap(run: &Run) -> bool {
    let in_flight = f64::from(run.concurrency.in_flight_max);
    in_flight >= AT_CAP * f64::from(run.plan.inflight_cap()) || sessions_hold(run)
}

/// Whether sessions of an open loop held all connections at some time: each keeps its own while it thinks, when nothing of
/// it is in flight, and a further one is opened only where none is free.
pub(crate) fn sessions_hold(run: &Run) -> bool {
    let held = f64::from(run.concurrency.open_max) >= AT_CAP * f64::from(run.plan.connections);
    open_loop(run) && !run.plan.mix.flows.is_empty() && held
}
