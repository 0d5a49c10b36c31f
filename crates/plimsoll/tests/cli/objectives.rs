//! Objectives over a sweep: the highest level that holds them.

use std::fs;

use serde_json::{Value, json};

use crate::harness::{Folder, Target};

fn sweep(folder: &Folder, target: &Target, flags: &str) -> crate::harness::Ended {
    let url = target.url("/delay/1ms");
    folder.plimsoll(&format!("sweep {url} -q -d 300ms --rest 0s {flags}"))
}

/// A sweep whose levels nothing disturbed, whatever else this machine does.
fn undisturbed(folder: &Folder, levels: &[u32]) {
    let run: Value = serde_json::from_str(include_str!("../data/five_requests.json")).unwrap();
    let sweep = json!({
        "schema": "plimsoll.sweep/1",
        "plimsoll": run["plimsoll"],
        "name": "api",
        "url": run["plan"]["url"],
        "started_at": run["started_at"],
        "command": ["plimsoll", "sweep"],
        "kind": "concurrency",
        "objective_mean_ns": 500_000_000,
        "ended": "all 2 levels asked for were run",
        "levels": levels.iter().map(|level| json!({"level": level, "run": run})).collect::<Vec<_>>(),
    });
    fs::create_dir(folder.path().join("out")).unwrap();
    folder.put("out/sweep.json", sweep.to_string());
}

#[test]
fn the_highest_level_that_holds_them_is_named() {
    let folder = Folder::new();
    undisturbed(&folder, &[1, 3]);
    folder
        .plimsoll("report out --junit cases.xml --slo max<50s --slo errors<=0")
        .ok()
        .prints("The highest level that meets max<50s, errors<=0 is 3 connections")
        .prints("◀ highest level that meets them");
    assert!(folder.text("out/report.html").contains("id=\"objectives\""));
    let xml = folder.text("cases.xml");
    assert!(
        xml.contains("tests=\"1\" failures=\"0\"") && xml.contains("some level meets"),
        "{xml}"
    );
    folder
        .plimsoll("report out --slo max<1us --junit cases.xml")
        .ends(99)
        .prints("No level meets max<1us; at 1 connection max<1us is missed with");
    assert!(folder.text("cases.xml").contains("failures=\"1\""));
    folder.plimsoll("report out --slo p99<50s").ends(98).prints("p99<50s is undecided");
}

#[test]
fn objectives_are_kept_with_every_level() {
    let (folder, target) = (Folder::new(), Target::start());
    let ended = sweep(&folder, &target, "--levels 1,3 --out out --slo max<50s --slo errors<=0");
    ended.measured();
    let stored = folder.text("out/sweep.json");
    assert_eq!(stored.matches("\"objective\": \"max<50s\"").count(), 2);
}

#[test]
fn a_typo_is_pointed_at_before_anything_is_sent() {
    let (folder, target) = (Folder::new(), Target::start());
    sweep(&folder, &target, "--out c --slo p99=<50s").refuses_at("write <=", "     ^^");
}
