//! What a gateway lives through: files that move, stores that are locked, upstreams that die, changes under load.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::{Gate, PATIENCE, signal, soon};
use crate::harness::{Folder, PLIMSOLL, Target};

/// Asks on one connection until it is told to stop; panics where an answer is not 200.
fn ask_on(address: &str, headers: &str, stop: &AtomicBool, answered: &AtomicU64) {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
    let request = format!("GET /bytes/2 HTTP/1.1\r\nHost: {address}\r\n{headers}\r\n");
    while !stop.load(Ordering::SeqCst) {
        stream.write_all(request.as_bytes()).expect("a request sent");
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).expect("an answer");
            answer.push(byte[0]);
        }
        assert!(answer.starts_with(b"HTTP/1.1 200 OK\r\n"), "{}", answer.escape_ascii());
        stream.read_exact(&mut [0; 2]).expect("its body");
        answered.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn requests_are_logged_in_a_form_that_is_mined() {
    let (folder, target) = (Folder::new(), Target::start());
    let key = folder.plimsoll("gate keys add --owner ada").ok().stdout.trim_end().to_owned();
    let line =
        format!("--listen 127.0.0.1:0 --upstream {} --access-log access.log", target.url(""));
    let gate = Gate::start(&folder, &line);
    for n in 0..40 {
        assert_eq!(gate.get(&format!("/bytes/{n}?user_key={key}&page=1"), "").status, 200);
    }
    assert_eq!(gate.get("/bytes/1", "Referer: http://x/?a=secret\r\n").status, 401);
    // Moved away while it runs, as logrotate does.
    soon(|| folder.text("access.log").lines().count() == 41);
    fs::rename(folder.path().join("access.log"), folder.path().join("access.log.1"))
        .expect("moved");
    signal(&gate.child, "USR1");
    soon(|| folder.path().join("access.log").exists());
    for n in 0..20 {
        assert_eq!(gate.get(&format!("/bytes/{n}"), &format!("X-API-Key: {key}\r\n")).status, 200);
    }
    let metrics = gate.admin("GET", "/metrics", "").body;
    assert!(metrics.contains("plimsoll_gate_log_lines_total{place=\"dropped\"} 0"), "{metrics}");
    gate.end();
    let (first, second) = (folder.text("access.log.1"), folder.text("access.log"));
    assert_eq!((first.lines().count(), second.lines().count()), (41, 20));
    for text in [&first, &second] {
        assert!(!text.contains(&key) && !text.contains("secret"), "{text}");
    }
    assert!(first.contains("\"GET /bytes/7?page=1 HTTP/1.1\" 200 "), "{first}");
    assert!(
        first.contains(" - 1 [") && first.contains("\"GET /bytes/1 HTTP/1.1\" 401 "),
        "{first}"
    );
    let mined =
        folder.plimsoll("mine access.log.1 access.log --with-bots --out mined --format json");
    let mined: serde_json::Value = serde_json::from_str(&mined.ok().stdout).expect("JSON");
    assert!(mined.to_string().contains("combined with the time taken"), "{mined}");
    assert!(folder.text("mined/workload.yaml").contains("/bytes/{"), "its endpoint is found");
}

/// Whose requests were refused, and where.
#[test]
fn refusals_are_logged_with_their_key_and_route() {
    let (folder, target) = (Folder::new(), Target::start());
    let key = folder.plimsoll("gate keys add --rate 1/h").ok().stdout.trim_end().to_owned();
    let config = format!(
        "[[listen]]\naddress = \"127.0.0.1:0\"\n[[upstream]]\nname = \"api\"\nservers = [\"{}\"]\n[[route]]\nname = \
         \"some\"\nupstream = \"api\"\n[access_log]\npath = \"traffic.jsonl\"\nformat = \"json\"\n",
        target.url("")
    );
    folder.put("gate.toml", &config);
    let gate = Gate::start(&folder, "gate.toml");
    let statuses = [key.as_str(), key.as_str(), ""].map(|key| {
        let header = format!("X-API-Key: {key}\r\n");
        gate.get("/healthz", if key.is_empty() { "" } else { &header }).status
    });
    assert_eq!(statuses, [200, 429, 401]);
    gate.end();
    let text = folder.text("traffic.jsonl");
    let logged: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of = |at: usize| ["status", "user", "route"].map(|name| logged[at][name].to_string());
    assert_eq!(of(1), ["429", "\"1\"", "\"some\""]);
    assert_eq!(of(2), ["401", "null", "\"some\""]);
}

