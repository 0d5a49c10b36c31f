//! Bad input: one clear line each, and never a panic.

use crate::harness::{Folder, Target};

#[test]
fn tables_that_are_none() {
    let folder = Folder::new();
    folder.put("good.dat", "200 100 1 100\n");
    for (text, needle) in [
        ("200 fast 1 100\n", "bad.dat: line 1: `fast` in column 2"),
        ("200 100 1 100\n500 100 2\n", "line 2: 3 of four columns"),
        ("200 100 1 100\n200 90 1 100\n", "line 2: level 200 was on line 1 already"),
        ("500 200 2 100\n200 100 1 100\n", "line 2: level 200 comes after 500 on line 1"),
        ("200 100 1 100 7\n", "a fifth column"),
        ("-200 100 1 100\n", "is negative"),
        ("200 100 1 100.5\n", "over 100"),
        ("", "holds no levels"),
        ("\u{0}\u{1}\n", "line 1"),
    ] {
        folder.put("bad.dat", text);
        folder.plimsoll("diff bad.dat good.dat").refuses(1, needle);
    }
    folder.put("bad.dat", b"\xff\xfe2\x000");
    folder.plimsoll("diff good.dat bad.dat").refuses(1, "not text");
}

#[test]
fn results_that_are_damaged_or_newer() {
    let (folder, target) = (Folder::new(), Target::start());
    folder.put("good.dat", "200 100 1 100\n");
    let url = target.url("/healthz");
    folder.plimsoll(&format!("sweep {url} --levels 1 -d 100ms -q --out out")).measured();
    let whole = folder.text("out/sweep.json");
    folder.put("cut.json", &whole[..whole.len() / 2]);
    folder.plimsoll("diff cut.json good.dat").refuses(1, "cut short");
    folder.put("newer.json", whole.replacen("plimsoll.sweep/1", "plimsoll.sweep/9", 1));
    folder.plimsoll("diff good.dat newer.json").refuses(1, "newer plimsoll");
    folder.put("other.json", "{\"a\": 1}");
    folder.plimsoll("diff other.json good.dat").refuses(1, "not a result of plimsoll");
    folder.plimsoll("diff good.dat").refuses(2, "two or more results");
    folder.plimsoll("diff good.dat missing.dat").refuses(1, "missing.dat: No such file");
    folder.plimsoll("sweep --resume nowhere").refuses(1, "cannot read nowhere/sweep.json");
    folder.plimsoll(&format!("sweep {url} --out out")).refuses(2, "holds a sweep already");
    let other = target.url("/bytes/3");
    folder.plimsoll(&format!("sweep {other} --resume out")).refuses(2, "not of");
    let line = format!("sweep {url} --levels 1,2 -d 7s --resume out");
    folder.plimsoll(&line).refuses(2, "another duration");
    folder.plimsoll("sweep --resume out -d 7s").refuses(2, "all flags");
}

#[test]
fn flags_that_make_no_sweep() {
    let folder = Folder::new();
    let url = "http://127.0.0.1:1/";
    folder.put(
        "think.yaml",
        format!("target: {url}\nload: {{think: 1s}}\nendpoints: [{{path: /}}]\n"),
    );
    for (line, needle) in [
        ("sweep ftp://127.0.0.1".to_owned(), "use http or https"),
        (format!("sweep {url} -c 1,8,64"), "levels of concurrency are given by --levels 1,8,64"),
        (format!("sweep {url} --levels 1-4"), "`1-4` is a range; one number is wanted here"),
        (format!("sweep {url} --levels 0"), "from 1 to"),
        (format!("sweep {url} --levels 5,many"), "auto, classic"),
        (format!("sweep {url} --max-level 0"), "--max-level"),
        (format!("sweep {url} --rates 10 --think 1s"), "closed loop"),
        (format!("sweep {url} --rates 10,1e9 -t 1"), "1,000,000,000/s is more than 1 worker can"),
        (
            format!("sweep {url} --levels 1,2 --max-level 1"),
            "--max-level bounds the levels that auto",
        ),
        (format!("sweep {url} --levels 1 --junit x.xml"), "this sweep has none: give --slo"),
        (format!("sweep {url} --levels 1 --annotations github"), "give --slo"),
        (format!("sweep {url} --levels 1 -d 3s --profile {url}"), "4 s or longer: give -d 10s"),
        (format!("sweep {url} --levels 1 -d 1s --ramp 2s"), "--ramp 2s is longer"),
        ("sweep think.yaml --rates 10".to_owned(), "`pace` and `think` belong to a closed loop"),
        ("capacity think.yaml".to_owned(), "`pace` and `think` belong to a closed loop"),
        (format!("capacity {url} --step 1s --hold 2s --profile {url}"), "give --step 4s"),
        (format!("run {url} --profile {url} --format json"), "give --out DIR"),
        (format!("wrktest {url} --levels 0"), "--levels"),
    ] {
        folder.plimsoll(&line).refuses(2, needle);
    }
    assert!(!folder.path().join("plimsoll-out").exists(), "nothing was made");
    folder.plimsoll(&format!("sweep {url} --name a")).refuses(1, "refused");
    let target = Target::start();
    let url = target.url("/healthz");
    folder.plimsoll(&format!("sweep {url} --name a/b --out o")).refuses(2, "slashes");
    for (flags, needle) in [
        ("-d 1s --ramp 2s", "--ramp 2s is longer"),
        ("-R 1e9 -t 1", "1,000,000,000/s is more than 1 worker can"),
    ] {
        folder.plimsoll(&format!("compare {url} {url} {flags} --out c")).refuses(2, needle);
    }
    assert!(!folder.path().join("c").exists(), "nothing was made");
    folder.put("file", "");
}

