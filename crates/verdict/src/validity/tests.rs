use model::ErrorClass;
use model::units::{MILLISECOND, SECOND};

use super::*;
use crate::fixture::{around, closed, open};

/// The spoiled run's verdict, and the codes of its reasons.
fn judged(mut run: Run, spoil: impl Fn(&mut Run)) -> (Verdict, Vec<ReasonCode>, String) {
    spoil(&mut run);
    let validity = judge(&run);
    let codes = validity.reasons.iter().map(|reason| reason.code).collect();
    let texts: Vec<String> = validity.reasons.into_iter().map(|reason| reason.text).collect();
    (validity.verdict, codes, texts.join("\n"))
}

type Case = (&'static str, Run, fn(&mut Run), Verdict, ReasonCode, &'static str);

fn check(cases: Vec<Case>) {
    for (name, run, spoil, verdict, code, needle) in cases {
        let (found, codes, text) = judged(run, spoil);
        assert_eq!((found, codes.as_slice()), (verdict, [code].as_slice()), "{name}: {text}");
        assert!(text.contains(needle), "{name}: {text}");
    }
}

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
fn sound_runs_are_valid() {
    for run in [closed(), open()] {
        let (verdict, codes, _) = judged(run, |_| ());
        assert_eq!((verdict, codes), (Verdict::Valid, vec![]));
    }
}

#[test]
fn rules_about_answers() {
    check(vec![
        (
            "nothing answered",
            closed(),
            |run| {
                run.totals.requests = 0;
                run.totals.succeeded = 0;
                run.totals.errors.add(ErrorClass::Connect, 10_000);
                run.totals.error_samples.insert("connect".into(), "Connection refused".into());
            },
            Verdict::Invalid,
            ReasonCode::NoAnswers,
            "no answer came in 10.0s, of 10,000 attempts; 10,000 failed by connect (Connection refused)",
        ),
        (
            "all 404",
            closed(),
            |run| {
                run.totals.errors.add(ErrorClass::Status, 10_000);
                run.totals.succeeded = 0;
                run.totals.statuses = [(404, 10_000)].into();
            },
            Verdict::Invalid,
            ReasonCode::FastErrors,
            "10,000 of 10,000 answers (100.00 %) were failures, 10,000 of them with status 404: errors \
             that look like capacity; 0.00/s were carried",
        ),
        (
            "sheds two thirds",
            closed(),
            |run| {
                run.totals.errors.add(ErrorClass::Status, 6_667);
                run.totals.statuses = [(200, 3_333), (503, 6_667)].into();
            },
            Verdict::Valid,
            ReasonCode::FastErrors,
            "status 503",
        ),
        (
            "closes after every answer",
            closed(),
            |run| run.totals.server_closes = 10_000,
            Verdict::Valid,
            ReasonCode::KeepaliveRefused,
            "connecting anew took 200us",
        ),
    ]);
}

#[test]
fn an_overloaded_server_is_a_result() {
    let (verdict, codes, text) = judged(closed(), |run| {
        run.totals.errors.add(ErrorClass::Timeout, 2_000);
        run.totals.errors.add(ErrorClass::Status, 3_000);
        run.totals.statuses = [(200, 5_000), (503, 3_000)].into();
        run.totals.requests = 8_000;
        run.response_ns = around(5 * SECOND, 100_000);
    });
    let expected = (Verdict::Valid, vec![ReasonCode::FastErrors]);
    assert_eq!((verdict, codes), expected, "{text}");
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
            "fewer sent than offered",
            open(),
            |run| run.rates.achieved_per_s = 990.0,
            Verdict::LowerBound,
            ReasonCode::AchievedBelowOffered,
            "99.00 % of the 1,000/s offered were sent as 990/s: 100 arrivals",
        ),
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
fn spinning_workers_are_not_called_saturated() {
    let (verdict, codes, _) = judged(open(), |run| {
        run.plan.spin = true;
        run.generator.workers.iter_mut().for_each(|worker| worker.busy_ratio = 1.0);
    });
    assert_eq!((verdict, codes), (Verdict::Valid, vec![]));
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
            "at a mean service time of 20.0ms the rate takes -c 20 or more",
        ),
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
            "the server sheds",
            open(),
            |run| {
                held_back(run);
                run.totals.statuses = [(200, 4_900), (503, 100)].into();
            },
            Verdict::Valid,
            ReasonCode::ConnectionsExhausted,
            "2.00 % of its answers were 429 or 503",
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
        assert!(!behind, "it waited for the server, or that cannot be told: {server:?}");
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
fn rules_about_the_window() {
    check(vec![
        (
            "more in flight than connections",
            closed(),
            |run| run.service_ns = around(20 * MILLISECOND, 10_000),
            Verdict::Invalid,
            ReasonCode::LittleLaw,
            "1,000 answers/s x 20.0ms mean service time is 20.0 requests in flight, where 10 connections x 1 allow 10",
        ),
        (
            "few answers",
            closed(),
            |run| run.response_ns.count = 999,
            Verdict::Valid,
            ReasonCode::WindowTooShort,
            "999 attempts in 10.0s are too few to quote p99 or above: 9 of them are above it",
        ),
        (
            "few answers for p99.9",
            closed(),
            |run| run.response_ns.count = 9_999,
            Verdict::Valid,
            ReasonCode::WindowTooShort,
            "9,999 attempts in 10.0s are too few to quote p99.9 or above: 9 of them are above it",
        ),
        (
            "few answers for p99.99",
            closed(),
            |run| run.response_ns.count = 99_999,
            Verdict::Valid,
            ReasonCode::WindowTooShort,
            "99,999 attempts in 10.0s are too few to quote p99.99 or above: 9 of them are above it",
        ),
        (
            "interrupted",
            closed(),
            |run| {
                run.interrupted = true;
                run.totals.duration_ns = 3 * SECOND;
            },
            Verdict::Valid,
            ReasonCode::Interrupted,
            "ended after 3.00s of 10.0s",
        ),
    ]);
}

