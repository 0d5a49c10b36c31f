//! Rules about proxies, by what nginx's page and its error log tell.

use model::Role;
use model::finding::Confidence::{High, Medium};
use model::observed::ObservedSource;

use super::facts::{Facts, nginx_said};
use super::{Cause, Outcome};
use crate::figures::grouped;

/// Connections that a proxy opens for a request from which on it keeps none to its upstream, and those that clients may
/// open meanwhile.
const OPENED: (f64, f64) = (0.8, 0.5);
/// Connections for a request above which they are not the requests' own.
const OPENED_MOST: f64 = 2.0;
/// The part of the requests that a proxy must have seen for them to pass through it.
const PASSED: f64 = 0.5;
/// Requests that a run must have for shares to mean anything.
const FEWEST: u64 = 100;

pub(super) fn upstream_keepalive(facts: &Facts<'_>) -> Outcome {
    let (run, totals) = (facts.run, &facts.run.totals);
    let own_per_s = totals.connects as f64 / facts.window_s().max(f64::MIN_POSITIVE);
    let judged: Vec<Option<Cause>> = facts
        .servers
        .iter()
        .filter(|server| server.source.role == Role::Proxy)
        .filter_map(|server| {
            // A page of this machine tells nothing of it; the generator's own source does.
            let here = server.here || is_of_this_machine(server.source);
            let host = server.host.or_else(|| facts.generator().filter(|_| here))?;
            let opened = host.mean("tcp.active_opens")? - if here { own_per_s } else { 0.0 };
            let requests_per_s = facts.requests_per_s()?;
            let (each, own) = (opened / requests_per_s, own_per_s / requests_per_s);
            // Where nginx counts its requests, ours must be among them, and one takes one connection.
            let seen = server.source.mean("nginx.requests").map(|seen| seen / requests_per_s);
            let ours = seen.is_none_or(|seen| seen >= PASSED) && each <= OPENED_MOST;
            let found =
                each >= OPENED.0 && own < OPENED.1 && totals.requests >= FEWEST && ours;
            Some(found.then(|| {
                let sentence = "The proxy opens a connection to its upstream for nearly every request.";
                Cause::new(Medium, &server.source.name, sentence.to_owned())
                    .weighing(0.5)
                    .with(format!(
                        "its machine opened {} connections a second beside ours, for {} requests a second",
                        grouped(opened, 0),
                        grouped(run.rates.requests_per_s, 0)
                    ))
                    .against(Some("other programs of that machine may open them too".to_owned()))
            }))
        })
        .collect();
    match judged.is_empty() {
        true => Outcome::Lacking(
            "no proxy's machine was watched: add --observe proxy=local:name=nginx there (exec: from elsewhere)".to_owned(),
        ),
        false => Outcome::of(judged.into_iter().flatten().collect()),
    }
}

fn is_of_this_machine(source: &ObservedSource) -> bool {
    ["nginx:http://127.", "nginx:http://localhost", "nginx:http://[::1]", "nginx:log="]
        .iter()
        .any(|form| source.read_from.starts_with(form))
}

pub(super) fn worker_connections(facts: &Facts<'_>) -> Outcome {
    let judged: Vec<Option<Cause>> = facts
        .servers
        .iter()
        .filter_map(|server| {
            let dropped = server.source.growth("nginx.dropped");
            let said = nginx_said(server.source, "worker_connections");
            let (dropped, said) = match (dropped, said) {
                (None, None) => return None,
                (dropped, said) => (dropped.unwrap_or(0.0), said.unwrap_or(0.0)),
            };
            Some((dropped.max(said) >= 1.0 && facts.some_failed()).then(|| {
                let sentence = format!(
                    "nginx had no room for {} connections: its worker_connections are used up.",
                    grouped(dropped.max(said), 0)
                );
                let mut cause = Cause::new(High, &server.source.name, sentence).weighing(0.9);
                if said >= 1.0 {
                    cause = cause.with(format!(
                        "{} lines `worker_connections are not enough` in its error log",
                        grouped(said, 0)
                    ));
                }
                if dropped >= 1.0 {
                    cause = cause.with(format!(
                        "{} connections were accepted and closed at once",
                        grouped(dropped, 0)
                    ));
                }
                match server.source.figure("nginx.active") {
                    Some(active) => cause
                        .with(format!("up to {} connections were open", grouped(active.max, 0))),
                    None => cause,
                }
            }))
        })
        .collect();
    match judged.is_empty() {
        true => Outcome::Lacking(
            "no nginx was watched: add --observe proxy=nginx:http://HOST/stub_status,log=/var/log/nginx/error.log"
                .to_owned(),
        ),
        false => Outcome::of(judged.into_iter().flatten().collect()),
    }
}
