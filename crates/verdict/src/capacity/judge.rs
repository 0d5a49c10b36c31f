//! Whether a run of a search held: the objectives, and guards beside them that keep a single
//! threshold from being trusted.
//!
//! The guards: in an open loop what was due was sent and got its responses at the pace it came in; attempts
//! succeed, unless an objective demands that already; and responses are of the kind that they are under less load.
//! Errors are fast, whatever their status, and a server that sheds its load responds quickly to the rest: without
//! the guards both would look like capacity.

use model::capacity::{Judged, Margin, Outcome, Unit};
use model::kinds::ResponseChange;
use model::units::show_duration;
use model::{Nanos, PERCENTILES, Reason, ReasonCode, Run, Summary, Verdict};

use super::margin::{MetricMargin, Of};
use super::objectives::few_failed;
use crate::blocks::Time;
use crate::changes::is_substantial;
use crate::gone::is_counted_by_available;
use crate::objective::{Metric, Statistic};
use crate::offered::at_cap;
use crate::validity;

/// Share of the attempts that must succeed where no objective says so.
pub const LEAST_SUCCESS: f64 = 0.99;
/// Share of the requests due whose responses must arrive inside the window.
pub const LEAST_RESPONDED: f64 = 0.99;
/// Blocks of which it is known whether a queue grew, and how far their means may be apart where none did.
const FEWEST_FLAT: usize = 3;
const FLAT: f64 = 1.1;
/// The guard on what comes.
const USUAL: &str = "usual responses";
/// Mean service time over that at rest from which on a server that took every connection is taken
/// to queue inside the server.
pub const QUEUED: f64 = 3.0;

/// Judges a run: `objectives` are its margins under what was asked for, `idle_mean_ns` the mean
/// response time at rest, where it is known. An idle look or a probe is judged by the same rule, but
/// only its figures are used.
pub fn judge(run: &Run, objectives: Vec<MetricMargin>, idle_mean_ns: Option<f64>) -> Judged {
    let mut weighed = objectives;
    let of_success = |of| matches!(of, Of::Load(Metric::Success | Metric::Errors(None)));
    if !weighed.iter().any(|weighed| of_success(weighed.of)) {
        weighed.push(success(run));
    }
    weighed.extend(answered(run, idle_mean_ns));
    weighed.extend(usual(run));
    weighed.sort_by(|a, b| excess(b).total_cmp(&excess(a)));
    let is = |weighed: &MetricMargin, outcome: Outcome| {
        !weighed.left_open && weighed.margin.outcome == outcome
    };
    let any = |outcome| weighed.iter().any(|weighed| is(weighed, outcome));
    let broke: Vec<&MetricMargin> =
        weighed.iter().filter(|weighed| weighed.margin.outcome == Outcome::Broke).collect();
    let blamed = if broke.is_empty() { None } else { generators_fault(run, &broke, idle_mean_ns) };
    let against = run.validity.reasons.iter().filter(|reason| reason.consequence != Verdict::Valid);
    let mut invalid = against.clone().filter(|reason| reason.consequence == Verdict::Invalid);
    let outcome = match () {
        () if run.totals.requests == 0 && blamed.is_none() => Outcome::Broke,
        () if blamed.is_some() => Outcome::Generator,
        () if any(Outcome::Broke) => Outcome::Broke,
        () if any(Outcome::Unclear) || run.interrupted => Outcome::Unclear,
        () if invalid.any(|reason| !still_holds(run, reason, &weighed)) => Outcome::Unclear,
        () => Outcome::Held,
    };
    let neighbours = if outcome == Outcome::Broke { neighbours_fault(run, &broke) } else { None };
    let unclear = |weighed: &&MetricMargin| is(weighed, Outcome::Unclear);
    let too_few = outcome == Outcome::Unclear
        && weighed.iter().filter(unclear).count() > 0
        && weighed.iter().filter(unclear).all(|weighed| weighed.too_few);
    let seconds = run.totals.duration_ns as f64 / 1e9;
    Judged {
        outcome,
        disturbed: neighbours.is_some(),
        too_few,
        margins: weighed.into_iter().map(|weighed| weighed.margin).collect(),
        requests_per_s: run.rates.requests_per_s,
        succeeded_per_s: if seconds > 0.0 { run.totals.succeeded as f64 / seconds } else { 0.0 },
        mean_ns: run.response_ns.mean as f64,
        p99_ns: run.response_ns.p99,
        note: blamed.or(neighbours).or_else(|| failure(run)),
        reasons: against.cloned().collect(),
    }
}

