//! Rules about a generator that was not running.

use super::*;

/// A quota that cost this much of each of the workers' time, `ms` at a time.
fn held_back(run: &mut Run, share: f64, ms: u64) {
    let threads = u64::from(run.plan.threads);
    run.environment.cpus_allowed = run.plan.threads;
    let lost_ns = (share * 10.0 * SECOND as f64) as u64;
    on(run, |machine| {
        machine.throttled_ns = lost_ns * threads;
        machine.throttled = lost_ns.div_ceil(ms * MILLISECOND);
    });
}

#[test]
fn a_quota_that_bites_is_named_in_either_loop() {
    for run in [closed(), open()] {
        check(vec![
            (
                "most of the window",
                run.clone(),
                |run| held_back(run, 0.7, 70),
                Verdict::Invalid,
                ReasonCode::Throttled,
                "held it back 100 times, for 70.00 % of the window, 70.0ms at a time",
            ),
            (
                "a little, too short for any latency",
                run.clone(),
                |run| held_back(run, 0.02, 4),
                Verdict::LowerBound,
                ReasonCode::Throttled,
                "for 2.00 % of the window",
            ),
            (
                "seldom, and longer than any response",
                run,
                |run| held_back(run, 0.006, 60),
                Verdict::LowerBound,
                ReasonCode::Throttled,
                "held it back once",
            ),
        ]);
    }
}

/// One worker that was away for `share` of the window in `pauses` pieces, the longest of `longest_ms`.
fn away(run: &mut Run, share: f64, longest_ms: u64, pauses: u64) {
    let worker = &mut run.generator.workers[1];
    (worker.paused_ratio, worker.paused_max_ns) = (share, longest_ms * MILLISECOND);
    worker.pauses = pauses;
}

#[test]
fn a_generator_that_stood_still_behind_its_window_is_named() {
    let stood_still = |run: &mut Run| {
        on(run, |machine| (machine.stops, machine.stopped_max_ns) = (1, 1500 * MILLISECOND));
    };
    let told = "once, 1.50s at a time, behind the window, where its last responses were awaited";
    let case = |run, verdict| {
        let (found, codes, text) = judged(run, stood_still);
        assert_eq!((found, &codes[..]), (verdict, &[ReasonCode::GeneratorPaused][..]), "{text}");
        assert!(text.contains(told), "{text}");
    };
    // Of many responses it met few.
    case(closed(), Verdict::LowerBound);
    let mut few = closed();
    (few.totals.attempts, few.concurrency.in_flight_mean) = (90, 30.0);
    case(few, Verdict::Invalid);
    // One that is longer than all gaps of the window together was not within it.
    let (_, _, text) = judged(closed(), |run| away(run, 0.02, 1500, 2));
    let told = "for 2.00 % of the window, and 1.50s at a time, partly or wholly outside of it";
    assert!(text.contains(told), "{text}");
}

#[test]
fn a_generator_that_was_stopped_is_named_in_either_loop() {
    for run in [closed(), open()] {
        check(vec![
            (
                "stopped once, for long",
                run.clone(),
                |run| away(run, 0.15, 1500, 1),
                Verdict::Invalid,
                ReasonCode::GeneratorPaused,
                "for 15.00 % of the window, 1.50s at a time",
            ),
            (
                "stopped once, longer than any response takes",
                run.clone(),
                |run| away(run, 0.02, 200, 1),
                Verdict::LowerBound,
                ReasonCode::GeneratorPaused,
                "200ms at a time",
            ),
            (
                "seldom, but so that p99 is made of it",
                run.clone(),
                |run| {
                    run.totals.attempts = 400;
                    run.concurrency.in_flight_mean = 10.0;
                    away(run, 0.03, 60, 4);
                },
                Verdict::Invalid,
                ReasonCode::GeneratorPaused,
                "60.0ms at a time",
            ),
            (
                "many short ones",
                run.clone(),
                |run| away(run, 0.05, 9, 60),
                Verdict::LowerBound,
                ReasonCode::GeneratorPaused,
                "for 5.00 % of the window",
            ),
            (
                "memory that is read back from a fast disk",
                run,
                |run| run.generator.workers[0].page_ins = 21 * run.totals.duration_ns / SECOND,
                Verdict::LowerBound,
                ReasonCode::GeneratorPaused,
                "times for a page of its memory",
            ),
        ]);
    }
}

