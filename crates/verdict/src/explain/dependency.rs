//! What a server waits for: its database, its cache, the server behind a proxy.

use model::finding::Confidence::{High, Medium};
use model::observed::ObservedSource;
use model::units::{MILLISECOND, SECOND, show_duration};

use super::database;
use super::facts::{Facts, Server, nginx_said};
use super::{Cause, Outcome};
use crate::figures::{grouped, percent};

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
        })
        .collect();
    match judged.is_empty() {
        true => Outcome::Lacking(
            "nothing that the server waits for was watched: add --observe db=postgres://… or db=mysql://…, \
             cache=redis://…, or a proxy's error log: proxy=nginx:URL,log=FILE"
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
            "What is behind nginx answers too slowly: {} requests timed out there.",
            grouped(timed_out, 0)
        );
        let gateway = facts.status_share(504);
        Cause::new(High, &server.source.name, sentence)
            .weighing(0.9)
            .with(format!("{} lines `upstream timed out` in its error log", grouped(timed_out, 0)))
            .with(format!("{} of the responses are 504", percent(gateway)))
    }))
}

/// A cache that works all the time, or that requests wait for most of theirs.
fn cache(facts: &Facts<'_>, source: &ObservedSource) -> Option<Option<Cause>> {
    source.figure("cache.ops")?;
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
