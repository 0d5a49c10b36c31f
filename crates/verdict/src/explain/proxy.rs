//! Rules about proxies, by what nginx's page and its error log tell.

use model::Role;
use model::finding::Confidence::{High, Medium};
use model::observed::ObservedSource;

use model::units::{MILLISECOND, show_duration};

use super::facts::{Facts, Server, nginx_said};
use super::{Cause, Outcome, THE_TARGETS, held_up};
use crate::figures::{counted, grouped, percent};

/// Connections that a proxy opens for a request from which on it keeps none to its upstream, and their part of those that
/// clients open meanwhile below which they may be clients' that failed.
const OPENED: (f64, f64) = (0.8, 0.25);
/// Connections for a request above which they are not the requests' own.
const OPENED_MOST: f64 = 2.0;
/// What proxies say of themselves: a limit is met, no connection is free.
const REFUSALS: [u16; 3] = [429, 500, 503];
/// The part of the requests that a proxy must have seen for them to pass through it.
const PASSED: f64 = 0.5;
/// Requests that a run must have for shares to mean anything.
const FEWEST: u64 = 100;

/// Bytes that a proxy writes to disk for a request from which on it keeps a log of each: a line has some 100.
const LOGGED_BYTES: f64 = 80.0;
/// Bytes from which on writing them takes a good part of a proxy's own work of some 20 us a request.
const LOGGED_MUCH_BYTES: f64 = 1024.0;
/// The share of a core that its busiest thread must use meanwhile, and that of the disk's time that must be used.
const LIMITS: (f64, f64) = (0.85, 0.9);

/// The part of the requests that nginx's log must call delayed.
const DELAYED: f64 = 0.2;
/// How little successes may differ from second to second where requests are let through one by one, over their mean.
const EVEN: f64 = 0.05;
/// The part of the requests on their way that nginx must have; the part of a response's time that must pass before its
/// first byte (behind it, bodies are sent slowly); and how many connections to others for each such request, and how much
/// of a core, it may use meanwhile.
const HELD: (f64, f64, f64) = (0.6, 0.8, 0.5);
/// How long a request must take, and how many must be on their way, for samples to see them.
const HELD_NS: u64 = 20 * MILLISECOND;
const HELD_LEAST: f64 = 3.0;
/// What to do about requests that wait for their turn.
const NODELAY: &str = "Raise the rate of limit_req_zone, or exempt the generator's address for the test (a geo block with \
    an empty key); `nodelay` passes the burst on at once. Risk: the limit protects the server, so keep it in production.";
/// The parts of a proxy's waiting for its upstream that must be for the first answer on a connection, and for later ones:
/// where no connection is used again and nobody greets, there are none.
const FIRST: (f64, f64) = (0.25, 0.02);

/// What a proxy writes to disk for each request, where that and nothing cheaper is at its limit.
pub(super) fn access_log(facts: &Facts<'_>) -> Outcome {
    let judged: Vec<Option<Cause>> = facts
        .servers
        .iter()
        .filter(|server| server.source.role == Role::Proxy)
        .filter_map(|server| {
            let written_per_s = server.source.mean("process.written_bytes")?;
            let each = written_per_s / facts.requests_per_s()?;
            let thread = server.source.mean("process.thread_share").unwrap_or(0.0);
            let busy = server.host.map_or(0.0, |host| {
                let disks = host.labelled("disk.busy_ns").map(|(_, busy)| busy.mean / 1e9);
                disks.fold(0.0, f64::max)
            });
            let by_disk = busy >= LIMITS.1 && each >= LOGGED_BYTES;
            let by_work = thread >= LIMITS.0 && each >= LOGGED_MUCH_BYTES;
            let found = (by_disk || by_work) && facts.run.totals.requests >= FEWEST;
            Some(found.then(|| {
                let sentence = format!(
                    "The proxy writes {} bytes to disk for each request: its access log costs what requests need.",
                    grouped(each, 0)
                );
                let used = match by_disk {
                    true => format!("a disk of its machine is busy {} of the time", percent(busy.min(1.0))),
                    false => format!("its busiest thread uses {} of a core", percent(thread.min(1.0))),
                };
                Cause::new(Medium, &server.source.name, sentence)
                    .weighing(0.7)
                    .with(format!("{} bytes a second written by its processes", grouped(written_per_s, 0)))
                    .with(used)
                    .against(Some("what it writes may be a cache of responses or large bodies".to_owned()))
            }))
        })
        .collect();
    let outcome = match judged.is_empty() {
        true => Outcome::Lacking(
            "no proxy's processes were watched: add --observe proxy=local:name=nginx on its machine (as root or as \
             its user)"
                .to_owned(),
        ),
        false => Outcome::of(judged.into_iter().flatten().collect()),
    };
    held_up::or_writing(facts, true, outcome)
}

