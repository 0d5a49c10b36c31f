//! `plimsoll sweep`.

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::peer::{Peer, Step};

use crate::harness::{Folder, PLIMSOLL, Target, ended, unwrapped};
use crate::recorder::Recorder;

const FILES: [&str; 7] = [
    "out/api.dat",
    "out/api_qps_ttlb.png",
    "out/api_qps_ttlb.svg",
    "out/api_successrate.png",
    "out/api_successrate.svg",
    "out/sweep.json",
    "out/report.html",
];

/// Enough levels that a kill after the first finds some left, however long the test is kept from running.
const MANY: usize = 25;

fn levels(folder: &Folder) -> Vec<f64> {
    let sweep: Value = serde_json::from_str(&folder.text("out/sweep.json")).unwrap();
    let levels = sweep["levels"].as_array().unwrap();
    levels.iter().map(|held| held["level"].as_f64().unwrap()).collect()
}

#[test]
fn a_sweep_leaves_every_file_and_names_two_levels() {
    let (folder, target) = (Folder::new(), Target::start());
    let url = target.url("/queue?servers=4&mean=2ms&dist=det");
    folder
        .plimsoll(&format!("sweep {url} --levels 2,8,4 -d 300ms --rest 10ms --name api --out out"))
        .measured()
        .prints("Highest QPS:")
        .prints("Highest QPS, mean <= 500ms:")
        .prints("report: out/report.html");
    folder.has(&FILES);
    assert_eq!(levels(&folder), [2.0, 4.0, 8.0]);
    let table = folder.text("out/api.dat");
    let rows: Vec<Vec<&str>> = table.lines().map(|l| l.split(' ').collect()).collect();
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), ["2", "4", "8"]);
    assert!(rows.iter().all(|row| row.len() == 4 && row[3] == "100.00"), "{table}");
}

#[test]
fn no_line_of_how_it_goes_is_wider_than_was_asked_for() {
    let (folder, target) = (Folder::new(), Target::start());
    let line = format!("sweep {} --rates 100.125,100.25 -d 1s --out out", target.url("/healthz"));
    let mut command = folder.command(Path::new(PLIMSOLL), &line);
    let told = ended(command.env("COLUMNS", "60")).measured();
    assert!(told.stderr.contains("[100.125/s, then 1s more] "), "{told:?}");
    assert!(told.stderr.lines().all(|line| line.chars().count() <= 60), "{told:?}");
}

/// A server that responds with a page of errors as soon as it is under load.
#[test]
fn all_levels_are_compared_with_the_response_before_the_load() {
    let script = |body: &str| {
        let response = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let respond = Step::Send(response.into_bytes());
        vec![Step::Forever(vec![Step::Expect(b"\r\n\r\n"), respond])]
    };
    let (well, down) = ("{\"status\":\"ok\"}", "Down");
    // The first connection finds out whether the address works.
    let peer = Peer::start_each(vec![script(well), script(well), script(down)]);
    let folder = Folder::new();
    let ended = folder.plimsoll(&format!(
        "sweep http://{}/ --levels 1,2 -d 200ms --rest 10ms --name api --out out --expect-body-like FIRST",
        peer.addr()
    ));
    assert!(ended.stderr.contains("1 request before the load"), "{ended:#?}");
    let table = folder.text("out/api.dat");
    assert!(!table.is_empty() && table.lines().all(|row| row.ends_with(" 0.00")), "{table}");
}

#[test]
fn statuses_count_in_the_fourth_column() {
    let (folder, target) = (Folder::new(), Target::start());
    let url = target.url("/status/503");
    let ended = folder.plimsoll(&format!("sweep {url} --levels 2 -d 200ms --name api --out out"));
    assert!([0, 98].contains(&ended.code), "{ended:#?}");
    assert!(folder.text("out/api.dat").trim_end().ends_with(" 0.00"));
}

