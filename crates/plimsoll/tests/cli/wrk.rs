//! The link by wrk's name: its block, its exit codes, and a script that was written for it.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use testkit::needs;
use testkit::servers::{Nginx, NginxOptions};

use crate::harness::{Ended, Folder, Target, real_wrk};
use crate::recorder::Recorder;

/// The block's lines with every number, and the unit it has, made `N`.
fn shape(block: &str) -> Vec<String> {
    let figure = |word: &str| {
        let bare = word.trim_matches(|c: char| c.is_ascii_punctuation());
        let digits = bare.starts_with(|c: char| c.is_ascii_digit());
        if digits { "N".to_owned() } else { word.to_owned() }
    };
    block
        .lines()
        .filter(|line| !line.contains("test @"))
        .map(|line| line.split_whitespace().map(figure).collect::<Vec<_>>().join(" "))
        .collect()
}

#[test]
fn the_block_has_wrks_shape() {
    let (folder, target) = (Folder::new(), Target::start());
    let link = folder.link("wrk");
    let url = target.url("/status/404");
    let ours = folder.run(&link, &format!("-t2 -c4 -d1s --latency {url}")).measured();
    let wanted = [
        "N threads and N connections",
        "Thread Stats Avg Stdev Max +/- Stdev",
        "Latency N N N N",
        "Req/Sec N N N N",
        "Latency Distribution",
        "N N",
        "N N",
        "N N",
        "N N",
        "N requests in N N read",
        "Non-2xx or N responses: N",
        "Requests/sec: N",
        "Transfer/sec: N",
    ];
    assert_eq!(shape(&ours.stdout), wanted, "{}", ours.stdout);
    assert!(ours.stdout.starts_with("Running 1s test @ "), "{}", ours.stdout);
    if let Some(theirs) = real_wrk() {
        let theirs = folder.run(&theirs, &format!("-t2 -c4 -d1s --latency {url}")).ok();
        assert_eq!(shape(&ours.stdout), shape(&theirs.stdout), "{}", theirs.stdout);
    }
}

#[test]
fn a_script_that_parses_wrks_output_reads_plimsolls() {
    if !needs::has("nginx") {
        return;
    }
    let folder = Folder::new();
    let nginx = Nginx::start(&NginxOptions::default()).expect("nginx runs");
    let url = format!("http://{}/healthz", nginx.addr());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/read_wrk.sh");
    let line = |wrk: &Path| {
        let ended = folder.run(&script, &format!("{} 8 {url}", wrk.display())).measured();
        let numbers = ended.stdout.split_whitespace().map(|n| n.parse().expect("a number"));
        numbers.collect::<Vec<f64>>()
    };
    for wrk in real_wrk().into_iter().chain([folder.link("wrk")]) {
        let row = line(&wrk);
        assert_eq!((row.len(), row[0], row[3]), (4, 8.0, 100.0), "{row:?}");
        assert!(row[1] > 0.0 && row[2] > 0.0, "{row:?}");
    }
}

#[test]
fn refusals_are_wrks() {
    let folder = Folder::new();
    let link = folder.link("wrk");
    let wrk = |line: &str| folder.run(&link, line);
    let says = |ended: Ended, needle: &str| {
        let ended = ended.ends(1);
        assert!(ended.stderr.contains(needle), "no `{needle}` in {ended:#?}");
    };
    says(wrk("-c 1 -t 4 http://127.0.0.1:1/"), "number of connections must be >= threads");
    says(wrk("http://127.0.0.1:1/"), "refused");
    says(wrk("foo"), "invalid URL: foo");
    says(wrk("-d ten http://127.0.0.1:1/"), "not a duration");
    wrk("").ends(1).prints("Usage: wrk <options> <url>");
    wrk("-v").ends(1).prints("plimsoll");
}

#[test]
fn the_block_is_printed_after_ctrl_c() {
    let (folder, server) = (Folder::new(), Recorder::taking(Duration::from_millis(2)));
    let link = folder.link("wrk");
    let mut command = folder.command(&link, &format!("-d60s {}", server.url("/healthz")));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    server.wait();
    folder.run(Path::new("kill"), &format!("-INT {}", child.id())).ok();
    let output = child.wait_with_output().unwrap();
    let block = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{block}");
    assert!(block.contains("Requests/sec:"), "{block}");
}

#[test]
fn a_block_that_cannot_be_printed_is_a_failure() {
    let (folder, target) = (Folder::new(), Target::start());
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let line = format!("-t1 -c1 -d100ms {}", target.url("/healthz"));
    let mut command = folder.command(&folder.link("wrk"), &line);
    let output = command.stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    let output = output.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("cannot write to standard output"), "{said}");
    assert_eq!(output.status.code(), Some(1), "{said}");
}

#[test]
fn the_page_is_named_beside_a_block_of_run() {
    let (folder, target) = (Folder::new(), Target::start());
    let line = format!("run {} -n 5 -c 1 -q --format wrk", target.url("/healthz"));
    let ended = folder.plimsoll(&line).measured().says("report: plimsoll-out/last/report.html\n");
    assert!(!ended.stdout.contains("report:"), "{ended:?}");
}

#[test]
fn threads_far_above_the_processors_run() {
    let (folder, target) = (Folder::new(), Target::start());
    let link = folder.link("wrk");
    let ended =
        folder.run(&link, &format!("-t144 -c288 -d1s {}", target.url("/healthz"))).measured();
    assert!(ended.stdout.contains("144 threads and 288 connections"), "{ended:#?}");
}
