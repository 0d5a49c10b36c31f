//! `plimsoll mine`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use testkit::needs;

use crate::harness::{Folder, PLIMSOLL, unwrapped};

/// A line of a combined log, in the hour and second given.
fn line(hour: u32, second: u32, client: &str, request: &str, status: u16) -> String {
    format!(
        "{client} - - [23/Nov/2026:{hour:02}:{:02}:{:02} +0100] \"{request} HTTP/1.1\" {status} 100 \"-\" \"Firefox\"\n",
        second / 60,
        second % 60
    )
}

/// A day of a small shop: 10 users an hour, 40 of them in the hour from 20:30 to 21:30.
fn shop() -> String {
    let mut log = String::new();
    for hour in 0..24 {
        for n in 0..10 {
            log += &line(hour, n * 300, "198.51.100.7", &format!("GET /users/{}", 100 + n), 200);
        }
    }
    for n in 0..360 {
        let (hour, second) = if n < 180 { (20, 1_800 + n * 10) } else { (21, (n - 180) * 10) };
        let client = format!("203.0.113.{}", n % 40);
        let request = match n % 4 {
            0 => format!("GET /users/{}/orders?page={}", 100 + n, n % 7),
            1 => format!("GET /blog/how-to-do-things-part-{n}"),
            2 => format!("GET /users/{n}?token=SECRET{n}"),
            _ => "POST /login".to_owned(),
        };
        log += &line(hour, second, &client, &request, if n == 9 { 500 } else { 200 });
    }
    log + &line(12, 1, "192.0.2.1", "GET /static/app.css", 200)
}

fn mined(folder: &Folder, dir: &str) -> serde_json::Value {
    let text = fs::read(folder.path().join(dir).join("mine.json")).expect("mine.json");
    serde_json::from_slice(&text).expect("JSON")
}

#[test]
fn a_log_becomes_a_workload_that_plan_accepts() {
    let folder = Folder::new();
    folder.put("access.log", shop());
    let ended =
        folder.plimsoll("mine access.log --out mined --dau-now 16000 --dau-target 300000").ok();
    for words in
        ["601 lines as combined", "factor: 300,000 / 16,000 = 18.75", "GET /users/{id}/orders"]
    {
        assert!(ended.stdout.contains(words), "{words}: {ended:#?}");
    }
    let said = unwrapped(&ended.stdout);
    assert!(said.contains("; apart from them 1 static file"), "no bots are 0 bots: {said}");
    let mined = mined(&folder, "mined");
    folder.follows_schema("mine", &mined);
    // 360 of the busy hour, and 10 of those that come all day.
    assert_eq!(mined["peak"]["requests"], 370);
    assert_eq!(mined["peak"]["seconds"], 3_600);
    assert_eq!((mined["static_files"].clone(), mined["counted"].clone()), (1.into(), 600.into()));
    let endpoints = mined["endpoints"].as_array().unwrap();
    let paths: Vec<String> = endpoints
        .iter()
        .map(|one| format!("{} {}", one["method"].as_str().unwrap(), one["path"].as_str().unwrap()))
        .collect();
    assert_eq!(paths.len(), 4, "{paths:?}");
    for path in ["GET /users/{id}", "GET /users/{id}/orders", "GET /blog/{name}", "POST /login"] {
        assert!(paths.iter().any(|one| one == path), "{path}: {paths:?}");
    }
    let plan = folder.plimsoll("plan mined/workload.yaml").ok();
    // 370 requests an hour, 18.75 times.
    assert!(plan.stdout.contains("1.927"), "{plan:#?}");
    assert!(plan.stdout.contains("GET /users/{id}?token"), "{plan:#?}");
}

/// Pools of an earlier log would lie among those of the new one.
#[test]
fn a_folder_that_holds_a_mined_workload_is_refused() {
    let folder = Folder::new();
    folder.put("access.log", shop());
    folder.plimsoll("mine access.log --out mined").ok();
    let first = files_of(&folder, "mined");
    let again = folder.plimsoll("mine access.log --out mined --sessions");
    again.refuses(2, "mined holds a mined workload already: name another folder");
    assert_eq!(files_of(&folder, "mined"), first);
}

