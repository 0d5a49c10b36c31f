//! Rules about the generator's machine: who else used its processors, its memory and its clocks.

use model::run::WorkerShare;
use model::units::{MILLISECOND, SECOND, show_duration};
use model::{Machine, Run, Verdict};

use super::Finding;
use crate::figures::{counted, grouped, percent, rate};

/// Share of the processors that neighbours, or other guests, may take.
pub(super) const TAKEN: f64 = 0.05;
/// Window from which on that share can be measured: the kernel counts processor time in ticks, of 10 ms on
/// many machines, and a few of them are no share of anything.
pub(super) const COUNTED_NS: u64 = SECOND;
/// Share of the window that a worker may wait for a processor.
pub(super) const WAITED: f64 = 0.10;
/// A worker that was busy or waiting for this much of the window had no time left.
const NO_TIME_LEFT: f64 = 0.95;
/// Share of the processors' time from which on they are full, and neighbours' share from which on it is then they who
/// filled them.
const FULL: f64 = 0.95;
pub(super) const FILLED: f64 = 0.10;
/// Share of the memory that must be to be had.
pub(super) const MEMORY: f64 = 0.02;
/// Step of the wall clock that is worth a word: above what is usual when it is disciplined.
pub(super) const STEPPED_NS: u64 = 100 * MILLISECOND;
/// Sleep that is not the difference between two readings.
const SLEPT_NS: u64 = 10 * MILLISECOND;
/// Share of the ceiling from which on it may be what was measured.
pub(super) const NEAR: f64 = 0.80;

pub(super) fn neighbours(run: &Run) -> Option<Finding> {
    let machine = run.generator.machine.filter(|_| run.totals.duration_ns >= COUNTED_NS)?;
    let worst = hungriest(run)?;
    let (queued, wanted) = (worst.queued_ratio, worst.queued_ratio + worst.busy_ratio);
    let held_up = queued >= WAITED || (wanted >= NO_TIME_LEFT && queued > 0.0);
    // Where the server shares the processors and was not found, what it took is among this.
    let known = !machine.shares_cores || machine.server_ratio.is_some();
    let squeezed = server_squeezed(run, &machine);
    let crowded = machine.neighbours_ratio >= TAKEN && (held_up || squeezed);
    let stolen = machine.steal_ratio >= TAKEN;
    if !(crowded && known || stolen) {
        return None;
    }
    let mut found = Vec::new();
    if stolen {
        found.push(format!(
            "the host gave {} of the generator's processors to other guests",
            percent(machine.steal_ratio)
        ));
    }
    if crowded {
        let server = if squeezed { "; the server, on the same ones, waited too" } else { "" };
        found.push(format!(
            "other processes took {} of the generator's processors, and a worker waited {} of the \
             window for one{server}",
            percent(machine.neighbours_ratio),
            percent(queued)
        ));
    }
    Some((in_closed_loop(run), found.join("; ")))
}

/// Whether neighbours left a server on the same processors no time: it waits then, while workers, which have nothing
/// to do until it responds, do not.
fn server_squeezed(run: &Run, machine: &Machine) -> bool {
    let time_ns = run.totals.duration_ns as f64 * f64::from(run.environment.cpus_allowed.max(1));
    let own = run.generator.cpu_ns as f64 / time_ns.max(1.0);
    let server = machine.server_ratio.unwrap_or(0.0);
    let used = own + server + machine.neighbours_ratio + machine.steal_ratio;
    machine.shares_cores && machine.neighbours_ratio >= FILLED && used >= FULL
}

pub(super) fn shared_cores(run: &Run) -> Option<Finding> {
    let machine = run.generator.machine?;
    if !machine.shares_cores {
        return None;
    }
    let cpus = run.environment.cpus_allowed;
    let processors =
        if cpus == 1 { "the processor".to_owned() } else { format!("{cpus} processors") };
    let took = match machine.server_ratio {
        Some(server) => format!("; it took {} of them", percent(server)),
        None => String::new(),
    };
    let waited = hungriest(run).map(|worker| worker.queued_ratio).unwrap_or_default();
    let evidence = format!(
        "the server runs on this machine and may use the generator's {processors}{took}, and a \
         worker waited {} of the window for one",
        percent(waited)
    );
    Some((Verdict::Valid, evidence))
}

pub(super) fn memory(run: &Run) -> Option<Finding> {
    let available = run.generator.machine?.memory_available_bytes?;
    let all = run.environment.memory_bytes;
    if all == 0 || available as f64 >= MEMORY * all as f64 {
        return None;
    }
    let mebibytes = |bytes: u64| grouped((bytes >> 20) as f64, 0);
    let evidence = format!(
        "at worst {} MiB of {} MiB of memory were available",
        mebibytes(available),
        mebibytes(all)
    );
    Some((Verdict::LowerBound, evidence))
}

pub(super) fn clock(run: &Run) -> Option<Finding> {
    let machine = run.generator.machine?;
    if machine.slept_ns > SLEPT_NS {
        let slept = show_duration(machine.slept_ns);
        return Some((
            Verdict::Invalid,
            format!("the machine slept for {slept} inside the window"),
        ));
    }
    let by = machine.stepped_ns.unsigned_abs();
    let way = if machine.stepped_ns < 0 { "back" } else { "forward" };
    (by >= STEPPED_NS).then(|| {
        let evidence = format!("the wall clock was set {way} by {} meanwhile", show_duration(by));
        (Verdict::Valid, evidence)
    })
}

pub(super) fn near_ceiling(run: &Run) -> Option<Finding> {
    let ceiling = run.generator.ceiling.as_ref()?;
    if ceiling.used_ratio < NEAR {
        return None;
    }
    let evidence = format!(
        "{}/s is {} of this generator's ceiling with {}, {}/s",
        rate(run.rates.requests_per_s),
        percent(ceiling.used_ratio),
        counted(f64::from(run.plan.threads), "worker"),
        rate(ceiling.requests_per_s)
    );
    Some((Verdict::Valid, evidence))
}

/// The worker that waited longest for a processor.
fn hungriest(run: &Run) -> Option<&WorkerShare> {
    let workers = run.generator.workers.iter();
    workers.max_by(|a, b| a.queued_ratio.total_cmp(&b.queued_ratio))
}

/// A schedule keeps its own account: late sends say what a busy machine cost.
fn in_closed_loop(run: &Run) -> Verdict {
    if run.plan.rate_per_s.is_some() { Verdict::Valid } else { Verdict::LowerBound }
}
