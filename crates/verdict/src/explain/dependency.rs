//! What a server waits for: its database, its cache, the server behind a proxy.

use std::net::{IpAddr, SocketAddr};

use model::finding::Confidence::{High, Medium};
use model::observed::ObservedSource;
use model::units::{MILLISECOND, SECOND, show_duration};

use super::database;
use super::facts::{Facts, Server, nginx_said};
use super::{Cause, Outcome};
use crate::figures::{counted, grouped, percent};

/// The share of users' time that must go into something for it to be the limit.
const MOSTLY: f64 = 0.6;
/// The time per request from which on a database is slow as a whole.
const SLOW_NS: f64 = 5.0 * MILLISECOND as f64;
/// The share of the requests that must time out behind a proxy.
const TIMED_OUT: f64 = 0.001;
/// The share of a core from which on the one thread of a cache is at its limit, as for servers.
const THREAD: f64 = 0.85;

pub(super) fn slow(facts: &Facts<'_>) -> Outcome {
    let judged: Vec<Option<Cause>> = facts
        .servers
        .iter()
        .filter_map(|server| {
            behind_a_proxy(facts, server)
                .or_else(|| cache(facts, server.source))
                .or_else(|| waits(facts, server))
                .or_else(|| awaited(facts, server))
        })
        .collect();
    match judged.is_empty() {
        true => Outcome::Lacking(
            "neither the server's connections to others nor what it waits for were watched: add --observe \
             app=local:pid=PID on its machine, db=postgres://… or db=mysql://…, cache=redis://…, or a proxy's error log: \
             proxy=nginx:URL,log=FILE"
                .to_owned(),
        ),
        false => Outcome::of(judged.into_iter().flatten().collect()),
    }
}

/// nginx gave up waiting for what is behind it.
fn behind_a_proxy(facts: &Facts<'_>, server: &Server<'_>) -> Option<Option<Cause>> {
    let timed_out = nginx_said(server.source, "upstream timed out")?;
    let requests = facts.run.totals.requests as f64;
    let found = timed_out >= 1.0 && timed_out >= TIMED_OUT * requests && facts.some_failed();
    Some(found.then(|| {
        let sentence = format!(
            "What is behind nginx answers too slowly: {} timed out there.",
            counted(timed_out, "request")
        );
        let gateway = facts.status_share(504);
        Cause::new(High, &server.source.name, sentence)
            .weighing(0.9)
            .with(format!("{} `upstream timed out` in its error log", counted(timed_out, "line")))
            .with(format!("{} of the responses are 504", percent(gateway)))
    }))
}

/// A cache that works all the time, or that requests wait for most of theirs.
fn cache(facts: &Facts<'_>, source: &ObservedSource) -> Option<Option<Cause>> {
    // memcached tells of operations and of no time in them.
    let timed = source.figure("cache.main_thread_ns").is_some()
        || source.labelled("cache.exec_ns").next().is_some();
    if !timed {
        return None;
    }
    let mut commands: Vec<_> = source.labelled("cache.exec_ns").collect();
    commands.sort_by(|a, b| b.1.mean.total_cmp(&a.1.mean));
    let spent = commands.iter().map(|(_, ns)| ns.mean).sum::<f64>() / SECOND as f64;
    // Redis carries out its commands on one thread: the time in them is that thread's, with what others took of its core.
    let thread =
        source.mean("cache.main_thread_ns").map_or(0.0, |ns| (ns / SECOND as f64).max(spent));
    let share = facts.in_flight().map_or(0.0, |in_flight| spent / in_flight);
    let found = thread >= THREAD || (share >= MOSTLY && spent >= THREAD / 2.0);
    Some(found.then(|| {
        let sentence = match thread >= THREAD {
            true => format!(
                "The cache has no time left: its one thread is at work {} of the time.",
                percent(thread.min(1.0))
            ),
            false => format!("Requests spend {} of their time in the cache.", percent(share.min(1.0))),
        };
        let mut cause = Cause::new(High, &source.name, sentence).weighing(thread.max(share));
        cause.evidence_for.extend(commands.iter().take(2).map(|(name, ns)| {
            let calls = source.mean(&format!("cache.calls{{{name}}}")).unwrap_or(0.0);
            let each_ns = if calls > 0.0 { ns.mean / calls } else { 0.0 };
            format!(
                "{name}: {} a second, {} each",
                grouped(calls, 0),
                show_duration(each_ns as u64)
            )
        }));
        cause.fixed_by(
            "Make the dearest command cheaper (KEYS and SMEMBERS read everything: SCAN instead, or keep smaller \
             values), keep answers in the server for a moment, or spread the keys over several instances."
                .to_owned(),
        )
    }))
}

