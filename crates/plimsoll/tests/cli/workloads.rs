//! Workload files where a URL may stand, and `plimsoll plan`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::harness::{Ended, Folder, PLIMSOLL, Target, ended, unwrapped};

/// The documentation's example, aimed at a server.
fn shop(folder: &Folder, target: &str) {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/shop.yaml");
    let text = fs::read_to_string(path).expect("the example");
    folder.put("shop.yaml", text.replace("http://127.0.0.1:8080", target));
}

/// Two endpoints, one of which writes.
fn mixed(folder: &Folder, target: &str) {
    let text = format!(
        "target: {target}\n\
         load: {{rate: 40/s, duration: 500ms, seed: 7}}\n\
         timeout: 4s\n\
         endpoints:\n\
         \x20 - {{path: '/echo?n=${{int(1, 9)}}', weight: 3}}\n\
         \x20 - {{method: POST, path: /echo, body: {{text: hello}}}}\n"
    );
    folder.put("mixed.yaml", text);
}

/// Runs with the shop's password in the environment.
fn with_password(folder: &Folder, line: &str) -> Ended {
    ended(folder.command(Path::new(PLIMSOLL), line).env("SHOP_PASSWORD", "secret"))
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:#?}"))
}

#[test]
fn a_plan_shows_the_sum_of_rates_without_its_last_bits() {
    let folder = Folder::new();
    let endpoints = "endpoints:\n  - {path: /a, rate: 0.1/s}\n  - {path: /b, rate: 0.2/s}\n";
    let load = "target: http://127.0.0.1:9\nload: {duration: 20s}\n";
    folder.put("two.yaml", format!("{load}{endpoints}"));
    let said = folder.plimsoll("plan two.yaml").ok().stdout;
    assert!(said.contains("open, 0.3 arrivals a second"), "{said}");
}

#[test]
fn a_plan_shows_where_each_value_comes_from_and_sends_nothing() {
    let folder = Folder::new();
    // Nobody listens there.
    mixed(&folder, "http://127.0.0.1:9");
    let ended = folder.plimsoll("plan mixed.yaml -T 2s --scale 2 --samples 4 --format json").ok();
    let plan = json(&ended);
    let of = |name: &str| {
        let lines = plan["settings"].as_array().unwrap();
        let line = lines.iter().find(|line| line["name"] == name);
        let line = line.unwrap_or_else(|| panic!("no {name}: {plan:#}"));
        (line["value"].as_str().unwrap().to_owned(), line["origin"].as_str().unwrap().to_owned())
    };
    let set = |value: &str, origin: &str| (value.to_owned(), origin.to_owned());
    assert_eq!(of("loop"), set("open, 80 arrivals a second", "file"));
    assert_eq!(of("scale"), set("2, 40/s before", "flag"));
    assert_eq!(of("time-out"), set("2s", "flag"));
    assert_eq!(of("seed"), set("7", "file"));
    assert_eq!(of("success"), set("200-399", "default"));
    assert_eq!(plan["writes"]["share"], 0.25);
    // 80/s over half a second, a quarter of them.
    assert_eq!(plan["writes"]["requests"], 10);
    let requests = plan["requests"].as_array().unwrap();
    assert_eq!(requests.len(), 4);
    for request in requests {
        let text = request["text"].as_str().unwrap();
        assert!(text.starts_with("GET /echo?n=") || text.starts_with("POST /echo "), "{text}");
        assert!(text.contains("\nHost: 127.0.0.1:9\n"), "{text}");
    }
    let text = folder.plimsoll("plan mixed.yaml --reads-only").ok();
    assert!(text.stdout.contains("Left out: POST /echo"), "{text:#?}");
    assert!(!text.stdout.contains("  POST /echo HTTP/1.1"), "{text:#?}");
}

/// Each session that arrives is several requests.
#[test]
fn what_sessions_write_is_counted_by_their_requests() {
    let folder = Folder::new();
    let text = "target: http://127.0.0.1:9\nload: {rate: 200/s, duration: 5s}\nflows:\n  - name: visit\n    \
                steps: [{method: POST, path: /a}, {path: /b}, {path: /c}]\n";
    folder.put("visits.yaml", text);
    let plan = json(&folder.plimsoll("plan visits.yaml --format json").ok());
    assert_eq!(plan["writes"]["requests"], 1000);
    folder.follows_schema("plan", &plan);
}

