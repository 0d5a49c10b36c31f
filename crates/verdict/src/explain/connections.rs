//! Rules about connections: whether they are kept alive, what TLS costs, and what turns requests away.

use model::Run;
use model::finding::Confidence::{High, Medium};
use model::units::show_duration;

use super::facts::{Facts, nginx_said};
use super::{Cause, Outcome, proxy};
use crate::figures::{counted, grouped, percent};

/// Connections per request from which on keep-alive is off: a connection that serves two requests is none.
const OFF: f64 = 0.5;
/// Full handshakes per request from which on they can matter.
const HANDSHAKES: f64 = 0.2;
/// The share of users' time that must go into something for it to be a limit.
const MATTERS: f64 = 0.2;
/// The share of attempts that a server must refuse for their version of TLS: none is by chance, one of several servers
/// may be the one.
const REFUSED: f64 = 0.01;
/// Requests that a run must have for shares to mean anything.
const FEWEST: u64 = 100;
/// The share of responses 429 from which on a limit is met; 503 has other causes too.
const LIMITED: (f64, f64) = (0.01, 0.05);
/// How steady successes are under a limit: their deviation from second to second over their mean.
const STEADY: f64 = 0.15;

pub(super) fn keepalive_off(facts: &Facts<'_>) -> Outcome {
    let (run, totals) = (facts.run, &facts.run.totals);
    let per_request = totals.connects as f64 / totals.requests.max(1) as f64;
    if totals.requests < FEWEST || per_request < OFF {
        return Outcome::Absent;
    }
    let by_server = totals.server_closes as f64 / totals.requests as f64 >= OFF;
    // Each connection is opened once, whatever becomes of it: where there are hardly more requests, that is most of them.
    let again = totals.connects.saturating_sub(run.plan.connections.into()) as f64;
    let failing = again > 0.0 && totals.errors.total() as f64 >= OFF * again;
    let who = match () {
        () if !run.plan.keepalive => {
            "the generator was told to (--no-keepalive, `Connection: close`)"
        }
        () if by_server => "the server closes it",
        () if failing => "attempts fail on it",
        () => return Outcome::Absent,
    };
    let sentence = format!("Nearly every request opens a connection of its own, because {who}.");
    let spent =
        share_of_time(run, run.connect_ns.mean.saturating_add(run.tls_ns.mean), per_request);
    // What was asked for is no fault of anybody's.
    let confidence = if run.plan.keepalive { High } else { Medium };
    let cause = Cause::new(confidence, "connections", sentence)
        .weighing(0.5 + spent / 2.0)
        .with(format!(
            "{} connections for {} responses",
            grouped(totals.connects as f64, 0),
            grouped(totals.requests as f64, 0)
        ))
        .with(format!(
            "connecting takes {}, a response {}, both on average",
            show_duration(run.connect_ns.mean.saturating_add(run.tls_ns.mean)),
            show_duration(run.service_ns.mean)
        ));
    Outcome::one(Some(cause))
}

/// The share of users' time that something takes which happens so often per request.
fn share_of_time(run: &Run, takes_ns: u64, per_request: f64) -> f64 {
    let spent = takes_ns as f64 * per_request;
    let all = spent + run.service_ns.mean as f64;
    if all > 0.0 { spent / all } else { 0.0 }
}

pub(super) fn tls_handshake(facts: &Facts<'_>) -> Outcome {
    let (run, totals) = (facts.run, &facts.run.totals);
    if run.plan.tls.is_none() {
        return Outcome::Absent;
    }
    let full = run.tls_ns.count.saturating_sub(totals.tls_resumed.unwrap_or(0));
    let per_request = full as f64 / totals.requests.max(1) as f64;
    let spent = share_of_time(run, run.tls_ns.mean, per_request);
    let found = totals.requests >= FEWEST && per_request >= HANDSHAKES && spent >= MATTERS;
    let cause = found.then(|| {
        let sentence = format!(
            "Users spend {} of their time on full TLS handshakes, which cost the server processor time too.",
            percent(spent)
        );
        Cause::new(High, "connections", sentence).weighing(spent).with(format!(
            "{} full handshakes for {} responses, {} each",
            grouped(full as f64, 0),
            grouped(totals.requests as f64, 0),
            show_duration(run.tls_ns.mean)
        ))
    });
    Outcome::one(cause)
}

