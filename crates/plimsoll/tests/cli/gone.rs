//! Servers that are killed while they are measured: each command says so, keeps what it learnt, and
//! ends with 98.

use std::process::{Child, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::peer::{Peer, Step};

use crate::harness::{Folder, PLIMSOLL, Target};

/// How a command ended whose server is killed once the file `there` has `lines` lines.
fn killed(
    folder: &Folder,
    target: Target,
    line: &str,
    (there, lines): (&str, usize),
) -> (i32, String) {
    let mut command = folder.command(PLIMSOLL.as_ref(), line);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (child, path) = (Guard(Some(child)), folder.path().join(there));
    let begun = Instant::now();
    while std::fs::read_to_string(&path).map_or(0, |text| text.lines().count()) < lines {
        assert!(begun.elapsed() < Duration::from_secs(120), "no {there}");
        thread::sleep(Duration::from_millis(10));
    }
    drop(target);
    let Output { status, stdout, stderr } = child.ended();
    let text = String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr);
    (status.code().unwrap_or(-1), text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// A journal with its head and some intervals.
const SECONDS: (&str, usize) = ("out/run.journal", 4);

/// A child that does not outlive its test.
struct Guard(Option<Child>);

impl Guard {
    fn ended(mut self) -> Output {
        self.0.take().expect("it runs").wait_with_output().unwrap()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn json(folder: &Folder, name: &str) -> Value {
    serde_json::from_str(&folder.text(name)).unwrap()
}

#[test]
fn a_run_says_since_when_and_in_whose_words() {
    for load in ["-c 8", "-c 8 -R 200"] {
        let (folder, target) = (Folder::new(), Target::start());
        let url = target.url("/delay/2ms");
        let line = format!("run {load} -d 8s --slo success>=99% --out out {url}");
        let (code, text) = killed(&folder, target, &line, SECONDS);
        assert_eq!(code, 98, "{text}");
        assert!(
            text.contains("(do not quote) server_gone: the server stopped answering"),
            "{text}"
        );
        // In the words of the commonest failure: another test's server may have the port since.
        let words = ["Connection refused", "the server closed the connection", "no response came"];
        let said = |words: &str| text.contains(&format!("had not come back at its end: {words}"));
        assert!(words.into_iter().any(said), "{text}");
        let run = json(&folder, "out/run.json");
        folder.follows_schema("run", &run);
        let available = run["rates"]["available_ratio"].as_f64().unwrap();
        assert!(available < 0.95, "{available}");
        assert!(run["rates"]["success_ratio"].as_f64().unwrap() <= available);
        // Made anew from the journal it is the same.
        std::fs::remove_file(folder.path().join("out/run.json")).unwrap();
        folder.plimsoll("report out");
        let again = json(&folder, "out/run.json");
        assert_eq!(again["presence"], run["presence"]);
        assert_eq!(again["rates"], run["rates"]);
    }
}

#[test]
fn how_much_absence_is_borne_can_be_set() {
    let (folder, target) = (Folder::new(), Target::start());
    let url = target.url("/delay/2ms");
    let line = format!("run -c 8 -d 6s --slo available>=1% --out out {url}");
    let (code, text) = killed(&folder, target, &line, SECONDS);
    assert!([0, 98].contains(&code), "{text}");
    let ruling = if code == 0 { "PASS available>=1%" } else { "available>=1%" };
    assert!(text.contains("server_gone") && text.contains(ruling), "{text}");
}

#[test]
fn a_sweep_ends_when_its_server_is_gone_and_keeps_its_levels() {
    let (folder, target) = (Folder::new(), Target::start());
    let url = target.url("/delay/2ms");
    let line =
        format!("sweep {url} --levels 1,2,4,8,16,32 -d 2s --rest 100ms --name api --out out");
    let (code, text) = killed(&folder, target, &line, ("out/api.dat", 1));
    assert_eq!(code, 98, "{text}");
    assert!(text.contains("The sweep ended here: at "), "{text}");
    assert!(text.contains("the server stopped answering"), "{text}");
    folder.has(&["out/sweep.json", "out/report.html", "out/api.dat"]);
    let sweep = json(&folder, "out/sweep.json");
    let levels = sweep["levels"].as_array().unwrap();
    assert!(levels.len() < 6, "it went on: {}", levels.len());
    let verdict = |level: &Value| level["run"]["validity"]["verdict"].clone();
    assert_eq!(verdict(levels.last().unwrap()), "INVALID");
}

/// Its connections of the second level respond to nothing at first: only of the first level can that be how it starts.
#[test]
fn a_level_at_the_beginning_of_which_nobody_is_served_is_not_of_a_server_that_is_starting() {
    let ok = || Step::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec());
    let asked = || Step::Expect(b"\r\n\r\n");
    let well = vec![Step::Forever(vec![asked(), Step::Pause(Duration::from_millis(2)), ok()])];
    let late = [vec![asked(), Step::Pause(Duration::from_secs(2)), ok()], well.clone()].concat();
    // One connection finds out whether somebody listens there.
    let peer = Peer::start_each([vec![well; 1 + 4], vec![late]].concat());
    let folder = Folder::new();
    let line = format!("sweep http://{}/ --levels 4,5 -d 5s --rest 0 --out out -q", peer.addr());
    folder.plimsoll(&line).measured();
    let sweep = json(&folder, "out/sweep.json");
    let reasons = sweep["levels"][1]["run"]["validity"]["reasons"].as_array().unwrap();
    let gone = reasons.iter().find(|reason| reason["code"] == "server_gone").expect("it is named");
    let said = "the server stopped answering ";
    assert!(gone["text"].as_str().unwrap().starts_with(said), "{gone}");
}

#[test]
fn a_comparison_ends_when_a_server_is_gone_and_keeps_its_rounds() {
    let (folder, target) = (Folder::new(), Target::start());
    let (a, b) = (target.url("/delay/2ms"), target.url("/delay/3ms"));
    let line = format!("compare --rounds 8 -d 1s --rest 0s -c 8 -q --anyway --out cmp {a} {b}");
    let (code, text) = killed(&folder, target, &line, ("cmp/compare.json", 1));
    assert_eq!(code, 98, "{text}");
    assert!(text.contains("the server stopped answering"), "{text}");
    folder.has(&["cmp/compare.json", "cmp/report.html", "cmp/round-01-old/run.json"]);
    // What is printed of it later says why as well.
    let again = folder.plimsoll("report cmp").ends(98);
    again.prints("it ended early: ").prints("the server stopped answering");
    assert!(folder.text("cmp/report.html").contains("it ended early: "));
}
