//! Whole gateways, from a configuration file: keys, reloads, usage.

#[path = "../path/certificate.rs"]
mod certificate;
#[path = "../path/harness.rs"]
#[expect(dead_code, reason = "it is shared with the tests of the data path")]
mod harness;
mod renewed;
mod standing_still;

use std::fs;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use gate::gateway::{Gateway, GatewayError, Setup};
use gate::keys::{NewKey, Stamp, Store};
use gate::policy::{Decision, Facts, Outcome, Policy};
use gate::usage::{Local, Period, used_by_key};
use tempfile::TempDir;
use testkit::peer::{Peer, RawClient, Step};
use testkit::ports::reserved;
use wire::ResponseTo;

use harness::{answers, api};

const STAMP: Stamp = Stamp { at_s: 1, by: "test" };
const EVER: Period = Period { from_s: 0, to_s: i64::MAX };

/// A configuration with its store in a folder, and further lines.
fn text(folder: &TempDir, upstream: SocketAddr, more: &str) -> String {
    let store = folder.path().join("gate.db");
    format!(
        "workers = 1\n[[listen]]\naddress = \"127.0.0.1:0\"\n[[upstream]]\nname = \"api\"\nservers = \
         [\"http://{upstream}\"]\n[keys]\nstore = \"{}\"\n{more}",
        store.display()
    )
}

fn start(folder: &TempDir, text: &str) -> Gateway {
    let file = folder.path().join("gate.toml");
    fs::write(&file, text).expect("the file is written");
    Gateway::start(Setup { file: Some(file), ..Setup::default() }).expect("the gateway starts")
}

/// Starts a gateway with the same configuration, which is to take the running one over.
fn take_over(folder: &TempDir) -> Result<Gateway, GatewayError> {
    let file = Some(folder.path().join("gate.toml"));
    Gateway::start(Setup { file, take_over: true, ..Setup::default() })
}

fn store(folder: &TempDir) -> Store {
    Store::open(&folder.path().join("gate.db")).expect("the store opens")
}

/// The status of one request, with a key where there is one.
fn status(gateway: &Gateway, key: Option<&str>) -> u16 {
    let mut client = RawClient::connect(gateway.addresses()[0]);
    let key = key.map_or(String::new(), |key| format!("X-API-Key: {key}\r\n"));
    client.send(format!("GET /healthz HTTP/1.1\r\nHost: a\r\n{key}\r\n").as_bytes());
    client.half_close();
    let (came, _) = client.receive_all(Duration::from_secs(60));
    answers(&came, ResponseTo::Other)[0].status
}

/// How many requests of today the first key's quota counts.
fn used(gateway: &Gateway) -> u64 {
    let state = gateway.control().state();
    state.keys.entry(0).day.used(state.calendar.day())
}

/// Whether usage was collected for the first time, and so reported, which is not done again before its time.
fn collects(gateway: &Gateway) -> bool {
    gateway.control().usage().read(|snapshot| !snapshot.seconds.is_empty())
}

/// A tier whose keys have so many requests a day.
fn quota(day: u32) -> String {
    format!("[[tier]]\nname = \"some\"\nper_day = {day}\n")
}

fn key(folder: &TempDir) -> String {
    store(folder).add(&NewKey::default(), &STAMP).expect("a key").0
}

/// Whether something comes to be within a minute.
fn soon(mut is: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(60);
    while Instant::now() < until {
        if is() {
            return true;
        }
        thread::sleep(Duration::from_millis(20));
    }
    false
}

#[test]
fn a_reload_that_cannot_be_noted_changes_nothing() {
    let (folder, api) = (TempDir::new().expect("a folder"), api());
    let before = text(&folder, api.addr(), "");
    let gateway = start(&folder, &before);
    let file = rusqlite::Connection::open(folder.path().join("gate.db")).expect("the file");
    file.execute_batch("DROP TABLE changes").expect("it is damaged");
    let after =
        text(&folder, api.addr(), "[[route]]\nname = \"new\"\npath = \"/\"\nupstream = \"api\"\n");
    let refused = gateway.control().replace(&after, "test");
    assert!(matches!(refused, Err(GatewayError::Store(_))), "{refused:?}");
    let routes: Vec<String> =
        gateway.control().policy().routes().map(|route| route.name.clone()).collect();
    assert_eq!((gateway.control().text(), routes), (before, vec!["all".to_owned()]));
}

