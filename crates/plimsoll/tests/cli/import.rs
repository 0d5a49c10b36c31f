//! `plimsoll import` and `plimsoll init`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::harness::{Folder, PLIMSOLL};

/// A file among the tests of `import`.
fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../import/tests/requests/data").join(name)
}

/// A folder with a file of this name in it.
fn folder_with(name: &str) -> Folder {
    let folder = Folder::new();
    folder.put(name, fs::read(data(name)).expect("a sample"));
    folder
}

#[test]
fn the_workload_goes_to_standard_output_and_the_notes_beside_it() {
    for (format, name) in [
        ("curl", "shop.curl"),
        ("vegeta", "http.vegeta"),
        ("vegeta", "json.vegeta"),
        ("har", "shop.har"),
        ("openapi", "pets.yaml"),
        ("postman", "shop.postman.json"),
    ] {
        let ended = folder_with(name).plimsoll(&format!("import {format} {name}")).ok();
        assert!(ended.stdout.contains("target: http"), "{ended:#?}");
        let last = ended.stderr.lines().find(|line| line.ends_with("not converted"));
        let notes = ended.stderr.lines().filter(|line| line.starts_with("not converted: "));
        let counted = last.and_then(|line| line.rsplit("; ").next()?.split(' ').next());
        let counted = counted.unwrap_or("0");
        assert_eq!(notes.count().to_string(), counted, "{ended:#?}");
        for line in ended.stderr.lines().filter(|line| line.starts_with("not converted: ")) {
            assert!(ended.stdout.contains(line), "no comment says `{line}`: {ended:#?}");
        }
    }
}

/// Documents with what a workload takes for more than text: in names, hosts, paths, values.
const HOSTILE: [(&str, &str); 14] = [
    (
        "postman",
        r#"{"info":{"name":"","schema":"v2.1.0"},"item":[
            {"name":"","request":{"method":"GET","url":"{{base}}/:id/{id}/{{x}}"}},
            {"name":"","request":{"method":"GET","url":"{{base}}/:id/{id}/{{x}}"}},
            {"name":"{{x}} ${y}","request":{"method":"POST","url":"{{base}}/a?{{x}}=1",
                "header":[{"key":"X-{{x}}","value":"{{y}}"}],
                "body":{"mode":"urlencoded","urlencoded":[{"key":"{{x}}","value":"${z"}]}}}]}"#,
    ),
    (
        "postman",
        r#"{"info":{"schema":"v2.1.0"},"variable":[{"key":"env","value":"1"}],"item":[{"name":" ",
            "item":[{"name":"\u0007","request":{"method":"post","url":"http://{{h}}.x:{{p}}/{{env}}",
                "body":{"mode":"formdata","formdata":[{"key":"{{x}}","value":"1"},
                    {"key":"f","type":"file","src":"{{f}}"}]}}}]}]}"#,
    ),
    (
        "postman",
        r#"{"info":{"schema":"v2.1.0"},"item":[{"request":{"method":"A B","url":"http://h"}}]}"#,
    ),
    (
        "har",
        r#"{"log":{"entries":[{"request":{"method":"GET","url":"http://h/${x}/{{y}}?${z}=1#{id}",
            "headers":[{"name":"","value":"1"},{"name":"a b","value":"1"},{"name":"X","value":"${w"}]}},
            {"request":{"method":"POST","url":"http://h/b","postData":{"mimeType":"multipart/form-data",
                "params":[{"name":"${n}","fileName":"","value":"1"}]}}}]}}"#,
    ),
    ("har", r#"{"log":{"entries":[{"request":{"method":"CONNECT","url":"http://h:1/"}}]}}"#),
    ("har", r#"{"log":{"entries":[{"request":{"method":"GET","url":"http://{{h}}/"}}]}}"#),
    (
        "openapi",
        r#"{"openapi":"3.0.0","info":{"title":"{{t}}"},"servers":[{"url":"https://{tenant}.x/{v}"}],
            "paths":{"/{id}/{}/${x}":{"get":{"operationId":"${x}","parameters":[
                {"in":"query","name":"${q}","required":true,"schema":{"type":"string"}},
                {"in":"header","name":"a b","required":true,"schema":{"type":"string"}}]}},
                "/{env}":{"get":{"operationId":"","summary":"${x}"}},
                "/a":{"get":{"operationId":"same"}},"/b":{"get":{"operationId":"same"}}}}"#,
    ),
    (
        "openapi",
        r#"{"swagger":"2.0","host":"{{h}}","info":{"title":""},"paths":{"/":{"post":{"parameters":[
            {"in":"body","name":"b","schema":{"example":{"${k}":"${v}"}}}]}}}}"#,
    ),
    ("curl", "curl http://h/${X}/'${y}'/{{z}}/:id/{id} -d '${w' -H 'X: ${v' -F '${n}=1' -b c\n"),
    ("curl", "curl \"$BASE/a\" --json '{\"a\": ${N}, \"b\": \"${y}\"}' -H \"Authorization: $T\"\n"),
    ("curl", "curl http://h -X '' --cacert \"$F\"\ncurl http://h -X 'A B'\n"),
    ("vegeta", "GET http://h/${x}/{{y}}\nX: ${z\n\nGET http://h/${x}/{{y}}\n"),
    ("vegeta", r#"{"method":"GET","url":"http://h/${x}","header":{"a b":["1"],"X":["${y"]}}"#),
    ("vegeta", "CONNECT http://h/\n"),
];