#[test]
fn what_flags_change_is_in_the_plan_and_what_a_run_refuses_is_refused() {
    let folder = Folder::new();
    folder.put("post.lua", "wrk.method = 'POST'\n");
    let url = "http://127.0.0.1:9/";
    let flags = "-s post.lua -c 8 -t 2 --connect-to 127.0.0.1:1 --max-inflight 4 --no-keepalive --source 127.0.0.2";
    let shown = folder.plimsoll(&format!("plan {url} {flags} -- a")).ok();
    let text = unwrapped(&shown.stdout);
    for line in [
        "script post.lua: it makes the requests, and is not run here flag",
        "connect to 127.0.0.1:1 flag",
        "from 127.0.0.2 flag",
        "workers 2 flag",
        "keep-alive no: a connection for each request flag",
        "in flight at most 4 flag",
        "window 10s default",
    ] {
        assert!(text.contains(line), "no `{line}` in {text}");
    }
    assert!(!text.contains("GET /"), "{text}");
    let secure = folder.plimsoll("plan https://127.0.0.1:9/ -k --sni other --tls-min 1.3").ok();
    let text = unwrapped(&secure.stdout);
    for line in ["certificate not checked flag", "TLS name other flag", "TLS 1.3 to 1.3 flag"] {
        assert!(text.contains(line), "no `{line}` in {text}");
    }
    for (flags, why) in
        [("-- a", "arguments after -- are for a script"), ("-t 20 -c 10", "-t 20 is above -c 10")]
    {
        folder.plimsoll(&format!("plan {url} {flags}")).refuses(2, why);
    }
    // As a run of it ends.
    let missing = folder.plimsoll(&format!("plan {url} -s missing.lua"));
    missing.refuses(1, "a script of wrk's is read there, and -q prints nothing");
}

#[test]
fn secrets_are_masked_and_asked_for() {
    let folder = Folder::new();
    shop(&folder, "http://127.0.0.1:9");
    let shown = with_password(&folder, "plan shop.yaml").ok();
    assert!(shown.stdout.contains("From the environment: SHOP_PASSWORD"), "{shown:#?}");
    assert!(shown.stdout.contains("\"password\":\"***\""), "{shown:#?}");
    let body = |line: &&str| line.contains("\"password\"");
    assert!(shown.stdout.lines().filter(body).all(|line| !line.contains("secret")), "{shown:#?}");
    let place = "shop.yaml:";
    let unset = folder.plimsoll("plan shop.yaml").ok();
    assert!(unset.stdout.contains("\nNot there; a run needs them:\n  shop.yaml:"), "{unset:#?}");
    assert!(unset.stdout.contains("`SHOP_PASSWORD` is not set"), "{unset:#?}");
    assert!(unset.stdout.contains("\"password\":\"***\""), "{unset:#?}");
    let document = json(&folder.plimsoll("plan shop.yaml --format json").ok());
    assert!(document["unset"][0]["place"].as_str().unwrap().starts_with(place), "{document}");
    folder.plimsoll("run shop.yaml").refuses(2, "`SHOP_PASSWORD` is not set");
    let url = folder.plimsoll("plan http://127.0.0.1:9/a?token=x -H Cookie:sid=y").ok();
    assert!(url.stdout.contains("  GET /a?token=*** HTTP/1.1\n"), "{url:#?}");
    assert!(!url.stdout.contains("sid=y"), "{url:#?}");
}

#[test]
fn the_environment_may_name_the_target() {
    let folder = Folder::new();
    let put = |target: &str| {
        let text = "endpoints:\n  - path: /a\n    headers: {X-A: '${env.NOT_SET}'}\n";
        folder.put("w.yaml", format!("target: {target}\n{text}"));
    };
    for (target, path) in [("${env.BASE_URL}/v1", "/v1/a"), ("http://${env.HOST_NAME}:80", "/a")] {
        put(target);
        let shown = folder.plimsoll("plan w.yaml").ok();
        for needle in [
            &format!("{target} "),
            "\n  w.yaml:1:",
            "\n  w.yaml:4:",
            "`NOT_SET` is not set",
            &format!("  GET {path} HTTP/1.1\n  Host: ***\n  X-A: ***\n"),
        ] {
            assert!(shown.stdout.contains(needle), "no `{needle}` in {shown:#?}");
        }
    }
    put("${env.BASE_URL}");
    let mut command = folder.command(Path::new(PLIMSOLL), "plan w.yaml");
    let shown = ended(command.env("BASE_URL", "http://127.0.0.1:9").env("NOT_SET", "x")).ok();
    assert!(shown.stdout.contains("http://127.0.0.1:9/ "), "{shown:#?}");
    assert!(shown.stdout.contains("\n  Host: 127.0.0.1:9\n  X-A: ***\n"), "{shown:#?}");
    assert!(!shown.stdout.contains("Not set"), "{shown:#?}");
}

