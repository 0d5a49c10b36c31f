//! A thousand healthy servers in virtual time, in which the rules about servers, users and generators
//! in trouble find nothing.

use model::units::{MILLISECOND, SECOND};
use model::{Nanos, ReasonCode, Verdict};

use crate::harness::{Load, closed, drive, open};
use crate::server::{Reply, scripted};

const ERROR: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";

/// Reasons that must not be given for a healthy run.
const TROUBLE: [ReasonCode; 9] = [
    ReasonCode::NoResponses,
    ReasonCode::ServerGone,
    ReasonCode::ObservedLate,
    ReasonCode::Throttled,
    ReasonCode::GeneratorPaused,
    ReasonCode::StarvedConnections,
    ReasonCode::ResponsesChanged,
    ReasonCode::Redirected,
    ReasonCode::SurplusResponses,
];

/// Random numbers below 1, of a seed (SplitMix64).
pub fn draws(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as f64 / u64::MAX as f64
    }
}

/// How bodies differ from response to response.
#[derive(Clone, Copy)]
enum Bodies {
    Alike,
    /// Of any length up to 600 bytes.
    AnyLength,
    /// Two kinds, mixed evenly over the whole run.
    TwoKinds,
    /// A list that grows by an entry now and then.
    Growing,
    /// One of a few words.
    FewWords,
    /// The second of the run, in digits.
    Clock,
    /// A word that changes by itself.
    Headline,
}

/// A healthy load of a seed: slow servers, few users, think times, long polling, lone failures, stalls, bodies that
/// differ.
fn healthy(seed: u64) -> (Load, impl FnMut(u64) -> Reply) {
    let mut draw = draws(seed);
    let users = [1, 1, 2, 3, 8, 20][(draw() * 6.0) as usize];
    let mean = [2e6, 1e7, 1e8, 1e9, 3e9][(draw() * 5.0) as usize];
    let mut load = match draw() < 0.5 {
        true => closed(users),
        // At most 95 % of what these connections can carry.
        false => open((0.95 * f64::from(users) * 1e9 / mean).min(300.0), users),
    };
    load.seed = seed;
    let think = load.plan.rate_per_s.is_none() && draw() < 0.3;
    load = load.with(|plan| {
        (plan.duration_ns, plan.timeout_ns) = (Some(10 * SECOND), 30 * SECOND);
        plan.think_ns = think.then_some(SECOND);
        plan.seed = seed;
    });
    let failing = [0.0, 0.0, 0.01, 0.2][(draw() * 4.0) as usize];
    let (spread, stall) = (draw() < 0.5, draw() < 0.2);
    let bodies = [
        Bodies::Alike,
        Bodies::AnyLength,
        Bodies::TwoKinds,
        Bodies::Growing,
        Bodies::FewWords,
        Bodies::Clock,
        Bodies::Headline,
    ];
    let bodies = bodies[(draw() * 7.0) as usize];
    let serve = move |at: u64| {
        let after = if spread { -mean * (1.0 - draw()).ln() } else { mean };
        // A pause of the server: requests that arrive during it wait until it is over.
        let paused = stall && (4 * SECOND..4 * SECOND + 700 * MILLISECOND).contains(&at);
        let rest = if paused { 4 * SECOND + 700 * MILLISECOND - at } else { 0 };
        let reply =
            if draw() < failing { Reply::bytes(ERROR) } else { ok(&body(bodies, at, draw())) };
        Reply { after: after as Nanos + rest, ..reply }
    };
    (load, serve)
}

fn body(bodies: Bodies, at: Nanos, drawn: f64) -> String {
    const WORDS: [&str; 5] = ["ada", "bob", "cid", "eve", "fay"];
    let length = match bodies {
        Bodies::Alike => 20,
        Bodies::AnyLength => (drawn * 600.0) as usize,
        Bodies::TwoKinds if drawn < 0.3 => return "{\"status\":\"pending\"}".into(),
        Bodies::TwoKinds => 200,
        Bodies::Growing => 100 + 10 * (at / SECOND) as usize,
        Bodies::FewWords => return format!("{{\"by\":\"{}\"}}", WORDS[(drawn * 3.0) as usize]),
        Bodies::Clock => return format!("{{\"time\":\"22:59:{:02}\"}}", at / SECOND),
        Bodies::Headline => {
            return format!("{{\"now\":\"{}\"}}", WORDS[(at / (2 * SECOND)) as usize % 5]);
        }
    };
    format!("{{\"items\":\"{}\"}}", "x".repeat(length))
}

fn ok(body: &str) -> Reply {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length:";
    Reply::bytes(format!("{head} {}\r\n\r\n{body}", body.len()).as_bytes())
}

#[test]
fn of_a_thousand_healthy_servers_none_is_in_trouble() {
    for seed in testkit::sim::seeds(0..1000) {
        let (load, mut serve) = healthy(seed);
        let outcome = drive(&load, |world| {
            scripted(world, &load.request, move |request| Some(serve(request.at))).0
        });
        for reason in verdict::judge(&outcome.run).reasons {
            let errors = reason.code == ReasonCode::FastErrors;
            let reported =
                TROUBLE.contains(&reason.code) || errors && reason.consequence == Verdict::Invalid;
            let run = &outcome.run;
            assert!(!reported, "seed {seed}: {reason:?}\n{:?}\n{:?}", load.plan, run.presence);
        }
    }
}
