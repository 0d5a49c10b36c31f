use model::units::MILLISECOND;
use model::{
    EndpointPlan, ErrorClass, Interval, Phase, Reason, ReasonCode, RunBuilder, Summary, Tally,
    Validity, Verdict,
};

use super::*;
use crate::objective::parse::parse;
use fixture::sound::closed;

/// What a second of a run brings.
#[derive(Debug, Clone, Copy)]
struct Second {
    /// (Response in ms, service in ms, responses).
    latencies: &'static [(u64, u64, u32)],
    failed: u64,
    class: ErrorClass,
}

const fn quick(latencies: &'static [(u64, u64, u32)]) -> Second {
    Second { latencies, failed: 0, class: ErrorClass::Status }
}

/// 1,000 responses with a p99 that varies between 30 and 40 ms, around a mean near 10 ms.
const EVEN: Second = quick(&[(9, 9, 985), (30, 30, 15)]);
const ODD: Second = quick(&[(11, 11, 985), (40, 40, 15)]);

fn interval(index: u32, second: Second) -> Interval {
    let mut tally = Tally::default();
    for &(response_ms, service_ms, n) in second.latencies {
        tally.response.record_n(response_ms * MILLISECOND, n);
        tally.service.record_n(service_ms * MILLISECOND, n);
        tally.responses_done += u64::from(n);
    }
    tally.sent = tally.responses_done;
    tally.errors.add(second.class, second.failed);
    tally.succeeded = tally.responses_done - second.failed;
    let start_ns = u64::from(index) * SECOND;
    Interval { tally, ..Interval::new(index, Phase::Window, start_ns, start_ns + SECOND) }
}

fn run_of(seconds: &[Second]) -> Run {
    let mut builder = RunBuilder::new(fixture::head(closed().plan));
    for (index, &second) in (0..).zip(seconds) {
        builder.add(&interval(index, second));
    }
    Run { validity: Validity::of(Vec::new()), ..builder.finish(false) }
}

/// A sound run of `seconds`.
fn sound(seconds: usize) -> Run {
    run_of(&[EVEN, ODD].repeat(seconds / 2))
}

/// The same under a cloud.
fn doubtful(verdict: Verdict, codes: &[ReasonCode]) -> Run {
    let reason = |&code| Reason { code, consequence: verdict, text: String::new() };
    Run { validity: Validity::of(codes.iter().map(reason).collect()), ..sound(20) }
}

fn judged(run: &Run, objective: &str) -> Judgement {
    let mut judgements = judge(run, &[], &parse(objective).unwrap());
    assert_eq!(judgements.len(), 1, "{objective}");
    judgements.remove(0)
}

#[track_caller]
fn rules(run: &Run, objective: &str, ruling: Ruling, needle: &str) -> Judgement {
    let judgement = judged(run, objective);
    assert_eq!(judgement.ruling, ruling, "{judgement:#?}");
    let reason = judgement.reason.to_lowercase();
    assert!(reason.contains(&needle.to_lowercase()), "no `{needle}`: {judgement:#?}");
    judgement
}

#[test]
fn a_sound_run_decides() {
    use Ruling::{Fail, Pass};
    let run = sound(20);
    for (objective, ruling, needle) in [
        ("p99<500ms", Pass, "times over: tuning for this can stop"),
        ("p99<45ms", Pass, "within the limit"),
        ("p99<20ms", Fail, "beyond the limit"),
        ("p50<=5ms", Fail, "beyond the limit"),
        ("mean<20ms", Pass, "within the limit"),
        ("mean<5ms", Fail, "beyond the limit"),
        ("service.mean<20ms", Pass, "within the limit"),
        ("max<41ms", Pass, "within the limit"),
        ("max<39ms", Fail, "beyond the limit"),
        ("success>=99%", Pass, "times over"),
        ("errors<=0.1%", Pass, "times over"),
        ("errors.timeout<1%", Pass, "times over"),
        ("errors.timeout<=0", Pass, "in this run"),
        ("success>=100%", Pass, "in this run"),
        ("qps>=900", Pass, "100/s within the limit"),
        ("qps>=1100", Fail, "100/s beyond the limit"),
    ] {
        rules(&run, objective, ruling, needle);
    }
}

