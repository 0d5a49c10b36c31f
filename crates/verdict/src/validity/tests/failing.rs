//! The rule about attempts that fail, beside the cases among those of responses.

use model::percentile::PointPercentiles;
use model::slices::Slice;
use model::timeline::Point;

use super::*;

const SLICE: u64 = SECOND / 4;

/// A closed loop of 3 s and fifty users, of whom some wait 0.8 s for an error; so many of these came in each slice, and after
/// the window.
fn short(failed_at: fn(u64) -> u64, in_drain: u64) -> (Verdict, Vec<ReasonCode>, String) {
    judged(closed(), |run| {
        let failed: u64 = (0..12).map(failed_at).sum();
        run.totals.duration_ns = 3 * SECOND;
        (run.totals.attempts, run.totals.requests) = (3_000 + failed, 3_000 + failed);
        run.totals.succeeded = 3_000;
        run.totals.errors.add(ErrorClass::Status, failed);
        run.totals.statuses = [(200, 3_000), (503, failed)].into();
        let failing_ns = failed * 800 * MILLISECOND;
        run.presence =
            Some(model::Presence { user_ns: 150 * SECOND, failing_ns, ..Default::default() });
        run.slices = (0..12)
            .map(|at| Slice {
                start_ns: at * SLICE,
                duration_ns: SLICE,
                phase: "window".into(),
                requests_per_s: 1000.0,
                failed: failed_at(at),
                percentiles: PointPercentiles { p50_ns: 2 * MILLISECOND, ..Default::default() },
                max_ns: 3 * MILLISECOND,
                response_counts: vec![(2 * MILLISECOND, 250)],
                ..Slice::default()
            })
            .collect();
        let phase = "drain".to_owned();
        run.timeline.push(Point { phase, failed: in_drain, ..Point::default() });
    })
}

#[test]
fn errors_that_begin_in_the_middle_of_a_short_run_are_dated() {
    let (verdict, codes, text) = short(|at| if at == 8 || at == 11 { 25 } else { 0 }, 25);
    assert_eq!((verdict, &codes[..]), (Verdict::Invalid, &[ReasonCode::FastErrors][..]), "{text}");
    let wanted = "0.00 % of it until 2.00s into the window and 80.00 % since, to the end";
    assert!(text.contains(wanted), "{text}");
    // In the second half, and not at its end; and once, with nothing under way when the window ended.
    let healthy: [fn(u64) -> u64; 2] =
        [|at| if at == 4 { 30 } else { 0 }, |at| if at == 8 { 30 } else { 0 }];
    for failed_at in healthy {
        let (verdict, codes, text) = short(failed_at, 0);
        assert_eq!(
            (verdict, &codes[..]),
            (Verdict::Valid, &[ReasonCode::FastErrors][..]),
            "{text}"
        );
    }
}

/// The verdict on a short run with this many responses in each half second, of which these fail, and a third of which takes
/// so many milliseconds.
fn of_halves(responses: u64, failed: [u64; 5], third_ms: [u64; 5]) -> Verdict {
    let mut run = closed();
    let (all, bad) = (5 * responses, failed.iter().sum::<u64>());
    run.totals.duration_ns = 5 * SECOND / 2;
    (run.totals.attempts, run.totals.requests, run.totals.succeeded) = (all, all, all - bad);
    run.totals.errors.add(ErrorClass::Status, bad);
    run.totals.statuses = [(200, all - bad), (503, bad)].into();
    let slice = |(at, (failed, ms)): (u64, (u64, u64))| Slice {
        start_ns: at * SECOND / 2,
        duration_ns: SECOND / 2,
        phase: "window".into(),
        failed,
        response_counts: vec![
            (2 * MILLISECOND, responses - responses / 3),
            (ms * MILLISECOND, responses / 3),
        ],
        ..Slice::default()
    };
    run.slices = (0..).zip(failed.into_iter().zip(third_ms)).map(slice).collect();
    crate::validity::failing::failing(&run).expect("many failures").0
}

#[test]
fn a_few_more_failures_of_a_few_requests_are_chance() {
    assert_eq!(of_halves(20, [1, 2, 2, 6, 6], [2; 5]), Verdict::Valid);
    assert_eq!(of_halves(200, [10, 20, 20, 60, 60], [2; 5]), Verdict::Invalid);
}

