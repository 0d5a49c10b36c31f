//! What it costs to make a request: `cargo run --release -p traffic --example write_cost`.
//!
//! A fixed one, one of twenty weighted endpoints with two pool parameters each, and one with a token
//! signed for it. The best of several rounds, in nanoseconds a request.

#![expect(clippy::disallowed_methods, reason = "a measurement reads the clock")]

use std::hint::black_box;
use std::time::Instant;

use model::{Draw, Workload};
use serde_json::{Value, json};
use traffic::{Inputs, Next, Requests, Turn, WorkerPlace, compile};

const REQUESTS: u32 = 200_000;
const ROUNDS: u32 = 7;

fn main() {
    let rows: Vec<Value> =
        (0..1000).map(|n| json!({"id": n, "name": format!("user-{n}")})).collect();
    let pools = json!({"u": {"values": rows}, "w": {"values": ["red", "green", "blue"]}});
    let endpoints: Vec<Value> = (0..20)
        .map(
            |n| json!({"path": format!("/{n}/${{u.id}}"), "query": {"w": "${w}"}, "weight": n + 1}),
        )
        .collect();
    let claims = r#"{"sub":"${u.name}","iat":${unix()},"exp":${unix(3600)}}"#;
    let token = "Bearer ${jwt_hs256(claims, 'a key of thirty-two bytes or more')}";
    for (name, workload) in [
        ("fixed", json!({"target": "http://h", "endpoints": [{"path": "/"}]})),
        ("twenty endpoints", json!({"target": "http://h", "pools": pools, "endpoints": endpoints})),
        (
            "token",
            json!({"target": "http://h", "pools": pools, "variables": {"claims": claims},
                "endpoints": [{"path": "/", "headers": {"Authorization": token}}]}),
        ),
    ] {
        println!("{name}: {:.0} ns", cost(workload));
    }
}

fn cost(workload: Value) -> f64 {
    let workload: Workload = serde_json::from_value(workload).expect("a workload");
    let inputs = Inputs {
        env: &|_| None,
        file: &|_| Err("no files here".into()),
        rows: &|_| Err("no files here".into()),
        index: &|_, _| Err("no files here".into()),
        pools: None,
        seed: 7,
        lanes: 4096,
        keepalive: true,
        scale: 1.0,
        reads_only: false,
    };
    let compiled = compile(&workload, &inputs).expect("it compiles");
    let mut source = compiled.supply(0).source(WorkerPlace { worker: 0, workers: 1 });
    let mut out = Requests::new();
    let mut best = f64::MAX;
    for round in 0..ROUNDS {
        let begun = Instant::now();
        for n in 0..REQUESTS {
            out.clear();
            let draw = Some(Draw { lane: n % 4096, k: u64::from(n / 4096 + round) });
            let next = source.next(Turn { user: n % 100, draw, now: u64::from(n) }, &mut out);
            assert_eq!(next, Next::Send);
            black_box(&out);
        }
        best = best.min(begun.elapsed().as_nanos() as f64 / f64::from(REQUESTS));
    }
    best
}
