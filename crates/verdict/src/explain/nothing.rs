//! The finding when no cause was found: that nothing was at its limit, or what to watch to know more.

use model::finding::Confidence;
use model::{Finding, ReasonCode, Role, Run};

use super::facts::{Facts, busy};
use super::server::room;
use crate::figures::{counted, grouped, often, percent};
use crate::offered::kept_up;
use crate::refused::request_at_fault;

/// When nothing is at its limit.
pub(super) const NONE: &str = "Nothing that was watched was at its limit, and the load was carried: the rate offered \
    was reached, or the server's processors had room. Raise the load (-c or -R) to find the limit. Where arrivals waited for one of the load's own \
    connections, those were the limit: raise -c.";
/// When something is at its limit and nobody knows what.
pub(super) const UNKNOWN: &str = "Something limits the run, or may do so, and what was watched does not tell what. The \
    finding names what to watch.";

/// The share of failures from which on a run is not in order.
const FAILING: f64 = 0.01;
/// The share of the offered rate that must be achieved.
const REACHED: f64 = 0.97;
/// The share of its processors up to which a server has room for sure.
const ROOM: f64 = 0.9;

/// The share of a machine in use from which on nobody on it has room.
const FULL: f64 = 0.95;

/// `none` or `unknown`.
pub(super) fn finding(facts: &Facts<'_>) -> Finding {
    let troubles = troubles(facts);
    let rooms: Vec<(String, f64)> = facts.servers.iter().filter_map(room).collect();
    let open = facts.run.plan.rate_per_s.is_some();
    let known = open || !rooms.is_empty();
    let mut evidence: Vec<String> = rooms.iter().map(|(said, _)| said.clone()).collect();
    if let Some(busy) = facts.generator().and_then(busy) {
        evidence.push(format!("the generator's machine used {} of its processors", percent(busy)));
    }
    if troubles.is_empty() && facts.used_once() {
        return burst(facts, evidence);
    }
    if troubles.is_empty() && known && rooms.iter().all(|(_, used)| *used < ROOM) {
        return none(facts, evidence);
    }
    unknown(facts, troubles, evidence)
}

fn unknown(facts: &Facts<'_>, troubles: Vec<String>, evidence: Vec<String>) -> Finding {
    // What carries out no request has no limit that watching would show.
    let at_fault = facts.doubts(ReasonCode::FastErrors).and_then(|_| request_at_fault(facts.run));
    let experiment = match at_fault {
        Some(_) => "Run the same load again when a single request succeeds.",
        None => "Run the same load again with what is missing watched or profiled.",
    };
    Finding {
        code: "unknown".to_owned(),
        confidence: Confidence::Low,
        place: "not known".to_owned(),
        sentence: match troubles.first() {
            Some(trouble) => {
                format!("{}. What was watched does not tell what limits the run.", capital(trouble))
            }
            None => {
                "What limits this run cannot be told from the generator's side alone.".to_owned()
            }
        },
        evidence_for: troubles,
        evidence_against: evidence,
        fix: at_fault.unwrap_or_else(|| what_to_watch(facts)),
        experiment: experiment.to_owned(),
        ..Finding::default()
    }
}

/// What hardly more requests than connections show.
fn burst(facts: &Facts<'_>, evidence: Vec<String>) -> Finding {
    let requests = counted(facts.run.totals.attempts as f64, "request");
    let connections = counted(f64::from(facts.run.plan.connections), "connection");
    let show = if facts.run.totals.attempts == 1 { "shows" } else { "show" };
    let sentence = format!(
        "Each connection was used once or twice: {requests} on {connections} {show} how a burst is \
         taken, and not what limits the server."
    );
    Finding {
        evidence_for: vec![format!("{requests}, {connections}")],
        sentence,
        fix: "Send many times as many requests as there are connections: a larger -n, or -d."
            .to_owned(),
        experiment:
            "Run it with ten times as many requests: each connection is used again and again."
                .to_owned(),
        ..unknown(facts, Vec::new(), evidence)
    }
}

fn none(facts: &Facts<'_>, mut evidence: Vec<String>) -> Finding {
    let run = facts.run;
    let taken = facts.doubts(ReasonCode::ConnectionsExhausted);
    let (sentence, fix) = match (run.plan.rate_per_s, taken) {
        (_, Some(taken)) => {
            evidence.insert(0, taken.to_owned());
            (
                "The load's own connections were the limit: all of them were taken, and what was to be sent waited for \
                 one. Nothing that was watched was at its limit.",
                "Give the load more connections (-c, --max-inflight), as many as the evidence says or more.",
            )
        }
        (Some(wanted), None) => {
            evidence.insert(
                0,
                format!(
                    "arrivals sent and answered: {} of {} a second",
                    grouped(run.rates.achieved_per_s, 0),
                    grouped(wanted, 0)
                ),
            );
            (
                "The load was carried, and nothing that was watched was at its limit.",
                "Raise the rate (-R) to find the limit, or let `plimsoll capacity` find it.",
            )
        }
        (None, None) => (
            "Nothing that was watched was at its limit: with more connections the server may carry more.",
            "Raise the connections (-c), or let `plimsoll sweep` find the best number.",
        ),
    };
    let fix = if taken.is_some() { fix } else { facts.onward.unwrap_or(fix) };
    Finding {
        code: "none".to_owned(),
        confidence: if facts.servers.is_empty() { Confidence::Low } else { Confidence::Medium },
        place: "nowhere".to_owned(),
        sentence: sentence.to_owned(),
        evidence_for: evidence,
        fix: fix.to_owned(),
        experiment: "Run it again with twice the load: QPS follows.".to_owned(),
        ..Finding::default()
    }
}