/// What was recorded is replayed: the arrivals as they came, by `run`.
#[test]
fn recorded_traffic_is_replayed() {
    let (folder, target) = (Folder::new(), Target::start());
    let config = format!(
        "[[listen]]\naddress = \"127.0.0.1:0\"\n[[upstream]]\nname = \"api\"\nservers = [\"{}\"]\n[access_log]\npath = \
         \"traffic.jsonl\"\nformat = \"json\"\n",
        target.url("")
    );
    folder.put("gate.toml", &config);
    folder.put("wrong.toml", config.clone() + "sample = 2.0\n");
    folder
        .plimsoll("gate wrong.toml --check")
        .refuses(2, "line 9, column 10: a share is from 0 to 1");
    let gate = Gate::start(&folder, "gate.toml");
    for n in 0..30 {
        assert_eq!(gate.get(&format!("/bytes/{n}"), "User-Agent: test\r\n").status, 200);
        thread::sleep(Duration::from_millis(10));
    }
    gate.end();
    for line in folder.text("traffic.jsonl").lines() {
        let entry: serde_json::Value = serde_json::from_str(line).expect("JSON");
        assert_eq!((entry["status"].as_u64(), entry["route"].as_str()), (Some(200), Some("all")));
    }
    let url = target.url("");
    folder.plimsoll(&format!("mine traffic.jsonl --trace --target {url} --out mined")).ok();
    let arrivals = folder.text("mined/arrivals.txt");
    let last: f64 = arrivals.lines().last().expect("a line").parse().expect("seconds");
    assert!(arrivals.lines().count() == 30 && last >= 0.25, "{arrivals}");
    folder.plimsoll("run mined/workload.yaml --out replayed --format json").measured();
    let run: serde_json::Value =
        serde_json::from_str(&folder.text("replayed/run.json")).expect("JSON");
    assert_eq!(run["totals"]["attempts"], 30, "{}", run["totals"]);
}

#[test]
fn an_upstream_that_is_killed_is_missed_and_found_again() {
    let (folder, target) = (Folder::new(), Target::start());
    let gate =
        Gate::start(&folder, &format!("--listen 127.0.0.1:0 --upstream {} --open", target.url("")));
    assert_eq!(gate.get("/healthz", "").status, 200);
    let target = target.pause(|| {
        for _ in 0..10 {
            let answer = gate.get("/healthz", "");
            assert_eq!((answer.status, answer.json()["code"].as_str()), (502, Some("upstream")));
        }
    });
    soon(|| gate.get("/healthz", "").status == 200);
    drop(target);
    let usage = gate.end();
    assert!(!usage.contains("lost"), "{usage}");
}

