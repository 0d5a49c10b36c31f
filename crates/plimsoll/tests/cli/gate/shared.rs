//! Several gateways that share limits by a real Redis server, which is killed and comes back.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use testkit::needs;
use testkit::ports::reserved;

use super::{Gate, PATIENCE, soon};
use crate::harness::{Folder, Target};

/// A Redis server that keeps nothing on disk, killed on drop.
struct Redis {
    child: Child,
    port: u16,
}

impl Redis {
    fn start(folder: &Folder, port: u16) -> Self {
        let program = needs::path("redis-server").expect("it was found before");
        let mut command = Command::new(program);
        command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""]);
        command.args(["--appendonly", "no", "--dir"]).arg(folder.path());
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        let redis = Self { child, port };
        soon(|| TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok());
        redis
    }
}

impl Redis {
    /// Sends it a signal by name.
    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([name, &pid]).status().expect("kill runs");
        assert!(sent.success());
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        // SIGKILL: nothing is put in order.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn key(folder: &Folder, tier: &str) -> String {
    let line = format!("gate keys add --tier {tier}");
    let key = folder.plimsoll(&line).ok().stdout.trim_end().to_owned();
    format!("X-API-Key: {key}\r\n")
}

/// Exchanges with the server that were answered.
fn answered(gate: &Gate) -> u64 {
    gate.admin("GET", "/v1/state", "").json()["shared"]["answered"].as_u64().expect("a count")
}

/// What the gateway says is wrong.
fn troubles(gate: &Gate) -> String {
    gate.admin("GET", "/v1/state", "").json()["troubles"].to_string()
}

/// Waits until the gateway has sent the others what it has let through so far, and has taken in what they sent.
fn synchronise(gate: &Gate) {
    // A far key waits a tenth of a second.
    thread::sleep(Duration::from_millis(150));
    let before = answered(gate);
    // One exchange may be under way.
    soon(|| answered(gate) >= before + 2);
}

#[test]
fn three_gateways_hold_one_limit_and_live_through_the_death_of_redis() {
    if !needs::has("redis-server") {
        return;
    }
    let (folder, target) = (Folder::new(), Target::start());
    let redis = Redis::start(&folder, reserved().port());
    let port = redis.port;
    let config = format!(
        "[[listen]]\naddress = \"127.0.0.1:0\"\n[[upstream]]\nname = \"api\"\nservers = [\"{}\"]\n[shared]\nserver = \
         \"redis://127.0.0.1:{port}/0\"\n[[tier]]\nname = \"open\"\nrate = \"1/h\"\nburst = 30\n[[tier]]\nname = \
         \"closed\"\nunshared = \"closed\"\n[[tier]]\nname = \"day\"\nper_day = 20\n",
        target.url("")
    );
    folder.put("gate.toml", &config);
    let [open, closed, day] = ["open", "closed", "day"].map(|tier| key(&folder, tier));
    let [a, b, c] = [(); 3].map(|()| Gate::start(&folder, "gate.toml"));
    for gate in [&a, &b, &c] {
        soon(|| gate.get("/healthz", &closed).status == 200);
    }

    // They know of each other.
    let gateways = |gate: &Gate| {
        gate.admin("GET", "/v1/state", "").json()["shared"]["gateways"].as_u64().expect("a count")
    };
    for gate in [&a, &b, &c] {
        soon(|| gateways(gate) == 3);
    }

    // What one gateway let through, another knows once it has asked.
    let ask = |gate: &Gate, key: &str| gate.get("/healthz", key).status;
    assert!((0..30).all(|_| ask(&a, &open) == 200));
    assert_eq!(ask(&a, &open), 429);
    synchronise(&a);
    assert_eq!(ask(&b, &open), 200, "it decides by what it knows");
    synchronise(&b);
    assert_eq!(ask(&b, &open), 429, "and knows better afterwards");
    assert!((0..20).all(|_| ask(&a, &day) == 200));
    synchronise(&a);
    assert_eq!(ask(&b, &day), 200);
    synchronise(&b);
    assert_eq!(ask(&b, &day), 429);

    // Redis is killed: who is to be refused then is, the others go by what their gateway knows.
    drop(redis);
    soon(|| ask(&c, &closed) == 503);
    soon(|| troubles(&c).contains("limits are not shared: redis://127.0.0.1:"));
    let refused = c.get("/healthz", &closed);
    assert_eq!(refused.json()["code"], "limits_unknown");
    assert!(refused.head.contains("Retry-After: "), "{refused:?}");
    assert!((0..30).all(|_| ask(&c, &open) == 200), "its own limit, and no more");
    assert_eq!(ask(&c, &open), 429);
    assert_eq!((ask(&a, &open), ask(&b, &open)), (429, 429));

    // It comes back empty: all are served as before, and what was known is not forgotten.
    let redis = Redis::start(&folder, port);
    for gate in [&a, &b, &c] {
        soon(|| gate.get("/healthz", &closed).status == 200);
        assert_eq!(ask(gate, &open), 429);
        soon(|| troubles(gate) == "[]");
    }

    // One of the gateways is killed: nobody waits for it.
    drop(c);
    soon(|| gateways(&a) == 2 && gateways(&b) == 2);
    assert_eq!((ask(&a, &closed), ask(&b, &closed)), (200, 200));
    let state = a.admin("GET", "/v1/state", "").json();
    assert_eq!(state["shared"]["answers"], true, "{state}");
    assert!(!a.end().contains("lost"));
    drop(redis);
}