/// What the audit log says of the configuration, and by whom.
fn noted(gateway: &Gateway) -> Vec<(String, String)> {
    let changes = gateway.control().with_store(|store| store.changes_after(0, 100));
    let changes = changes.expect("the store is read").into_iter();
    changes.map(|change| (change.by, change.what)).collect()
}

/// Against what ran last: be that from the file, or put in its place while the gateway ran.
#[test]
fn a_start_with_another_configuration_is_in_the_audit_log() {
    let (folder, api) = (TempDir::new().expect("a folder"), api());
    let three =
        text(&folder, api.addr(), &quota(3)).replace("127.0.0.1:0", &reserved().to_string());
    let said = |by: &str, what: &str| (by.to_owned(), what.to_owned());
    let mut expected: Vec<(String, String)> = Vec::new();
    let gateway = start(&folder, &three);
    assert_eq!(noted(&gateway), expected, "nothing ran before");
    assert_eq!(gateway.drain(), Vec::<String>::new());
    let gateway = start(&folder, &three);
    assert_eq!(noted(&gateway), expected, "nothing differs");
    let fewer = three.replace("per_day = 3", "per_day = 2");
    gateway.control().replace(&fewer, "test").expect("it is replaced");
    gateway.control().replace(&fewer, "test").expect("it is replaced");
    expected.push(said("test", "configuration replaced: changed tier.some.per_day"));
    expected.push(said("test", "configuration replaced: no setting differs"));
    assert_eq!(noted(&gateway), expected);
    assert_eq!(gateway.drain(), Vec::<String>::new());
    let gateway = start(&folder, &three);
    expected.push(said("start", "started with another configuration: changed tier.some.per_day"));
    assert_eq!(noted(&gateway), expected);
    let monthly = three.replace("per_day", "per_month");
    fs::write(folder.path().join("gate.toml"), monthly).expect("written");
    let later = take_over(&folder).expect("it takes over");
    let told = "added tier.some.per_month; removed tier.some.per_day";
    expected.push(said("take-over", &format!("started with another configuration: {told}")));
    assert_eq!(noted(&later), expected);
    assert!(soon(|| gateway.is_replaced()));
    assert_eq!(gateway.drain(), Vec::<String>::new());
}

#[test]
fn usage_is_read_at_the_start_where_there_are_quotas_alone() {
    let (folder, api) = (TempDir::new().expect("a folder"), api());
    drop(store(&folder));
    let file = rusqlite::Connection::open(folder.path().join("gate.db")).expect("the file");
    // Whoever reads it fails.
    file.execute_batch("CREATE TABLE quota_used (x)").expect("a table");
    let plain = text(&folder, api.addr(), "");
    let gateway = start(&folder, &plain);
    let limited = text(&folder, api.addr(), &quota(3));
    gateway.control().replace(&limited, "test").expect_err("usage cannot be read");
    assert_eq!(gateway.control().text(), plain);
}

#[test]
fn quotas_outlive_a_restart_whatever_usage_is_written_to() {
    for sink in ["", "[usage]\njson_lines = \"USAGE\"\n"] {
        let (folder, api) = (TempDir::new().expect("a folder"), api());
        let key = key(&folder);
        let lines = folder.path().join("usage.jsonl");
        let sink = sink.replace("USAGE", &lines.display().to_string());
        let text = text(&folder, api.addr(), &format!("{sink}{}", quota(3)));
        let gateway = start(&folder, &text);
        assert_eq!([0; 2].map(|_| status(&gateway, Some(&key))), [200, 200]);
        assert_eq!(gateway.drain(), Vec::<String>::new());
        let gateway = start(&folder, &text);
        assert_eq!([0; 2].map(|_| status(&gateway, Some(&key))), [200, 429], "{sink}");
    }
}