#[test]
fn a_judgement_has_its_figures() {
    let judgement = judged(&sound(20), "mean<20ms");
    let within =
        |value: Option<f64>, wanted_ms: f64| (value.unwrap() / 1e6 - wanted_ms).abs() < 0.5;
    assert!(within(judgement.value, 10.4) && within(judgement.margin, 9.6), "{judgement:#?}");
    let (low, high) = (judgement.low.unwrap(), judgement.high.unwrap());
    assert!(low < judgement.value.unwrap() && judgement.value.unwrap() < high, "{judgement:#?}");
    assert_eq!((judgement.confidence, judgement.limit), (Some(0.95), Some(20e6)));
    let over = judgement.times_over.unwrap();
    assert!((1.5..1.93).contains(&over) && (over - 20e6 / high).abs() < 1e-9, "{judgement:#?}");
}

#[test]
fn a_limit_inside_the_interval_is_undecided_and_says_how_long_would_do() {
    let run = sound(20);
    let judgement = rules(&run, "mean<10.6ms", Ruling::Inconclusive, "inside the interval");
    let longer = judgement.longer_ns.expect("a length");
    assert!((SECOND..2000 * SECOND).contains(&longer), "{judgement:#?}");
    assert!(judgement.reason.contains("-d "), "{judgement:#?}");
    // As long as advised, it decides.
    let advised = sound(((longer / SECOND + 20) as usize).next_multiple_of(2));
    rules(&advised, "mean<10.6ms", Ruling::Pass, "within");
}

#[test]
fn a_limit_on_the_figure_itself_is_decided_by_no_length() {
    let run = sound(20);
    let mean_ns = run.response_ns.mean + 1;
    let judgement = judged(&run, &format!("mean<{mean_ns}ns"));
    assert_eq!((judgement.ruling, judgement.longer_ns), (Ruling::Inconclusive, None));
    assert!(judgement.reason.contains("a longer run would not decide"), "{judgement:#?}");
}

#[test]
fn a_run_of_a_second_decides_nothing_but_what_it_counted() {
    let run = run_of(&[EVEN]);
    let judgement = rules(&run, "p99<500ms", Ruling::Inconclusive, "independent blocks");
    assert_eq!(judgement.longer_ns, Some(4 * SECOND));
    rules(&run, "max<31ms", Ruling::Pass, "");
    rules(&run, "errors.timeout<=0", Ruling::Pass, "");
}

#[test]
fn a_percentile_beyond_the_samples_is_not_bounded() {
    const FEW: Second = quick(&[(9, 9, 10), (12, 12, 10)]);
    let judgement =
        rules(&run_of(&[FEW; 10]), "p99.9<500ms", Ruling::Inconclusive, "too few attempts");
    assert_eq!((judgement.high, judgement.times_over), (None, None));
    // 200 attempts in 10 s, and 3,688 are needed: 18.4 times as long, and a fifth.
    assert_eq!(judgement.longer_ns, Some(212 * SECOND));
}

/// As an endpoint that hardly anybody asks for: one request in twenty seconds.
#[test]
fn what_came_once_decides_nothing_but_what_it_was() {
    let mut seconds = [quick(&[]); 20];
    seconds[7] = quick(&[(10, 10, 1)]);
    let run = run_of(&seconds);
    for objective in ["mean<500ms", "service.mean<500ms", "p50<500ms"] {
        rules(&run, objective, Ruling::Inconclusive, "1.0 independent blocks");
    }
    rules(&run, "max<500ms", Ruling::Pass, "");
}

#[test]
fn failures_that_bunch_count_for_less() {
    let failing = |failed| Second { failed, ..EVEN };
    let spread: Vec<Second> = (0..60).map(|i| failing(5 + i % 2)).collect();
    let bunched: Vec<Second> = (0..60).map(|i| failing(if i < 3 { 110 } else { 0 })).collect();
    rules(&run_of(&spread), "success>=99%", Ruling::Pass, "");
    let judgement = rules(&run_of(&bunched), "success>=99%", Ruling::Inconclusive, "");
    assert!((judgement.value.unwrap() - 0.9945).abs() < 1e-6, "{judgement:#?}");
}

