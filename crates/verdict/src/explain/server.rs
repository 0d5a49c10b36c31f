//! Rules about servers and their machines, by what was watched there.

use model::finding::Confidence::{High, Medium};
use model::observed::{Figure, ObservedSource};
use model::units::{MILLISECOND, SECOND, show_duration};
use model::{ErrorClass, Nanos, ReasonCode, Role, Run, Silence};

use super::facts::{self, Facts, Server, kernel_said, nginx_said};
use super::{Cause, Outcome};
use crate::figures::{counted, grouped, often, percent};

/// The share of its processors from which on a server is at its limit: the rest is lost to waiting for one another.
const CPU: f64 = 0.9;
/// The share of a core from which on one thread is at its limit: `schedstat` counts no time in which it was ready.
const THREAD: f64 = 0.85;
/// How many times the busiest thread all threads together may use for one thread to be the limit.
const ALONE: f64 = 1.4;
/// The share of the other processors that others may use for there to be some that have nothing to do.
const TAKEN: f64 = 0.5;
/// The share of a quota's periods in which it must have held processes back.
const THROTTLED: f64 = 0.1;
/// The share of a limit from which on it counts as reached between two samples.
const REACHED: f64 = 0.95;
/// Connections turned away that are not chance.
const FEWEST: f64 = 10.0;
/// What a connection loses at least that is turned away: the kernel sends again after this time, or after a second.
const TURNED_AWAY: Nanos = 200 * MILLISECOND;
/// Pages swapped per second that slow a server down.
const SWAPPED: f64 = 100.0;
/// The share of time that a disk must be busy, and that tasks must wait for disks.
const DISK: (f64, f64) = (0.9, 0.2);
/// The shortest standstill, and the share of the window that all must make up.
const STALL: (u64, f64) = (50 * MILLISECOND, 0.01);
/// How many times the p50 a standstill must last.
const STALL_TIMES: u64 = 10;

/// Servers that tell `known`, judged one by one; what is lacking where none does.
pub(super) fn each<'a>(
    facts: &Facts<'a>,
    lacking: &str,
    judge: impl Fn(&Server<'a>) -> Option<Option<Cause>>,
) -> Outcome {
    let judged: Vec<Option<Cause>> = facts.servers.iter().filter_map(judge).collect();
    match (facts.servers.is_empty(), judged.is_empty()) {
        (true, _) => Outcome::Lacking(Facts::how_to_watch().to_owned()),
        (false, true) => Outcome::Lacking(lacking.to_owned()),
        (false, false) => Outcome::of(judged.into_iter().flatten().collect()),
    }
}

/// Machines of servers, judged one by one; what is lacking where none tells.
fn each_host<'a>(
    facts: &Facts<'a>,
    lacking: &str,
    judge: impl Fn(&str, &'a ObservedSource) -> Option<Option<Cause>>,
) -> Outcome {
    let hosts = facts.hosts();
    let judged: Vec<Option<Cause>> =
        hosts.iter().filter_map(|(name, host)| judge(name, host)).collect();
    match (hosts.is_empty(), judged.is_empty()) {
        (true, _) => Outcome::Lacking(Facts::how_to_watch().to_owned()),
        (false, true) => Outcome::Lacking(lacking.to_owned()),
        (false, false) => Outcome::of(judged.into_iter().flatten().collect()),
    }
}

pub(super) fn throttled(facts: &Facts<'_>) -> Outcome {
    each(facts, "no cgroup of a server tells of a quota", |server| {
        let (held, all) = (
            server.source.growth("cgroup.throttled_periods")?,
            server.source.growth("cgroup.periods")?,
        );
        let share = if all > 0.0 { held / all } else { 0.0 };
        let quota = server.source.mean("cgroup.quota_cores");
        Some((share >= THROTTLED).then(|| {
            let of =
                quota.map_or_else(String::new, |quota| format!(" of {} cores", grouped(quota, 2)));
            let sentence = format!("The quota{of} on processor time holds the server back.");
            let waited = server.source.growth("cgroup.throttled_ns").unwrap_or(0.0);
            let cause = Cause::new(High, &server.source.name, sentence).weighing(share);
            let cause = cause.with(format!(
                "held back in {} of {} periods, {} in all",
                grouped(held, 0),
                grouped(all, 0),
                show_duration(waited as u64)
            ));
            match server.cores() {
                Some(cores) => cause.with(format!("it used {} cores", grouped(cores, 2))),
                None => cause,
            }
        }))
    })
}

