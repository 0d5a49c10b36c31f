//! `plimsoll capacity`.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{Ended, Folder, PLIMSOLL, Target};

/// A search short enough for a test. What it finds in so little time is not asserted closely.
const SHORT: &str = "--budget 40s --step 500ms --hold 1s --rest 50ms --out out";
/// One server of 5 ms: 200/s.
const QUEUE: &str = "/queue?servers=1&mean=5ms&dist=det";

fn json(folder: &Folder, name: &str) -> Value {
    serde_json::from_str(&folder.text(name)).unwrap()
}

#[test]
fn a_capacity_is_found_confirmed_explained_and_written_down() {
    let (folder, target) = (Folder::new(), Target::start());
    let search = || folder.plimsoll(&format!("capacity {} {SHORT}", target.url(QUEUE)));
    // A generator that was kept from its work says so, and what limits the server stays unknown.
    let told = |ended: &Ended| !ended.stdout.contains("the generator was the limit");
    let ended = (0..4).map(|_| search()).find(told).expect("a search that ends at the server");
    ended
        .ok()
        .prints("limited by ")
        .prints("confirmed over 1.00s")
        .prints("Why not more")
        .prints("report: out/report.html");
    folder.has(&["out/search.json", "out/search.csv", "out/search.svg", "out/search.png"]);
    let line = json(&folder, "out/capacity.json");
    assert_eq!(line["schema"], "plimsoll.loadline/1");
    let rate = line["rate_per_s"].as_f64().unwrap();
    assert!((120.0..260.0).contains(&rate), "{rate}");
    assert!(line["rate_low_per_s"].as_f64().unwrap() <= rate);
    assert!(line["rate_high_per_s"].as_f64().unwrap() >= rate);
    assert_eq!(line["endpoints"][0]["endpoint"], "GET /queue");
    let search = json(&folder, "out/search.json");
    for step in search["steps"].as_array().unwrap() {
        let run = json(&folder, &format!("out/{}", step["file"].as_str().unwrap()));
        assert_eq!(run["schema"], "plimsoll.run/1");
    }
    assert!(folder.text("out/report.html").contains("plimsoll-capacity"));
}

#[test]
fn a_concurrency_is_searched_in_a_closed_loop() {
    let (folder, target) = (Folder::new(), Target::start());
    let url = target.url(QUEUE);
    let ended = folder.plimsoll(&format!("capacity {url} --closed -c 400 {SHORT} --format json"));
    let search: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(search["settings"]["kind"], "concurrency");
    // 100 of them, 5 ms each, make a mean of 500 ms; a run of half a second sees less.
    let found = search["load_line"]["concurrency"].as_f64().unwrap();
    assert!((40.0..=400.0).contains(&found) && found.fract() == 0.0, "{found}");
}

#[test]
fn a_kill_keeps_what_was_learnt_and_resume_goes_on() {
    let (folder, target) = (Folder::new(), Target::start());
    let line = format!("capacity {} {SHORT}", target.url(QUEUE));
    let mut killed = folder.command(Path::new(PLIMSOLL), &line);
    let mut killed = killed.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let file = folder.path().join("out/search.json");
    let steps = || {
        let text = fs::read_to_string(&file).unwrap_or_default();
        let search: Value = serde_json::from_str(&text).unwrap_or_default();
        search["steps"].as_array().cloned().unwrap_or_default()
    };
    wait_until(|| steps().len() >= 4);
    killed.kill().unwrap();
    killed.wait().unwrap();
    let kept = steps();
    let ended = folder.plimsoll("capacity --resume out").ok();
    assert!(ended.stderr.contains(&format!("keeping {} steps", kept.len())), "{ended:#?}");
    assert_eq!(steps()[..kept.len()], kept);
    folder.has(&["out/capacity.json", "out/report.html"]);
    folder.plimsoll("capacity --resume out").ok().prints("confirmed over");
}

