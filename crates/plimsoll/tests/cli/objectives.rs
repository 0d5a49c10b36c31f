//! Objectives over a sweep: the highest level that holds them.

use crate::harness::{Folder, Target};

fn sweep(folder: &Folder, target: &Target, flags: &str) -> crate::harness::Ended {
    let url = target.url("/delay/1ms");
    folder.plimsoll(&format!("sweep {url} -q -d 300ms --rest 0s {flags}"))
}

#[test]
fn the_highest_level_that_holds_them_is_named() {
    let (folder, target) = (Folder::new(), Target::start());
    let flags = "--levels 1,3 --out out --junit cases.xml --slo max<50s --slo errors<=0";
    sweep(&folder, &target, flags)
        .ok()
        .prints("The highest level that holds max<50s, errors<=0 is 3 connections")
        .prints("◀ highest level that holds them");
    assert!(folder.text("out/report.html").contains("id=\"objectives\""));
    let xml = folder.text("cases.xml");
    assert!(
        xml.contains("tests=\"1\" failures=\"0\"") && xml.contains("some level holds"),
        "{xml}"
    );
    let stored = folder.text("out/sweep.json");
    assert_eq!(stored.matches("\"objective\": \"max<50s\"").count(), 2);
    folder.plimsoll("report out --slo max<1us --junit cases.xml").ends(99).prints("No level holds");
    assert!(folder.text("cases.xml").contains("failures=\"1\""));
}

#[test]
fn no_level_that_holds_them_is_a_miss_or_a_doubt() {
    let (folder, target) = (Folder::new(), Target::start());
    let missed = sweep(&folder, &target, "--levels 1,2 --out a --slo max<1us");
    // Neighbours who take the processor make it doubtful whose fault the latency is.
    if missed.stdout.contains("LOWER_BOUND") {
        missed.ends(98).prints("No level holds max<1us");
    } else {
        missed.ends(99).prints("No level holds max<1us; at 1 connection max<1us is missed with");
    }
    sweep(&folder, &target, "--levels 1,2 --out b --slo p99<50s")
        .ends(98)
        .prints("p99<50s is undecided");
    sweep(&folder, &target, "--out c --slo p99=<50s").refuses_at("write <=", "     ^^");
}
