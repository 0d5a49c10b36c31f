//! Pools of order `unique` over kills, and files that change, against a server that writes down what came.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{Folder, PLIMSOLL};
use crate::recorder::Recorder;

/// A workload whose requests each take the next row of `users.csv`.
fn workload(folder: &Folder, server: &Recorder, order: &str) {
    let target = server.url("");
    folder.put(
        "w.yaml",
        format!(
            "target: {target}\n\
             load: {{concurrency: 16, duration: 60s}}\n\
             pools: {{user: {{file: users.csv, order: {order}}}}}\n\
             endpoints: [{{path: '/u/${{user.id}}'}}]\n"
        ),
    );
}

/// `rows` rows, each with a cell of `filling` bytes and a line end.
fn users(folder: &Folder, rows: u64, filling: usize) {
    let filling = "x".repeat(filling);
    let mut text = "id,note\n".to_owned();
    for row in 0..rows {
        text.push_str(&format!("{row},\"{filling},\n\"\n"));
    }
    folder.put("users.csv", text);
}

fn start(folder: &Folder, line: &str) -> Child {
    let mut command = folder.command(Path::new(PLIMSOLL), line);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts")
}

/// The rows that the server saw since the last time, in order of connections.
fn seen(server: &Recorder) -> Vec<u64> {
    let rows = server.take().into_iter().map(|came| came.path()["/u/".len()..].parse().unwrap());
    rows.collect()
}

/// Waits until the server has seen `rows` rows, and returns them.
fn wait_for(server: &Recorder, rows: usize) -> Vec<u64> {
    let until = Instant::now() + Duration::from_secs(60);
    let mut all = Vec::new();
    while all.len() < rows {
        assert!(Instant::now() < until, "only {} rows came", all.len());
        all.extend(seen(server));
        thread::sleep(Duration::from_millis(5));
    }
    all
}

/// The rows, from 0, that the folder's list of doubtful ones names.
fn doubtful(folder: &Folder) -> BTreeSet<u64> {
    let text = folder.text("out/maybe-used.csv");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("pool,first_row,last_row"));
    let range = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells[0], "\"user\"");
        (cells[1].parse::<u64>().unwrap() - 1)..cells[2].parse().unwrap()
    };
    lines.flat_map(range).collect()
}

fn go_on_after_a_kill(rows: u64, filling: usize, before: usize) {
    // Slow enough that rows are left, whatever keeps this test from running.
    let (folder, server) = (Folder::new(), Recorder::taking(Duration::from_millis(2)));
    workload(&folder, &server, "unique");
    users(&folder, rows, filling);
    let mut first = start(&folder, "run w.yaml -t 8 -c 16 --out out -q");
    let mut all = wait_for(&server, before);
    first.kill().expect("a process to kill");
    first.wait().expect("its end");
    // What was on its way then.
    thread::sleep(Duration::from_millis(300));
    all.extend(seen(&server));
    assert!((all.len() as u64) < rows, "nothing is left for the second run");
    folder.plimsoll("run w.yaml -t 8 -c 16 --out out").refuses(2, "--resume out");

    let second = folder.plimsoll("run --resume out");
    assert!(second.stderr.contains("may have been used: rows "), "{second:#?}");
    assert!(second.stderr.contains("pool `user` has run out"), "{second:#?}");
    folder.has(&["out/run.journal", "out/resumed/run.json"]);
    all.extend(seen(&server));
    // What its workers held when one of them found nothing more.
    let third = folder.plimsoll("run --resume out w.yaml -t 1 -c 1");
    assert!(third.stderr.contains("and no other was in use"), "{third:#?}");
    all.extend(seen(&server));

    let used: BTreeSet<u64> = all.iter().copied().collect();
    assert_eq!(used.len(), all.len(), "a row came twice");
    let doubtful = doubtful(&folder);
    let lost: Vec<u64> =
        (0..rows).filter(|row| !used.contains(row) && !doubtful.contains(row)).collect();
    assert!(lost.is_empty(), "neither used nor in doubt: {lost:?}");
    assert!(doubtful.len() as u64 <= rows / 4, "{} rows in doubt", doubtful.len());
}

#[test]
fn rows_in_memory_go_on_after_a_kill() {
    go_on_after_a_kill(30_000, 3, 3_000);
}

