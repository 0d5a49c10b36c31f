//! What a run's validity, and the load it asked for, leave undecided.
//!
//! A ruling stands unless there is a doubt. The directions differ:
//!
//! | the run is | objective | met | missed |
//! |---|---|---|---|
//! | `INVALID` | any | undecided | undecided, but for success and errors where the server's own failures are what makes it invalid |
//! | `LOWER_BOUND` | `qps` | decided: the server carries at least this | undecided: it may carry more |
//! | `LOWER_BOUND` | mean, response, in a closed loop without pace or think time | decided where users / QPS meets it too: by Little's law it can be no longer with a faster generator | as any latency |
//! | `LOWER_BOUND` | any latency | undecided: the server saw less than it was meant to | decided where connections alone were short and the service time misses it too; else undecided, as the generator's own time is in it |
//! | `LOWER_BOUND` | success, errors | undecided, likewise | decided where the failures that can only be the server's miss it alone |
//! | `INVALID` by the server alone | `available` | decided: the objective says how much absence is borne | decided |
//! | `LOWER_BOUND` | `available` | decided | decided where connections alone were short |
//! | any | response | undecided where it may be missed by arrivals that the window's end dropped; a percentile also by attempts that had no response | decided |
//! | any | `qps`, latency | undecided where it is met with the responses that failed, and may be missed without them | decided |
//! | any, in a closed loop or of sessions | response | undecided where it may be missed with the time of connecting | decided |
//! | any | `qps` | decided | undecided where every request sent had its response: more must be sent |
//! | any, in an open loop | response | decided | undecided where waiting for connections made it, and the service time meets it |
//! | not `VALID` | `stable` | undecided | undecided: the generator may have departed from its trend |
//! | not `VALID` | `valid` | undecided | undecided: what was measured is not the server's |

use model::units::{SECOND, show_duration};
use model::{ErrorClass, ReasonCode, Run, Verdict};

use super::figures::{Figures, Spread, Times};
use super::{Bound, Metric, Statistic};
use crate::blocks::Time;
use crate::figures::{counted, grouped, percent, rate};
use crate::offered::{SHORTFALL, kept_up};
use crate::validity::waits_for_connections;

/// Share of what was asked for that counts as all of it.
const ALL_THAT_WAS_ASKED: f64 = 0.99;
/// Connections opened for each attempt from which on users wait for them.
const SOME_OPENED: f64 = 0.01;

/// Why a ruling on `bound` cannot stand, if it cannot.
pub(super) fn doubt(run: &Run, figures: &Figures, bound: Bound, met: bool) -> Option<String> {
    let undecided = match run.validity.verdict {
        Verdict::Invalid => invalid(run, bound.metric, met),
        Verdict::LowerBound => lower_bound(run, figures, bound, met),
        Verdict::Valid => None,
    };
    undecided.or_else(|| match met {
        true => left_out(figures, bound)
            .or_else(|| helped_by_failures(figures, bound))
            .or_else(|| connecting(run, figures, bound)),
        false => too_little_asked(run, figures, bound).or_else(|| held_back(run, figures, bound)),
    })
}

/// Why the run says too little of the server's own trend, if so.
pub(super) fn doubt_of_trend(run: &Run) -> Option<String> {
    match run.validity.verdict {
        Verdict::Invalid => Some(not_believable(run)),
        Verdict::LowerBound => Some(saw_less(run)),
        Verdict::Valid => None,
    }
}

fn invalid(run: &Run, metric: Metric, met: bool) -> Option<String> {
    if metric == Metric::Served && !met {
        // Who was not served was not, whatever else is wrong with the figures.
        return None;
    }
    let counts = matches!(metric, Metric::Success | Metric::Available | Metric::Errors(_));
    let servers_own = [ReasonCode::FastErrors, ReasonCode::NoResponses, ReasonCode::ServerGone];
    let by_server = codes(run, Verdict::Invalid).all(|code| servers_own.contains(&code));
    if metric == Metric::Available && by_server {
        return None;
    }
    (met || !counts || !by_server).then(|| not_believable(run))
}