/// Requests spend most of their time in the database, with nothing there that another rule names.
fn waits(facts: &Facts<'_>, server: &Server<'_>) -> Option<Option<Cause>> {
    let source = server.source;
    let share = database::share(facts, source)?;
    let per_request_ns = source.mean("db.active")? / facts.requests_per_s()? * SECOND as f64;
    Some((share >= MOSTLY && per_request_ns >= SLOW_NS).then(|| {
        let sentence = format!(
            "Requests spend {} of their time in the database {}.",
            percent(share),
            source.name
        );
        let cause = Cause::new(Medium, &source.name, sentence).weighing(share);
        let cause = cause.with(format!(
            "{} sessions at work there on average, {} for each request",
            grouped(source.mean("db.active").unwrap_or(0.0), 1),
            show_duration(per_request_ns as u64)
        ));
        let waits = source.labelled("db.waits").max_by(|a, b| a.1.mean.total_cmp(&b.1.mean));
        match waits {
            Some((event, n)) => {
                cause.with(format!("up to {} of them wait for {event}", grouped(n.max, 0)))
            }
            None => cause,
        }
    }))
}

/// The server asked somebody else, and most of its requests wait for the answer: by its own connections, whatever is at
/// their other end.
fn awaited(facts: &Facts<'_>, server: &Server<'_>) -> Option<Option<Cause>> {
    let source = server.source;
    // Without a process nothing was looked at, and what could not be read is no sign that nobody is waited for; nor is a window
    // so short that no look came in it.
    let looked = source.figure("process.other_sockets").is_some()
        || source.labelled("process.awaits").next().is_some();
    if source.figure("process.count").is_none()
        || source.missing.contains_key("process.awaits")
        || !looked
    {
        return None;
    }
    let mut ends: Vec<_> = source.labelled("process.awaits").collect();
    ends.retain(|(end, _)| !is_watched(facts, end));
    let longest = ends.into_iter().max_by(|a, b| a.1.mean.total_cmp(&b.1.mean));
    let (Some((end, waiting)), Some(in_flight), Some(per_s)) =
        (longest, facts.in_flight(), facts.requests_per_s())
    else {
        return Some(None);
    };
    let (share, each_ns) = (waiting.mean / in_flight, waiting.mean / per_s * SECOND as f64);
    let limits = facts.is_bound_by_responses() && share >= MOSTLY && each_ns >= SLOW_NS;
    Some(limits.then(|| {
        let sentence = format!(
            "The server waits for {end}: that is where {} of the requests' time goes.",
            percent(share.min(1.0))
        );
        let cause = Cause::new(Medium, &server.source.name, sentence).weighing(share.min(1.0)).about(end);
        let open = server.source.mean(&format!("process.connections_to{{{end}}}")).unwrap_or(0.0);
        let cause = cause.with(format!(
            "of its {} connections to {end} {} waited for an answer on average, {} requests were on their way",
            grouped(open, 1),
            grouped(waiting.mean, 1),
            grouped(in_flight, 1)
        ));
        let queued = server.host.and_then(|host| host.mean(&format!("listen.queue{{{end}}}")));
        let cause = match queued.filter(|queued| *queued >= 1.0) {
            Some(queued) => cause.with(format!(
                "{} connections waited there to be accepted: it takes fewer at a time than are sent",
                grouped(queued, 1)
            )),
            None => cause,
        };
        match server.cores() {
            Some(cores) => cause.with(format!("the server used {} cores meanwhile", grouped(cores, 2))),
            None => cause,
        }
    }))
}

/// Ports where sources listen whose URL names none.
const DEFAULT_PORTS: [(&str, u16); 10] = [
    ("postgres", 5432),
    ("postgresql", 5432),
    ("mysql", 3306),
    ("mariadb", 3306),
    ("redis", 6379),
    ("rediss", 6379),
    ("memcached", 11211),
    ("mongodb", 27017),
    ("http", 80),
    ("https", 443),
];

/// Whether what is at an end of a connection is watched by itself: rules about it say more.
fn is_watched(facts: &Facts<'_>, end: &str) -> bool {
    let Ok(end) = end.parse::<SocketAddr>() else { return false };
    facts.servers.iter().any(|server| is_read_at(&server.source.read_from, end))
}

/// Whether a source is read from this address; of a host that is named, the port decides, for a name has no address here.
fn is_read_at(read_from: &str, end: SocketAddr) -> bool {
    let Some((kind, rest)) = read_from.split_once("://") else { return false };
    let kind = kind.rsplit(':').next().unwrap_or_default();
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let authority = authority.rsplit('@').next().unwrap_or_default();
    let (host, port) = match authority.rsplit_once(':') {
        // The last colon of an IPv6 address is no port's.
        Some((host, port)) if !port.contains(']') => (host, port.parse().ok()),
        _ => (authority, None),
    };
    let default = || DEFAULT_PORTS.iter().find(|(name, _)| *name == kind).map(|(_, port)| *port);
    let is_host = match host.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(address) => address == end.ip().to_canonical(),
        Err(_) if host.eq_ignore_ascii_case("localhost") => end.ip().to_canonical().is_loopback(),
        Err(_) => !host.is_empty(),
    };
    is_host && port.or_else(default) == Some(end.port())
}