#[test]
fn rates_are_swept_in_an_open_loop() {
    let (folder, target) = (Folder::new(), Target::start());
    let url = target.url("/healthz");
    folder.plimsoll(&format!("sweep {url} --rates 100,50 -d 300ms --rest 0 --name api --out out"));
    assert_eq!(levels(&folder), [50.0, 100.0]);
    assert!(folder.text("out/api.dat").starts_with("# rate_per_s"));
}

#[test]
fn a_kill_loses_the_running_level_and_resume_goes_on() {
    let (folder, target) = (Folder::new(), Target::start());
    let line = format!(
        "sweep {} --levels {} -d 300ms --rest 0 --name api --out out -q",
        target.url("/healthz"),
        (1..=MANY).map(|level| level.to_string()).collect::<Vec<_>>().join(",")
    );
    let mut killed = folder.command(Path::new(PLIMSOLL), &line);
    let mut killed = killed.stdout(Stdio::null()).spawn().unwrap();
    let json = folder.path().join("out/sweep.json");
    wait_until(|| json.exists());
    killed.kill().unwrap();
    killed.wait().unwrap();
    let kept = levels(&folder);
    assert!(!kept.is_empty() && kept.len() < MANY, "{kept:?}");
    let first = started_at(&folder);
    folder.plimsoll("report out").ends(130).says("plimsoll sweep --resume out goes on with it");
    folder.plimsoll("sweep --resume out").measured();
    assert_eq!(levels(&folder), (1..=MANY).map(|level| level as f64).collect::<Vec<_>>());
    assert_eq!(started_at(&folder), first);
    folder.has(&FILES);
}

#[test]
fn a_level_in_which_the_server_died_is_run_again() {
    let (folder, target) = (Folder::new(), Target::start());
    let line = format!(
        "sweep {} --levels 1,2,4 -d 3s --rest 0 --name api --out out -q",
        target.url("/delay/1ms")
    );
    let mut command = folder.command(Path::new(PLIMSOLL), &line);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let json = folder.path().join("out/sweep.json");
    wait_until(|| json.exists());
    thread::sleep(Duration::from_millis(300));
    let target = target.pause(|| {
        let ended = child.wait_with_output().unwrap();
        let text = unwrapped(&String::from_utf8_lossy(&ended.stdout));
        assert!(text.contains("the server stopped answering"), "{text}");
        assert!(text.contains("to go on: plimsoll sweep --resume out"), "{text}");
        assert_eq!(ended.status.code(), Some(98));
    });
    assert_eq!(levels(&folder), [1.0, 2.0]);
    folder.plimsoll("sweep --resume out").measured();
    let sweep: Value = serde_json::from_str(&folder.text("out/sweep.json")).unwrap();
    let succeeded = |held: &Value| held["run"]["rates"]["success_ratio"] == 1.0;
    let held = sweep["levels"].as_array().unwrap();
    assert!(held.len() == 3 && held.iter().all(succeeded), "{held:?}");
    let url = target.url("/delay/1ms");
    let other = format!("sweep {url} --levels 1,2,4 -d 3s --name other --resume out");
    folder.plimsoll(&other).refuses(2, "out is the sweep `api`, not `other`");
}

#[test]
fn the_first_level_is_measured_again_at_the_end() {
    let (folder, target) = (Folder::new(), Target::start());
    let sweep = |dir: &str| -> Value {
        serde_json::from_str(&folder.text(&format!("{dir}/sweep.json"))).unwrap()
    };
    let line = format!("sweep {} --levels 2,4 --rest 0 --name api -q", target.url("/delay/5ms"));
    // Whether it is still the same server is a matter of times.
    folder.plimsoll(&format!("{line} -d 2s --out out")).measured();
    let swept = sweep("out");
    assert_eq!(levels(&folder), [2.0, 4.0]);
    // A level in which this machine was busy with something else is not compared.
    let reasons = swept["levels"][0]["run"]["validity"].to_string();
    let doubts = ["INVALID", "busy_neighbour", "generator_", "late", "memory_", "saturated"];
    if !doubts.iter().any(|doubt| reasons.contains(doubt)) {
        assert_eq!(swept["again"]["level"], 2.0, "{reasons}");
    }
    folder.plimsoll("sweep --resume out").measured();
    assert_eq!(sweep("out")["again"], swept["again"], "nothing was measured since");
    folder.plimsoll(&format!("{line} -d 1s --out short")).measured();
    assert!(sweep("short").get("again").is_none(), "too short to tell");
}

