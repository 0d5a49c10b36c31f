//! Command lines as users of curl, wrk, hey and k6 type them.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::harness::{Folder, PLIMSOLL, Target, ended};

#[test]
fn without_arguments_help_is_printed() {
    let folder = Folder::new();
    folder.plimsoll("").ends(0).prints("Usage: plimsoll");
    let ended = folder.plimsoll("http://127.0.0.1:1/x");
    ended.refuses(2, "use `plimsoll run http://127.0.0.1:1/x`");
}

#[test]
fn a_file_for_another_command_names_that_command() {
    let folder = Folder::new();
    folder.put("x.curl", "curl -H 'A: b' http://127.0.0.1:1/");
    folder.put("wrk.txt", "Running 10s test @ http://127.0.0.1:1/");
    folder.plimsoll("run x.curl").refuses(2, "`plimsoll import x.curl`");
    folder.put("visit.lua", "function request() return wrk.format() end");
    folder.put("visit.js", "import http from 'k6/http'; export default function() {}");
    folder.plimsoll("run visit.lua").refuses(2, "`plimsoll run -s visit.lua URL` runs it");
    folder.plimsoll("run visit.js").refuses(2, "JavaScript, which is not run");
    folder.plimsoll("diff wrk.txt wrk.txt").refuses(1, "`plimsoll audit wrk.txt`");
    folder.plimsoll("diff wrk.txt").refuses(1, "`plimsoll audit wrk.txt`");
}

#[test]
fn a_body_a_user_and_a_url_without_a_scheme_are_taken_as_curl_takes_them() {
    let (folder, target) = (Folder::new(), Target::start());
    let url = target.url("/echo").replace("http://", "");
    folder.put("body.json", "{\"a\":1}");
    let line = "-u me:secretpass -z 1m30s -n 5 -q -c 1";
    folder.plimsoll(&format!("run {url} --json @body.json {line} --out out")).measured();
    let text = folder.text("out/run.json");
    let run: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&run["plan"]["method"], &run["plan"]["body_bytes"]), (&"POST".into(), &7.into()));
    let headers = run["plan"]["headers"].to_string();
    assert_eq!(headers.matches("application/json").count(), 2, "{headers}");
    assert!(headers.contains("Accept") && headers.contains("***"), "{headers}");
    for secret in ["secretpass".to_owned(), BASE64.encode("me:secretpass")] {
        assert!(!text.contains(&secret), "{secret}");
        assert!(!folder.text("out/report.html").contains(&secret), "{secret}");
    }
    let media_type = |flags: &str| {
        folder.plimsoll(&format!("run {url} {flags} {line} --out typed")).measured();
        let run: serde_json::Value = serde_json::from_str(&folder.text("typed/run.json")).unwrap();
        run["plan"]["headers"].to_string()
    };
    assert!(media_type("-X POST --data x").contains("application/x-www-form-urlencoded"));
    let own = media_type("--data x -H Content-Type:text/plain");
    assert!(own.contains("text/plain") && !own.contains("urlencoded"), "{own}");
    assert!(!media_type("-b x").contains("Content-Type"));
    folder.plimsoll(&format!("run {url} --data x --json y {line}")).refuses(2, "--json");
    let told = folder.plimsoll(&format!("run {url} --data {{\"a\":1}} {line}")).measured();
    told.says("sent as a form, as curl does; --json sends it as JSON\n");
    folder.plimsoll(&format!("run {url} -m post {line}")).refuses(2, "did you mean -m POST?");
    folder.plimsoll(&format!("run {url} -more {line}")).refuses(2, "--details prints everything");
    folder.plimsoll(&format!("run {url} -body=x {line}")).refuses(2, "two dashes: --body");
    folder.plimsoll(&format!("run {url} -m 5 {line}")).refuses(2, "the time-out is -T TIME");
    folder.plimsoll(&format!("run {url} -b @nowhere {line}")).refuses(1, "nowhere");
    // As k6 has its users.
    folder.plimsoll(&format!("run {url} -q -n 5 -u 10")).refuses(2, "use -c 10 for as many");
    folder.plimsoll(&format!("run {url} -q -n 5 -u me")).refuses(2, "USER: where there is no");
}

#[test]
fn what_is_neither_a_url_nor_a_file_is_said_to_be_so_in_one_line() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("results")).expect("a folder");
    folder.plimsoll("run results").refuses(2, "`results` is a folder");
    folder.plimsoll("run ./results -d 1s").refuses(2, "`plimsoll report ./results`");
    folder.plimsoll("run http:/127.0.0.1:1/x").refuses(2, "did you mean http://127.0.0.1:1/x?");
    folder.plimsoll("run api.invalid -n 1").refuses(1, "nor is there a file of that name");
    folder.plimsoll("run api.invalid/a.json -n 1").refuses(1, "write http://api.invalid/a.json");
    // Not the address 0.0.31.144, which the digits are the 32 bits of.
    let meant = "port 8080 of this machine is :8080";
    for command in ["run 8080", "sweep 8080", "compare 8080 8081"] {
        folder.plimsoll(command).refuses(2, meant);
    }
    folder.plimsoll("tune begin 8080").refuses(2, meant);
}

#[test]
fn a_word_with_another_meaning_elsewhere_is_met_with_ours() {
    let folder = Folder::new();
    folder.plimsoll("run http://127.0.0.1:1/ -q 10").refuses(2, "a rate is -R RATE");
    folder.plimsoll("run http://127.0.0.1:1/ -d a=1").refuses(2, "given as --data BODY");
    folder.plimsoll("target 8080").refuses(2, "use --listen 127.0.0.1:8080");
}

#[test]
fn a_url_or_a_folder_for_another_command_names_that_command() {
    let (folder, target) = (Folder::new(), Target::start());
    let url = target.url("/healthz");
    folder.plimsoll(&format!("run -n 5 -c 1 -q --out out {url}")).measured();
    folder.plimsoll(&format!("diff {url} out")).refuses(2, "`plimsoll compare OLD_URL NEW_URL`");
    folder.plimsoll(&format!("compare out {url}")).refuses(2, "--baseline out URL");
    folder.plimsoll("report out/run.json").prints("5 of status 200");
    folder.plimsoll(&format!("-d 1s run {url}")).refuses(2, "`plimsoll run -d ...`");
    folder.plimsoll(&format!("run {url} -cpus 4")).refuses(2, "use -t N");
}

#[test]
fn a_url_that_is_sent_otherwise_than_typed_is_reported_in_one_line() {
    let (folder, target) = (Folder::new(), Target::start());
    let line = "run -n 1 -c 1 -q --success 404";
    let mut command = folder.command(Path::new(PLIMSOLL), line);
    let told = ended(command.arg(target.url("/a b"))).measured();
    told.says("plimsoll: the URL is not sent as typed, but as /a%20b\n");
    let ended = folder.plimsoll(&format!("{line} {}", target.url("/a%20b"))).measured();
    assert!(!ended.stderr.contains("as typed"), "{ended:?}");
}

/// The help's own mark for a new line looks like a path's parameter.
#[test]
fn the_help_names_the_paths_of_the_built_in_api_whole() {
    Folder::new().plimsoll("target --help").ends(0).prints("/bytes/{length}, /status/{code}");
}