#[cfg(test)]
mod tests {
    use model::observed::Observed;
    use model::{Role, Run};

    use super::*;
    use crate::explain::tests::{codes, run, source};

    /// Ten users; a request takes 100 ms, and this many of them wait at the other end of the server's connections.
    fn asks(waiting: f64) -> Run {
        let mut run = run();
        run.totals.requests = 1_000;
        run.totals.attempts = 1_000;
        run.totals.succeeded = 1_000;
        run.service_ns.mean = 100 * MILLISECOND;
        let figures = [
            ("process.awaits{10.0.0.9:443}", waiting),
            ("process.connections_to{10.0.0.9:443}", 10.0),
            ("process.count", 1.0),
        ];
        let sources = vec![
            source("generator", Role::Generator, "local", []),
            source("server", Role::App, "local:pid=7", figures),
        ];
        run.observed = Some(Observed { sources });
        run
    }

    fn found(run: &Run) -> bool {
        codes(run).iter().any(|code| code == "dependency.slow")
    }

    #[test]
    fn a_server_that_waits_for_another_is_reported_with_that_one() {
        let run = asks(9.0);
        let findings = crate::explain::explain(&run).findings;
        assert_eq!(findings[0].code, "dependency.slow");
        assert_eq!(findings[0].subject.as_deref(), Some("10.0.0.9:443"));
        assert!(findings[0].sentence.contains("90"), "{findings:?}");
        assert!(!found(&asks(3.0)), "most of the time goes elsewhere");
    }

    #[test]
    fn a_load_that_was_carried_waits_for_nobody() {
        let mut open = asks(9.0);
        open.plan.rate_per_s = Some(100.0);
        (open.rates.offered_per_s, open.rates.achieved_per_s) = (100.0, 100.0);
        assert!(!found(&open));
        open.rates.achieved_per_s = 80.0;
        assert!(found(&open), "it was not");
        let mut quick = asks(9.0);
        quick.totals.requests = 100_000;
        quick.service_ns.mean = MILLISECOND;
        assert!(!found(&quick), "a proxy before a server that is quick");
    }

    #[test]
    fn what_could_not_be_read_is_not_called_absent() {
        let abstains = |run: &Run| {
            let abstained = crate::explain::explain(run).abstained;
            abstained.iter().any(|one| one.code == "dependency.slow")
        };
        let mut run = asks(3.0);
        assert!(!abstains(&run));
        let server = &mut run.observed.as_mut().expect("watched").sources[1];
        server.missing.insert("process.awaits".to_owned(), "no permission".to_owned());
        assert!(abstains(&run));
        let mut unseen = asks(3.0);
        let server = &mut unseen.observed.as_mut().expect("watched").sources[1];
        server.figures.retain(|name, _| name == "process.count");
        assert!(abstains(&unseen), "no sample of the window looked");
    }

    #[test]
    fn a_cache_that_tells_no_times_is_not_called_quick() {
        let mut run = run();
        let figures = [("cache.ops", 1e5), ("cache.cpu_ns", 9e8)];
        let cache = source("cache", Role::Cache, "memcached://10.0.0.9", figures);
        run.observed = Some(Observed { sources: vec![cache] });
        let abstained = crate::explain::explain(&run).abstained;
        assert!(abstained.iter().any(|one| one.code == "dependency.slow"), "{abstained:?}");
    }

    #[test]
    fn what_is_watched_by_itself_is_not_reported_twice() {
        let mut run = asks(9.0);
        let db = source("db", Role::Db, "postgres://shop@10.0.0.9:443/shop", []);
        run.observed.as_mut().expect("watched").sources.push(db);
        assert!(!found(&run));
        let mut other = asks(9.0);
        let page = "nginx:http://10.0.0.9:4430/status";
        let proxy = source("proxy", Role::Proxy, page, []);
        other.observed.as_mut().expect("watched").sources.push(proxy);
        assert!(found(&other), "another port that begins alike");
    }

    #[test]
    fn sources_are_recognised_by_name_and_by_default_port() {
        let at =
            |read_from: &str, end: &str| is_read_at(read_from, end.parse().expect("an address"));
        assert!(at("postgres://shop@localhost/shop", "127.0.0.1:5432"));
        assert!(at("postgres://shop@localhost/shop", "[::1]:5432"));
        assert!(!at("postgres://shop@localhost/shop", "10.0.0.9:5432"));
        assert!(at("mysql://db.internal/shop?ssl=1", "10.0.0.9:3306"));
        assert!(!at("mysql://db.internal:3307/shop", "10.0.0.9:3306"));
        assert!(at("redis://[fd00::9]", "[fd00::9]:6379"));
        assert!(at("nginx:http://127.0.0.1/status", "127.0.0.1:80"));
        assert!(!at("exec:ssh app1 plimsoll watch --stdio", "10.0.0.9:22"));
        assert!(!at("postgres:///shop?host=/run/postgresql", "127.0.0.1:5432"));
    }
}
