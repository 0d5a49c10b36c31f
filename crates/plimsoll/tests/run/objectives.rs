//! Objectives: rulings, exit codes, test reports, annotations, and runs that end early. What is asked
//! here is decided by any machine at any speed; how rulings are found is tested in `verdict`.

use std::fs;
use std::path::Path;

use model::{Judgement, Ruling, Run};
use tempfile::TempDir;

use crate::harness::{Ended, adds_up, command_of, end, plimsoll, server, url};

/// `plimsoll run URL -q -c 1 -n 5` with arguments that may hold blanks.
#[track_caller]
fn run(url: &str, more: &[&str]) -> Ended {
    end(command_of(["run", url, "-q", "-c", "1", "-n", "5"].iter().chain(more).copied()))
}

fn objectives(json: &str) -> Vec<Judgement> {
    serde_json::from_str::<Run>(json).expect("a run").objectives
}

/// A folder with a run of five requests that nothing disturbed, whatever else this machine does.
fn undisturbed() -> TempDir {
    let dir = TempDir::new().expect("a folder");
    fs::write(dir.path().join("run.json"), include_str!("../data/five_requests.json"))
        .expect("a file");
    dir
}

/// `plimsoll report` of a folder.
fn report(dir: &Path, more: &[&str]) -> Ended {
    let line = ["report", dir.to_str().expect("a path")];
    end(command_of(line.iter().chain(more).copied()))
}

#[test]
fn exit_codes_follow_the_rulings() {
    let dir = undisturbed();
    for (slo, code, needle) in [
        (&["max < 50s"][..], 0, "PASS  max<50s"),
        (&["errors<=0", "success>=100%"], 0, "All 2 objectives are met."),
        (&["max<1us"], 99, "FAIL  max<1us"),
        (&["max<50s", "service.max<1us"], 99, "1 of 2 missed."),
        (&["p99<50s"], 98, "INCONCLUSIVE  p99<50s"),
        (&["p99<50s", "max<1us"], 98, "1 of 2 missed, 1 undecided."),
        (&["GET /users/{id}: p95<80ms"], 98, "has no figures per endpoint"),
        (&["top10"], 98, "Objectives (top10, in order of priority)"),
        (&["baseline"], 98, " 1.  INCONCLUSIVE  mean<=500ms"),
    ] {
        let flags: Vec<&str> = slo.iter().flat_map(|text| ["--slo", text]).collect();
        let ended = report(dir.path(), &[&flags[..], &["--details"]].concat());
        assert_eq!(ended.code, code, "{slo:?}: {ended:#?}");
        assert!(ended.stdout.contains(needle), "{slo:?}: {ended:#?}");
    }
}

#[test]
fn a_run_ends_with_the_code_of_its_result() {
    let server = server();
    for slo in ["max<50s", "max<1us", "p99<50s"] {
        let ended = run(&url(&server, "/healthz"), &["--slo", slo, "--format", "json"]);
        let run: Run = serde_json::from_str(&ended.stdout).expect("a run");
        assert_eq!(run.objectives[0].objective, slo);
        assert_eq!(ended.code, i32::from(verdict::exit_code(&run)), "{ended:#?}");
    }
}

#[test]
fn what_cannot_be_believed_is_never_called_missed() {
    let server = server();
    let ended = run(&url(&server, "/status/500"), &["--slo", "max<1us", "--slo", "success>=99%"]);
    assert_eq!(ended.code, 98, "{ended:#?}");
    assert!(ended.stdout.contains("INCONCLUSIVE max<1us"), "{ended:#?}");
}

