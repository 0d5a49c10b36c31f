//! Processors, load, pressure and quotas: `/proc/stat`, `/proc/loadavg`, `/proc/pressure/*`, `cpu.stat`.

use model::{Nanos, Sample};

use super::TICK_NS;

/// Processors listed one by one.
const MOST_CORES: usize = 256;

/// `/proc/stat`: time of all processors by mode, busy time of each, context switches, processes that run.
pub fn stat(text: &str, sample: &mut Sample) {
    let mut cores = 0_usize;
    for line in text.lines() {
        let Some((name, rest)) = line.split_once(' ') else { continue };
        match name.strip_prefix("cpu") {
            Some("") => modes(rest, sample),
            Some(number) if number.bytes().all(|b| b.is_ascii_digit()) => {
                cores += 1;
                if let Some(busy_ns) = busy_ns(rest).filter(|_| cores <= MOST_CORES) {
                    sample.count(format!("cpu.busy_ns{{{number}}}"), busy_ns);
                }
            }
            _ => {}
        }
        let value = || rest.trim().parse::<u64>().ok();
        match (name, value()) {
            ("ctxt", Some(n)) => sample.count("cpu.context_switches", n),
            ("processes", Some(n)) => sample.count("cpu.forks", n),
            ("procs_running", Some(n)) => sample.gauge("cpu.running", n as f64),
            ("procs_blocked", Some(n)) => sample.gauge("cpu.blocked", n as f64),
            _ => {}
        }
    }
    if cores > 0 {
        sample.gauge("cpu.cores", cores as f64);
    }
}

/// user, nice, system, idle, iowait, irq, softirq, steal (proc(5)).
fn modes(fields: &str, sample: &mut Sample) {
    let at = ticks(fields);
    let Some(&[user, nice, system, idle]) = at.first_chunk() else { return };
    let later = |i: usize| at.get(i).copied().unwrap_or(0);
    for (name, ticks) in [
        ("cpu.user_ns", user.saturating_add(nice)),
        ("cpu.system_ns", system),
        ("cpu.idle_ns", idle),
        ("cpu.iowait_ns", later(4)),
        ("cpu.softirq_ns", later(5).saturating_add(later(6))),
        ("cpu.steal_ns", later(7)),
    ] {
        sample.count(name, ticks.saturating_mul(TICK_NS));
    }
}

fn ticks(fields: &str) -> Vec<u64> {
    fields.split_whitespace().take(10).map_while(|field| field.parse().ok()).collect()
}

fn busy_ns(fields: &str) -> Option<Nanos> {
    let at = ticks(fields);
    let &[user, nice, system, _] = at.first_chunk()?;
    let irqs = at.get(5).copied().unwrap_or(0).saturating_add(at.get(6).copied().unwrap_or(0));
    let sum = user.saturating_add(nice).saturating_add(system).saturating_add(irqs);
    Some(sum.saturating_mul(TICK_NS))
}

/// Time that some processors have spent on processes, and that the host has kept from them, by
/// `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal.
pub fn busy_and_steal(stat: &str, cpus: &[usize]) -> (Nanos, Nanos) {
    let mut sum = (0_u64, 0_u64);
    for line in stat.lines() {
        let Some((name, figures)) = line.split_once(' ') else { continue };
        let cpu = name.strip_prefix("cpu").and_then(|number| number.parse::<usize>().ok());
        if !cpu.is_some_and(|cpu| cpus.contains(&cpu)) {
            continue;
        }
        sum.0 = sum.0.saturating_add(busy_ns(figures).unwrap_or(0));
        let steal = ticks(figures).get(7).copied().unwrap_or(0).saturating_mul(TICK_NS);
        sum.1 = sum.1.saturating_add(steal);
    }
    sum
}

/// `/proc/loadavg`: the load of a minute, and how many tasks there are.
pub fn loadavg(text: &str, sample: &mut Sample) {
    let mut fields = text.split_whitespace();
    if let Some(load) = fields.next().and_then(|field| field.parse().ok()) {
        sample.gauge("load.1m", load);
    }
    let tasks = fields.nth(2).and_then(|field| field.split_once('/'));
    if let Some(tasks) = tasks.and_then(|(_, all)| all.parse().ok()) {
        sample.gauge("load.tasks", tasks);
    }
}

/// `/proc/pressure/RESOURCE`: time in which some tasks, or all of them, waited for it.
pub fn pressure(resource: &str, text: &str, sample: &mut Sample) {
    for line in text.lines() {
        let Some((who, rest)) = line.split_once(' ') else { continue };
        let total = rest.rsplit_once("total=").and_then(|(_, us)| us.trim().parse::<u64>().ok());
        if let (Some(us), "some" | "full") = (total, who) {
            sample.count(format!("pressure.{resource}_{who}_ns"), us.saturating_mul(1000));
        }
    }
}

/// The figures about a quota in `cpu.stat` of its cgroup.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Throttled {
    /// Time that the quota kept processes from running, summed over processors.
    pub time_ns: Nanos,
    /// Periods of the quota in which processes were held back.
    pub periods: u64,
    /// Periods of the quota in all.
    pub all_periods: u64,
}

impl Throttled {
    /// Both together.
    pub const fn plus(self, other: Self) -> Self {
        Self {
            time_ns: self.time_ns.saturating_add(other.time_ns),
            periods: self.periods.saturating_add(other.periods),
            all_periods: self.all_periods.saturating_add(other.all_periods),
        }
    }
}

/// `cpu.stat`: `nr_throttled` with `throttled_time` in nanoseconds (version 1) or `throttled_usec`
/// (version 2). A group without the controller has neither.
pub fn cpu_stat(text: &str) -> Option<Throttled> {
    let field = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(' '));
        lines.find(|(key, _)| *key == name).and_then(|(_, value)| value.trim().parse::<u64>().ok())
    };
    let in_us = || field("throttled_usec").map(|us| us.saturating_mul(1000));
    let time_ns = field("throttled_time").or_else(in_us)?;
    let all_periods = field("nr_periods").unwrap_or(0);
    Some(Throttled { time_ns, periods: field("nr_throttled")?, all_periods })
}

/// A quota in processors: `cpu.max` of version 2 (`50000 100000`, or `max 100000` for none).
pub fn cpu_max(text: &str) -> Option<f64> {
    let (quota, period) = text.trim().split_once(' ')?;
    quota_of(quota.parse().ok()?, period.parse().ok()?)
}

/// A quota in processors: `cpu.cfs_quota_us` and `cpu.cfs_period_us` of version 1; -1 is none.
pub fn quota_of(quota_us: i64, period_us: i64) -> Option<f64> {
    (quota_us > 0 && period_us > 0).then(|| quota_us as f64 / period_us as f64)
}

/// How many processors a list such as `0-3,8` holds.
pub fn cpus_in(list: &str) -> Option<u32> {
    let mut count = 0_u32;
    for part in list.trim().split(',') {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        let (low, high): (u32, u32) = (low.parse().ok()?, high.parse().ok()?);
        count = count.checked_add(high.checked_sub(low)?.checked_add(1)?)?;
    }
    Some(count)
}