pub(super) fn cpu(facts: &Facts<'_>) -> Outcome {
    each(facts, "neither the server's processes nor its machine were watched", |server| {
        // A database has a rule of its own.
        if server.source.role == Role::Db {
            return None;
        }
        let used = server.used()?;
        let host = server.host_busy();
        let shared = facts::shared(facts, server).is_some_and(|busy| busy >= REACHED);
        Some((used >= CPU || shared).then(|| {
            let confidence = if used >= CPU { High } else { Medium };
            let sentence = match (server.cores(), server.cores_allowed()) {
                (Some(cores), Some(allowed)) if used >= CPU => format!(
                    "The server uses all of its processors: {} of {} cores.",
                    grouped(cores, 2),
                    grouped(allowed, 0)
                ),
                (Some(cores), _) => format!(
                    "The processors of the machine that server and generator share are used up; the server takes {} \
                     cores.",
                    grouped(cores, 2)
                ),
                (None, _) => {
                    let busy = percent(host.unwrap_or(used));
                    format!("The processors of the server's machine are used up: {busy}.")
                }
            };
            let cause = Cause::new(confidence, &server.source.name, sentence).weighing(used);
            let cause = match host {
                Some(busy) => cause.with(format!("{} of its machine's processors in use", percent(busy))),
                None => cause,
            };
            let others = (used < CPU).then(|| {
                "the generator runs on the same machine; on one of its own the server would have more".to_owned()
            });
            cause.against(others)
        }))
    })
}

pub(super) fn single_thread(facts: &Facts<'_>) -> Outcome {
    each(
        facts,
        "no server's threads were watched (local:pid= or local:name= on its machine)",
        |server| {
            if server.source.role == Role::Db {
                return None;
            }
            let thread = server.source.mean("process.thread_share")?;
            let (used, allowed) = (server.cores()?, server.cores_allowed()?);
            let alone = used <= ALONE * thread;
            let left = (allowed - used).max(0.0);
            let others = facts::of_others(server).unwrap_or(0.0);
            let taken = others > TAKEN * left;
            Some((thread >= THREAD && alone && allowed >= 2.0 && !taken).then(|| {
            let sentence = format!(
                "One thread of the server is busy all the time, and {} of its {} cores have nothing to do.",
                grouped((left - others).max(0.0), 1),
                grouped(allowed, 0)
            );
            Cause::new(High, &server.source.name, sentence).weighing(thread).with(format!(
                "the busiest thread used {} of a core, all threads together {} cores",
                percent(thread.min(1.0)),
                grouped(used, 2)
            ))
        }))
        },
    )
}

pub(super) fn files(facts: &Facts<'_>) -> Outcome {
    each(
        facts,
        "no server's open files could be counted (needs local:pid= and the right to look)",
        |server| {
            if let Some(lines) =
                nginx_said(server.source, "open files").filter(|lines| *lines >= 1.0)
            {
                let sentence = "nginx has no open files left: its error log says so.".to_owned();
                let said =
                    format!("{} `Too many open files` in its error log", counted(lines, "line"));
                return Some(Some(
                    Cause::new(High, &server.source.name, sentence).weighing(1.0).with(said),
                ));
            }
            let (files, limit) = (
                server.source.figure("process.files")?,
                server.source.figure("process.files_max")?,
            );
            let share = files.max / limit.max.max(1.0);
            Some((share >= REACHED).then(|| {
                let sentence = format!(
                    "The server has no open files left: {} of {}.",
                    grouped(files.max, 0),
                    grouped(limit.max, 0)
                );
                let failed = facts.run.totals.errors.connect + facts.run.totals.errors.read;
                let failed =
                    format!("failed to connect or cut off: {}", counted(failed as f64, "attempt"));
                Cause::new(High, &server.source.name, sentence).weighing(share).with(failed)
            }))
        },
    )
}