#[test]
fn a_target_is_understood_as_run_understands_a_url() {
    let folder = Folder::new();
    folder.put("access.log", shop());
    folder.plimsoll("mine access.log --out mined --factor 2 --target localhost:8080/").ok();
    folder.plimsoll("plan mined/workload.yaml").ok().prints("http://localhost:8080");
    let refused = folder.plimsoll("mine access.log --target http://h.test/?a=b");
    refused.refuses(2, "a query belongs to the paths of requests");
}

/// What looks like a placeholder of a workload is text in a log, also in the name of a parameter.
#[test]
fn placeholders_in_a_log_are_sent_as_they_are() {
    let folder = Folder::new();
    let asked = |n: u32| format!("GET /x/${{env.HOME}}/{n}?a=${{env.HOME}}&${{q&c}}=1&b=2");
    let asked = |n: u32| asked(n).replace("q&c", "q%26c");
    let log: String = (0..300).map(|n| line(20, n, "192.0.2.1", &asked(n), 200)).collect();
    folder.put("access.log", log);
    folder.plimsoll("mine access.log --out mined").ok();
    let plan = folder.plimsoll("plan mined/workload.yaml --samples 1").ok();
    assert!(plan.stdout.contains("%24%7Bq%26c%7D=1"), "{plan:#?}");
    assert!(plan.stdout.contains("a=%24%7Benv.HOME%7D"), "{plan:#?}");
    assert!(plan.stdout.contains("b=2"), "{plan:#?}");
}

#[test]
fn more_than_a_workload_may_have_is_refused() {
    let folder = Folder::new();
    folder.put("access.log", shop());
    for more in ["--factor 1e300", "--dau-now 1 --dau-target 999999999999"] {
        let refused = folder.plimsoll(&format!("mine access.log --out mined {more}"));
        assert!(refused.code != 0 && refused.stderr.contains("more than 1G"), "{refused:#?}");
    }
}

#[test]
fn no_address_and_no_credential_is_written() {
    let folder = Folder::new();
    folder.put("access.log", shop());
    let ended = folder.plimsoll("mine access.log --out mined --sessions").ok();
    let mut files = vec![ended.stdout.clone(), ended.stderr.clone()];
    for dir in ["mined", "mined/pools"] {
        for entry in fs::read_dir(folder.path().join(dir)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                files.push(fs::read_to_string(path).unwrap());
            }
        }
    }
    assert!(files.len() > 5);
    for text in &files {
        assert!(!text.contains("203.0.113.") && !text.contains("198.51.100."), "{text}");
        assert!(!text.contains("SECRET"), "{text}");
    }
    let kept = folder.plimsoll("mine access.log --out kept --keep-secrets token").ok();
    assert!(!kept.stdout.contains("set LOG_TOKEN"), "{kept:#?}");
    let pools = fs::read_dir(folder.path().join("kept/pools")).unwrap();
    let kept = pools.map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
    assert!(kept.collect::<String>().contains("SECRET2"));
}

