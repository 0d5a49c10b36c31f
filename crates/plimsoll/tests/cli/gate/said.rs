//! What a gateway says of itself: what waits for a restart, what may not be meant, what goes wrong beside its requests.

use std::fs;
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, UdpSocket};

use super::{Gate, load_line, signal, soon};
use crate::harness::{Folder, Target};

fn config(upstream: &str, more: &str) -> String {
    format!(
        "[[listen]]\naddress = \"127.0.0.1:0\"\n[[upstream]]\nname = \"api\"\nservers = [\"{upstream}\"]\n{more}"
    )
}

#[test]
fn settings_that_wait_for_a_restart_are_named() {
    let (folder, target) = (Folder::new(), Target::start());
    folder.put("gate.toml", config(&target.url(""), ""));
    let gate = Gate::start(&folder, "gate.toml --open");
    let more = "[access_log]\npath = \"access.log\"\n[limits.all]\nconcurrency = 500\n";
    folder.put("gate.toml", config(&target.url(""), more));
    let reloaded = gate.admin("POST", "/v1/reload", "");
    assert_eq!(
        reloaded.json()["waits_for_restart"].to_string(),
        "[\"access_log\"]",
        "{reloaded:?}"
    );
    let state = gate.admin("GET", "/v1/state", "").json();
    assert_eq!(state["configuration"]["waits_for_restart"][0], "access_log");
    folder.put("gate.toml", config(&target.url(""), ""));
    let reloaded = gate.admin("POST", "/v1/reload", "");
    assert_eq!(reloaded.json()["waits_for_restart"].to_string(), "[]");
}