#[test]
fn rows_by_windows_go_on_after_a_kill() {
    go_on_after_a_kill(20_000, 3_500, 3_000);
}

/// Waits until the folder's record of a series has `done` levels or steps, and more rows were used
/// after that.
fn wait_into(
    child: &mut Child,
    folder: &Folder,
    server: &Recorder,
    file: &str,
    done: usize,
) -> Vec<u64> {
    let until = Instant::now() + Duration::from_secs(40);
    let path = folder.path().join(file);
    let count = || {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let record: Value = serde_json::from_str(&text).unwrap_or_default();
        let of = |what: &str| record[what].as_array().map_or(0, Vec::len);
        of("levels") + of("steps")
    };
    while count() < done {
        assert!(Instant::now() < until, "{file} has {} of {done}", count());
        let ended = child.try_wait().expect("a process");
        assert!(ended.is_none(), "{file} has {} of {done}, and it ended: {ended:?}", count());
        thread::sleep(Duration::from_millis(5));
    }
    let mut rows = seen(server);
    rows.extend(wait_for(server, 1));
    rows
}

/// Kills a series of loads when it has `kills[0]` levels or steps, resumes it, kills that at `kills[1]`, and
/// resumes it to its end.
fn kill_a_series(rows: u64, filling: usize, line: &str, kills: [usize; 2]) {
    const WORKERS: u64 = 4;
    /// Rows that a worker takes at once, at most.
    const RANGE: u64 = 64;
    // Slow enough that the probe of a search leaves rows for what comes after it.
    let (folder, server) = (Folder::new(), Recorder::taking(Duration::from_millis(2)));
    workload(&folder, &server, "unique");
    users(&folder, rows, filling);
    let command = line.split(' ').next().unwrap();
    let record = if command == "sweep" { "out/sweep.json" } else { "out/search.json" };
    let resume = format!("{command} --resume out -q");
    let mut used = BTreeSet::new();
    let mut note = |came: Vec<u64>, doubtful: &BTreeSet<u64>| {
        for row in came {
            assert!(!doubtful.contains(&row), "row {row} was in doubt and came");
            assert!(used.insert(row), "row {row} came twice");
        }
        used.clone()
    };
    for (nth, done) in kills.into_iter().enumerate() {
        let begin = format!("{line} -t {WORKERS} -q --out out");
        let mut child = start(&folder, if nth == 0 { &begin } else { &resume });
        let mut came = wait_into(&mut child, &folder, &server, record, done);
        child.kill().expect("a process to kill");
        child.wait().expect("its end");
        // What was on its way then.
        thread::sleep(Duration::from_secs(1));
        came.extend(seen(&server));
        let listed = if nth == 0 { BTreeSet::new() } else { doubtful(&folder) };
        note(came, &listed);
    }
    let ended = folder.plimsoll(&resume);
    assert!(ended.stderr.contains("may have been used: rows "), "{ended:#?}");
    let (came, listed) = (seen(&server), doubtful(&folder));
    assert!(!came.is_empty(), "{ended:#?}");
    let used = note(came, &listed);
    let doubts = listed.len() as u64;
    assert!((1..=2 * WORKERS * RANGE).contains(&doubts), "{doubts} rows in doubt");
    // But for what the last workers held when they were done.
    let furthest = *used.last().unwrap();
    let lost = (0..furthest).filter(|row| !used.contains(row) && !listed.contains(row)).count();
    assert!(lost as u64 <= WORKERS * RANGE, "{lost} rows neither used nor in doubt");
}

const SWEEP: &str = "sweep w.yaml --rates 400,500,600,700 -c 8 -d 400ms --rest 0s";
const SEARCH: &str = "capacity w.yaml -c 8 --max 400 --budget 30s --step 300ms --hold 500ms \
                      --rest 20ms --precision 20%";

#[test]
fn a_killed_sweep_goes_on_without_using_a_row_twice() {
    // In its first level, and in its third.
    kill_a_series(40_000, 3, SWEEP, [0, 2]);
    kill_a_series(20_000, 3_500, SWEEP, [1, 2]);
}

#[test]
fn a_killed_search_goes_on_without_using_a_row_twice() {
    kill_a_series(100_000, 3, SEARCH, [0, 4]);
    kill_a_series(25_000, 3_500, SEARCH, [3, 5]);
}

