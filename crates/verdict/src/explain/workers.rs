//! The rule about servers with too few workers: requests or connections wait, and processors are idle.

use model::finding::Confidence::High;
use model::units::SECOND;
use model::{Role, Run};

use super::facts::{Facts, Server};
use super::server::each;
use super::{Cause, Outcome, THE_TARGETS};
use crate::figures::{counted, grouped, percent};
use crate::gone::{SHORTEST, SILENT_TIMES};

/// Connections that must wait to be accepted on average, and the share of its processors that a server may use
/// meanwhile, for it to have too few workers.
const WAITING: (f64, f64) = (1.0, 0.5);

/// The share of the requests on their way that must lie unread, and the share of a core that the busiest thread may use
/// meanwhile: one that is busy reads late for another reason.
const UNREAD: (f64, f64) = (0.2, 0.85);
/// The part of the most that a sample showed which must lie unread, or wait to be accepted, on average: what stands still at
/// times leaves many unread at times.
const ALWAYS: f64 = 0.5;
/// Processors that a server uses whose threads pass an interpreter's lock around: they read late for that.
const INTERPRETER: std::ops::RangeInclusive<f64> = 0.8..=1.15;

/// Whether a server's processors have nothing to do: it uses few, and neither do others use them all, nor does any of its
/// threads wait for one.
fn is_idle(server: &Server<'_>, used: f64) -> bool {
    let queued = server.source.mean("process.queued_ns").unwrap_or(0.0) / SECOND as f64;
    let taken = server.host_busy().is_some_and(|busy| busy >= UNREAD.1);
    used < WAITING.1 && !taken && !is_held_up(busiest(server), queued)
}

/// Whether threads that wait for `queued` processors on average lack them: many wait, or the busiest one would be busy all
/// the time if it had not to wait for its own.
fn is_held_up(busiest: f64, queued: f64) -> bool {
    queued >= WAITING.1 || (busiest < UNREAD.1 && busiest + queued >= UNREAD.1)
}

/// The share of a core that a server's busiest thread used; 0 where threads were not watched.
fn busiest(server: &Server<'_>) -> f64 {
    server.source.mean("process.thread_share").unwrap_or(0.0)
}

/// Requests that have come in on open connections and that no worker reads, while the processors are idle.
fn unread(facts: &Facts<'_>, server: &Server<'_>) -> Option<Option<Cause>> {
    // Requests that are pipelined lie unread behind the one that is worked on.
    if [Role::Db, Role::Cache].contains(&server.source.role) || facts.run.plan.pipeline > 1 {
        return None;
    }
    let unread = server.source.figure("process.unread")?;
    let (used, in_flight) = (server.used()?, facts.in_flight()?);
    let many = unread.mean >= WAITING.0 && unread.mean >= UNREAD.0 * in_flight;
    let always = unread.mean >= ALWAYS * unread.max;
    let one = server.cores().is_some_and(|cores| INTERPRETER.contains(&cores));
    let idle = is_idle(server, used) && busiest(server) < UNREAD.1 && !one;
    Some((many && always && idle && facts.is_bound_by_responses()).then(|| {
        let sentence = format!(
            "The server has too few workers: it leaves {} unread on its connections, and its processors are idle.",
            counted(unread.mean, "request")
        );
        Cause::new(High, &server.source.name, sentence)
            .weighing(0.7)
            .with(format!(
                "{} connections on average, up to {}, held something that no worker had read, with {} requests on their way",
                grouped(unread.mean, 1),
                grouped(unread.max, 0),
                grouped(in_flight, 1)
            ))
            .with(format!("it used {} of its processors", percent(used)))
    }))
}

/// Whether nobody was served for far longer than responses take: then no worker made progress, and more of them would not have
/// either. What waited meanwhile is in the means.
fn stood_still(run: &Run) -> bool {
    let least = SHORTEST.max(SILENT_TIMES.saturating_mul(run.service_ns.p50));
    let mut silences = run.presence.iter().flat_map(|presence| &presence.silences);
    silences.any(|silence| silence.duration_ns() >= least)
}

pub(super) fn too_few_workers(facts: &Facts<'_>) -> Outcome {
    if stood_still(facts.run) {
        return Outcome::Lacking("the server stood still for a time".to_owned());
    }
    if let Some(why) = facts.generator_stood_still() {
        return Outcome::Lacking(why);
    }
    let ports: Vec<&str> =
        facts.run.plan.addresses.iter().filter_map(|address| address.rsplit(':').next()).collect();
    // On the generator's machine it is known who listens there: others on it may be idle.
    let known = facts.servers.iter().any(|server| server.source.name == THE_TARGETS);
    let is_another =
        |server: &Server<'_>| known && server.here && server.source.name != THE_TARGETS;
    each(facts, "neither listeners nor processors of a server were watched", |server| {
        if let Some(Some(cause)) = unread(facts, server) {
            return Some(Some(cause));
        }
        let host = server.host.filter(|_| !is_another(server))?;
        let used = server.used()?;
        let ours = |at: &str| ports.iter().any(|port| at.rsplit(':').next() == Some(port));
        let queues = host.labelled("listen.queue").filter(|(at, _)| ours(at));
        let (at, queue) = queues.max_by(|a, b| a.1.mean.total_cmp(&b.1.mean))?;
        let always = queue.mean >= ALWAYS * queue.max;
        let found = queue.mean >= WAITING.0 && always && is_idle(server, used);
        Some(found.then(|| {
            let sentence = format!(
                "The server has too few workers: it lets {} wait to be accepted, and its processors are idle.",
                counted(queue.mean, "connection")
            );
            let cause = Cause::new(High, &server.source.name, sentence).weighing(0.7);
            cause
                .with(format!(
                    "{} connections waited at {at} on average, up to {}",
                    grouped(queue.mean, 1),
                    grouped(queue.max, 0)
                ))
                .with(format!("it used {} of its processors", percent(used)))
        }))
    })
}