/// Whether a reason is a delay of the generator's, which is part of the times that are held against the objectives.
pub(super) fn only_adds(reason: &Reason) -> bool {
    matches!(reason.code, ReasonCode::LateSends | ReasonCode::ObservedLate)
}

/// Whether a level holds although its run is INVALID: requests that left late were only made slower by
/// it, and an absence of the server is borne where an objective says how much of it is.
fn still_holds(run: &Run, reason: &Reason, weighed: &[MetricMargin]) -> bool {
    match reason.code {
        _ if only_adds(reason) => true,
        ReasonCode::ServerGone => {
            is_counted_by_available(run)
                && weighed.iter().any(|weighed| weighed.of == Of::Load(Metric::Available))
        }
        _ => false,
    }
}

/// How far a broken objective is from its limit; what is unclear comes after what broke, then what held, and what the step
/// is judged without comes last.
fn excess(weighed: &MetricMargin) -> f64 {
    let margin = &weighed.margin;
    match margin.outcome {
        _ if weighed.left_open => return -1.0,
        Outcome::Broke => {}
        Outcome::Unclear => return 0.5,
        Outcome::Held | Outcome::Generator => return 0.0,
    }
    if margin.limit <= 0.0 {
        // A limit of zero (no dips, no failures) has no ratio.
        return 1.0;
    }
    1.0 + (margin.value.max(1e-9) / margin.limit).ln().abs()
}

/// The guard on success, as a margin like those of the objectives.
fn success(run: &Run) -> MetricMargin {
    let value = run.rates.success_ratio.unwrap_or(0.0);
    let by_chance = value < LEAST_SUCCESS && few_failed(run, value, LEAST_SUCCESS);
    let why = by_chance.then(|| FEW_FAILED.to_owned());
    let held = value >= LEAST_SUCCESS || by_chance;
    let margin = Margin { why, ..guard("success", value, LEAST_SUCCESS, held) };
    MetricMargin { margin, of: Of::Load(Metric::Success), too_few: false, left_open: false }
}

/// Why a success a little below its limit holds.
const FEW_FAILED: &str = "holds: of so few attempts as many fail by chance";
/// Why a pace a little below its limit holds.
const IN_FLIGHT_AT_ENDS: &str =
    "holds: requests in flight at either end of the window explain the difference";
/// The same for sessions, whose number varies.
const SESSIONS_BY_CHANCE: &str =
    "holds: sessions under way at either end of the window, and chance, explain the difference";

/// The guard on the pace: in an open loop, responses done over requests due; of sessions, those ended over
/// those due, since a server that falls behind lowers the number of later steps that are due. Of a server that takes longer
/// than the warm-up, at rest or all along, more requests are under way at the window's end than at its start.
fn answered(run: &Run, idle_mean_ns: Option<f64>) -> Option<MetricMargin> {
    run.plan.rate_per_s?;
    let offered = run.rates.offered_per_s;
    // What is in flight at either end of the window does not cancel exactly.
    let seconds = run.totals.duration_ns as f64 / 1e9;
    let at_ends = 3.0 / (offered * seconds).max(1.0);
    let least = LEAST_RESPONDED - at_ends;
    let sent = offered > 0.0 && run.rates.achieved_per_s >= (least * offered).min(offered);
    let (value, kept, slack) = match run.session_pace() {
        Some(sessions) => {
            (sessions.ended_ratio, sessions.reaches(LEAST_RESPONDED), SESSIONS_BY_CHANCE)
        }
        None => {
            let at_rest_ns = idle_mean_ns.unwrap_or(0.0).max(flat_mean_ns(run).unwrap_or(0.0));
            let value = run.responded_ratio(at_rest_ns).unwrap_or(0.0);
            (value, value >= least, IN_FLIGHT_AT_ENDS)
        }
    };
    let held = kept && sent;
    let why = (held && value < LEAST_RESPONDED).then(|| slack.to_owned());
    let margin = Margin { why, ..guard("answered", value, LEAST_RESPONDED, held) };
    Some(MetricMargin { margin, of: Of::Pace, too_few: false, left_open: false })
}

/// The mean response time of a run in which it stayed the same from block to block, the shortest of theirs: no queue grew.
fn flat_mean_ns(run: &Run) -> Option<f64> {
    let means = run.blocks.iter().map(|block| block.response_mean_ns as f64);
    let [least, most] = [means.clone().reduce(f64::min)?, means.reduce(f64::max)?];
    (run.blocks.len() >= FEWEST_FLAT && most <= FLAT * least).then_some(least)
}

