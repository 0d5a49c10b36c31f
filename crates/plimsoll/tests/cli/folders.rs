//! Which result a folder stands for where a run in it was killed, and that no result or file is lost to another.

use std::fs;
use std::thread;
use std::time::Duration;

use crate::harness::{Folder, Target};

/// Runs with so many connections into a folder.
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
    let run = format!("run -q -c 1 -d 100ms --out mine {url}");
    folder.plimsoll(&run).refuses(2, "mine/run.json would be replaced");
    assert_eq!(folder.text("mine/run.json"), r#"{"my":"data"}"#);
}
