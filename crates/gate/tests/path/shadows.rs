//! Shadow requests: sent elsewhere too, and felt by nobody.

use std::thread;
use std::time::Duration;

use gate::policy::{PolicySettings, Route, Shadow, ShadowView, Timeouts, Upstream};
use testkit::peer::{Peer, Step};

use crate::harness::{Front, api, front_with, interfaces, upstream};

/// A gateway in front of an API, with a shadow of all requests.
fn shadowed(first: std::net::SocketAddr, second: std::net::SocketAddr, io: net::Io) -> Front {
    let settings = PolicySettings::open(upstream(&[first]));
    let other = Upstream { name: "shadow".into(), ..upstream(&[second]) };
    let shadow = Shadow { upstream: 1, share_ppm: 1_000_000, compare: true };
    let timeouts = Timeouts { whole_ns: 2_000_000_000, ..Timeouts::default() };
    let routes = vec![Route { shadow: Some(shadow), timeouts, ..Route::to(0) }];
    let upstreams = vec![settings.upstreams[0].clone(), other];
    front_with(PolicySettings { routes, upstreams, ..settings }, io)
}

fn view(front: &Front) -> ShadowView {
    front.current.get().0.state().shadowed.view()
}

/// The counts, once as many requests as that have ended one way or the other.
fn ended(front: &Front, requests: u64) -> ShadowView {
    for _ in 0..2_400 {
        let view = view(front);
        if view.alike + view.different + view.failed + view.dropped >= requests {
            return view;
        }
        thread::sleep(Duration::from_millis(25));
    }
    panic!("{:?}", view(front));
}

#[test]
fn a_shadow_gets_the_same_requests_and_its_answers_are_compared() {
    for io in interfaces() {
        let (first, second) = (api(), api());
        let front = shadowed(first.addr(), second.addr(), io);
        let mut bytes = Vec::new();
        for n in 0..20 {
            let body = "x".repeat(n * 100);
            bytes.extend_from_slice(
                format!(
                    "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{body}",
                    body.len()
                )
                .as_bytes(),
            );
            bytes.extend_from_slice(b"GET /bytes/7 HTTP/1.1\r\nHost: a\r\n\r\n");
        }
        let answers = front.ask(&bytes);
        assert!(answers.len() == 40 && answers.iter().all(|answer| answer.status == 200));
        let view = ended(&front, 40);
        assert_eq!((view.sent, view.alike, view.different), (40, 40, 0), "{view:?}");
        assert_eq!((first.served().requests, second.served().requests), (40, 40));
    }
}

#[test]
fn connections_of_shadows_are_kept() {
    for io in interfaces() {
        let (first, second) = (api(), api());
        let front = shadowed(first.addr(), second.addr(), io);
        for n in 1..=20 {
            // One after another: while one is in flight, the next would need a connection of its own.
            assert_eq!(front.ask(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n").len(), 1);
            assert_eq!(ended(&front, n).alike, n);
        }
        assert_eq!(front.gate.counts().connects, 2, "one to each");
    }
}

#[test]
fn another_status_is_counted() {
    for io in interfaces() {
        let answer = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 2\r\n\r\nno".to_vec();
        let again = vec![Step::Expect(b"\r\n\r\n"), Step::Send(answer)];
        let (first, second) = (api(), Peer::start(vec![Step::Forever(again)]));
        let front = shadowed(first.addr(), second.addr(), io);
        let answers = front.ask(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_eq!(answers[0].status, 200);
        let view = ended(&front, 1);
        assert_eq!((view.different, view.pairs), (1, vec![(200, 500, 1)]));
    }
}

/// A shadow that never answers, or is not there: clients are answered as without it, and what is in flight is bounded.
#[test]
fn a_shadow_that_hangs_is_felt_by_nobody() {
    const REQUESTS: usize = 300;
    for io in interfaces() {
        let first = api();
        let hangs = Peer::start(vec![Step::Hang]);
        let front = shadowed(first.addr(), hangs.addr(), io);
        let bytes = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n".repeat(REQUESTS);
        assert_eq!(front.ask(&bytes).len(), REQUESTS);
        let now = view(&front);
        assert!(now.sent + now.dropped == REQUESTS as u64 && now.dropped > 0, "{now:?}");
        assert!(hangs.connections() <= 64, "{} at once", hangs.connections());
        let view = ended(&front, REQUESTS as u64);
        assert_eq!((view.failed, view.alike), (view.sent, 0), "each is given up after its time");
        // The log names the server that fails them, by these counts.
        let servers = front.health.view(net::clock::now());
        let of_shadow = servers.iter().find(|server| server.upstream == "shadow");
        let failed = of_shadow.expect("it is known").failed_by.iter().sum::<u64>();
        assert_eq!(failed, view.failed);
        // The places are free again.
        front.ask(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_eq!(self::view(&front).sent, view.sent + 1);
    }
}

#[test]
fn bodies_that_are_too_long_have_no_shadow() {
    for io in interfaces() {
        let (first, second) = (api(), api());
        let front = shadowed(first.addr(), second.addr(), io);
        let mut bytes =
            b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n".to_vec();
        bytes.resize(bytes.len() + 200_000, b'x');
        assert_eq!(front.ask(&bytes)[0].body.len(), 200_000);
        let view = ended(&front, 1);
        assert_eq!((view.sent, view.dropped, second.served().requests), (0, 1, 0));
    }
}
