//! `--observe`, `plimsoll watch` and `plimsoll explain`.

mod alike;
mod databases;
mod plans;

use std::path::Path;

use serde_json::Value;

use crate::harness::{Ended, Folder, PLIMSOLL, Target, ended};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Runs with sources whose words may hold blanks.
fn observed(folder: &Folder, line: &str, sources: &[&str]) -> Ended {
    let mut command = folder.command(Path::new(PLIMSOLL), line);
    for source in sources {
        command.args(["--observe", source]);
    }
    ended(&mut command)
}

/// The codes that `explain` finds of a folder, most likely first.
fn codes(folder: &Folder, dir: &str) -> Vec<String> {
    let findings = json(&folder.plimsoll(&format!("explain {dir} --format json")).ok().stdout);
    folder.follows_schema("findings", &findings);
    let findings = findings["findings"].as_array().expect("a list").clone();
    findings.iter().map(|finding| finding["code"].as_str().expect("a code").to_owned()).collect()
}

fn source<'a>(run: &'a Value, name: &str) -> &'a Value {
    let sources = run["observed"]["sources"].as_array().expect("sources");
    let found = sources.iter().find(|source| source["name"] == name);
    found.unwrap_or_else(|| panic!("{name}: {sources:?}"))
}

#[test]
fn watching_prints_samples_that_follow_the_schema() {
    let folder = Folder::new();
    let ended = folder.plimsoll("watch --stdio --every 100ms --for 1s").ok();
    let samples: Vec<Value> = ended.stdout.lines().map(json).collect();
    assert!(samples.len() >= 2, "{ended:?}");
    for sample in &samples {
        folder.follows_schema("sample", sample);
        assert!(
            sample["counters"]["cpu.user_ns"].is_u64() && sample["source"] == "app",
            "{sample}"
        );
    }
    let plain = folder.plimsoll("watch local --every 100ms --for 1s").ok();
    assert!(plain.stdout.starts_with("app: "), "{plain:?}");
}

#[test]
fn a_source_of_which_nothing_can_be_read_is_a_failure() {
    let folder = Folder::new();
    let ended = folder.plimsoll("watch local:pid=4000000 --every 100ms --for 1s");
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stdout.contains("no process"), "{ended:?}");
}

#[test]
fn a_file_gets_a_line_for_each_sample_whatever_standard_error_is() {
    let folder = Folder::new();
    let watch = format!("{PLIMSOLL} watch local --every 100ms --for 1s > lines");
    // A terminal to run in.
    let mut command = folder.command(Path::new("script"), "-q -e -c");
    ended(command.args([&watch, "/dev/null"]).env("TERM", "xterm")).ok();
    let lines = folder.text("lines");
    let samples = lines.lines().filter(|line| line.starts_with("app: ")).count();
    assert!(samples >= 2, "{lines:?}");
}