/// Whether a full listen queue can have cost this run anything: an attempt failed as those do that are turned away, or took as
/// long. The counters are of a whole machine, where other servers may be.
fn may_be_turned_away(run: &Run) -> bool {
    let totals = &run.totals;
    let failed = [ErrorClass::Connect, ErrorClass::Read, ErrorClass::Timeout]
        .into_iter()
        .any(|class| totals.errors.of(class) > 0);
    // By what is behind a proxy.
    let refused = totals.statuses.keys().any(|status| *status >= 500);
    let slow = [&run.connect_ns, &run.tls_ns, &run.response_ns];
    failed || refused || totals.unfinished > 0 || slow.iter().any(|times| times.max >= TURNED_AWAY)
}

pub(super) fn accept_queue(facts: &Facts<'_>) -> Outcome {
    each_host(facts, "the server's machine did not tell of its listen queues", |name, host| {
        let (overflows, drops) =
            (host.growth("tcp.listen_overflows")?, host.growth("tcp.listen_drops").unwrap_or(0.0));
        let turned_away = overflows.max(drops);
        let attempts = facts.run.totals.connects as f64;
        let enough = turned_away >= FEWEST
            && turned_away >= 0.001 * attempts
            && may_be_turned_away(facts.run);
        Some(enough.then(|| {
            let sentence = format!(
                "The server accepts connections too slowly: {} were dropped because the queue of its listener was full.",
                grouped(turned_away, 0)
            );
            let mut cause =
                Cause::new(High, name, sentence).weighing(turned_away / attempts.max(turned_away)).with(
                    format!(
                        "ListenOverflows grew by {}, ListenDrops by {}",
                        grouped(overflows, 0),
                        grouped(drops, 0)
                    ),
                );
            let full = host.labelled("listen.queue").filter_map(|(at, queue)| {
                let backlog = host.figure(&format!("listen.backlog{{{at}}}"))?;
                (queue.max >= backlog.max && queue.max > 0.0).then(|| {
                    format!("up to {} waited at {at}, where {} may", grouped(queue.max, 0), backlog.max)
                })
            });
            cause.evidence_for.extend(full.take(2));
            if kernel_said(host, "SYN flood") > 0.0 {
                cause = cause.with("the kernel log says `Possible SYN flooding`");
            }
            cause
        }))
    })
}

pub(super) fn conntrack(facts: &Facts<'_>) -> Outcome {
    let mut hosts = facts.hosts();
    hosts.extend(facts.generator().map(|host| ("generator", host)));
    let judged: Vec<Option<Cause>> =
        hosts.into_iter().filter_map(|(name, host)| tracked(name, host)).collect();
    match judged.is_empty() {
        true => Outcome::Lacking("no machine that was watched tracks connections".to_owned()),
        false => Outcome::one(judged.into_iter().flatten().next()),
    }
}

/// A machine whose table of connections is full, by its kernel's log or by the table; none where neither is told.
fn tracked(name: &str, host: &ObservedSource) -> Option<Option<Cause>> {
    let said = kernel_said(host, "conntrack table full");
    // A maximum of 0 is none.
    let table = host.figure("conntrack.count").zip(host.figure("conntrack.max"));
    let table = table.filter(|(_, most)| most.max > 0.0).map(|(count, most)| (count.max, most.max));
    let entries =
        table.map(|(count, most)| format!("{} of {} entries", grouped(count, 0), grouped(most, 0)));
    let full = table.is_some_and(|(count, most)| count >= REACHED * most);
    let drops = host.growth("conntrack.drops").unwrap_or(0.0);
    let cause = match (said >= 1.0 || full, drops >= FEWEST) {
        (true, _) => {
            let sentence =
                "The table of connection tracking is full, and the kernel drops new connections.";
            Cause::new(High, name, sentence.to_owned()).weighing(1.0)
        }
        (false, true) => {
            let sentence = "Connection tracking drops packets, though its table was not full whenever it was looked at.";
            Cause::new(Medium, name, sentence.to_owned()).weighing(0.6)
        }
        (false, false) => return table.map(|_| None),
    };
    let logged = (said >= 1.0)
        .then(|| format!("the kernel log says that it is full, {} at least", often(said)));
    let dropped = (drops >= 1.0).then(|| format!("{} dropped", counted(drops, "packet")));
    Some(Some([logged, entries, dropped].into_iter().flatten().fold(cause, Cause::with)))
}