/// Whoever asked for it.
#[test]
fn what_came_of_a_change_is_said() {
    let (folder, target) = (Folder::new(), Target::start());
    let config = config(&target.url(""), "");
    folder.put("gate.toml", &config);
    let mut gate = Gate::start(&folder, "gate.toml");
    assert_eq!(gate.admin("PUT", "/v1/config", "[[upsteam]]\n").status, 422);
    assert_eq!(gate.admin("PUT", "/v1/config", &config).status, 200);
    assert_eq!(gate.admin("POST", "/v1/reload", "").status, 200);
    signal(&gate.child, "HUP");
    soon(|| gate.admin("GET", "/v1/changes", "").body.contains("SIGHUP"));
    let mut stderr = gate.child.stderr.take().expect("its standard error");
    gate.end();
    let mut said = String::new();
    stderr.read_to_string(&mut said).expect("what it said");
    for words in [
        "plimsoll: admin API: nothing was changed: ",
        "plimsoll: admin API: the configuration was replaced and is in force; ",
        "plimsoll: admin API: the configuration was read again and is in force; ",
        "plimsoll: SIGHUP: the configuration was read again and is in force; ",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

/// Whatever is wrong with what a reload reads, the answer says what, that it is not the gateway's fault, and the limits of
/// before hold.
#[test]
fn a_reload_that_is_refused_says_why_and_changes_nothing() {
    let (folder, target) = (Folder::new(), Target::start());
    let tier = "[[tier]]\nname = \"one\"\nrate = \"1/h\"\nburst = 2\n";
    let good = config(&target.url(""), tier);
    folder.put("gate.toml", &good);
    let key = folder.plimsoll("gate keys add --tier one").ok().stdout.trim_end().to_owned();
    let key = format!("X-API-Key: {key}\r\n");
    let gate = Gate::start(&folder, "gate.toml");
    assert_eq!(gate.get("/healthz", &key).status, 200);
    folder.put("line.json", "{}");
    let wrong: [(Vec<u8>, &str); 7] = [
        (format!("{good}x = [").into(), "line 10, column 6: unclosed array"),
        (good.replace("burst", "bursts").into(), "did you mean `burst`?"),
        (good.replace("1/h", "0/h").into(), "a rate must be above zero"),
        (format!("loadline = \"none.json\"\n{good}").into(), "none.json: No such file"),
        (format!("loadline = \"line.json\"\n{good}").into(), "it names no schema"),
        (b"\xff\xfe\x00".to_vec(), "gate.toml: line 1 is not UTF-8 text"),
        (Vec::new(), "there is no upstream"),
    ];
    for (text, why) in wrong {
        folder.put("gate.toml", text);
        let refused = gate.admin("POST", "/v1/reload", "");
        assert_eq!(refused.status, 422, "{why}: {refused:?}");
        assert!(refused.json()["detail"].to_string().contains(why), "{why}: {refused:?}");
    }
    let statuses = [(); 2].map(|()| gate.get("/healthz", &key).status);
    assert_eq!(statuses, [200, 429], "the limit of before, and what was used of it");
    gate.end();
}

/// It was said that no request was counted.
#[test]
fn usage_that_is_reported_elsewhere_is_said_to_be() {
    let (folder, target) = (Folder::new(), Target::start());
    for (place, said) in [
        ("json_lines = \"usage.jsonl\"", "usage.jsonl, and not"),
        ("http = \"http://127.0.0.1:1/usage?token=secret\"", "http://127.0.0.1:1, and not"),
    ] {
        folder.put("gate.toml", config(&target.url(""), &format!("[usage]\n{place}\n")));
        drop(Gate::start(&folder, "gate.toml"));
        let usage = folder.plimsoll("gate usage").ok();
        let line = usage.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(line.contains(said) && !line.contains("secret"), "{line}");
    }
}

#[test]
fn a_check_finds_what_a_start_would() {
    let folder = Folder::new();
    let check = |more: &str| {
        folder.put("gate.toml", config("http://127.0.0.1:1", more));
        folder.plimsoll("gate gate.toml --check")
    };
    check("").ok().prints("the configuration is right");
    assert!(!folder.path().join("plimsoll-gate.db").exists(), "a check makes no store");
    check("[admin]\ntoken_file = \"none\"\n").refuses(1, "none: ");
    check("[access_log]\npath = \"none/access.log\"\n").refuses(1, "none/access.log: its folder");
    let flags = "gate --listen 127.0.0.1:0 --upstream http://127.0.0.1:1 --access-log none/a.log";
    for line in [format!("{flags} --check"), flags.to_owned()] {
        folder.plimsoll(&line).refuses(1, "the access log none/a.log: ");
    }
    check("[usage]\njson_lines = \"none/usage\"\n").refuses(1, "none/usage: its folder");
    folder.put("text.db", "no database, though longer than the header of one would be");
    check("[keys]\nstore = \"text.db\"\n").refuses(1, "text.db: ");
    folder.put("empty.db", "");
    check("[keys]\nstore = \"empty.db\"\n").ok().prints("the configuration is right");
    folder.plimsoll("gate usage --store empty.db").refuses(1, "empty.db: nothing is in it yet");
    folder.plimsoll("gate usage --store .").refuses(1, ".: it is a folder; --store names another");
    // The key was made before a gateway ran.
    folder.plimsoll("gate keys add --tier gold").ok();
    let tiers = "[[tier]]\nname = \"free\"\n";
    check(tiers).ok().prints("1 key is of the tier `gold`, which the configuration does not have");
    folder
        .plimsoll("gate --listen 127.0.0.1:4 --upstream http://127.0.0.1:4 --check")
        .refuses(2, "is the gateway itself");
    // A machine without a network has no other address.
    if let Some(own) = own_address() {
        folder
            .plimsoll(&format!("gate --listen 0.0.0.0:4 --upstream http://{own}:4 --check"))
            .refuses(2, "is the gateway itself");
    }
    folder
        .plimsoll(
            "gate --listen 127.0.0.1:4 --listen 127.0.0.1:4 --upstream http://127.0.0.1:5 --check",
        )
        .refuses(2, "127.0.0.1:4 is listened on twice");
}

/// The address from which this machine would send to another; nothing is sent.
fn own_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9)).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

