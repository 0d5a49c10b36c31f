//! Rules about the generator, by what the engine counted and the rules of validity found.

use model::ReasonCode;
use model::finding::Confidence::{High, Low, Medium};

use super::facts::{self, Facts, own_cores};
use super::{Cause, Outcome};
use crate::figures::{counted, grouped, percent};
use crate::validity::local_ports;

/// What the generator's rules call its machine.
const PLACE: &str = "generator";
/// The share of a shared machine's processors from which on they are used up: what is left is lost to switching.
const FULL: f64 = 0.95;

/// The share of its time that a worker must have worked, or waited for a processor, to be the limit where a rule of
/// validity speaks of lateness alone: with less there was time left, and latencies are in doubt, not QPS.
const WORKED: f64 = 0.8;

/// Rules of validity by which the generator sent less than it should or could.
const SENT_LESS: [ReasonCode; 2] = [ReasonCode::WorkersSaturated, ReasonCode::AchievedBelowOffered];
/// Rules of validity by which it was held up, more or less.
const HELD_UP: [ReasonCode; 4] = [
    ReasonCode::Throttled,
    ReasonCode::BusyNeighbour,
    ReasonCode::LateSends,
    ReasonCode::ObservedLate,
];

/// What rules of validity say where the generator sent less than it should or could: nothing where it did not.
pub(super) fn sent_less<'a>(facts: &Facts<'a>) -> Vec<&'a str> {
    let mut doubts: Vec<&str> =
        SENT_LESS.into_iter().filter_map(|code| facts.doubts(code)).collect();
    let worked =
        facts.run.generator.workers.iter().map(|worker| worker.busy_ratio + worker.queued_ratio);
    if !doubts.is_empty() || worked.fold(0.0, f64::max) >= WORKED {
        doubts.extend(HELD_UP.into_iter().filter_map(|code| facts.doubts(code)));
    }
    doubts
}

pub(super) fn cpu(facts: &Facts<'_>) -> Outcome {
    let doubts = sent_less(facts);
    if doubts.is_empty() {
        return Outcome::one(shared(facts));
    }
    let sentence = "The generator could not send more or look faster: QPS is a lower bound, and the server may \
                    carry more."
        .to_owned();
    let mut cause = Cause::new(High, PLACE, sentence).weighing(1.0);
    cause.evidence_for.extend(doubts.into_iter().map(str::to_owned));
    if facts.doubts(ReasonCode::BusyNeighbour).is_some() {
        cause = cause.fixed_by(
            "Stop the other programs of the generator's machine, or give it processors of its own (taskset, cgroups); \
             else run it on a machine of its own."
                .to_owned(),
        );
    }
    Outcome::one(Some(cause))
}

/// Generator and server use up the processors of one machine, and the generator takes the larger part.
fn shared(facts: &Facts<'_>) -> Option<Cause> {
    let mut here = facts.servers.iter().filter(|server| server.here);
    let own = own_cores(facts.run);
    let (full, theirs, who) = match here.clone().find(|server| server.cores().is_some()) {
        Some(server) => (facts::shared(facts, server)?, server.cores()?, "the server"),
        // Of a machine that is watched as a whole, the server has no more than the rest.
        None => {
            let server = here.next()?;
            let full = server.host_busy()?;
            (full, (full * server.host_cores()? - own).max(0.0), "all others")
        }
    };
    if full < FULL || own <= theirs {
        return None;
    }
    let sentence = format!(
        "Generator and server share a machine whose processors are used up, and the generator takes more of them \
         ({} cores) than {who} ({} cores).",
        grouped(own, 2),
        grouped(theirs, 2)
    );
    let cause = Cause::new(Medium, PLACE, sentence).weighing(1.0);
    Some(cause.with(format!("{} of the machine's processors were in use", percent(full))))
}

pub(super) fn ports(facts: &Facts<'_>) -> Outcome {
    let hits = facts.limit_hits(&["EADDRNOTAVAIL", "EADDRINUSE"]);
    let cause = (hits > 0).then(|| {
        let run = facts.run;
        let waiting = facts.generator().and_then(|host| host.figure("tcp.time_wait"));
        let most = local_ports(run);
        // Of ports that neither wait nor are the load's own, other programs have the rest.
        let closed = waiting.is_none_or(|waiting| waiting.max >= most / 2.0);
        let who = match closed {
            true => "each closed connection keeps its port for 60 s in TIME_WAIT",
            false => "open connections hold them, the load's own or other programs'",
        };
        let sentence = format!(
            "The generator ran out of local ports: there are {} for each pair of a source and a server address, and {who}.",
            grouped(most, 0)
        );
        let mut cause = Cause::new(High, PLACE, sentence).weighing(1.0).with(format!(
            "{} to connect found no free port; {} in all, for {}",
            counted(hits as f64, "attempt"),
            counted(run.totals.connects as f64, "connection"),
            counted(run.totals.requests as f64, "request")
        ));
        if let Some(waiting) = waiting {
            cause = cause.with(format!("up to {} ports in TIME_WAIT", grouped(waiting.max, 0)));
        }
        cause
    });
    Outcome::one(cause)
}

pub(super) fn files(facts: &Facts<'_>) -> Outcome {
    let hits = facts.limit_hits(&["EMFILE", "ENFILE"]);
    let cause = (hits > 0).then(|| {
        let environment = &facts.run.environment;
        let sentence = format!(
            "The generator ran out of open files: {} are allowed.",
            grouped(environment.open_files as f64, 0)
        );
        let hits = format!("{} sockets could not be opened for it", grouped(hits as f64, 0));
        Cause::new(High, PLACE, sentence).weighing(1.0).with(hits)
    });
    Outcome::one(cause)
}

pub(super) fn memory(facts: &Facts<'_>) -> Outcome {
    let hits = facts.limit_hits(&["ENOBUFS", "ENOMEM"]);
    let short = facts.doubts(ReasonCode::MemoryShort);
    if hits == 0 && short.is_none() {
        return Outcome::Absent;
    }
    let mut cause =
        Cause::new(High, PLACE, "The generator's machine was short of memory.".to_owned())
            .weighing(1.0);
    cause.evidence_for.extend(short.map(str::to_owned));
    if hits > 0 {
        cause = cause.with(format!("{} sockets got no memory", grouped(hits as f64, 0)));
    }
    Outcome::one(Some(cause))
}

pub(super) fn single_source(facts: &Facts<'_>) -> Outcome {
    let reasons = &facts.run.validity.reasons;
    let reason = reasons.iter().find(|reason| reason.code == ReasonCode::SingleSource);
    let cause = reason.map(|reason| {
        let sentence = "All load came from one address, which servers and limits treat otherwise than many users."
            .to_owned();
        let evidence = reason.text.split_once(". ").map_or(reason.text.as_str(), |(first, _)| first);
        Cause::new(Low, PLACE, sentence).weighing(0.1).with(evidence)
    });
    Outcome::one(cause)
}
