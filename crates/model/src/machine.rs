//! What the generator's machine did beside the workers: processor time of others, of the server where
//! it runs here too, time that the host took away, and the clocks against one another.
//!
//! Sampled by whoever runs the plan, about once a second; summed over the window into
//! [`Machine`], which the rules of `verdict` read. Nothing here reads the machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Nanos;

/// One interval of the machine, on the processors that this process may use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineUse {
    /// Time between the two samples by the monotonic clock, which stands still while the machine
    /// sleeps.
    pub elapsed_ns: Nanos,
    /// Processor time spent by everyone on the allowed processors, to the kernel's tick (10 ms).
    pub busy_ns: Nanos,
    /// Processor time of this process, all of its threads.
    pub own_ns: Nanos,
    /// Whether the server is on this machine and may run on the generator's processors.
    pub shares_cores: bool,
    /// Processor time of the server's processes, where they were found on this machine.
    pub server_ns: Option<Nanos>,
    /// Time that the host gave to other guests while this one wanted to run.
    pub steal_ns: Nanos,
    /// Time that the quota of this process's cgroups kept it from running (`cpu.stat`), summed over
    /// processors; 0 where there is no quota or the kernel does not tell.
    pub throttled_ns: Nanos,
    /// Periods of the quota in which that happened.
    pub throttled: u64,
    /// Time in which this process as a whole did not run, though it would have had a processor: it was stopped, or its
    /// machine was paused.
    pub stopped_ns: Nanos,
    /// Of such times that ended in the interval, what lies before it.
    pub stopped_before_ns: Nanos,
    /// How often.
    pub stops: u64,
    /// The longest time of these.
    pub stopped_max_ns: Nanos,
    /// How far the wall clock moved against the monotonic one: forwards or backwards.
    pub stepped_ns: i64,
    /// How long the machine slept.
    pub slept_ns: Nanos,
    /// Memory that could have been had without swapping; absent where unknown.
    pub memory_available_bytes: Option<u64>,
}

/// The machine over the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Machine {
    /// Time that was looked at.
    pub sampled_ns: Nanos,
    /// Share of the allowed processors that was spent by neighbours: processes other than this one
    /// and, where it was found, the server. 0..=1.
    pub neighbours_ratio: f64,
    /// Whether the server is on this machine and may run on the processors that the generator may
    /// use.
    pub shares_cores: bool,
    /// Share of the allowed processors that the server spent, where its processes were found on
    /// this machine and on processors that the generator may use.
    pub server_ratio: Option<f64>,
    /// Share of the allowed processors that the host gave to other guests. 0..=1.
    pub steal_ratio: f64,
    /// Time that the quota of the generator's cgroups kept it from running, summed over processors; 0
    /// where there is no quota or the kernel does not tell.
    pub throttled_ns: Nanos,
    /// Periods of the quota in which that happened.
    pub throttled: u64,
    /// Time in which the generator's process as a whole did not run, though it would have had a processor: it was
    /// stopped, or its machine was paused.
    pub stopped_ns: Nanos,
    /// How often, in window and drain.
    pub stops: u64,
    /// The longest time of these.
    pub stopped_max_ns: Nanos,
    /// The furthest that the wall clock stepped against the monotonic one in one interval.
    pub stepped_ns: i64,
    /// How long the machine slept inside the window.
    pub slept_ns: Nanos,
    /// Least memory that could have been had without swapping; absent where unknown.
    pub memory_available_bytes: Option<u64>,
}

/// Adds up intervals.
#[derive(Debug, Default)]
pub(crate) struct MachineSum {
    sum: MachineUse,
    seen: bool,
    /// The length of the interval before; 0 before the first.
    last_ns: Nanos,
}

impl MachineSum {
    pub(crate) fn add(&mut self, interval: &MachineUse) {
        let sum = &mut self.sum;
        sum.elapsed_ns = sum.elapsed_ns.saturating_add(interval.elapsed_ns);
        sum.busy_ns = sum.busy_ns.saturating_add(interval.busy_ns);
        sum.own_ns = sum.own_ns.saturating_add(interval.own_ns);
        sum.steal_ns = sum.steal_ns.saturating_add(interval.steal_ns);
        sum.slept_ns = sum.slept_ns.saturating_add(interval.slept_ns);
        sum.throttled_ns = sum.throttled_ns.saturating_add(interval.throttled_ns);
        sum.throttled = sum.throttled.saturating_add(interval.throttled);
        // What lies before the window is no part of it: it may be longer than a short one.
        let in_window_ns =
            interval.stopped_ns.saturating_add(interval.stopped_before_ns.min(self.last_ns));
        if in_window_ns > 0 {
            let whole = interval.stopped_before_ns <= self.last_ns;
            let longest_ns = if whole { Nanos::MAX } else { in_window_ns };
            sum.stopped_ns = sum.stopped_ns.saturating_add(in_window_ns);
            sum.stops = sum.stops.saturating_add(interval.stops);
            sum.stopped_max_ns = sum.stopped_max_ns.max(interval.stopped_max_ns.min(longest_ns));
        }
        self.last_ns = interval.elapsed_ns;
        sum.shares_cores |= interval.shares_cores;
        if let Some(server_ns) = interval.server_ns {
            sum.server_ns = Some(sum.server_ns.unwrap_or(0).saturating_add(server_ns));
        }
        if interval.stepped_ns.unsigned_abs() > sum.stepped_ns.unsigned_abs() {
            sum.stepped_ns = interval.stepped_ns;
        }
        let least = [sum.memory_available_bytes, interval.memory_available_bytes];
        sum.memory_available_bytes = least.into_iter().flatten().min();
        self.seen = true;
    }

