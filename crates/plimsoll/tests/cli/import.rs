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
        let last = ended.stderr.lines().last().unwrap();
        assert!(last.ends_with("not converted"), "{last}");
        let notes = ended.stderr.lines().filter(|line| line.starts_with("not converted: "));
        let counted = last.rsplit("; ").next().unwrap().split(' ').next().unwrap();
        assert_eq!(notes.count().to_string(), counted, "{ended:#?}");
        for line in ended.stderr.lines().filter(|line| line.starts_with("not converted: ")) {
            assert!(ended.stdout.contains(line), "no comment says `{line}`: {ended:#?}");
        }
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
    folder.plimsoll("import curl shop.curl --out no/shop.yaml").refuses(1, "no/shop.yaml");
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
    folder.plimsoll("import telnet empty").refuses(2, "telnet");
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
