//! `plimsoll compare`.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{Folder, PLIMSOLL, Target};

const SHORT: &str = "--rounds 3 -d 1s --rest 0s -c 200 -R 100 -q";

#[test]
fn a_slower_server_is_reported_and_ends_with_99() {
    let (folder, target) = (Folder::new(), Target::start());
    // So far apart that no stall of a busy machine can make them alike.
    let (fast, slow) = (target.url("/delay/30ms"), target.url("/delay/2s"));
    // Tests share their machine, so the runs need not be VALID.
    let line = format!("compare {SHORT} --anyway --out cmp {fast} {slow}");
    folder.plimsoll(&line).ends(99).prints("SLOWER").prints("interval (95 %)");
    folder.has(&[
        "cmp/compare.json",
        "cmp/effects.csv",
        "cmp/effects.png",
        "cmp/effects.svg",
        "cmp/report.html",
        "cmp/round-01-old/run.json",
        "cmp/round-03-new/run.json",
    ]);
    let found: Value = serde_json::from_str(&folder.text("cmp/compare.json")).unwrap();
    folder.follows_schema("compare", &found);
    assert_eq!(found["judgement"], "SLOWER");
    let effects = found["comparison"]["effects"].as_array().unwrap();
    let figures = ["old", "new"].map(|of| effects[0][of].as_f64().unwrap());
    assert!(figures[0] < figures[1], "{effects:?}");
    // In an open loop the schedule sets QPS, so it is not compared.
    assert!(effects.iter().all(|effect| effect["measure"] != "qps"), "{effects:?}");
    assert!(effects.iter().all(|effect| effect["ratio"].as_f64().unwrap() > 2.0), "{effects:?}");

    let line = format!("compare --baseline cmp/round-01-new {SHORT} --anyway --out back {fast}");
    // No run of two seconds ends within one: what it is faster than is INVALID.
    folder.plimsoll(&line).ends(98).prints("FASTER").prints("the baseline is a single run");
    folder.plimsoll(&line).refuses(2, "holds a comparison already");
}

/// Rounds with the same arrivals would be one sample of them, however many they are.
#[test]
fn rounds_differ_in_their_arrivals_and_the_servers_of_one_do_not() {
    let (folder, target) = (Folder::new(), Target::start());
    let (a, b) = (target.url("/healthz?a"), target.url("/healthz?b"));
    let line = |out: &str| {
        format!(
            "compare --rounds 3 -d 500ms --rest 0s -R 100 --arrivals poisson --seed 5 -q --anyway --out {out} {a} {b}"
        )
    };
    let plans = |out: &str| {
        folder.plimsoll(&line(out));
        let plan = |round: u32, word: &str| {
            let name = format!("{out}/round-{round:02}-{word}/run.json");
            let run: Value = serde_json::from_str(&folder.text(&name)).unwrap();
            (run["plan"]["seed"].as_u64().unwrap(), run["totals"]["attempts"].as_u64().unwrap())
        };
        [1, 2, 3].map(|round| {
            let of_both = ["old", "new"].map(|word| plan(round, word));
            assert_eq!(of_both[0], of_both[1], "one round");
            of_both[0]
        })
    };
    let first = plans("first");
    assert_eq!(first[0].0, 5);
    assert!(first[1].0 != 5 && first[2].0 != 5 && first[1].0 != first[2].0, "{first:?}");
    assert_eq!(plans("second"), first);
}

#[test]
fn different_responses_are_shown_and_not_judged() {
    let (folder, target) = (Folder::new(), Target::start());
    let (a, b) = (target.url("/bytes/100"), target.url("/bytes/200"));
    let line = format!("compare {SHORT} --out cmp {a} {b} --format json");
    let printed = folder.plimsoll(&line).ends(98);
    let found: Value = serde_json::from_str(&printed.stdout).unwrap();
    assert_eq!(found["judgement"], Value::Null);
    assert!(found["sentence"].as_str().unwrap().contains("their responses differ"), "{found}");
    assert!(!found["comparison"]["effects"].as_array().unwrap().is_empty());
}

#[test]
fn ctrl_c_keeps_the_rounds_that_were_run() {
    let (folder, target) = (Folder::new(), Target::start());
    let (a, b) = (target.url("/delay/2ms"), target.url("/delay/4ms"));
    let line = format!("compare --rounds 50 -d 500ms --rest 0s -c 4 --anyway --out cmp {a} {b}");
    let mut command = folder.command(Path::new(PLIMSOLL), &line);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let third = folder.path().join("cmp/round-03-old/run.json");
    let patience = Instant::now() + Duration::from_secs(40);
    while !third.exists() {
        assert!(Instant::now() < patience, "no third round");
        thread::sleep(Duration::from_millis(5));
    }
    let pressed = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(pressed.unwrap().success());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130));
    let found: Value = serde_json::from_str(&folder.text("cmp/compare.json")).unwrap();
    folder.follows_schema("compare", &found);
    assert!(found["comparison"]["by"].as_str().unwrap().contains("rounds"), "{found}");
    let text = String::from_utf8_lossy(&ended.stdout);
    assert!(text.contains("report: cmp/report.html"), "{text}");
    folder.has(&["cmp/report.html", "cmp/round-02-old/run.json", "cmp/round-02-new/run.json"]);
}