pub(super) fn time_wait(facts: &Facts<'_>) -> Outcome {
    each_host(facts, "the server's machine did not tell of TIME_WAIT", |name, host| {
        let (waiting, most) = (host.figure("tcp.time_wait")?, host.figure("tcp.time_wait_max")?);
        let overflows = host.growth("tcp.time_wait_overflows").unwrap_or(0.0);
        // A maximum of 0 keeps none.
        let full = most.max > 0.0 && waiting.max >= REACHED * most.max;
        let said = kernel_said(host, "TIME_WAIT overflow");
        if let Some(cause) = no_ports_left(facts, name, host, waiting) {
            return Some(Some(cause));
        }
        Some((full || overflows >= FEWEST).then(|| {
            let sentence = format!(
                "The table of connections in TIME_WAIT is full: {} of {}.",
                grouped(waiting.max, 0),
                grouped(most.max, 0)
            );
            let grew = format!("TCPTimeWaitOverflow grew by {}", grouped(overflows, 0));
            let cause = Cause::new(High, name, sentence).weighing(0.8).with(grew);
            match said > 0.0 {
                true => cause.with("the kernel log says `time wait bucket table overflow`"),
                false => cause,
            }
        }))
    })
}

/// How many times the number of local ports may be in TIME_WAIT for them to be of one address: a few are of others.
const MORE_THAN_PORTS: f64 = 1.1;

/// A machine that opens connections to another, and closes them, until each of its local ports is in TIME_WAIT.
///
/// The kernel counts no connect that finds no port: that the server failed requests stands for it. More connections than there are
/// ports lead to several addresses, of which none needs to be short of them.
fn no_ports_left(
    facts: &Facts<'_>,
    name: &str,
    host: &ObservedSource,
    waiting: &Figure,
) -> Option<Cause> {
    let ports = host.figure("tcp.local_ports").map(|ports| ports.min).filter(|n| *n > 0.0)?;
    let opened = host.growth("tcp.active_opens")?;
    // Those that others opened wait at the listener's port, and use none of these.
    let own = opened > 2.0 * host.growth("tcp.passive_opens")?;
    let of_one = (REACHED * ports..=MORE_THAN_PORTS * ports).contains(&waiting.max);
    let failed = facts.run.totals.statuses.keys().any(|status| *status >= 500);
    (own && of_one && failed).then(|| {
        let sentence = format!(
            "The server's machine has no local ports left: {} connections that it closed are in TIME_WAIT, of {} ports.",
            grouped(waiting.max, 0),
            grouped(ports, 0)
        );
        Cause::new(High, name, sentence)
            .weighing(0.9)
            .with(format!("it opened {} connections to others", grouped(opened, 0)))
            .fixed_by(
                "Keep the connections to what it asks open (a pool, keep-alive), or widen the range: sysctl -w \
                 net.ipv4.ip_local_port_range='1024 65535'. Risk of the range: a port that another service wants to \
                 listen on may be taken."
                    .to_owned(),
            )
    })
}

pub(super) fn memory(facts: &Facts<'_>) -> Outcome {
    each_host(facts, "the server's machine did not tell of its memory", |name, host| {
        let swapped = host.mean("swap.in_pages")? + host.mean("swap.out_pages")?;
        let said = kernel_said(host, "process killed for memory");
        let killed = host.growth("memory.oom_kills").unwrap_or(0.0).max(said);
        Some((swapped >= SWAPPED || killed > 0.0).then(|| {
            let sentence = match killed > 0.0 {
                true => "The server's machine ran out of memory, and the kernel killed a process."
                    .to_owned(),
                false => "The server's machine is short of memory and swaps.".to_owned(),
            };
            Cause::new(High, name, sentence).weighing(0.9).with(format!(
                "pages swapped a second: {}; processes killed: {}",
                grouped(swapped, 0),
                grouped(killed, 0)
            ))
        }))
    })
}