/// Those of a route, and of all requests together, whoever asks.
#[test]
fn quotas_of_routes_and_of_all_outlive_a_restart() {
    let route = "[[route]]\nname = \"some\"\nupstream = \"api\"\nlimits = { per_month = 3 }\n";
    let all = "[limits]\nall = { per_day = 3 }\n";
    for sink in ["", "[usage]\njson_lines = \"USAGE\"\n"] {
        for limits in [route, all] {
            let (folder, api) = (TempDir::new().expect("a folder"), api());
            let lines = folder.path().join("usage.jsonl");
            let sink = sink.replace("USAGE", &lines.display().to_string());
            let text = text(&folder, api.addr(), &format!("{sink}{limits}"));
            let gateway = start(&folder, &text);
            assert_eq!([0; 2].map(|_| status(&gateway, None)), [200, 200]);
            assert_eq!(gateway.drain(), Vec::<String>::new());
            let gateway = start(&folder, &text);
            assert_eq!([0; 2].map(|_| status(&gateway, None)), [200, 429], "{sink}{limits}");
        }
    }
}

/// By a clock that was far ahead for a while, and is set right by the next look at it. A count is of one day alone.
#[test]
fn a_day_that_begins_again_goes_on_with_what_was_used() {
    let (folder, api) = (TempDir::new().expect("a folder"), api());
    let key = key(&folder);
    let text = text(&folder, api.addr(), &format!("{}[usage]\nevery = \"1s\"\n", quota(3)));
    let gateway = start(&folder, &text);
    assert_eq!([0; 2].map(|_| status(&gateway, Some(&key))), [200, 200]);
    let store = folder.path().join("gate.db");
    assert!(soon(|| used_by_key(&store, EVER).expect("it is read").get(&1) == Some(&2)));
    let state = gateway.control().state();
    let (today, count) = (state.calendar.day(), &state.keys.entry(0).day);
    assert_eq!(count.take(9, today + 5), Some(8));
    assert_eq!(count.used(today), 0);
    state.calendar.set(state.calendar.unix_s() + 5 * 86_400);
    assert!(soon(|| count.used(today) == 2));
    assert_eq!([0; 2].map(|_| status(&gateway, Some(&key))), [200, 429]);
}

/// How far a quota is used, as it was written beside the reports of usage.
fn written(folder: &TempDir) -> i64 {
    let file = rusqlite::Connection::open(folder.path().join("gate.db")).expect("the file");
    let most = "SELECT coalesce(max(max(of_day, of_month)), 0) FROM quota_reached";
    file.query_row(most, [], |row| row.get(0)).unwrap_or(0)
}

/// What a gateway leaves behind that is killed is what a copy of its files holds. Nothing of its usage was reported.
#[test]
fn a_gateway_that_is_killed_gives_nothing_of_a_small_quota_again() {
    let route = "[[route]]\nname = \"some\"\nupstream = \"api\"\nlimits = { per_month = 9 }\n";
    let all = "[limits]\nall = { per_day = 9 }\n";
    for limits in [quota(9), route.to_owned(), all.to_owned()] {
        let (folder, api) = (TempDir::new().expect("a folder"), api());
        let key = limits.contains("tier").then(|| key(&folder));
        let text = |folder: &TempDir| {
            text(folder, api.addr(), &format!("[usage]\nevery = \"1h\"\n{limits}"))
        };
        let gateway = start(&folder, &text(&folder));
        assert!(soon(|| collects(&gateway)));
        assert_eq!([0; 6].map(|_| status(&gateway, key.as_deref())), [200; 6]);
        assert!(soon(|| written(&folder) >= 6), "{limits}");
        let killed = TempDir::new().expect("a folder");
        for name in ["gate.db", "gate.db-wal"] {
            fs::copy(folder.path().join(name), killed.path().join(name)).expect("it is copied");
        }
        let gateway = start(&killed, &text(&killed));
        let after = [0; 4].map(|_| status(&gateway, key.as_deref()));
        assert_eq!(after, [200, 200, 200, 429], "{limits}");
    }
}

/// What the earlier gateway let through and had not reported counts once it has ended.
#[test]
fn quotas_outlive_a_gateway_that_is_taken_over() {
    let (folder, api) = (TempDir::new().expect("a folder"), api());
    let key = key(&folder);
    let text = text(&folder, api.addr(), &quota(3)).replace("127.0.0.1:0", &reserved().to_string());
    let earlier = start(&folder, &text);
    assert_eq!([0; 2].map(|_| status(&earlier, Some(&key))), [200, 200]);
    let later = take_over(&folder).expect("it takes over");
    assert!(soon(|| earlier.is_replaced()));
    assert_eq!(earlier.drain(), Vec::<String>::new());
    assert!(soon(|| used(&later) == 2), "{}", used(&later));
    assert_eq!([0; 2].map(|_| status(&later, Some(&key))), [200, 429]);
}

