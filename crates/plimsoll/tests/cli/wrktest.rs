//! `plimsoll wrktest`, and a link by the script's name.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use crate::harness::{Folder, PLIMSOLL, Target};

#[test]
fn the_scripts_command_leaves_the_scripts_files() {
    let (folder, target) = (Folder::new(), Target::start());
    let url = target.url("/healthz");
    let line = format!("wrktest -d 2s --levels 1 --duration 200ms {url}");
    let meant = folder.plimsoll(&line).stderr;
    assert!(meant.contains("a level's length is --duration 2s"), "{meant}");
    let ended = folder.plimsoll(&format!("wrktest -n api --levels 1,4,8 --duration 200ms {url}"));
    // In so little time, and on a busy machine, the generator may have been the limit.
    assert!([0, 98].contains(&ended.code), "{ended:#?}");
    ended
        .prints("Now plot according to _output/wrk/api.dat")
        .prints("QPS graphic file is: _output/wrk/api_qps_ttlb.png")
        .prints("Success rate graphic file is: _output/wrk/api_successrate.png");
    folder.has(&[
        "_output/wrk/api_qps_ttlb.png",
        "_output/wrk/api_successrate.png",
        "_output/wrk/api.sweep.json",
        "_output/wrk/api.report.html",
    ]);
    assert_eq!(folder.text("_output/wrk/api.dat").lines().count(), 3);
}

#[test]
fn the_link_takes_the_scripts_arguments_and_the_environment() {
    let (folder, target) = (Folder::new(), Target::start());
    let link = folder.link("wrktest.sh");
    let url = target.url("/healthz");
    let mut command = folder.command(&link, &format!("-n native -d out {url}"));
    let command = command.env("WRKTEST_LEVELS", "2,3").env("WRKTEST_DURATION", "150ms");
    let output = command.env("WRKTEST_TIMEOUT", "1s").output().unwrap();
    assert!([Some(0), Some(98)].contains(&output.status.code()), "{output:?}");
    assert_eq!(folder.text("out/native.dat").lines().count(), 2);
}

#[test]
fn the_link_compares() {
    let folder = Folder::new();
    folder.put_published(&["apiserver_after.dat", "native.dat"]);
    let link = folder.link("wrktest.sh");
    folder
        .run(Path::new(&link), "diff apiserver_after.dat native.dat")
        .ok()
        .prints("85.34 %")
        .prints("QPS graphic file is: ./apiserver_after_native.qps.ttlb.diff.png");
    folder.has(&[
        "apiserver_after_native.qps.ttlb.diff.png",
        "apiserver_after_native.successrate.diff.png",
    ]);
}

/// The table has no place to say that a level was cut short.
#[test]
fn an_interrupted_level_has_no_row() {
    let (folder, target) = (Folder::new(), Target::start());
    let flags = format!("wrktest -n api --levels 1,2 --duration 1m {}", target.url("/healthz"));
    let mut command = folder.command(Path::new(PLIMSOLL), &flags);
    let mut child =
        command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it starts");
    let mut lines =
        BufReader::new(child.stderr.take().expect("it is piped")).lines().map_while(Result::ok);
    // Printed once a second of the level is over: there are attempts to be kept.
    lines.find(|line| line.contains("[c=1, then ") && line.contains("QPS")).expect("progress");
    folder.run(Path::new("kill"), &format!("-INT {}", child.id())).ok();
    lines.for_each(drop);
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    let sweep: serde_json::Value =
        serde_json::from_str(&folder.text("_output/wrk/api.sweep.json")).expect("a sweep");
    assert_eq!(sweep["levels"][0]["run"]["interrupted"], true);
    assert_eq!(folder.text("_output/wrk/api.dat"), "");
}
