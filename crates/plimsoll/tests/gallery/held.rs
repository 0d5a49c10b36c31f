//! A generator that is held up: by a quota, by a signal, by the script that makes its requests.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use model::{Nanos, ReasonCode, Run, Verdict};
use tempfile::TempDir;
use testkit::misbehaving::{Behaviour, Misbehaving};

use crate::alone;
use crate::claims::refused;
use crate::harness::{Ended, PLIMSOLL, command, end, load, loaded, server, url};
use crate::servers::signals;

/// The loads of a rig: a closed loop and an open one.
const LOOPS: [(&str, &str); 2] = [("closed", "-c 20"), ("open", "-c 20 -R 500")];

/// A control group with a limit. It is removed on drop, when nobody is in it any more.
pub struct Group(PathBuf);

/// Where groups are made, by controller, and the files that set a limit there.
type Limits<'a> = [(&'a str, &'a [(&'a str, String)])];

impl Group {
    /// With a quota of `percent` of a processor; nothing where no group can be made.
    pub fn with_quota(percent: u32) -> Option<Self> {
        let (quota, period) = ((1000 * percent).to_string(), "100000".to_owned());
        Self::of(&[
            (
                "/sys/fs/cgroup/cpu",
                &[("cpu.cfs_period_us", period), ("cpu.cfs_quota_us", quota.clone())],
            ),
            ("/sys/fs/cgroup", &[("cpu.max", quota)]),
        ])
    }

    /// With a limit of `bytes` of memory, cached files included.
    pub fn with_memory(bytes: u64) -> Option<Self> {
        let limit = bytes.to_string();
        Self::of(&[
            ("/sys/fs/cgroup/memory", &[("memory.limit_in_bytes", limit.clone())]),
            ("/sys/fs/cgroup", &[("memory.max", limit)]),
        ])
    }

