//! Samples beside what other programs tell of the same machine at the same time: `nstat`, `ss`, `sar`.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use testkit::needs;

use super::json;
use crate::harness::{Folder, Target};

/// Prints what `cargo xtask truth observe` shows; it was asserted before.
pub(super) fn claim(what: &str, got: &str) {
    println!("truth | observe: {what} | equal within one sample's change | {got} | yes");
}

/// What another program prints.
fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().expect("it starts");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn counters_and_listeners_are_those_that_nstat_and_ss_tell() {
    if !needs::has("nstat") || !needs::has("ss") {
        return;
    }
    let (folder, _target) = (Folder::new(), Target::start());
    let nstat = || said("nstat", &["-asz"]);
    let before = nstat();
    let watched = folder.plimsoll("watch --stdio --every 100ms --for 300ms local").ok();
    let after = nstat();
    let sample = json(watched.stdout.lines().next().expect("a sample"));
    let of = |text: &str, name: &str| -> u64 {
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
        let value = line.and_then(|rest| rest.split_whitespace().next()).expect(name);
        value.parse().expect("a number")
    };
    // They only grow: what was read between two looks of another program lies between them.
    for (theirs, ours) in [
        ("TcpActiveOpens", "tcp.active_opens"),
        ("TcpPassiveOpens", "tcp.passive_opens"),
        ("TcpOutSegs", "tcp.segments_out"),
        ("TcpRetransSegs", "tcp.retransmits"),
        ("TcpExtListenOverflows", "tcp.listen_overflows"),
        ("TcpExtListenDrops", "tcp.listen_drops"),
        ("TcpExtTCPTimeouts", "tcp.timeouts"),
    ] {
        let value = sample["counters"][ours].as_u64().expect(ours);
        let between = of(&before, theirs)..=of(&after, theirs);
        assert!(between.contains(&value), "{ours}: {value}, and nstat says {between:?}");
    }
    // Of a machine with many listeners those with the longest queues are told; another program's may have ended since.
    let listeners = said("ss", &["-ltnH"]);
    let backlog = |line: &str| -> Option<(String, f64)> {
        let mut fields = line.split_whitespace().skip(2);
        let backlog = fields.next()?.parse().ok()?;
        Some((format!("listen.backlog{{{}}}", fields.next()?), backlog))
    };
    let told = listeners.lines().filter_map(backlog);
    let both: Vec<_> = told
        .filter_map(|(name, theirs)| Some((sample["gauges"][&name].as_f64()?, theirs, name)))
        .collect();
    assert!(!both.is_empty(), "{listeners}: {sample}");
    for (ours, theirs, name) in both {
        assert_eq!(ours, theirs, "{name}");
    }
    claim("counters of TCP and listeners against nstat and ss", "7 counters, each listener told");
}

/// Seconds that `sar` looks.
const SECONDS: u64 = 4;
/// What a share may differ by beyond one sample's change: `sar` prints hundredths of a percent, and adds up processors
/// whose ticks of 10 ms are each cut off: one of the 400 of each.
const ROUNDED: f64 = 0.0026;

/// Something that works until it is dropped.
struct Work(Child);

impl Work {
    fn start(program: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Self(command.spawn().expect("it starts"))
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn now_ns() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    u64::try_from(now.as_nanos()).expect("before 2554")
}

/// When each sample was taken, and what its counters of these names come to.
fn sums(samples: &[Value], names: &[&str]) -> Vec<(u64, f64)> {
    let sum = |sample: &Value| {
        names.iter().map(|name| sample["counters"][*name].as_f64().expect(name)).sum()
    };
    samples
        .iter()
        .map(|sample| (sample["at_unix_ns"].as_u64().expect("a time"), sum(sample)))
        .collect()
}

/// The least and the most that a counter grew by in any window of [`SECONDS`] between two instants, as far as samples
/// tell: at each end it may be a sample more or less.
fn grown(sums: &[(u64, f64)], from_ns: u64, to_ns: u64) -> (f64, f64) {
    let length = SECONDS * 1_000_000_000;
    let (mut least, mut most) = (f64::MAX, 0.0_f64);
    for pair in sums.windows(2) {
        let [(before_ns, before), (after_ns, after)] = [pair[0], pair[1]];
        // Of the windows that begin between these two samples.
        if after_ns < from_ns || before_ns + length > to_ns {
            continue;
        }
        let last_before = sums.iter().rev().find(|(at_ns, _)| *at_ns <= before_ns + length);
        let first_after = sums.iter().find(|(at_ns, _)| *at_ns >= after_ns + length);
        least = least.min(last_before.expect("a sample").1 - after);
        most = most.max(first_after.expect("samples go on").1 - before);
    }
    (least, most)
}

#[test]
fn processor_time_by_mode_is_what_sar_tells() {
    if !needs::has("sar") {
        return;
    }
    let folder = Folder::new();
    // Work of its own kind on a processor each: in programs, and in the kernel.
    let _busy = [
        Work::start("sh", &["-c", "while :; do :; done"]),
        Work::start("dd", &["if=/dev/zero", "of=/dev/null", "bs=1"]),
    ];
    let line = format!("watch --stdio --every 100ms --for {}s local", SECONDS + 8);
    let (watched, (from_ns, said, to_ns)) = std::thread::scope(|scope| {
        let watched = scope.spawn(|| folder.plimsoll(&line).ok());
        std::thread::sleep(Duration::from_secs(2));
        let from_ns = now_ns();
        let mut sar = Command::new("sar");
        sar.args(["-u", "ALL", &SECONDS.to_string(), "1"]).env("LC_ALL", "C");
        let said = sar.output().expect("it starts");
        let to_ns = now_ns();
        let said = String::from_utf8(said.stdout).expect("text");
        (watched.join().expect("it ends"), (from_ns, said, to_ns))
    });
    let samples: Vec<Value> = watched.stdout.lines().map(json).collect();
    let line = said.lines().find(|line| line.starts_with("Average:")).expect("an average");
    let shares: Vec<f64> = line
        .split_whitespace()
        .skip(2)
        .map(|share| share.parse::<f64>().expect("a share") / 100.0)
        .collect();
    let [user, nice, system, wait, steal, hard, soft, guest, guest_nice, idle] =
        <[f64; 10]>::try_from(shares).expect("ten modes");
    let modes: [(&str, &[&str], f64); 5] = [
        ("user", &["cpu.user_ns"], user + nice + guest + guest_nice),
        ("system", &["cpu.system_ns"], system),
        ("interrupts", &["cpu.softirq_ns"], hard + soft),
        ("steal", &["cpu.steal_ns"], steal),
        ("idle", &["cpu.idle_ns", "cpu.iowait_ns"], wait + idle),
    ];
    let all: Vec<&str> = modes.iter().flat_map(|(_, names, _)| *names).copied().collect();
    let total = grown(&sums(&samples, &all), from_ns, to_ns);
    let mut told = Vec::new();
    for (mode, names, share) in modes {
        let (least, most) = grown(&sums(&samples, names), from_ns, to_ns);
        let between = least / total.1 - ROUNDED..=most / total.0 + ROUNDED;
        assert!(
            between.contains(&share),
            "{mode}: sar says {share}, and samples {between:?}\n{said}"
        );
        told.push(format!("{mode} {:.1} %", share * 100.0));
    }
    claim("processor time by mode against sar", &told.join(", "));
}