#[test]
fn faults_are_reported_with_their_place() {
    let folder = Folder::new();
    folder.put(
        "wrong.yaml",
        "target: http://h\nendpoints:\n  - pth: /a\n  - path: /${x}\n    weigth: 2\n",
    );
    let ended = folder.plimsoll("plan wrong.yaml").ends(2);
    for needle in ["wrong.yaml:3:5: unknown key `pth`; did you mean `path`?", "wrong.yaml:5:5: "] {
        assert!(ended.stderr.contains(needle), "no `{needle}`: {ended:#?}");
    }
    folder.put("name.yaml", "target: http://h\nendpoints:\n  - path: /a/${usr}\n");
    folder.plimsoll("run name.yaml").refuses(2, "name.yaml:3:16: ");
    folder.put(
        "course.yaml",
        "target: http://127.0.0.1:9\nload: {stages: [{hold: {at: 1, for: 1s}}]}\nendpoints: [{path: /}]\n",
    );
    folder.plimsoll("run course.yaml -d 5s").refuses(2, "-d: the stages or the trace");
    folder.put(
        "most.yaml",
        "target: http://127.0.0.1:9\nload: {connections: 5}\nendpoints: [{path: /}]\n",
    );
    folder.plimsoll("run most.yaml").refuses(2, "are `concurrency: 5`");
    for flags in ["-R 5", "-c 5"] {
        folder.plimsoll(&format!("plan most.yaml {flags}")).ends(0);
    }
    folder.plimsoll("run none.yaml").refuses(1, "none.yaml: ");
    folder.plimsoll("run http://127.0.0.1:9/ --scale 2").refuses(2, "--scale");
    folder.plimsoll("run wrong.yaml --scale 0").refuses(2, "`0` is not a factor");
    mixed(&folder, "http://127.0.0.1:9");
    folder.plimsoll("run mixed.yaml -m PUT").refuses(2, "-m belongs to a URL");
    folder.plimsoll("run mixed.yaml --think 1s").refuses(2, "belong to a closed loop");
}

#[test]
fn wrong_objectives_of_a_file_are_reported_with_their_place() {
    let folder = Folder::new();
    folder.put(
        "w.yaml",
        "target: http://127.0.0.1:1\n\
         objectives: ['p99<1s', 'p99<']\n\
         endpoints:\n\
         - path: /\n  objectives:\n  - p95<1s\n  - sucess>1%\n",
    );
    for command in ["plan", "run", "sweep", "capacity"] {
        let ended = folder.plimsoll(&format!("{command} w.yaml")).ends(2);
        let lines: Vec<&str> = ended.stderr.lines().collect();
        assert!(lines[0].contains("w.yaml:2:24: `p99<`: a limit is expected here"), "{ended:#?}");
        assert!(lines[1].starts_with("w.yaml:7:5: `sucess>1%`: "), "{ended:#?}");
        assert!(lines[1].contains("did you mean `success`"), "{ended:#?}");
    }
}

#[test]
fn objectives_of_steps_are_judged_and_those_of_what_is_not_sent_are_refused() {
    let (folder, target) = (Folder::new(), Target::start());
    let file = |of_flow: &str| {
        format!(
            "target: {}\nflows:\n- name: visit\n{of_flow}  steps:\n\
             \x20 - {{name: Sign in, path: /healthz, objectives: [p99<50s]}}\n",
            target.url("")
        )
    };
    folder.put("visit.yaml", file(""));
    let run = json(&folder.plimsoll("run -q visit.yaml -R 50 -d 1s --format json"));
    assert_eq!(run["objectives"][0]["objective"], "visit/Sign in: p99<50s", "{run:#}");
    assert!(run["objectives"][0]["value"].is_number(), "{run:#}");
    let ended = folder.plimsoll_for("run visit.yaml -R 50 -d 1s", "visit: p99<1s").ends(2);
    assert!(
        ended.stderr.contains("sends nothing called `visit`; it has visit/Sign in"),
        "{ended:#?}"
    );
    // Sessions have no figure that is judged.
    folder.put("flow.yaml", file("  objectives: [p99<1s]\n"));
    let ended = folder.plimsoll("run flow.yaml -R 50 -d 1s").ends(2);
    assert!(
        ended.stderr.contains("flow.yaml:4:3: unknown key `objectives`; known are"),
        "{ended:#?}"
    );
}