#[test]
fn where_keys_are_required_an_empty_store_lets_nobody_through() {
    let (folder, api) = (TempDir::new().expect("a folder"), api());
    fs::write(folder.path().join("gate.db"), "").expect("an empty store");
    let gateway = start(&folder, &text(&folder, api.addr(), "required = true\n"));
    assert_eq!([None, Some("plk_0")].map(|key| status(&gateway, key)), [401, 403]);
    let key = key(&folder);
    assert!(soon(|| status(&gateway, Some(&key)) == 200));
    let both = text(&folder, api.addr(), "required = true\nopen = true\n");
    let refused = gateway.control().replace(&both, "test").expect_err("they contradict");
    assert!(refused.to_string().contains("contradict each other"), "{refused}");
    gateway.control().replace(&text(&folder, api.addr(), "open = true\n"), "test").expect("open");
    assert!(soon(|| status(&gateway, None) == 200));
}

#[test]
fn another_gateway_of_the_store_is_reported() {
    let (folder, api) = (TempDir::new().expect("a folder"), api());
    let text = text(&folder, api.addr(), "");
    let one = start(&folder, &text);
    let said = |gateway: &Gateway| {
        gateway.control().troubles().standing().iter().any(|why| why.contains("another gateway"))
    };
    assert!(!said(&one));
    let other = start(&folder, &text);
    assert!(said(&other), "at once");
    assert!(soon(|| said(&one)));
    assert_eq!(other.drain(), Vec::<String>::new());
    assert!(soon(|| !said(&one)));
}