#[test]
fn credentials_in_paths_leave_a_workload_that_plan_accepts() {
    let folder = Folder::new();
    let mut log = shop();
    for n in 0..30_u32 {
        let drawn = format!("SECRET{n:02}x7Kq2Zr9Tb4Wm6Yd1");
        for request in [
            format!("GET /reset/{drawn}"),
            format!("GET /files/sk_live_{drawn}"),
            format!("GET /list;jsessionid={drawn}"),
            format!("GET /cb?code={drawn}&state={drawn}"),
            format!("GET http://ann:{drawn}@shop.example/absolute"),
            "GET /search?q=%FF%FE".to_owned(),
        ] {
            log += &line(20, 1_900 + n, "198.51.100.7", &request, 200);
        }
    }
    folder.put("access.log", log + "203.0.113.9 junk /verify/SECRETx7Kq2Zr9Tb4Wm6Yd1\n");
    let ended = folder.plimsoll("mine access.log --out mined").ok();
    let mut files = vec![ended.stdout.clone()];
    for name in ["mine.json", "workload.yaml", "report.html"] {
        files.push(fs::read_to_string(folder.path().join("mined").join(name)).unwrap());
    }
    for pool in fs::read_dir(folder.path().join("mined/pools")).unwrap() {
        files.push(fs::read_to_string(pool.unwrap().path()).unwrap());
    }
    for text in &files {
        assert!(!text.contains("x7Kq2Zr9") && !text.contains("203.0.113."), "{text}");
    }
    assert!(ended.stdout.contains("set LOG_RESET_SECRET before a run"), "{ended:#?}");
    let plan = folder.plimsoll("plan mined/workload.yaml").ok();
    for words in ["GET /reset/{secret}", "/list;jsessionid={secret}", "LOG_CODE", "GET /absolute"] {
        assert!(plan.stdout.contains(words), "{words}: {plan:#?}");
    }
}

#[test]
fn rotated_logs_in_any_order_and_standard_input_give_the_same() {
    let folder = Folder::new();
    let log = shop();
    let lines: Vec<&str> = log.split_inclusive('\n').collect();
    folder.put("all.log", &log);
    folder.put("access.log.1", lines[..300].concat());
    folder.put("access.log", lines[300..].concat());
    folder.plimsoll("mine all.log --out one").ok();
    folder.plimsoll("mine access.log access.log.1 --out two").ok();
    let [mut one, mut two] = ["one", "two"].map(|dir| mined(&folder, dir));
    for mined in [&mut one, &mut two] {
        mined["files"] = serde_json::Value::Null;
    }
    assert!(one == two, "the order of files matters");
    let workloads = ["one", "two"]
        .map(|dir| fs::read_to_string(folder.path().join(dir).join("workload.yaml")).unwrap());
    assert_eq!(workloads[0], workloads[1]);
}

#[test]
fn one_processor_finds_what_several_find() {
    if !needs::has("taskset") {
        return;
    }
    let folder = Folder::new();
    let mut log = String::new();
    for n in 0..60_000_u32 {
        let request = match n % 4 {
            0 => format!("GET /users/{}/orders?page={}", n * 7_919 % 20_000, n % 7),
            1 => format!("GET /blog/how-to-do-things-part-{}", n * 31 % 9_001),
            2 => format!("POST /login?from={}", n % 3),
            _ => format!("GET /products/{}", n % 977 * (n % 2)),
        };
        let client = format!("203.0.{}.{}", n % 40, n % 250);
        log += &line(10 + n / 3_600 % 10, n % 3_600, &client, &request, 200);
    }
    folder.put("all.log", &log);
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(log.as_bytes()).unwrap();
    folder.put("all.log.gz", packed.finish().unwrap());
    folder.plimsoll("mine all.log --out all --sessions").ok();
    let line = format!("-c 0 {PLIMSOLL} mine all.log --out one --sessions");
    folder.run(Path::new("taskset"), &line).ok();
    folder.plimsoll("mine all.log.gz --out packed --sessions").ok();
    let all = files_of(&folder, "all");
    assert!(all.len() > 3, "{:?}", all.keys());
    for dir in ["one", "packed"] {
        for (name, text) in &files_of(&folder, dir) {
            assert!(all.get(name) == Some(text), "{dir}: {name} differs");
        }
    }
}

/// The files of a result by their names, without what tells the log's name.
fn files_of(folder: &Folder, dir: &str) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.path().join(dir)];
    while let Some(within) = folders.pop() {
        for entry in fs::read_dir(within).unwrap().map(|entry| entry.unwrap().path()) {
            let name = entry.strip_prefix(folder.path().join(dir)).unwrap();
            match entry.is_dir() {
                true => folders.push(entry),
                false if name.extension().is_some_and(|ending| ending == "html") => {}
                false => {
                    let text = fs::read_to_string(&entry).unwrap();
                    let text = text.replace("all.log.gz", "all.log");
                    drop(files.insert(name.display().to_string(), text));
                }
            }
        }
    }
    files
}