#[test]
fn a_resumed_run_wants_the_same_rows() {
    let (folder, server) = (Folder::new(), Recorder::start());
    workload(&folder, &server, "unique");
    users(&folder, 100, 3);
    let ended = folder.plimsoll("run w.yaml -n 10 --out out -q --format json");
    let run: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(run["totals"]["succeeded"], 10, "{run:#}");
    users(&folder, 101, 3);
    folder.plimsoll("run --resume out").refuses(2, "users.csv has changed since out was written");
    folder.plimsoll("run --resume none w.yaml").refuses(1, "none/pools.cursors: ");
    folder.plimsoll("run --resume none").refuses(1, "--resume none: ");
    users(&folder, 100, 3);
    workload(&folder, &server, "sequential");
    folder.plimsoll("run --resume out").refuses(2, "w.yaml has changed since out was written");
    let given = folder.plimsoll("run w.yaml --resume out");
    given.refuses(2, "pools of order `unique`, and w.yaml has none");
}

#[test]
fn levels_of_a_sweep_share_their_rows() {
    let (folder, server) = (Folder::new(), Recorder::start());
    workload(&folder, &server, "unique");
    users(&folder, 50_000, 3);
    folder.plimsoll("sweep w.yaml --levels 1,3,2 -d 100ms --rest 0s -q --out out");
    let rows = seen(&server);
    let different: BTreeSet<&u64> = rows.iter().collect();
    assert!(rows.len() > 100 && different.len() == rows.len(), "{} rows", rows.len());
}

#[test]
fn a_file_that_shrinks_ends_the_run_with_what_it_has() {
    let (folder, server) = (Folder::new(), Recorder::start());
    workload(&folder, &server, "sequential");
    users(&folder, 20_000, 3_500);
    let file = folder.path().join("users.csv");
    let was = fs::metadata(&file).unwrap().len();
    let ended = thread::scope(|scope| {
        scope.spawn(|| {
            wait_for(&server, 200);
            File::options().write(true).open(file).unwrap().set_len(100_000).unwrap();
        });
        folder.plimsoll("run w.yaml -q --out out --format json").ends(1)
    });
    let why = format!("users.csv changed while the run was reading it: it had {was} bytes");
    assert!(ended.stderr.contains(&why), "{ended:#?}");
    let run: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert!(run["totals"]["succeeded"].as_u64().unwrap() > 100, "{run:#}");
    assert!(run["halted"].as_str().unwrap().contains(&why), "{run:#}");
    folder.has(&["out/run.json"]);
}

#[test]
fn an_index_is_made_once_and_anew_when_it_will_not_do() {
    let (folder, server) = (Folder::new(), Recorder::start());
    workload(&folder, &server, "random");
    users(&folder, 20_000, 3_500);
    let run = |wanted: &str| {
        let mut command =
            folder.command(Path::new(PLIMSOLL), "run w.yaml -n 2000 -q --format json");
        let output = command.env("XDG_CACHE_HOME", folder.path()).output().expect("it starts");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!([Some(0), Some(98)].contains(&output.status.code()), "{stderr}");
        assert!(stderr.contains(wanted), "no `{wanted}`: {stderr}");
        let rows: BTreeSet<u64> = seen(&server).into_iter().collect();
        // Of 2,000 draws out of 20,000 rows, about 97 rows come again.
        assert!(rows.len() > 1_800 && rows.last() < Some(&20_000), "{} rows", rows.len());
        stderr
    };
    run("plimsoll: indexed ");
    assert!(!run("").contains("index"));
    let kept = || -> Vec<_> {
        let files = fs::read_dir(folder.path().join("plimsoll/pools")).unwrap();
        files.map(|file| file.unwrap().path()).collect()
    };
    let [index] = &kept()[..] else { panic!("{:?}", kept()) };
    let mut bytes = fs::read(index).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(index, bytes).unwrap();
    run("users.csv is damaged: it is rebuilt");
    users(&folder, 20_000, 3_600);
    run("users.csv belongs to another version of the file: it is rebuilt");
    assert_eq!(kept(), std::slice::from_ref(index));
    // An invalid row is found before anything is sent.
    folder.put("users.csv", folder.text("users.csv") + "1,2,3\n");
    let mut command = folder.command(Path::new(PLIMSOLL), "run w.yaml -n 2000");
    let output = command.env("XDG_CACHE_HOME", folder.path()).output().expect("it starts");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.contains("users.csv:40002: row 20001 has 3 values"), "{stderr}");
    assert_eq!((output.status.code(), seen(&server).len()), (Some(2), 0));
    assert_eq!(kept(), std::slice::from_ref(index));
}

