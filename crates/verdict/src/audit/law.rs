//! Little's law: requests in flight = QPS x mean latency, and no more can be than have a connection.

use model::units::{SECOND, show_duration};
use model::{Claim, Latency, LoopKind, Tool};

use super::outcome::HEY_KEEPS;
use super::{Found, Severity};
use crate::figures::{counted, grouped, rate};

/// How far above the cap QPS x mean may come out by rounding.
const TOLERANCE: f64 = 1.05;
/// Share of the cap in flight up to which most connections are idle.
const IDLE: f64 = 0.5;

/// Requests in flight at the least and at the most, given the digits of the mean, and the cap.
fn in_flight(claim: &Claim) -> Option<[f64; 3]> {
    let (mean_ns, cap) = (claim.mean_ns?, claim.in_flight_cap()?);
    let of = |ns: u64| claim.qps * ns as f64 / SECOND as f64;
    let error_ns = claim.error_ns;
    Some([of(mean_ns.saturating_sub(error_ns)), of(mean_ns.saturating_add(error_ns)), cap])
}

/// What breaking the law means for a row; `None` where it does not bind.
fn binds(claim: &Claim) -> Option<Severity> {
    match (claim.loop_kind, claim.latency) {
        (LoopKind::Closed, Latency::Response | Latency::Service) => Some(Severity::Impossible),
        (LoopKind::Closed, Latency::Either) | (LoopKind::Users, _) => Some(Severity::Doubtful),
        // Only Plimsoll's results state a service time together with the cap of requests in flight.
        (LoopKind::Open, Latency::Service) if claim.most_in_flight.is_some() => {
            Some(Severity::Impossible)
        }
        (LoopKind::Open, _) => None,
    }
}

fn breaks(claim: &Claim, in_flight: f64, cap: f64) -> bool {
    in_flight > TOLERANCE * cap * claim.edges
}

pub(super) fn exceeded(tool: Tool, claim: &Claim) -> Option<Found> {
    let severity = binds(claim)?;
    let [least, _, cap] = in_flight(claim)?;
    if !breaks(claim, least, cap) {
        return None;
    }
    let (shown, mean_ns) = (claim.in_flight()?, claim.mean_ns?);
    let evidence = format!(
        "{}/s x {} is {} requests in flight, of {} possible: {:.2} times",
        rate(claim.qps),
        show_duration(mean_ns),
        grouped(shown, 0),
        grouped(cap, 0),
        shown / cap
    );
    Some((severity, evidence, exceeded_cause(tool, claim)))
}

fn exceeded_cause(tool: Tool, claim: &Claim) -> Option<String> {
    let cause = match tool {
        Tool::Hey if claim.requests.is_some_and(|n| n > HEY_KEEPS) => {
            "hey's average, which is too high beyond a million requests"
        }
        Tool::Wrk | Tool::Wrktest => {
            "wrk's correction for coordinated omission: before it prints, wrk adds synthetic \
             samples above the mean to the latencies of its closed loop, so that mean and \
             percentiles come out too high. A script that pipelines requests would look the same"
        }
        Tool::Hey => "hey ran with more connections than were given here, or over HTTP/2",
        Tool::Oha => "oha ran with --latency-correction, -p or more connections than given here",
        Tool::K6 => "users that send several requests at once (http.batch)",
        Tool::Jmeter => {
            "files of several engines were put together: the threads are those of one, or samples \
             hold parallel downloads"
        }
        Tool::Locust => {
            "users that send several requests at once, or more users than were given here"
        }
        Tool::Ab | Tool::Wrk2 | Tool::Vegeta | Tool::Csv | Tool::Plimsoll => return None,
    };
    Some(cause.to_owned())
}

pub(super) fn idle(tool: Tool, claim: &Claim) -> Option<Found> {
    let [_, most, cap] = in_flight(claim)?;
    let below = claim.mean_ns == Some(0) && claim.error_ns > 0;
    let nothing = claim.qps == 0.0 || claim.mean_ns == Some(0) && !below;
    if claim.loop_kind == LoopKind::Open || nothing || most > IDLE * cap {
        return None;
    }
    let (sign, shown) = if below { ("<", most) } else { ("", claim.in_flight()?) };
    // Below ten a whole number would hide the difference.
    let decimals = if cap < 10.0 || below && shown < 1.0 { 2 } else { 0 };
    let evidence = format!(
        "most connections idle: {sign}{} of {} in flight",
        grouped(shown, decimals),
        grouped(cap, 0)
    );
    let severity = if claim.pauses { Severity::Note } else { Severity::Doubtful };
    Some((severity, evidence, idle_cause(tool, claim.pauses)))
}

fn idle_cause(tool: Tool, pauses: bool) -> Option<String> {
    let cause = match tool {
        _ if pauses => "pauses between requests",
        Tool::Wrk | Tool::Wrktest => {
            "connections that never opened or hung without a response, or wrk itself: under load it \
             starts its clock late, and its mean comes out too low"
        }
        Tool::Plimsoll => "connections that never opened or hung without a response",
        _ => {
            "the tool was the limit (its own work took the rest of the time), it kept a \
             fixed rate, or connections never opened"
        }
    };
    Some(cause.to_owned())
}

pub(super) fn unknown(_: Tool, claim: &Claim) -> Option<Found> {
    let applies = claim.loop_kind != LoopKind::Open
        && claim.in_flight_cap().is_none()
        && claim.mean_ns.is_some();
    applies.then(|| {
        let shown = claim.in_flight().unwrap_or(0.0);
        let evidence = format!(
            "{} requests were in flight, on an unknown number of connections",
            grouped(shown, 1)
        );
        (Severity::Note, evidence, None)
    })
}

pub(super) fn waited(_: Tool, claim: &Claim) -> Option<Found> {
    let [least, _, cap] = in_flight(claim)?;
    let applies =
        claim.loop_kind == LoopKind::Open && binds(claim).is_none() && breaks(claim, least, cap);
    applies.then(|| {
        let shown = grouped(claim.in_flight().unwrap_or(0.0), 0);
        let cap = counted(cap, "connection");
        let evidence = format!("{shown} requests were due and unanswered, on {cap}");
        (Severity::Note, evidence, None)
    })
}

pub(super) fn coarse(_: Tool, claim: &Claim) -> Option<Found> {
    let [least, most, cap] = in_flight(claim)?;
    let bound = binds(claim).is_some();
    if !bound || breaks(claim, least, cap) || !breaks(claim, most, cap) {
        return None;
    }
    let evidence = format!(
        "the mean is exact to {} only: from {} to {} of {} in flight",
        show_duration(claim.error_ns),
        grouped(least, 0),
        grouped(most, 0),
        grouped(cap, 0)
    );
    Some((Severity::Note, evidence, None))
}