/// A later gateway may listen elsewhere too, and leave an address: who is connected there is served to the end.
#[test]
fn a_later_gateway_has_listeners_of_its_own() {
    let (folder, api) = (TempDir::new().expect("a folder"), api());
    let [kept, left, new, admin, other_admin] = [0; 5].map(|_| reserved().to_string());
    let text = |addresses: &[&String], admin: &str| {
        let also = |address: &&String| format!("[[listen]]\naddress = \"{address}\"\n");
        let more: String = addresses[1..].iter().map(also).collect();
        text(&folder, api.addr(), &format!("{more}[admin]\naddress = \"{admin}\"\n"))
            .replace("127.0.0.1:0", addresses[0])
    };
    let earlier = start(&folder, &text(&[&kept, &left], &admin));
    let mut slow = RawClient::connect(left.parse().expect("an address"));
    slow.send(b"GET /delay/1s HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(soon(|| earlier.control().state().ceiling.in_flight() > 0.0));
    fs::write(folder.path().join("gate.toml"), text(&[&kept, &new], &other_admin))
        .expect("written");
    let later = take_over(&folder).expect("it takes over");
    assert!(soon(|| earlier.is_replaced()));
    assert_eq!(earlier.drain(), Vec::<String>::new());
    assert!(slow.receive_until(b"\r\n\r\n").starts_with(b"HTTP/1.1 200 "));
    let at = |address: &String| address.parse::<SocketAddr>().expect("an address");
    assert_eq!(later.addresses(), [at(&kept), at(&new)]);
    assert_eq!(later.admin_address(), Some(at(&other_admin)));
    for address in [&kept, &new, &other_admin] {
        RawClient::connect(at(address)).send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    std::net::TcpStream::connect(&left).expect_err("nobody listens there");
    assert_eq!(status(&later, None), 200);
}

/// It said of another number of threads that it waits for a restart, and after the restart nothing.
#[test]
fn threads_that_a_take_over_keeps_are_said_to_be_others_than_asked_for() {
    let (folder, api) = (TempDir::new().expect("a folder"), api());
    let one = text(&folder, api.addr(), "").replace("127.0.0.1:0", &reserved().to_string());
    let two = one.replace("workers = 1", "workers = 2");
    let earlier = start(&folder, &one);
    let waits = |gateway: &Gateway, text: &str| {
        gateway.control().replace(text, "test").expect("it reloads").waits_for_restart
    };
    assert_eq!(waits(&earlier, &two), ["workers"]);
    fs::write(folder.path().join("gate.toml"), &two).expect("written");
    let later = take_over(&folder).expect("it takes over");
    assert!(soon(|| earlier.is_replaced()));
    assert_eq!(earlier.drain(), Vec::<String>::new());
    let outcome = later.control().outcome();
    assert_eq!((later.workers(), outcome.waits_for_restart), (1, vec!["workers"]));
    let said = outcome.notes.iter().any(|note| note.contains("1, as the gateway had"));
    assert!(said, "{:?}", outcome.notes);
    assert_eq!(waits(&later, &two), ["workers"], "nor does a reload change it");
    assert_eq!(waits(&later, &one), Vec::<&str>::new());
}

/// The gateway in the middle is taken over while the first still answers a request: the last one counts that too.
#[test]
fn quotas_outlive_two_take_overs_within_a_drain() {
    let (folder, api) = (TempDir::new().expect("a folder"), api());
    let key = key(&folder);
    let text = text(&folder, api.addr(), &quota(3)).replace("127.0.0.1:0", &reserved().to_string());
    let first = start(&folder, &text);
    let mut slow = RawClient::connect(first.addresses()[0]);
    let long = format!("GET /delay/3s HTTP/1.1\r\nHost: a\r\nX-API-Key: {key}\r\n\r\n");
    slow.send(long.as_bytes());
    let in_flight = |gateway: &Gateway| gateway.control().state().ceiling.in_flight() > 0.0;
    assert!(soon(|| in_flight(&first)));
    let second = take_over(&folder).expect("it takes over");
    assert!(soon(|| first.is_replaced()));
    let draining = thread::spawn(|| first.drain());
    let third = take_over(&folder).expect("it takes over");
    assert!(soon(|| second.is_replaced()));
    assert_eq!(second.drain(), Vec::<String>::new());
    assert_eq!(draining.join().expect("it ends"), Vec::<String>::new());
    assert!(slow.receive_until(b"\r\n\r\n").starts_with(b"HTTP/1.1 200 "));
    assert!(soon(|| used(&third) == 1), "{}", used(&third));
    assert_eq!([0; 3].map(|_| status(&third, Some(&key))), [200, 200, 429]);
}

/// While the earlier gateway still ends, the later one reports, and writes how far quotas are used: killed then, it gives
/// nothing of that again. What the earlier one let through counts once that has ended, and what the later one reported once.
#[test]
fn a_later_gateway_reports_while_the_earlier_one_ends() {
    for every in ["1s", "1h"] {
        later_and_earlier(every);
    }
}

fn later_and_earlier(every: &str) {
    let (folder, api) = (TempDir::new().expect("a folder"), api());
    let key = key(&folder);
    let more = format!("[usage]\nevery = \"{every}\"\n[client]\nbody_rate = 0\n{}", quota(4));
    let text_of = |folder: &TempDir| text(folder, api.addr(), &more);
    let earlier = start(&folder, &text_of(&folder).replace("127.0.0.1:0", &reserved().to_string()));
    let mut slow = RawClient::connect(earlier.addresses()[0]);
    let head =
        format!("POST /echo HTTP/1.1\r\nHost: a\r\nX-API-Key: {key}\r\nContent-Length: 2\r\n\r\n");
    slow.send(head.as_bytes());
    assert!(soon(|| earlier.control().state().ceiling.in_flight() > 0.0));
    let later = take_over(&folder).expect("it takes over");
    assert!(soon(|| earlier.is_replaced()));
    let draining = thread::spawn(|| earlier.drain());
    assert!(soon(|| collects(&later)));
    assert_eq!([0; 2].map(|_| status(&later, Some(&key))), [200; 2]);
    let store = folder.path().join("gate.db");
    let reported = || used_by_key(&store, EVER).expect("it is read").get(&1).copied();
    let expected = (every == "1s").then_some(2);
    assert!(soon(|| written(&folder) == 2 && reported() == expected), "{every}");
    let killed = TempDir::new().expect("a folder");
    for name in ["gate.db", "gate.db-wal"] {
        fs::copy(folder.path().join(name), killed.path().join(name)).expect("it is copied");
    }
    let after = start(&killed, &text_of(&killed));
    assert_eq!([0; 3].map(|_| status(&after, Some(&key))), [200, 200, 429], "{every}");
    slow.send(b"hi");
    assert!(slow.receive_until(b"\r\n\r\n").starts_with(b"HTTP/1.1 200 "));
    assert_eq!(draining.join().expect("it ends"), Vec::<String>::new());
    assert!(soon(|| used(&later) == 3), "{every}: {}", used(&later));
    assert_eq!([0; 2].map(|_| status(&later, Some(&key))), [200, 429], "{every}");
}

/// A new key is no new quota, neither at once nor after a restart.
#[test]
fn a_rotated_key_goes_on_with_what_was_used() {
    let (folder, api) = (TempDir::new().expect("a folder"), api());
    let first = key(&folder);
    let text = text(&folder, api.addr(), &quota(4));
    let gateway = start(&folder, &text);
    assert_eq!([0; 2].map(|_| status(&gateway, Some(&first))), [200, 200]);
    let (second, id) = gateway.control().rotate_key(1, 0, "test").expect("it is rotated");
    assert_eq!([&first, &second].map(|key| status(&gateway, Some(key))), [403, 200]);
    // By another process, which does not know what was not reported.
    let (third, _) = store(&folder).rotate(id, 0, &STAMP).expect("it is rotated");
    gateway.control().follow_store().expect("it is read");
    assert_eq!([&second, &third].map(|key| status(&gateway, Some(key))), [403, 200]);
    assert_eq!(status(&gateway, Some(&third)), 429);
    assert_eq!(gateway.drain(), Vec::<String>::new());
    let gateway = start(&folder, &text);
    assert_eq!(status(&gateway, Some(&third)), 429);
}

/// Keys of a tier that had no quota when the gateway began, and has one later.
#[test]
fn a_quota_that_a_reload_brings_counts_what_was_used_before() {
    let (folder, api) = (TempDir::new().expect("a folder"), api());
    let key = key(&folder);
    let tiers = |quota: &str| {
        let other = "[[tier]]\nname = \"other\"\nper_day = 9\n[usage]\nevery = \"1s\"\n";
        text(&folder, api.addr(), &format!("[[tier]]\nname = \"some\"\n{quota}{other}"))
    };
    let gateway = start(&folder, &tiers(""));
    assert_eq!([0; 2].map(|_| status(&gateway, Some(&key))), [200, 200]);
    let store = folder.path().join("gate.db");
    assert!(soon(|| used_by_key(&store, EVER).expect("it is read").get(&1) == Some(&2)));
    gateway.control().replace(&tiers("per_day = 3\n"), "test").expect("it is reloaded");
    assert!(soon(|| gateway.control().policy().asks_for_keys()));
    // Until the worker has looked for it too.
    thread::sleep(Duration::from_secs(1));
    assert_eq!([0; 2].map(|_| status(&gateway, Some(&key))), [200, 429]);
}

/// A request as a worker decides it that still goes by this policy; whether it is let through.
fn passes(policy: &Policy, key: &str) -> bool {
    let mut usage = Local::new(Arc::clone(&policy.state().usage));
    let facts = Facts {
        method: b"GET",
        host: b"a",
        path: b"/",
        cut: None,
        key: Some(key.as_bytes()),
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        body_bytes: Some(0),
    };
    let now_ns = net::clock::now();
    let Decision::Forward(ticket) = policy.decide(&facts, now_ns, &mut usage) else { return false };
    let (status, bytes_in, bytes_out, latency_ns, upstream_ns) = (200, 1, 1, 1, 1);
    let outcome = Outcome {
        status,
        bytes_in,
        bytes_out,
        latency_ns,
        upstream_ns,
        waited_ns: 0,
        upstream_failed: false,
    };
    policy.finish(&ticket, &outcome, now_ns, &mut usage);
    true
}

/// A rate is lowered and raised again before a worker has looked for either.
#[test]
fn a_rate_that_was_raised_keeps_nobody_waiting_for_what_a_late_worker_took() {
    let (folder, api) = (TempDir::new().expect("a folder"), api());
    let key = key(&folder);
    let rate = |rate: &str, burst: u32| {
        let tier = format!("[[tier]]\nname = \"some\"\nrate = \"{rate}\"\nburst = {burst}\n");
        text(&folder, api.addr(), &tier)
    };
    let gateway = start(&folder, &rate("100/s", 100));
    let control = gateway.control();
    control.replace(&rate("1/h", 1), "test").expect("it is lowered");
    let low = control.policy();
    control.replace(&rate("100/s", 100), "test").expect("it is raised");
    assert!(passes(&low, &key), "by the rate that it knows");
    assert!(!passes(&control.policy(), &key));
    drop(low);
    assert!(soon(|| passes(&control.policy(), &key)));
}

/// Who holds the store, such as a list of a million keys, holds up nothing but changes of keys.
#[test]
fn usage_is_collected_while_the_store_is_looked_at() {
    let (folder, api) = (TempDir::new().expect("a folder"), api());
    let gateway = start(&folder, &text(&folder, api.addr(), ""));
    let seen = gateway.control().with_store(|_| {
        assert_eq!(status(&gateway, None), 200);
        soon(|| gateway.control().usage().read(|snapshot| !snapshot.since_start.is_empty()))
    });
    assert!(seen);
}

/// The file of the token is another one than at the start, under the same name.
#[test]
fn a_reload_names_files_that_it_does_not_read_again() {
    let (folder, api) = (TempDir::new().expect("a folder"), api());
    let token: PathBuf = folder.path().join("token");
    fs::write(&token, "0123456789abcdef").expect("it is written");
    let admin = format!("[admin]\ntoken_file = \"{}\"\n", token.display());
    let text = text(&folder, api.addr(), &admin);
    let gateway = start(&folder, &text);
    let waits = || gateway.control().replace(&text, "test").expect("it reloads").waits_for_restart;
    assert_eq!(waits(), Vec::<&str>::new());
    fs::write(&token, "another-0123456789").expect("it is written");
    assert_eq!(waits(), ["admin.token_file"]);
}

/// As the shell's `<(...)` gives it: what is read of it once is gone.
#[test]
fn a_configuration_from_a_pipe_is_known_as_it_was_read() {
    let (folder, api) = (TempDir::new().expect("a folder"), api());
    let text = text(&folder, api.addr(), "");
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    writer.write_all(text.as_bytes()).expect("it has room");
    drop(writer);
    let file = Some(PathBuf::from(format!("/dev/fd/{}", reader.as_raw_fd())));
    let gateway = Gateway::start(Setup { file, ..Setup::default() }).expect("the gateway starts");
    assert_eq!(gateway.control().text(), text);
    assert_eq!(status(&gateway, None), 200);
    gateway.control().reload("test").expect_err("nothing is left of it");
    assert_eq!(gateway.control().text(), text);
}

/// Of settings that wait for it: it was accepted, and the next start failed.
#[test]
fn a_reload_is_refused_where_a_restart_would_fail() {
    let (folder, api) = (TempDir::new().expect("a folder"), api());
    let before = text(&folder, api.addr(), "");
    let gateway = start(&folder, &before);
    for more in [
        "[access_log]\npath = \"/nonexistent/access.log\"\n",
        "[admin]\ntoken_file = \"/nonexistent/token\"\n",
        "[usage]\njson_lines = \"/nonexistent/usage.jsonl\"\n",
    ] {
        let refused = gateway.control().replace(&text(&folder, api.addr(), more), "test");
        let said = refused.expect_err("a restart would fail").to_string();
        assert!(
            said.starts_with("the body: line 10, column ") && said.contains("/nonexistent/"),
            "{said}"
        );
        assert_eq!(gateway.control().text(), before);
    }
}

#[test]
fn a_reload_asks_for_keys_where_all_of_them_are_revoked() {
    let (folder, api) = (TempDir::new().expect("a folder"), api());
    let mut keys = store(&folder);
    let (_, id) = keys.add(&NewKey::default(), &STAMP).expect("a key");
    keys.revoke(id, &STAMP).expect("it is revoked");
    let text = text(&folder, api.addr(), "");
    let gateway = start(&folder, &text);
    assert_eq!(status(&gateway, None), 401);
    gateway.control().replace(&text, "test").expect("it is reloaded");
    assert_eq!(status(&gateway, None), 401);
}

#[test]
fn a_key_that_came_and_went_between_two_looks_is_asked_for() {
    let (folder, api) = (TempDir::new().expect("a folder"), api());
    let gateway = start(&folder, &text(&folder, api.addr(), ""));
    assert_eq!(status(&gateway, None), 200);
    let id = gateway.control().with_store(|_| {
        // Nothing is followed while the control is held.
        let mut keys = store(&folder);
        let (_, id) = keys.add(&NewKey::default(), &STAMP).expect("a key");
        keys.revoke(id, &STAMP).expect("it is revoked");
        id
    });
    gateway.control().follow_store().expect("the store is read");
    assert_eq!((id, status(&gateway, None)), (1, 401));
}

/// The process was stopped for so long that the audit log no longer has the change.
#[test]
fn a_key_whose_revocation_is_no_longer_in_the_audit_log_is_refused() {
    let (folder, api) = (TempDir::new().expect("a folder"), api());
    let key = key(&folder);
    let gateway = start(&folder, &text(&folder, api.addr(), ""));
    assert_eq!(status(&gateway, Some(&key)), 200);
    let file = rusqlite::Connection::open(folder.path().join("gate.db")).expect("the file");
    let later = "BEGIN; UPDATE keys SET revoked_s = 1; DELETE FROM changes; \
                 INSERT INTO changes VALUES (200000, 1, 'test', NULL, 'something else'); COMMIT";
    file.execute_batch(later).expect("it is written");
    gateway.control().follow_store().expect("the store is read");
    assert_eq!(status(&gateway, Some(&key)), 403);
}

/// The earlier gateway has stopped waiting, and serves on: the later one says so, and nothing of it is left running.
#[test]
fn a_gateway_whose_take_over_comes_too_late_does_not_start() {
    let (folder, api) = (TempDir::new().expect("a folder"), api());
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let place = folder.path().join(format!("gate.db.{}.sock", address.port()));
    let door = UnixListener::bind(place).expect("a place");
    let impatient = thread::spawn(move || {
        let (mut stream, _) = door.accept().expect("a later gateway");
        let given = format!(r#"{{"listeners":[["{address}",1]],"admin":false,"uring":false}}"#);
        net::handing_over::give(&mut stream, given.as_bytes(), &[listener.as_fd()])
            .expect("it is given");
        door
    });
    let text = text(&folder, api.addr(), &quota(3)).replace("127.0.0.1:0", &address.to_string());
    fs::write(folder.path().join("gate.toml"), text).expect("the file is written");
    let refused = take_over(&folder).expect_err("the other one goes on");
    assert!(refused.to_string().contains("goes on"), "{refused}");
    drop(impatient.join().expect("a door"));
}

/// Its own answers, and those that come without one; what the API says of the time is passed on.
#[test]
fn answers_say_the_time() {
    let folder = TempDir::new().expect("a folder");
    let ask = || Step::Expect(b"\r\n\r\n");
    let answer = |date: &str| {
        Step::Send(format!("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n{date}\r\n").into_bytes())
    };
    let own = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
    let peer = Peer::start(vec![ask(), answer(""), ask(), answer(own), Step::Hang]);
    let route = "[[route]]\nname = \"some\"\npath = \"/some\"\nupstream = \"api\"\n";
    let gateway = start(&folder, &text(&folder, peer.addr(), route));
    assert!(soon(|| gateway.control().state().calendar.unix_s() > 0));
    let own_date = || {
        let mut client = RawClient::connect(gateway.addresses()[0]);
        client.send(b"GET /other HTTP/1.1\r\nHost: a\r\n\r\n");
        client.receive_until(b"\r\n\r\n").windows(6).any(|bytes| bytes == b"Date: ")
    };
    assert!(soon(own_date), "once a worker knows the time");
    let mut client = RawClient::connect(gateway.addresses()[0]);
    let dates = ["/some", "/some", "/other"].map(|path| {
        client.send(format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes());
        let head = String::from_utf8(client.receive_until(b"\r\n\r\n")).expect("text");
        let dates = head.split_inclusive("\r\n").filter(|line| line.starts_with("Date: "));
        dates.map(str::to_owned).collect::<Vec<_>>()
    });
    assert_eq!((dates[0].len(), dates[2].len()), (1, 1), "{dates:?}");
    assert!(dates[0][0] != own && dates[0][0].ends_with(" GMT\r\n"), "{dates:?}");
    assert_eq!(dates[1], [own]);
}