#[test]
fn what_import_writes_is_what_plan_accepts() {
    let folder = Folder::new();
    for (at, (format, text)) in HOSTILE.iter().enumerate() {
        folder.put("hostile", text);
        let made = folder.plimsoll(&format!("import {format} hostile --out w.yaml --force"));
        if made.code != 0 {
            assert!(made.stderr.starts_with("plimsoll: hostile: "), "{at}: {made:#?}");
            continue;
        }
        let shown = folder.plimsoll("plan w.yaml");
        assert_eq!(shown.code, 0, "{at}: {shown:#?}\n{}", folder.text("w.yaml"));
    }
}

#[test]
fn a_file_is_written_with_its_schema_and_never_over_another() {
    let folder = folder_with("shop.curl");
    let ended = folder.plimsoll("import curl shop.curl --out shop.yaml").ok();
    assert!(ended.stderr.contains("plimsoll plan shop.yaml") && ended.stdout.is_empty());
    let first = folder.text("shop.yaml");
    assert!(first.starts_with("# yaml-language-server: $schema=plimsoll.workload-1.json\n"));
    folder.has(&["plimsoll.workload-1.json"]);
    folder.plimsoll("import curl shop.curl --out shop.yaml").refuses(2, "--force");
    folder.plimsoll("import curl shop.curl --out shop.yaml --force").ok();
    folder
        .plimsoll("import curl shop.curl --out no/shop.yaml")
        .refuses(2, "make the folder no first");
}

#[test]
fn a_target_is_understood_as_run_understands_a_url() {
    let folder = folder_with("shop.curl");
    for (typed, written) in [
        ("localhost:8080", "http://localhost:8080"),
        (":8080/v1/", "http://localhost:8080/v1"),
        ("https://shop.test/", "https://shop.test"),
    ] {
        let ended = folder.plimsoll(&format!("import shop.curl --target {typed}")).ok();
        assert!(ended.stdout.contains(&format!("\ntarget: {written}\n")), "{ended:#?}");
    }
    for (typed, needle) in [
        (
            "8080",
            "--target: `8080`: 8080 is a number, not a host; port 8080 of this machine is :8080",
        ),
        ("http:/h", "did you mean http://h?"),
        ("http://ann:CLEAR@h", "in a workload file as the header Authorization"),
    ] {
        folder.plimsoll(&format!("import shop.curl --target {typed}")).refuses(2, needle);
    }
}