#[test]
fn bad_lines_are_counted_and_too_many_are_refused() {
    let folder = Folder::new();
    let junk = format!("junk \u{1b}]0;owned\u{7} {}\n", "x".repeat(10 << 20));
    folder.put("some.log", shop() + &junk + "\u{0}\u{1}\n");
    let ended = folder.plimsoll("mine some.log --out some").ok();
    assert!(ended.stdout.contains("2 bad lines"), "{ended:#?}");
    assert!(!ended.stdout.contains('\u{1b}'), "{ended:#?}");
    assert_eq!(mined(&folder, "some")["bad_lines"], 2);
    let mut most = String::new();
    for n in 0..100 {
        let _ = writeln!(most, "junk {n}");
    }
    folder.put("most.log", shop() + &most + &most);
    let ended = folder.plimsoll("mine most.log --out most").ends(1);
    assert!(ended.stderr.contains("200 of 801 lines cannot be read"), "{ended:#?}");
    let ended = folder.plimsoll("mine most.log --out most --max-bad 50%").ok();
    let words: Vec<&str> = ended.stdout.split_whitespace().collect();
    assert!(words.join(" ").contains("such as `junk "), "{ended:#?}");
}

/// Whichever of them comes first, and a line of the other is longer than what is shown of it.
#[test]
fn a_log_of_two_formats_is_to_be_split() {
    let folder = Folder::new();
    let combined = shop().replace("Firefox", &"Firefox ".repeat(40));
    let mut json = String::new();
    for n in 0..400 {
        let _ = writeln!(
            json,
            "{{\"time\":\"2026-11-23T20:00:00Z\",\"request_uri\":\"/a?n={n}\",\"method\":\"GET\",\"status\":200,\
             \"user_agent\":\"{}\"}}",
            "Firefox ".repeat(40)
        );
    }
    folder.put("json.log", &json);
    folder.plimsoll("mine json.log --out json").ok();
    for (text, formats) in [
        (combined.clone() + &json, "combined and JSON lines"),
        (json.clone() + &combined, "JSON lines and combined"),
    ] {
        folder.put("both.log", text);
        let ended = folder.plimsoll("mine json.log both.log --out both").ends(1);
        let words = format!("both.log holds lines of two formats, {formats}: split it");
        assert!(unwrapped(&ended.stderr).contains(&words), "{words}: {ended:#?}");
        assert!(!ended.stderr.contains("--log-format"), "{ended:#?}");
    }
}