#[test]
fn errors_are_distinguished_by_class() {
    let seconds = [Second { failed: 50, class: ErrorClass::Timeout, ..EVEN }; 10];
    let run = run_of(&seconds);
    rules(&run, "errors<=1%", Ruling::Fail, "4.00 points beyond");
    rules(&run, "errors.timeout<=1%", Ruling::Fail, "");
    rules(&run, "errors.timeout<=500", Ruling::Pass, "");
    rules(&run, "errors.timeout<500", Ruling::Fail, "");
    rules(&run, "errors.status<=0.1%", Ruling::Pass, "");
    rules(&run, "success>=100%", Ruling::Fail, "");
}

#[test]
fn what_cannot_be_believed_decides_nothing() {
    let run = doubtful(Verdict::Invalid, &[ReasonCode::LateSends]);
    for objective in
        ["p99<500ms", "p99<1ms", "success>=99%", "qps>=1", "qps>=9999", "stable", "valid"]
    {
        rules(&run, objective, Ruling::Inconclusive, "is INVALID (late_sends)");
    }
}

#[test]
fn a_server_that_only_fails_misses_its_success() {
    let mut run = run_of(&[Second { failed: 995, ..EVEN }; 10]);
    run.validity = crate::judge(&run);
    assert_eq!(run.validity.verdict, Verdict::Invalid);
    rules(&run, "success>=99%", Ruling::Fail, "");
    rules(&run, "errors<=1%", Ruling::Fail, "");
    rules(&run, "errors.timeout<=1%", Ruling::Inconclusive, "is INVALID");
    rules(&run, "p99<500ms", Ruling::Inconclusive, "fast_errors");
}

/// The generator had time left: another program took the processors.
#[test]
fn a_busy_neighbour_is_not_called_the_generator() {
    let run = doubtful(Verdict::LowerBound, &[ReasonCode::BusyNeighbour]);
    for objective in ["qps>=1100", "p99<500ms", "p99<5ms", "stable"] {
        let judged =
            rules(&run, objective, Ruling::Inconclusive, "is a LOWER_BOUND (busy_neighbour)");
        assert!(!judged.reason.contains("generator"), "{judged:#?}");
    }
}

#[test]
fn a_lower_bound_decides_where_more_could_only_be_better() {
    use Ruling::{Inconclusive, Pass};
    let run = doubtful(Verdict::LowerBound, &[ReasonCode::WorkersSaturated]);
    for (objective, ruling, needle) in [
        ("qps>=900", Pass, "within"),
        ("qps>=1100", Inconclusive, "may carry more"),
        ("mean<=500ms", Pass, "times over"),
        ("mean<=5ms", Inconclusive, "may have caused this"),
        ("p99<500ms", Inconclusive, "saw less"),
        ("p99<5ms", Inconclusive, "may have caused this"),
        ("service.mean<500ms", Inconclusive, "saw less"),
        ("success>=99%", Inconclusive, "saw less"),
        ("max<1s", Inconclusive, "saw less"),
        ("stable", Inconclusive, "workers_saturated"),
        ("valid", Inconclusive, "workers_saturated"),
    ] {
        rules(&run, objective, ruling, needle);
    }
    for change in [
        |run: &mut Run| run.plan.rate_per_s = Some(2000.0),
        |run: &mut Run| run.plan.pace_ns = Some(SECOND),
        |run: &mut Run| run.plan.think_ns = Some(SECOND),
    ] {
        let mut paced = run.clone();
        change(&mut paced);
        rules(&paced, "mean<=500ms", Inconclusive, "saw less");
    }
}

#[test]
fn a_lower_bound_does_not_excuse_the_servers_own_failures() {
    let lower_bound = |failed, class, code| {
        let mut run = run_of(&[Second { failed, class, ..EVEN }; 10]);
        let reason = Reason { code, consequence: Verdict::LowerBound, text: String::new() };
        run.validity = Validity::of(vec![reason]);
        run
    };
    let (busy, short) = (ReasonCode::WorkersSaturated, ReasonCode::ConnectionsExhausted);
    let by_status = lower_bound(50, ErrorClass::Status, busy);
    rules(&by_status, "success>=99%", Ruling::Fail, "");
    rules(&by_status, "errors.status<=1%", Ruling::Fail, "");
    rules(&by_status, "errors.status<=10", Ruling::Fail, "");
    let by_timeout = lower_bound(50, ErrorClass::Timeout, busy);
    rules(&by_timeout, "success>=99%", Ruling::Inconclusive, "may have caused");
    rules(&lower_bound(50, ErrorClass::Timeout, short), "success>=99%", Ruling::Fail, "");
    let by_connect = lower_bound(50, ErrorClass::Connect, short);
    rules(&by_connect, "success>=99%", Ruling::Inconclusive, "may have caused");
}

