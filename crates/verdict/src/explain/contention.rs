//! Rules about workers in each other's way: those who wait for a lock, and those who wait for a processor.

use model::finding::Confidence::{High, Low, Medium};
use model::profiled::{FunctionCost, Profiled};
use model::units::{SECOND, show_duration};

use super::facts::{Facts, Server};
use super::profile::{cost, largest, of_processor};
use super::{Cause, Outcome, held_up};
use crate::figures::{counted, grouped, percent};

/// The share of the processor time in taking locks from which on they limit: servers without contention stay below 5 %.
const TAKING: f64 = 0.15;
/// Throughput times the time that one request takes alone, where requests are served one after the other: 1, by the
/// utilisation law, with room for what is not part of the lock and for the coarseness of a minimum.
const ONE_AT_A_TIME: (f64, f64) = (0.7, 1.15);
/// Requests on their way from which on one at a time is no chance.
const WAITING: f64 = 3.0;
/// How much longer the p90 may be than the p50 where all wait in one line: each waits for all others, whatever it asks.
const ALIKE: f64 = 1.5;
/// The share of its processors that a server may use for them not to be the limit, and of a core that its busiest
/// thread may use.
const IDLE: (f64, f64) = (0.85, 0.85);
/// Threads that wait for each processor on average from which on there are too many, and the share of the processors
/// that must be used meanwhile.
const QUEUED: (f64, f64) = (4.0, 0.85);

/// The share of the requests that must wait for a lock on a file.
const MOST_WAIT: f64 = 0.5;
/// Times that a monitor is found taken for each request from which on one may be taken all the time: of those who come to
/// a lock, as large a share finds it taken as it is taken of the time. Where requests come and go together, short ones are
/// found taken as often.
const FOUND_TAKEN: f64 = 0.7;
/// Wake-ups of threads for each request from which on most are for nothing, and how many times as many threads must wake
/// again and again as there are requests that they may wake for.
const IN_VAIN: (f64, f64) = (20.0, 2.0);

/// Functions that take locks, or wait for them: of Go, of the C library, of the kernel.
const LOCKS: &[&str] = &[
    "runtime.lock2",
    "sync.(*Mutex).lockSlow",
    "sync.(*Mutex).Lock",
    "sync.(*RWMutex).Lock",
    "sync.(*RWMutex).RLock",
    "internal/sync.(*Mutex).lockSlow",
    "pthread_mutex_lock",
    "__lll_lock_wait",
    "__GI___lll_lock_wait",
    "native_queued_spin_lock_slowpath",
    "osq_lock",
];

pub(super) fn lock(facts: &Facts<'_>) -> Outcome {
    if let Some(cause) = facts_of_profile(of_processor(facts)) {
        return Outcome::one(Some(cause));
    }
    let waits = |server| locked_file(facts, server).or_else(|| monitors(facts, server));
    if let Some(cause) = facts.servers.iter().find_map(waits) {
        return Outcome::one(Some(cause));
    }
    let judged: Vec<Option<Cause>> =
        facts.servers.iter().filter_map(|server| one_at_a_time(facts, server)).collect();
    let warmed = facts.run.plan.warmup_ns > 0;
    match (facts.servers.is_empty(), judged.is_empty(), warmed) {
        (true, ..) => Outcome::Lacking(Facts::how_to_watch().to_owned()),
        (_, true, _) => Outcome::Lacking(
            "neither a profile nor the processes of a server were watched: add --observe app=local:pid=PID there"
                .to_owned(),
        ),
        // A window that begins under load does not say how long a request takes alone.
        (_, _, true) if judged.iter().all(Option::is_none) => Outcome::Lacking(
            "after a warm-up the window does not show how long one request takes alone: leave out --warmup"
                .to_owned(),
        ),
        _ => Outcome::of(judged.into_iter().flatten().collect()),
    }
}

/// The function that takes locks for so long that they limit.
pub(super) fn taking_locks(profiled: &Profiled) -> Option<&FunctionCost> {
    let takes = |function: &FunctionCost| LOCKS.contains(&function.name.as_str());
    largest(profiled, takes).filter(|most| most.share >= TAKING)
}