/// The guard on what comes, where the server responds with something else than it does under less load, such as a page
/// of errors with a good status: users get no response of the API's.
fn usual(run: &Run) -> Option<MetricMargin> {
    let mut reasons = run.validity.reasons.iter();
    reasons.find(|reason| {
        reason.code == ReasonCode::ResponsesChanged && reason.consequence == Verdict::Invalid
    })?;
    let changes = run.response_changes.iter().filter(|change| is_substantial(change));
    let unusual = changes.map(|change| unusual(run, change)).max_by(f64::total_cmp)?;
    let value = 1.0 - unusual;
    let held = value >= LEAST_SUCCESS;
    let margin = guard(USUAL, value, LEAST_SUCCESS, held);
    Some(MetricMargin { margin, of: Of::Usual, too_few: false, left_open: false })
}

/// The part of an endpoint's responses in the run that came with a change: that since the change says nothing of those
/// before it.
fn unusual(run: &Run, change: &ResponseChange) -> f64 {
    let of_endpoint =
        run.response_kinds.iter().filter(|kind| kind.endpoint == change.after.endpoint);
    let all: u64 = of_endpoint.map(|kind| kind.responses).sum();
    if change.since_ns == 0 || all == 0 {
        return change.share;
    }
    change.after.responses as f64 / all as f64
}

/// The guard on what comes, as an objective.
pub(super) fn usual_responses() -> String {
    at_least(USUAL, LEAST_SUCCESS)
}

fn at_least(name: &str, limit: f64) -> String {
    format!("{name}>={}%", limit * 100.0)
}

fn guard(name: &str, value: f64, limit: f64, held: bool) -> Margin {
    let objective = at_least(name, limit);
    let outcome = if held { Outcome::Held } else { Outcome::Broke };
    Margin { objective, value, limit, unit: Unit::Ratio, outcome, why: None, untried: false }
}

/// The evidence that the generator's side, not the server, kept the objectives from holding.
fn generators_fault(
    run: &Run,
    broke: &[&MetricMargin],
    idle_mean_ns: Option<f64>,
) -> Option<String> {
    if failed_by_server(run, broke) {
        return None;
    }
    let queued = idle_mean_ns.is_some_and(|idle| run.service_ns.mean as f64 >= QUEUED * idle);
    let late_explains = |m: &&MetricMargin| lateness_explains(run, m);
    // Requests that were sent and got nothing are why no more could be.
    let deaf = run.totals.requests == 0 && run.concurrency.in_flight_max > 0;
    let blames = |code| match code {
        ReasonCode::AchievedBelowOffered => !deaf,
        ReasonCode::LimitsHit => true,
        ReasonCode::Throttled | ReasonCode::GeneratorPaused => true,
        ReasonCode::LateSends => broke.iter().all(late_explains),
        ReasonCode::ObservedLate => broke.iter().all(|weighed| observed_explains(run, weighed)),
        // Every connection in use, and the server slower than at rest: its queue, not our cap.
        ReasonCode::ConnectionsExhausted => !queued && !deaf,
        _ => false,
    };
    let reasons =
        || run.validity.reasons.iter().filter(|reason| reason.consequence != Verdict::Valid);
    // While the server is away arrivals wait for connections too.
    let away = reasons().any(|reason| reason.code == ReasonCode::ServerGone);
    let found = reasons().find(|reason| blames(reason.code)).map(|reason| reason.text.clone());
    found.or_else(|| if queued || deaf || away { None } else { connections_fault(run, broke) })
}

/// The evidence that other programs may have kept the objectives from holding: they took the processors that the
/// server runs on too. Whether they did, only a second run at the same level shows.
fn neighbours_fault(run: &Run, broke: &[&MetricMargin]) -> Option<String> {
    if failed_by_server(run, broke) {
        return None;
    }
    let reasons = run.validity.reasons.iter();
    let mut busy = reasons.filter(|reason| reason.code == ReasonCode::BusyNeighbour);
    busy.next().map(|reason| reason.text.clone())
}

