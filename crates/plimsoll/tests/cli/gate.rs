//! `plimsoll gate`: keys, limits, the load line and usage, as a client and an operator meet them.

mod export;
mod life;
mod page;
mod said;
mod shared;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::harness::{Folder, PLIMSOLL, Target};

/// How long something that happens within a second is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running gateway on free ports, killed on drop.
struct Gate {
    child: Child,
    stdout: BufReader<std::process::ChildStdout>,
    opening: String,
    address: String,
    admin: String,
    token: String,
}

impl Gate {
    /// Starts it in a folder, with an admin API.
    fn start(folder: &Folder, line: &str) -> Self {
        let line = format!("gate {line} --admin 127.0.0.1:0 --workers 1");
        Self::of(&mut folder.command(Path::new(PLIMSOLL), &line))
    }

    /// Starts it by a command that gives it an admin API.
    fn of(command: &mut Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the gateway starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("its output"));
        let mut opening = String::new();
        while !opening.contains("#token=") {
            let read = stdout.read_line(&mut opening).expect("its opening");
            assert!(read > 0, "it ended after {opening:?}");
        }
        let after = |mark: &str| {
            let rest = opening.split_once(mark).expect("the mark").1;
            rest.split_whitespace().next().unwrap_or_default().trim_end_matches(',').to_owned()
        };
        let page = opening.rsplit_once("http://").expect("a page").1.trim_end();
        let (admin, token) = page.split_once("/#token=").expect("a token");
        Self {
            address: after("listening on "),
            admin: admin.to_owned(),
            token: token.to_owned(),
            child,
            stdout,
            opening,
        }
    }

    fn get(&self, path: &str, headers: &str) -> Answer {
        ask(&self.address, "GET", path, headers, "")
    }

    fn admin(&self, method: &str, path: &str, body: &str) -> Answer {
        let kind = if body.starts_with('{') { "Content-Type: application/json\r\n" } else { "" };
        let headers = format!("Authorization: Bearer {}\r\n{kind}", self.token);
        ask(&self.admin, method, path, &headers, body)
    }

    /// Ends it as an operator does; what it printed after its opening.
    fn end(self) -> String {
        signal(&self.child, "TERM");
        self.ended()
    }

    /// Waits for its end; what it printed after its opening.
    fn ended(mut self) -> String {
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).expect("its last words");
        assert_eq!(self.child.wait().expect("its end").code(), Some(0), "{rest}");
        rest
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        // Already ended is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn signal(child: &Child, name: &str) {
    let number = child.id().to_string();
    assert!(Command::new("kill").args(["-s", name, &number]).status().expect("kill").success());
}

/// An answer: its status, head and body.
#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

fn ask(address: &str, method: &str, path: &str, headers: &str, body: &str) -> Answer {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\n{headers}Content-Length: {length}\r\nConnection: \
         close\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).expect("a request sent");
    let mut text = Vec::new();
    stream.read_to_end(&mut text).expect("an answer");
    let text = String::from_utf8_lossy(&text).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

/// Tries until it holds.
#[track_caller]
fn soon(mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "it did not come about");
        thread::sleep(Duration::from_millis(50));
    }
}

/// A load line of this many requests per second.
fn load_line(rate_per_s: f64) -> String {
    let line = serde_json::json!({
        "schema": "plimsoll.loadline/1", "plimsoll": {"version": "0.1.0"}, "measured_at": "2026-11-23T12:00:00Z",
        "kind": "rate", "rate_per_s": rate_per_s, "rate_low_per_s": rate_per_s, "rate_high_per_s": null,
        "at_least": false, "confirmed_for_ns": null, "concurrency": 1.0,
        "response_ns": model::Summary::default(), "service_ns": model::Summary::default(), "success_ratio": 1.0,
        "objectives": ["p99<100ms"], "limited_by": null, "overload": null,
        "endpoints": [{"endpoint": "GET /bytes/{n}", "share": 1.0, "service_mean_ns": 1, "cost": 2.0}],
        "environment": model::Environment::default(),
        "target": {"url": "http://127.0.0.1:1/", "method": "GET", "addresses": [], "tls": false, "answer": null},
    });
    line.to_string()
}