fn started_at(folder: &Folder) -> String {
    let sweep: Value = serde_json::from_str(&folder.text("out/sweep.json")).unwrap();
    sweep["levels"][0]["run"]["started_at"].to_string() + &sweep["started_at"].to_string()
}

#[track_caller]
fn wait_until(condition: impl Fn() -> bool) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !condition() {
        assert!(Instant::now() < patience, "it did not come to pass");
        thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn ctrl_c_saves_the_running_level_as_interrupted() {
    let (folder, server) = (Folder::new(), Recorder::taking(Duration::from_millis(2)));
    let line = format!(
        "sweep {} --levels 1,2 -d 60s --rest 0 --name api --out out",
        server.url("/healthz")
    );
    let mut command = folder.command(Path::new(PLIMSOLL), &line);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    server.wait();
    let interrupt = format!("-INT {}", child.id());
    folder.run(Path::new("kill"), &interrupt).ok();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let ends = "report: out/report.html\nto go on: plimsoll sweep --resume out\n";
    assert!(String::from_utf8_lossy(&output.stdout).ends_with(ends));
    let sweep: Value = serde_json::from_str(&folder.text("out/sweep.json")).unwrap();
    assert_eq!(sweep["levels"][0]["run"]["interrupted"], true);
    assert!(sweep["ended"].is_null());
}

#[test]
fn a_report_is_made_anew_from_the_folder() {
    let (folder, target) = (Folder::new(), Target::start());
    let url = target.url("/healthz");
    folder.plimsoll(&format!("sweep {url} --levels 1,2 -d 200ms --rest 0 --name api --out out -q"));
    let table = folder.text("out/api.dat");
    let old = ["api.dat", "api_qps_ttlb.svg", "report.html"];
    old.iter().for_each(|name| fs::remove_file(folder.path().join("out").join(name)).unwrap());
    folder.plimsoll("report out").measured().prints("Highest QPS:");
    folder.has(&FILES);
    assert_eq!(folder.text("out/api.dat"), table);
    let printed = folder.plimsoll("report out --format json").measured().stdout;
    assert_eq!(printed, folder.text("out/sweep.json"));
    let refused = folder.plimsoll("report out --format wrk");
    assert_eq!(refused.code, 2, "{refused:#?}");
}

#[test]
fn one_processor_is_reported_as_shared() {
    let folder = Folder::new();
    let line = format!("-c 0 {PLIMSOLL} sweep --levels 4 -d 300ms -q");
    let ended = folder.run(Path::new("taskset"), &line);
    assert!(ended.stderr.contains("one processor is allowed"), "{ended:#?}");
    assert!(ended.stdout.contains("true capacity 8,000/s"), "{ended:#?}");
}

#[test]
fn without_a_url_the_capacity_found_stands_beside_the_true_one() {
    let folder = Folder::new();
    let ended = folder.plimsoll("sweep --levels 16 -d 500ms -q").measured();
    assert!(ended.stdout.contains("true capacity 8,000/s"), "{ended:#?}");
    let report = ended.stdout.lines().find_map(|line| line.strip_prefix("report: ")).unwrap();
    assert!(report.starts_with("plimsoll-out/built-in-api/20"), "{report}");
    folder.has(&[report]);
    let json = report.replace("report.html", "sweep.json");
    // The kernel may close an io_uring's listener a little after its process is gone.
    wait_until(|| !answers(&folder, &json));
}

#[test]
fn the_built_in_api_ends_with_a_sweep_that_is_killed() {
    let folder = Folder::new();
    let line = "sweep --levels 1,2 -d 200ms --rest 60s --out out -q";
    let mut killed = folder.command(Path::new(PLIMSOLL), line);
    let mut killed = killed.stdout(Stdio::null()).spawn().unwrap();
    let json = folder.path().join("out/sweep.json");
    wait_until(|| json.exists());
    assert!(answers(&folder, "out/sweep.json"));
    killed.kill().unwrap();
    killed.wait().unwrap();
    wait_until(|| !answers(&folder, "out/sweep.json"));
}

/// Whether something listens where a sweep's file says the server was.
fn answers(folder: &Folder, json: &str) -> bool {
    let sweep: Value = serde_json::from_str(&folder.text(json)).unwrap();
    let url = sweep["url"].as_str().unwrap().trim_start_matches("http://").to_owned();
    TcpStream::connect(url.split('/').next().unwrap()).is_ok()
}

#[test]
fn a_level_beyond_the_ports_ends_the_sweep_and_is_no_error() {
    let (folder, target) = (Folder::new(), Target::start());
    let line = format!(
        "sweep {} --levels 2,60k --source 127.0.0.1 -d 200ms --rest 0 --name api --out out",
        target.url("/healthz")
    );
    let ended = folder.plimsoll(&line).measured().prints("60,000 connections could not be run");
    assert!(ended.stderr.contains("more local ports"), "{ended:#?}");
    assert_eq!(levels(&folder), [2.0]);
}

#[test]
fn a_rule_ends_the_level_and_the_sweep() {
    let (folder, target) = (Folder::new(), Target::start());
    let url = target.url("/delay/2ms");
    let mut line: Vec<&str> =
        "sweep URL --levels 2,4,8 -d 5s --rest 0 -q --out out --abort-on".split(' ').collect();
    line[1] = &url;
    let mut command = folder.command(Path::new(PLIMSOLL), "");
    let output = command.args(line).arg("mean>1us for 1s").output().unwrap();
    assert_eq!(output.status.code(), Some(99), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout).replace('\n', " ");
    let wanted = "The sweep ended here: --abort-on 'mean>1us for 1s' triggered at 2 connections: ";
    assert!(text.contains(wanted), "{text}");
    let sweep: Value = serde_json::from_str(&folder.text("out/sweep.json")).unwrap();
    assert_eq!(sweep["levels"].as_array().unwrap().len(), 1);
    assert_eq!(sweep["levels"][0]["run"]["aborted"]["rule"], "mean>1us for 1s");
    // An open loop alone has a rate to reach.
    let line = format!("sweep {url} --levels 2 --abort-on achieved<95%");
    folder.plimsoll(&line).ends(2);
}

/// No file takes more than 1 KiB, as if the disk were full then.
#[test]
fn a_page_that_could_not_be_written_is_not_named() {
    let (folder, target) = (Folder::new(), Target::start());
    let url = target.url("/healthz");
    for line in [
        format!("sweep {url} --levels 1,2 -d 200ms --rest 0 -q --out full"),
        format!("compare {url} {url} --rounds 1 -c 1 -d 200ms --rest 0 -q --out full2"),
    ] {
        let mut limited = folder.command(Path::new("bash"), "");
        limited.args(["-c", &format!("trap '' XFSZ; ulimit -f 1; exec {PLIMSOLL} {line}")]);
        let ended = ended(&mut limited);
        assert!(ended.stderr.contains("cannot write") && ended.code != 0, "{ended:#?}");
        assert!(
            ended.stdout.contains("VALID") || ended.stdout.contains("1 round was made"),
            "{ended:#?}"
        );
        assert!(!ended.stdout.contains("report: "), "{ended:#?}");
    }
}
