//! Watches the generator's machine while a run goes on: a reading of `/proc` and the clocks at each
//! interval, put into the interval as a [`MachineUse`]. What it means is `verdict`'s to say.
//!
//! Costs some 0.1 ms a second, on the thread that collects, never on a worker's.

use std::fs;

use model::{MachineUse, Nanos, Plan};
use net::{clock, limits};

use observe::cgroup::Cgroups;
use observe::proc::processors::{Throttled, busy_and_steal};
use observe::server::Server;

use super::environment::memory_available;
use super::pulse::Pulse;

/// Takes the readings, and keeps the last one to subtract from the next.
#[derive(Debug)]
pub struct Watch {
    cpus: Vec<usize>,
    server: Server,
    cgroups: Cgroups,
    pulse: Pulse,
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
        let (cgroups, before) = (Cgroups::of_this_process(), Reading::default());
        let mut watch = Self { cpus, server, cgroups, pulse: Pulse::start(), before };
        watch.restart();
        watch
    }

    /// The server's processes, where it runs on this machine.
    pub fn server(&self) -> Vec<u32> {
        self.server.pids()
    }

    /// Drops what was counted until now.
    pub fn restart(&mut self) {
        self.before = self.read();
        self.pulse.take();
    }

    /// What went on since the last reading.
    pub fn interval(&mut self) -> MachineUse {
        let (before, now) = (self.before, self.read());
        self.before = now;
        let since = |before: Nanos, now: Nanos| now.saturating_sub(before);
        let elapsed_ns = since(before.monotonic_ns, now.monotonic_ns);
        let wall = now.wall_ns as i64 - before.wall_ns as i64;
        let boot_ns = since(before.boot_ns, now.boot_ns);
        let stops = self.pulse.take();
        MachineUse {
            elapsed_ns,
            busy_ns: since(before.busy_ns, now.busy_ns),
            own_ns: since(before.own_ns, now.own_ns),
            shares_cores: self.server.shares_cores(),
            server_ns: before.server_ns.zip(now.server_ns).map(|(a, b)| since(a, b)),
            steal_ns: since(before.steal_ns, now.steal_ns),
            throttled_ns: since(before.throttled.time_ns, now.throttled.time_ns),
            stopped_ns: stops.sum_ns,
            stopped_before_ns: stops.before_ns,
            stops: stops.count,
            stopped_max_ns: stops.longest_ns,
            throttled: now.throttled.periods.saturating_sub(before.throttled.periods),
            // The wall clock goes on in a machine that sleeps; that is not a step.
            stepped_ns: wall - boot_ns as i64,
            slept_ns: boot_ns.saturating_sub(elapsed_ns),
            memory_available_bytes: memory_available(),
        }
    }

    fn read(&mut self) -> Reading {
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