#[test]
fn the_capacity_of_sessions_is_told_in_sessions_by_a_search_of_before_they_were_told_too() {
    let (folder, target) = (Folder::new(), Target::start());
    let flow = "flows: [{name: visit, steps: [{path: /healthz}, {path: /bytes/1}]}]";
    folder.put("visits.yaml", format!("target: {}\n{flow}\n", target.url("")));
    folder.plimsoll(&format!("capacity visits.yaml --max 40 {SHORT}")).prints("sessions/s");
    let mut search = json(&folder, "out/search.json");
    search["outcome"].take();
    search["settings"].as_object_mut().unwrap().remove("arriving").expect("what arrives");
    search["steps"].as_array_mut().unwrap().truncate(3);
    folder.put("out/search.json", search.to_string());
    folder.plimsoll("capacity --resume out").prints("sessions/s");
    let line = json(&folder, "out/capacity.json");
    assert_eq!(line["arriving"], "sessions");
    assert_eq!(line["requests_per_arrival"], 2.0);
}

#[test]
fn a_target_that_dies_keeps_what_was_learnt_and_resume_goes_on() {
    let (folder, target) = (Folder::new(), Target::start());
    let line = format!("capacity {} {SHORT}", target.url(QUEUE));
    let mut command = folder.command(Path::new(PLIMSOLL), &line);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let steps = folder.path().join("out/steps");
    let held = || fs::read_dir(&steps).map_or(0, Iterator::count) >= 5;
    wait_until(held);
    let target = target.pause(|| {
        let ended = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&ended.stdout);
        assert!(text.contains("stopped answering"), "{text}");
        assert_eq!(ended.status.code(), Some(98));
    });
    folder.has(&["out/search.json", "out/report.html"]);
    let held = |search: &Value| {
        let steps = search["steps"].as_array().unwrap().iter();
        let answered = |step: &&Value| step["judged"]["succeeded_per_s"].as_f64() > Some(0.0);
        steps.filter(answered).cloned().collect::<Vec<_>>()
    };
    let learnt = held(&json(&folder, "out/search.json"));
    assert!(learnt.len() >= 5, "{learnt:?}");
    // It died under no load that it could not bear: the search is not told so by the generator.
    let blamed = |step: &Value| step["judged"]["outcome"] == "generator";
    assert!(!learnt.iter().any(blamed), "{learnt:?}");

    folder.plimsoll("capacity --resume out").ok().prints("confirmed over");
    let all = held(&json(&folder, "out/search.json"));
    assert_eq!(all[..learnt.len()], learnt);
    let rate = json(&folder, "out/capacity.json")["rate_per_s"].as_f64().unwrap();
    assert!((120.0..260.0).contains(&rate), "{rate}");
    drop(target);
}

#[test]
fn a_target_that_never_breaks_gives_at_least() {
    let (folder, target) = (Folder::new(), Target::start());
    // 20 ms whatever comes: two connections bring 100/s, and the server would take far more.
    let line = format!("capacity {} -c 2 {SHORT}", target.url("/delay/20ms"));
    folder.plimsoll(&line).ok().prints("at least ").prints("the generator was the limit");
    let found = json(&folder, "out/capacity.json");
    assert_eq!((&found["at_least"], &found["rate_high_per_s"]), (&true.into(), &Value::Null));
    assert_eq!(found["limited_by"], Value::Null);
    let rate = found["rate_per_s"].as_f64().unwrap();
    assert!((50.0..=101.0).contains(&rate), "{rate}");
}

#[test]
fn a_target_that_never_succeeds_is_told_at_once() {
    let (folder, target) = (Folder::new(), Target::start());
    let url = target.url("/status/503");
    folder
        .plimsoll(&format!("capacity {url} {SHORT}"))
        .ends(99)
        .prints("nothing succeeded, not even one request at a time");
    assert!(!folder.path().join("out/capacity.json").exists());
}