#[test]
fn where_connections_alone_were_short_the_service_time_decides() {
    const WAITING: Second = quick(&[(900, 20, 990), (950, 30, 10)]);
    let mut run = run_of(&[WAITING; 20]);
    run.plan.rate_per_s = Some(2000.0);
    let reason = Reason {
        code: ReasonCode::ConnectionsExhausted,
        consequence: Verdict::LowerBound,
        text: String::new(),
    };
    run.validity = Validity::of(vec![reason]);
    rules(&run, "p50<500ms", Ruling::Inconclusive, "may have caused");
    rules(&run, "p50<10ms", Ruling::Fail, "");
    rules(&run, "service.p50<10ms", Ruling::Fail, "");
}

#[test]
fn a_response_time_that_waits_for_connections_misses_nothing_of_the_servers() {
    const WAITING: Second = quick(&[(200, 20, 990), (250, 30, 10)]);
    let mut run = run_of(&[WAITING; 20]);
    run.plan.rate_per_s = Some(1000.0);
    run.wait_ns = Summary { count: 20_000, p90: 180 * MILLISECOND, ..Summary::default() };
    rules(&run, "p50<100ms", Ruling::Fail, "");
    run.concurrency.in_flight_max = run.plan.inflight_cap();
    (run.rates.offered_per_s, run.rates.achieved_per_s) = (1000.0, 1000.0);
    rules(&run, "p50<100ms", Ruling::Inconclusive, "use more connections");
    rules(&run, "p50<10ms", Ruling::Fail, "");
    rules(&run, "p50<300ms", Ruling::Pass, "");
}

#[test]
fn a_throughput_that_was_not_asked_for_is_not_missed() {
    let mut run = sound(20);
    run.plan.rate_per_s = Some(1000.0);
    rules(&run, "qps>=1100", Ruling::Inconclusive, "answered all of the 1,000/s");
    rules(&run, "qps>=1000", Ruling::Pass, "");
    run.rates.requests_per_s = 700.0;
    run.totals.attempts = 20_000;
    let mut slow = run_of(&[quick(&[(9, 9, 700)]); 20]);
    slow.plan.rate_per_s = Some(1000.0);
    (slow.totals.attempts, slow.rates.offered_per_s) = (20_000, 1000.0);
    rules(&slow, "qps>=1100", Ruling::Fail, "");
    // Of 300 ms: those to the last three in two hundred came after the window.
    let mut long = sound(20);
    long.plan.rate_per_s = Some(1000.0);
    (long.rates.requests_per_s, long.rates.offered_per_s) = (985.0, 1000.0);
    rules(&long, "qps>=1100", Ruling::Fail, "");
    long.blocks.iter_mut().for_each(|block| block.response_mean_ns = 300 * MILLISECOND);
    rules(&long, "qps>=1100", Ruling::Inconclusive, "answered all of the 1,000/s");
    // All were asked for in the first two seconds, and answered in twenty.
    let mut counted = sound(20);
    (counted.plan.rate_per_s, counted.plan.requests) = (Some(10_000.0), Some(20_000));
    counted.rates.offered_per_s = 10_000.0;
    rules(&counted, "qps>=1100", Ruling::Fail, "");
    let mut paced = sound(20);
    paced.plan.pace_ns = Some(10 * MILLISECOND);
    rules(&paced, "qps>=1100", Ruling::Inconclusive, "--pace");
    paced.rates.requests_per_s = 970.0;
    rules(&paced, "qps>=1100", Ruling::Inconclusive, "--pace");
    paced.plan.connections = 100;
    rules(&paced, "qps>=1100", Ruling::Fail, "");
    let mut thinking = sound(20);
    thinking.plan.think_ns = Some(1);
    rules(&thinking, "qps>=1100", Ruling::Inconclusive, "think time");
}

