//! `plimsoll profile`, and runs that take one.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use testkit::needs;

use crate::harness::Folder;
use crate::recorder::Recorder;

const STACKS: &str = "\
net/http.(*conn).serve;net/http.HandlerFunc.ServeHTTP;main.log.func1;net/http.HandlerFunc.ServeHTTP;main.get 30
net/http.(*conn).serve;net/http.HandlerFunc.ServeHTTP;main.log.func1;fmt.Fprintf;runtime.mallocgc 20
runtime.gcBgMarkWorker;runtime.gcDrain 10
net/http.(*conn).serve;net/http.(*response).write 40
";

#[test]
fn a_profile_says_whose_code_the_time_is() {
    let folder = Folder::new();
    folder.put("stacks.txt", STACKS);
    let text = folder.plimsoll("profile stacks.txt").ok();
    assert!(text.stdout.lines().all(|line| line.chars().count() <= 80), "{text:#?}");
    let json = folder.plimsoll("profile stacks.txt --format json").ok();
    let profiled: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    folder.follows_schema("profile", &profiled);
    assert_eq!(
        (profiled["total"].clone(), profiled["collecting"].clone()),
        (100.into(), 10.into())
    );
    let owner = |name: &str| {
        let owners = profiled["owners"].as_array().unwrap();
        owners.iter().find(|owner| owner["owner"] == name).unwrap().clone()
    };
    // Of the 50 samples with own code in their stacks 30 are in it. mallocgc and the collection are fmt's doing.
    assert_eq!(owner("own")["cum"], 50);
    assert_eq!(owner("own")["caused"], 30);
    assert_eq!(owner("standard_library")["caused"], 70);
    assert_eq!(owner("runtime")["caused"], 0);
    let layers: Vec<(String, i64, bool)> = profiled["layers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|layer| {
            let name = layer["name"].as_str().unwrap().to_owned();
            (name, layer["added"].as_i64().unwrap(), layer["calls_next"].as_bool().unwrap())
        })
        .collect();
    assert_eq!(layers, [("main.log.func1".into(), 20, true), ("main.get".into(), 30, false)]);
}

#[test]
fn listings_have_pprofs_form() {
    let folder = Folder::new();
    folder.put("stacks.txt", STACKS);
    let top = folder.plimsoll("profile stacks.txt --top --nodecount 2").ok();
    assert_eq!(
        top.stdout,
        "Type: samples\n\
         Showing nodes accounting for 70, 70.00% of 100 total\n\
         Showing top 2 nodes out of 9\n      \
         flat  flat%   sum%        cum   cum%\n        \
         40 40.00% 40.00%         40 40.00%  net/http.(*response).write\n        \
         30 30.00% 70.00%         30 30.00%  main.get\n"
    );
    folder.plimsoll("profile stacks.txt --peek main.get").ok().prints("main.get");
    folder.plimsoll("profile stacks.txt --tree --cum").ok().prints("calls%");
    folder
        .plimsoll("profile stacks.txt --top --focus nothing")
        .ok()
        .says("--focus matched nothing");
    folder.plimsoll("profile stacks.txt --peek nothing").ends(1).says("no function");
    folder.plimsoll("profile stacks.txt --top --focus (").ends(2).says("--focus");
    folder.plimsoll("profile stacks.txt --top --sample-index cpu").ends(2).says("it has samples");
}

/// A server that gives every request the same response.
fn responding(status: &'static str, body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming().take(4) {
            let Ok(mut stream) = stream else { return };
            let _ = stream.read(&mut [0; 4096]);
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all((head + body).as_bytes());
        }
    });
    format!("http://{address}")
}

#[test]
fn what_gives_no_profile_is_told_how_to() {
    let folder = Folder::new();
    for (status, body, words) in [
        ("404 Not Found", "", "net/http/pprof"),
        ("401 Unauthorized", "", "--profile-header"),
        ("302 Found\r\nLocation: /login", "", "sends the client elsewhere (302, `/login`)"),
        ("200 OK", "<html>", "HTML"),
        ("200 OK", "", "is empty"),
        ("500 Internal Server Error", "profiling already on\nx", "profiling already on"),
    ] {
        let url = responding(status, body);
        folder.plimsoll(&format!("profile {url} --seconds 1")).ends(1).says(words);
    }
    folder.put("page.html", "<!doctype html>");
    folder.plimsoll("profile page.html").ends(1).says("HTML");
    folder.plimsoll("profile nothing.pprof").ends(1).says("nothing.pprof");
    folder.plimsoll("profile whatif . main.x").ends(1).says("holds no profile");
    folder.put("stacks.txt", "main;work 10\n");
    let told = folder.plimsoll("profile whatif stacks.txt work").ends(1);
    told.says("the folder of a run with its profile is wanted");
}