#[test]
fn objectives_that_are_never_met_say_so_with_the_best_seen() {
    let (folder, target) = (Folder::new(), Target::start());
    let url = target.url("/delay/60ms");
    folder
        .plimsoll(&format!("capacity {url} --slo p50<40ms {SHORT}"))
        .ends(99)
        .prints("the objectives are never met (p50<40ms): best seen at ");
    let outcome = json(&folder, "out/search.json")["outcome"].to_string();
    assert!(outcome.contains("where p50<40ms came to "), "{outcome}");
    assert!(!folder.path().join("out/capacity.json").exists());
}

#[test]
fn the_objective_that_limits_is_named_and_kept() {
    let (folder, target) = (Folder::new(), Target::start());
    let url = target.url(QUEUE);
    // Users of one server of 5 ms wait for one another: 10 of them, 50 ms each.
    let line = format!("capacity {url} --closed -c 100 --slo p90<50ms --slo qps>=10 {SHORT}");
    folder.plimsoll(&line).ok().prints("limited by p90<50ms; confirmed over").prints("Objectives");
    let found = json(&folder, "out/capacity.json");
    assert_eq!(found["objectives"], serde_json::json!(["p90<50ms", "qps>=10"]));
    let users = found["concurrency"].as_f64().unwrap();
    assert!((4.0..=12.0).contains(&users), "{users}");
    let search = json(&folder, "out/search.json");
    let judged = |step: &Value| step["judged"]["margins"][0]["objective"] == "p90<50ms";
    assert!(search["steps"].as_array().unwrap().iter().any(judged));
    let other = format!("capacity {url} --closed -c 100 --slo p50<50ms --resume out");
    folder.plimsoll(&other).refuses(2, "was searched for p90<50ms, qps>=10: give the same --slo");
}

#[test]
fn throughput_is_asked_of_the_capacity() {
    let (folder, target) = (Folder::new(), Target::start());
    let line = format!("capacity {} --slo qps>=2k --slo p99<1s {SHORT}", target.url(QUEUE));
    folder.plimsoll(&line).ends(99);
    let outcome = json(&folder, "out/search.json")["outcome"].to_string();
    assert!(outcome.contains("qps>=2000 is missed: it carries "), "{outcome}");
    let found = json(&folder, "out/capacity.json");
    assert_eq!(found["missed"], serde_json::json!(["qps>=2000"]));
    assert_eq!(found["objectives"], serde_json::json!(["p99<1s"]));
}

#[test]
fn a_line_drawn_below_the_capacity_gives_at_least() {
    let (folder, target) = (Folder::new(), Target::start());
    let url = target.url(QUEUE);
    folder
        .plimsoll(&format!("capacity {url} --max 50 {SHORT}"))
        .ok()
        .prints("at least ")
        .prints("nothing above 50/s was allowed");
    assert_eq!(json(&folder, "out/capacity.json")["at_least"], true);
}

#[test]
fn contradictions_are_refused_in_one_line() {
    let folder = Folder::new();
    let url = "http://127.0.0.1:1/";
    for (line, needle) in [
        (format!("capacity {url} --budget 1s"), "10s at least"),
        (format!("capacity {url} --pace 10ms"), "--closed"),
        (format!("capacity {url} --closed --arrivals poisson"), "open loop"),
        (format!("capacity {url} --precision 90%"), "--precision"),
        ("capacity --resume nowhere".to_owned(), "name a folder that `capacity` wrote to"),
    ] {
        folder.plimsoll(&line).refuses(2, needle);
    }
    let course = format!("capacity {url} --slo founding {SHORT}");
    folder.plimsoll(&course).refuses(2, "give --hold 11s");
    let typo = format!("capacity {url} --slo p99<500");
    let said = "--slo: column 8: ";
    assert!(folder.plimsoll(&typo).ends(2).stderr.contains(said));
    folder.put("search.json", r#"{"schema":"plimsoll.capacity/9"}"#);
    folder.plimsoll("capacity --resume .").refuses(1, "newer plimsoll");
}

#[track_caller]
fn wait_until(condition: impl Fn() -> bool) {
    let patience = Instant::now() + Duration::from_secs(40);
    while !condition() {
        assert!(Instant::now() < patience, "it did not come to pass");
        thread::sleep(Duration::from_millis(5));
    }
}
