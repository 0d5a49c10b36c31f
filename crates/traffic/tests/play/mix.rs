//! Which endpoint comes when.

use serde_json::{Value, json};
use traffic::{Next, Requests, WorkerPlace};

use crate::{arrival, closed, compiled, sent, source};

/// Twenty endpoints with a key of the mix each.
fn twenty(key: &str, value: impl Fn(usize) -> Value) -> Value {
    let endpoint = |at: usize| json!({"path": format!("/{at}"), key: value(at)});
    json!({"target": "http://h", "endpoints": (0..20).map(endpoint).collect::<Vec<_>>()})
}

/// How often each endpoint comes in a million arrivals.
fn counted(workload: Value) -> [f64; 20] {
    const LANES: u32 = 4096;
    let compiled = compiled(workload, LANES);
    let mut source = source(&compiled, 0, 1);
    let mut out = Requests::new();
    let mut counts = [0.0; 20];
    for n in 0..1_000_000u64 {
        out.clear();
        let turn = arrival((n % u64::from(LANES)) as u32, n / u64::from(LANES));
        assert_eq!(source.next(turn, &mut out), Next::Send);
        counts[out.parts()[0].endpoint as usize] += 1.0;
    }
    counts
}

#[test]
fn weights_are_drawn() {
    let counts = counted(twenty("weight", |at| json!(at + 1)));
    let expected = |at: usize| 1_000_000.0 * (at + 1) as f64 / 210.0;
    let chi: f64 = (0..20).map(|at| (counts[at] - expected(at)).powi(2) / expected(at)).sum();
    // 19 degrees of freedom: p > 0.001 below 43.8. Far below would be no draw at all.
    assert!((4.0..43.8).contains(&chi), "{chi}: {counts:?}");
}

#[test]
fn rates_are_kept_in_every_part_of_the_run() {
    let rate = |at: usize| json!(format!("{}/s", if at == 0 { 1 } else { 10 * at }));
    let counts = counted(twenty("rate", rate));
    let total: f64 = 1.0 + (1..20).map(|at| 10.0 * at as f64).sum::<f64>();
    for (at, count) in counts.into_iter().enumerate() {
        let expected = 1_000_000.0 * if at == 0 { 1.0 } else { 10.0 * at as f64 } / total;
        assert!((count / expected - 1.0).abs() < 0.005, "{at}: {count} of {expected}");
    }
}

#[test]
fn runs_of_another_seed_draw_anew_and_go_on_in_the_same_pools() {
    let workload = json!({
        "target": "http://h",
        "pools": {"p": {"values": (0..1000).collect::<Vec<_>>(), "order": "sequential"}},
        "endpoints": [{"path": "/${p}/${int(1, 1000000)}"}]
    });
    let compiled = compiled(workload, 8);
    let path = |seed: u64| {
        let place = WorkerPlace { worker: 0, workers: 1 };
        let mut source = compiled.supply_of(seed, 0).source(place);
        let (_, text) = sent(&mut *source, arrival(0, 0));
        let path = text.split(' ').nth(1).unwrap().to_owned();
        let (row, drawn) = path[1..].split_once('/').unwrap();
        (row.parse::<u32>().unwrap(), drawn.parse::<u32>().unwrap())
    };
    let runs = [7, 8, 7].map(path);
    assert!(runs[0].1 == runs[2].1 && runs[0].1 != runs[1].1, "{runs:?}");
    assert!(runs[0].0 < runs[1].0 && runs[1].0 < runs[2].0, "{runs:?}");
}

#[test]
fn any_number_of_workers_sends_the_same_requests() {
    let workload = json!({
        "target": "http://h",
        "pools": {"p": {"values": (0..100).collect::<Vec<_>>()}},
        "variables": {"v": "${string(8)}"},
        "endpoints": [{"path": "/${p}/${v}", "weight": 3}, {"path": "/b/${uuid()}/${int(1, 9)}"}]
    });
    let compiled = compiled(workload, 8);
    // An open loop: requests belong to lanes.
    let mut alone = source(&compiled, 0, 1);
    let mut workers = [0, 1, 2].map(|worker| source(&compiled, worker, 3));
    for k in 0..50 {
        for lane in 0..8 {
            let one = sent(&mut *alone, arrival(lane, k));
            assert_eq!(sent(&mut *workers[lane as usize % 3], arrival(lane, k)), one);
        }
    }
    // A closed loop: they belong to users. User j of worker w is user j * 3 + w.
    let mut alone = source(&compiled, 0, 1);
    let mut workers = [0, 1, 2].map(|worker| source(&compiled, worker, 3));
    for _ in 0..50 {
        for user in 0..7 {
            let one = sent(&mut *alone, closed(user, 0));
            assert_eq!(sent(&mut *workers[user as usize % 3], closed(user / 3, 0)), one);
        }
    }
}