    /// Adds the stops of the drain: they are no part of the window, and may have held up its last responses. Of one that was
    /// noted only behind the window, what lies before its end is.
    pub(crate) fn add_drain(&mut self, interval: &MachineUse) {
        let in_window_ns = interval.stopped_before_ns.min(std::mem::take(&mut self.last_ns));
        let sum = &mut self.sum;
        sum.stopped_ns = sum.stopped_ns.saturating_add(in_window_ns);
        sum.stops = sum.stops.saturating_add(interval.stops);
        sum.stopped_max_ns = sum.stopped_max_ns.max(interval.stopped_max_ns);
    }

    /// The machine's figures on `cpus` processors; nothing when nobody looked.
    pub(crate) fn finish(&self, cpus: u32) -> Option<Machine> {
        let sum = &self.sum;
        let room = sum.elapsed_ns as f64 * f64::from(cpus.max(1));
        if !self.seen || room <= 0.0 {
            return None;
        }
        let ratio = |nanos: Nanos| (nanos as f64 / room).min(1.0);
        let known = sum.own_ns.saturating_add(sum.server_ns.unwrap_or(0));
        Some(Machine {
            sampled_ns: sum.elapsed_ns,
            neighbours_ratio: ratio(sum.busy_ns.saturating_sub(known)),
            shares_cores: sum.shares_cores,
            server_ratio: sum.server_ns.map(ratio),
            steal_ratio: ratio(sum.steal_ns),
            throttled_ns: sum.throttled_ns,
            throttled: sum.throttled,
            stopped_ns: sum.stopped_ns,
            stops: sum.stops,
            stopped_max_ns: sum.stopped_max_ns,
            stepped_ns: sum.stepped_ns,
            slept_ns: sum.slept_ns,
            memory_available_bytes: sum.memory_available_bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::SECOND;

    #[test]
    fn time_of_neither_generator_nor_server_is_the_neighbours() {
        let mut sum = MachineSum::default();
        for (stepped_ns, memory) in [(-5, 9), (3, 7)] {
            sum.add(&MachineUse {
                elapsed_ns: SECOND,
                busy_ns: SECOND,
                own_ns: SECOND / 2,
                shares_cores: true,
                server_ns: Some(SECOND / 4),
                steal_ns: SECOND / 10,
                throttled_ns: SECOND / 5,
                throttled: 4,
                stopped_ns: SECOND / 20,
                stopped_before_ns: 0,
                stops: 2,
                stopped_max_ns: SECOND / 25,
                stepped_ns,
                slept_ns: 0,
                memory_available_bytes: Some(memory),
            });
        }
        let machine = sum.finish(2).expect("it was looked at");
        assert_eq!((machine.neighbours_ratio, machine.server_ratio), (0.125, Some(0.125)));
        assert_eq!((machine.steal_ratio, machine.stepped_ns), (0.05, -5));
        assert_eq!(machine.memory_available_bytes, Some(7));
        assert_eq!((machine.throttled_ns, machine.throttled), (2 * (SECOND / 5), 8));
        let stops = (machine.stopped_ns, machine.stops, machine.stopped_max_ns);
        assert_eq!(stops, (SECOND / 10, 4, SECOND / 25));
        let drain = MachineUse { stopped_ns: SECOND, stops: 1, ..MachineUse::default() };
        sum.add_drain(&MachineUse { elapsed_ns: SECOND, stopped_max_ns: SECOND, ..drain });
        let machine = sum.finish(2).expect("it was looked at");
        let stops = (machine.stopped_ns, machine.stops, machine.stopped_max_ns);
        assert_eq!((stops, machine.sampled_ns), ((SECOND / 10, 5, SECOND), 2 * SECOND));
        assert_eq!(MachineSum::default().finish(2), None);
    }

    /// A window of 5 ms, and stops of 20 ms that end in it or at its edges.
    #[test]
    fn a_stop_is_shared_by_the_intervals_that_it_lies_in() {
        const MS: Nanos = SECOND / 1000;
        let interval = |elapsed_ms: Nanos, in_ms: Nanos, before_ms: Nanos| MachineUse {
            elapsed_ns: elapsed_ms * MS,
            stopped_ns: in_ms * MS,
            stopped_before_ns: before_ms * MS,
            stops: u64::from(in_ms + before_ms > 0),
            stopped_max_ns: (in_ms + before_ms) * MS,
            ..MachineUse::default()
        };
        for (name, intervals, expected) in [
            ("before the window", &[interval(5, 0, 20)][..], (0, 0, 0)),
            ("from before it", &[interval(5, 1, 19)], (1, 1, 1)),
            ("in it", &[interval(50, 20, 0)], (20, 1, 20)),
            ("noted in the next", &[interval(5, 0, 0), interval(50, 16, 4)], (20, 1, 20)),
            ("from before both", &[interval(5, 0, 0), interval(50, 1, 19)], (6, 1, 6)),
        ] {
            let mut sum = MachineSum::default();
            intervals.iter().for_each(|interval| sum.add(interval));
            let Machine { stopped_ns, stops, stopped_max_ns, .. } = sum.finish(1).expect("seen");
            assert_eq!((stopped_ns / MS, stops, stopped_max_ns / MS), expected, "{name}");
        }
        let mut sum = MachineSum::default();
        sum.add(&interval(50, 0, 0));
        // Noted in the drain, and one of the drain alone that is noted in its second interval.
        for drained in [interval(50, 16, 4), interval(50, 1, 9)] {
            sum.add_drain(&drained);
        }
        let Machine { stopped_ns, stops, stopped_max_ns, .. } = sum.finish(1).expect("seen");
        assert_eq!((stopped_ns / MS, stops, stopped_max_ns / MS), (4, 2, 20));
    }
}
