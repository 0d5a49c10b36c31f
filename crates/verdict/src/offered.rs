//! Whether what was offered was sent: arrivals that were left out, connections that were all in use.

use model::Run;

/// Share of arrivals that may go unsent.
pub(crate) const SHORTFALL: f64 = 0.001;
/// Share of the cap that counts as every connection in use: workers own their connections, so one
/// may be out of them just before the others are.
const AT_CAP: f64 = 0.9;

/// Whether users come on a schedule.
pub(crate) fn open_loop(run: &Run) -> bool {
    run.plan.rate_per_s.is_some()
}

/// Arrivals of an open loop that were due in the window and not sent in it, when they are more than
/// can be in the workers' hands as the window ends.
pub(crate) fn shortfall(run: &Run) -> Option<f64> {
    let (offered, attempts) = (run.rates.offered_per_s, run.totals.attempts as f64);
    let unsent = (1.0 - run.rates.achieved_per_s / offered) * attempts;
    let allowed = (SHORTFALL * attempts).max(f64::from(run.plan.threads));
    (open_loop(run) && offered > 0.0 && unsent > allowed).then_some(unsent)
}

/// Whether as many requests were in flight at once as may be.
pub(crate) fn at_cap(run: &Run) -> bool {
    f64::from(run.concurrency.in_flight_max) >= AT_CAP * f64::from(run.plan.inflight_cap())
}
