//! Rules about the generator: its workers, its schedule, its connections and its machine.

use model::run::WorkerShare;
use model::units::{MILLISECOND, SECOND, show_duration};
use model::{PERCENTILES, Percentile, Run, Verdict};

use super::Finding;
use super::machine::COUNTED_NS;
use super::presence::server_gone;
use crate::figures::{counted, grouped, often, percent, rate, share};
use crate::offered::{arrivals, at_cap, open_loop, sessions_hold, shortfall};

/// A worker this busy has no time left to take responses up at once.
pub(super) const BUSY: f64 = 0.95;
/// How long a connection takes to open, at the least, whose first segment was dropped and sent again after a second.
pub(crate) const SENT_AGAIN_NS: u64 = 900 * MILLISECOND;
/// Share of the window spent waiting for a processor that is worth a word,
const WAITED: f64 = 0.01;
/// and from which on workers that wait for each other may make up a tenth of a latency: one that waits reads no response.
pub(super) const CROWDED: f64 = 0.1;
/// Lateness that never matters, in nanoseconds.
pub(super) const ON_TIME_NS: u64 = MILLISECOND;
/// Share of a percentile of response time that the same one of lateness may make up.
pub(super) const LATE: f64 = 0.1;
/// Share above which the response times are the generator's.
pub(super) const MOSTLY_LATE: f64 = 0.5;
/// Share of attempts whose connection was refused, reset or never came about.
pub(super) const TURNED_AWAY: f64 = 0.01;
/// Share of responses that refuse.
pub(super) const SHEDDING: f64 = 0.01;
/// Share of attempts that time out.
pub(super) const TIMING_OUT: f64 = 0.1;
/// Share of response time that is waiting for a connection from which on it is of their number.
pub(super) const HELD_FOR: f64 = 0.5;
/// Mean over least service time, and spread over mean, of requests that stand in one queue. A server
/// that only takes its time, however unevenly, does not show both.
pub(super) const QUEUED: (f64, f64) = (10.0, 1.0 / 3.0);
/// Responses at the end of the window from which on their spread says something.
const FEWEST_AT_END: u64 = 20;

pub(super) fn limits(run: &Run) -> Option<Finding> {
    let hits: u64 = run.totals.limits.values().fold(0, |sum, &n| sum.saturating_add(n));
    if hits == 0 {
        return None;
    }
    let named: Vec<String> = run
        .totals
        .limits
        .iter()
        .map(|(name, &n)| format!("{name} {} ({})", often(n as f64), meaning(run, name)))
        .collect();
    // A refused connection may be tried again for the same attempt, so hits bound failures.
    let failed = hits.min(run.totals.errors.total());
    let most = failed > run.totals.attempts / 2;
    let consequence = if most { Verdict::Invalid } else { Verdict::LowerBound };
    Some((consequence, format!("the generator's machine ran out: {}", named.join(", "))))
}

fn meaning(run: &Run, errno: &str) -> String {
    match errno {
        "EMFILE" => format!(
            "open files of a process: {} allowed, {} at most; see `ulimit -n`",
            grouped(run.environment.open_files as f64, 0),
            grouped(run.environment.open_files_hard as f64, 0)
        ),
        "ENFILE" => "open files of the machine; see the sysctl fs.file-max".to_owned(),
        "EADDRNOTAVAIL" | "EADDRINUSE" => format!(
            "local ports: {} per local and remote address; add local addresses with --source, or keep connections \
             alive",
            grouped(super::way::local_ports(run), 0)
        ),
        "ENOBUFS" | "ENOMEM" => "memory for sockets".to_owned(),
        _ => "a limit of the operating system".to_owned(),
    }
}

pub(super) fn saturated(run: &Run) -> Option<Finding> {
    let workers = &run.generator.workers;
    let queued = |worker: &WorkerShare| queued_for_others(run, worker);
    let taken = |worker: &WorkerShare| worker.busy_ratio + queued(worker);
    let busy = workers.iter().filter(|worker| taken(worker) >= BUSY).count();
    if run.plan.spin {
        return None;
    }
    if busy == 0 {
        return crowded(run);
    }
    let most = workers.iter().max_by(|a, b| taken(a).total_cmp(&taken(b)))?;
    let waited = match queued(most) {
        queued if queued >= WAITED => format!(", {} more waiting for a processor", percent(queued)),
        _ => String::new(),
    };
    let of_workers = format!(
        "{busy} of {} had no time left (busy {} of the window{waited})",
        counted(workers.len() as f64, "worker"),
        share(most.busy_ratio)
    );
    if open_loop(run) {
        return Some((Verdict::Valid, of_workers));
    }
    let qps = rate(run.rates.requests_per_s);
    Some((Verdict::LowerBound, format!("{of_workers}: the server carries at least {qps}/s")))
}