#[test]
fn a_log_that_is_none_is_refused_in_words() {
    let folder = Folder::new();
    folder.put("empty.log", "");
    folder.put("none.log", "#Version: 1.0\n\n");
    folder.put("blank.log", (" ".repeat(60 << 10) + "\n").repeat(1_100));
    folder.put("junk.log", "what\nis this\n");
    folder.put("lines.json", "{\"wann\":\"2026-11-23T20:00:00Z\",\"pfad\":\"/a\"}\n".repeat(9));
    folder.put(
        "nginx.conf",
        "log_format a '[$time_local] \"$request\" $status';log_format b '$msec \"$request\" $status';",
    );
    folder.put("static.log", line(1, 1, "192.0.2.1", "GET /a.css", 200));
    folder.put("logs.zip", b"PK\x03\x04\x14\0\0\0");
    folder.put("logs.xz", b"\xfd7zXZ\0\0\x04");
    folder.put("cut.zst", b"\x28\xb5\x2f\xfd");
    folder.put("wide.log", b"\xff\xfe1\0.\0");
    folder.put("big-endian.log", b"\xfe\xff\x001\0.");
    for (command, code, words) in [
        ("mine empty.log", 1, "is empty"),
        ("mine blank.log", 1, "only blank lines and comments in its first 64 MiB"),
        ("mine junk.log", 1, "no known format"),
        ("mine static.log", 1, "none of an API"),
        ("mine logs.zip", 1, "unzip -p FILE | plimsoll mine -"),
        ("mine logs.xz", 1, "xz -dc FILE | plimsoll mine -"),
        ("mine cut.zst", 1, "zstdcat FILE | plimsoll mine -"),
        ("mine wide.log", 1, "iconv -f UTF-16 -t UTF-8 FILE | plimsoll mine -"),
        ("mine big-endian.log", 1, "iconv -f UTF-16 -t UTF-8 FILE | plimsoll mine -"),
        ("mine nowhere.log", 1, "No such file"),
        ("mine static.log --log-format $status", 2, "no time"),
        ("mine static.log --log-format nowhere", 2, "combined"),
        ("mine static.log --map /a", 2, "OLD=NEW"),
        ("mine static.log --target ftp://x", 2, "ftp"),
        ("mine static.log --target notaurl", 2, "http://HOST:PORT"),
        ("mine static.log --top 0", 2, "--top must be 1 or more"),
        ("mine static.log --trace 2 --factor 3", 2, "cannot be used with"),
        ("mine static.log --template /a", 2, "has no parameter"),
        ("mine empty.log none.log", 1, "is empty"),
        ("mine lines.json", 1, "--field at=MEMBER"),
        ("mine lines.json --log-format json", 1, "name the members that hold it with --field"),
        ("mine junk.log --log-format nginx.conf", 1, "none of the formats given by --log-format"),
        ("mine static.log --factor 0", 2, "above 0"),
    ] {
        let ended = folder.plimsoll(command).ends(code);
        assert!(ended.stderr.contains(words), "{command}: {ended:#?}");
    }
}

#[test]
fn the_time_taken_is_read_where_the_log_has_it() {
    let folder = Folder::new();
    let mut log = String::new();
    for n in 0..200 {
        let _ = writeln!(
            log,
            "192.0.2.1 [23/Nov/2026:10:00:{:02} +0000] \"GET /items/{n} HTTP/1.1\" 200 17 rt=0.{:03}",
            n % 60,
            n + 1
        );
    }
    folder.put("access.log", log);
    folder.put(
        "nginx.conf",
        "http { log_format timed '$remote_addr [$time_local] \"$request\" $status '\n\
         '$body_bytes_sent rt=$request_time'; }",
    );
    let ended = folder.plimsoll("mine access.log --log-format nginx.conf --out mined").ok();
    assert!(ended.stdout.contains("log_format timed"), "{ended:#?}");
    let latency = &mined(&folder, "mined")["endpoints"][0]["latency_ns"];
    assert_eq!(latency["count"], 200);
    assert_eq!(latency["max"], 200_000_000);
}

#[test]
fn a_rotated_set_is_one_log_in_whatever_form_its_parts_are() {
    let folder = Folder::new();
    let log = shop();
    folder.put("access.log", &log);
    let lines: Vec<&str> = log.split_inclusive('\n').collect();
    let mut names = String::new();
    for (at, part) in lines.chunks(100).enumerate() {
        let text = part.concat();
        let (name, bytes) = if at == 0 {
            ("access.log.0".to_owned(), text.into_bytes())
        } else {
            let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
            packed.write_all(text.as_bytes()).unwrap();
            (format!("access.log.{at}.gz"), packed.finish().unwrap())
        };
        folder.put(&name, bytes);
        names = format!("{name} {names}");
    }
    folder.plimsoll("mine access.log --out whole").ok();
    folder.plimsoll(&format!("mine {names} --out parts")).ok();
    let (mut whole, mut parts) = (mined(&folder, "whole"), mined(&folder, "parts"));
    for mined in [&mut whole, &mut parts] {
        mined["files"].take();
    }
    assert_eq!(whole, parts);
    let damaged = folder.path().join("access.log.3.gz");
    let mut bytes = fs::read(&damaged).unwrap();
    bytes.truncate(bytes.len() / 2);
    fs::write(&damaged, bytes).unwrap();
    let refused = folder.plimsoll(&format!("mine {names} --out damaged")).ends(1);
    for words in ["access.log.3.gz", "zcat FILE | plimsoll mine -"] {
        assert!(refused.stderr.contains(words), "{words}: {refused:#?}");
    }
}