    fn of(limits: &Limits) -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("plimsoll-rig-{}-{}", std::process::id(), NEXT.fetch_add(1, Relaxed));
        for (at, limits) in limits {
            let group = Self(Path::new(at).join(&name));
            let made = std::fs::create_dir(&group.0).is_ok();
            let set = |(file, value): &(&str, String)| {
                let file = group.0.join(file);
                file.exists() && std::fs::write(file, value).is_ok()
            };
            if made && limits.iter().all(set) {
                return Some(group);
            }
        }
        None
    }

    /// `plimsoll` in it.
    pub fn plimsoll(&self, line: &str) -> Command {
        self.enter(&command(line))
    }

    /// A copy of `plimsoll` that is made inside it, so that its file's cached pages count.
    fn copied_into(&self, folder: &TempDir, line: &str) -> Command {
        let (group, copy) = (self.0.display(), folder.path().join("plimsoll"));
        let copy = copy.display();
        let script = format!(
            "echo $$ > {group}/cgroup.procs && rm -f {copy} && cp {PLIMSOLL} {copy} && \
             exec timeout -s KILL 30 {copy} {line}"
        );
        let mut inside = Command::new("sh");
        inside.args(["-c", &script]).stdin(Stdio::null());
        inside
    }

    /// How often something in it waited for a page to be read from disk.
    fn page_ins(&self) -> u64 {
        let text = std::fs::read_to_string(self.0.join("memory.stat")).expect("its memory");
        let count = |line: &str| line.strip_prefix("pgmajfault ")?.trim().parse().ok();
        text.lines().find_map(count).expect("major page faults are counted")
    }

    /// A command in it.
    pub fn enter(&self, command: &Command) -> Command {
        let script = format!("echo $$ > {}/cgroup.procs && exec \"$0\" \"$@\"", self.0.display());
        let mut inside = Command::new("sh");
        inside.args(["-c", &script]).arg(command.get_program()).args(command.get_args());
        inside.stdin(Stdio::null());
        inside
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn held_by_a_quota() {
    let _alone = alone();
    let Some(quota) = Group::with_quota(30) else {
        return eprintln!("skipped: no control group with a quota can be made here");
    };
    let server = server();
    for (which, flags) in [("closed", "-c 20"), ("open", "-c 20 -R 20k")] {
        let url = url(&server, "/healthz");
        let ended = end(quota.plimsoll(&format!("run {url} {flags} -t 1 -d 4s --format json -q")));
        let name = format!("generator held by a quota of 30 %, {which}");
        refused(&name, &loaded(ended), ReasonCode::Throttled);
    }
}

/// Pages a second that the kernel reads back for a group whose memory does not stay in place: 250 to 650 were seen, and
/// up to 150 where it nearly fits and the program runs at full speed.
const SWAPPED_PER_S: u64 = 200;

/// Too little memory for the program and what is cached of its file: its code is read back again and
/// again, as when a machine swaps. The kernel's own count of the group says whether it was.
#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn swapped() {
    let _alone = alone();
    let server = server();
    let folder = TempDir::new().expect("a temporary folder");
    let seconds = 4;
    for (which, flags) in LOOPS {
        let line =
            format!("run {} {flags} -t 1 -d {seconds}s --format json -q", url(&server, "/healthz"));
        let mut tried = Vec::new();
        // How much it needs varies. From much to little: with too little it takes many seconds to begin.
        let ended = (0..3).flat_map(|_| (14..=26).rev()).find_map(|mib| {
            let Some(group) = Group::with_memory(mib << 20) else {
                eprintln!("skipped: no control group with a limit on memory can be made here");
                return Some(None);
            };
            let ended = group.copied_into(&folder, &line).output().expect("the program starts");
            let page_ins = group.page_ins();
            tried.push((mib, page_ins));
            let swapped = !ended.stdout.is_empty() && page_ins >= SWAPPED_PER_S * seconds;
            swapped.then(|| {
                Some(Ended {
                    code: ended.status.code().unwrap_or(-1),
                    stdout: String::from_utf8_lossy(&ended.stdout).into_owned(),
                    stderr: String::from_utf8_lossy(&ended.stderr).into_owned(),
                })
            })
        });
        let Some(ended) = ended.unwrap_or_else(|| panic!("no limit held it up: {tried:?}")) else {
            return;
        };
        refused(
            &format!("generator swapped, {which}"),
            &loaded(ended),
            ReasonCode::GeneratorPaused,
        );
    }
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn stopped_by_a_signal() {
    let _alone = alone();
    for (which, flags) in LOOPS {
        let server = Misbehaving::start(Behaviour::well(Duration::from_millis(2)));
        let line = format!("run http://{}/ {flags} -t 1 -d 6s --format json -q", server.addr());
        let mut command = Command::new(PLIMSOLL);
        command.args(line.split_whitespace()).stdin(Stdio::null());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.expect("the program starts");
        let course = [(Duration::from_secs(2), "STOP"), (Duration::from_millis(1500), "CONT")];
        let sender = signals(child.id(), &course);
        let output = child.wait_with_output().expect("it ends");
        sender.join().expect("signals are sent");
        let ended = Ended {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        };
        let name = format!("generator stopped for 1.5 s, {which}");
        refused(&name, &loaded(ended), ReasonCode::GeneratorPaused);
    }
}

/// A script whose `request()` computes for this long.
fn script(folder: &TempDir, burn: Duration) -> PathBuf {
    let path = folder.path().join(format!("burn-{}.lua", burn.as_micros()));
    let text = format!(
        "local ffi = require('ffi')\n\
         ffi.cdef[[ typedef struct {{ long s; long ns; }} instant; int clock_gettime(int, instant *); ]]\n\
         local at = ffi.new('instant')\n\
         local function now() ffi.C.clock_gettime(1, at); return tonumber(at.s) * 1e6 + tonumber(at.ns) / 1e3 end\n\
         function request()\n\
           local till = now() + {}\n\
           while now() < till do end\n\
           return wrk.format()\n\
         end\n",
        burn.as_micros()
    );
    std::fs::write(&path, text).expect("a script");
    path
}

/// 0.8 ms of a script's `request()` are the generator's, and no part of a service time: p50 stays within 50 us, or
/// the run says that it is not VALID.
#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn a_script_that_computes() {
    let _alone = alone();
    let folder = TempDir::new().expect("a temporary folder");
    let server = server();
    for path in ["/healthz", "/delay/2ms"] {
        let url = url(&server, path);
        let run_with = |burn: u64| -> Run {
            let script = script(&folder, Duration::from_micros(burn));
            load(&url, &format!("-c 1 -t 1 -d 4s -s {}", script.display())).run
        };
        let (without, with) = (run_with(0), run_with(800));
        let apart: Nanos = with.service_ns.p50.abs_diff(without.service_ns.p50);
        let verdict = with.validity.verdict;
        let met = apart <= 50_000 || verdict != Verdict::Valid;
        let us = |ns: Nanos| ns / 1000;
        let got = format!(
            "{} us, {} us without it, {}",
            us(with.service_ns.p50),
            us(without.service_ns.p50),
            verdict.name()
        );
        let word = if met { "yes" } else { "no" };
        println!(
            "truth | rigged: 0.8 ms of request(), {path} | p50 within 50 us, or not VALID | {got} | {word}"
        );
        assert!(met, "{:?}\n{:?}", with.service_ns, with.validity);
    }
}