/// A configuration of gateways that share limits by the server at this port, with one tier.
fn sharing(target: &Target, port: u16, tier: &str) -> String {
    format!(
        "[[listen]]\naddress = \"127.0.0.1:0\"\n[[upstream]]\nname = \"api\"\nservers = [\"{}\"]\n[shared]\nserver = \
         \"redis://127.0.0.1:{port}/0\"\n[[tier]]\n{tier}\n[usage]\nevery = \"60s\"\n",
        target.url("")
    )
}

/// Redis is stopped while requests come and goes on: whatever was sent to it meanwhile, and how often, each request of
/// the quota is counted once.
#[test]
fn a_pause_of_redis_counts_no_request_twice() {
    const QUOTA: usize = 400;
    if !needs::has("redis-server") {
        return;
    }
    let (folder, target) = (Folder::new(), Target::start());
    let redis = Redis::start(&folder, reserved().port());
    folder.put("gate.toml", sharing(&target, redis.port, "name = \"day\"\nper_day = 400"));
    let key = key(&folder, "day");
    let [a, b] = [(); 2].map(|()| Gate::start(&folder, "gate.toml"));
    let ask = |gate: &Gate| gate.get("/healthz", &key).status == 200;
    for gate in [&a, &b] {
        soon(|| answered(gate) > 0);
        assert!((0..20).all(|_| ask(gate)));
        synchronise(gate);
    }
    redis.signal("-STOP");
    let mut passed = 40;
    for _ in 0..60 {
        passed += usize::from(ask(&a)) + usize::from(ask(&b));
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(passed, 160, "nothing is used up yet");
    for gate in [&a, &b] {
        soon(|| troubles(gate).contains("limits are not shared"));
    }
    redis.signal("-CONT");
    for gate in [&a, &b] {
        soon(|| troubles(gate) == "[]");
        synchronise(gate);
    }
    // A gateway hears what the others did when it tells something.
    assert!(ask(&a));
    synchronise(&a);
    passed += 1 + (0..QUOTA).take_while(|_| ask(&a)).count();
    assert_eq!(passed, QUOTA);
    synchronise(&a);
    // The other may let one through before it hears.
    let _ = ask(&b);
    synchronise(&b);
    assert!(!ask(&b));
    drop(redis);
}

/// What Redis keeps is from a minute ahead of its clock, as when that was put back: nobody waits for that minute.
#[test]
fn a_clock_of_redis_that_is_put_back_keeps_nobody_waiting() {
    const PUT_BACK: &str = "for _, k in ipairs(redis.call('KEYS', 'plimsoll:gate:*:r*')) do redis.call('SET', k, \
        string.format('%.0f', redis.call('GET', k) + 60000000)) end for _, g in ipairs(redis.call('ZRANGE', \
        'plimsoll:gate:gateways', 0, -1)) do redis.call('ZINCRBY', 'plimsoll:gate:gateways', 60000000, g) end";
    if !needs::has("redis-server") {
        return;
    }
    let (folder, target) = (Folder::new(), Target::start());
    let redis = Redis::start(&folder, reserved().port());
    let tier = "name = \"one\"\nrate = \"100/s\"\nburst = 100";
    folder.put("gate.toml", sharing(&target, redis.port, tier));
    let key = key(&folder, "one");
    let gate = Gate::start(&folder, "gate.toml");
    soon(|| answered(&gate) > 0);
    let ask = || {
        assert_eq!(gate.get("/healthz", &key).status, 200);
        synchronise(&gate);
    };
    ask();
    let mut redis_too = TcpStream::connect((Ipv4Addr::LOCALHOST, redis.port)).expect("it listens");
    redis_too.write_all(format!("EVAL \"{PUT_BACK}\" 0\r\n").as_bytes()).expect("it is sent");
    let mut done = [0; 3];
    redis_too.read_exact(&mut done).expect("it is answered");
    assert_eq!(&done, b"$-1");
    (0..3).for_each(|_| ask());
    drop(redis);
}

/// Redis is killed and comes back empty: the gateways tell it again what they let through, also of keys that are used at
/// another gateway from then on.
#[test]
fn a_server_that_lost_everything_is_told_again() {
    if !needs::has("redis-server") {
        return;
    }
    let (folder, target) = (Folder::new(), Target::start());
    let redis = Redis::start(&folder, reserved().port());
    let port = redis.port;
    folder.put("gate.toml", sharing(&target, port, "name = \"day\"\nper_day = 100"));
    let key = key(&folder, "day");
    let [a, b] = [(); 2].map(|()| Gate::start(&folder, "gate.toml"));
    let ask = |gate: &Gate| gate.get("/healthz", &key).status == 200;
    for gate in [&a, &b] {
        soon(|| answered(gate) > 0);
    }
    // The second knows of nothing but its own.
    assert!((0..40).all(|_| ask(&b)));
    synchronise(&b);
    assert!((0..40).all(|_| ask(&a)));
    synchronise(&a);
    drop(redis);
    soon(|| troubles(&a).contains("limits are not shared"));
    soon(|| troubles(&b).contains("limits are not shared"));
    let redis = Redis::start(&folder, port);
    for gate in [&a, &b] {
        soon(|| troubles(gate) == "[]");
        synchronise(gate);
    }
    // A third gateway knows by the server alone; the first request tells it.
    let c = Gate::start(&folder, "gate.toml");
    soon(|| answered(&c) > 0);
    assert!(ask(&c));
    synchronise(&c);
    assert_eq!((0..100).take_while(|_| ask(&c)).count(), 19);
    drop(redis);
}

/// Those of a route, whoever asks, and of a key that is replaced by another.
#[test]
fn quotas_of_routes_and_of_replaced_keys_are_of_all_gateways() {
    if !needs::has("redis-server") {
        return;
    }
    let (folder, target) = (Folder::new(), Target::start());
    let redis = Redis::start(&folder, reserved().port());
    let routes = "[[route]]\nname = \"health\"\npath = \"/healthz\"\nupstream = \"api\"\npublic = true\nlimits = { per_day = \
                  20 }\n[[route]]\nname = \"rest\"\nupstream = \"api\"\n";
    let config = sharing(&target, redis.port, "name = \"day\"\nper_day = 20");
    folder.put("gate.toml", config + routes);
    let first = key(&folder, "day");
    let [a, b] = [(); 2].map(|()| Gate::start(&folder, "gate.toml"));
    for gate in [&a, &b] {
        soon(|| answered(gate) > 0);
    }
    // What one let through, the other knows once it has told something itself.
    let health = |gate: &Gate| gate.get("/healthz", "").status == 200;
    assert!((0..12).all(|_| health(&a)));
    synchronise(&a);
    assert!(health(&b));
    synchronise(&b);
    assert_eq!((0..20).take_while(|_| health(&b)).count(), 7);
    let with = |gate: &Gate, key: &str| gate.get("/bytes/2", key).status == 200;
    assert!((0..12).all(|_| with(&a, &first)));
    synchronise(&a);
    let second = folder.plimsoll("gate keys rotate 1 --grace 1h").ok().stdout.trim_end().to_owned();
    let second = format!("X-API-Key: {second}\r\n");
    soon(|| with(&b, &second));
    synchronise(&b);
    let keys = [&first, &second];
    assert_eq!((0..20).take_while(|n| with(&b, keys[n % 2])).count(), 7);
    drop(redis);
}

/// Asks without a pause until it is told to stop or the gateway is gone; when each request that was let through was
/// answered.
fn hammer(address: &str, key: &str, stop: &AtomicBool) -> Vec<Instant> {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
    let mut answers = BufReader::new(stream.try_clone().expect("a second handle"));
    let request = format!("HEAD /healthz HTTP/1.1\r\nHost: {address}\r\n{key}\r\n");
    let mut passed = Vec::new();
    while !stop.load(Ordering::SeqCst) && stream.write_all(request.as_bytes()).is_ok() {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            match answers.read_line(&mut head) {
                Ok(bytes) if bytes > 0 => {}
                _ => return passed,
            }
        }
        match head.split(' ').nth(1) {
            Some("200") => passed.push(Instant::now()),
            status => assert_eq!(status, Some("429"), "{head}"),
        }
        thread::sleep(Duration::from_millis(1));
    }
    passed
}