#[test]
fn a_server_that_sheds_what_only_some_requests_wait_for_is_overloaded() {
    assert_eq!(of_halves(200, [10, 20, 20, 60, 60], [2, 10, 20, 20, 20]), Verdict::Valid);
}

/// As nginx's limit_req has it, which lets a burst pass: nothing broke.
#[test]
fn errors_beside_which_successes_hold_at_a_rate_may_be_a_limits() {
    let told = |status: u16, succeeded_at: fn(u64) -> u64| {
        let (_, _, text) = judged(open(), |run| {
            run.blocks = (0..10)
                .map(|at| {
                    let mut block = model::Block {
                        start_ns: at * SECOND,
                        duration_ns: SECOND,
                        attempts: 200,
                        response_mean_ns: MILLISECOND,
                        ..Default::default()
                    };
                    block.errors.add(ErrorClass::Status, 200 - succeeded_at(at));
                    block
                })
                .collect();
            let failed: u64 = (0..10).map(|at| 200 - succeeded_at(at)).sum();
            (run.totals.attempts, run.totals.requests) = (2_000, 2_000);
            run.totals.succeeded = 2_000 - failed;
            run.totals.errors.add(ErrorClass::Status, failed);
            run.totals.statuses = [(200, 2_000 - failed), (status, failed)].into();
        });
        assert!(text.contains("until 5.00s into the window"), "{text}");
        text.contains("; successes hold at 100/s since, as under a limit on the rate")
    };
    assert!(told(503, |at| if at < 5 { 200 } else { 100 }));
    assert!(!told(502, |at| if at < 5 { 200 } else { 100 }));
    assert!(!told(503, |at| if at < 5 { 200 } else { 60 + 40 * (at % 3) }));
}

/// Users that wait 2.5 s for an error leave seconds without any between.
#[test]
fn errors_that_come_in_waves_stay_all_the_same() {
    let (verdict, _, text) = judged(closed(), |run| {
        let failed_at = |at: u64| if at >= 4 && at % 3 == 1 { 25 } else { 0 };
        run.blocks = (0..12)
            .map(|at| {
                let mut block = model::Block {
                    start_ns: at * SECOND,
                    duration_ns: SECOND,
                    attempts: 1_000,
                    response_mean_ns: 10 * MILLISECOND,
                    ..Default::default()
                };
                block.errors.add(ErrorClass::Status, failed_at(at));
                block
            })
            .collect();
        let failed: u64 = (0..12).map(failed_at).sum();
        run.totals.duration_ns = 12 * SECOND;
        run.totals.errors.add(ErrorClass::Status, failed);
        run.totals.statuses = [(200, 10_000 - failed), (503, failed)].into();
        let failing_ns = failed * SECOND * 5 / 2;
        run.presence =
            Some(model::Presence { user_ns: 600 * SECOND, failing_ns, ..Default::default() });
        run.timeline.push(Point { phase: "drain".to_owned(), failed: 25, ..Point::default() });
    });
    assert_eq!(verdict, Verdict::Invalid, "{text}");
    assert!(text.contains("until 4.00s into the window"), "{text}");
}

#[test]
fn errors_do_not_hide_attempts_without_a_response() {
    let of = |status: u64, read: u64| {
        judged(closed(), |run| {
            run.totals.attempts = 10_000 + read;
            run.totals.errors.add(ErrorClass::Status, status);
            run.totals.errors.add(ErrorClass::Read, read);
            run.totals.statuses = [(200, 10_000 - status), (503, status)].into();
        })
    };
    let (verdict, codes, text) = of(2_000, 2_500);
    assert_eq!((verdict, &codes[..]), (Verdict::Valid, &[ReasonCode::FastErrors][..]), "{text}");
    assert!(text.contains("2,000 of 10,000 responses (20.00 %) were failures"), "{text}");
    assert!(text.contains("; 2,500 of 12,500 attempts (20.00 %) failed without"), "{text}");
    // Neither is nearly all, and both are.
    let (verdict, _, text) = of(8_900, 10_000);
    assert_eq!(verdict, Verdict::Invalid, "{text}");
}
