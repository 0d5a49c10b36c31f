//! Servers that go away under a sweep, a search for capacity and a comparison: each stops, keeps what it
//! learnt, says why, and ends with 98.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use testkit::misbehaving::{Behaviour, Fault, Misbehaving};

use crate::alone;
use crate::harness::{Ended, command, end};
use crate::servers::{signals, target};

/// What happens, so long after the command's beginning.
const FAULTS: [(&str, Fault); 2] =
    [("replaced by resets", Fault::Resets), ("replaced by slow 503s", Fault::Slow503s)];
const SWEEP: &str = "sweep --levels 2,4,8,16,32,64 -d 2s --rest 100ms -T 2s -t 1 --name api";
const CAPACITY: &str = "capacity --budget 60s --step 2s --hold 3s --rest 100ms -c 20 -T 2s -t 1";
const COMPARE: &str = "compare --rounds 8 -d 1s --rest 100ms -c 8 -T 2s -t 1 --anyway";

/// What a command came to, in its folder.
struct Stopped {
    ended: Ended,
    folder: TempDir,
}

/// Runs a command against URLs.
fn run(line: &str, urls: &str) -> Stopped {
    let folder = TempDir::new().expect("a temporary folder");
    let mut command = command(&format!("{line} -q --out out {urls}"));
    command.current_dir(folder.path()).env("XDG_STATE_HOME", folder.path().join("state"));
    Stopped { ended: end(command), folder }
}

impl Stopped {
    /// Prints and asserts the claim: why it stopped, and that of `all` parts some, and not all, are kept in
    /// `file`.
    #[track_caller]
    fn claims(&self, name: &str, why: &str, kept: impl Fn(&Path) -> usize, all: usize) {
        let out = self.folder.path().join("out");
        let text = self.ended.stdout.clone() + &self.ended.stderr;
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (code, parts, found) = (self.ended.code, kept(&out), text.contains(why));
        let page = out.join("report.html").exists();
        let met = code == 98 && found && page && (1..all).contains(&parts);
        let word = if met { "yes" } else { "no" };
        let got = format!("{}, {parts} kept, exit {code}", if found { "why" } else { "no reason" });
        println!("truth | rigged: {name} | stops, says why, keeps | {got} | {word}");
        assert!(met, "{name}: {text}");
    }
}

fn json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).expect("JSON")
}

fn levels(out: &Path) -> usize {
    json(&out.join("sweep.json"))["levels"].as_array().map_or(0, Vec::len)
}

/// Steps in which the server sent responses.
fn steps(out: &Path) -> usize {
    let search = json(&out.join("search.json"));
    let answered = |step: &&Value| step["judged"]["succeeded_per_s"].as_f64() > Some(0.0);
    search["steps"].as_array().map_or(0, |steps| steps.iter().filter(answered).count())
}

fn rounds(out: &Path) -> usize {
    let kept = |n: &usize| out.join(format!("round-{n:02}-new/run.json")).exists();
    (1..=8).filter(kept).count()
}

/// Each way to go, so long after the beginning, with a URL of the server.
fn each(after: Duration, check: impl Fn(&str, &str)) {
    let _alone = alone();
    for (name, fault) in FAULTS {
        let server = Misbehaving::start(Behaviour::faulty(fault, after));
        check(name, &format!("http://{}/", server.addr()));
    }
    for (name, signal) in [("killed", "KILL"), ("stopped", "STOP")] {
        let server = target();
        let sender = signals(server.pid(), &[(after, signal)]);
        check(name, &server.url("/delay/2ms"));
        sender.join().expect("signals are sent");
    }
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn a_sweep_stops() {
    each(Duration::from_secs(5), |name, url| {
        let stopped = run(SWEEP, url);
        stopped.claims(&format!("sweep, {name}"), "the server stopped answering", levels, 6);
    });
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn a_search_stops() {
    each(Duration::from_secs(7), |name, url| {
        let stopped = run(CAPACITY, url);
        stopped.claims(&format!("capacity, {name}"), "stopped answering", steps, 20);
    });
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn a_comparison_stops() {
    each(Duration::from_secs(5), |name, url| {
        let well = Misbehaving::start(Behaviour::well(Duration::from_millis(3)));
        let stopped = run(COMPARE, &format!("http://{}/ {url}", well.addr()));
        let why = "the server stopped answering";
        stopped.claims(&format!("compare, {name}"), why, rounds, 8);
    });
}