#[test]
fn users_belong_to_their_endpoint_and_keep_its_pace() {
    let workload = json!({"target": "http://h", "endpoints": [
        {"path": "/a", "concurrency": 3, "pace": "90ms"}, {"path": "/b", "concurrency": 2}]});
    let compiled = compiled(workload, 1);
    let mut source = source(&compiled, 0, 1);
    let mut out = Requests::new();
    let ms = |n: u64| n * 1_000_000;
    // The three begin a third of a step apart.
    for user in 0..3 {
        out.clear();
        match source.next(closed(user, 0), &mut out) {
            Next::Send => assert_eq!(user, 0),
            Next::At(due) => assert_eq!(due, ms(30) * u64::from(user)),
            other => panic!("{other:?}"),
        }
    }
    for user in [3, 4] {
        assert_eq!(sent(&mut *source, closed(user, 0)).0, 1);
        assert_eq!(sent(&mut *source, closed(user, 1)).0, 1);
    }
    // A late response does not move the steps; one that is later than a step begins them anew.
    assert_eq!(source.next(closed(0, ms(50)), &mut out), Next::At(ms(90)));
    assert_eq!(sent(&mut *source, closed(0, ms(91))).0, 0);
    assert_eq!(source.next(closed(0, ms(100)), &mut out), Next::At(ms(180)));
    assert_eq!(sent(&mut *source, closed(0, ms(500))).0, 0);
    assert_eq!(source.next(closed(0, ms(501)), &mut out), Next::At(ms(590)));
}

#[test]
fn unique_rows_are_split_over_workers_and_running_out_is_reported() {
    let workload = json!({"target": "http://h",
        "pools": {"u": {"values": (0..1000).collect::<Vec<_>>(), "order": "unique"}},
        "endpoints": [{"path": "/${u}"}]});
    let compiled = compiled(workload, 1);
    let mut workers: Vec<_> = (0..8).map(|worker| source(&compiled, worker, 8)).collect();
    let mut seen = std::collections::BTreeSet::new();
    let mut ended = 0;
    'load: for turn in 0.. {
        for worker in &mut workers {
            let mut out = Requests::new();
            match worker.next(closed(0, turn), &mut out) {
                Next::Send => assert!(seen.insert(out.bytes.clone()), "a row came twice"),
                Next::Halt(halt) => {
                    assert!(halt.0.contains("pool `u` has run out"), "{halt}");
                    ended += 1;
                    break 'load;
                }
                other => panic!("{other:?}"),
            }
        }
    }
    assert!(ended == 1 && seen.len() > 1000 - 8 * 7, "{}", seen.len());
}

#[test]
fn users_come_and_go_with_the_stages() {
    let workload = json!({"target": "http://h", "endpoints": [{"path": "/"}], "load": {"stages": [
        {"ramp": {"to": 10, "over": "10s"}}, {"hold": {"at": 2, "for": "5s"}}, {"hold": {"at": 4, "for": "5s"}}]}});
    let compiled = compiled(workload, 1);
    let load = compiled.load();
    assert_eq!(load.concurrency.unwrap().0, 10);
    assert_eq!(load.duration.unwrap().0, 20_000_000_000);
    let mut workers = [0, 1].map(|worker| source(&compiled, worker, 2));
    let mut active = |second: f64| {
        let now = (second * 1e9) as u64;
        let user = |user: u32| closed(user / 2, now);
        let mut out = Requests::new();
        (0..10).filter(|n| workers[*n as usize % 2].next(user(*n), &mut out) == Next::Send).count()
    };
    for (second, users) in [(0.5, 1), (3.5, 4), (9.5, 10), (12.0, 2), (17.0, 4), (20.0, 0)] {
        assert_eq!(active(second), users, "{second}");
    }
    let mut first = source(&compiled, 0, 2);
    // User 8 comes when the ramp reaches 8; user 2 again when the hold begins.
    for (user, now, due) in
        [(4, 0, 8_000_000_000..8_000_000_010), (1, 12_000_000_000, 15_000_000_000..15_000_000_010)]
    {
        match first.next(closed(user, now), &mut Requests::new()) {
            Next::At(at) => assert!(due.contains(&at), "{at}"),
            other => panic!("{other:?}"),
        }
    }
}