#[test]
fn keys_are_asked_for_once_there_is_one_and_usage_is_counted() {
    let (folder, target) = (Folder::new(), Target::start());
    let gate = Gate::start(&folder, &format!("--listen 127.0.0.1:0 --upstream {}", target.url("")));
    assert!(gate.opening.contains("no key is asked for"), "{}", gate.opening);
    assert_eq!(gate.get("/healthz", "").status, 200);

    let added =
        folder.plimsoll("gate keys add --owner ada --tier default --rate 3/h --burst 3").ok();
    assert!(added.stderr.contains("a running gateway follows within a second"), "{added:?}");
    let key = added.stdout.trim_end().to_owned();
    assert!(key.starts_with("plk_") && !key.contains('\n'), "{key:?}");
    soon(|| gate.get("/healthz", "").status == 401);
    let missing = gate.get("/healthz", "");
    assert!(missing.head.contains("application/problem+json"), "{missing:?}");
    assert_eq!(missing.json()["code"], "key_missing");
    assert_eq!(gate.get("/healthz", "X-API-Key: plk_0\r\n").status, 403);

    // In each of the three places, and then the burst of three is used up.
    assert_eq!(gate.get("/healthz", &format!("X-API-Key: {key}\r\n")).status, 200);
    assert_eq!(gate.get("/healthz", &format!("Authorization: Bearer {key}\r\n")).status, 200);
    assert_eq!(gate.get(&format!("/healthz?user_key={key}"), "").status, 200);
    let limited = gate.get("/healthz", &format!("X-API-Key: {key}\r\n"));
    assert_eq!((limited.status, limited.json()["code"].as_str()), (429, Some("rate_limited")));
    for header in
        ["Retry-After: ", "RateLimit-Policy: \"key\";q=1;w=1200", "RateLimit: \"key\";r=0;t="]
    {
        assert!(limited.head.contains(header), "{header}: {limited:?}");
    }

    folder.plimsoll("gate keys revoke 1").ok();
    soon(|| gate.get("/healthz", &format!("X-API-Key: {key}\r\n")).status == 403);
    let last = gate.end();
    assert!(last.contains("requests answered") && !last.contains("lost"), "{last}");

    let usage = folder.plimsoll("gate usage --format json").ok();
    assert!(!usage.stdout.contains(&key));
    let usage: serde_json::Value = serde_json::from_str(&usage.stdout).expect("JSON");
    folder.follows_schema("gateusage", &usage);
    let rows = usage["rows"].as_array().expect("rows");
    let ada = rows.iter().find(|row| row["owner"] == "ada").expect("ada's row");
    assert_eq!((ada["key"].clone(), ada["forwarded"].clone()), (1.into(), 3.into()));
    // At least the one; more while the revocation was waited for.
    assert!(ada["refused"]["rate_limited"].as_u64() >= Some(1), "{ada}");
    folder.plimsoll("gate usage").ok().prints("rate_limited ");
    let keys = folder.plimsoll("gate keys list --format json").ok();
    let keys = serde_json::from_str(&keys.stdout).expect("JSON");
    folder.follows_schema("gatekeys", &keys);
    folder.plimsoll("gate keys list").ok().prints("revoked");
}