#[test]
fn files_that_are_not_there_are_named() {
    let folder = Folder::new();
    folder.put("x.curl", "curl http://h/a -d @body.json\ncurl http://h/b -F f=@pic.png\n");
    folder.put("pic.png", "");
    let ended = folder.plimsoll("import curl x.curl --out x.yaml").ok();
    let line = "file: put `body.json` into the workload's folder before a run\n";
    assert!(ended.stderr.contains(line) && !ended.stderr.contains("`pic.png`"), "{ended:#?}");
    assert!(ended.stderr.contains("make them steps of one of `flows`"), "{ended:#?}");
    let plan = folder.plimsoll("plan x.yaml").ok();
    assert!(plan.stdout.contains("\nNot there; a run needs them:\n  x.yaml:"), "{plan:#?}");
    folder.plimsoll("run x.yaml").refuses(2, "`body.json`");
    folder.put("body.json", "{}");
    folder.plimsoll("plan x.yaml").ok();
}

#[test]
fn standard_input_is_read_for_a_dash() {
    let folder = Folder::new();
    let mut child = folder
        .command(Path::new(PLIMSOLL), "import curl -")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"curl -X DELETE 'http://127.0.0.1:1/a?b=1' -u me:CLEAR").unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("method: DELETE"), "{text}");
    assert!(!text.contains("CLEAR"), "{text}");
}

#[test]
fn a_file_of_another_format_is_named_with_the_command_that_takes_it() {
    let folder = folder_with("shop.har");
    folder.put("x.curl", "curl -H 'A: b' http://127.0.0.1:1/");
    for (line, needle) in [
        (
            "import openapi x.curl",
            "x.curl holds curl commands, and not an OpenAPI description: use `plimsoll import curl x.curl`",
        ),
        ("import vegeta x.curl", "use `plimsoll import curl x.curl`"),
        ("import curl shop.har", "holds a recording (HAR), and not curl commands"),
    ] {
        folder.plimsoll(line).refuses(2, needle);
    }
}

/// Whatever its name ends in.
#[test]
fn a_recording_that_is_run_is_named_with_the_command_that_converts_it() {
    let needle = "shop.har is a recording (HAR), not a workload file yet: `plimsoll import shop.har -o workload.yaml`";
    folder_with("shop.har").plimsoll("run shop.har").refuses(2, needle);
}

#[test]
fn what_cannot_be_read_gives_one_line() {
    let folder = Folder::new();
    folder.put("empty", "");
    folder.put("junk", [0xff, 0x00, 0x9f]);
    for (line, needle) in [
        ("import curl nothing", "nothing: "),
        ("import curl empty", "empty: "),
        ("import har junk", "junk: "),
        ("import openapi junk", "junk: "),
        ("import vegeta junk", "junk: "),
        ("import postman junk", "junk: "),
        ("import jmeter empty", "not supported yet"),
        ("import curl /dev/zero", "/dev/zero: "),
        ("import curl .", ".: "),
    ] {
        folder.plimsoll(line).refuses(1, needle);
    }
    folder.put("urls.txt", "http://h/a\nhttp://h/b\n");
    folder.plimsoll("import urls.txt").refuses(2, "with GET before each of them they are targets");
    folder.put("targets", "GET http://h/a\nGET http://h/b\n");
    folder.plimsoll("import vegeta targets -o targets.yaml").ok();
    folder.plimsoll("import telnet empty").refuses(2, "telnet");
    folder.plimsoll("import har").refuses(2, "a file is missing: `plimsoll import har FILE`");
}

#[test]
fn a_commented_workload_is_written_once() {
    let folder = Folder::new();
    let ended = folder.plimsoll("init http://127.0.0.1:9/users?page=2").ok();
    assert!(ended.stdout.contains("plimsoll plan workload.yaml"), "{ended:#?}");
    let text = folder.text("workload.yaml");
    assert!(text.contains("\ntarget: http://127.0.0.1:9\n"), "{text}");
    assert!(text.contains("path: \"/users?page=2\"\n"), "{text}");
    folder.has(&["plimsoll.workload-1.json"]);
    folder.plimsoll("init").refuses(2, "workload.yaml exists already");
    folder.plimsoll("init --force").ok();
    folder.plimsoll("init --out b.yaml users").refuses(2, "`users`");
}