/// It was said nowhere what went wrong while requests in flight were waited for.
#[test]
fn what_goes_wrong_while_a_gateway_ends_is_logged() {
    let (folder, api) = (Folder::new(), TcpListener::bind("127.0.0.1:0").expect("a port"));
    let upstream = api.local_addr().expect("its address");
    let line = format!("--listen 127.0.0.1:0 --upstream http://{upstream} --open");
    let mut gate = Gate::start(&folder, &line);
    // A POST is not sent again.
    let in_flight = || {
        let mut client = TcpStream::connect(&gate.address).expect("a connection");
        client.set_read_timeout(Some(PATIENCE)).expect("a time-out");
        let request = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";
        client.write_all(request).expect("it is taken");
        let (at_api, _) = api.accept().expect("a connection of the gateway");
        assert!(BufReader::new(&at_api).lines().any(|line| line.expect("its head").is_empty()));
        (client, at_api)
    };
    let ((mut client, mut kept), (_other, lost)) = (in_flight(), in_flight());
    signal(&gate.child, "TERM");
    soon(|| TcpStream::connect(&gate.address).is_err());
    drop(lost);
    let stderr = gate.child.stderr.take().expect("its words");
    let mut lines = BufReader::new(stderr).lines();
    assert!(lines.any(|line| line.is_ok_and(|line| line.ends_with("(1 request)"))));
    kept.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").expect("it is taken");
    let mut status = [0; 12];
    client.read_exact(&mut status).expect("an answer");
    assert_eq!(&status, b"HTTP/1.1 204");
    // Its words are read to the end, so that it is not ended by a closed pipe.
    lines.for_each(drop);
    gate.ended();
}

/// Another process holds the store for seconds: requests of a key go on being answered, and all of them are in the
/// usage afterwards.
#[test]
fn a_locked_store_holds_no_request_and_loses_no_usage() {
    let (folder, target) = (Folder::new(), Target::start());
    let key = folder.plimsoll("gate keys add --owner ada").ok().stdout.trim_end().to_owned();
    let config = format!(
        "[[listen]]\naddress = \"127.0.0.1:0\"\n[[upstream]]\nname = \"api\"\nservers = [\"{}\"]\n[usage]\nevery = \
         \"1s\"\n",
        target.url("")
    );
    folder.put("gate.toml", &config);
    let gate = Gate::start(&folder, "gate.toml");
    let connection =
        rusqlite::Connection::open(folder.path().join("plimsoll-gate.db")).expect("it opens");
    let (stop, answered) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        let headers = format!("X-API-Key: {key}\r\n");
        let (address, stop, answered) = (&gate.address, &stop, &answered);
        scope.spawn(move || ask_on(address, &headers, stop, answered));
        connection.execute_batch("BEGIN IMMEDIATE").expect("the store is ours");
        for _ in 0..6 {
            let before = answered.load(Ordering::SeqCst);
            thread::sleep(Duration::from_secs(1));
            assert!(answered.load(Ordering::SeqCst) > before, "nobody is answered meanwhile");
        }
        folder.plimsoll("gate usage").ok().prints("every few seconds");
        folder.plimsoll("gate keys list").ok().prints("ada");
        connection.execute_batch("COMMIT").expect("the store is given back");
        stop.store(true, Ordering::SeqCst);
    });
    let last = gate.end();
    assert!(!last.contains("lost"), "{last}");
    let usage = folder.plimsoll("gate usage --format json").ok().stdout;
    let usage: serde_json::Value = serde_json::from_str(&usage).expect("JSON");
    assert_eq!(usage["rows"][0]["forwarded"], answered.load(Ordering::SeqCst), "{usage}");
}

/// What was reported of usage is nothing by then.
#[test]
fn a_killed_gateway_lets_nothing_of_a_small_quota_through_again() {
    let (folder, target) = (Folder::new(), Target::start());
    let key = folder.plimsoll("gate keys add --per-day 30").ok().stdout.trim_end().to_owned();
    let config = format!(
        "[[listen]]\naddress = \"127.0.0.1:0\"\n[[upstream]]\nname = \"api\"\nservers = [\"{}\"]\n[usage]\nevery = \
         \"1h\"\n",
        target.url("")
    );
    folder.put("gate.toml", &config);
    let header = format!("X-API-Key: {key}\r\n");
    let ask = |gate: &Gate| gate.get("/healthz", &header).status == 200;
    let gate = Gate::start(&folder, "gate.toml");
    // The first batch of usage is reported at once.
    thread::sleep(Duration::from_millis(300));
    assert!((0..20).all(|_| ask(&gate)));
    soon(|| {
        let file = rusqlite::Connection::open(folder.path().join("plimsoll-gate.db"));
        let most = "SELECT max(of_day) FROM quota_reached";
        file.expect("it opens").query_row(most, [], |row| row.get(0)) == Ok(Some(20))
    });
    // SIGKILL.
    drop(gate);
    let gate = Gate::start(&folder, "gate.toml");
    assert_eq!((0..30).take_while(|_| ask(&gate)).count(), 10);
    gate.end();
}