/// Made on the command line or by the admin API, which takes sizes as the configuration does.
#[test]
fn a_key_may_have_a_longest_body_of_its_own() {
    let (folder, target) = (Folder::new(), Target::start());
    let key = folder.plimsoll("gate keys add --body 1KiB").ok().stdout.trim_end().to_owned();
    folder.plimsoll("gate keys list").ok().prints("body 1KiB");
    let list = folder.plimsoll("gate keys list --format json").ok().stdout;
    let list: serde_json::Value = serde_json::from_str(&list).expect("JSON");
    assert_eq!(list["keys"][0]["body_bytes"], 1024);
    folder.plimsoll("gate keys add --body big").refuses(2, "`big` is not a size");
    let gate = Gate::start(&folder, &format!("--listen 127.0.0.1:0 --upstream {}", target.url("")));
    let status = |key: &str, bytes: usize| {
        let header = format!("X-API-Key: {key}\r\n");
        ask(&gate.address, "POST", "/echo", &header, &"x".repeat(bytes)).status
    };
    assert_eq!([1024, 1025].map(|bytes| status(&key, bytes)), [200, 413]);
    for body in ["16", "\"16B\""] {
        let made = gate.admin("POST", "/v1/keys", &format!("{{\"body\": {body}}}"));
        assert_eq!(made.status, 201, "{made:?}");
        let key = made.json()["key"].as_str().expect("a key").to_owned();
        assert_eq!([16, 17].map(|bytes| status(&key, bytes)), [200, 413], "{body}");
    }
    let keys = gate.admin("GET", "/v1/keys?after=1", "").json();
    assert_eq!(keys["keys"][0]["body_bytes"], 16);
}

#[test]
fn requests_above_the_load_line_are_refused_and_costs_count() {
    let (folder, target) = (Folder::new(), Target::start());
    // One at once after a pause of 10 s, or seven of them: mean 1 in flight, and six deviations.
    folder.put("capacity.json", load_line(0.1));
    let line =
        format!("--listen 127.0.0.1:0 --upstream {} --loadline capacity.json", target.url(""));
    let gate = Gate::start(&folder, &line);
    assert!(gate.opening.contains("within p99<100ms"), "{}", gate.opening);
    // Each costs two of seven.
    let statuses: Vec<u16> = (0..5).map(|_| gate.get("/bytes/10", "").status).collect();
    assert_eq!(statuses, [200, 200, 200, 429, 429]);
    let refused = gate.get("/bytes/10", "");
    assert_eq!(refused.json()["code"], "at_load_line");
    assert!(refused.head.contains("Retry-After: "), "{refused:?}");
    let state = gate.admin("GET", "/v1/state", "").json();
    assert_eq!(state["line"]["certified_per_s"], 0.1);
    assert_eq!(state["schema"], "plimsoll.gatestate/1");
    // `--open` and no store: nothing but the load line is in the way.
    assert_eq!(state["keys_asked"], false);
}

