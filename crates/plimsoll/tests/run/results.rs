//! What a run leaves: on standard output, in its folder, and when it ends before its time.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use model::Run;
use target::Server;
use tempfile::TempDir;

use crate::harness::{Ended, PLIMSOLL, adds_up, end, load, plimsoll, server, url};

const FILES: [&str; 4] = ["run.json", "latency.hgrm", "timeline.csv", "report.html"];

fn folder() -> TempDir {
    TempDir::new().expect("a temporary folder")
}

#[track_caller]
fn has_all_files(dir: &Path) -> Run {
    for name in FILES {
        let about = fs::metadata(dir.join(name));
        assert!(about.is_ok_and(|about| about.len() > 0), "{name} is missing or empty");
    }
    let text = fs::read_to_string(dir.join("run.json")).expect("run.json");
    let run: Run = serde_json::from_str(&text).expect("a whole run.json");
    adds_up(&run);
    run
}

#[test]
fn json_is_what_the_published_schema_says() {
    let (dir, server) = (folder(), server());
    assert_eq!(plimsoll(&format!("generate {}", dir.path().display())).code, 0);
    let path = dir.path().join("schema/plimsoll.run-1.json");
    let schema: serde_json::Value =
        serde_json::from_slice(&fs::read(path).expect("a schema")).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a good schema");
    for (path, flags) in [
        ("/healthz", "-c 4 -d 300ms"),
        ("/healthz", "-c 4 -R 500 -d 300ms --arrivals poisson"),
        ("/status/500", "-c 1 -n 3"),
        ("/healthz", "-c 1 -n 3 --slo max<60s --slo baseline --slo top10"),
        ("/fault/hang", "-c 2 -d 100ms -T 200ms"),
    ] {
        let loaded = load(&url(&server, path), flags);
        let json: serde_json::Value = serde_json::from_str(&loaded.ended.stdout).expect("JSON");
        let errors: Vec<String> = validator.iter_errors(&json).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{path} {flags}: {errors:?}");
        assert_eq!(json["schema"], "plimsoll.run/1");
    }
}

#[test]
fn every_format_says_the_same() {
    let (dir, server) = (folder(), server());
    let line = format!(
        "run {} -c 4 -n 2000 --out {} --format",
        url(&server, "/healthz"),
        dir.path().display()
    );
    let text = plimsoll(&format!("{line} text")).measured();
    assert!(text.stdout.contains("2,000 of status 200"), "{text:?}");
    // What else the machine does decides which of the two it is.
    let mut lines = text.stdout.lines().map(str::trim_start);
    let verdicts = ["VALID: ", "LOWER_BOUND: ", "INVALID: "];
    let judged = lines.any(|it| verdicts.iter().any(|verdict| it.starts_with(verdict)));
    assert!(judged, "{text:?}");
    let wrk = plimsoll(&format!("{line} wrk -L"));
    for needle in
        ["Running", "4 connections", "Latency Distribution", "Requests/sec:", "Transfer/sec:"]
    {
        assert!(wrk.stdout.contains(needle), "{needle}: {wrk:?}");
    }
    let run = has_all_files(dir.path());
    assert_eq!(run.totals.succeeded, 2000);
    let again = plimsoll(&format!("report {} --format json", dir.path().display()));
    assert_eq!(again.code, i32::from(verdict::exit_code(&run)));
    assert_eq!(serde_json::from_str::<Run>(&again.stdout).ok(), Some(run));
}

#[test]
fn secrets_are_kept_out_of_everything() {
    let (dir, server) = (folder(), server());
    let target = url(&server, "/healthz?token=hunter2&page=3");
    let line =
        format!("run {target} -n 5 -c 1 -HAuthorization:hunter2 --out {}", dir.path().display());
    let ended = plimsoll(&line).measured();
    assert!(!ended.stdout.contains("hunter2") && !ended.stderr.contains("hunter2"), "{ended:?}");
    for name in FILES.into_iter().chain(["run.journal"]) {
        let bytes = fs::read(dir.path().join(name)).expect("a file");
        assert!(!String::from_utf8_lossy(&bytes).contains("hunter2"), "{name}");
    }
}