#[test]
fn a_url_of_one_profile_is_asked_for_that_one() {
    let folder = Folder::new();
    let server = Recorder::taking(Duration::from_millis(5));
    let profiles = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/prof", profiles.local_addr().expect("an address"));
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    thread::spawn(move || {
        for stream in profiles.incoming() {
            let Ok(mut stream) = stream else { return };
            count.fetch_add(1, Ordering::SeqCst);
            let _ = stream.read(&mut [0; 4096]);
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", STACKS.len());
            let _ = stream.write_all((head + STACKS).as_bytes());
        }
    });
    let run = format!("run {} -c 1 -t 1 -d 4s -q --profile {url} --out x", server.url("/"));
    folder.plimsoll(&run).measured();
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    folder.has(&["x/profile/cpu.pprof"]);
    folder.plimsoll("profile x").ok().prints("main.get");
    let run = format!("run {} -c 1 -d 4s --profile {url}?seconds=30", server.url("/"));
    folder.plimsoll(&run).ends(2).says("30 s are longer than the 2 s that fit");
}

/// A server that answers at once on each connection, all but every twentieth time with an error.
fn failing_mostly() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            thread::spawn(move || {
                let mut answers = 0;
                while let Ok(1..) = stream.read(&mut [0; 4096]) {
                    let fails = answers % 20 != 0;
                    answers += 1;
                    let status = if fails { "500 Internal Server Error" } else { "200 OK" };
                    let response = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
                    if stream.write_all(response.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    format!("http://{address}/")
}

#[test]
fn a_server_that_fails_quickly_is_no_gain() {
    let folder = Folder::new();
    // Ten times as slow and more, however busy the machine is.
    let (slow, failing) = (Recorder::taking(Duration::from_millis(50)), failing_mostly());
    let url = slow.url("/");
    folder.plimsoll(&format!("tune begin {url} -c 1 -t 1 -d 4s --warmup 0s")).ok();
    let tried = folder.plimsoll(&format!("tune try quick {failing}")).ok();
    assert!(tried.stderr.contains("this run is INVALID"), "{}", tried.stderr);
    let shown = folder.plimsoll("tune show --format json").ok();
    let story: serde_json::Value = serde_json::from_str(&shown.stdout).expect("JSON");
    let step = &story["steps"][0];
    assert!(step["low"].as_f64() > Some(1.0), "it answers more: {step}");
    assert_eq!((&step["station"]["verdict"], &step["kept"]), (&"INVALID".into(), &false.into()));
    folder.follows_schema("tune", &story);
    folder.plimsoll("tune show").ok().prints("`quick` was discarded: the runs of `start` are");
    // Neither is loaded where one is not there.
    slow.take();
    let dead = folder.plimsoll("tune try dead http://127.0.0.1:1/").ends(1);
    assert!(dead.stderr.contains("http://127.0.0.1:1/: cannot connect"), "{}", dead.stderr);
    assert!(dead.stderr.contains("No server was loaded"), "{}", dead.stderr);
    assert!(slow.take().is_empty(), "the server before was loaded");
    let quiet = format!("tune begin {url} -c 1 -t 1 -d 4s --warmup 0s -q --notebook quiet");
    let quiet = folder.plimsoll(&quiet).ok().stderr;
    // A busy machine is told all the same.
    assert!(quiet.lines().all(|line| line.starts_with("plimsoll: this run is")), "{quiet}");
}

/// The case study's API server, ended on drop.
struct Api {
    child: Child,
    url: String,
}

impl Api {
    fn start(folder: &Folder) -> Self {
        let casestudy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../casestudy");
        let binary = folder.path().join("apiserver");
        let mut build = Command::new("go");
        build.args(["build", "-o"]).arg(&binary).arg("./cmd/apiserver").current_dir(&casestudy);
        assert!(build.status().expect("Go runs").success(), "the API server does not build");
        let mut child = Command::new(&binary)
            .arg("-config")
            .arg(casestudy.join("config.yaml"))
            .args(["-listen", "127.0.0.1:0"])
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("its output"))
            .read_line(&mut line)
            .expect("a line");
        let at = line.find("http://").expect("its URL");
        let url = line[at..].trim().trim_end_matches("/healthz").to_owned();
        Self { child, url }
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        // Already ended is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_run_takes_a_profile_from_which_a_change_is_predicted() {
    if !needs::has("go") {
        return;
    }
    let folder = Folder::new();
    let api = Api::start(&folder);
    let url = &api.url;
    for dir in ["before", "after"] {
        let run = format!("run {url}/healthz -c 8 -t 1 -d 5s -q --profile {url} --out {dir}");
        folder.plimsoll(&run).measured();
        folder.has(&[&format!("{dir}/profile/cpu.pprof"), &format!("{dir}/profile/allocs.pprof")]);
    }
    let window = fs::read(folder.path().join("before/profile/window.json")).expect("a window");
    let window: serde_json::Value = serde_json::from_slice(&window).expect("JSON");
    folder.follows_schema("profiledwindow", &window);
    let length = window["end_ns"].as_f64().unwrap() - window["start_ns"].as_f64().unwrap();
    assert!(window["requests"].as_f64().unwrap() > 0.0 && length >= 2.9e9, "{window}");
    // The server is found on this machine, with the processors that it may use and those that it used.
    let found = |name: &str| window[name].as_f64().is_some_and(|found| found > 0.0);
    assert!(found("processors") && found("server_processors"), "{window}");
    let json = folder.plimsoll("profile before --format json").ok();
    let profiled: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    folder.follows_schema("profile", &profiled);
    let functions = profiled["functions"].as_array().unwrap();
    let logger =
        functions.iter().find(|f| f["name"].as_str().unwrap().ends_with("middleware.logger.func1"));
    let logger = logger.expect("the logger costs something");
    assert_eq!(logger["owner"], "own");
    assert!(logger["cum_us_per_request"].as_f64().unwrap() > 0.0, "{logger}");
    assert!(logger["cum_bytes_per_request"].as_f64().unwrap() > 0.0, "{logger}");
    let layers = profiled["layers"].as_array().unwrap();
    assert!(
        layers.iter().any(|layer| layer["name"] == logger["name"] && layer["calls_next"] == true)
    );
    // On a busy machine the profile may be too thin to predict from: then that is what it says.
    let what =
        folder.plimsoll("profile whatif before middleware.Logger --processors 0.01 --format json");
    let code = what.code;
    let what: serde_json::Value = serde_json::from_str(&what.stdout).expect("JSON");
    folder.follows_schema("whatif", &what);
    let figure = |name: &str| what[name].as_f64().unwrap();
    let share = figure("share");
    if what["refused"].is_null() {
        assert_eq!(code, 0);
        let predicted = figure("qps_predicted");
        assert!(figure("qps_low") <= predicted && predicted <= figure("qps_high"), "{what}");
        let left = (1.0 - share) * (1.0 - figure("rest_cheaper"));
        assert!((figure("qps_now") / left / predicted - 1.0).abs() < 1e-9, "{what}");
    } else {
        let why = what["refused"].as_str().unwrap();
        let busy = why.contains("samples") || why.starts_with("others used");
        assert!(code == 98 && busy, "{what}");
    }
    assert!(share < logger["share"].as_f64().unwrap(), "the handlers that it calls stay: {what}");
    folder
        .plimsoll("profile whatif before middleware.Logger --processors 64")
        .ends(98)
        .prints("nothing is predicted");
    // Of a thin profile that is not all that there is to say.
    let wrong = folder.plimsoll("profile whatif before no.such --processors 0.01");
    match wrong.code {
        98 => wrong.prints("no function of the profile matches `no.such`"),
        _ => wrong.ends(2).says("no function"),
    };
    let page = fs::read_to_string(folder.path().join("before/report.html")).expect("a page");
    assert!(page.contains("id=\"layers\"") && page.contains("data-flame"), "what a request costs");
    let diff = folder.plimsoll("profile diff before after --format json --page both.html").ok();
    let diff: serde_json::Value = serde_json::from_str(&diff.stdout).expect("JSON");
    folder.follows_schema("profilediff", &diff);
    assert!(diff["total_before"].as_f64().unwrap() > 0.0);
    let page = fs::read_to_string(folder.path().join("both.html")).expect("a page");
    assert!(page.contains("us/request after</title>"), "functions with both costs");
    folder.plimsoll("profile before --top").ok().prints("Type: cpu");
}

#[test]
fn a_profile_of_another_process_than_the_server_is_reported() {
    if !needs::has("go") {
        return;
    }
    let folder = Folder::new();
    let elsewhere = Folder::new();
    let (api, other) = (Api::start(&folder), Api::start(&elsewhere));
    let run = format!("run {}/healthz -c 8 -t 1 -d 4s -q --out x --profile {}", api.url, other.url);
    let ran = folder.plimsoll(&run).measured();
    let note = "it may be of another process";
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
    let shown = folder.plimsoll("profile x").ok();
    let words: Vec<&str> = shown.stdout.split_whitespace().collect();
    assert!(words.join(" ").contains(note), "{}", shown.stdout);
}

#[test]
fn a_run_takes_profiles_of_other_kinds() {
    if !needs::has("go") {
        return;
    }
    let folder = Folder::new();
    let api = Api::start(&folder);
    let profiled = |kind: &str| -> serde_json::Value {
        let url = &api.url;
        let run = format!("run {url}/healthz -c 4 -t 1 -d 4s -q --out {kind}");
        folder.plimsoll(&format!("{run} --profile {url}/debug/pprof/{kind}")).measured();
        let ended = folder.plimsoll(&format!("profile {kind} --format json")).ok();
        serde_json::from_str(&ended.stdout).expect("JSON")
    };
    // What there is at an instant: a difference over seconds would be nothing.
    let goroutines = profiled("goroutine");
    assert!(goroutines["total"].as_i64() > Some(4), "a goroutine a connection: {goroutines}");
    let allocated = profiled("allocs");
    assert_eq!(allocated["value"]["kind"], "alloc_space");
    assert_eq!(allocated["bytes"], allocated["total"]);
    let bytes = allocated["functions"][0]["cum_bytes_per_request"].as_f64();
    assert!(bytes > Some(0.0), "{allocated}");
    // The server counts no locks unless it is told to.
    assert_eq!(profiled("mutex")["total"], 0);
    folder.plimsoll("profile mutex").ok().prints("SetMutexProfileFraction");
}

#[test]
fn levels_and_steps_are_profiled_each_and_a_prediction_is_checked() {
    if !needs::has("go") {
        return;
    }
    let folder = Folder::new();
    let api = Api::start(&folder);
    let url = &api.url;
    let sweep = "--levels 2,4 -t 1 -d 4s --rest 0s -q --out swept";
    folder.plimsoll(&format!("sweep {url}/healthz {sweep} --profile {url}")).measured();
    folder.has(&["swept/profiled/c2/profile/cpu.pprof", "swept/profiled/c4/profile/cpu.pprof"]);
    let search = "--slo p99<10s --max 200 --step 4s --hold 4s --budget 20s -q --out found";
    folder.plimsoll(&format!("capacity {url}/healthz {search} --profile {url}"));
    assert!(folder.path().join("found/profiled").is_dir());
    // A function that every request passes, so that a busy machine has samples of it too.
    let line = format!(
        "profile whatif swept/profiled/c4 middleware.logger --processors 0.01 --verify {url}/healthz --format json"
    );
    let ended = folder.plimsoll(&line);
    let what: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    folder.follows_schema("whatif", &what);
    if what["refused"].is_null() {
        let (measured, predicted) = (&what["verified"]["qps"], &what["qps_predicted"]);
        let (measured, predicted) = (measured.as_f64().unwrap(), predicted.as_f64().unwrap());
        let error = what["verified"]["error"].as_f64().unwrap();
        assert!(measured > 0.0 && (predicted / measured - 1.0 - error).abs() < 1e-9, "{what}");
    } else {
        assert_eq!((ended.code, what["verified"].is_null()), (98, true), "{what}");
    }
}

#[test]
fn a_window_too_short_for_a_profile_is_refused() {
    let folder = Folder::new();
    let run = "run http://127.0.0.1:9/ -d 1s --profile http://127.0.0.1:9";
    folder.plimsoll(run).ends(2).says("-d 10s");
}

#[test]
fn a_notebook_keeps_what_was_tried() {
    if !needs::has("go") {
        return;
    }
    let folder = Folder::new();
    folder.plimsoll("tune show").ends(1).says("tune begin");
    folder
        .plimsoll("tune begin http://127.0.0.1:1/ -d 3s")
        .ends(2)
        .says("--duration 3s: at least 4s");
    let (first, second) = (Api::start(&folder), Api::start(&folder));
    let (first, second) = (&first.url, &second.url);
    let begin =
        format!("tune begin {first}/healthz --profile {first} -c 4 -t 1 -d 4s --warmup 1s --spin");
    folder.plimsoll(&begin).ok().prints("start");
    folder.plimsoll(&begin).ends(2).says("holds a story already");
    // On a busy machine nothing may be predicted; that is written down too.
    let predicted = folder.plimsoll("tune predict middleware.logger --processors 0.01");
    assert!(matches!(predicted.code, 0 | 98), "{predicted:#?}");
    folder
        .plimsoll(&format!("tune try same {second}/healthz --discard"))
        .ok()
        .prints("same, discarded");
    let shown = folder.plimsoll("tune show --format json").ok();
    let story: serde_json::Value = serde_json::from_str(&shown.stdout).expect("JSON");
    folder.follows_schema("tune", &story);
    let step = &story["steps"][0];
    assert_eq!((step["interleaved"].clone(), step["kept"].clone()), (true.into(), false.into()));
    assert_eq!(step["station"]["runs"].as_array().unwrap().len(), 3);
    let figure = |name: &str| step[name].as_f64().unwrap();
    assert!(figure("low") <= figure("ratio") && figure("ratio") <= figure("high"), "{step}");
    assert_eq!(step["predicted"]["functions"][0], "middleware.logger");
    assert!(story["pending"].is_null());
    let left = &story["left"];
    assert_eq!(left["station"], "start", "the change was discarded");
    let shares =
        left["owners"].as_array().unwrap().iter().map(|part| part["share"].as_f64().unwrap());
    assert!(
        (shares.sum::<f64>() - 1.0).abs() < 0.01 && left["us_per_request"].as_f64() > Some(0.0)
    );
    // A server that got little of a processor leaves too few samples for a function of its own.
    let functions = left["functions"].as_array().expect("a list");
    assert!(functions.iter().all(|function| function["name"].is_string()), "{left}");
    let page =
        fs::read_to_string(folder.path().join("plimsoll-out/tune/report.html")).expect("a page");
    assert!(page.contains("id=\"left\"") && page.contains("data-flame"), "what is left");
    folder.plimsoll("tune show").ok().prints("What is left");
    folder.has(&["plimsoll-out/tune/report.html"]);
    let run = folder.text("plimsoll-out/tune/start/run.json");
    let run: serde_json::Value = serde_json::from_str(&run).expect("JSON");
    assert_eq!(run["plan"]["spin"], true);
    assert!(story["steps"][0]["over_baseline"].is_null(), "there is no baseline");
    folder.plimsoll(&format!("tune try again {first}/healthz")).ok().prints("again");
    let shown = folder.plimsoll("tune show --format json").ok();
    let story: serde_json::Value = serde_json::from_str(&shown.stdout).expect("JSON");
    assert_eq!(story["steps"][1]["interleaved"], false);
    folder.plimsoll(&format!("tune try x {first}/healthz --rounds 1")).ends(2).says("--rounds 1");
}

#[test]
fn a_change_is_measured_in_turns_with_the_baseline() {
    if !needs::has("go") {
        return;
    }
    let folder = Folder::new();
    let (first, second) = (Api::start(&folder), Api::start(&folder));
    let (first, second) = (&first.url, &second.url);
    let begin = format!(
        "tune begin {first}/healthz --baseline {first}/healthz?token=hunter2secret -c 4 -t 1 -d 4s --warmup 0s"
    );
    folder.plimsoll(&begin).ok().prints("so about");
    folder
        .plimsoll(&format!(
            "tune try same {second}/healthz --keep --baseline {first}/healthz?token=hunter2secret"
        ))
        .ok()
        .prints("measured in turns with it");
    let shown = folder.plimsoll("tune show --format json").ok();
    let story: serde_json::Value = serde_json::from_str(&shown.stdout).expect("JSON");
    folder.follows_schema("tune", &story);
    let over = &story["steps"][0]["over_baseline"];
    let figure = |name: &str| over[name].as_f64().expect("a figure");
    assert!(figure("low") <= figure("ratio") && figure("ratio") <= figure("high"), "{over}");
    folder.has(&[
        "plimsoll-out/tune/same-before-3/run.json",
        "plimsoll-out/tune/same-baseline-3/run.json",
        "plimsoll-out/tune/same-3/run.json",
    ]);
}