#[test]
fn no_request_fails_while_the_configuration_is_changed() {
    let (folder, targets) = (Folder::new(), [Target::start(), Target::start()]);
    let config = |n: usize| {
        format!(
            "[[listen]]\naddress = \"127.0.0.1:0\"\n[[upstream]]\nname = \"api{n}\"\nservers = \
             [\"{}\"]\n[[route]]\nname = \"all\"\nupstream = \"api{n}\"\n",
            targets[n].url("")
        )
    };
    folder.put("gate.toml", config(0));
    let gate = Gate::start(&folder, "gate.toml --open");
    let (stop, answered) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            let (address, stop, answered) = (&gate.address, &stop, &answered);
            scope.spawn(move || ask_on(address, "", stop, answered));
        }
        for round in 0..20 {
            let before = answered.load(Ordering::SeqCst);
            if round % 2 == 0 {
                assert_eq!(gate.admin("PUT", "/v1/config", &config(1)).status, 200);
            } else {
                signal(&gate.child, "HUP");
            }
            soon(|| answered.load(Ordering::SeqCst) > before + 20);
        }
        stop.store(true, Ordering::SeqCst);
    });
    let state = gate.admin("GET", "/v1/state", "").json();
    assert_eq!(state["servers"].as_array().map(Vec::len), Some(1), "{state}");
    gate.end();
}

#[test]
fn a_watched_file_is_read_again_when_it_changes() {
    let (folder, target) = (Folder::new(), Target::start());
    let config = |path: &str| {
        format!(
            "[[listen]]\naddress = \"127.0.0.1:0\"\n[[upstream]]\nname = \"api\"\nservers = \
             [\"{}\"]\n[[route]]\nname = \"all\"\npath = \"{path}\"\nupstream = \"api\"\n",
            target.url("")
        )
    };
    folder.put("gate.toml", config("/healthz"));
    let gate = Gate::start(&folder, "gate.toml --open --watch");
    assert_eq!((gate.get("/healthz", "").status, gate.get("/bytes/1", "").status), (200, 404));
    folder.put("gate.toml", "[[rout]]\n");
    thread::sleep(Duration::from_secs(3));
    assert_eq!(gate.get("/healthz", "").status, 200, "what is wrong changes nothing");
    folder.put("gate.toml", config("/bytes"));
    soon(|| gate.get("/bytes/1", "").status == 200);
    assert_eq!(gate.get("/healthz", "").status, 404);
    gate.end();
}

