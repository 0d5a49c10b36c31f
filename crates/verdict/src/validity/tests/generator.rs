//! Rules about the generator.

use model::Summary;

use super::*;

/// Half of 10,000 arrivals not sent, with all ten connections in use.
fn held_back(run: &mut Run) {
    run.rates.achieved_per_s = 500.0;
    run.rates.requests_per_s = 500.0;
    run.totals.unsent = 5_000;
    run.totals.requests = 5_000;
    run.totals.succeeded = 5_000;
    run.concurrency.in_flight_max = 10;
    run.service_ns = around(20 * MILLISECOND, 5_000);
    run.response_ns = around(SECOND, 100_000);
    run.wait_ns = around(SECOND, 5_000);
}

#[test]
fn rules_about_the_generator() {
    check(vec![
        (
            "busy worker, closed loop",
            closed(),
            |run| run.generator.workers[1].busy_ratio = 0.99,
            Verdict::LowerBound,
            ReasonCode::WorkersSaturated,
            "1 of 2 workers had no time left (busy 99.00 % of the window): the server carries at least 1,000/s",
        ),
        (
            "busy worker on time, open loop",
            open(),
            |run| run.generator.workers[1].busy_ratio = 0.99,
            Verdict::Valid,
            ReasonCode::WorkersSaturated,
            "no time left",
        ),
        (
            "late by a fifth",
            open(),
            |run| (run.late_ns.p99, run.response_ns.p99) = (2 * MILLISECOND, 10 * MILLISECOND),
            Verdict::LowerBound,
            ReasonCode::LateSends,
            "p99 2.00ms, of a response p99 of 10.0ms",
        ),
        (
            "late by most",
            open(),
            |run| (run.late_ns.p99, run.response_ns.p99) = (9 * MILLISECOND, 10 * MILLISECOND),
            Verdict::Invalid,
            ReasonCode::LateSends,
            "requests left late",
        ),
        (
            "late by most, but for a few that take long",
            open(),
            |run| {
                (run.late_ns.p50, run.response_ns.p50) = (2 * MILLISECOND, 3 * MILLISECOND);
                (run.late_ns.p99, run.response_ns.p99) = (3 * MILLISECOND, 800 * MILLISECOND);
            },
            Verdict::Invalid,
            ReasonCode::LateSends,
            "requests left late: p50 2.00ms, of a response p50 of 3.00ms",
        ),
        (
            "fewer sent than offered",
            open(),
            |run| run.rates.achieved_per_s = 990.0,
            Verdict::LowerBound,
            ReasonCode::AchievedBelowOffered,
            "99.00 % of the 1,000/s offered were sent as 990/s: 100 arrivals",
        ),
    ]);
}