fn lower_bound(run: &Run, figures: &Figures, bound: Bound, met: bool) -> Option<String> {
    let connections_alone =
        codes(run, Verdict::LowerBound).all(|code| code == ReasonCode::ConnectionsExhausted);
    let decided = match (bound.metric, met) {
        (Metric::Qps, met) => met,
        (Metric::Latency(Time::Response, Statistic::Mean), true) => {
            meets_by_law(run, figures, bound)
        }
        (Metric::Available, met) => met || connections_alone,
        (_, true) => false,
        (Metric::Served, false) => connections_alone,
        (Metric::Latency(_, statistic), false) => {
            connections_alone && service_misses(figures, bound, statistic)
        }
        (Metric::Success | Metric::Errors(_) | Metric::Achieved, false) => {
            servers_failures_miss(figures, bound, connections_alone)
        }
    };
    match (decided, bound.metric, met) {
        (true, ..) => None,
        (false, Metric::Qps, _) => Some(format!(
            "the run is a LOWER_BOUND ({}), so the server may carry more",
            names(run, Verdict::LowerBound)
        )),
        (false, _, true) => Some(saw_less(run)),
        (false, _, false) => Some(format!(
            "the run is a LOWER_BOUND ({}), and what made it one may have caused this",
            names(run, Verdict::LowerBound)
        )),
    }
}

/// Whether the mean of a closed loop whose users do nothing but ask is met however fast the generator is. Part of each
/// user's time is the generator's, and with a faster one more requests stand before the server at once; but Little's law
/// ties users, throughput and mean, and the throughput is at least this. Of one endpoint it says nothing.
fn meets_by_law(run: &Run, figures: &Figures, bound: Bound) -> bool {
    let plan = &run.plan;
    let unpaced = plan.rate_per_s.is_none() && plan.pace_ns.is_none() && plan.think_ns.is_none();
    let whole = figures.attempts == run.totals.attempts;
    let users = f64::from(plan.connections) * f64::from(plan.pipeline);
    let longest_ns = users / figures.requests_per_s.max(f64::MIN_POSITIVE) * SECOND as f64;
    unpaced && whole && bound.relation.holds(longest_ns, bound.limit.value())
}

fn service_misses(figures: &Figures, bound: Bound, statistic: Statistic) -> bool {
    let service = Metric::Latency(Time::Service, statistic);
    figures.measure(service, bound.limit).is_some_and(|measured| {
        let low = match measured.spread {
            Spread::Interval(estimate) => estimate.low,
            Spread::None => measured.value,
            Spread::Unknown(_) => return false,
        };
        !bound.relation.holds(low, bound.limit.value())
    })
}

/// Whether the objective is missed by failures alone that are the server's whatever the generator did:
/// responses with a status or content of failure; where only connections were short, also time-outs and
/// broken responses.
fn servers_failures_miss(figures: &Figures, bound: Bound, connections_alone: bool) -> bool {
    let servers = |class: &ErrorClass| match class {
        ErrorClass::Status | ErrorClass::Check => true,
        ErrorClass::Connect | ErrorClass::Dns => false,
        _ => connections_alone,
    };
    let classes: Vec<ErrorClass> = match bound.metric {
        Metric::Errors(Some(class)) => vec![class],
        _ => ErrorClass::ALL.to_vec(),
    };
    let of = |&class: &ErrorClass| figures.errors.of(class) as f64;
    let failed: f64 = classes.iter().filter(|&class| servers(class)).map(of).sum();
    let share = failed / figures.attempts.max(1) as f64;
    let value = match (bound.metric, bound.limit) {
        (Metric::Success, _) => 1.0 - share,
        (_, super::Limit::Count(_)) => failed,
        _ => share,
    };
    !bound.relation.holds(value, bound.limit.value())
}