/// Presses Ctrl-C once the folder of indexes holds a file that ends so; how the command ended, and what
/// that folder holds then.
fn interrupt_at(ending: &str) -> (Option<i32>, String, Vec<String>) {
    let (folder, server) = (Folder::new(), Recorder::start());
    users(&folder, 20_000, 3_500);
    // Nobody writes into it, so that the command waits when the index is made.
    assert!(Command::new("mkfifo").arg(folder.path().join("wait.pem")).status().unwrap().success());
    folder.put(
        "w.yaml",
        format!(
            "target: {}\nload: {{concurrency: 1, duration: 60s}}\npools:\n\
             \x20 a: {{file: users.csv, order: random}}\n\
             endpoints: [{{path: '/u/${{a.id}}'}}]\n",
            server.url("").replace("http:", "https:")
        ),
    );
    let mut command = folder.command(Path::new(PLIMSOLL), "run w.yaml --cacert wait.pem");
    command.env("XDG_CACHE_HOME", folder.path()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let kept = || -> Vec<String> {
        let Ok(files) = fs::read_dir(folder.path().join("plimsoll/pools")) else {
            return Vec::new();
        };
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
    };
    let until = Instant::now() + Duration::from_secs(60);
    while !kept().iter().any(|name| name.ends_with(ending)) {
        assert!(Instant::now() < until, "no {ending}: {:?}", kept());
        thread::sleep(Duration::from_millis(1));
    }
    folder.run(Path::new("kill"), &format!("-INT {}", child.id())).ok();
    // However long the index took to be begun: the end has a time of its own.
    let until = Instant::now() + Duration::from_secs(60);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > until {
            child.kill().unwrap();
        }
        thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().unwrap();
    assert!(server.take().is_empty());
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned(), kept())
}

#[test]
fn ctrl_c_while_an_index_is_made_leaves_no_half_of_one() {
    let (code, stderr, kept) = interrupt_at(".partial");
    assert_eq!(code, Some(130), "{stderr}");
    assert!(stderr.contains("plimsoll: interrupted"), "{stderr}");
    assert!(kept.iter().all(|name| name.ends_with(".index")), "{kept:?}");
}

#[test]
fn ctrl_c_after_an_index_is_made_ends_the_command_and_keeps_the_index() {
    let (code, stderr, kept) = interrupt_at(".index");
    assert_eq!(code, Some(130), "{stderr}");
    assert!(stderr.contains("interrupted before the load began: nothing was sent"), "{stderr}");
    assert_eq!(kept.len(), 1, "{kept:?}");
}

#[test]
fn a_quote_that_is_never_closed_is_reported_with_its_place() {
    let folder = Folder::new();
    let pool = "target: http://127.0.0.1:9\npools: {u: {file: u.csv, order: sequential}}\n\
                endpoints: [{path: '/${u.id}'}]\n";
    folder.put("w.yaml", pool);
    folder.put("u.csv", "id,name\n1,ann\n2,\"bob\n3,eve\n");
    let wanted = "u.csv:3: a quote opened in line 3, column 3 is never closed";
    folder.plimsoll("plan w.yaml").refuses(2, wanted);
}

#[test]
fn json_lines_that_are_too_large_are_refused_with_the_limit() {
    let folder = Folder::new();
    let pool = "target: http://127.0.0.1:9\npools: {u: {file: u.jsonl}}\n\
                endpoints: [{path: '/${u.id}'}]\n";
    folder.put("w.yaml", pool);
    folder.put("u.jsonl", "");
    let file = File::options().write(true).open(folder.path().join("u.jsonl")).unwrap();
    // It has no bytes on the disk.
    file.set_len((1 << 30) + 1).unwrap();
    let why = "u.jsonl has 1073741825 bytes, and JSON lines are held in memory, 1073741824 bytes";
    folder.plimsoll("plan w.yaml").refuses(2, why);
}