#[test]
fn a_server_is_stable_when_it_has_no_dips() {
    rules(&sound(20), "valid", Ruling::Pass, "describe the server");
    rules(&sound(20), "stable", Ruling::Pass, "There were no dips.");
    let short = rules(&sound(4), "stable", Ruling::Inconclusive, "too short to find dips");
    assert_eq!(short.longer_ns, Some(7 * SECOND));
    let mut dipped = sound(20);
    let lost = model::Departure { trend: 1000.0, typical: 100.0, worst: 0.0 };
    dipped.dips = vec![model::Dip { throughput: Some(lost), ..model::Dip::default() }];
    rules(&dipped, "stable", Ruling::Fail, "departed from its trend once");
    let mut old = sound(20);
    old.blocks.clear();
    rules(&old, "stable", Ruling::Inconclusive, "measure again");
}

#[test]
fn endpoints_without_figures_are_undecided() {
    let run = sound(20);
    for objective in ["GET /users/{id}: p95<80ms", "top10: mean<=100ms"] {
        let judgement = rules(&run, objective, Ruling::Inconclusive, "no figures per endpoint");
        assert_eq!(judgement.objective, objective);
    }
    let preset = judge(&run, &[], &parse("top10").unwrap());
    assert!(preset.iter().all(|held| held.preset.as_deref() == Some("top10")), "{preset:#?}");
}

#[test]
fn endpoints_are_judged_by_their_own_figures() {
    let endpoint = |name: &str, second: Second, seconds| Endpoint {
        name: name.to_owned(),
        figures: Figures::of(&run_of(&vec![second; seconds])).unwrap(),
    };
    let slow = quick(&[(300, 300, 1000)]);
    let endpoints = [
        endpoint("GET /rare", slow, 9),
        endpoint("GET /a", EVEN, 20),
        endpoint("GET /b", slow, 10),
    ];
    let of = |objective| judge(&sound(20), &endpoints, &parse(objective).unwrap());
    let named = of("GET /b: p95<80ms");
    assert_eq!((named[0].ruling, named[0].objective.as_str()), (Ruling::Fail, "GET /b: p95<80ms"));
    assert_eq!(of("GET /a: p95<80ms")[0].ruling, Ruling::Pass);
    let unknown = &of("GET /c: p95<80ms")[0];
    assert_eq!(unknown.ruling, Ruling::Inconclusive);
    assert!(unknown.reason.contains("it has GET /rare, GET /a, GET /b"), "{unknown:#?}");
    let busiest: Vec<_> =
        of("top2: mean<=100ms").into_iter().map(|held| (held.objective, held.ruling)).collect();
    let wanted = [("GET /a: mean<=100ms", Ruling::Pass), ("GET /b: mean<=100ms", Ruling::Fail)];
    assert_eq!(busiest, wanted.map(|(name, ruling)| (name.to_owned(), ruling)));
    // Of a plan that says how much of the load each is, chance has no part in who is busiest.
    let mut planned = sound(20);
    let plan = |name: &str, share| EndpointPlan {
        name: name.to_owned(),
        share: Some(share),
        ..EndpointPlan::default()
    };
    planned.plan.mix.endpoints =
        vec![plan("GET /rare", 0.5), plan("GET /a", 0.2), plan("GET /b", 0.3)];
    let held = judge(&planned, &endpoints, &parse("top2: mean<=100ms").unwrap());
    let names: Vec<&str> = held.iter().map(|held| held.objective.as_str()).collect();
    assert_eq!(names, ["GET /rare: mean<=100ms", "GET /b: mean<=100ms"]);
}

#[test]
fn endpoints_of_a_run_have_the_figures_it_keeps_of_them() {
    let whole = run_of(&vec![EVEN; 20]);
    let mut run = sound(20);
    run.endpoints = vec![model::EndpointRun {
        name: "GET /a".into(),
        attempts: whole.totals.attempts,
        requests: whole.totals.requests,
        succeeded: whole.totals.succeeded,
        requests_per_s: whole.rates.requests_per_s,
        response_ns: whole.response_ns,
        service_ns: whole.service_ns,
        response: whole.histograms.get("response").cloned(),
        blocks: whole.blocks.clone(),
        ..model::EndpointRun::default()
    }];
    let endpoints = Endpoint::all_of(&run).unwrap();
    let of = |objective: &str| judge(&run, &endpoints, &parse(objective).unwrap()).remove(0);
    let alone = |objective: &str| judge(&whole, &[], &parse(objective).unwrap()).remove(0);
    for objective in ["p95<80ms", "mean<=1us", "qps>=1", "success>=99%"] {
        let named = format!("GET /a: {objective}");
        let (one, whole) = (of(&named), alone(objective));
        assert_eq!((one.ruling, one.value, one.low), (whole.ruling, whole.value, whole.low));
    }
    run.endpoints[0].response = Some("$$".into());
    assert!(Endpoint::all_of(&run).unwrap_err().contains("GET /a"));
}