pub(super) fn upstream_keepalive(facts: &Facts<'_>) -> Outcome {
    let (run, totals) = (facts.run, &facts.run.totals);
    let own_per_s = totals.connects as f64 / facts.window_s().max(f64::MIN_POSITIVE);
    let judged: Vec<Option<Cause>> = facts
        .servers
        .iter()
        .filter(|server| server.source.role == Role::Proxy)
        .filter_map(|server| {
            let (opened, each) = opened(facts, server)?;
            let requests_per_s = facts.requests_per_s()?;
            // Where nginx counts its requests, ours must be among them, and one takes one connection.
            let seen = server.source.mean("nginx.requests").map(|seen| seen / requests_per_s);
            let ours = seen.is_none_or(|seen| seen >= PASSED) && each <= OPENED_MOST;
            let apart = opened >= OPENED.1 * own_per_s;
            let found = each >= OPENED.0 && apart && totals.requests >= FEWEST && ours;
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

/// Connections that the machine of a proxy opens, beside those of the generator: a second, and for each request that is passed on.
fn opened(facts: &Facts<'_>, proxy: &Server<'_>) -> Option<(f64, f64)> {
    let own_per_s = facts.run.totals.connects as f64 / facts.window_s().max(f64::MIN_POSITIVE);
    // A page of this machine tells nothing of it; the generator's own source does.
    let here = proxy.here || is_of_this_machine(proxy.source);
    let host = proxy.host.or_else(|| facts.generator().filter(|_| here))?;
    // In a container, its network does not count what the generator opens.
    let apart = proxy.source.figure("net.apart").is_some();
    let opened = host.mean("tcp.active_opens")? - if here && !apart { own_per_s } else { 0.0 };
    // What it refuses by itself it passes to nobody.
    let passed = 1.0 - REFUSALS.map(|status| facts.status_share(status)).iter().sum::<f64>();
    Some((opened, opened / (facts.requests_per_s()? * passed.max(f64::MIN_POSITIVE))))
}

fn is_of_this_machine(source: &ObservedSource) -> bool {
    ["nginx:http://127.", "nginx:http://localhost", "nginx:http://[::1]", "nginx:log="]
        .iter()
        .any(|form| source.read_from.starts_with(form))
}

/// Whether proxies wait for their upstream to open connections rather than to answer requests: on new connections answers
/// come in several turns, as where TLS is spoken, and a good part of the waiting is for the first. Connections that are used
/// again wait for later answers too: their part must not be what is seen.
pub(super) fn waits_to_open(facts: &Facts<'_>) -> bool {
    let proxies = || {
        facts
            .servers
            .iter()
            .filter(|server| server.source.role == Role::Proxy || server.source.name == THE_TARGETS)
    };
    let of = |stem: &'static str| {
        let figures = proxies().flat_map(move |server| server.source.labelled(stem));
        figures.map(|(_, figure)| figure.mean).sum::<f64>()
    };
    let (all, first) = (of("process.awaits"), of("process.awaits_first"));
    let each = proxies().filter_map(|server| opened(facts, server)).map(|(_, each)| each);
    let again = each.reduce(f64::min).map_or(1.0, |each| (1.0 - each).max(0.0));
    all > 0.0 && first >= FIRST.0 * all && all - first >= (FIRST.1 + 2.0 * again) * all
}

/// Requests that nginx lets wait for their turn: by its log, or because it has them and does nothing for them. `steady`
/// are the successes of each second and how much they differ.
pub(super) fn holds_back(facts: &Facts<'_>, steady: Option<(f64, f64)>) -> Option<Cause> {
    if !facts.is_bound_by_responses() {
        return None;
    }
    let requests = facts.run.totals.requests;
    let said = facts.servers.iter().find_map(|server| {
        let lines = nginx_said(server.source, "limit_req delays")?;
        (requests >= FEWEST && lines >= DELAYED * requests as f64).then_some((server, lines))
    });
    if let Some((server, lines)) = said {
        let sentence = "nginx lets requests wait for their turn: a rate limit delays them.";
        let cause = Cause::new(High, &server.source.name, sentence.to_owned()).weighing(0.9);
        let said = format!("{} lines `delaying request` in its error log", grouped(lines, 0));
        return Some(cause.with(said).fixed_by(NODELAY.to_owned()));
    }
    let (per_s, deviation) = steady.filter(|(_, deviation)| *deviation <= EVEN)?;
    let cause = facts.servers.iter().find_map(|server| held(facts, server))?;
    let even =
        format!("{} succeed a second, with {} of deviation", grouped(per_s, 0), percent(deviation));
    Some(cause.with(even))
}

/// nginx has the requests, and neither works on them nor asks anybody else.
fn held(facts: &Facts<'_>, nginx: &Server<'_>) -> Option<Cause> {
    let (run, in_flight) = (facts.run, facts.in_flight()?);
    // The page that tells it is being written too.
    let has = nginx.source.mean("nginx.writing")? - 1.0;
    let all_seen = nginx.source.mean("nginx.requests")? >= PASSED * facts.requests_per_s()?;
    let mut processes = facts.servers.iter().filter(|server| {
        let role = server.source.role == Role::Proxy || server.source.name == THE_TARGETS;
        role && server.source.figure("process.other_sockets").is_some()
    });
    let of = processes.next()?;
    let asks = of.source.labelled("process.connections_to").map(|(_, n)| n.mean).sum::<f64>()
        + of.source.mean("process.other_sockets")?;
    let busy = of.used()?.max(of.source.mean("process.thread_share").unwrap_or(0.0));
    let stuck = held_up::by(of, "writing to a pipe").is_some_and(|n| n >= HELD.2);
    let (whole, first) = (run.service_ns.mean, run.first_byte_ns.mean);
    let at_once = first as f64 >= HELD.1 * whole as f64;
    let long = whole >= HELD_NS && in_flight >= HELD_LEAST;
    let free = of.host_busy().is_none_or(|busy| busy < LIMITS.0);
    let holds = has >= HELD.0 * in_flight && asks <= HELD.2 * in_flight && busy <= HELD.2 && free;
    (holds && long && at_once && all_seen && !stuck).then(|| {
        let sentence = format!(
            "nginx holds requests back: it has {} of them and neither works on them nor waits for anybody. A rate limit \
             that lets requests wait for their turn is likely (limit_req without nodelay).",
            grouped(has, 0)
        );
        // One by one looks like a lock too; nginx has none.
        Cause::new(Medium, &nginx.source.name, sentence)
            .weighing(1.0)
            .with(format!(
                "stub_status shows {} requests at a time, of {} on their way, each for {}",
                grouped(has, 1),
                grouped(in_flight, 1),
                show_duration(whole)
            ))
            .with(format!(
                "nginx has {} connections to others, and uses {} of a core",
                grouped(asks, 1),
                percent(busy)
            ))
            .against(Some("a module that waits looks the same (proxy_cache_lock, Lua)".to_owned()))
            .fixed_by(NODELAY.to_owned())
    })
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
                    "nginx had no room for {}: its worker_connections are used up.",
                    counted(dropped.max(said), "connection")
                );
                let mut cause = Cause::new(High, &server.source.name, sentence).weighing(0.9);
                if said >= 1.0 {
                    cause = cause.with(format!(
                        "{} `worker_connections are not enough` in its error log",
                        counted(said, "line")
                    ));
                }
                if dropped >= 1.0 {
                    cause = cause.with(format!(
                        "accepted and closed at once: {}",
                        counted(dropped, "connection")
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
