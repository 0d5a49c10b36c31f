//! Figures that no machine can have, which another program's source may report nevertheless: they are left out and named,
//! so that nothing is concluded from them.

use super::ObservedSource;
use crate::sample::stem;
use crate::units::SECOND;

/// What a figure may exceed its bound by: ticks of the kernel and the pace of the samples are not exact.
const SLACK: f64 = 1.25;
/// Processors of a machine at most.
const MOST_CORES: f64 = 65_536.0;
/// Time that the processors of a machine spend, each kind of it; together no more than they have.
const MODES: [&str; 6] = [
    "cpu.user_ns",
    "cpu.system_ns",
    "cpu.softirq_ns",
    "cpu.idle_ns",
    "cpu.iowait_ns",
    "cpu.steal_ns",
];
/// Time that processes spend, no more than the processors have.
const OF_PROCESSES: [&str; 3] = ["process.cpu_ns", "process.user_ns", "process.system_ns"];
/// Shares of the time, of one processor or of none.
const OF_TIME: [&str; 5] = [
    "cpu.busy_ns",
    "pressure.cpu_some_ns",
    "pressure.io_some_ns",
    "pressure.memory_some_ns",
    "process.thread_share",
];
/// Beginnings of names that are ours, whose values are never below zero.
const OURS: [&str; 12] = [
    "cgroup.",
    "conntrack.",
    "cpu.",
    "disk.",
    "listen.",
    "load.",
    "memory.",
    "net.",
    "process.",
    "pressure.",
    "swap.",
    "tcp.",
];
/// Series that are drawn of a figure.
const DRAWN: [(&str, &str); 6] = [
    ("cpu.user_ns", "CPU"),
    ("process.cpu_ns", "CPU of the processes"),
    ("process.thread_share", "busiest thread"),
    ("memory.available_bytes", "memory available"),
    ("tcp.time_wait", "TIME_WAIT"),
    ("process.files", "open files"),
];

/// Leaves out what cannot be, and says so.
pub(super) fn leave_out_the_impossible(source: &mut ObservedSource) {
    for (name, why) in impossible(source) {
        source.figures.remove(&name);
        if let Some((_, drawn)) = DRAWN.iter().find(|(figure, _)| *figure == name) {
            source.series.retain(|series| series.name != *drawn);
        }
        source.missing.insert(name, why);
    }
}

fn impossible(source: &ObservedSource) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, why: String| {
        if source.figures.contains_key(name) {
            found.push((name.to_owned(), format!("left out: {why}")));
        }
    };
    let cores = source.figure("cpu.cores").map(|figure| figure.max);
    let possible = |cores: &f64| (1.0..=MOST_CORES).contains(cores);
    match cores.filter(possible) {
        Some(cores) => {
            let of =
                |names: &[&str]| names.iter().filter_map(|name| source.mean(name)).sum::<f64>();
            for (names, who) in
                [(&MODES[..], "the processors"), (&OF_PROCESSES[..1], "the processes")]
            {
                let spent = of(names) / SECOND as f64;
                if spent > SLACK * cores {
                    let why =
                        format!("{who} cannot spend {spent:.2} s of {cores} cores in a second");
                    let all = if names.len() > 1 { &MODES[..] } else { &OF_PROCESSES[..] };
                    all.iter().for_each(|name| add(name, why.clone()));
                }
            }
        }
        None => add("cpu.cores", "a machine has from 1 to 65,536 cores".to_owned()),
    }
    for (name, figure) in &source.figures {
        let is_time = if stem(name).ends_with("_ns") { SECOND as f64 } else { 1.0 };
        if OF_TIME.contains(&stem(name)) && figure.mean / is_time > SLACK {
            add(name, "it cannot be more than all of the time".to_owned());
        } else if figure.min < 0.0 && OURS.iter().any(|ours| name.starts_with(ours)) {
            add(name, "it cannot be below zero".to_owned());
        }
    }
    let memory = ["memory.available_bytes", "memory.total_bytes"].map(|name| source.mean(name));
    if let [Some(available), Some(total)] = memory
        && available > total
    {
        add("memory.available_bytes", "more memory is available than there is".to_owned());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::{Figure, Series};
    use super::*;

    #[test]
    fn what_cannot_be_is_left_out_and_named() {
        let figure = |mean: f64| Figure { mean, min: mean, max: mean, growth: None };
        let source = |told: &[(&str, f64)]| {
            let mut source = ObservedSource::default();
            let told = told.iter().map(|(name, mean)| ((*name).to_owned(), figure(*mean)));
            source.figures = told.collect();
            source.series = ["CPU of the processes", "TIME_WAIT"]
                .map(|name| Series { name: name.into(), ..Series::default() })
                .to_vec();
            leave_out_the_impossible(&mut source);
            source
        };
        let two = ("cpu.cores", 2.0);
        for (told, left_out) in [
            (&[two, ("process.cpu_ns", 9.99e9)][..], &["process.cpu_ns"][..]),
            (&[two, ("process.cpu_ns", 2.02e9), ("process.thread_share", 1.02)], &[]),
            (&[two, ("cpu.user_ns", 2e9), ("cpu.idle_ns", 2e9)], &["cpu.idle_ns", "cpu.user_ns"]),
            (&[("cpu.cores", 0.0)], &["cpu.cores"]),
            (&[("cpu.busy_ns{1}", 3e9), ("disk.busy_ns{a}", 3e9)], &["cpu.busy_ns{1}"]),
            (&[("cpu.busy_ns{0}", 0.9e9), ("cpu.busy_ns{1}", 1.01e9)], &[]),
            (&[("tcp.time_wait", -1.0), ("temperature", -1.0)], &["tcp.time_wait"]),
            (
                &[("memory.available_bytes", 2.0), ("memory.total_bytes", 1.0)],
                &["memory.available_bytes"],
            ),
        ] {
            let source = source(told);
            let missing: Vec<&str> = source.missing.keys().map(String::as_str).collect();
            assert_eq!(missing, left_out, "{told:?}");
            assert_eq!(source.figures.len(), told.len() - left_out.len());
        }
        let source = source(&[two, ("process.cpu_ns", 9.99e9)]);
        assert_eq!(source.series.len(), 1);
        assert!(source.missing["process.cpu_ns"].contains("9.99 s of 2 cores"), "{source:?}");
    }
}