#[test]
fn the_admin_api_asks_for_its_token_and_changes_keys_and_configuration() {
    let (folder, target) = (Folder::new(), Target::start());
    let config = format!(
        "[[listen]]\naddress = \"127.0.0.1:0\"\n[[upstream]]\nname = \"api\"\nservers = [\"{}\"]\n[[route]]\nname = \
         \"all\"\nupstream = \"api\"\n",
        target.url("")
    );
    folder.put("gate.toml", &config);
    folder.plimsoll("gate gate.toml --check").ok().prints("the configuration is right");
    let gate = Gate::start(&folder, "gate.toml");
    for path in ["/v1/state", "/v1/keys", "/v1/config", "/metrics", "/v1/changes"] {
        assert_eq!(ask(&gate.admin, "GET", path, "", "").status, 401, "{path}");
        let wrong = format!("Authorization: Bearer {}x\r\n", gate.token);
        assert_eq!(ask(&gate.admin, "GET", path, &wrong, "").status, 401, "{path}");
        assert_eq!(gate.admin("GET", path, "").status, 200, "{path}");
    }
    let page = ask(&gate.admin, "GET", "/", "", "");
    assert!(page.status == 200 && !page.body.contains(&gate.token));
    assert_eq!(gate.get("/v1/state", "").status, 404, "the admin API is on no public listener");

    let made = gate.admin("POST", "/v1/keys", "{\"owner\": \"bo\", \"rate\": \"100/s\"}");
    assert_eq!(made.status, 201, "{made:?}");
    let key = made.json()["key"].as_str().expect("a key").to_owned();
    let with_key = format!("X-API-Key: {key}\r\n");
    soon(|| gate.get("/healthz", "").status == 401);
    assert_eq!(gate.get("/healthz", &with_key).status, 200);
    assert_eq!(gate.admin("POST", "/v1/keys", "{\"rate\": \"fast\"}").status, 422);

    // A bad configuration changes nothing and says why; a good one holds from then on.
    let bad = gate.admin("PUT", "/v1/config", &config.replace("[[route]]", "[[rout]]"));
    assert_eq!(bad.status, 422);
    assert!(
        bad.body.contains("the body: line 6, column 3")
            && bad.body.contains("did you mean `route`?"),
        "{bad:?}"
    );
    assert_eq!(gate.get("/healthz", &with_key).status, 200);
    let narrower = config.clone() + "path = \"/bytes\"\n";
    let placed = gate.admin("PUT", "/v1/config", &narrower);
    assert_eq!(
        (placed.status, placed.json()["waits_for_restart"].to_string().as_str()),
        (200, "[]")
    );
    soon(|| gate.get("/healthz", &with_key).status == 404);
    assert_eq!(gate.get("/bytes/5", &with_key).status, 200);

    // SIGHUP reads the file, which still has the first.
    signal(&gate.child, "HUP");
    soon(|| gate.get("/healthz", &with_key).status == 200);
    assert_eq!(gate.admin("DELETE", "/v1/keys/1", "").status, 204);
    assert_eq!(gate.admin("DELETE", "/v1/keys/1", "").status, 404);
    assert_eq!(gate.get("/healthz", &with_key).status, 403);
    let changes = gate.admin("GET", "/v1/changes", "").body;
    let configuration = ["configuration replaced", "configuration refused: ", "line 6, column 3"];
    for words in ["added", "revoked", "SIGHUP"].into_iter().chain(configuration) {
        assert!(changes.contains(words), "{words}: {changes}");
    }
    assert!(!changes.contains(&key));
    soon(|| {
        let metrics = gate.admin("GET", "/metrics", "").body;
        metrics.contains("plimsoll_gate_refused_total{route=\"all\",why=\"key_missing\"}")
    });
    assert_eq!(gate.get("/a/../b", "").status, 400);
    let metrics = gate.admin("GET", "/metrics", "").body;
    assert!(metrics.contains("\nplimsoll_gate_faults_total{status=\"400\"} 1\n"), "{metrics}");
    soon(|| {
        let metrics = gate.admin("GET", "/metrics", "").body;
        metrics.contains("plimsoll_gate_refused_total{route=\"-\",why=\"invalid\"} 1\n")
    });
    let up = "plimsoll_gate_server_up{upstream=\"api\",server=\"127.0.0.1:";
    let server = metrics.lines().find(|line| line.starts_with(up));
    assert!(server.is_some_and(|line| line.ends_with("\"} 1")), "{metrics}");
}

/// By the keys' numbers, never the keys themselves.
#[test]
fn metrics_count_by_key() {
    let (folder, target) = (Folder::new(), Target::start());
    let gate = Gate::start(&folder, &format!("--listen 127.0.0.1:0 --upstream {}", target.url("")));
    let made = gate.admin("POST", "/v1/keys", "{\"owner\": \"ada\"}");
    let key = made.json()["key"].as_str().expect("a key").to_owned();
    soon(|| gate.get("/healthz", "").status == 401);
    assert_eq!(gate.get("/healthz", &format!("X-API-Key: {key}\r\n")).status, 200);
    let of_key = "\nplimsoll_gate_key_responses_total{key=\"1\",status=\"2xx\"} 1\n";
    let of_none = "plimsoll_gate_key_refused_total{key=\"none\",why=\"key_missing\"} ";
    soon(|| {
        let metrics = gate.admin("GET", "/metrics", "").body;
        assert!(!metrics.contains(&key), "{metrics}");
        metrics.contains(of_key) && metrics.contains(of_none)
    });
}

