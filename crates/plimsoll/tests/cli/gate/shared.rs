//! Several gateways that share limits by a real Redis server, which is killed and comes back.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use testkit::needs;

use super::{Gate, soon};
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

impl Drop for Redis {
    fn drop(&mut self) {
        // SIGKILL: nothing is put in order.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    listener.local_addr().expect("its address").port()
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

/// Waits until what the gateway has let through so far was told, and the answer taken in.
fn told(gate: &Gate) {
    let before = answered(gate);
    // One exchange may have been under way; a far key waits a tenth of a second.
    thread::sleep(Duration::from_millis(150));
    soon(|| answered(gate) >= before + 2);
}

#[test]
fn three_gateways_hold_one_limit_and_live_through_the_death_of_redis() {
    if !needs::has("redis-server") {
        return;
    }
    let (folder, target) = (Folder::new(), Target::start());
    let redis = Redis::start(&folder, free_port());
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

    // What one gateway let through, another knows once it has asked.
    let ask = |gate: &Gate, key: &str| gate.get("/healthz", key).status;
    assert!((0..30).all(|_| ask(&a, &open) == 200));
    assert_eq!(ask(&a, &open), 429);
    told(&a);
    assert_eq!(ask(&b, &open), 200, "it decides by what it knows");
    told(&b);
    assert_eq!(ask(&b, &open), 429, "and knows better afterwards");
    assert!((0..20).all(|_| ask(&a, &day) == 200));
    told(&a);
    assert_eq!(ask(&b, &day), 200);
    told(&b);
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
    assert_eq!((ask(&a, &closed), ask(&b, &closed)), (200, 200));
    let state = a.admin("GET", "/v1/state", "").json();
    assert_eq!(state["shared"]["answers"], true, "{state}");
    assert!(!a.end().contains("lost"));
    drop(redis);
}