#[test]
fn an_old_run_without_blocks_says_so() {
    let mut run = sound(20);
    run.blocks.clear();
    rules(&run, "p99<500ms", Ruling::Inconclusive, "no blocks: measure again");
    rules(&run, "max<41ms", Ruling::Pass, "");
}

#[test]
fn a_damaged_result_decides_nothing() {
    let mut run = sound(20);
    run.histograms.insert("response".into(), "$$".into());
    rules(&run, "p99<500ms", Ruling::Inconclusive, "base64");
}

#[test]
fn a_run_without_attempts_decides_nothing() {
    let run = run_of(&[quick(&[]); 5]);
    for objective in ["p99<500ms", "success>=99%", "mean<1s", "max<1s", "errors<1%"] {
        rules(&run, objective, Ruling::Inconclusive, "no samples");
    }
    rules(&run, "qps>=1", Ruling::Fail, "");
}

#[test]
fn the_whole_is_put_in_a_sentence() {
    let sentence = |run: &Run, objectives: &[&str]| {
        let objectives: Vec<_> = objectives.iter().flat_map(|o| parse(o).unwrap()).collect();
        words::conclusion(&judge(run, &[], &objectives))
    };
    let run = sound(20);
    assert_eq!(sentence(&run, &[]), None);
    let wide = sentence(&run, &["p99<500ms", "success>=90%", "success>=100%"]).unwrap();
    assert!(wide.contains("12 times over: tuning can stop"), "{wide}");
    for (objectives, wanted) in [
        (&["p99<45ms"][..], "The objective is met."),
        (&["p99<45ms", "mean<20ms"], "All 2 objectives are met."),
        (&["p99<5ms", "mean<20ms"], "1 of 2 missed."),
        (&["mean<10.6ms", "mean<20ms"], "1 of 2 undecided."),
        (&["mean<10.6ms", "mean<5ms"], "1 of 2 missed, 1 undecided."),
    ] {
        assert_eq!(sentence(&run, objectives).as_deref(), Some(wanted));
    }
}

#[test]
fn hostile_figures_do_not_panic() {
    let mut run = sound(20);
    run.totals.duration_ns = u64::MAX;
    run.totals.attempts = u64::MAX;
    run.totals.succeeded = u64::MAX;
    run.rates.requests_per_s = f64::MAX;
    run.response_ns.mean = u64::MAX;
    for block in &mut run.blocks {
        (block.attempts, block.succeeded, block.duration_ns) = (1, u64::MAX, 0);
        block.response_mean_ns = u64::MAX;
    }
    let all = ["mean<1s", "p99<30ms", "p99.9999<1s", "success>=99%", "errors.status<1%", "qps>=1"];
    for verdict in [Verdict::Valid, Verdict::LowerBound, Verdict::Invalid] {
        run.validity.verdict = verdict;
        for objective in all {
            let judgement = judged(&run, objective);
            assert!(!judgement.reason.is_empty(), "{judgement:#?}");
        }
    }
}

/// A saturated server, and connections for a fifth of the arrivals: those dropped at the window's end have no response time.
#[test]
fn arrivals_that_the_end_dropped_meet_no_objective() {
    use Ruling::{Inconclusive, Pass};
    let mut run = sound(20);
    run.plan.rate_per_s = Some(5000.0);
    for (dropped, objective, ruling, needle) in [
        (0, "p99<60ms", Pass, ""),
        (80_000, "p99<60ms", Inconclusive, "ended with 80,000 arrivals unsent"),
        (80_000, "p10<60ms", Pass, ""),
        (80_000, "mean<60ms", Inconclusive, "unsent"),
        (80_000, "max<60ms", Inconclusive, "unsent"),
        (80_000, "service.p99<60ms", Pass, ""),
        // Within the percent that p99 leaves, and what is in a worker's hands.
        (100, "p99<60ms", Pass, ""),
        (10, "mean<60ms", Pass, ""),
    ] {
        run.totals.unsent = dropped;
        run.totals.attempts = run.totals.requests + dropped;
        rules(&run, objective, ruling, needle);
    }
    let ruling = judged(&run, "p99<10ms").ruling;
    assert_eq!(ruling, Ruling::Fail, "what is missed anyhow");
}