#[test]
fn the_admin_api_tells_what_it_refuses_as_problems() {
    let (folder, target) = (Folder::new(), Target::start());
    let gate = Gate::start(&folder, &format!("--listen 127.0.0.1:0 --upstream {}", target.url("")));
    assert_eq!(gate.admin("POST", "/v1/keys", "{\"owner\": \"ada\"}").status, 201);
    for (method, path, body, status, words) in [
        ("POST", "/v1/keys/1/rotate?grace=60", "", 400, "expected `grace_s`"),
        ("GET", "/v1/keys?afterr=2", "", 400, "expected `after`"),
        ("GET", "/v1/changes?since=2", "", 400, "expected `after`"),
        ("POST", "/v1/reload?now=1", "", 400, "unknown field `now`"),
        ("DELETE", "/v1/keys/1?grace_s=60", "", 400, "unknown field `grace_s`"),
        ("DELETE", "/v1/keys/ada", "", 400, "`ada` is not the number of a key"),
        ("POST", "/v1/keys/ada/rotate", "", 400, "`ada` is not the number of a key"),
        ("POST", "/v1/keys", "{\"per_day\": \"x\"}", 422, "expected a whole number of 0 or more"),
        ("PATCH", "/v1/keys", "", 405, "the header Allow names"),
        ("GET", "/v1/kyes", "", 404, "no such path"),
        ("POST", "/v1/keys", "", 422, "JSON object"),
        ("POST", "/v1/keys", "[\"mallory\"]", 422, "JSON object"),
        ("POST", "/v1/keys", "[]", 422, "JSON object"),
        ("POST", "/v1/keys", "{\"owner\": ", 400, "not JSON"),
        ("POST", "/v1/keys", "{\"ower\": \"bo\"}", 422, "`owner`"),
        ("POST", "/v1/keys", "{\"burst\": 5}", 422, "a burst belongs to a rate"),
        ("POST", "/v1/keys", "{\"expires_s\": 1000000000}", 422, "has expired"),
        ("POST", "/v1/keys", "{\"expires_s\": 99999999999999}", 422, "before the year 9999"),
        ("POST", "/v1/keys", "{\"per_day\": 18446744073709551615}", 422, "a quota is at most"),
    ] {
        let refused = gate.admin(method, path, body);
        assert_eq!(refused.status, status, "{method} {path}: {refused:?}");
        assert!(refused.head.contains("application/problem+json"), "{method} {path}: {refused:?}");
        let problem = refused.json();
        assert_eq!(problem["status"], status, "{method} {path}");
        let detail = problem["detail"].as_str().expect("a detail");
        assert!(detail.contains(words), "{method} {path}: {detail}");
        assert_eq!(
            refused.head.to_lowercase().contains("\r\nallow: "),
            status == 405,
            "{refused:?}"
        );
    }
    // Nothing of it made, ended or replaced a key, and JSON is read whatever the content type.
    let keys = gate.admin("GET", "/v1/keys", "").json();
    let keys = keys["keys"].as_array().expect("keys");
    assert!(keys.len() == 1 && keys[0]["revoked_s"].is_null(), "{keys:?}");
    assert_eq!(gate.admin("POST", "/v1/keys", " {\"owner\": \"bo\"}").status, 201);
}

/// As long as a file may be, and by a scheme in any case; what cannot be read is told as a problem.
#[test]
fn the_admin_api_takes_what_it_may_be_sent() {
    let (folder, target) = (Folder::new(), Target::start());
    let gate = Gate::start(&folder, &format!("--listen 127.0.0.1:0 --upstream {}", target.url("")));
    let scheme = format!("Authorization: bearer  {}\r\n", gate.token);
    assert_eq!(ask(&gate.admin, "GET", "/v1/state", &scheme, "").status, 200);
    let refused = gate.admin("POST", "/v1/keys", "{\"rate\": \"fast\"}");
    assert_eq!((refused.status, refused.json()["status"].as_u64()), (422, Some(422)));
    let long = format!("# {}\n", "x".repeat(3 << 20));
    assert_eq!(gate.admin("PUT", "/v1/config", &long).status, 200);
}

