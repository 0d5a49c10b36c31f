//! Loads in real time. Nothing is asserted about how fast, nor that a worker that was kept from running
//! sent everything before its window ended: only what the plan fixes. That everything is sent and has its response in
//! time is asserted in virtual time (`engine/tests/simulated`).

use model::Run;

use crate::harness::{interfaces, load, server, server_with, url};

#[test]
fn an_open_loop_sends_what_it_was_asked_to() {
    let server = server();
    for io in interfaces() {
        let flags = format!("-R 500 -d 2s -c 50 --io {io}");
        let run = load(&url(&server, "/healthz"), &flags).run;
        due(&run, 1000);
        assert_eq!(run.rates.offered_per_s, 500.0, "{io}");
        assert!(run.rates.achieved_per_s <= 500.0, "{io}: {:?}", run.rates);
        assert_eq!(run.wait_ns.count, run.totals.succeeded, "{io}");
        assert!(!run.timeline.is_empty(), "{io}");
    }
}

/// As many were due as planned, and none of those that were sent failed.
#[track_caller]
fn due(run: &Run, planned: u64) {
    let totals = &run.totals;
    assert_eq!(totals.attempts, planned, "{totals:?}");
    assert_eq!(totals.succeeded + totals.unsent, planned, "{totals:?}");
    assert!(totals.succeeded > 0, "{totals:?}");
}

#[test]
fn the_same_seed_makes_the_same_arrivals_and_another_does_not() {
    let server = server();
    let attempts = |seed: u32| {
        let flags = format!("-R 700 --arrivals poisson -d 500ms -c 50 --seed {seed}");
        load(&url(&server, "/healthz"), &flags).run.totals.attempts
    };
    let of_seeds: Vec<u64> = (1..5).map(attempts).collect();
    assert_eq!(of_seeds, (1..5).map(attempts).collect::<Vec<_>>());
    assert!(of_seeds.iter().any(|&n| n != of_seeds[0]), "{of_seeds:?}");
}

#[test]
fn too_few_connections_leave_arrivals_unsent_and_say_so() {
    let server = server();
    let flags = "-R 200 -c 1 -d 1s -T 300ms";
    let loaded = load(&url(&server, "/delay/20ms"), flags);
    let totals = &loaded.run.totals;
    assert_eq!(totals.attempts, 200);
    assert!(totals.unsent > 100, "{totals:?}");
    assert!(loaded.run.response_ns.max >= 300_000_000);
    assert_eq!(loaded.ended.code, 98, "{:?}", loaded.run.validity);
}

#[test]
fn warming_up_is_not_counted() {
    let server = server();
    let run = load(&url(&server, "/healthz"), "-R 1000 -c 50 --warmup 500ms -d 500ms").run;
    due(&run, 500);
    assert_eq!(run.totals.duration_ns, 500_000_000);
    let served = server.served().path("/healthz");
    assert!((run.totals.succeeded..=1000).contains(&served), "{served}: {:?}", run.totals);
}

#[test]
fn a_pace_bounds_the_rate() {
    let server = server();
    let run = load(&url(&server, "/healthz"), "-c 10 --pace 100ms -d 1s").run;
    // Ten a second each at most; a loaded machine may come late, never early.
    assert!((1..=100).contains(&run.totals.attempts), "{:?}", run.totals);
    assert_eq!(run.totals.attempts, run.totals.succeeded);
}

#[test]
fn a_cap_on_requests_in_flight_holds_over_all_workers() {
    let server = server();
    let loaded = load(&url(&server, "/delay/5ms"), "-c 20 -t 4 --max-inflight 2 -n 60");
    assert!(loaded.ended.stderr.contains("--max-inflight"), "{:?}", loaded.ended.stderr);
    assert!(loaded.run.concurrency.in_flight_max <= 2, "{:?}", loaded.run.concurrency);
    assert_eq!(loaded.run.totals.succeeded, 60);
}

#[test]
fn spinning_workers_do_the_same_work() {
    let server = server();
    for io in interfaces() {
        let run = load(
            &url(&server, "/healthz"),
            &format!("-R 300 -c 10 -t 1 -d 500ms --spin --io {io}"),
        )
        .run;
        due(&run, 150);
    }
}

#[test]
fn a_server_that_closes_each_connection_is_reconnected_to() {
    let server = server_with(|options| options.requests_per_connection = Some(1));
    for io in interfaces() {
        let run = load(&url(&server, "/healthz"), &format!("-c 5 -n 300 --io {io}")).run;
        assert_eq!((run.totals.succeeded, run.totals.server_closes), (300, 300), "{io}");
        assert!(run.totals.connects >= 300, "{io}");
    }
}