/// Attempts without a response time, where they may miss an objective that the others meet: arrivals that the window's end
/// dropped came behind all that had to wait; who was cut off, or was still waiting when the run ended, was not answered
/// in time, whatever the limit.
fn left_out(figures: &Figures, bound: Bound) -> Option<String> {
    let Metric::Latency(Time::Response, statistic) = bound.metric else { return None };
    let timed = figures.response.summary.count;
    let (dropped, without) = (figures.untimed, figures.attempts.saturating_sub(timed));
    if without == 0 || !bound.relation.is_upper() {
        return None;
    }
    let met = match statistic {
        Statistic::Percentile(percentile) => {
            let all = without as f64 + timed as f64;
            within(&figures.response, bound) >= percentile.share() * all
        }
        // A few are in the workers' hands as the window ends.
        Statistic::Mean | Statistic::Max => {
            dropped as f64 <= SHORTFALL * (dropped as f64 + timed as f64)
        }
    };
    let words = match dropped.saturating_mul(2) >= without {
        true => format!(
            "the window ended with {} unsent, whose wait is in no response time",
            counted(dropped as f64, "arrival")
        ),
        false => format!(
            "{} of {} had no response, and no response time tells of that",
            grouped(without as f64, 0),
            counted(figures.attempts as f64, "attempt")
        ),
    };
    (!met).then_some(words)
}

/// How many of these times are on the right side of a limit.
fn within(times: &Times, bound: Bound) -> f64 {
    let held = times.latencies.recorded();
    let held = held.filter(|&(ns, _)| bound.relation.holds(ns as f64, bound.limit.value()));
    held.map(|(_, n)| n as f64).sum()
}

/// Responses that failed, where they are what meets an objective: a server that turns requests away does it quickly, and
/// often.
fn helped_by_failures(figures: &Figures, bound: Bound) -> Option<String> {
    let failed = [ErrorClass::Status, ErrorClass::Check].map(|class| figures.errors.of(class));
    let failed = failed[0].saturating_add(failed[1]) as f64;
    let succeeded = figures.succeeded as f64;
    let upper = bound.relation.is_upper();
    let holds = |value: f64| bound.relation.holds(value, bound.limit.value());
    match bound.metric {
        _ if failed == 0.0 => None,
        Metric::Qps if !upper => {
            let carried = figures.requests_per_s * succeeded / (succeeded + failed);
            (!holds(carried)).then(|| {
                format!(
                    "{}/s of the responses succeeded, and the others are failures: it is met with them alone",
                    rate(carried)
                )
            })
        }
        Metric::Latency(time, statistic) if upper => {
            let times = if time == Time::Response { &figures.response } else { &figures.service };
            // At worst the failures are the quickest.
            let (timed, mean) = (times.summary.count as f64, times.summary.mean as f64);
            let others = (timed - failed).max(0.0);
            let met = match statistic {
                Statistic::Percentile(percentile) => {
                    within(times, bound) - failed >= percentile.share() * others
                }
                Statistic::Mean => holds(mean * timed / others),
                Statistic::Max => true,
            };
            (!met).then(|| {
                format!(
                    "{} of {} responses failed, which is often quicker: without them this may be missed",
                    grouped(failed, 0),
                    grouped(succeeded + failed, 0)
                )
            })
        }
        _ => None,
    }
}