fn facts_of_profile(profiled: Option<&Profiled>) -> Option<Cause> {
    let most = taking_locks(profiled?)?;
    let sentence = format!(
        "The server's threads wait for one another: {} of its processor time goes into taking locks.",
        percent(most.share)
    );
    Some(Cause::new(High, "server", sentence).weighing(most.share.max(0.6)).with(cost(most)))
}

/// Most requests wait for a lock on a file, by what threads do in the kernel.
fn locked_file(facts: &Facts<'_>, server: &Server<'_>) -> Option<Cause> {
    let waiting = held_up::by(server, "locking a file")?;
    let share = waiting / facts.in_flight()?;
    (waiting >= 1.0 && share >= MOST_WAIT).then(|| {
        let sentence = "The server's workers wait for one another: for a lock on a file.".to_owned();
        Cause::new(High, &server.source.name, sentence).weighing(share.min(1.0)).with(format!(
            "{} of its threads waited in the kernel to lock a file, on average, for {} requests on their way",
            grouped(waiting, 1),
            grouped(facts.in_flight().unwrap_or(0.0), 1)
        ))
    })
}

/// Most requests find a monitor of a JVM taken, by what it counts itself, and one is served at a time, while processors are
/// idle. Monitors let whoever comes first pass, so that some are served at once under any load, and others late.
fn monitors(facts: &Facts<'_>, server: &Server<'_>) -> Option<Cause> {
    let taken = server.source.mean("process.monitors_contended")? / facts.requests_per_s()?;
    let at_once = at_once(facts)?;
    let in_flight = facts.in_flight()?;
    let busiest = server.source.mean("process.thread_share").unwrap_or(0.0);
    let free = server.host_busy().is_none_or(|busy| busy < IDLE.0);
    let room = server.used()? < IDLE.0 && busiest < IDLE.1 && free;
    let limits = facts.is_bound_by_responses() && in_flight >= WAITING;
    let serial = ONE_AT_A_TIME.0 <= at_once && at_once <= ONE_AT_A_TIME.1;
    (taken >= FOUND_TAKEN && serial && limits && room).then(|| {
        let sentence = "The server's threads wait for one another: most requests find a monitor (`synchronized`) taken.";
        Cause::new(High, &server.source.name, sentence.to_owned())
            .weighing(1.0 - 1.0 / in_flight)
            .with(format!(
                "its JVM counted {} times for each request that a thread found a monitor taken, with {} requests on their way",
                grouped(taken, 2),
                grouped(in_flight, 1)
            ))
            .with(format!(
                "throughput times the time of the quickest request is {}: one at a time; it used {} of its processors",
                grouped(at_once, 2),
                percent(server.used().unwrap_or(0.0))
            ))
            .fixed_by(
                "Hold the monitor for less (no input and output inside), or split it (one for each key or shard). jcmd PID Thread.print names it: the address that most threads are `waiting to lock`."
                    .to_owned(),
            )
    })
}

/// Requests that are served at a time, by the utilisation law (U = X S), if the quickest took its time alone.
fn at_once(facts: &Facts<'_>) -> Option<f64> {
    Some(facts.run.service_ns.min as f64 / SECOND as f64 * facts.requests_per_s()?)
}