/// More workers than processors, of which some wait until others have done their work.
fn crowded(run: &Run) -> Option<Finding> {
    let (workers, cpus) = (run.generator.workers.len(), run.environment.cpus_allowed);
    let waited = run.generator.workers.iter().map(|worker| queued_for_others(run, worker));
    let most = waited.fold(0.0, f64::max);
    (cpus > 0 && workers as f64 > f64::from(cpus) && most >= CROWDED).then(|| {
        let evidence = format!(
            "{} shared {}, and one waited {} of the window for a processor: true latencies are no higher than shown",
            counted(workers as f64, "worker"),
            counted(f64::from(cpus), "processor"),
            percent(most)
        );
        let verdict = if open_loop(run) { Verdict::Valid } else { Verdict::LowerBound };
        (verdict, evidence)
    })
}

/// The share of the window that a worker waited for a processor, where it is not the server that it waited for: a
/// processor shared with the server is a separate note.
fn queued_for_others(run: &Run, worker: &WorkerShare) -> f64 {
    let waits_for_server = run.generator.machine.is_some_and(|machine| {
        let mostly = machine.server_ratio.is_none_or(|server| server >= machine.neighbours_ratio);
        machine.shares_cores && (mostly || run.totals.duration_ns < COUNTED_NS)
    });
    if waits_for_server { 0.0 } else { worker.queued_ratio }
}

pub(super) fn late(run: &Run) -> Option<Finding> {
    // A few responses that take long hide in p99 what the generator is to all others.
    let judged = [&PERCENTILES[0], judged_by(run.late_ns.count)];
    let shares = judged.map(|&Percentile { name, of, .. }| {
        let (late, response) = (of(&run.late_ns), of(&run.response_ns));
        (name, late, response, late as f64 / response.max(1) as f64)
    });
    let matter =
        shares.into_iter().filter(|&(_, late, _, share)| late > ON_TIME_NS && share > LATE);
    let (name, late, response, share) = matter.max_by(|one, other| one.3.total_cmp(&other.3))?;
    let consequence = if share > MOSTLY_LATE { Verdict::Invalid } else { Verdict::LowerBound };
    let evidence = format!(
        "requests left late: {name} {}, of a response {name} of {}",
        show_duration(late),
        show_duration(response)
    );
    Some((consequence, evidence))
}

/// The highest percentile, up to p99, that so many arrivals show: of fewer it is one or two of them, and one wake-up of the
/// machine makes it.
fn judged_by(arrivals: u64) -> &'static Percentile {
    let shown = |known: &&Percentile| known.share <= 0.99 && known.enough() <= arrivals;
    PERCENTILES.iter().rfind(shown).unwrap_or(&PERCENTILES[0])
}

pub(super) fn below_offered(run: &Run) -> Option<Finding> {
    let unsent = shortfall(run)?;
    let turned_away = turned_away(run);
    if at_cap(run) && (turned_away.is_some() || !behind_schedule(run)) {
        return None;
    }
    // What a server that is gone refuses is not sent either, and no lower rate would reach it.
    let explained = |(verdict, _): Finding| verdict == Verdict::Invalid || turned_away.is_some();
    if server_gone(run).is_some_and(explained) {
        return None;
    }
    let why = match &turned_away {
        Some(sign) => sign,
        None if behind_schedule(run) => "the generator ran late",
        None => "connections were free",
    };
    let evidence = format!(
        "{} of the {}/s offered were sent as {}/s: {} not sent {}, and {why}",
        share(run.rates.achieved_per_s / run.rates.offered_per_s),
        rate(run.rates.offered_per_s),
        rate(run.rates.achieved_per_s),
        counted(unsent, "arrival"),
        in_time(run)
    );
    let verdict = if turned_away.is_some() { Verdict::Valid } else { Verdict::LowerBound };
    Some((verdict, evidence))
}