/// (QPS, mean ms, longest ms, window s) at 10 connections, and whether that is impossible.
#[test]
fn little_allows_what_the_windows_ends_explain() {
    for (qps, mean_ms, max_ms, window_s, impossible) in [
        (1000.0, 10, 12, 10, false),
        (1000.0, 10, 12, 1, false),
        (1040.0, 10, 12, 10, false),
        (1100.0, 10, 12, 10, true),
        (12.0, 1000, 1100, 1, false),
        (1100.0, 100, 130, 10, true),
    ] {
        let (verdict, _, text) = judged(closed(), |run| {
            run.rates.requests_per_s = qps;
            run.totals.duration_ns = window_s * SECOND;
            run.service_ns = around(mean_ms * MILLISECOND, (qps * window_s as f64) as u64);
            run.service_ns.max = max_ms * MILLISECOND;
        });
        assert_eq!(verdict == Verdict::Invalid, impossible, "{qps} x {mean_ms}: {text}");
    }
    let (verdict, codes, _) = judged(closed(), |run| {
        (run.plan.pipeline, run.plan.max_inflight) = (4, 40);
        run.service_ns = around(20 * MILLISECOND, 10_000);
    });
    assert_eq!((verdict, codes), (Verdict::Valid, vec![]));
}

#[test]
fn hostile_figures_do_not_panic() {
    let (verdict, _, _) = judged(open(), |run| {
        run.totals.attempts = u64::MAX;
        run.totals.server_closes = u64::MAX;
        run.totals.limits = [("EMFILE".into(), u64::MAX), ("X".into(), u64::MAX)].into();
        run.totals.statuses = [(429, u64::MAX), (503, u64::MAX)].into();
        run.rates.offered_per_s = f64::MAX;
        run.concurrency.in_flight_max = u32::MAX;
        run.plan.connections = u32::MAX;
        run.connect_ns.mean = u64::MAX;
        run.tls_ns.mean = u64::MAX;
        (run.late_ns.p99, run.wait_ns.p99) = (u64::MAX, u64::MAX);
        run.service_ns.mean = u64::MAX;
    });
    assert_eq!(verdict, Verdict::Invalid);
    judged(open(), |run| {
        run.totals = Default::default();
        run.rates = Default::default();
        run.plan.connections = 0;
    });
}

/// Sets the machine of a run.
fn on(run: &mut Run, change: impl Fn(&mut model::Machine)) {
    let mut machine = model::Machine { sampled_ns: 10 * SECOND, ..Default::default() };
    change(&mut machine);
    run.generator.machine = Some(machine);
}

#[test]
fn rules_about_neighbours() {
    check(vec![
        (
            "neighbours, and a worker that waits",
            closed(),
            |run| {
                run.generator.workers[0].queued_ratio = 0.4;
                on(run, |machine| machine.neighbours_ratio = 0.5);
            },
            Verdict::LowerBound,
            ReasonCode::BusyNeighbour,
            "other processes took 50.00 % of the generator's processors, and a worker waited 40.00 %",
        ),
        (
            "neighbours in an open loop",
            open(),
            |run| {
                run.generator.workers[0].queued_ratio = 0.4;
                on(run, |machine| machine.neighbours_ratio = 0.5);
            },
            Verdict::Valid,
            ReasonCode::BusyNeighbour,
            "other processes",
        ),
        (
            "the host's other guests",
            closed(),
            |run| on(run, |machine| machine.steal_ratio = 0.06),
            Verdict::LowerBound,
            ReasonCode::BusyNeighbour,
            "the host gave 6.00 % of the generator's processors to other guests",
        ),
        (
            "more workers than processors",
            closed(),
            |run| {
                run.generator.workers[0].busy_ratio = 0.5;
                run.generator.workers[0].queued_ratio = 0.49;
            },
            Verdict::LowerBound,
            ReasonCode::WorkersSaturated,
            "busy 50.00 % of the window, 49.00 % more waiting for a processor",
        ),
    ]);
}