/// Requests are served one after the other, and nothing is used up: by the utilisation law (U = X S).
fn one_at_a_time(facts: &Facts<'_>, server: &Server<'_>) -> Option<Option<Cause>> {
    let (run, used) = (facts.run, server.used()?);
    let (cores, threads) = (server.cores()?, server.source.mean("process.threads")?);
    let busiest = server.source.mean("process.thread_share").unwrap_or(0.0);
    let (at_once, per_s) = (at_once(facts)?, facts.requests_per_s()?);
    let in_flight = facts.in_flight()?;
    let serial = (ONE_AT_A_TIME.0..=ONE_AT_A_TIME.1).contains(&at_once) && in_flight >= WAITING;
    let alike = run.service_ns.p90 as f64 <= ALIKE * run.service_ns.p50 as f64;
    let room =
        used < IDLE.0 && busiest < IDLE.1 && server.host_busy().is_none_or(|busy| busy < IDLE.0);
    Some((serial && alike && room && threads >= 2.0 && run.plan.warmup_ns == 0).then(|| {
        let sentence = "The server serves one request at a time though it has threads and processors for more: a lock \
                        is likely.";
        let share = 1.0 - 1.0 / in_flight;
        Cause::new(Medium, &server.source.name, sentence.to_owned())
            .weighing(share)
            .with(format!(
                "{} requests a second, of which the quickest took {}: {} at a time",
                grouped(per_s, 0),
                show_duration(run.service_ns.min),
                grouped(at_once, 2)
            ))
            .with(format!(
                "{} requests were on their way on average, and all took about the same (p50 {}, p90 {})",
                grouped(in_flight, 1),
                show_duration(run.service_ns.p50),
                show_duration(run.service_ns.p90)
            ))
            .with(format!(
                "its {} threads used {} cores, the busiest {} of one",
                grouped(threads, 0),
                grouped(cores, 2),
                percent(busiest)
            ))
            .against(Some("what it waits for outside may serve one at a time as well".to_owned()))
    }))
}

pub(super) fn too_many_workers(facts: &Facts<'_>) -> Outcome {
    let judged: Vec<Option<Cause>> =
        facts.servers.iter().filter_map(|server| many_workers(facts, server)).collect();
    match (facts.servers.is_empty(), judged.is_empty()) {
        (true, _) => Outcome::Lacking(Facts::how_to_watch().to_owned()),
        (_, true) => Outcome::Lacking(
            "no server tells how long its threads wait for a processor (local:pid= on its machine)"
                .to_owned(),
        ),
        _ => Outcome::of(judged.into_iter().flatten().collect()),
    }
}

/// More of a server's workers want a processor than there are, or wake up for nothing.
fn many_workers(facts: &Facts<'_>, server: &Server<'_>) -> Option<Option<Cause>> {
    let queued = server.source.mean("process.queued_ns")? / SECOND as f64;
    let (used, allowed) = (server.used()?, server.cores_allowed()?);
    let each = queued / allowed.max(1.0);
    if each < QUEUED.0 || used < QUEUED.1 {
        return Some(None);
    }
    let ready = format!(
        "{} workers ready to run beside those that ran, for each processor",
        grouped(each, 1)
    );
    if let Some(cause) = wakes_in_vain(facts, server) {
        return Some(Some(cause.with(ready)));
    }
    let switches = server.source.mean("process.involuntary_switches").unwrap_or(0.0);
    let sentence = format!(
        "The server has too many workers for its {}: {} of them wait at a time.",
        counted(allowed, "processor"),
        grouped(queued, 0)
    );
    let per_request = facts.requests_per_s().map_or(0.0, |per_s| switches / per_s);
    let switched = format!("{} involuntary switches for each request", grouped(per_request, 1));
    let stay =
        "with fewer of them the processors stay as busy: what is won is their switches and memory";
    let cause = Cause::new(Low, &server.source.name, sentence).weighing(0.4);
    Some(Some(cause.with(ready).with(switched).against(Some(stay.to_owned()))))
}

/// Workers that wake up again and again though there is nothing for them to do: many more of them than requests.
fn wakes_in_vain(facts: &Facts<'_>, server: &Server<'_>) -> Option<Cause> {
    let waking = server.source.mean("process.waking_threads")?;
    let wakes = server.source.mean("process.voluntary_switches")? / facts.requests_per_s()?;
    let in_flight = facts.in_flight()?;
    (wakes >= IN_VAIN.0 && waking >= IN_VAIN.1 * in_flight.max(1.0)).then(|| {
        let sentence = format!(
            "The server has too many workers: {} of them wake up again and again, for {} on their way, and use up its \
             processors.",
            grouped(waking, 0),
            counted(in_flight, "request")
        );
        Cause::new(Medium, &server.source.name, sentence)
            .weighing(0.8)
            .with(format!("{} for each request", counted(wakes, "wake-up")))
            .fixed_by(
                "Start one to two workers for each core, and let them wait for work (a blocking accept, epoll) instead of \
                 looking for it again and again. Risk: where requests wait for something else, few workers carry less."
                    .to_owned(),
            )
    })
}