pub(super) fn tls_version(facts: &Facts<'_>) -> Outcome {
    let run = facts.run;
    let sample = run.totals.error_samples.get("tls").map(String::as_str).unwrap_or_default();
    let words = sample.to_ascii_lowercase().replace([' ', '_'], "");
    let of_version = ["protocolversion", "unsupportedversion", "tls1", "peerisincompatible"];
    let failed = run.totals.errors.tls as f64 / run.totals.attempts.max(1) as f64;
    let found = failed >= REFUSED && of_version.iter().any(|word| words.contains(word));
    let cause = found.then(|| {
        let offered = run.plan.tls.as_ref().map_or_else(String::new, |tls| {
            format!("the generator offers TLS {} to {}", tls.min, tls.max)
        });
        let sentence =
            match failed >= MATTERS {
                true => "Generator and server have no TLS version in common: connections fail before any request.",
                false => "Some of the servers behind this address have no TLS version in common with the generator: their \
                          connections fail before any request.",
            };
        Cause::new(High, "connections", sentence.to_owned())
            .weighing(failed.max(0.5))
            .with(format!("{} of the attempts failed by TLS: {sample}", percent(failed)))
            .with(offered)
    });
    Outcome::one(cause)
}

/// The share of the requests that must fail for a name that a proxy cannot resolve.
const UNRESOLVED: f64 = 0.001;

/// The generator resolves the target's name once, before the run; a proxy may resolve its upstream's again and again.
pub(super) fn dns(facts: &Facts<'_>) -> Outcome {
    let requests = facts.run.totals.requests as f64;
    let judged: Vec<Option<Cause>> = facts
        .servers
        .iter()
        .filter_map(|server| {
            let failed = nginx_said(server.source, "name not resolved")?;
            let found = failed >= 1.0 && failed >= UNRESOLVED * requests && facts.some_failed();
            Some(found.then(|| {
                let sentence = format!(
                    "nginx cannot resolve the name of its upstream, for which {} failed.",
                    counted(failed, "request")
                );
                Cause::new(High, &server.source.name, sentence)
                    .weighing(0.95)
                    .with(format!(
                        "{} `could not be resolved` in its error log",
                        counted(failed, "line")
                    ))
                    .with(format!("{} of the responses are 502", percent(facts.status_share(502))))
            }))
        })
        .collect();
    match judged.is_empty() {
        true => Outcome::Lacking(
            "names that servers look up are not seen from outside (the generator resolves its own once, before the \
             run): add a proxy's error log, --observe proxy=nginx:URL,log=FILE"
                .to_owned(),
        ),
        false => Outcome::of(judged.into_iter().flatten().collect()),
    }
}

pub(super) fn rate_limited(facts: &Facts<'_>) -> Outcome {
    let (limited, unavailable) = (facts.status_share(429), facts.status_share(503));
    if limited >= LIMITED.0 {
        let sentence =
            format!("A rate limit answers {} of the requests with 429.", percent(limited));
        let cause = Cause::new(High, "server or proxy", sentence).weighing(0.5 + limited / 2.0);
        return Outcome::one(Some(cause.with(per_status(facts.run, 429))));
    }
    let steady = successes(facts.run);
    let (Some((per_s, deviation)), true) = (steady, unavailable >= LIMITED.1) else {
        return Outcome::one(proxy::holds_back(facts, steady));
    };
    let cause = (deviation <= STEADY).then(|| {
        let sentence = format!(
            "A rate limit is likely: {} of the responses are 503, while successes hold at {} a second.",
            percent(unavailable),
            grouped(per_s, 0)
        );
        let known = facts.servers.iter().filter_map(|server| server.used());
        let busiest = known.reduce(f64::max);
        let busy = busiest.filter(|used| *used >= 0.9);
        Cause::new(Medium, "server or proxy", sentence)
            .weighing(0.5 + unavailable / 2.0)
            .with(per_status(facts.run, 503))
            .with(format!(
                "successes differ by {} from second to second",
                percent(deviation)
            ))
            .against(busy.map(|used| {
                format!("the server uses {} of its processors, and may shed load by itself", percent(used))
            }))
    });
    Outcome::one(cause)
}

