//! How much the server carries while a bounded number of requests keeps it busy, measured at the end of a search.
//!
//! Random arrivals leave a server idle at times and queue at others, so the rate that meets the objectives is less than
//! what the server can complete. A gateway that bounds the number in flight also bounds the queue: the server is never
//! idle, and no response waits behind more requests than that. For the server this is the same as a closed loop of as
//! many connections, which measures it.
//!
//! With a large bound, random arrivals at the capacity wait and are hardly ever refused; with a bound that just keeps the
//! server busy, those that come in clusters are refused. So the search looks for the largest bound that meets the
//! objectives.

use model::LevelKind;
use model::capacity::{Margin, Outcome, Purpose, Step, Unit};
use model::loadline::{Saturated, WITHIN, busy_next, seldom_exceeded};
use model::units::SECOND;

use super::{Fed, Search, reverse};

/// The closed loop that is to be run next after a level is confirmed, if one is.
pub(super) fn next(search: &Search, held: &Fed) -> Option<Step> {
    let limit_is_known = search.speaking().any(|fed| fed.judged.outcome == Outcome::Broke);
    let collapses = reverse::overload(search).is_some_and(|overload| overload.collapses);
    // A line that the user drew, in arrivals, says nothing of a closed loop; it would be crossed.
    let allowed = search.settings.kind == LevelKind::Rate && search.settings.most.is_none();
    if !limit_is_known || collapses || !allowed || found(search).is_some() {
        return None;
    }
    let judged = &held.judged;
    let in_flight = judged.requests_per_s * judged.mean_ns / SECOND as f64;
    let connections = f64::from(search.settings.connections.max(1));
    let most = seldom_exceeded(judged.requests_per_s, in_flight, judged.p99_ns);
    let tried: Vec<f64> = of_hold(search).map(|fed| fed.step.level).collect();
    let level = busy_next(most.min(connections), worked_on(search, held), &tried)?;
    let level = level.min(connections);
    let settings = search.settings();
    Some(Step {
        purpose: Purpose::Saturated,
        level,
        rest_ns: settings.rest_ns,
        warmup_ns: settings.warmup_ns,
        window_ns: settings.step_ns,
    })
}

/// What held its objectives so.
pub(super) fn found(search: &Search) -> Option<Saturated> {
    let held = of_hold(search).find(|fed| is_well_held(fed))?;
    // Those that stood before the server when the window ended have succeeded after it.
    let requests_per_s = held.judged.succeeded_per_s.min(held.judged.requests_per_s);
    Some(Saturated {
        concurrency: held.step.level as u32,
        requests_per_s,
        mean_ns: held.judged.mean_ns.max(0.0) as u64,
        held_for_ns: held.step.window_ns,
    })
}

/// Whether the objectives held, those on percentiles with some room: whoever holds requests back moves by these, and near
/// their limits chance moves it.
fn is_well_held(fed: &Fed) -> bool {
    let near = |margin: &Margin| {
        let percentile = margin.unit == Unit::Nanoseconds && margin.objective.starts_with('p');
        percentile && margin.value > WITHIN * margin.limit
    };
    fed.judged.outcome == Outcome::Held && !fed.judged.margins.iter().any(near)
}

/// The closed loops since the last hold.
fn of_hold(search: &Search) -> impl Iterator<Item = &Fed> {
    let hold = search.fed.iter().rposition(|fed| fed.step.purpose == Purpose::Hold).unwrap_or(0);
    search.fed[hold..].iter().filter(|fed| fed.step.purpose == Purpose::Saturated)
}

/// How many requests the server works on at a time at the level that held, those that only wait not counted: by Little's law
/// its rate times the response time at rest.
fn worked_on(search: &Search, held: &Fed) -> f64 {
    let at_rest_ns = search.idle_mean_ns().unwrap_or(held.judged.mean_ns);
    held.judged.requests_per_s * at_rest_ns.min(held.judged.mean_ns) / SECOND as f64
}
