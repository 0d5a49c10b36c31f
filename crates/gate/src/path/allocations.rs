//! A request allocates nothing once its connections are warm: counted for the whole way from a client's bytes to the
//! upstream and back, with everything switched on that looks at requests.

use std::sync::Arc;

use allocation_counter::measure;
use net::{Event, Handler, Next};

use super::shared::Shared;
use super::wires::{Wires, receives, worker_of};
use super::worker::{UP, Worker};
use crate::access::PageQueue;
use crate::admission::{Line, Part};
use crate::keys::{Digester, Keys, Settings};
use crate::limits::Rate;
use crate::policy::{
    HeaderRules, KeySource, Limits, PathPattern, Policy, PolicySettings, Quotas, Route, State,
    Tier, Upstream,
};

const WARM: u64 = 300;
const COUNTED: u64 = 3_000;
const CLIENTS: u32 = 8;
/// Between two rounds: several hand-overs of usage fall into the rounds that are counted.
const STEP_NS: u64 = 1_000_000;

/// A policy that has something to do at every step.
fn busy(state: &Arc<State>) -> Policy {
    let line = Line { rate_per_s: 1e6, at_once: 1e4, ..Line::default() };
    state.ceiling.set(&line, 1.0, Part::WHOLE);
    let digester = Digester::new(b"secret");
    state.keys.put(
        &digester.digest(b"good"),
        &Settings { day_quota: Some(1 << 30), ..Settings::default() },
    );
    let limits = Limits { rate: Some(Rate::per_second(1e6)), at_once: Some(1000) };
    let quotas = Quotas { day: Some(1 << 30), month: Some(1 << 30) };
    let named = |n: u32| Route {
        name: format!("route{n}"),
        path: PathPattern::parse(&format!("/v1/{n}/{{id}}")).unwrap(),
        request_headers: HeaderRules {
            remove: vec!["x-gone".into()],
            set: vec![("x-set".into(), "1".into())],
        },
        limits,
        quotas,
        ..Route::to(0)
    };
    let settings = PolicySettings {
        routes: (0..100).map(named).collect(),
        digester: Some(digester),
        key_source: KeySource::usual(),
        tiers: vec![Tier {
            each: limits,
            together: limits,
            together_quotas: quotas,
            ..Tier::unlimited("first")
        }],
        all: limits,
        all_quotas: quotas,
        address: limits,
        address_quotas: quotas,
        line: Some(Arc::new(line)),
        ..PolicySettings::open(Upstream::of("api", "127.0.0.1:1".parse().unwrap()))
    };
    Policy::new(state, settings, None).unwrap()
}

fn worker() -> (Arc<Shared>, Worker) {
    let state = Arc::new(State::new(Arc::new(Keys::default()), 1));
    worker_of(busy(&state), Some(Arc::new(PageQueue::new(1.0))))
}

/// One request of each client, and its response. How many were answered with 200.
fn round(worker: &mut Worker, wires: &mut Wires, answer: &[u8]) -> u32 {
    const REQUEST: &[u8] =
        b"GET /v%31/7/abc%3B?a=1&%75ser_key=good&b=2 HTTP/1.1\r\nHost: api.test\r\nAccept: */*\r\n\
        User-Agent: test\r\nCookie: c=d\r\nX-Gone: 1\r\nX-Forwarded-For: 6.6.6.6\r\n\r\n";
    wires.now += STEP_NS;
    let mut answered = 0;
    for client in 0..CLIENTS {
        receives(worker, wires, client, REQUEST);
    }
    while let Some((token, _)) = wires.connecting.pop() {
        Handler::<Wires>::event(worker, wires, token, Event::Connected);
    }
    // Connections upstream are numbered from 0 on, in the order in which they were opened.
    for up in 0..CLIENTS {
        let sent = &mut wires.sent[(CLIENTS + up) as usize];
        assert!(sent.starts_with(b"GET /v1/7/abc%3B?a=1&b=2 HTTP/1.1\r\nHost: api.test\r\n"));
        sent.clear();
        receives(worker, wires, UP | up, answer);
    }
    for client in 0..CLIENTS {
        let sent = &mut wires.sent[client as usize];
        answered += u32::from(sent.starts_with(b"HTTP/1.1 200 OK\r\n"));
        sent.clear();
    }
    assert!(matches!(Handler::<Wires>::tick(worker, wires), Next::Wait(_)));
    answered
}

#[test]
fn a_warm_request_allocates_nothing() {
    let (_shared, mut worker) = worker();
    let mut wires = Wires::new();
    for client in 0..CLIENTS {
        let conn = wires.open();
        assert_eq!(Handler::<Wires>::accepted(&mut worker, &mut wires, conn), Some(client));
    }
    let plain = b"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 5\r\n\r\nhello";
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    for answer in [&plain[..], chunked] {
        for _ in 0..WARM {
            assert_eq!(round(&mut worker, &mut wires, answer), CLIENTS);
        }
        let mut answered = 0;
        let counted = measure(|| {
            answered = (0..COUNTED).map(|_| round(&mut worker, &mut wires, answer)).sum::<u32>();
        });
        assert_eq!(u64::from(answered), COUNTED * u64::from(CLIENTS));
        assert_eq!(counted.count_total, 0, "{counted:?}");
    }
}

/// Refusals cost no more: who is refused cannot wear the gateway out.
#[test]
fn a_refusal_allocates_nothing() {
    let (_shared, mut worker) = worker();
    let mut wires = Wires::new();
    let conn = wires.open();
    Handler::<Wires>::accepted(&mut worker, &mut wires, conn);
    let mut refuse = |requests: u64| {
        for request in 0..requests {
            wires.now += STEP_NS;
            let bytes: &[u8] = match request % 3 {
                0 => b"GET /v1/7/abc HTTP/1.1\r\nHost: a\r\n\r\n",
                1 => b"GET /v1/7/abc HTTP/1.1\r\nHost: a\r\nX-API-Key: bad\r\n\r\n",
                _ => b"GET /nowhere HTTP/1.1\r\nHost: a\r\nX-API-Key: good\r\n\r\n",
            };
            receives(&mut worker, &mut wires, 0, bytes);
            let expected: &[u8] =
                [b"HTTP/1.1 401", b"HTTP/1.1 403", b"HTTP/1.1 404"][request as usize % 3];
            assert!(wires.sent[0].starts_with(expected), "{}", wires.sent[0].escape_ascii());
            wires.sent[0].clear();
            Handler::<Wires>::tick(&mut worker, &mut wires);
        }
    };
    refuse(WARM);
    let counted = measure(|| refuse(COUNTED));
    assert_eq!(counted.count_total, 0, "{counted:?}");
}
