//! Watches the generator's machine while a run goes on: a reading of `/proc` and the clocks at each
//! interval, put into the interval as a [`MachineUse`]. What it means is `verdict`'s to say.
//!
//! Costs some 0.1 ms a second, on the thread that collects, never on a worker's.

mod cgroup;
mod server;

use std::fs;

use model::{MachineUse, Nanos, Plan};
use net::{clock, limits};

use cgroup::{Cgroups, Throttled};
use server::Server;

use super::environment::meminfo;

/// The kernel's tick in `/proc/stat`: a hundredth of a second wherever Linux runs today.
const TICK_NS: Nanos = 10_000_000;

/// Takes the readings, and keeps the last one to subtract from the next.
#[derive(Debug)]
pub struct Watch {
    cpus: Vec<usize>,
    server: Server,
    cgroups: Cgroups,
    before: Reading,
}

/// The machine at an instant.
#[derive(Debug, Clone, Copy, Default)]
struct Reading {
    monotonic_ns: Nanos,
    wall_ns: Nanos,
    boot_ns: Nanos,
    own_ns: Nanos,
    server_ns: Option<Nanos>,
    busy_ns: Nanos,
    steal_ns: Nanos,
    throttled: Throttled,
}

impl Watch {
    /// Begins to watch, and looks whether the server that `plan` goes to is on this machine.
    pub fn start(plan: &Plan) -> Self {
        let cpus = limits::allowed_cpus();
        let server = Server::find(&plan.addresses, &cpus);
        let (cgroups, before) = (Cgroups::find(), Reading::default());
        let mut watch = Self { cpus, server, cgroups, before };
        watch.restart();
        watch
    }

    /// What went on until now is nobody's.
    pub fn restart(&mut self) {
        self.before = self.read();
    }

    /// What went on since the last reading.
    pub fn interval(&mut self) -> MachineUse {
        let (before, now) = (self.before, self.read());
        self.before = now;
        let since = |before: Nanos, now: Nanos| now.saturating_sub(before);
        let elapsed_ns = since(before.monotonic_ns, now.monotonic_ns);
        let wall = now.wall_ns as i64 - before.wall_ns as i64;
        let boot_ns = since(before.boot_ns, now.boot_ns);
        MachineUse {
            elapsed_ns,
            busy_ns: since(before.busy_ns, now.busy_ns),
            own_ns: since(before.own_ns, now.own_ns),
            shares_cores: self.server.shares_cores(),
            server_ns: before.server_ns.zip(now.server_ns).map(|(a, b)| since(a, b)),
            steal_ns: since(before.steal_ns, now.steal_ns),
            throttled_ns: since(before.throttled.time_ns, now.throttled.time_ns),
            throttled: now.throttled.periods.saturating_sub(before.throttled.periods),
            // The wall clock goes on in a machine that sleeps; that is not a step.
            stepped_ns: wall - boot_ns as i64,
            slept_ns: boot_ns.saturating_sub(elapsed_ns),
            memory_available_bytes: meminfo("MemAvailable:"),
        }
    }

    fn read(&self) -> Reading {
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        let (busy_ns, steal_ns) = busy_and_steal(&stat, &self.cpus);
        Reading {
            monotonic_ns: clock::now(),
            wall_ns: clock::wall(),
            boot_ns: clock::boot(),
            own_ns: clock::process_cpu(),
            server_ns: self.server.cpu_ns(),
            busy_ns,
            steal_ns,
            throttled: self.cgroups.throttled(),
        }
    }
}

/// Time that some processors have spent on processes, and that the host has kept from them, by
/// `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal.
fn busy_and_steal(stat: &str, cpus: &[usize]) -> (Nanos, Nanos) {
    let mut sum = (0, 0);
    for line in stat.lines() {
        let Some((name, figures)) = line.split_once(' ') else { continue };
        let cpu = name.strip_prefix("cpu").and_then(|number| number.parse::<usize>().ok());
        if !cpu.is_some_and(|cpu| cpus.contains(&cpu)) {
            continue;
        }
        let ticks: Vec<u64> =
            figures.split_whitespace().map_while(|field| field.parse().ok()).collect();
        let at = |i: usize| ticks.get(i).copied().unwrap_or(0).saturating_mul(TICK_NS);
        sum.0 += at(0) + at(1) + at(2) + at(5) + at(6);
        sum.1 += at(7);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_that_may_not_be_used_do_not_count() {
        let stat = "cpu  999 999 999 999 0 0 0 999\n\
            cpu0 10 1 5 700 20 2 3 4 0 0\n\
            cpu1 100 0 0 0 0 0 0 50 0 0\n\
            cpu10 1000 0 0 0 0 0 0 0 0 0\n\
            intr 5\n";
        assert_eq!(busy_and_steal(stat, &[0]), (21 * TICK_NS, 4 * TICK_NS));
        assert_eq!(busy_and_steal(stat, &[0, 1]), (121 * TICK_NS, 54 * TICK_NS));
        assert_eq!(busy_and_steal("cpu0", &[0]), (0, 0));
    }
}