/// What is left of `none` where the experiment refuted it.
pub(super) fn refuted(facts: &Facts<'_>, none: &Finding) -> Finding {
    let said = none.confirmed.iter().map(|said| said.sentence.trim_end_matches('.').to_owned());
    let unknown = unknown(facts, said.collect(), none.evidence_for.clone());
    Finding { confirmed: none.confirmed.clone(), ..unknown }
}

/// What shows that the run was not in order.
fn troubles(facts: &Facts<'_>) -> Vec<String> {
    use ReasonCode::{ResponsesChanged, ServerGone, StarvedConnections};

    let run = facts.run;
    let mut troubles = Vec::new();
    // Who waits to connect again makes few attempts: time tells what the share of failed attempts hides.
    for code in [ServerGone, StarvedConnections, ResponsesChanged] {
        troubles.extend(facts.doubts(code).map(str::to_owned));
    }
    let failed = run.totals.attempts.saturating_sub(run.totals.succeeded);
    let failing = failed as f64 / run.totals.attempts.max(1) as f64;
    if failing >= FAILING {
        troubles.push(format!("{} of the attempts failed", percent(failing)));
    }
    let short = run.rates.achieved_per_s < REACHED * run.rates.offered_per_s;
    let taken = facts.doubts(ReasonCode::ConnectionsExhausted).is_some();
    if run.plan.rate_per_s.is_some() && short && !taken {
        troubles.push(format!(
            "arrivals sent: {} of {} a second",
            grouped(run.rates.achieved_per_s, 0),
            grouped(run.rates.offered_per_s, 0)
        ));
    }
    let shared = facts.servers.iter().any(|server| server.here);
    if let Some(busy) = facts.generator().and_then(busy).filter(|busy| shared && *busy >= FULL)
        && run.plan.rate_per_s.is_none()
    {
        troubles.push(format!(
            "{} of the machine that generator and server share was in use, by others too",
            percent(busy)
        ));
    }
    if !run.dips.is_empty() {
        troubles
            .push(format!("the server departed from its trend {}", often(run.dips.len() as f64)));
    }
    troubles
        .extend(facts.missed.iter().map(|missed| format!("an objective was missed ({missed})")));
    if !short && !taken && fell_behind(run) {
        troubles.push(format!(
            "{} of {} arrivals a second were answered within the window",
            grouped(run.rates.requests_per_s, 0),
            grouped(run.rates.offered_per_s, 0)
        ));
    }
    troubles
}

/// Whether single requests came faster than they were answered, though all may have been in the end. The window of a run that
/// ends by count lasts until they are.
fn fell_behind(run: &Run) -> bool {
    let few = run.rates.requests_per_s < REACHED * run.rates.offered_per_s;
    let by_time = run.plan.rate_per_s.is_some() && run.plan.requests.is_none();
    by_time && run.flows.is_empty() && few && !kept_up(run)
}

fn what_to_watch(facts: &Facts<'_>) -> String {
    if facts.servers.is_empty() {
        return format!("{}.", capital(Facts::how_to_watch()));
    }
    let watched = |role| facts.servers.iter().any(|server| server.source.role == role);
    let processes =
        facts.servers.iter().any(|server| server.source.figure("process.cpu_ns").is_some());
    let missing: Vec<&str> = [
        (processes, "the server's processes (app=local:pid=PID)"),
        (watched(Role::Proxy), "its proxy (proxy=nginx:URL,log=FILE)"),
        (facts.databases().count() > 0, "its database (db=postgres://… or db=mysql://…)"),
        (watched(Role::Cache), "its cache (cache=redis://…)"),
    ]
    .into_iter()
    .filter_map(|(watched, what)| (!watched).then_some(what))
    .collect();
    match missing.split_last() {
        None => {
            "Profile the server (plimsoll profile --help): where its time goes is in no counter."
                .to_owned()
        }
        Some((last, [])) => format!("Watch {last}, if there is one."),
        Some((last, others)) => {
            format!(
                "Watch what the server needs and was not watched: {} or {last}.",
                others.join(", ")
            )
        }
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