#[test]
fn sessions_are_run_and_their_checks_hold() {
    let (folder, target) = (Folder::new(), Target::start());
    shop(&folder, &target.url(""));
    let ended = with_password(&folder, "run -q shop.yaml -R 50 -d 1s --format json");
    let run = json(&ended);
    let attempts = run["totals"]["attempts"].as_u64().unwrap();
    // Fifty sessions of three requests; the last ones may be in the middle, or were not sent for want of time.
    let (succeeded, unsent) = (&run["totals"]["succeeded"], &run["totals"]["unsent"]);
    assert!((50..=150).contains(&attempts), "{attempts} attempts: {run:#}");
    assert_eq!(succeeded.as_u64().unwrap() + unsent.as_u64().unwrap(), attempts, "{run:#}");
    assert_eq!(run["plan"]["mix"]["flows"][0]["name"], "visit");
    let objectives = run["objectives"].as_array().unwrap();
    assert!(objectives.iter().any(|held| held["objective"] == "success>=99%"), "{objectives:#?}");
    // A wrong password fails the first step, and nothing follows it.
    let mut command =
        folder.command(Path::new(PLIMSOLL), "run -q shop.yaml -R 50 -d 1s --format json");
    let output = command.env("SHOP_PASSWORD", "guess").output().unwrap();
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    let statuses = run["totals"]["statuses"].as_object().unwrap();
    assert!(statuses.keys().eq(["401"]) && statuses["401"] == run["totals"]["requests"], "{run:#}");
    assert_eq!(run["totals"]["attempts"], 50, "{run:#}");
}

#[test]
fn stages_and_traces_are_followed() {
    let (folder, target) = (Folder::new(), Target::start());
    let file = |load: &str| {
        format!("target: {}\nload: {{{load}}}\nendpoints: [{{path: /healthz}}]\n", target.url(""))
    };
    let stages = "stages: [{ramp: {to: 100/s, over: 1s}}, {hold: {at: 100/s, for: 500ms}}], arrivals: uniform";
    folder.put("stages.yaml", file(stages));
    let run = json(&folder.plimsoll("run -q stages.yaml --format json"));
    // Half of a hundred in the ramp's second, fifty in the half second after it.
    assert_eq!(run["totals"]["attempts"], 100, "{run:#}");
    // A warm-up is the profile's first part: behind its end there is no load to measure.
    let run = json(&folder.plimsoll("run -q stages.yaml --warmup 500ms --format json"));
    assert_eq!(run["totals"]["duration_ns"], 1_000_000_000_u64, "{run:#}");
    folder.plimsoll("run -q stages.yaml --warmup 1500ms").refuses(2, "leaves nothing to measure");
    folder.put("times", "5\n5.1\n5.1\n5.4\n");
    folder.put("trace.yaml", file("trace: times"));
    let run = json(&folder.plimsoll("run -q trace.yaml --format json"));
    assert_eq!(run["totals"]["attempts"], 4, "{run:#}");
    assert_eq!(run["plan"]["recorded"]["arrivals"], 4, "{run:#}");
    folder.plimsoll("run trace.yaml -n 2").refuses(2, "-n: the stages or the trace");
    folder
        .plimsoll("sweep trace.yaml --levels 1 -d 100ms --out out")
        .refuses(2, "its stages or its trace");
    folder.plimsoll("plan trace.yaml").ok().prints("a trace of 4 arrivals");
}