#[test]
fn an_admin_api_that_other_machines_reach_is_reported() {
    let (folder, target) = (Folder::new(), Target::start());
    for (admin, is_told) in [("127.0.0.1:0", false), ("0.0.0.0:0", true)] {
        let line = format!(
            "gate --listen 127.0.0.1:0 --upstream {} --admin {admin} --workers 1",
            target.url("")
        );
        let gate = Gate::of(&mut folder.command(Path::new(PLIMSOLL), &line));
        let told = gate.opening.contains("other machines can reach the admin API");
        assert_eq!(told, is_told, "{}", gate.opening);
        gate.end();
    }
}

#[test]
fn what_cannot_be_served_is_refused_in_one_line() {
    let folder = Folder::new();
    folder.plimsoll("gate").refuses(2, "a gateway needs --listen and --upstream");
    folder.plimsoll("gate http://127.0.0.1:9/").refuses(2, "--upstream http://127.0.0.1:9/");
    folder
        .plimsoll("gate --listen 127.0.0.1:0 --upstream 127.0.0.1:1")
        .refuses(2, "is a URL such as");
    folder.put("gate.toml", "[[upstream]]\nnme = \"x\"\n");
    folder
        .plimsoll("gate gate.toml")
        .refuses(2, "gate.toml: line 2, column 1: unknown field `nme`: did you mean `name`?");
    folder
        .plimsoll("gate reload")
        .refuses(1, "commands of `plimsoll gate` are keys, usage and export");
    folder.put("capacity.json", "{}");
    folder
        .plimsoll(
            "gate --listen 127.0.0.1:0 --upstream http://127.0.0.1:1 --loadline capacity.json",
        )
        .refuses(2, "capacity.json: is not a load line");
    let mut line: serde_json::Value = serde_json::from_str(&load_line(100.0)).expect("JSON");
    line["saturated"] = serde_json::json!(
        {"concurrency": 10, "requests_per_s": 1e12, "mean_ns": 10_000_000, "held_for_ns": 1_000_000_000}
    );
    folder.put("capacity.json", line.to_string());
    folder
        .plimsoll(
            "gate --listen 127.0.0.1:0 --upstream http://127.0.0.1:1 --loadline capacity.json",
        )
        .refuses(
            2,
            "capacity.json: cannot have been measured: saturated.requests_per_s is 1000000000000.0",
        );
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("its address");
    folder
        .plimsoll(&format!("gate --listen {address} --upstream http://127.0.0.1:1 --open"))
        .refuses(1, &format!("cannot listen on {address}"));
    folder.plimsoll("gate keys revoke 1 --store none.db").refuses(1, "there is no such file");
    folder.plimsoll("gate usage --store none.db").refuses(1, "there is no such file");
    folder
        .plimsoll(
            "gate --listen 127.0.0.1:4 --upstream http://127.0.0.1:5 --store /dev/full --check",
        )
        .refuses(1, "/dev/full: it is not a regular file");
    folder.plimsoll("gate keys add --per-day 0 --store new.db").refuses(2, "a quota is 1 or more");
    assert!(!folder.path().join("new.db").exists());
    folder.plimsoll("gate keys add --store new.db").ok();
    folder.plimsoll("gate usage --store new.db").ok().prints("no gateway has run with this store");
    folder
        .plimsoll("gate keys revoke ada --store new.db")
        .refuses(2, "a key is named by its number, as `plimsoll gate keys list` shows it");
    folder
        .plimsoll("gate keys add --rate banana")
        .refuses(2, "`banana` is not a rate: write 100/s, 30/m or 1000/h");
    folder.plimsoll("gate keys add --rate 0/s").refuses(2, "must be above zero");
    folder.plimsoll("gate keys add --rate -1/s").refuses(2, "`-1/s` is negative");
}
