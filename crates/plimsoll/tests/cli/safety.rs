//! What comes from elsewhere (folders, responses, scripts' words) does nothing that the user did not ask for.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{Ended, Folder, PLIMSOLL, Target, ended};

const SECRET: &str = "hunter2-hunter2";

/// Every file below a folder, with its content.
fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push((path.display().to_string(), fs::read(&path).expect("a file"))),
        }
    }
    found
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for (path, bytes) in files(from) {
        let to = to.join(Path::new(&path).strip_prefix(from).expect("below it"));
        fs::create_dir_all(to.parent().expect("a parent")).expect("a folder");
        fs::write(to, bytes).expect("a file");
    }
}

/// A script that leaves a mark when it runs.
fn scripted_sweep(folder: &Folder, target: &Target) {
    folder.put("s.lua", "io.open('ran', 'w'):close()\n");
    let line = format!(
        "sweep {} -s s.lua --levels 1,2 -d 100ms --rest 0 --name a --out out -q",
        target.url("/healthz")
    );
    folder.plimsoll(&line).ends_well();
    folder.follows_mark();
    // Its second level is still to come.
    let mut sweep: Value = serde_json::from_str(&folder.text("out/sweep.json")).expect("JSON");
    sweep["levels"].as_array_mut().expect("levels").truncate(1);
    folder.put("out/sweep.json", sweep.to_string());
}

impl Ended {
    /// Asserts that it did its work, whatever its figures are worth.
    #[track_caller]
    fn ends_well(self) -> Self {
        assert!([0, 98].contains(&self.code), "{self:#?}");
        self
    }
}

impl Folder {
    /// Takes the script's mark away; it was there.
    #[track_caller]
    fn follows_mark(&self) {
        fs::remove_file(self.path().join("ran")).expect("the script ran");
    }

    #[track_caller]
    fn has_no_mark(&self) {
        assert!(!self.path().join("ran").exists(), "the script ran");
    }
}

#[test]
fn what_is_refused_is_not_repeated_with_its_password() {
    let folder = Folder::new();
    let wrong = format!("http://ann:{SECRET}@[wrong/");
    folder.put("w.yaml", format!("target: {wrong}\nendpoints: [{{path: /}}]\n"));
    for line in [
        format!("run {wrong}"),
        format!("run ann:{SECRET}@[wrong/"),
        format!("run http:/ann:{SECRET}@h/"),
        format!("run http://h/ http://ann:{SECRET}@h/"),
        format!("http://ann:{SECRET}@h/"),
        format!("run http://h/ http://h/?user_key={SECRET}"),
        format!("run http://127.0.0.1:1/ -H {SECRET}"),
        format!("run w.yaml -H {SECRET}"),
        format!("init {wrong}"),
        format!("fill postgres://ann:{SECRET}@[wrong/"),
        "plan w.yaml".to_owned(),
        "run w.yaml".to_owned(),
    ] {
        let ended = folder.plimsoll(&line);
        assert!([1, 2].contains(&ended.code), "{line}: {ended:#?}");
        assert!(
            !format!("{}{}", ended.stdout, ended.stderr).contains(SECRET),
            "{line}: {ended:#?}"
        );
    }
}

#[test]
fn no_command_in_a_folder_is_carried_out() {
    let (folder, target) = (Folder::new(), Target::start());
    scripted_sweep(&folder, &target);
    let out = folder.path().join("out");
    copy(&out, &folder.path().join("moved"));
    let ended = folder.plimsoll("sweep --resume moved");
    assert!(
        ended.stderr.contains("-s s.lua") && ended.stderr.contains("--resume moved"),
        "{ended:#?}"
    );
    ended.refuses(2, "not run without your consent");
    folder.has_no_mark();
    // Its own folder, with another command in it.
    let json = folder.text("out/sweep.json");
    folder.put("evil.lua", "io.open('ran', 'w'):close()\n");
    folder.put("out/sweep.json", json.replace("s.lua", "evil.lua"));
    folder.plimsoll("sweep --resume out").refuses(2, "not run without your consent");
    folder.has_no_mark();
    folder.put("out/sweep.json", json);
    // Its own command, with another script.
    let script = folder.text("s.lua");
    folder.put("s.lua", format!("{script}-- more\n"));
    folder.plimsoll("sweep --resume out").refuses(2, "s.lua has changed since out was written");
    folder.has_no_mark();
    folder.put("s.lua", script);
    folder.plimsoll("sweep --resume out").ends_well();
    folder.follows_mark();
    // Given again, it is the user who says so.
    let line = format!("sweep {} -s s.lua --levels 1,2 -d 100ms --rest 0", target.url("/healthz"));
    folder.plimsoll(&format!("{line} --resume moved")).ends_well();
    folder.follows_mark();
}