#[test]
fn ticks_of_a_moment_accuse_no_neighbour() {
    for (window_ns, accused) in [(4 * MILLISECOND, false), (SECOND, true)] {
        let mut run = closed();
        run.totals.duration_ns = window_ns;
        run.generator.workers[0].queued_ratio = 0.4;
        on(&mut run, |machine| machine.neighbours_ratio = 0.31);
        let codes: Vec<ReasonCode> = judge(&run).reasons.iter().map(|held| held.code).collect();
        assert_eq!(codes.contains(&ReasonCode::BusyNeighbour), accused, "{codes:?}");
    }
}

#[test]
fn a_server_on_the_same_processors_is_told_and_not_blamed() {
    check(vec![
        (
            "the server on the same processors",
            closed(),
            |run| {
                run.environment.cpus_allowed = 2;
                run.generator.workers[0].queued_ratio = 0.49;
                run.generator.workers[0].busy_ratio = 0.5;
                on(run, |machine| (machine.shares_cores, machine.server_ratio) = (true, Some(0.4)));
            },
            Verdict::Valid,
            ReasonCode::SharedCores,
            "may use the generator's 2 processors; it took 40.00 % of them, and a worker waited 49.00 %",
        ),
        (
            "a server that was not found is not blamed on neighbours",
            closed(),
            |run| {
                run.generator.workers[0].queued_ratio = 0.4;
                on(run, |machine| {
                    (machine.shares_cores, machine.neighbours_ratio) = (true, 0.5);
                });
            },
            Verdict::Valid,
            ReasonCode::SharedCores,
            "a worker waited 40.00 %",
        ),
    ]);
}

#[test]
fn rules_about_the_machine() {
    check(vec![
        (
            "memory",
            closed(),
            |run| {
                run.environment.memory_bytes = 1000 << 20;
                on(run, |machine| machine.memory_available_bytes = Some(10 << 20));
            },
            Verdict::LowerBound,
            ReasonCode::MemoryShort,
            "at worst 10 MiB of 1,000 MiB",
        ),
        (
            "sleep",
            closed(),
            |run| on(run, |machine| machine.slept_ns = SECOND),
            Verdict::Invalid,
            ReasonCode::ClockJumped,
            "slept for 1.00s",
        ),
        (
            "clock set",
            open(),
            |run| on(run, |machine| machine.stepped_ns = -3 * SECOND as i64),
            Verdict::Valid,
            ReasonCode::ClockJumped,
            "set back by 3.00s",
        ),
        (
            "ceiling",
            closed(),
            |run| {
                run.generator.ceiling = Some(model::Ceiling {
                    requests_per_s: 1100.0,
                    used_ratio: 0.909,
                    measured_at: String::new(),
                    late_p99_ns: None,
                });
            },
            Verdict::Valid,
            ReasonCode::NearCeiling,
            "90.90 % of what this generator can do with 2 workers, 1,100/s",
        ),
    ]);
}

#[test]
fn neighbours_that_cost_nothing_are_not_told() {
    let (verdict, codes, _) = judged(closed(), |run| {
        run.generator.workers[0].queued_ratio = 0.02;
        on(run, |machine| (machine.neighbours_ratio, machine.steal_ratio) = (0.4, 0.01));
    });
    assert_eq!((verdict, codes), (Verdict::Valid, vec![]));
}

