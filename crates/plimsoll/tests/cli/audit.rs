//! `plimsoll audit`.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::harness::{Ended, Folder, PLIMSOLL, Target, unwrapped};

/// A printout among the tests of `import`.
fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../import/tests/data").join(name)
}

fn audit(folder: &Folder, files: &[&str], flags: &[&str]) -> Ended {
    let paths = files.iter().map(|name| match data(name) {
        path if path.exists() => path,
        _ => PathBuf::from(name),
    });
    let output = folder
        .command(Path::new(PLIMSOLL), "audit")
        .args(paths)
        .args(flags)
        .output()
        .expect("the program starts");
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn json(folder: &Folder, files: &[&str], flags: &[&str]) -> (i32, Value) {
    let ended = audit(folder, files, &[flags, &["--format", "json"]].concat());
    (ended.code, serde_json::from_str(&ended.stdout).unwrap_or_else(|e| panic!("{e}: {ended:#?}")))
}

#[test]
fn published_tables_are_flagged_where_they_must_be() {
    let folder = Folder::new();
    for (name, impossible, idle) in
        [("native.dat", 10, 3), ("apiserver_before.dat", 9, 3), ("apiserver_after.dat", 10, 3)]
    {
        folder.put_published(&[name]);
        let ended = audit(&folder, &[name], &[]).ends(98);
        assert!(ended.stdout.contains("most connections idle: "), "{ended:#?}");
        let (_, document) = json(&folder, &[name], &[]);
        let table = folder.text(name);
        let rows = document["files"][0]["rows"].as_array().unwrap().clone();
        assert_eq!(rows.len(), 14);
        folder.follows_schema("audit", &document);
        let mut found = [0, 0];
        for (line, row) in table.lines().zip(&rows) {
            let figures: Vec<f64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
            let ratio = figures[1] * figures[2] / 1000.0 / figures[0];
            let codes = row["findings"].to_string();
            assert_eq!(row["verdict"] == "impossible", ratio > 1.05, "{line}: {row}");
            assert_eq!(codes.contains("idle_connections"), ratio <= 0.5, "{line}: {row}");
            found[0] += usize::from(ratio > 1.05);
            found[1] += usize::from(ratio <= 0.5);
        }
        assert_eq!(found, [impossible, idle], "{name}");
    }
}

#[test]
fn the_published_printouts_are_impossible_by_wrks_own_doing() {
    let folder = Folder::new();
    for (name, ratio) in [("wrk_s1.txt", "1.28"), ("wrk_s2.txt", "1.53"), ("wrk_s5.txt", "1.36")] {
        let ended = audit(&folder, &[name], &[]).ends(98);
        let text = unwrapped(&ended.stdout);
        assert!(text.contains(&format!("possible: {ratio} times")), "{text}");
        assert!(text.contains("Likely cause: wrk's correction for coordinated omission"), "{text}");
    }
}

#[test]
fn open_loops_are_not_impossible_and_exit_well() {
    let folder = Folder::new();
    for name in ["wrk2.txt", "vegeta.json"] {
        let ended = audit(&folder, &[name], &[]).ok();
        assert!(ended.stdout.contains("open loop"), "{ended:#?}");
    }
    folder.put("rates.dat", "# rate_per_s qps mean_ms success_percent\n100 100 90000 100\n");
    audit(&folder, &["rates.dat"], &["-c", "5"]).ok();
}

#[test]
fn several_tools_at_one_load_are_set_side_by_side() {
    let folder = Folder::new();
    let files = ["wrk.txt", "ab_keepalive.txt", "hey.txt"];
    let (code, document) = json(&folder, &files, &["-c", "50", "--same-target"]);
    assert_eq!(code, 98);
    let rows = document["side_by_side"][0]["rows"].as_array().unwrap().clone();
    let tools: Vec<&str> = rows.iter().map(|row| row["tool"].as_str().unwrap()).collect();
    assert_eq!(tools, ["wrk", "ab", "hey"]);
    let why = rows[2]["why"].as_str().unwrap();
    assert!(why.starts_with("27.58 % of ") && why.contains("too low"), "{why}");
    let (_, named) = json(&folder, &["wrk.txt", "ab_keepalive.txt", "ab_close.txt"], &[]);
    let groups = named["side_by_side"].as_array().unwrap();
    assert_eq!((groups.len(), groups[0]["connections"].as_f64()), (1, Some(50.0)));
}

#[test]
fn hey_and_oha_join_by_the_number_of_connections() {
    let folder = Folder::new();
    let files = ["ab_keepalive.txt", "hey.txt", "oha.txt"];
    let (_, alone) = json(&folder, &files, &[]);
    assert_eq!(alone["side_by_side"].as_array().unwrap().len(), 0);
    let (_, document) = json(&folder, &files, &["-c", "50"]);
    let groups = document["side_by_side"].as_array().unwrap();
    assert_eq!((groups.len(), groups[0]["connections"].as_f64()), (1, Some(50.0)));
    assert_eq!(groups[0]["target"], "http://127.0.0.1:18080/healthz");
    assert_eq!(groups[0]["rows"].as_array().unwrap().len(), 3);
    folder.follows_schema("audit", &document);
    let text = audit(&folder, &files, &["-c", "50"]);
    assert!(text.stdout.contains("names no target"), "{text:#?}");
    let (_, apart) = json(&folder, &files, &["-c", "8"]);
    assert_eq!(apart["side_by_side"][0]["rows"].as_array().unwrap().len(), 2);
}

#[test]
fn standard_input_is_read_for_a_dash() {
    let folder = Folder::new();
    let printed = fs::read_to_string(data("ab_keepalive.txt")).unwrap();
    let printed = printed.replace("Total:          0    1 ", "Total:          0    0 ");
    let mut child = folder
        .command(Path::new(PLIMSOLL), "audit -")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    child.stdin.take().unwrap().write_all(printed.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.starts_with("standard input: ab, closed loop"), "{text}");
    assert!(text.contains(" <0.5ms "), "{text}");
}

#[test]
fn plimsolls_results_are_judged_too_by_file_and_by_folder() {
    let (folder, target) = (Folder::new(), Target::start());
    let url = target.url("/delay/5ms");
    folder.plimsoll(&format!("run {url} -c 4 -d 500ms -q --out one"));
    folder.plimsoll(&format!("sweep {url} --name api --levels 2,4 -d 300ms --rest 0 -q --out two"));
    let (code, document) = json(&folder, &["one", "two/sweep.json", "two/api.dat"], &[]);
    // What a table of levels of 300 ms says may be impossible: the last responses come after so short a window.
    assert!([0, 98].contains(&code), "{document:#}");
    let tools: Vec<&Value> =
        document["files"].as_array().unwrap().iter().map(|file| &file["tool"]).collect();
    assert_eq!(tools, ["plimsoll", "plimsoll", "wrktest.sh"]);
    assert_eq!(document["side_by_side"][0]["connections"], 4.0);
    let csv = audit(&folder, &["one"], &["--format", "csv"]).ok();
    assert_eq!(csv.stdout.lines().count(), 2, "{csv:#?}");
}

#[test]
fn unreadable_files_are_reported_and_the_rest_is_judged() {
    let folder = Folder::new();
    folder.put("story.txt", "Once upon a time\n");
    folder.put("empty.txt", "");
    folder.put("junk.bin", (0..=255).cycle().take(9000).collect::<Vec<u8>>());
    folder.put("cut.json", "{\"latencies\":{\"mean\":1},\"throughput\":");
    fs::create_dir(folder.path().join("void")).unwrap();
    for (name, needle) in [
        (
            "story.txt",
            "story.txt: in an unknown format; supported are: the .dat of wrktest.sh; text of",
        ),
        ("junk.bin", "in an unknown format"),
        ("empty.txt", "empty"),
        ("cut.json", "cut.json: line 1: the file ends in the middle of its JSON"),
        ("nowhere.txt", "nowhere.txt: No such file"),
        ("void", "void: a folder without sweep.json or run.json"),
    ] {
        audit(&folder, &[name], &[]).refuses(1, needle);
    }
    let mixed = audit(&folder, &["wrk_503.txt", "story.txt"], &[]);
    assert!(mixed.stderr.contains("story.txt: in an unknown format"), "{mixed:#?}");
    assert!(mixed.stdout.contains("mostly_errors"), "{mixed:#?}");
    audit(&folder, &["ab_503.txt", "story.txt"], &[]).ends(1);
    audit(&folder, &["wrk_s1.txt", "story.txt"], &[]).ends(98);
    audit(&folder, &[], &[]).refuses(2, "FILE");
    audit(&folder, &["wrk.txt"], &["-c", "0"]).refuses(2, "at least one connection");
}

/// Every whole number of a result as high as numbers go: whatever still reads must not overflow.
#[test]
fn counts_as_high_as_they_go_break_no_command() {
    let (folder, target) = (Folder::new(), Target::start());
    folder.plimsoll(&format!("run {} -c 2 -d 300ms -q --out run", target.url("/healthz")));
    folder
        .plimsoll(&format!("sweep {} --levels 2 -d 200ms -q --out sweep", target.url("/healthz")));
    for (name, dir) in [("run/run.json", "run"), ("sweep/sweep.json", "sweep")] {
        let mut document: Value = serde_json::from_str(&folder.text(name)).unwrap();
        let run = if dir == "run" { &mut document } else { &mut document["levels"][0]["run"] };
        raise(&mut run["totals"]);
        for summary in ["response_ns", "service_ns", "late_ns", "wait_ns"] {
            raise(&mut run[summary]);
        }
        raise(&mut run["generator"]["cpu_ns"]);
        folder.put(name, document.to_string());
        for line in [
            format!("audit {dir}"),
            format!("audit {dir} --format json"),
            format!("diff {name} {name} --out diffed"),
        ] {
            let ended = folder.plimsoll(&line);
            assert!(ended.code != 101 && !ended.stderr.contains("panicked"), "{line}: {ended:#?}");
        }
    }
}

/// Makes every whole number the highest there is.
fn raise(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.values_mut().for_each(raise),
        Value::Array(items) => items.iter_mut().for_each(raise),
        Value::Number(n) if n.is_u64() => *value = u64::MAX.into(),
        _ => {}
    }
}