/// One key at three gateways at once, one of which is killed: all together let through what the formula of the guide
/// allows, and the usage that is lost is what the killed one had not written yet.
#[test]
fn what_three_gateways_let_through_stays_within_the_formula() {
    const RATE: f64 = 200.0;
    const BURST: f64 = 50.0;
    /// How long a gateway takes to learn of the others, on a machine that is busy; usually it is a hundredth of that.
    const LEARNS_WITHIN_S: f64 = 1.0;
    /// Twice what a report may be behind, for the same reason.
    const UNWRITTEN: Duration = Duration::from_secs(3);
    if !needs::has("redis-server") {
        return;
    }
    let (folder, target) = (Folder::new(), Target::start());
    let redis = Redis::start(&folder, reserved().port());
    let config = format!(
        "[[listen]]\naddress = \"127.0.0.1:0\"\n[[upstream]]\nname = \"api\"\nservers = [\"{}\"]\n[shared]\nserver = \
         \"redis://127.0.0.1:{}/0\"\n[[tier]]\nname = \"one\"\nrate = \"{RATE}/s\"\nburst = {BURST}\n[usage]\nevery = \
         \"1s\"\n",
        target.url(""),
        redis.port
    );
    folder.put("gate.toml", &config);
    let key = key(&folder, "one");
    let [a, b, c] = [(); 3].map(|()| Gate::start(&folder, "gate.toml"));
    for gate in [&a, &b, &c] {
        soon(|| answered(gate) > 0);
    }
    let stop = AtomicBool::new(false);
    let addresses = [&a, &b, &c].map(|gate| gate.address.clone());
    let (passed, killed) = thread::scope(|scope| {
        let (key, stop) = (&key, &stop);
        let clients = addresses.each_ref().map(|to| scope.spawn(move || hammer(to, key, stop)));
        thread::sleep(Duration::from_secs(4));
        let killed = Instant::now();
        drop(c);
        thread::sleep(Duration::from_secs(2));
        stop.store(true, Ordering::SeqCst);
        (clients.map(|client| client.join().expect("no other status")), killed)
    });
    let [_, _, of_killed] = &passed;
    let all: Vec<Instant> = passed.iter().flatten().copied().collect();
    let (first, last) = (all.iter().min().expect("some"), all.iter().max().expect("some"));
    let window_s = last.duration_since(*first).as_secs_f64();
    let most = BURST + RATE * window_s + 2.0 * (BURST + RATE * LEARNS_WITHIN_S);
    println!(
        "{} of {most:.0} in {window_s:.2} s; each alone: {:.0}",
        all.len(),
        3.0 * (BURST + RATE * window_s)
    );
    assert!(all.len() as f64 <= most, "{} of {most}", all.len());
    assert!(!of_killed.is_empty());

    assert!(!a.end().contains("lost") && !b.end().contains("lost"));
    let usage = folder.plimsoll("gate usage --format json").ok().stdout;
    let usage: serde_json::Value = serde_json::from_str(&usage).expect("JSON");
    let rows = usage["rows"].as_array().expect("rows");
    let written: u64 = rows.iter().filter_map(|row| row["forwarded"].as_u64()).sum();
    let unwritten = of_killed.iter().filter(|at| killed.duration_since(**at) < UNWRITTEN).count();
    println!("{written} written, up to {unwritten} of the killed one may be missing");
    // One may have been forwarded and not answered when it was killed.
    assert!((all.len() - unwritten..=all.len() + 1).contains(&(written as usize)), "{written}");
}