#[test]
fn a_run_keeps_what_was_watched_beside_it() {
    let (folder, target) = (Folder::new(), Target::start());
    let line = format!("run {} -d 4s -c 2 --out out -q", target.url("/healthz"));
    let remote = format!("app/far=exec:{PLIMSOLL} watch --stdio --every 200ms");
    observed(&folder, &line, &[&remote]).measured();
    let run = json(&folder.text("out/run.json"));
    folder.follows_schema("run", &run);
    for (name, role, figure) in [
        ("generator", "generator", "cpu.user_ns"),
        ("server", "app", "process.cpu_ns"),
        ("far", "app", "cpu.user_ns"),
    ] {
        let source = source(&run, name);
        assert_eq!(source["role"], role);
        assert!(source["figures"][figure]["growth"].is_f64(), "{name}: {source}");
        assert!(source["cost_ratio"].as_f64().is_some_and(|cost| cost < 0.5), "{source}");
    }
    assert!(source(&run, "far")["clock_offset_ns"].is_i64());
    let samples = folder.text("out/samples.jsonl");
    for line in samples.lines() {
        let sample = json(line);
        assert!(sample["at_ns"].is_u64(), "{line}");
    }
    folder.follows_schema("sample", &json(samples.lines().next().expect("a sample")));
    assert!(folder.text("out/report.html").contains("What limits it"));
    let text = folder.plimsoll("explain out").ok().stdout;
    assert!(text.starts_with("1. ") && text.contains("fix: "), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn sources_that_fail_are_gaps_and_end_no_run() {
    let (folder, target) = (Folder::new(), Target::start());
    let line = format!("run {} -d 2s -c 2 --out out -q", target.url("/healthz"));
    let sources = [
        "app=exec:echo garbage; echo broken pipe >&2; exit 3",
        "any=prometheus:http://127.0.0.1:1/metrics",
        "db=local:name=no-such-program",
        "cache=exec:sleep 60",
    ];
    observed(&folder, &line, &sources).measured();
    let run = json(&folder.text("out/run.json"));
    for (name, words) in [
        ("app", "the command "),
        ("any", "cannot connect to 127.0.0.1:1"),
        ("db", "no process named no-such-program"),
    ] {
        let gaps = source(&run, name)["gaps"].to_string();
        assert!(gaps.contains(words), "{name}: {gaps}");
    }
    assert_eq!(source(&run, "cache")["samples"], 0);
}

#[test]
fn no_password_of_a_source_is_kept_anywhere() {
    let (folder, target) = (Folder::new(), Target::start());
    // The shell of a command is told to have ended half a second later at most: it must not wait for processors that the load takes.
    let line = format!("run {} -R 50 -d 3s -c 2 --out out", target.url("/healthz"));
    let sources = [
        "app/a=exec:PGPASSWORD=hunter2 sh -c 'echo for hunter2 >&2; exit 3'",
        "app/b=exec:echo 'Authorization: hunter2' --password hunter2 -phunter2 http://u:hunter2@h/",
        "db=postgres://ann:x@hunter2@127.0.0.1:1/shop",
        "db/m=mysql://ann:x%zz:hunter2@127.0.0.1:1/shop",
        "cache=redis://:x@hunter2@127.0.0.1:1",
    ];
    let ended = observed(&folder, &line, &sources).measured();
    for name in ["a", "db"] {
        assert!(ended.stdout.contains(&format!("{name}: no samples: ")), "{name}: {ended:?}");
    }
    let explained = folder.plimsoll("explain out").ok();
    let said = [ended.stdout, ended.stderr, explained.stdout, explained.stderr].concat();
    assert!(!said.contains("hunter2"), "{said}");
    for path in files(folder.path()) {
        let bytes = std::fs::read(&path).expect("readable");
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("hunter2"), "{}", path.display());
    }
    for source in
        ["db=postgres://a:x/hunter2@h/d", "db=mysql://a:x?hunter2@h", "redis://:x#hunter2@h"]
    {
        let refused = observed(&folder, "run http://127.0.0.1:1/", &[source]);
        assert!(refused.code == 2 && refused.stderr.contains("%2F"), "{refused:?}");
        assert!(!refused.stderr.contains("hunter2"), "{refused:?}");
    }
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("it").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn what_was_watched_is_found_again_without_run_json() {
    let (folder, target) = (Folder::new(), Target::start());
    folder.plimsoll(&format!("run {} -d 1s -c 2 --out out -q", target.url("/healthz"))).measured();
    let whole = folder.text("out/run.json");
    folder.put("out/run.json", &whole[..whole.len() / 2]);
    let lacking =
        json(&folder.plimsoll("explain out --format json").ok().stdout)["abstained"].to_string();
    assert!(!lacking.contains("nothing was watched on the server"), "{lacking}");
    folder.put("sweep.json", "{}");
    let sweep = folder.plimsoll("explain .");
    assert!(sweep.code == 2 && sweep.stderr.contains("holds a sweep"), "{sweep:?}");
}

#[test]
fn a_workload_file_says_what_to_watch_but_runs_no_command() {
    let (folder, target) = (Folder::new(), Target::start());
    let file = |sources: &str| {
        format!("target: {}\nobserve:\n{sources}endpoints:\n  - path: /healthz\n", target.url(""))
    };
    folder.put("good.yaml", file("  - any/far=prometheus:http://127.0.0.1:1/metrics\n"));
    folder.plimsoll("run good.yaml -d 1s -c 2 --out out -q --observe app/here=local").measured();
    let run = json(&folder.text("out/run.json"));
    assert!(source(&run, "far")["gaps"].to_string().contains("cannot connect"), "{run}");
    assert!(source(&run, "here")["samples"].is_u64());
    for (line, words) in [
        ("app=exec:touch owned", "3:5: a file may not run commands"),
        ("web=local", "3:5: `web` is not a role"),
    ] {
        folder.put("bad.yaml", file(&format!("  - {line}\n")));
        let ended = folder.plimsoll("run bad.yaml -d 1s");
        assert!(ended.code == 2 && ended.stderr.contains(words), "{ended:?}");
    }
    assert!(!folder.path().join("owned").exists());
}

#[test]
fn what_was_found_is_confirmed_by_making_the_run_again() {
    let (folder, target) = (Folder::new(), Target::start());
    let url = target.url("/healthz");
    folder.plimsoll(&format!("run {url} -d 1s -c 4 --no-keepalive --out off -q")).measured();
    let ended = folder.plimsoll("explain off --confirm --format json").ok();
    let findings = json(&ended.stdout);
    folder.follows_schema("findings", &findings);
    let all = findings["findings"].as_array().expect("findings");
    let found = all.iter().find(|finding| finding["code"] == "conn.keepalive_off");
    let confirmed = &found.expect("it is found")["confirmed"];
    // A busy machine may leave it open, and never refute it.
    assert_ne!(confirmed["outcome"], "refuted", "{confirmed}");
    assert!(confirmed["sentence"].as_str().expect("words").contains("keep-alive"), "{confirmed}");
    for name in ["before", "with-keep-alive"] {
        folder.follows_schema("run", &json(&folder.text(&format!("off/confirm/{name}/run.json"))));
    }
    let again = json(&folder.text("off/confirm/with-keep-alive/run.json"));
    assert_eq!(again["plan"]["keepalive"], true);
    // A folder that this user's records do not know is explained, and nothing is run.
    std::fs::rename(folder.path().join("off"), folder.path().join("moved")).expect("renamed");
    let moved = folder.plimsoll("explain moved --confirm");
    assert!(moved.code == 2 && moved.stderr.contains("without your consent"), "{moved:?}");
}

#[test]
fn what_is_written_wrongly_is_refused() {
    let folder = Folder::new();
    for (line, words) in [
        ("run http://127.0.0.1:1/ --observe web=local", "`web` is not a role"),
        ("watch ssh:host", "`ssh` is not a source"),
        ("watch local --every 1ms", "50ms or more"),
        ("explain", "measure first, as in `plimsoll run URL`"),
    ] {
        let ended = folder.plimsoll(line);
        assert!(ended.code == 2 || line == "explain" && ended.code == 1, "{line}: {ended:?}");
        assert!(ended.stderr.contains(words), "{line}: {ended:?}");
    }
}

#[test]
fn connections_that_are_not_kept_alive_are_named() {
    let (folder, target) = (Folder::new(), Target::start());
    let url = target.url("/healthz");
    folder.plimsoll(&format!("run {url} -n 2000 -c 4 --no-keepalive --out off -q")).measured();
    assert!(codes(&folder, "off").contains(&"conn.keepalive_off".to_owned()));
    folder.plimsoll(&format!("run {url} -n 2000 -c 4 --out on -q")).measured();
    assert!(!codes(&folder, "on").contains(&"conn.keepalive_off".to_owned()));
}