#[test]
fn a_folder_of_several_runs_says_which_one_is_meant() {
    let folder = Folder::new();
    for (file, needle) in [
        ("sweep.json", "plimsoll run URL -c LEVEL --out DIR"),
        ("search.json", "holds a search, and explain looks at one run: name one of its steps"),
        ("compare.json", "such as out/round-01-new"),
    ] {
        std::fs::create_dir(folder.path().join("out")).unwrap();
        folder.put(&format!("out/{file}"), "{}");
        folder.plimsoll("explain out").refuses(2, needle);
        std::fs::remove_dir_all(folder.path().join("out")).unwrap();
    }
}

#[test]
fn a_folder_that_cannot_be_looked_at_is_not_called_missing() {
    let folder = Folder::new();
    folder.put("file", "");
    for command in ["report", "explain"] {
        folder.plimsoll(&format!("{command} none")).refuses(1, "there is no such file or folder");
        folder.plimsoll(&format!("{command} file/x")).refuses(1, "file/x: Not a directory");
    }
}

#[test]
fn a_sweep_that_was_made_last_is_no_missing_result_to_explain() {
    let folder = Folder::new();
    folder.plimsoll("explain").refuses(1, "plimsoll-out holds no result here");
    std::fs::create_dir_all(folder.path().join("plimsoll-out/x/20260101-000000")).unwrap();
    let started = r#"{"started_at": "2026-01-01T00:00:00Z"}"#;
    folder.put("plimsoll-out/x/20260101-000000/sweep.json", started);
    let ended = folder.plimsoll("explain").ends(2);
    for needle in ["the last result is plimsoll-out/x/", "20260101-000000 holds a sweep"] {
        assert!(ended.stderr.contains(needle), "no `{needle}`: {ended:#?}");
    }
}

/// Nothing is sent, read or fetched of which nothing could be kept.
#[test]
fn places_that_cannot_hold_results() {
    let (folder, target) = (Folder::new(), Target::start());
    let url = "http://127.0.0.1:1/";
    folder.put("file", "");
    folder.put("access.log", "");
    folder.put("good.dat", "200 100 1 100\n");
    for line in [
        format!("run {url} --out"),
        format!("sweep {url} --out"),
        format!("capacity {url} --out"),
        format!("compare {url} {url} --out"),
        "mine access.log --out".to_owned(),
        "diff good.dat good.dat --out".to_owned(),
    ] {
        folder.plimsoll(&format!("{line} file")).refuses(2, "there is a file of that name");
        folder.plimsoll(&format!("{line} file/x")).refuses(2, "file is a file, not a folder");
    }
    for line in [format!("run {url} --junit"), format!("import {url} -o"), "init -o".to_owned()] {
        folder.plimsoll(&format!("{line} .")).refuses(2, "there is a folder of that name");
        folder.plimsoll(&format!("{line} no/file")).refuses(2, "make the folder no first");
    }
    let made = |line: &str| folder.plimsoll(line).refuses(1, "cannot make the folder file");
    made(&format!("wrktest {} -d file", target.url("/")));
    made("tune begin http://127.0.0.1:1/ --profile http://127.0.0.1:1/ --notebook file");
    let names = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(names, 3, "nothing was made");
}

/// A folder from elsewhere may hold anything under a result's name.
#[test]
fn results_that_are_no_files_or_have_no_end() {
    for name in ["run.json", "sweep.json"] {
        let folder = Folder::new();
        std::os::unix::fs::symlink("/dev/zero", folder.path().join(name)).unwrap();
        folder.plimsoll("report .").refuses(1, "no regular file");
        folder.plimsoll("diff . .").refuses(1, "no regular file");
        if name == "run.json" {
            let line = "compare --baseline . http://127.0.0.1:1/";
            folder.plimsoll(line).refuses(1, "no regular file");
        }
        std::fs::remove_file(folder.path().join(name)).unwrap();
        let file = std::fs::File::create(folder.path().join(name)).unwrap();
        file.set_len(2 << 30).unwrap();
        folder.plimsoll("report .").refuses(1, "more than 256 MiB");
    }
}