fn per_status(run: &Run, status: u16) -> String {
    let n = run.totals.statuses.get(&status).copied().unwrap_or(0);
    format!(
        "{} of {} responses were {status}",
        grouped(n as f64, 0),
        grouped(run.totals.requests as f64, 0)
    )
}

/// Successes per second: their mean over whole seconds of the window, and their deviation over it.
fn successes(run: &Run) -> Option<(f64, f64)> {
    let whole = run.timeline.iter().filter(|point| point.phase == "window");
    let per_s: Vec<f64> = whole
        .filter(|point| point.duration_ns >= model::units::SECOND / 2)
        .map(|point| {
            let failed = point.failed as f64 * 1e9 / point.duration_ns as f64;
            (point.requests_per_s - failed).max(0.0)
        })
        .collect();
    let n = per_s.len() as f64;
    let mean = per_s.iter().sum::<f64>() / n;
    let squares = per_s.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (per_s.len() >= 5 && mean > 0.0).then(|| (mean, (squares / n).sqrt() / mean))
}

#[cfg(test)]
mod tests {
    use model::Run;
    use model::units::MILLISECOND;

    use crate::explain::explain;
    use crate::explain::tests::codes;

    /// So many requests, each on a connection of its own, of at most so many at once.
    fn once(requests: u64, connections: u32) -> Run {
        let mut run = fixture::sound::closed();
        run.plan.connections = connections;
        let totals = &mut run.totals;
        (totals.requests, totals.attempts, totals.connects) = (requests, requests, requests);
        totals.succeeded = requests;
        totals.statuses = [(200, requests)].into();
        run
    }

    #[test]
    fn connections_that_are_used_once_for_lack_of_requests_are_kept_alive() {
        let off = |run: &Run| codes(run)[0] == "conn.keepalive_off";
        let run = once(200, 200);
        let findings = explain(&run).findings;
        assert_eq!(findings[0].code, "unknown", "{findings:?}");
        assert!(
            findings[0].sentence.contains("used once or twice: 200 requests on 200"),
            "{findings:?}"
        );
        let mut closed = once(200, 200);
        closed.totals.server_closes = 200;
        assert!(off(&closed), "the server said so");
        let mut failing = once(10_000, 10);
        failing.totals.errors.timeout = 9_000;
        assert!(off(&failing));
        let mut told = once(200, 200);
        told.plan.keepalive = false;
        assert!(off(&told));
    }

    #[test]
    fn connections_that_wait_for_one_another_tell_no_distance() {
        let far = |requests: u64, address: &str| {
            let mut run = once(requests, 100);
            run.plan.addresses = vec![address.to_owned()];
            (run.totals.connects, run.connect_ns.count) = (requests.min(100), requests.min(100));
            (run.connect_ns.min, run.service_ns.min) = (5 * MILLISECOND, 5 * MILLISECOND);
            run.service_ns.p50 = 6 * MILLISECOND;
            let findings = explain(&run).findings;
            findings.iter().any(|finding| finding.code == "network.latency")
        };
        assert!(far(1000, "10.0.0.7:80"));
        assert!(!far(50, "10.0.0.7:80"), "all connect at once, and that is all they do");
        assert!(!far(1000, "127.0.0.1:80"), "there is no way to this machine");
    }
}