#[test]
fn tiers_are_those_of_the_gateway_of_the_store() {
    let (folder, target) = (Folder::new(), Target::start());
    let tiers = "[[tier]]\nname = \"free\"\n[[tier]]\nname = \"gold\"\n";
    folder.put("gate.toml", config(&target.url(""), tiers));
    let gate = Gate::start(&folder, "gate.toml");
    folder
        .plimsoll("gate keys add --tier glod")
        .refuses(2, "there is no tier `glod`: did you mean `gold`?");
    let refused = gate.admin("POST", "/v1/keys", "{\"tier\": \"silver\"}");
    assert!(refused.status == 422 && refused.body.contains("free, gold"), "{refused:?}");
    folder
        .plimsoll("gate keys add --route al")
        .refuses(2, "there is no route `al`: did you mean `all`?");
    folder.plimsoll("gate keys add --expires-in 0s").refuses(2, "has expired");
    folder.plimsoll("gate keys add --tier gold").ok();
    folder.put("gate.toml", config(&target.url(""), "[[tier]]\nname = \"free\"\n"));
    let notes = gate.admin("POST", "/v1/reload", "").json()["notes"].to_string();
    assert!(notes.contains("1 key is of the tier `gold`"), "{notes}");
}

#[test]
fn a_load_line_that_was_not_confirmed_or_is_of_another_server_is_reported() {
    let (folder, target) = (Folder::new(), Target::start());
    folder.put(
        "capacity.json",
        load_line(100.0).replace("\"addresses\":[]", "\"addresses\":[\"127.0.0.1:1\"]"),
    );
    let line =
        format!("--listen 127.0.0.1:0 --upstream {} --loadline capacity.json", target.url(""));
    let gate = Gate::start(&folder, &line);
    assert!(gate.opening.contains("the load line was not confirmed"), "{}", gate.opening);
    assert!(gate.opening.contains("no upstream is at that address"), "{}", gate.opening);
    assert_eq!(gate.admin("GET", "/v1/state", "").json()["line"]["confirmed"], false);
}

/// The API is replaced by one that does not have what was measured.
#[test]
fn a_load_line_of_an_api_that_answers_errors_is_reported() {
    let (folder, target) = (Folder::new(), Target::start());
    let answer = "{\"status\":200,\"bytes\":15,\"body_sha256\":\"\",\"seen\":9,\"sampled\":9}";
    folder.put(
        "capacity.json",
        load_line(8000.0).replace("\"answer\":null", &format!("\"answer\":{answer}")),
    );
    let line =
        format!("--listen 127.0.0.1:0 --upstream {} --loadline capacity.json", target.url(""));
    let gate = Gate::start(&folder, &line);
    let troubles = |path: &str| {
        (0..210).for_each(|_| drop(gate.get(path, "")));
        gate.admin("GET", "/v1/state", "").json()["troubles"].to_string()
    };
    assert_eq!(troubles("/healthz"), "[]");
    soon(|| troubles("/gone").contains("such as 404, and 200 was measured"));
    soon(|| troubles("/healthz") == "[]");
}

#[test]
fn a_store_that_is_moved_away_and_back_is_reported() {
    let (folder, target) = (Folder::new(), Target::start());
    let gate = Gate::start(&folder, &format!("--listen 127.0.0.1:0 --upstream {}", target.url("")));
    let troubles = || gate.admin("GET", "/v1/state", "").json()["troubles"].to_string();
    let (here, away) = (folder.path().join("plimsoll-gate.db"), folder.path().join("away.db"));
    fs::rename(&here, &away).expect("moved");
    soon(|| troubles().contains("was removed while the gateway runs"));
    fs::rename(&away, &here).expect("moved back");
    soon(|| troubles() == "[]");
    gate.end();
}

#[test]
fn a_request_that_comes_back_is_refused() {
    let folder = Folder::new();
    // The port is not known before, so the configuration that loops comes later.
    folder.put("gate.toml", config("http://127.0.0.1:1", ""));
    let gate = Gate::start(&folder, "gate.toml --open");
    let looped = config(&format!("http://{}", gate.address), "");
    assert_eq!(gate.admin("PUT", "/v1/config", &looped).status, 200);
    soon(|| gate.get("/", "").status == 508);
    assert_eq!(gate.get("/", "").json()["code"], "loop");
}