#[test]
fn a_round_that_could_not_be_made_is_reported_with_the_reason_when_it_is_printed_again() {
    let (folder, target) = (Folder::new(), Target::start());
    std::fs::create_dir(folder.path().join("cmp")).unwrap();
    folder.put("cmp/round-02-new", "");
    let url = target.url("/healthz");
    folder.plimsoll(&format!("compare {SHORT} --out cmp {url} {url}")).ends(1);
    let found: Value = serde_json::from_str(&folder.text("cmp/compare.json")).unwrap();
    folder.follows_schema("compare", &found);
    let notes = found["comparison"]["notes"].to_string();
    assert!(notes.contains("it ended early: round 2: cannot make the folder"), "{notes}");
    folder.plimsoll("report cmp").ends(1).prints("ended early: round 2: cannot make the folder");
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let folder = Folder::new();
    folder.put_published(&["native.dat"]);
    for (line, code, needle) in [
        ("compare http://127.0.0.1:1/", 2, "two URLs, or one and an earlier run"),
        ("compare --baseline x http://127.0.0.1:1/ http://127.0.0.1:2/", 2, "one URL only"),
        ("compare --rounds 0 http://127.0.0.1:1/ http://127.0.0.1:2/", 2, "at least one round"),
        ("compare --margin x http://127.0.0.1:1/ http://127.0.0.1:2/", 2, "percentage"),
        ("compare --baseline native.dat http://127.0.0.1:1/", 1, "never judged"),
        ("compare --baseline none.json http://127.0.0.1:1/", 1, "none.json"),
    ] {
        folder.plimsoll(line).refuses(code, needle);
    }
}

/// Gives a run the latencies of one that nobody disturbed, in ten times its blocks. What this machine's
/// own are worth depends on what else it did: in a run of 2 s, a stall makes one a slow server.
fn as_undisturbed(folder: &Folder, name: &str, file: &str) {
    let steady: Value = serde_json::from_str(include_str!("../data/steady_runs.json")).unwrap();
    let blocks = steady[name]["blocks"].as_array().unwrap();
    let mut run: Value = serde_json::from_str(&folder.text(file)).unwrap();
    run["response_ns"] = steady[name]["response_ns"].clone();
    let nth = |nth: usize| {
        let mut block = blocks[nth % blocks.len()].clone();
        block["start_ns"] = (nth as u64 * block["duration_ns"].as_u64().unwrap()).into();
        block
    };
    run["blocks"] = (0..10 * blocks.len()).map(nth).collect();
    folder.put(file, run.to_string());
}

#[test]
fn diff_judges_runs_by_their_blocks_and_tables_never() {
    let (folder, target) = (Folder::new(), Target::start());
    for (name, path) in [("fast", "/delay/5ms"), ("slow", "/delay/50ms")] {
        let url = target.url(path);
        let line = format!("run -c 8 -R 100 -d 2s -q --out {name} {url}");
        let ended = folder.plimsoll(&line);
        assert!([0, 98].contains(&ended.code), "{ended:?}");
        as_undisturbed(&folder, name, &format!("{name}/run.json"));
    }
    folder
        .plimsoll("diff fast slow --anyway --out d")
        .ends(99)
        .prints("SLOWER: slow against fast")
        .prints("judged within single runs");
    folder.plimsoll("diff slow fast --anyway --out d").ok().prints("FASTER: fast against slow");
    folder.put_published(&["native.dat", "apiserver_after.dat"]);
    let json = folder.plimsoll("diff native.dat apiserver_after.dat --format json").ok();
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["judgements"], serde_json::json!([[]]));
}

/// A response with the time or an id in it is another one each time.
#[test]
fn responses_that_differ_in_content_only_are_judged() {
    let (folder, target) = (Folder::new(), Target::start());
    let (a, b) = (target.url("/bytes/100"), target.url("/bytes/104"));
    let line = format!("compare {SHORT} --out cmp {a} {b} --format json");
    let printed = folder.plimsoll(&line);
    let found: Value = serde_json::from_str(&printed.stdout).unwrap();
    let reasons = found["comparison"]["withheld"].to_string();
    assert!(!reasons.contains("their responses differ"), "{found}");
    let notes = found["comparison"]["notes"].to_string();
    assert!(
        notes.contains("in content only (status 200, 100 bytes against status 200, 104"),
        "{found}"
    );
}