#[test]
fn ctrl_c_says_that_nothing_was_written() {
    let folder = Folder::new();
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    for n in 0..80_000 {
        packed.write_all(line(1, n % 3_600, "192.0.2.1", "GET /users/7", 200).as_bytes()).unwrap();
    }
    // Gigabytes: it is not read to its end before the signal comes.
    folder.put("access.log.gz", packed.finish().unwrap().repeat(500));
    let mut command = folder.command(Path::new(PLIMSOLL), "mine access.log.gz --out mined");
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let catches = || {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:\t")).unwrap();
        u64::from_str_radix(mask, 16).unwrap() & 1 << 1 != 0
    };
    // Of what has ended already nothing is caught.
    let until = Instant::now() + Duration::from_secs(60);
    while !catches() {
        assert!(Instant::now() < until, "it does not catch the signal");
        thread::sleep(Duration::from_millis(5));
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(killed.is_ok_and(|status| status.success()));
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(130), "{said}");
    assert!(said.contains("nothing was written"), "{said}");
    assert!(!folder.path().join("mined").exists());
}

#[test]
fn empty_and_repeated_logs_are_reported_and_left_out() {
    let folder = Folder::new();
    folder.put("access.log", shop());
    folder.put("access.log.1", "");
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(shop().as_bytes()).unwrap();
    folder.put("copy.gz", packed.finish().unwrap());
    let ended = folder.plimsoll("mine access.log.1 access.log ./access.log --out once").ok();
    assert_eq!(mined(&folder, "once")["counted"], 600);
    let said = unwrapped(&ended.stdout);
    for words in ["access.log.1 is empty, and left out", "./access.log is named more than once"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let ended = folder.plimsoll("mine access.log copy.gz --out twice").ok();
    let said = unwrapped(&ended.stdout);
    assert!(said.contains("copy.gz begins with the same lines as access.log"), "{said}");
}

#[test]
fn what_a_format_does_not_have_is_reported() {
    let folder = Folder::new();
    folder.put("common.log", shop().replace(" \"-\" \"Firefox\"", ""));
    let ended = folder.plimsoll("mine common.log --out common").ok();
    let said = unwrapped(&ended.stdout);
    for words in ["bots not told apart", "no line has a User-Agent", "add $request_time"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(!said.contains("0 requests of bots"), "{said}");
    // A line that is too long says nothing about the others.
    folder.put("long.log", "x".repeat(300 << 10) + "\n" + &shop());
    let ended = folder.plimsoll("mine long.log --out long").ok();
    assert!(ended.stdout.contains("602 lines as combined"), "{ended:#?}");
    // Nor do blank lines and comments, however long they are; comments count as lines that cannot be read.
    let comments = format!("# {}\n", "x".repeat(3 << 10)).repeat(100);
    folder.put("blank.log", "\n".repeat(300 << 10) + &comments + &shop());
    let ended = folder.plimsoll("mine blank.log --out blank").ok();
    assert!(ended.stdout.contains("701 lines as combined"), "{ended:#?}");
    let columns = "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs-uri-stem sc-status\n";
    let line = "2026-11-23\t20:00:01\tFRA2\t7\t192.0.2.1\tGET\t/users/7\t200\n";
    folder.put("edge.log", columns.to_owned() + &line.repeat(5));
    let ended = folder.plimsoll("mine edge.log --out edge").ok();
    assert!(ended.stdout.contains("5 lines as CloudFront"), "{ended:#?}");
}