/// Who is cut off is in no response time, but was not answered within any limit either.
#[test]
fn attempts_without_a_response_meet_no_percentile() {
    use Ruling::{Inconclusive, Pass};
    for (cut_off, objective, ruling) in [
        (0, "p99<60ms", Pass),
        (100, "p99<60ms", Pass),
        (600, "p99<60ms", Inconclusive),
        (600, "p95<60ms", Pass),
        (600, "mean<60ms", Pass),
        (600, "service.p99<60ms", Pass),
    ] {
        let mut run = sound(20);
        run.totals.errors.read = cut_off;
        run.totals.attempts += cut_off;
        let needle =
            if ruling == Inconclusive { "600 of 20,600 attempts had no response" } else { "" };
        rules(&run, objective, ruling, needle);
    }
}

/// A server that sheds four of ten requests at once, and answers the others in 90 ms.
#[test]
fn quick_failures_meet_no_objective() {
    use Ruling::{Inconclusive, Pass};
    const SHEDDING: Second =
        Second { failed: 400, ..quick(&[(1, 1, 400), (90, 90, 590), (95, 95, 10)]) };
    let run = run_of(&[SHEDDING; 20]);
    for (objective, ruling, needle) in [
        ("qps>=900", Inconclusive, "600/s of the responses succeeded"),
        ("qps>=500", Pass, ""),
        ("p25<50ms", Inconclusive, "8,000 of 20,000 responses failed"),
        ("service.p25<50ms", Inconclusive, "responses failed"),
        ("p99<120ms", Pass, ""),
        ("mean<70ms", Inconclusive, "responses failed"),
        ("mean<100ms", Pass, ""),
        ("max<100ms", Pass, ""),
    ] {
        rules(&run, objective, ruling, needle);
    }
    rules(&run, "p50<50ms", Ruling::Fail, "");
}

/// A listener with a short queue: users of a closed loop wait a second for each connection, and then 10 ms.
#[test]
fn what_connecting_takes_is_not_met() {
    use Ruling::{Inconclusive, Pass};
    let mut run = sound(20);
    run.connect_ns = Summary { count: 1, mean: SECOND, p99: SECOND, max: SECOND, ..run.service_ns };
    for (opened, objective, ruling) in [
        (0, "p99<60ms", Pass),
        // Not enough of them for that percentile.
        (100, "p99<60ms", Pass),
        (20_000, "p99<60ms", Inconclusive),
        (20_000, "mean<60ms", Inconclusive),
        (20_000, "max<60ms", Inconclusive),
        (20_000, "p99<3s", Pass),
        (20_000, "service.p99<60ms", Pass),
    ] {
        run.totals.connects = u64::from(run.plan.connections) + opened;
        let needle = if ruling == Inconclusive { "is in no latency of a closed loop" } else { "" };
        rules(&run, objective, ruling, needle);
    }
    run.plan.rate_per_s = Some(1000.0);
    rules(&run, "p99<60ms", Pass, "");
    // Sessions of four steps: the first is an arrival, whose connecting is in its response time.
    run.flows = vec![model::FlowRun::default()];
    run.late_ns = Summary { count: 5_000, ..run.late_ns };
    rules(&run, "p99<60ms", Inconclusive, "is in no latency of a session's later steps");
    // A connection for each session.
    run.totals.connects = 5_000;
    rules(&run, "p99<60ms", Pass, "");
}

/// 64 users of a script that takes a worker's whole time: each waits longer for its turn than for the server, before which a
/// faster generator would let them stand.
#[test]
fn a_mean_is_met_by_little_s_law_or_not() {
    use Ruling::{Inconclusive, Pass};
    let mut run = doubtful(Verdict::LowerBound, &[ReasonCode::WorkersSaturated]);
    // 1,000/s at a mean of 10 ms.
    for (users, objective, ruling) in
        [(10, "mean<20ms", Pass), (64, "mean<20ms", Inconclusive), (64, "mean<65ms", Pass)]
    {
        run.plan.connections = users;
        rules(&run, objective, ruling, if ruling == Inconclusive { "saw less" } else { "" });
    }
    (run.plan.connections, run.plan.think_ns) = (10, Some(1));
    rules(&run, "mean<20ms", Inconclusive, "saw less");
}