/// A run that has a minute to go, after its journal has seen an interval.
fn under_way(server: &Server, dir: &Path, more: &str) -> Child {
    let line =
        format!("run {} -c 4 -t 2 -d 60s --out {} {more}", url(server, "/healthz"), dir.display());
    let child = Command::new(PLIMSOLL)
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .args(line.split_whitespace())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let deadline = Instant::now() + Duration::from_secs(60);
    let lines =
        || fs::read_to_string(dir.join("run.journal")).map_or(0, |text| text.lines().count());
    while lines() < 2 {
        assert!(Instant::now() < deadline, "no interval was written");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()));
}

fn finish(child: Child) -> Ended {
    let output = child.wait_with_output().expect("it ends");
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

#[test]
fn ctrl_c_ends_the_window_and_keeps_the_result() {
    for name in ["-INT", "-TERM"] {
        let (dir, server) = (folder(), server());
        let child = under_way(&server, dir.path(), "");
        signal(&child, name);
        let ended = finish(child);
        assert_eq!(ended.code, 130, "{ended:?}");
        assert!(ended.stdout.contains(" of status 200"), "{ended:?}");
        let run = has_all_files(dir.path());
        assert!(run.interrupted && run.totals.succeeded > 0);
        assert!((1_000_000_000..50_000_000_000).contains(&run.totals.duration_ns));
        // What was in flight for a second after the signal is unfinished, with or without a response.
        let served = server.served().path("/healthz");
        let known = run.totals.attempts - run.totals.unfinished..=run.totals.attempts;
        assert!(known.contains(&served), "{served}: {:?}", run.totals);
    }
}

#[test]
fn a_second_ctrl_c_prints_what_there_is() {
    let server = server();
    let line = format!("run {} -c 1 -d 60s", url(&server, "/fault/hang"));
    let mut child = Command::new(PLIMSOLL);
    child.current_dir(env!("CARGO_TARGET_TMPDIR"));
    child.args(line.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = child.spawn().expect("it starts");
    let deadline = Instant::now() + Duration::from_secs(60);
    while server.served().path("/fault") == 0 {
        assert!(Instant::now() < deadline, "no request came");
        std::thread::sleep(Duration::from_millis(20));
    }
    // The first awaits the attempt in flight for a second. Stopped meanwhile, the process finds both at once.
    ["-STOP", "-INT", "-TERM", "-CONT"].into_iter().for_each(|name| signal(&child, name));
    let ended = finish(child);
    assert_eq!(ended.code, 130, "{ended:?}");
    assert!(ended.stdout.contains("Ended early: these are the figures up to then."), "{ended:?}");
    assert!(ended.stderr.contains("once more, and the result is not printed"), "{ended:?}");
}

#[test]
fn a_kill_leaves_a_journal_that_makes_the_results() {
    let (dir, server) = (folder(), server());
    let child = under_way(&server, dir.path(), "-q --slo max<1us --slo baseline");
    signal(&child, "-KILL");
    finish(child);
    assert!(!dir.path().join("run.json").exists());
    // A line that was being written at the kill is left out.
    let journal = dir.path().join("run.journal");
    let mut text = fs::read_to_string(&journal).expect("a journal");
    text.push_str("{\"index\":99,\"pha");
    fs::write(&journal, text).expect("a file");
    let ended = plimsoll(&format!("report {}", dir.path().display()));
    assert_eq!(ended.code, 130, "{ended:?}");
    let run = has_all_files(dir.path());
    assert!(run.interrupted && run.totals.succeeded > 0 && run.totals.duration_ns >= 1_000_000_000);
    // It is judged by the objectives that it was made with, presets in their order.
    let judged: Vec<&str> = run.objectives.iter().map(|held| held.objective.as_str()).collect();
    assert_eq!(judged, ["max<1us", "mean<=500ms", "success>=99%", "qps>=1000", "stable"]);
    assert_eq!(run.objectives[1].priority, Some(1));
    assert_ne!(run.objectives[0].ruling, model::Ruling::Pass, "{:?}", run.objectives[0]);
    // A run.json that is cut short, as by a full disk, is rebuilt in the same way.
    let json = dir.path().join("run.json");
    let whole = fs::read(&json).expect("it was made");
    fs::write(&json, &whole[..whole.len() / 2]).expect("a file");
    let ended = plimsoll(&format!("report {}", dir.path().display()));
    assert_eq!(ended.code, 130, "{ended:?}");
    assert!(ended.stderr.contains("rebuilt from run.journal"), "{ended:?}");
    assert_eq!(has_all_files(dir.path()).totals, run.totals);
}

/// Where the files do not fit and the journal did, nothing is lost: not even that the run was whole.
#[test]
fn a_whole_run_is_rebuilt_as_one() {
    let (dir, server) = (folder(), server());
    let line =
        format!("run {} -c 2 -d 300ms -q --out {}", url(&server, "/healthz"), dir.path().display());
    plimsoll(&line).measured();
    let made = has_all_files(dir.path());
    fs::remove_file(dir.path().join("run.json")).expect("a file");
    let ended = plimsoll(&format!("report {}", dir.path().display())).measured();
    assert!(!ended.stdout.contains("Ended early"), "{ended:?}");
    let again = has_all_files(dir.path());
    assert!(!again.interrupted);
    assert_eq!((again.totals, again.validity.verdict), (made.totals, made.validity.verdict));
}

/// Every count and time in it as high as a file can say.
fn hostile(line: &str) -> String {
    let mut rest = line;
    let mut out = String::new();
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let end = rest[at..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |n| at + n);
        let number =
            rest[..at].ends_with([':', '[', ',']) && rest[end..].starts_with([',', '}', ']']);
        out += &rest[..at];
        out += if number { "18446744073709551615" } else { &rest[at..end] };
        rest = &rest[end..];
    }
    out + rest
}

#[test]
fn a_hostile_journal_costs_what_it_spoils() {
    let (dir, server) = (folder(), server());
    let line =
        format!("run {} -c 2 -d 1s -q --out {}", url(&server, "/healthz"), dir.path().display());
    plimsoll(&line);
    fs::remove_file(dir.path().join("run.json")).expect("a file");
    let journal = dir.path().join("run.journal");
    let text = fs::read_to_string(&journal).expect("a journal");
    let (head, intervals) = text.split_once('\n').expect("a head");
    // It has not come to its end.
    let at = intervals.find("{\"ended\":").expect("its end");
    let intervals = &intervals[..at];
    let spoilt: Vec<String> = intervals.lines().map(hostile).collect();
    let whole = format!("{head}\n{intervals}{}\n{0}\n", spoilt.join("\n"));
    fs::write(&journal, whole).expect("a file");
    let ended = plimsoll(&format!("report {}", dir.path().display()));
    assert_eq!(ended.code, 130, "{ended:?}");
    assert!(ended.stderr.contains("the data before the damage is used"), "{ended:?}");
    assert!(has_all_files(dir.path()).totals.succeeded > 0);
    // And a result that claims the like is refused.
    let result = dir.path().join("run.json");
    let text = fs::read_to_string(&result).expect("a result");
    let claim = "\"attempts\": 99999999999999999, \"was\": ";
    let spoilt = text.replacen("\"attempts\": ", claim, 1);
    fs::write(&result, spoilt).expect("a file");
    let ended = plimsoll(&format!("report {}", dir.path().display()));
    ended.refuses(1, "`attempts` is 99999999999999999");
}

#[test]
fn a_stored_result_is_judged_by_the_rules_of_today() {
    let (dir, server) = (folder(), server());
    let line =
        format!("run {} -c 1 -n 5 -q --out {}", url(&server, "/status/503"), dir.path().display());
    plimsoll(&line);
    let result = dir.path().join("run.json");
    let text = fs::read_to_string(&result).expect("a result");
    let mut run: Run = serde_json::from_str(&text).expect("a run");
    assert_eq!(run.validity.verdict, model::Verdict::Invalid);
    run.validity = model::Validity::of(Vec::new());
    fs::write(&result, serde_json::to_string(&run).expect("JSON")).expect("a file");
    let ended = plimsoll(&format!("report {}", dir.path().display()));
    assert_eq!(ended.code, 98, "{ended:?}");
    let wanted = "this version's rules judge it INVALID; the stored verdict was VALID";
    assert!(ended.stderr.contains(wanted), "{ended:?}");
    assert_eq!(has_all_files(dir.path()).validity.verdict, model::Verdict::Invalid);
}

#[test]
fn a_full_disk_costs_the_files_alone() {
    let (dir, server) = (folder(), server());
    // No file takes more than 1 KiB, as if the disk were full then.
    let line = format!(
        "trap '' XFSZ; ulimit -f 1; exec {PLIMSOLL} run {} -n 20 -c 1 -q --out {}",
        url(&server, "/healthz"),
        dir.path().display()
    );
    let mut limited = Command::new("bash");
    limited.args(["-c", &line]).stdin(Stdio::null());
    let ended = end(limited);
    assert!([1, 98].contains(&ended.code), "{ended:?}");
    assert!(ended.stdout.contains("20 of status 200"), "{ended:?}");
    // Whether a sample of the machine was taken in so short a time is chance.
    let lines = ended.stderr.lines().filter(|line| !line.contains("samples.jsonl"));
    let lines: Vec<&str> = lines.collect();
    assert_eq!(lines.len(), 2, "{ended:?}");
    assert!(lines[0].contains("run.journal") && lines[0].contains("the run goes on without it"));
    assert!(lines[1].contains("run.json, ") && lines[1].contains("File too large"), "{ended:?}");
    assert!(!dir.path().join("run.json").exists());
    let names =
        fs::read_dir(dir.path()).expect("a folder").map(|entry| entry.expect("one").file_name());
    let left: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with('.')).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// What is left of a run whose journal did not fit says so: nobody interrupted it.
#[test]
fn what_a_full_disk_leaves_says_that_it_was_full() {
    let (dir, server) = (folder(), server());
    // Less than the second second of the journal, and than run.json.
    let line = format!(
        "trap '' XFSZ; ulimit -f 8; exec {PLIMSOLL} run {} -d 3s -c 2 -q --out {}",
        url(&server, "/healthz"),
        dir.path().display()
    );
    let mut limited = Command::new("bash");
    limited.args(["-c", &line]).stdin(Stdio::null());
    let ended = end(limited);
    assert!(ended.stderr.contains("the run goes on without it"), "{ended:?}");
    let ended = plimsoll(&format!("report {}", dir.path().display()));
    let wanted = "the rest of the run could not be stored in run.journal: File too large";
    assert!(ended.stderr.contains(wanted), "{ended:?}");
    assert_eq!(ended.code, 1, "{ended:?}");
    let run = has_all_files(dir.path());
    assert!(run.interrupted && run.halted.is_some_and(|why| why.starts_with(wanted)));
}

#[test]
fn a_standard_output_that_is_full_is_a_failure() {
    let server = server();
    let mut command = Command::new(PLIMSOLL);
    command.current_dir(env!("CARGO_TARGET_TMPDIR"));
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let line = format!("run {} -n 5 -c 1 -q", url(&server, "/healthz"));
    command.args(line.split_whitespace()).stdout(full);
    let child = command.stderr(Stdio::piped()).spawn().expect("it starts");
    finish(child).refuses_after_a_run("cannot write to standard output");
}

#[test]
fn a_reader_that_has_gone_is_no_failure() {
    let server = server();
    let line = format!("{PLIMSOLL} run {} -n 5 -c 1 -q | true", url(&server, "/healthz"));
    let mut command = Command::new("sh");
    command.args(["-c", &line]).current_dir(env!("CARGO_TARGET_TMPDIR"));
    let ended = end(command);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
}
