//! A route cannot be gone around by writing its path, or the parameter of a key, in another way.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use gate::health::Health;
use gate::keys::{Digester, Keys, Settings};
use gate::path::{Gate, Listener, Options};
use gate::policy::{
    Current, Host, KeySource, PathPattern, Policy, PolicySettings, Route, State, Upstream,
};

use crate::harness::{Came, Until, send};
use crate::mirror::Mirror;

/// `/__count`, `/Shop`, `/caf%C3%A9/{id}` and all of one host ask for a key; everything else is public.
fn gateway(mirror: &Mirror) -> Gate {
    let state = Arc::new(State::new(Arc::new(Keys::default()), 1));
    let digester = Digester::new(b"secret");
    state.keys.put(&digester.digest(b"good"), &Settings::default());
    let private = |name: &str, path: &str| Route {
        name: name.into(),
        path: PathPattern::parse(path).expect("a path"),
        ..Route::to(0)
    };
    let routes = vec![
        private("count", "/__count"),
        private("shop", "/Shop"),
        private("coffee", "/caf%C3%A9/{id}"),
        Route { host: Host::Exact("admin.example".into()), ..private("admin", "/") },
        Route { public: true, ..Route::to(0) },
    ];
    let settings = PolicySettings {
        routes,
        digester: Some(digester),
        key_source: KeySource::usual(),
        ..PolicySettings::open(Upstream::of("mirror", mirror.addr()))
    };
    let policy = Policy::new(&state, settings, None).expect("few names");
    let options = Options {
        listeners: vec![Listener::plain(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))],
        workers: Some(1),
        io: Some(net::Io::Epoll),
        busy_poll_ns: 0,
        log: None,
    };
    let current = Arc::new(Current::new(Arc::new(policy)));
    Gate::start(options, current, Arc::new(Health::default())).expect("it starts")
}

fn asked(to: SocketAddr, mirror: &Mirror, target: &str, host: &str) -> Came {
    let request = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    send(to, mirror, request.as_bytes(), Until::End)
}

#[test]
fn a_route_holds_however_its_path_is_written() {
    let mirror = Mirror::start();
    let gate = gateway(&mirror);
    let to = gate.addresses()[0];
    let cases = [
        ("/__count", "a", 401),
        ("/%5f%5fcount", "a", 401),
        ("/__%63ount/x", "a", 401),
        ("/%5F_%63%6f%75%6E%74?%75ser_key=bad", "a", 403),
        ("/caf%c3%a9/7", "a", 401),
        ("/c%61f%C3%A9/%37", "a", 401),
        ("/__count;x=1", "a", 400),
        ("/__count%3Bx", "a", 400),
        ("/__COUNT", "a", 400),
        ("/__Count/x", "a", 400),
        ("/__Count;y/x", "a", 400),
        ("/CAF%C3%A9/7", "a", 400),
        ("/Shop/Y", "a", 401),
        ("/shop", "a", 400),
        ("/X", "a", 200),
        ("/X", "admin.example", 401),
        ("/x", "admin.example", 401),
        ("/x", "ADMIN.example.:80", 401),
        ("/x", "%61dmin.example", 400),
        ("/x;y=1//z", "a", 200),
        ("/_%5fcoun", "a", 200),
        ("/__count?user_key=good", "a", 200),
        ("/%5f_count?%75ser%5fkey=good&z", "a", 200),
    ];
    for (target, host, status) in cases {
        let came = asked(to, &mirror, target, host);
        assert_eq!(came.statuses, [status], "{target} of {host}: {came:?}");
        assert_eq!(came.reached, u64::from(status == 200), "{target}");
    }
    let came = asked(to, &mirror, "/%5f_count?%75ser%5fkey=good&z", "a");
    assert!(came.received.starts_with("GET /__count?z HTTP/1.1\r\n"), "{came:?}");
}
