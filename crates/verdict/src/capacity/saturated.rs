//! How much the server carries while a bounded number of requests keeps it busy, at the search's end.
//!
//! Arrivals at random leave a server idle at times and queue at others, so the rate that holds the objectives is less
//! than what the server completes. Who bounds the number in flight, as a gateway does, makes no queue longer than that:
//! the server is never idle, and no response waits behind more than these. A closed loop of as many connections is
//! the same to the server, and measures it.

use model::LevelKind;
use model::capacity::{Outcome, Purpose, Step};
use model::loadline::{Saturated, keeps_busy};
use model::units::SECOND;

use super::{Fed, Search, reverse};

/// Numbers of requests in flight that are tried.
const MOST: usize = 3;

/// The closed loop that is to be run next after a level is confirmed, if one is.
pub(super) fn next(search: &Search, held: &Fed) -> Option<Step> {
    let limit_is_known = search.speaking().any(|fed| fed.judged.outcome == Outcome::Broke);
    let collapses = reverse::overload(search).is_some_and(|overload| overload.collapses);
    // A line that the user drew, in arrivals, says nothing of a closed loop; it would be crossed.
    let allowed = search.settings.kind == LevelKind::Rate && search.settings.most.is_none();
    if !limit_is_known || collapses || !allowed {
        return None;
    }
    let at_a_time = worked_on(search, held);
    let tried: Vec<&Fed> = of_hold(search).collect();
    let wanted = match tried.last() {
        None => keeps_busy(at_a_time),
        Some(last) if last.judged.outcome != Outcome::Held && tried.len() < MOST => {
            f64::midpoint(at_a_time.max(1.0), last.step.level).floor()
        }
        Some(_) => return None,
    };
    let level = wanted.clamp(1.0, f64::from(search.settings.connections.max(1)));
    let again = tried.iter().any(|fed| fed.step.level == level);
    let settings = search.settings();
    (!again).then_some(Step {
        purpose: Purpose::Saturated,
        level,
        rest_ns: settings.rest_ns,
        warmup_ns: settings.warmup_ns,
        window_ns: settings.step_ns,
    })
}

/// What held its objectives so.
pub(super) fn found(search: &Search) -> Option<Saturated> {
    let held = of_hold(search).find(|fed| fed.judged.outcome == Outcome::Held)?;
    Some(Saturated {
        concurrency: held.step.level as u32,
        requests_per_s: held.judged.succeeded_per_s,
        mean_ns: held.judged.mean_ns.max(0.0) as u64,
        held_for_ns: held.step.window_ns,
    })
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