pub(super) fn exhausted(run: &Run) -> Option<Finding> {
    if !open_loop(run) {
        return users_held_back(run);
    }
    let Some(unsent) = shortfall(run) else { return arrivals_held_back(run) };
    if !at_cap(run) {
        return None;
    }
    let held = match sessions_hold(run) {
        true => format!(
            "sessions held {} of {}, kept while they think",
            grouped(f64::from(run.concurrency.open_max), 0),
            counted(f64::from(run.plan.connections), "connection")
        ),
        false => format!(
            "{} of {} requests were in flight",
            grouped(f64::from(run.concurrency.in_flight_max), 0),
            grouped(f64::from(run.plan.inflight_cap()), 0)
        ),
    };
    let evidence = format!(
        "{} of {} arrivals ({}) found no free connection and were not sent {}: {held}, waiting took {} at p99",
        grouped(unsent, 0),
        grouped(arrivals(run), 0),
        share(unsent / arrivals(run)),
        in_time(run),
        show_duration(run.wait_ns.p99)
    );
    match server_saturated(run) {
        Some(_) if server_gone(run).is_some() => None,
        Some(sign) => {
            Some((Verdict::Valid, format!("{evidence}. The server was saturated: {sign}")))
        }
        None if had_enough_connections(run) => {
            let of = grouped(f64::from(run.plan.connections), 0);
            let needed = connections_for(run);
            Some((
                Verdict::Valid,
                format!("{evidence}. The server held them up: {needed}, and there were {of}"),
            ))
        }
        None => Some((Verdict::LowerBound, format!("{evidence}; {}", connections_for(run)))),
    }
}

/// Whether arrivals waited so long for connections that response times are of their number, though all were sent in the end: workers
/// own their connections, and one may be out of them while another has some. Not where the server was slower for
/// them all: with more connections they would have waited there.
pub(crate) fn waits_for_connections(run: &Run) -> bool {
    let (waited, response) = (run.wait_ns.p90, run.response_ns.p90);
    let long = waited > ON_TIME_NS && waited as f64 >= HELD_FOR * response as f64;
    open_loop(run)
        && shortfall(run).is_none()
        && at_cap(run)
        && long
        && server_saturated(run).is_none()
}

fn arrivals_held_back(run: &Run) -> Option<Finding> {
    (waits_for_connections(run) && server_gone(run).is_none()).then(|| {
        let evidence = format!(
            "every connection was in use, and arrivals waited {} for one (p90), of a response time of {}: with more \
             connections it may be shorter",
            show_duration(run.wait_ns.p90),
            show_duration(run.response_ns.p90)
        );
        (Verdict::Valid, evidence)
    })
}

/// By when arrivals are to leave: a window that ends by count waits for the last one, however late it leaves.
fn in_time(run: &Run) -> &'static str {
    if run.plan.requests.is_some() { "when they were due" } else { "in the window" }
}

/// A closed loop whose users were held back by `--max-inflight`: its level is not what it seems.
fn users_held_back(run: &Run) -> Option<Finding> {
    let users = run.plan.connections.saturating_mul(run.plan.pipeline);
    let cap = run.plan.inflight_cap();
    if cap >= users || !at_cap(run) {
        return None;
    }
    let evidence = format!(
        "{users} were held to {requests} at once (--max-inflight): the figures are those of {cap}, not of {users}",
        users = counted(f64::from(users), "user"),
        requests = counted(f64::from(cap), "request"),
        cap = counted(f64::from(cap), "user"),
    );
    Some((Verdict::LowerBound, evidence))
}

/// How many connections the rate would take at the service time seen, by Little's law.
pub(crate) fn connections_for(run: &Run) -> String {
    if !run.plan.mix.flows.is_empty() {
        return "the rate needs as many connections as sessions are under way at once".to_owned();
    }
    if run.service_ns.count == 0 {
        return "no request has ended, so it is unknown how many connections the rate needs"
            .to_owned();
    }
    let mean_s = run.service_ns.mean as f64 / SECOND as f64;
    let in_flight = (run.rates.offered_per_s * mean_s).ceil();
    let per_connection = f64::from(run.plan.pipeline.max(1));
    format!(
        "at a mean service time of {} the rate needs -c {} or more",
        show_duration(run.service_ns.mean),
        grouped((in_flight / per_connection).ceil().max(1.0), 0)
    )
}