pub(super) fn disk(facts: &Facts<'_>) -> Outcome {
    each_host(facts, "the server's machine did not tell of its disks", |name, host| {
        let mut disks = host.labelled("disk.busy_ns").peekable();
        disks.peek()?;
        let (disk, busy) = disks.max_by(|a, b| a.1.mean.total_cmp(&b.1.mean))?;
        let used = (busy.mean / SECOND as f64).min(1.0);
        let waited = host.mean("pressure.io_some_ns").map(|ns| ns / SECOND as f64);
        let found = used >= DISK.0 && waited.is_none_or(|waited| waited >= DISK.1);
        Some(found.then(|| {
            let sentence = format!("The disk {disk} is busy all the time.");
            let cause = Cause::new(Medium, name, sentence).weighing(used);
            let cause = cause.with(format!("{} of the time busy", percent(used)));
            match waited {
                Some(waited) => {
                    cause.with(format!("tasks waited for disks {} of the time", percent(waited)))
                }
                None => {
                    cause.against(Some("how long tasks waited for disks is not known".to_owned()))
                }
            }
        }))
    })
}

pub(super) fn stall(facts: &Facts<'_>) -> Outcome {
    let run = facts.run;
    let Some(presence) = &run.presence else {
        return Outcome::Lacking("the run does not say when nobody was served".to_owned());
    };
    if let Some(why) = facts.generator_stood_still() {
        return Outcome::Lacking(why);
    }
    if run.validity.reasons.iter().any(|reason| reason.code == ReasonCode::BusyNeighbour) {
        let held_up =
            "others used the generator's machine, and may have held up what seemed to stand still";
        return Outcome::Lacking(held_up.to_owned());
    }
    let least = STALL.0.max(run.response_ns.p50.saturating_mul(STALL_TIMES));
    let stood: Vec<&Silence> = presence
        .silences
        .iter()
        .filter(|silence| silence.ended && silence.last_failed_ns.is_none())
        .filter(|silence| silence.duration_ns() >= least)
        .collect();
    let sum: u64 = stood.iter().map(|silence| silence.duration_ns()).sum();
    let share = sum as f64 / run.totals.duration_ns.max(1) as f64;
    let found = share >= STALL.1 && (stood.len() >= 2 || sum >= SECOND / 2);
    let longest = stood.iter().map(|silence| silence.duration_ns()).max().unwrap_or(0);
    let cause = found.then(|| {
        let sentence = format!(
            "The server stands still at times: nobody was served {}, for up to {}.",
            often(stood.len() as f64),
            show_duration(longest)
        );
        let cause = Cause::new(Medium, "server", sentence).weighing(0.6 + share);
        let cause = cause.with(format!("{} of the window in all", percent(share)));
        match period(&stood) {
            Some(period) => cause.with(format!("it comes every {}", show_duration(period))),
            None => cause,
        }
    });
    Outcome::one(cause)
}

/// The time from one standstill to the next, where it is nearly always the same.
fn period(stood: &[&Silence]) -> Option<u64> {
    let mut between: Vec<u64> =
        stood.windows(2).map(|pair| pair[1].from_ns.saturating_sub(pair[0].from_ns)).collect();
    between.sort_unstable();
    let median = *between.get(between.len() / 2)?;
    let near = |&&each: &&u64| each.abs_diff(median) <= median / 5;
    (between.len() >= 3 && between.iter().filter(near).count() * 5 >= between.len() * 4)
        .then_some(median)
}

/// How busy a server or its machine is, in words and as a share, for those who find nothing.
pub(super) fn room(server: &Server<'_>) -> Option<(String, f64)> {
    let used = server.used()?;
    let of = match server.here && server.cores().is_none() {
        true => "what the generator leaves of its machine's processors",
        false => "its processors",
    };
    Some((format!("{} used {} of {of}", server.source.name, percent(used)), used))
}