/// Connecting, which is in no latency of a closed loop, nor of the later steps of sessions: where it may miss an objective
/// that the rest meets.
fn connecting(run: &Run, figures: &Figures, bound: Bound) -> Option<String> {
    let Metric::Latency(Time::Response, statistic) = bound.metric else { return None };
    let each = run.opened_each();
    let value = figures.measure(bound.metric, bound.limit)?.value;
    let (connect, tls) = (&run.connect_ns, &run.tls_ns);
    let (took, affects) = match statistic {
        Statistic::Mean => (each * (connect.mean as f64 + tls.mean as f64), each >= SOME_OPENED),
        Statistic::Percentile(percentile) => {
            (connect.p99 as f64 + tls.p99 as f64, each > 1.0 - percentile.share())
        }
        Statistic::Max => (connect.max as f64 + tls.max as f64, each >= SOME_OPENED),
    };
    let missed =
        bound.relation.is_upper() && !bound.relation.holds(value + took, bound.limit.value());
    let lacking = match run.plan.rate_per_s {
        None => {
            "is in no latency of a closed loop: with it this may be missed; an open loop (-R) counts it"
        }
        Some(_) => "is in no latency of a session's later steps: with it this may be missed",
    };
    (affects && missed).then(|| {
        format!(
            "{} of the requests opened a connection first, which took up to {} (p99) and {lacking}",
            percent(each),
            show_duration(connect.p99.saturating_add(tls.p99))
        )
    })
}

/// A response time that is missed for want of connections, where the service time meets the objective.
fn held_back(run: &Run, figures: &Figures, bound: Bound) -> Option<String> {
    let Metric::Latency(Time::Response, statistic) = bound.metric else { return None };
    let service = figures.measure(Metric::Latency(Time::Service, statistic), bound.limit)?;
    let served =
        bound.relation.is_upper() && bound.relation.holds(service.value, bound.limit.value());
    (served && waits_for_connections(run)).then(|| {
        "every connection was in use, and the service time meets it: use more connections (-c)"
            .to_owned()
    })
}

/// A throughput that is missed because no more was asked for.
fn too_little_asked(run: &Run, figures: &Figures, bound: Bound) -> Option<String> {
    if bound.metric != Metric::Qps {
        return None;
    }
    if run.plan.think_ns.is_some() {
        return Some("the users' think time sets the pace: use more users (-c)".to_owned());
    }
    let (asked, more) = match (run.plan.rate_per_s, run.plan.pace_ns) {
        (Some(_), _) => {
            let part = figures.attempts as f64 / run.totals.attempts.max(1) as f64;
            (run.rates.offered_per_s * part, "-R")
        }
        (None, Some(pace_ns)) if pace_ns > 0 => {
            (f64::from(run.plan.connections) * 1e9 / pace_ns as f64, "-c, or a shorter --pace")
        }
        _ => return None,
    };
    // The responses to the last requests come after the window: with them, users that kept their pace had all they asked for.
    let failed = [ErrorClass::Status, ErrorClass::Check].map(|class| figures.errors.of(class));
    let responses = failed.into_iter().fold(figures.succeeded, u64::saturating_add) as f64;
    let responses_per_s = responses * SECOND as f64 / figures.duration_ns.max(1) as f64;
    let paced = run.plan.rate_per_s.is_none() && responses_per_s >= ALL_THAT_WAS_ASKED * asked;
    let answered = figures.requests_per_s >= ALL_THAT_WAS_ASKED * asked;
    (answered || paced || kept_up(run)).then(|| {
        format!("the server answered all of the {}/s it was sent: send more ({more})", rate(asked))
    })
}

fn codes(run: &Run, consequence: Verdict) -> impl Iterator<Item = ReasonCode> + '_ {
    let of = move |reason: &&model::Reason| reason.consequence == consequence;
    run.validity.reasons.iter().filter(of).map(|reason| reason.code)
}

fn names(run: &Run, consequence: Verdict) -> String {
    codes(run, consequence).map(ReasonCode::name).collect::<Vec<_>>().join(", ")
}

fn not_believable(run: &Run) -> String {
    format!("the run is INVALID ({})", names(run, Verdict::Invalid))
}

fn saw_less(run: &Run) -> String {
    format!(
        "the run is a LOWER_BOUND ({}), so the server saw less than it was meant to",
        names(run, Verdict::LowerBound)
    )
}