/// Whether arrivals found no free connection although there were more than the rate needs: the server held up all of them at once,
/// and would have held up more. Independent arrivals rarely need more at once than the mean and three times its square root, the
/// deviation of a Poisson number.
pub(super) fn had_enough_connections(run: &Run) -> bool {
    let plan = &run.plan;
    let constant = plan.mix.flows.is_empty() && plan.stages.is_empty() && plan.recorded.is_none();
    let in_flight = run.rates.offered_per_s * run.service_ns.mean as f64 / SECOND as f64;
    let enough = in_flight + 3.0 * in_flight.sqrt() < f64::from(plan.inflight_cap());
    let short = open_loop(run) && shortfall(run).is_some() && at_cap(run);
    short && constant && enough && run.service_ns.count > 0 && !behind_schedule(run)
}

fn behind_schedule(run: &Run) -> bool {
    late(run).is_some() || no_time_left(run)
}

fn no_time_left(run: &Run) -> bool {
    let taken = |worker: &WorkerShare| worker.busy_ratio + queued_for_others(run, worker);
    !run.plan.spin && run.generator.workers.iter().any(|worker| taken(worker) >= BUSY)
}

/// That the server let nobody in, in words: connections failed, or opened only when the kernel had asked again, and not
/// for want of anything on this side. A generator without time left may have been the limit all the same, so then this
/// is `None`.
fn turned_away(run: &Run) -> Option<String> {
    if !run.totals.limits.is_empty() || no_time_left(run) {
        return None;
    }
    let (failed, attempts) = (run.totals.errors.connect as f64, run.totals.attempts as f64);
    if failed > 0.0 && failed >= TURNED_AWAY * attempts {
        return Some(format!(
            "{} of the attempts could not connect to the server",
            share(failed / attempts)
        ));
    }
    (run.connect_ns.p99 >= SENT_AGAIN_NS).then(|| {
        format!(
            "the server let connections wait: one in a hundred took {} or more to open",
            show_duration(run.connect_ns.p99)
        )
    })
}

/// Signs, from the server's responses alone, that it could not have carried more.
fn server_saturated(run: &Run) -> Option<String> {
    if let Some(sign) = turned_away(run) {
        return Some(sign);
    }
    let (totals, service) = (&run.totals, &run.service_ns);
    let refused = [429, 503].iter().filter_map(|status| totals.statuses.get(status));
    let refused = refused.fold(0u64, |sum, &n| sum.saturating_add(n)) as f64;
    let (responses, attempts) = (totals.requests as f64, totals.attempts as f64);
    if refused > 0.0 && refused >= SHEDDING * responses {
        return Some(format!("{} of its responses were 429 or 503", share(refused / responses)));
    }
    let timeouts = totals.errors.timeout as f64;
    if timeouts > 0.0 && timeouts >= TIMING_OUT * attempts {
        return Some(format!("{} of the attempts timed out", share(timeouts / attempts)));
    }
    let of_window = (service.mean, service.stdev);
    let of_end = end_of_window(run);
    let queued = [Some(of_window), of_end].into_iter().flatten().find(|&(mean, spread)| {
        let (least, mean, spread) = (service.min as f64, mean as f64, spread as f64);
        least > 0.0 && mean >= QUEUED.0 * least && spread <= QUEUED.1 * mean
    });
    queued.map(|(mean, spread)| {
        let when = if (mean, spread) == of_window { "" } else { " at the end of the window" };
        format!(
            "its service time grew from {} to a steady {}{when}",
            show_duration(service.min),
            show_duration(mean)
        )
    })
}

/// Mean and spread of the service times at the end of the window, where the window has several parts: a queue that was
/// still growing is steady there only.
fn end_of_window(run: &Run) -> Option<(u64, u64)> {
    let [_, .., last] = run.blocks.as_slice() else { return None };
    let times = last.service_times().ok()?;
    (times.count() >= FEWEST_AT_END).then(|| (times.mean(), times.stdev()))
}