/// Levels of one curve are of one load: what its workload file reads counts as that file does.
#[test]
fn what_a_workload_reads_must_be_what_it_was() {
    let (folder, target) = (Folder::new(), Target::start());
    folder.put("body.txt", "one");
    folder.put("ids.csv", "id\n1\n2\n");
    let text = format!(
        "target: {}\npools: {{user: {{file: ids.csv}}}}\nendpoints:\n  \
         - {{method: POST, path: '/echo?u=${{user.id}}', body: {{file: body.txt}}}}\n",
        target.url("")
    );
    folder.put("w.yaml", text);
    folder.plimsoll("sweep w.yaml --levels 1 -d 100ms --rest 0 --out out -q").measured();
    for (name, other) in [("body.txt", "two"), ("ids.csv", "id\n1\n3\n")] {
        let was = folder.text(name);
        folder.put(name, other);
        let refused = folder.plimsoll("sweep --resume out");
        refused.refuses(2, &format!("{name} has changed since out was written"));
        folder.put(name, was);
    }
    folder.plimsoll("sweep --resume out").ends_well();
}

fn under_way(folder: &Folder, line: &str, until: &str) -> Child {
    let mut command = folder.command(Path::new(PLIMSOLL), line);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let patience = Instant::now() + Duration::from_secs(30);
    while !folder.path().join(until).exists() {
        assert!(Instant::now() < patience, "no {until}");
        thread::sleep(Duration::from_millis(5));
    }
    child
}

#[test]
fn one_command_at_a_time_writes_to_a_folder() {
    let (folder, target) = (Folder::new(), Target::start());
    let url = target.url("/healthz");
    let mut first =
        under_way(&folder, &format!("run {url} -c 1 -d 60s --out out -q"), "out/run.journal");
    let holder = format!("out is being written to by process {} since 2", first.id());
    for second in [
        format!("run {url} -c 1 -n 1 --out out -q"),
        format!("sweep {url} --levels 1 -d 100ms --out out -q"),
        format!("capacity {url} --budget 10s --slo p99<1s --out out -q"),
        format!("compare {url} {url} --rounds 1 -d 100ms --out out -q"),
    ] {
        folder.plimsoll(&second).refuses(1, &holder);
    }
    first.kill().expect("it is there");
    first.wait().expect("it ends");
    folder.plimsoll(&format!("run {url} -c 1 -n 1 --out out -q")).measured();
    assert!(!folder.path().join("out/.plimsoll.lock").exists());
}

#[test]
fn files_are_their_owner_s_and_links_in_a_folder_lead_nowhere() {
    let (folder, target) = (Folder::new(), Target::start());
    let victim = folder.path().join("victim");
    folder.put("victim", "untouched");
    fs::create_dir(folder.path().join("out")).expect("a folder");
    let line = format!("run {} -c 1 -n 5 --out out -q", target.url("/healthz"));
    for name in ["run.json", "run.journal", "report.html", "timeline.csv"] {
        let link = folder.path().join("out").join(name);
        symlink(&victim, &link).expect("a link");
        folder.plimsoll(&line).refuses(2, "although plimsoll did not write it");
        fs::remove_file(link).expect("it is there");
    }
    folder.plimsoll(&line).measured();
    assert_eq!(folder.text("victim"), "untouched");
    for (path, _) in files(&folder.path().join("out")) {
        let about = fs::symlink_metadata(&path).expect("a file");
        assert!(about.is_file() && about.mode() & 0o777 == 0o600, "{path}: {about:?}");
    }
    symlink(&victim, folder.path().join("out/.plimsoll.lock")).expect("a link");
    folder.plimsoll(&line).refuses(1, "cannot lock the folder out");
    assert_eq!(folder.text("victim"), "untouched");
}