/// A response of half a second that was read 9 ms late is hardly later for it, where the generator catches up.
#[test]
fn pauses_are_weighed_beside_what_responses_take() {
    for run in [closed(), open()] {
        for (response_ms, gap_ms, busy, share, verdict) in [
            (500, 9, 0.3, 0.3, Verdict::Valid),
            (500, 9, 0.3, 0.05, Verdict::Valid),
            (500, 60, 0.3, 0.05, Verdict::LowerBound),
            (50, 9, 0.3, 0.05, Verdict::LowerBound),
            (50, 9, 0.3, 0.3, Verdict::Invalid),
            (500, 9, 0.9, 0.05, Verdict::LowerBound),
        ] {
            let (found, _, text) = judged(run.clone(), |run| {
                run.response_ns = around(response_ms * MILLISECOND, 100_000);
                run.generator.workers[0].busy_ratio = busy;
                away(run, share, gap_ms, (share * 10_000.0) as u64 / gap_ms);
            });
            assert_eq!(found, verdict, "{gap_ms} ms of {response_ms} ms, busy {busy}: {text}");
        }
    }
}

/// The kernel does not count all of a wait for a processor that other programs took.
#[test]
fn a_worker_that_waited_for_a_processor_too_is_not_said_to_have_waited_for_none() {
    let (_, _, text) = judged(open(), |run| {
        away(run, 0.0488, 168, 2);
        run.generator.workers[1].queued_ratio = 0.827;
    });
    assert!(text.contains("besides 82.70 % in which it waited for a processor"), "{text}");
    assert!(!text.contains("waited neither"), "{text}");
}

/// A generator of which all threads stood still while its workers waited, by their own account, for responses.
#[test]
fn a_generator_that_stood_still_while_it_waited_is_named() {
    let stood = |run: &mut Run, share: f64, ms: u64| {
        on(run, |machine| {
            machine.stopped_ns = (share * 10.0 * SECOND as f64) as u64;
            (machine.stops, machine.stopped_max_ns) =
                (machine.stopped_ns / (ms * MILLISECOND), ms * MILLISECOND);
        });
    };
    for run in [closed(), open()] {
        for (share, verdict) in [(0.4, Verdict::Invalid), (0.03, Verdict::LowerBound)] {
            let (found, codes, text) = judged(run.clone(), |run| stood(run, share, 30));
            assert_eq!((found, codes), (verdict, vec![ReasonCode::GeneratorPaused]), "{text}");
            assert!(text.contains("stood still with all its threads"), "{text}");
        }
        let (found, ..) = judged(run, |run| stood(run, 0.005, 6));
        assert_eq!(found, Verdict::Valid);
    }
    let (_, codes, _) = judged(closed(), |run| {
        held_back(run, 0.3, 60);
        let machine = run.generator.machine.as_mut().unwrap();
        (machine.stopped_ns, machine.stops) = (4 * SECOND, 60);
    });
    assert_eq!(codes, vec![ReasonCode::Throttled], "by the quota");
}

#[test]
fn gaps_that_a_quota_explains_are_reported_once() {
    let (verdict, codes, _) = judged(closed(), |run| {
        held_back(run, 0.3, 60);
        away(run, 0.4, 70, 60);
    });
    assert_eq!((verdict, codes), (Verdict::Invalid, vec![ReasonCode::Throttled]));
    let (_, codes, _) = judged(closed(), |run| {
        held_back(run, 0.02, 4);
        away(run, 0.4, 1500, 3);
    });
    assert_eq!(codes, vec![ReasonCode::GeneratorPaused, ReasonCode::Throttled]);
}

/// Gaps below a rule's threshold, workers that wait for processors, neighbours: no further reason is given.
#[test]
fn a_thousand_healthy_runs_are_not_called_paused() {
    for seed in 0..1000_u64 {
        let mut draw = seed;
        let mut part = || {
            draw = draw
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (draw >> 33) as f64 / (1_u64 << 31) as f64
        };
        let mut run = if seed % 2 == 0 { closed() } else { open() };
        run.concurrency.in_flight_mean = 1.0 + 200.0 * part();
        let (gap_ms, lost) = (1 + (48.0 * part()) as u64, 0.0099 * part());
        away(&mut run, lost, gap_ms, (lost * 10_000.0 / gap_ms as f64) as u64);
        run.generator.workers.iter_mut().for_each(|worker| worker.queued_ratio = part());
        run.generator.workers[0].page_ins = (199.0 * part()) as u64;
        held_back(&mut run, 0.0099 * part(), 1 + (48.0 * part()) as u64);
        if let Some(machine) = &mut run.generator.machine {
            machine.neighbours_ratio = part();
        }
        let named = judge(&run).reasons.into_iter().map(|reason| reason.code);
        let new = [ReasonCode::Throttled, ReasonCode::GeneratorPaused];
        assert_eq!(named.filter(|code| new.contains(code)).count(), 0, "seed {seed}");
    }
}