#[test]
fn rules_about_the_way() {
    check(vec![
        (
            "limited by address",
            closed(),
            |run| run.totals.statuses = [(200, 9_000), (429, 1_000)].into(),
            Verdict::Valid,
            ReasonCode::SingleSource,
            "every connection came from one address, and 10.00 % of the answers were 429",
        ),
        (
            "most of the ports",
            closed(),
            |run| {
                run.plan.addresses = vec!["192.0.2.1:80".into()];
                run.concurrency.open_max = 15_000;
            },
            Verdict::Valid,
            ReasonCode::SingleSource,
            "15,000 connections took more than half of the 28,232 local ports",
        ),
        (
            "one key",
            closed(),
            |run| run.plan.headers = vec![("Authorization".into(), "***".into())],
            Verdict::Valid,
            ReasonCode::SingleKey,
            "every request carried the same Authorization",
        ),
    ]);
    let (_, codes, _) = judged(closed(), |run| {
        run.plan.sources = vec!["127.0.0.2".into(), "127.0.0.3".into()];
        run.totals.statuses = [(200, 9_000), (429, 1_000)].into();
    });
    assert_eq!(codes, []);
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

/// Gives a run a window of points with this QPS and median (ms), a second each.
fn went(run: &mut Run, course: impl Fn(usize) -> (f64, f64)) {
    run.timeline = (0..30)
        .map(|at| {
            let (requests_per_s, p50_ms) = course(at);
            model::timeline::Point {
                start_ns: at as u64 * SECOND,
                duration_ns: SECOND,
                phase: "window".into(),
                requests_per_s,
                p50_ns: (p50_ms * 1e6) as u64,
                ..Default::default()
            }
        })
        .collect();
    let sum: f64 = run.timeline.iter().map(|point| point.requests_per_s).sum();
    run.rates.requests_per_s = sum / 30.0;
}

#[test]
fn rules_about_the_course() {
    check(vec![
        (
            "warm-up that lowers QPS",
            closed(),
            |run| went(run, |at| if at < 8 { (400.0, 5.0) } else { (1000.0, 2.0) }),
            Verdict::LowerBound,
            ReasonCode::NotSteady,
            "the first 8.00s of the window were warm-up: p50 5.00ms there and 2.00ms later; warm, it \
             answered 1,000/s, 19.05 % more than the whole window shows",
        ),
        (
            "warm-up under a schedule",
            open(),
            |run| went(run, |at| if at < 3 { (1000.0, 9.0) } else { (1000.0, 2.0) }),
            Verdict::Valid,
            ReasonCode::NotSteady,
            "the first 3.00s of the window were warm-up",
        ),
        (
            "a queue that grows",
            open(),
            |run| went(run, |at| (1000.0, 2.0 + 0.1 * at as f64)),
            Verdict::Valid,
            ReasonCode::NotSteady,
            "the median response time never settled",
        ),
        (
            "dips",
            closed(),
            |run| {
                run.dips = vec![model::Dip {
                    start_ns: 3 * SECOND,
                    duration_ns: 2 * SECOND,
                    throughput: Some(model::Departure { course: 1e3, typical: 400.0, worst: 0.0 }),
                    ..Default::default()
                }];
            },
            Verdict::Valid,
            ReasonCode::Dips,
            "left its own course once, for 2.00s of 10.0s; longest: at 3.00s for 2.00s, QPS 400 \
             instead of 1,000",
        ),
    ]);
}

#[test]
fn a_steady_run_is_stable_and_a_short_one_cannot_be_told() {
    let mut run = closed();
    assert_eq!(stability(&run), Stability::TooShort);
    went(&mut run, |at| (1000.0 + (at % 3) as f64, 2.0 + 0.1 * (at % 2) as f64));
    assert_eq!((judge(&run).reasons, stability(&run)), (vec![], Stability::Stable));
    run.dips = vec![model::Dip { throughput: None, ..Default::default() }];
    assert!(matches!(stability(&run), Stability::Unstable(_)));
}

/// A run of three hours: points of two seconds, and a last one of one.
fn folded(figures: impl Fn(usize) -> (f64, f64)) -> Run {
    let mut run = closed();
    went(&mut run, figures);
    let last = run.timeline.len() - 1;
    for (at, point) in run.timeline.iter_mut().enumerate() {
        point.start_ns *= 2;
        point.duration_ns = if at == last { SECOND - 1 } else { 2 * SECOND };
    }
    run
}

#[test]
fn folded_timelines_are_read_as_those_of_seconds_are() {
    let steady = |at: usize| (1000.0 + (at % 3) as f64, 2.0);
    // The stub at the end brings fewer answers and says nothing of the server.
    let stub = |at: usize| if at == 29 { (100.0, 900.0) } else { steady(at) };
    assert_eq!(
        (judge(&folded(stub)).reasons, stability(&folded(stub))),
        (vec![], Stability::Stable)
    );
    let warming = |at: usize| if at < 8 { (400.0, 5.0) } else { steady(at) };
    let reasons = judge(&folded(warming)).reasons;
    assert_eq!(reasons[0].code, ReasonCode::NotSteady);
    assert!(reasons[0].text.contains("the first 16.0s of the window were warm-up"), "{reasons:?}");
}

#[test]
fn every_rule_is_documented_once() {
    let text = rules_as_markdown();
    assert_eq!(text.lines().count(), RULES.len() + 2);
    for (at, rule) in RULES.iter().enumerate() {
        assert!(RULES[..at].iter().all(|other| other.code != rule.code), "{:?}", rule.code);
        assert!(rule.advice.ends_with('.'), "{}", rule.advice);
        assert!(text.contains(rule.code.name()));
    }
}