/// A server that responds to every request with 500 and what it was sent.
fn echoing() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            thread::spawn(move || {
                let mut came = [0; 4096];
                while let Ok(read @ 1..) = stream.read(&mut came) {
                    let body = format!(
                        "{{\"refresh_token\":\"{SECRET}\"}} \u{1b}[2J {}",
                        String::from_utf8_lossy(&came[..read])
                    );
                    let head = "HTTP/1.1 500 No\r\nContent-Type: text/plain\r\nContent-Length";
                    let response = format!("{head}: {}\r\n\r\n{body}", body.len());
                    if stream.write_all(response.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    url
}

#[track_caller]
fn tells_no_secret(folder: &Folder, ended: &Ended) {
    assert!(!ended.stdout.contains("hunter2") && !ended.stderr.contains("hunter2"), "{ended:#?}");
    assert!(!ended.stdout.contains('\u{1b}') && !ended.stderr.contains('\u{1b}'), "{ended:#?}");
    for (path, bytes) in files(&folder.path().join("out")) {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("hunter2") && !text.contains('\u{1b}'), "{path}: {text}");
    }
}

#[test]
fn secrets_of_fields_bodies_and_script_arguments_are_left_nowhere() {
    let folder = Folder::new();
    folder.put("s.lua", "function init(args) end\n");
    let mut command =
        folder.command(Path::new(PLIMSOLL), &format!("run {}/a -n 5 -c 1", echoing()));
    command.args(["--out", "out", "-s", "s.lua"]);
    command.args(["-H", &format!("Ocp-Apim-Subscription-Key: {SECRET}")]);
    command.args(["-H", &format!("X-Session: {SECRET}"), "-b"]);
    command.arg(format!("{{\"user\":\"ann\",\"password\":\"{SECRET}\"}}"));
    command.args(["--", SECRET, &format!("--key={SECRET}"), "--token", SECRET]);
    let ended = ended(&mut command).ends_well();
    tells_no_secret(&folder, &ended);
    let run: Value = serde_json::from_str(&folder.text("out/run.json")).expect("JSON");
    assert!(run["command"].to_string().contains("ann"), "{run:#}");
}

#[test]
fn samples_of_failed_responses_hold_no_secret_and_no_escape_sequence() {
    let folder = Folder::new();
    folder.put(
        "w.yaml",
        format!(
            "target: {}\nload: {{concurrency: 1, requests: 5}}\n\
             headers: {{X-Api-Key: '${{env.API_TOKEN}}'}}\n\
             endpoints: [{{path: /a}}, {{path: '/b?access_token={SECRET}'}}]\n",
            echoing()
        ),
    );
    let mut command = folder.command(Path::new(PLIMSOLL), "run w.yaml --out out");
    let ended = ended(command.env("API_TOKEN", SECRET)).ends_well();
    tells_no_secret(&folder, &ended);
    let text = folder.text("out/run.json");
    assert!(text.contains("refresh_token\\\":\\\"***"), "the sample is kept: {text}");
    let again = folder.plimsoll("report out").ends_well();
    tells_no_secret(&folder, &again);
}

#[test]
fn control_sequences_of_results_and_scripts_reach_no_terminal() {
    let (folder, target) = (Folder::new(), Target::start());
    let url = target.url("/healthz");
    folder.plimsoll(&format!("run {url} -c 1 -n 5 --out out -q")).measured();
    let mut run: Value = serde_json::from_str(&folder.text("out/run.json")).expect("JSON");
    let hostile = "\u{1b}]0;x\u{7}\u{9b}2J\u{202e}";
    run["halted"] = hostile.into();
    run["interrupted"] = true.into();
    run["plan"]["url"] = format!("http://h/{hostile}").into();
    folder.put("out/run.json", run.to_string());
    folder.put("s.lua", "error('\\27]0;x\\7\\27[2J')\n");
    folder.put("r.lua", "function request() error('\\27]0;x\\7') end\n");
    let obeyed = |c: char| c.is_control() && c != '\n' && c != '\t' || c == '\u{202e}';
    for line in [
        "report out".to_owned(),
        "report out --format json".to_owned(),
        "report out --format wrk".to_owned(),
        "diff out out --out d".to_owned(),
        "audit out/run.json".to_owned(),
        format!("run {url} -n 5 -c 1 -s s.lua"),
        format!("run {url} -n 5 -c 1 -s r.lua"),
        "report \u{1b}[2J".to_owned(),
        "\u{1b}[2J".to_owned(),
        "run http://\u{1b}[2J/".to_owned(),
    ] {
        let Ended { stdout, stderr, .. } = folder.plimsoll(&line);
        assert!(
            !stdout.contains(obeyed) && !stderr.contains(obeyed),
            "{line}: {stdout:?} {stderr:?}"
        );
        assert!(!stdout.is_empty() || !stderr.is_empty(), "{line}");
    }
}

#[test]
fn a_journal_without_line_ends_is_read_within_bounds() {
    let (folder, target) = (Folder::new(), Target::start());
    folder.plimsoll(&format!("run {} -c 1 -n 5 --out out -q", target.url("/healthz"))).measured();
    fs::remove_file(folder.path().join("out/run.json")).expect("it is there");
    let journal = folder.path().join("out/run.journal");
    let file = fs::File::options().write(true).open(&journal).expect("it is there");
    // It has no bytes on the disk.
    file.set_len(3 << 30).expect("a file with a hole");
    let mut limited = folder.command(Path::new("bash"), "");
    limited.args(["-c", &format!("ulimit -v 1000000; exec {PLIMSOLL} report out")]);
    let ended = ended(&mut limited);
    assert!(ended.stderr.contains("a line is longer than"), "{ended:#?}");
    assert!(ended.stdout.contains("of status 200"), "{ended:#?}");
}