/// Whether failures that only the server can have made are more, by themselves, than an objective that broke
/// allows: it refused, reset, or responded with them. Failures within what is allowed do not
/// shift the blame.
fn failed_by_server(run: &Run, broke: &[&MetricMargin]) -> bool {
    if broke.iter().any(|weighed| weighed.of == Of::Usual) {
        return true;
    }
    let errors = &run.totals.errors;
    let own = errors.total().saturating_sub(errors.timeout) as f64;
    let attempts = run.totals.attempts as f64;
    let allowed = |weighed: &&MetricMargin| match (weighed.of, weighed.margin.unit) {
        (Of::Load(Metric::Success), _) => Some((1.0 - weighed.margin.limit) * attempts),
        (Of::Load(Metric::Errors(None)), Unit::Ratio) => Some(weighed.margin.limit * attempts),
        (Of::Load(Metric::Errors(None)), _) => Some(weighed.margin.limit),
        _ => None,
    };
    run.totals.limits.is_empty() && broke.iter().filter_map(allowed).any(|allowed| own > allowed)
}

/// Near the cap of its own connections a run misses its objectives by a few arrivals, too few for the
/// validity's word. With every connection in use and a server no slower than at rest, that is
/// the cap all the same, if waiting for a connection explains all that broke.
fn connections_fault(run: &Run, broke: &[&MetricMargin]) -> Option<String> {
    run.plan.rate_per_s?;
    let failed = run.totals.errors.total() > 0;
    let explains = |weighed: &&MetricMargin| match weighed.margin.unit {
        // Who waits for a connection has not sent yet: a service time has none of it.
        Unit::Nanoseconds if weighed.of.metric().is_some_and(of_service) => false,
        Unit::Nanoseconds => within_without(weighed, &run.wait_ns),
        Unit::Ratio => weighed.of == Of::Pace || !failed,
        Unit::Count => false,
    };
    let waited = run.wait_ns.p99 > 0 && at_cap(run) && broke.iter().all(explains);
    waited.then(|| {
        let waited = show_duration(run.wait_ns.p99);
        let wanted = validity::connections_for(run);
        format!("every connection was in use, and waiting for one took {waited} at p99; {wanted}")
    })
}

/// Whether what broke may be the work of requests that left late. A time that would be too long without their
/// lateness is the server's; so are responses that lag behind their requests by more of the window than the
/// generator ever lagged behind its schedule.
fn lateness_explains(run: &Run, weighed: &MetricMargin) -> bool {
    if weighed.of == Of::Pace {
        let lag_ns = (1.0 - weighed.margin.value) * run.totals.duration_ns as f64;
        return lag_ns <= run.late_ns.max as f64;
    }
    within_without(weighed, &run.late_ns)
}

/// Whether a time that is too long may be so by what responses waited for the generator, or by what requests
/// waited for it to make them.
fn observed_explains(run: &Run, weighed: &MetricMargin) -> bool {
    let parts = [&run.observed_late_ns, &run.wait_ns];
    weighed.margin.unit == Unit::Nanoseconds
        && parts.iter().any(|part| part.count > 0 && within_without(weighed, part))
}

/// Whether a time would keep its limit without a part of it; what is no time always would.
fn within_without(weighed: &MetricMargin, part: &Summary) -> bool {
    let margin = &weighed.margin;
    let of_part = weighed.of.metric().map_or(part.p99, |metric| like(metric, part));
    margin.unit != Unit::Nanoseconds || margin.value - of_part as f64 <= margin.limit
}

/// What a metric reads from the latencies of which it is one, read from others of the same requests; of a
/// percentile that is not kept, the next above.
fn like(metric: Metric, times: &Summary) -> Nanos {
    match metric {
        Metric::Latency(_, Statistic::Mean) => times.mean,
        Metric::Latency(_, Statistic::Percentile(percentile)) => {
            let above = PERCENTILES.iter().find(|kept| percentile.share() <= kept.share);
            above.map_or(times.max, |kept| (kept.of)(times))
        }
        // No other has a time for its limit.
        _ => times.max,
    }
}

fn of_service(metric: Metric) -> bool {
    matches!(metric, Metric::Latency(Time::Service, _))
}

/// A sample of the commonest failure in words.
fn failure(run: &Run) -> Option<String> {
    let (class, count) = run.totals.errors.occurred().max_by_key(|&(_, count)| count)?;
    let of_attempts = format!("{count} of {} attempts", run.totals.attempts);
    Some(match run.totals.error_samples.get(class.name()) {
        Some(sample) => format!("{of_attempts} failed by {} ({sample})", class.name()),
        None => format!("{of_attempts} failed by {}", class.name()),
    })
}

#[cfg(test)]
mod tests;