#[cfg(test)]
mod tests {
    use model::Run;
    use model::observed::{Figure, Observed, ObservedSource};
    use model::units::MILLISECOND;

    use super::*;
    use crate::explain::explain;

    /// Ten users of a server of four processors, each second 200 requests that take 5 ms alone.
    fn serial(figures: &[(&str, f64)]) -> Run {
        let mut run = fixture::sound::closed();
        run.plan.warmup_ns = 0;
        run.totals.requests = run.totals.duration_ns / SECOND * 200;
        run.totals.attempts = run.totals.requests;
        run.totals.succeeded = run.totals.requests;
        run.service_ns.min = 5 * MILLISECOND;
        run.service_ns.mean = 50 * MILLISECOND;
        run.service_ns.p50 = 50 * MILLISECOND;
        run.service_ns.p90 = 51 * MILLISECOND;
        let second = SECOND as f64;
        let usual = [
            ("process.threads", 12.0),
            ("process.cpus_allowed", 4.0),
            ("process.cpu_ns", 0.1 * second),
            ("process.thread_share", 0.05),
        ];
        let figure = |mean: f64| Figure { mean, min: mean, max: mean, growth: Some(mean * 10.0) };
        let all = usual.iter().chain(figures).map(|(name, v)| ((*name).to_owned(), figure(*v)));
        let app = ObservedSource {
            name: "app".into(),
            role: model::Role::App,
            read_from: "exec:ssh app1 plimsoll watch --stdio".into(),
            samples: 10,
            figures: all.collect(),
            ..ObservedSource::default()
        };
        run.observed = Some(Observed { sources: vec![app] });
        run
    }

    fn has(run: &Run, code: &str) -> bool {
        explain(run).findings.iter().any(|finding| finding.code == code)
    }

    #[test]
    fn one_request_at_a_time_is_a_lock_and_many_at_a_time_are_none() {
        assert!(has(&serial(&[]), "server.lock"));
        // A server that is slow by design serves all ten at once.
        let mut slow = serial(&[]);
        slow.service_ns.min = 49 * MILLISECOND;
        assert!(!has(&slow, "server.lock"));
        // One that takes between 1 and 99 ms, at random.
        let mut random = serial(&[]);
        random.service_ns.p90 = 90 * MILLISECOND;
        assert!(!has(&random, "server.lock"));
        assert!(!has(&serial(&[("process.thread_share", 0.97)]), "server.lock"), "one thread");
        assert!(!has(&serial(&[("process.threads", 1.0)]), "server.lock"), "nobody to lock out");
    }

    #[test]
    fn after_a_warm_up_nothing_is_said_of_locks() {
        let mut run = serial(&[]);
        run.plan.warmup_ns = SECOND;
        let findings = explain(&run);
        let lacks = |a: &model::finding::Abstained| {
            a.code == "server.lock" && a.missing.contains("--warmup")
        };
        assert!(findings.abstained.iter().any(lacks), "{findings:?}");
    }

    #[test]
    fn workers_that_wait_for_processors_are_too_many() {
        let second = SECOND as f64;
        let queued = |queued: f64, cores: f64| {
            serial(&[("process.queued_ns", queued * second), ("process.cpu_ns", cores * second)])
        };
        assert!(has(&queued(40.0, 3.9), "server.too_many_workers"));
        assert_eq!(explain(&queued(40.0, 3.9)).findings[0].code, "server.cpu");
        assert!(!has(&queued(4.0, 3.9), "server.too_many_workers"));
        // Held back by something else than its own number.
        assert!(!has(&queued(40.0, 1.0), "server.too_many_workers"));
    }
}