#[test]
fn a_mix_is_swept_and_compared() {
    let (folder, target) = (Folder::new(), Target::start());
    mixed(&folder, &target.url(""));
    let swept = folder.plimsoll("sweep mixed.yaml --levels 1,2 -d 200ms --rest 0s -q --out out");
    assert!([0, 98].contains(&swept.code), "{swept:#?}");
    let sweep: Value = serde_json::from_str(&folder.text("out/sweep.json")).unwrap();
    let levels = sweep["levels"].as_array().unwrap();
    assert_eq!(levels.len(), 2);
    for level in levels {
        let totals = &level["run"]["totals"];
        assert!(totals["attempts"].as_u64().unwrap() > 10, "{totals:#}");
        assert_eq!(totals["attempts"], totals["succeeded"], "{totals:#}");
    }
    let line = "compare mixed.yaml mixed.yaml --rounds 1 --rest 0s -q --format json --out b";
    let compared = folder.plimsoll(line);
    assert!([0, 98].contains(&compared.code), "{compared:#?}");
    let run: Value = serde_json::from_str(&folder.text("b/round-01-old/run.json")).unwrap();
    assert_eq!(run["plan"]["rate_per_s"], 40.0, "{:#}", run["plan"]);
    assert_eq!(run["totals"]["attempts"], 20, "{:#}", run["totals"]);
}

#[test]
fn a_workload_reads_below_its_own_folder_unless_allowed_more() {
    let folder = Folder::new();
    for name in ["w", "other"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    folder.put("other/secret.txt", "TOP");
    folder.put("other/pool.csv", "a\n1\n");
    std::os::unix::fs::symlink("../other/secret.txt", folder.path().join("w/link")).unwrap();
    let bodies = [
        "endpoints: [{method: POST, path: /echo, body: {file: ../other/secret.txt}}]",
        "endpoints: [{method: POST, path: /echo, body: {file: link}}]",
        "endpoints: [{method: POST, path: /echo, body: {multipart: [{name: a, file: ../other/secret.txt}]}}]",
        "endpoints: [{path: '/echo?a=${file(\"../other/secret.txt\")}'}]",
        "pools: {p: {file: ../other/pool.csv}}\nendpoints: [{path: '/${p.a}'}]",
    ];
    for body in bodies {
        folder.put("w/w.yaml", format!("target: http://127.0.0.1:9\n{body}\n"));
        let refused = folder.plimsoll("plan w/w.yaml");
        assert_eq!(refused.code, 2, "{body}: {refused:?}");
        assert!(refused.stderr.contains("outside the workload's folder"), "{refused:?}");
        assert!(!refused.stdout.contains("TOP"), "{refused:?}");
        folder.plimsoll("plan w/w.yaml --allow-files other").ok();
        folder
            .plimsoll("plan w/w.yaml --allow-files none")
            .refuses(1, "--allow-files none: No such");
    }
    let stray = folder.plimsoll("plan http://127.0.0.1:9/ --allow-files other");
    assert!(stray.code == 2 && stray.stderr.contains("--allow-files"), "{stray:?}");
}

#[test]
fn a_body_larger_than_a_request_may_be_is_refused() {
    let folder = Folder::new();
    let body = fs::File::create(folder.path().join("body")).unwrap();
    // Nothing but a hole: it takes no room on disk.
    body.set_len(5 << 30).unwrap();
    let refused = folder.plimsoll("run http://127.0.0.1:9/ --body-file body");
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("the body's file body: more than 1024 MiB"), "{refused:?}");
}

#[test]
fn a_path_with_a_name_in_braces_is_reported_before_it_is_sent() {
    let (folder, target) = (Folder::new(), Target::start());
    let url = target.url("/");
    folder.put("w.yaml", format!("target: {url}\nendpoints: [{{path: '/users/{{id}}'}}]\n"));
    let ended = folder.plimsoll("run w.yaml -n 1 -q");
    let told = "{id} in a path is sent as %7Bid%7D: ${id} puts a value there";
    assert!(ended.stderr.contains(told), "{ended:#?}");
}

#[test]
fn a_body_of_standard_input_is_refused_with_what_to_do() {
    let folder = Folder::new();
    for flag in ["--body @-", "--data @-", "--json @-", "--body-file -"] {
        let line = format!("run http://127.0.0.1:9/ {flag}");
        folder.plimsoll(&line).refuses(2, "write it into a file");
    }
}

#[test]
fn a_report_of_nothing_says_how_to_get_one() {
    let folder = Folder::new();
    folder.plimsoll("report").refuses(1, "measure first, as in `plimsoll run URL`");
}