#[test]
fn typos_are_pointed_at_before_anything_is_sent() {
    let server = server();
    let url = url(&server, "/healthz");
    for (flag, text, lines) in [
        ("--slo", "p99<500mz", ["column 8: unknown unit", "  p99<500mz", "         ^^"]),
        ("--slo", "sucess>=99%", ["did you mean `success`", "  sucess>=99%", "  ^^^^^^"]),
        ("--abort-on", "p99>2s", ["how long", "  p99>2s", "        ^"]),
    ] {
        let ended = run(&url, &[flag, text]);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{ended:#?}");
        let printed: Vec<&str> = ended.stderr.lines().collect();
        assert!(printed[0].starts_with(&format!("plimsoll: {flag}: ")), "{ended:#?}");
        assert!(printed[0].contains(lines[0]), "{ended:#?}");
        assert_eq!(printed[1..], lines[1..], "{ended:#?}");
    }
    run(&url, &["--abort-on", "achieved<95% for 5s"])
        .refuses(2, "a closed loop has no target rate");
    assert_eq!(server.served().path("/healthz"), 0);
}

#[test]
fn a_stored_run_is_judged_again() {
    let dir = undisturbed();
    let json = |more: &[&str]| report(dir.path(), &[&["--format", "json"], more].concat());
    let kept = json(&["--slo", "max<50s"]);
    let named = objectives(&kept.stdout).into_iter().map(|held| (held.objective, held.ruling));
    assert_eq!(named.collect::<Vec<_>>(), [("max<50s".to_owned(), Ruling::Pass)]);
    assert_eq!(kept.code, 0);
    let other = json(&["--slo", "max<1us"]);
    assert_eq!((other.code, objectives(&other.stdout)[0].ruling), (99, Ruling::Fail));
    let page = fs::read_to_string(dir.path().join("report.html")).expect("a page");
    assert!(page.contains("max&lt;1us") && page.contains("id=\"objectives\""));
}

#[test]
fn a_stored_runs_own_objectives_are_kept() {
    let (dir, server) = (TempDir::new().expect("a folder"), server());
    let folder = dir.path().to_str().expect("a path");
    run(&url(&server, "/healthz"), &["--out", folder, "--slo", "max<50s"]).measured();
    let kept = report(dir.path(), &["--format", "json"]);
    assert_eq!(objectives(&kept.stdout)[0].objective, "max<50s");
}

#[test]
fn ci_systems_get_reports_beside_an_untouched_standard_output() {
    let dir = undisturbed();
    let xml = dir.path().join("report.xml");
    let flags = ["--slo", "max<50s", "--slo", "max<1us", "--annotations", "github"];
    let junit = ["--junit", xml.to_str().expect("a path"), "--format", "json"];
    let ended = report(dir.path(), &[&flags[..], &junit[..]].concat());
    assert_eq!((ended.code, objectives(&ended.stdout).len()), (99, 2));
    let heads: Vec<&str> = ended.stderr.lines().filter_map(|l| l.split("::").nth(1)).collect();
    assert_eq!(
        heads,
        [
            "notice title=validity%3A good",
            "notice title=max<50s%3A met",
            "error title=max<1us%3A missed"
        ]
    );
    // However narrow the terminal is said to be, a command is one line.
    let mut narrow =
        command_of(["report", dir.path().to_str().expect("a path")].into_iter().chain(flags));
    narrow.env("COLUMNS", "40");
    let lines = end(narrow).stderr;
    assert!(lines.lines().all(|line| line.starts_with("::")), "{lines}");
    let xml = fs::read_to_string(xml).expect("a test report");
    assert!(xml.contains("tests=\"3\" failures=\"1\" errors=\"0\""), "{xml}");
}

/// A minute's run that its rule must end long before.
#[track_caller]
fn aborted(url: &str, flags: &[&str], dir: &Path) -> (Ended, Run) {
    let folder = dir.to_str().expect("a path");
    let line = ["run", url, "-q", "-d", "60s", "--out", folder];
    let ended = end(command_of(line.iter().chain(flags).copied()));
    let json = fs::read_to_string(dir.join("run.json")).expect("the partial result");
    let run: Run = serde_json::from_str(&json).expect("a run");
    adds_up(&run);
    assert!(run.interrupted && run.totals.duration_ns < 40_000_000_000, "{ended:#?}");
    (ended, run)
}

#[test]
fn a_breach_that_lasts_ends_the_run_and_keeps_the_result() {
    let (dir, server) = (TempDir::new().expect("a folder"), server());
    let rule = ["-c", "2", "--abort-on", "mean>1us for 1s", "--abort-on", "errors>5% for 1s"];
    let (ended, run) = aborted(&url(&server, "/delay/1ms"), &rule, dir.path());
    let code = i32::from(verdict::exit_code(&run));
    assert!([98, 99].contains(&code), "{:?}", run.validity);
    assert_eq!(ended.code, code, "{ended:#?}");
    assert_eq!(run.aborted.expect("a rule").rule, "mean>1us for 1s");
    assert!(ended.stdout.contains("ABORTED by --abort-on 'mean>1us for 1s'"), "{ended:#?}");
    let again = plimsoll(&format!("report {}", dir.path().display()));
    assert_eq!(again.code, code, "{again:#?}");
}

#[test]
fn a_rate_that_is_not_reached_ends_the_run_and_is_no_verdict_on_the_server() {
    let (dir, server) = (TempDir::new().expect("a folder"), server());
    let rule = ["-c", "1", "-R", "100", "--abort-on", "achieved<95% for 1s"];
    let (ended, run) = aborted(&url(&server, "/delay/200ms"), &rule, dir.path());
    assert_eq!(ended.code, 98, "{ended:#?}");
    assert!(run.aborted.expect("a rule").rate_not_reached);
}

#[test]
fn a_rule_that_never_strikes_changes_nothing() {
    let server = server();
    let ended = run(&url(&server, "/healthz"), &["--abort-on", "max>60s for 1s"]);
    assert!(!ended.measured().stdout.contains("ABORTED"));
}
