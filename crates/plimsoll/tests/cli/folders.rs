//! Which result a folder stands for where a run in it was killed, and that no result or file is lost to another.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::harness::{Folder, PLIMSOLL, Target, ended};

/// Runs with this many connections into a folder.
fn run(folder: &Folder, target: &Target, connections: u32, out: &str) {
    let url = target.url("/delay/2ms");
    folder.plimsoll(&format!("run -q -c {connections} -d 600ms --out {out} {url}")).measured();
}

#[test]
fn every_command_takes_the_later_run_that_was_killed_and_says_so() {
    let (folder, target) = (Folder::new(), Target::start());
    run(&folder, &target, 1, "old");
    // Runs are told apart by the second that they start in.
    thread::sleep(Duration::from_millis(1100));
    run(&folder, &target, 3, "new");
    // As a run leaves it that is killed where another was before.
    let at = |name: &str| folder.path().join(name);
    fs::copy(at("new/run.journal"), at("old/run.journal")).unwrap();
    let said = "old/run.json is of an earlier run than run.journal, whose run is shown";
    for named in ["old", "old/run.json"] {
        for line in [
            format!("explain {named}"),
            format!("audit {named}"),
            format!("diff --out diffs {named} new"),
            format!(
                "compare --rounds 1 -d 100ms --rest 0s --baseline {named} {}",
                target.url("/delay/2ms")
            ),
        ] {
            let ended = folder.plimsoll(&line);
            assert!(ended.stderr.contains(said), "{line}: {ended:#?}");
        }
        let audit = folder.plimsoll(&format!("audit --format json {named}"));
        let audit: serde_json::Value = serde_json::from_str(&audit.stdout).unwrap();
        assert!(audit.to_string().contains("\"connections\":3"), "{audit}");
    }
    // A run that was killed in a folder of its own has a journal alone.
    fs::remove_file(at("old/run.json")).unwrap();
    folder.plimsoll("diff --out diffs old new").prints("3");
    folder.plimsoll("audit old").prints("old");
}

#[test]
fn a_second_run_in_a_folder_keeps_the_first() {
    let (folder, target) = (Folder::new(), Target::start());
    run(&folder, &target, 1, "out");
    let first = folder.text("out/run.json");
    let again = format!("run -q -c 2 -d 300ms --out out {}", target.url("/delay/2ms"));
    folder.plimsoll(&again).measured().says("the run that out held is in out/previous now");
    assert_eq!(folder.text("out/previous/run.json"), first);
    folder.has(&["out/previous/report.html", "out/run.json", "out/report.html"]);
    let url = target.url("/healthz");
    for line in [
        format!("sweep {url} --levels 1 --out out"),
        format!("compare {url} {url} --rounds 1 -d 100ms --out out"),
        format!("capacity {url} --budget 10s --out out"),
    ] {
        folder.plimsoll(&line).ends(2).says("out holds a run: name another folder");
    }
}

#[test]
fn runs_without_a_folder_leave_the_last_two() {
    let (folder, target) = (Folder::new(), Target::start());
    for connections in 1..=4 {
        let url = target.url("/healthz");
        folder.plimsoll(&format!("run -q -c {connections} -d 200ms {url}")).measured();
    }
    let names = fs::read_dir(folder.path().join("plimsoll-out")).unwrap().flatten();
    let mut names: Vec<_> =
        names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    assert_eq!(names, ["last", "previous"]);
    folder.plimsoll("report previous").prints("c=3");
    folder.plimsoll("report last").prints("c=4");
    for (name, connections) in [("last", "4"), ("previous", "3")] {
        let run = folder.text(&format!("plimsoll-out/{name}/run.json"));
        assert!(run.contains(&format!("\"connections\": {connections},")), "{name}");
    }
}

#[test]
fn runs_that_begin_at_once_keep_a_result_each() {
    const RUNS: usize = 6;
    let (folder, target) = (Folder::new(), Target::start());
    let line = format!("run -q -c 1 -d 3s {}", target.url("/delay/2ms"));
    let begin = |_| {
        let mut command = folder.command(Path::new(PLIMSOLL), &line);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let begun: Vec<_> = (0..RUNS).map(begin).collect();
    for run in begun {
        let said = run.wait_with_output().unwrap().stderr;
        let said = String::from_utf8_lossy(&said);
        assert!(!said.contains("printed only"), "{said}");
    }
    let made = fs::read_dir(folder.path().join("plimsoll-out")).unwrap().flatten();
    assert_eq!(made.filter(|dir| dir.path().join("run.json").exists()).count(), RUNS);
}

/// A copy of a result under another name is not the result that its folder holds.
#[test]
fn a_file_stands_for_its_folder_only_where_it_is_its_result() {
    let (folder, target) = (Folder::new(), Target::start());
    run(&folder, &target, 2, "out");
    fs::copy(folder.path().join("out/run.json"), folder.path().join("out/older.json")).unwrap();
    folder
        .plimsoll("report out/older.json")
        .refuses(2, "is not a file that a folder's result is read from");
    for name in ["run.json", "run.journal", "report.html", "timeline.csv"] {
        folder.plimsoll(&format!("report out/{name}")).measured().prints("c=2");
    }
    let mut within = folder.command(Path::new(PLIMSOLL), "report run.json");
    ended(within.current_dir(folder.path().join("out")))
        .measured()
        .prints("plimsoll report . --details");
}

#[test]
fn results_of_other_kinds_and_files_of_others_are_not_replaced() {
    let (folder, target) = (Folder::new(), Target::start());
    let url = target.url("/healthz");
    folder
        .plimsoll(&format!("sweep {url} --levels 1 -d 100ms --rest 0 --name a --out out"))
        .measured();
    let page = folder.text("out/report.html");
    let run = format!("run -q -c 1 -d 100ms --out out {url}");
    folder.plimsoll(&run).refuses(2, "out holds a sweep: name another folder");
    let compare = format!("compare {url} {url} --rounds 1 -d 100ms --out out");
    folder.plimsoll(&compare).ends(2).says("out holds a sweep: name another folder");
    assert_eq!(folder.text("out/report.html"), page);
    fs::create_dir(folder.path().join("mine")).unwrap();
    folder.put("mine/run.json", r#"{"my":"data"}"#);
    fs::create_dir(folder.path().join("drawn")).unwrap();
    folder.put("drawn/api_successrate.png", "mine");
    let sweep = format!("sweep {url} --levels 1 -d 100ms --name api --out drawn");
    folder.plimsoll(&sweep).refuses(2, "drawn/api_successrate.png would be replaced");
    let run = format!("run -q -c 1 -d 100ms --out mine {url}");
    folder.plimsoll(&run).refuses(2, "mine/run.json would be replaced");
    assert_eq!(folder.text("mine/run.json"), r#"{"my":"data"}"#);
}
