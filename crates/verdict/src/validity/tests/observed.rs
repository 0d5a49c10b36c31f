//! The rule about responses that waited for the generator.

use model::units::MICROSECOND;

use super::*;

/// Responses that waited so long in each figure.
fn waited(run: &mut Run, p50: u64, mean: u64, p99: u64) {
    run.observed_late_ns = around(1, 10_000);
    (run.observed_late_ns.p50, run.observed_late_ns.mean) = (p50, mean);
    run.observed_late_ns.p99 = p99;
}

#[test]
fn a_tenth_of_any_figure_is_too_much() {
    check(vec![
        (
            "a tenth of the median, closed loop",
            closed(),
            |run| waited(run, 200 * MICROSECOND, 0, 0),
            Verdict::LowerBound,
            ReasonCode::ObservedLate,
            "up to 200us (p50) for the generator to read them, of a service time of 2.00ms",
        ),
        (
            "nearly all of the mean, closed loop",
            closed(),
            |run| waited(run, 0, 1900 * MICROSECOND, 0),
            Verdict::LowerBound,
            ReasonCode::ObservedLate,
            "(mean)",
        ),
        (
            "a fifth of p99, open loop",
            open(),
            |run| waited(run, 0, 0, 1200 * MICROSECOND),
            Verdict::LowerBound,
            ReasonCode::ObservedLate,
            "up to 1.20ms (p99)",
        ),
        (
            "more than half, open loop",
            open(),
            |run| waited(run, 0, 1100 * MICROSECOND, 0),
            Verdict::Invalid,
            ReasonCode::ObservedLate,
            "up to 1.10ms (mean)",
        ),
        (
            "requests that take a fifth of the response to make",
            open(),
            |run| (run.wait_ns.count, run.wait_ns.p50) = (10_000, 400 * MICROSECOND),
            Verdict::LowerBound,
            ReasonCode::ObservedLate,
            "requests waited 400us (p50) for the generator to make them, of a response time of 2.00ms",
        ),
    ]);
}

#[test]
fn less_than_a_tenth_or_next_to_nothing_is_none() {
    for run in [closed(), open()] {
        let tenth = judged(run.clone(), |run| waited(run, 199_999, 199_999, 599_999));
        assert_eq!((tenth.0, tenth.1), (Verdict::Valid, vec![]));
        let quick = judged(run, |run| {
            run.service_ns = around(30 * MICROSECOND, 10_000);
            waited(run, 20 * MICROSECOND, 20 * MICROSECOND, 20 * MICROSECOND);
        });
        assert_eq!((quick.0, quick.1), (Verdict::Valid, vec![]));
    }
}

#[test]
fn who_waits_for_a_connection_does_not_wait_for_the_generator() {
    let waits = |run: &mut Run| run.wait_ns = around(MILLISECOND, 10_000);
    let spoiled: [fn(&mut Run); 2] = [
        |run| run.concurrency.in_flight_max = run.plan.inflight_cap(),
        |run| run.totals.connects = 200,
    ];
    for spoil in spoiled {
        let mut run = open();
        waits(&mut run);
        assert_ne!(judge(&run).verdict, Verdict::Valid);
        spoil(&mut run);
        assert!(judge(&run).reasons.iter().all(|reason| reason.code != ReasonCode::ObservedLate));
    }
}

#[test]
fn p99_of_too_few_attempts_is_not_judged() {
    for (attempts, finding) in [(999, false), (1_000, true)] {
        let mut run = closed();
        waited(&mut run, 0, 0, 1_900 * MICROSECOND);
        run.service_ns.count = attempts;
        let found = crate::validity::observed::late(&run).is_some();
        assert_eq!(found, finding, "{attempts} attempts");
    }
}