/// A later gateway in the place of the one that runs, twice: clients that ask all the time notice nothing.
#[test]
fn a_gateway_is_taken_over_without_a_failed_request() {
    let (folder, target) = (Folder::new(), Target::start());
    let line = |address: &str| format!("--listen {address} --upstream {} --open", target.url(""));
    folder
        .plimsoll(&format!("gate {} --take-over", line("127.0.0.1:1")))
        .refuses(1, "no gateway of this store and address gives its listeners away");
    let mut gate = Gate::start(&folder, &line("127.0.0.1:0"));
    let address = gate.address.clone();
    let (stop, answered) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            let (address, stop, answered) = (&address, &stop, &answered);
            scope.spawn(move || {
                while !stop.load(Ordering::SeqCst) {
                    // A connection for each: none may be refused or reset.
                    assert_eq!(super::ask(address, "GET", "/bytes/2", "", "").status, 200);
                    answered.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        for _ in 0..3 {
            let line = format!("{} --take-over", line(&address));
            let later = Gate::start(&folder, &line);
            assert_eq!(later.address, address);
            let earlier = std::mem::replace(&mut gate, later);
            assert!(earlier.ended().contains("requests answered"));
            let before = answered.load(Ordering::SeqCst);
            soon(|| answered.load(Ordering::SeqCst) > before + 50);
        }
        stop.store(true, Ordering::SeqCst);
    });
    gate.end();
}

/// Idle clients kept all files, and others waited until these had been idle for 75 s; nothing was said.
#[test]
fn clients_that_are_idle_give_their_files_to_others() {
    let (folder, target) = (Folder::new(), Target::start());
    let line = format!(
        "gate --listen 127.0.0.1:0 --upstream {} --admin 127.0.0.1:0 --workers 1",
        target.url("")
    );
    let mut limited = folder.command(Path::new("bash"), "");
    limited.args(["-c", &format!("ulimit -n 64; exec {PLIMSOLL} {line}")]);
    let mut gate = Gate::of(&mut limited);
    let ask = |stream: &mut TcpStream| {
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n").expect("it is taken");
        let mut came = Vec::new();
        while !came.ends_with(b"}") {
            let mut byte = [0];
            stream.read_exact(&mut byte).expect("an answer");
            came.push(byte[0]);
        }
    };
    let client = || {
        let mut stream = TcpStream::connect(&gate.address).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
        ask(&mut stream);
        stream
    };
    let mut clients: Vec<TcpStream> = (0..60).map(|_| client()).collect();
    ask(clients.last_mut().expect("the last"));
    let stderr = gate.child.stderr.take().expect("its words");
    let mut lines = BufReader::new(stderr).lines();
    assert!(lines.any(|line| line.is_ok_and(|line| line.contains("for want of files"))));
    gate.end();
}

/// A request that found no file left for its connection to the API failed, while idle clients kept theirs.
#[test]
fn clients_that_are_idle_give_their_files_to_connections_to_the_api() {
    const FILES: usize = 64;
    for io in ["epoll", "auto"] {
        let (folder, target) = (Folder::new(), Target::start());
        let line = format!(
            "gate --listen 127.0.0.1:0 --upstream {} --admin 127.0.0.1:0 --workers 1 --io {io}",
            target.url("")
        );
        let mut limited = folder.command(Path::new("bash"), "");
        limited.args(["-c", &format!("ulimit -n {FILES}; exec {PLIMSOLL} {line}")]);
        let gate = Gate::of(&mut limited);
        let open = || fs::read_dir(format!("/proc/{}/fd", gate.child.id())).expect("it runs");
        let send = |stream: &mut TcpStream, path: &str| {
            let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n");
            stream.write_all(request.as_bytes()).expect("it is taken");
        };
        let receive = |stream: &mut TcpStream| {
            let mut came = Vec::new();
            while !came.ends_with(b"}") && !came.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).expect("an answer");
                came.push(byte[0]);
            }
            String::from_utf8_lossy(&came).into_owned()
        };
        let mut clients = Vec::new();
        while open().count() < FILES {
            let mut stream = TcpStream::connect(&gate.address).expect("a connection");
            stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
            send(&mut stream, "/healthz");
            while !receive(&mut stream).ends_with('}') {}
            clients.push(stream);
        }
        // Whoever pauses for less keeps its own.
        thread::sleep(Duration::from_millis(1200));
        // One connection to the API is there; the second has to be made.
        let asking = clients.len() - 2;
        for stream in &mut clients[asking..] {
            send(stream, "/delay/300ms");
        }
        for stream in &mut clients[asking..] {
            let head = receive(stream);
            assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{io}: {head}");
        }
        gate.end();
    }
}
