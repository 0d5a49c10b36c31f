//! Configuration that is replaced under load: no request fails, and what is no longer named is let go.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use gate::policy::{ActiveCheck, Policy, PolicySettings, Route, State, Upstream};

use crate::harness::{Front, api, front_with, interfaces, upstream, wait_until};

const CHANGES: usize = 60;

/// Replaces the policy by one of the same state.
fn replace(front: &Front, state: &Arc<State>, settings: PolicySettings) {
    let (before, _) = front.current.get();
    let policy = Policy::new(state, settings, Some(&before)).expect("few names");
    front.current.replace(Arc::new(policy));
}

/// Asks on one connection until it is told to stop; how often.
fn ask_on(front: &Front, request: &[u8], stop: &AtomicBool, asked: &AtomicU64) {
    let mut client = front.client();
    while !stop.load(Ordering::SeqCst) {
        client.send(request);
        let answer = client.receive_until(b"\r\n\r\n");
        assert!(answer.starts_with(b"HTTP/1.1 200 OK\r\n"), "{}", answer.escape_ascii());
        client.receive(2);
        asked.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn no_request_fails_while_everything_changes() {
    for io in interfaces() {
        let apis = [api(), api(), api()];
        let of = |name: &str, servers: &[usize]| {
            let addresses: Vec<_> = servers.iter().map(|&n| apis[n].addr()).collect();
            Upstream { name: name.into(), ..upstream(&addresses) }
        };
        let settings = |round: usize| {
            let upstream = match round % 4 {
                0 => of("api", &[0]),
                1 => of("api", &[1, 2]),
                2 => of("other", &[0, 2]),
                _ => of(&format!("api{round}"), &[1]),
            };
            let routes = vec![Route { name: format!("route{}", round % 3), ..Route::to(0) }];
            PolicySettings { routes, ..PolicySettings::open(upstream) }
        };
        let front = front_with(settings(0), io);
        let state = Arc::clone(front.current.get().0.state());
        let (stop, asked) = (AtomicBool::new(false), AtomicU64::new(0));
        let get = b"GET /bytes/2 HTTP/1.1\r\nHost: a\r\n\r\n";
        let post = b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab";
        thread::scope(|scope| {
            for request in [&get[..], post, get, post] {
                let (front, stop, asked) = (&front, &stop, &asked);
                scope.spawn(move || ask_on(front, request, stop, asked));
            }
            for round in 1..=CHANGES {
                replace(&front, &state, settings(round));
                let before = asked.load(Ordering::SeqCst);
                // Some are asked under each policy.
                while asked.load(Ordering::SeqCst) < before + 8 {
                    thread::sleep(Duration::from_millis(1));
                }
            }
            stop.store(true, Ordering::SeqCst);
        });
        assert!(asked.load(Ordering::SeqCst) >= 8 * CHANGES as u64);
        assert_eq!(front.gate.counts().faults, 0);
    }
}

/// A server that no policy names any more is neither checked nor shown, and its connections are closed.
#[test]
fn upstreams_that_are_gone_are_let_go() {
    for io in interfaces() {
        let (old, new) = (api(), api());
        let check = ActiveCheck {
            path: "/healthz".into(),
            every_ns: 20_000_000,
            timeout_ns: 1_000_000_000,
            up_after: 1,
            down_after: 1,
        };
        let checked = Upstream { active: Some(check), ..upstream(&[old.addr()]) };
        let front = front_with(PolicySettings::open(checked), io);
        let state = Arc::clone(front.current.get().0.state());
        let asks = |request: &[u8]| assert_eq!(front.ask(request)[0].status, 200);
        asks(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
        let other = Upstream { name: "other".into(), ..upstream(&[new.addr()]) };
        replace(&front, &state, PolicySettings::open(other));
        wait_until(|| {
            let view = front.health.view(net::clock::now());
            view.iter().map(|server| server.socket).eq([new.addr()])
        });
        // One may be under way still.
        thread::sleep(Duration::from_millis(200));
        let checks = old.served().requests;
        asks(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
        thread::sleep(Duration::from_millis(200));
        assert_eq!(old.served().requests, checks, "it is checked no more");
    }
}