/// One wake-up of the machine is p99 of fifty arrivals, though none of what they show.
#[test]
fn of_few_arrivals_one_that_is_late_is_not_held_against_them() {
    let late = |arrivals: u64, p75: u64| {
        move |run: &mut Run| {
            run.late_ns = Summary { p75, p99: 3 * MILLISECOND, ..around(100_000, arrivals) };
            run.response_ns.p99 = 4 * MILLISECOND;
        }
    };
    let (_, codes, text) = judged(open(), late(50, 100_000));
    assert_eq!(codes, vec![], "{text}");
    for (arrivals, p75, words) in [(50, 2 * MILLISECOND, "p75 2.00ms"), (1_000, 0, "p99 3.00ms")] {
        let (verdict, codes, text) = judged(open(), late(arrivals, p75));
        assert_eq!((verdict, codes), (Verdict::Invalid, vec![ReasonCode::LateSends]), "{text}");
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn rules_about_limits_of_the_system() {
    check(vec![
        (
            "files ran out now and then",
            closed(),
            |run| {
                run.totals.limits.insert("EMFILE".into(), 90_000);
                run.totals.errors.add(ErrorClass::Connect, 100);
            },
            Verdict::LowerBound,
            ReasonCode::LimitsHit,
            "EMFILE 90,000 times (open files of a process: 1,024 allowed, 4,096 at most",
        ),
        (
            "most attempts found no port",
            closed(),
            |run| {
                run.totals.limits.insert("EADDRNOTAVAIL".into(), 7_000);
                run.totals.errors.add(ErrorClass::Connect, 7_000);
            },
            Verdict::Invalid,
            ReasonCode::LimitsHit,
            "--source",
        ),
    ]);
}

#[test]
fn workers_that_wait_for_each_other_are_named() {
    for (processors, loads) in
        [(1, [Verdict::LowerBound, Verdict::Valid]), (2, [Verdict::Valid; 2])]
    {
        for (run, verdict) in [closed(), open()].into_iter().zip(loads) {
            let (found, codes, text) = judged(run, |run| {
                run.environment.cpus_allowed = processors;
                run.generator.workers[1].queued_ratio = 0.3;
            });
            assert_eq!(found, verdict, "{text}");
            assert_eq!(codes.is_empty(), processors == 2, "{text}");
            let evidence = "2 workers shared 1 processor, and one waited 30.00 % of the window";
            assert!(codes.is_empty() || text.contains(evidence), "{text}");
        }
    }
}

#[test]
fn spinning_workers_are_not_called_saturated() {
    let (verdict, codes, _) = judged(open(), |run| {
        run.plan.spin = true;
        run.generator.workers.iter_mut().for_each(|worker| worker.busy_ratio = 1.0);
    });
    assert_eq!((verdict, codes), (Verdict::Valid, vec![]));
}

#[test]
fn no_number_of_connections_is_advised_where_no_request_has_ended() {
    let mut run = open();
    held_back(&mut run);
    assert!(connections_for(&run).contains("-c 20 or more"), "{}", connections_for(&run));
    run.service_ns = Summary::default();
    assert!(connections_for(&run).contains("unknown"), "{}", connections_for(&run));
}

#[test]
fn arrivals_held_back_by_the_connections() {
    check(vec![
        (
            "server takes its time",
            open(),
            held_back,
            Verdict::LowerBound,
            ReasonCode::ConnectionsExhausted,
            "5,000 of 10,000 arrivals (50.00 %) found no free connection",
        ),
        (
            "how many would do",
            open(),
            held_back,
            Verdict::LowerBound,
            ReasonCode::ConnectionsExhausted,
            "at a mean service time of 20.0ms the rate needs -c 20 or more",
        ),
        (
            "too few, though all were sent",
            open(),
            |run| {
                run.concurrency.in_flight_max = 10;
                run.wait_ns = around(40 * MILLISECOND, 10_000);
                run.response_ns = around(42 * MILLISECOND, 100_000);
            },
            Verdict::Valid,
            ReasonCode::ConnectionsExhausted,
            "arrivals waited 80.0ms for one (p90), of a response time of 84.0ms",
        ),
    ]);
}

#[test]
fn arrivals_held_back_by_the_server() {
    check(vec![
        (
            "one queue behind them",
            open(),
            |run| {
                held_back(run);
                (run.service_ns.min, run.service_ns.stdev) = (MILLISECOND, 3 * MILLISECOND);
            },
            Verdict::Valid,
            ReasonCode::ConnectionsExhausted,
            "its service time grew from 1.00ms to a steady 20.0ms",
        ),
        (
            "the server stood still at the end",
            open(),
            |run| {
                held_back(run);
                (run.plan.connections, run.plan.max_inflight) = (60, 60);
                run.concurrency.in_flight_max = 60;
            },
            Verdict::Valid,
            ReasonCode::ConnectionsExhausted,
            "The server held them up: at a mean service time of 20.0ms the rate needs -c 20 or more, and there were 60. Find out",
        ),
        (
            "the server sheds",
            open(),
            |run| {
                held_back(run);
                run.totals.statuses = [(200, 4_900), (503, 100)].into();
            },
            Verdict::Valid,
            ReasonCode::ConnectionsExhausted,
            "2.00 % of its responses were 429 or 503",
        ),
        (
            "the server lets them time out",
            open(),
            |run| {
                held_back(run);
                run.totals.errors.add(ErrorClass::Timeout, 2_000);
            },
            Verdict::Valid,
            ReasonCode::ConnectionsExhausted,
            "20.00 % of the attempts timed out",
        ),
    ]);
}

#[test]
fn arrivals_held_back_by_a_generator_that_is_busy() {
    let (verdict, codes, _) = judged(open(), |run| {
        held_back(run);
        run.generator.workers[0].busy_ratio = 1.0;
    });
    assert_eq!(verdict, Verdict::LowerBound);
    assert!(codes.contains(&ReasonCode::AchievedBelowOffered), "{codes:?}");
    assert!(codes.contains(&ReasonCode::ConnectionsExhausted), "{codes:?}");
}

#[test]
fn a_worker_behind_for_its_neighbours_is_not_behind_for_the_server() {
    let behind = |server_ratio, neighbours_ratio, duration_ns| {
        judged(open(), |run| {
            held_back(run);
            run.totals.duration_ns = duration_ns;
            let worker = &mut run.generator.workers[0];
            (worker.busy_ratio, worker.queued_ratio) = (0.6, 0.39);
            on(run, |machine| {
                machine.shares_cores = true;
                (machine.server_ratio, machine.neighbours_ratio) = (server_ratio, neighbours_ratio);
            });
        })
        .1
        .contains(&ReasonCode::AchievedBelowOffered)
    };
    assert!(behind(Some(0.2), 0.5, 10 * SECOND), "the worker waited for neighbours");
    for (server, neighbours, duration_ns) in
        [(Some(0.5), 0.2, 10 * SECOND), (None, 0.5, 10 * SECOND), (Some(0.0), 0.5, SECOND / 2)]
    {
        let behind = behind(server, neighbours, duration_ns);
        assert!(!behind, "it waited for the server, or that is unknown: {server:?}");
    }
}

#[test]
fn a_server_that_lets_nobody_in_is_not_the_generators_doing() {
    check(vec![
        (
            "the server lets nobody in any more",
            open(),
            |run| {
                held_back(run);
                run.totals.errors.add(ErrorClass::Connect, 500);
            },
            Verdict::Valid,
            ReasonCode::ConnectionsExhausted,
            "5.00 % of the attempts could not connect",
        ),
        (
            "its queue of connections is full, and the kernel asks again",
            open(),
            |run| {
                run.rates.achieved_per_s = 900.0;
                run.connect_ns.p99 = 1_010 * MILLISECOND;
            },
            Verdict::Valid,
            ReasonCode::AchievedBelowOffered,
            "one in a hundred took 1.01s or more to open",
        ),
        (
            "the same, and connections it closed stay closed",
            open(),
            |run| {
                run.rates.achieved_per_s = 900.0;
                run.totals.errors.add(ErrorClass::Connect, 500);
            },
            Verdict::Valid,
            ReasonCode::AchievedBelowOffered,
            "5.00 % of the attempts could not connect",
        ),
    ]);
    let (verdict, codes, _) = judged(open(), |run| {
        held_back(run);
        run.generator.workers[0].busy_ratio = 1.0;
        run.totals.errors.add(ErrorClass::Connect, 500);
    });
    assert_eq!(verdict, Verdict::LowerBound, "the generator had no time left either: {codes:?}");
}

#[test]
fn the_last_arrivals_in_hand_are_no_shortfall() {
    let (verdict, codes, _) = judged(open(), |run| run.rates.achieved_per_s = 999.2);
    assert_eq!((verdict, codes), (Verdict::Valid, vec![]));
}

#[test]
fn users_held_back_by_the_cap_are_a_lower_bound() {
    check(vec![(
        "cap below the users",
        closed(),
        |run| {
            (run.plan.max_inflight, run.concurrency.in_flight_max) = (2, 2);
            run.service_ns = around(MILLISECOND, 10_000);
        },
        Verdict::LowerBound,
        ReasonCode::ConnectionsExhausted,
        "10 users were held to 2 requests at once (--max-inflight)",
    )]);
}

/// Blocks of an open loop whose service times, in milliseconds, lie evenly between two.
fn blocks(ranges: &[(u64, u64)]) -> Vec<model::Block> {
    let block = |&(least, most): &(u64, u64)| {
        let mut times = model::Latencies::<u64>::new();
        (0..100).for_each(|at| times.record((least + (most - least) * at / 99) * MILLISECOND));
        model::Block { service: Some(times.to_base64()), ..Default::default() }
    };
    ranges.iter().map(block).collect()
}

/// A queue that grows until the connections run out: over the whole window its service times are spread.
#[test]
fn a_queue_that_still_grows_is_the_servers() {
    for (ranges, verdict) in [
        (&[(3, 300), (400, 1000), (1200, 1700)][..], Verdict::Valid),
        // A server that takes its time, unevenly.
        (&[(3, 1700), (3, 1700), (3, 1700)], Verdict::LowerBound),
        (&[(3, 1700)], Verdict::LowerBound),
        (&[(900, 1000), (900, 1000)], Verdict::LowerBound),
    ] {
        let (found, codes, text) = judged(open(), |run| {
            held_back(run);
            run.blocks = blocks(ranges);
            run.service_ns = around(700 * MILLISECOND, 5_000);
            run.service_ns.min = ranges[0].0 * MILLISECOND;
            run.service_ns.stdev = 500 * MILLISECOND;
            run.rates.requests_per_s = 10.0;
        });
        assert_eq!(
            (found, &codes[..]),
            (verdict, &[ReasonCode::ConnectionsExhausted][..]),
            "{text}"
        );
        let named = text.contains("grew from 3.00ms to a steady 1.45s at the end of the window");
        assert_eq!(named, verdict == Verdict::Valid, "{text}");
    }
}

/// Sessions that think: hardly a request is in flight while they hold every connection.
#[test]
fn connections_that_sessions_hold_are_not_free() {
    let holding = |connections: u32| {
        let (mut run, sessions) = (open(), model::plan::FlowPlan::default());
        run.plan.mix.flows = vec![sessions];
        run.rates.achieved_per_s = 500.0;
        (run.concurrency.open_max, run.concurrency.in_flight_max) = (connections, 2);
        run
    };
    let (verdict, codes, text) = judged(holding(10), |_| ());
    assert_eq!(
        (verdict, &codes[..]),
        (Verdict::LowerBound, &[ReasonCode::ConnectionsExhausted][..])
    );
    assert!(text.contains("sessions held 10 of 10 connections"), "{text}");
    // Of sessions of four steps, arrivals are those that began and those that did not.
    let (_, _, text) = judged(holding(10), |run| {
        (run.rates.achieved_per_s, run.late_ns.count) = (900.0, 3_250);
    });
    assert!(text.contains("1,000 of 3,250 arrivals (30.77 %)"), "{text}");
    // All of them were sent, and waited: not for the generator.
    let (verdict, codes, text) = judged(holding(10), |run| {
        run.rates.achieved_per_s = 1000.0;
        run.wait_ns = around(MILLISECOND / 2, 10_000);
    });
    assert_eq!((verdict, codes), (Verdict::Valid, vec![]), "{text}");
    let (_, codes, text) = judged(holding(5), |_| ());
    assert_eq!(codes, vec![ReasonCode::AchievedBelowOffered], "{text}");
}
