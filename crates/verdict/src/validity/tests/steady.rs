//! Rules about the trend of a run.

use model::percentile::PointPercentiles;
use model::units::show_duration;

use super::*;

/// Gives a run a window of points with this QPS and median (ms), a second each.
fn went(run: &mut Run, trend: impl Fn(usize) -> (f64, f64)) {
    run.timeline = (0..30)
        .map(|at| {
            let (requests_per_s, p50_ms) = trend(at);
            model::timeline::Point {
                start_ns: at as u64 * SECOND,
                duration_ns: SECOND,
                phase: "window".into(),
                requests_per_s,
                percentiles: PointPercentiles::of(|_| (p50_ms * 1e6) as u64),
                ..Default::default()
            }
        })
        .collect();
    let sum: f64 = run.timeline.iter().map(|point| point.requests_per_s).sum();
    run.rates.requests_per_s = sum / 30.0;
}

#[test]
fn rules_about_the_trend() {
    check(vec![
        (
            "warm-up that lowers QPS",
            closed(),
            |run| went(run, |at| if at < 8 { (400.0, 5.0) } else { (1000.0, 2.0) }),
            Verdict::LowerBound,
            ReasonCode::NotSteady,
            "the first 8.00s of the window were warm-up: p50 5.00ms there and 2.00ms later; once warm, the \
             server answered 1,000/s, 19.05 % more than the whole window shows",
        ),
        (
            "a warm-up in which nobody was served",
            closed(),
            |run| went(run, |at| if at < 8 { (0.0, 0.0) } else { (1000.0, 2.0) }),
            Verdict::LowerBound,
            ReasonCode::NotSteady,
            "the first 8.00s of the window were warm-up: hardly a response came there, and p50 was 2.00ms later",
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
                    throughput: Some(model::Departure { trend: 1e3, typical: 400.0, worst: 0.0 }),
                    ..Default::default()
                }];
            },
            Verdict::Valid,
            ReasonCode::Dips,
            "departed from its trend once, for 2.00s of 10.0s; longest: at 3.00s for 2.00s, QPS 400 \
             instead of 1,000",
        ),
    ]);
}

#[test]
fn a_steady_run_is_stable_and_a_short_one_is_undecided() {
    let mut run = closed();
    assert_eq!(stability(&run), Stability::TooShort);
    went(&mut run, |at| (1000.0 + (at % 3) as f64, 2.0 + 0.1 * (at % 2) as f64));
    assert_eq!((judge(&run).reasons, stability(&run)), (vec![], Stability::Stable));
    let mut long = run.clone();
    long.totals.duration_ns = 48 * 3600 * SECOND;
    assert_eq!(stability(&long), Stability::TooLong);
    run.dips = vec![model::Dip { throughput: None, ..Default::default() }];
    assert!(matches!(stability(&run), Stability::Unstable(_)));
}

/// Gives a run seconds with these longest responses (ms), whose QPS and median stay as they are.
fn with_longest(mut run: Run, longest_ms: &[f64]) -> Run {
    let point = |(at, ms): (usize, &f64)| model::timeline::Point {
        start_ns: at as u64 * SECOND,
        duration_ns: SECOND,
        phase: "window".into(),
        requests_per_s: 1000.0,
        percentiles: PointPercentiles::of(|_| 2 * MILLISECOND),
        max_ns: (ms * 1e6) as u64,
        ..Default::default()
    };
    run.timeline = longest_ms.iter().enumerate().map(point).collect();
    run.totals.duration_ns = longest_ms.len() as u64 * SECOND;
    run
}

/// So many seconds, with a stall of about half a second at this distance.
fn stalling(period: f64, seconds: usize) -> Run {
    let mut longest: Vec<f64> = (0..seconds).map(|at| 8.0 + (at % 5) as f64).collect();
    let mut at = 2.4;
    while at < seconds as f64 {
        longest[at as usize] = 480.0 + 5.0 * (at as usize % 7) as f64;
        at += period;
    }
    with_longest(open(), &longest)
}

#[test]
fn stalls_at_even_distances_are_reported() {
    assert_eq!(stalls(&stalling(2.4, 16)), None, "six so close may be chance");
    for (period, seconds, count) in [(2.4, 35, 14), (4.0, 30, 7), (4.3, 60, 14), (10.0, 120, 12)] {
        let run = stalling(period, seconds);
        let found = stalls(&run).expect("it stalled");
        assert_eq!((found.count, found.between_ns), (count, 12 * MILLISECOND), "{found:?}");
        assert!((found.period_ns as f64 / 1e9 - period).abs() < 0.1, "{found:?}");
        assert!((480..=510).contains(&(found.length_ns / MILLISECOND)), "{found:?}");
        let reasons = judge(&run).reasons;
        let told = reasons.iter().find(|reason| reason.code == ReasonCode::Dips).expect("a note");
        assert!(told.consequence == Verdict::Valid && told.text.contains("a cron job"), "{told:?}");
    }
}

#[test]
fn stalls_that_the_server_need_not_have_made_are_not_reported() {
    assert!(stalls(&stalling(4.0, 60)).is_some());
    let spoils: [fn(&mut Run); 6] = [
        |run| run.generator.workers[0].paused_max_ns = SECOND / 3,
        |run| run.generator.workers[0].queued_ratio = 0.08,
        |run| on(run, |machine| machine.throttled = 1),
        |run| run.observed_late_ns = around(SECOND / 3, 10_000),
        |run| run.plan.pace_ns = Some(4 * SECOND),
        |run| run.plan.think_ns = Some(4 * SECOND),
    ];
    for (nth, spoil) in spoils.into_iter().enumerate() {
        let mut run = stalling(4.0, 60);
        spoil(&mut run);
        assert_eq!(stalls(&run), None, "{nth}");
    }
}

/// Responses with a tail as heavy as there are, and now and then a long one at no distance in particular.
#[test]
fn healthy_runs_have_no_stalls() {
    let stalled = |seed: &u64| {
        let mut draws = model::random::Draws::of(model::random::mixed(*seed));
        let seconds = [20, 30, 60, 300, 1800][draws.below(5) as usize];
        let (tail, hiccups) = (1.0 + 3.0 * draws.unit(), draws.below(2) == 0);
        let longest = |_| match hiccups && draws.below(20) == 0 {
            true => 400.0,
            false => 5.0 * (1.0 - draws.unit()).powf(-1.0 / tail),
        };
        let longest: Vec<f64> = (0..seconds).map(longest).collect();
        stalls(&with_longest(open(), &longest)).is_some()
    };
    let invented: Vec<u64> = (0..1000).filter(stalled).collect();
    assert!(invented.is_empty(), "seeds {invented:?}");
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
    // The stub at the end brings fewer responses and shows nothing about the server.
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

/// A run of 6 s in slices of 250 ms, with this QPS and median (ms).
fn sliced(trend: impl Fn(usize) -> (f64, f64)) -> Run {
    let mut run = closed();
    let slice = |at: usize| {
        let (requests_per_s, p50_ms) = trend(at);
        model::slices::Slice {
            start_ns: at as u64 * SECOND / 4,
            duration_ns: SECOND / 4,
            phase: "window".into(),
            requests_per_s,
            percentiles: PointPercentiles::of(|_| (p50_ms * 1e6) as u64),
            ..Default::default()
        }
    };
    run.slices = (0..24).map(slice).collect();
    run.timeline.truncate(6);
    run.rates.requests_per_s = run.slices.iter().map(|s| s.requests_per_s).sum::<f64>() / 24.0;
    run
}

fn not_steady(run: &Run) -> Option<(Verdict, String)> {
    let reasons = judge(run).reasons.into_iter();
    let mut found = reasons.filter(|reason| reason.code == ReasonCode::NotSteady);
    found.next().map(|reason| (reason.consequence, reason.text))
}

/// A server that stands still for 400 ms of every two seconds.
#[test]
fn pauses_that_come_again_and_again_are_no_warm_up() {
    let mut run = closed();
    went(&mut run, |at| match at {
        0 => (110.0, 51.0),
        at if at % 2 == 0 => (120.0, 51.0),
        _ => (200.0, 51.0),
    });
    assert_eq!(not_steady(&run), None);
    went(&mut run, |at| (200.0, if at % 2 == 0 { 51.0 } else { 20.0 }));
    assert_eq!(not_steady(&run), None);
}

#[test]
fn what_a_server_does_once_warm_includes_its_dips() {
    let mut run = closed();
    went(&mut run, |at| match at {
        0..8 => (400.0, 5.0),
        20 => (0.0, 0.0),
        _ => (1000.0, 2.0),
    });
    let (consequence, text) = not_steady(&run).expect("it warmed up");
    assert_eq!(consequence, Verdict::LowerBound, "{text}");
    assert!(text.contains("the first 8.00s of the window were warm-up"), "{text}");
    assert!(text.contains("once warm, the server answered 933/s, 15.70 % more"), "{text}");
}

#[test]
fn a_collapse_in_a_short_window_is_reported_with_its_instant() {
    let noise = |at: usize| 1.0 + 0.03 * (at * 7 % 5) as f64;
    for from in [4, 9, 12, 18, 21] {
        let run = sliced(|at| match at < from {
            true => (4000.0 * noise(at), 5.0 * noise(at)),
            false => (360.0 * noise(at), 55.0 * noise(at)),
        });
        let (consequence, text) = not_steady(&run).unwrap_or_else(|| panic!("{from}"));
        assert_eq!(consequence, Verdict::Valid);
        let at = show_duration(from as u64 * SECOND / 4);
        let told = format!("became worse {at} into the window");
        assert!(text.contains(&told) || text.contains("never settled"), "{told}: {text}");
    }
}

#[test]
fn short_windows_that_waver_or_hold_little_are_not_judged() {
    let wavering = sliced(|at| (1000.0 + 300.0 * (at % 3) as f64, 5.0 + (at % 4) as f64));
    assert_eq!(not_steady(&wavering), None);
    // 5 responses a slice: six of them are put together, which makes four.
    let few = sliced(|at| (20.0, if at < 12 { 5.0 } else { 55.0 }));
    assert_eq!(not_steady(&few), None);
    let mut very_short = sliced(|at| (4000.0, if at < 12 { 5.0 } else { 55.0 }));
    very_short.slices.iter_mut().for_each(|slice| {
        (slice.start_ns, slice.duration_ns) = (slice.start_ns / 4, slice.duration_ns / 4);
    });
    assert_eq!(not_steady(&very_short), None);
    let one_bad_moment = sliced(|at| (4000.0, if at == 0 || at == 23 { 55.0 } else { 5.0 }));
    assert_eq!(not_steady(&one_bad_moment), None);
}

/// A run of 6 s with 12 responses in each slice, which took so many ms.
fn few_in_slices(took_ms: impl Fn(usize, u64) -> u64) -> Run {
    let mut run = sliced(|_| (48.0, 20.0));
    for (at, slice) in run.slices.iter_mut().enumerate() {
        slice.response_counts = (0..12).map(|nth| (took_ms(at, nth) * MILLISECOND, 1)).collect();
    }
    run
}

#[test]
fn a_change_for_good_is_reported_with_few_responses_too() {
    let slow = |at: usize| if at < 12 { 21 } else { 400 };
    let (verdict, text) = not_steady(&few_in_slices(|at, _| slow(at))).expect("it became slower");
    assert_eq!(verdict, Verdict::Valid);
    let told = "became slower 3.00s into the window and stayed so to its end: median 21.0ms before, 400ms since";
    assert!(text.contains(told), "{text}");
    let (_, text) = not_steady(&few_in_slices(|at, _| slow(23 - at))).expect("it became faster");
    assert!(text.contains("became faster 3.00s into the window"), "{text}");
}

/// What is looked at begins where the load has grown, and the window before.
#[test]
fn an_instant_is_one_of_the_window_whose_load_grew_at_first() {
    let slower = few_in_slices(|at, _| if at < 12 { 21 } else { 400 });
    let fewer = sliced(|at| (if at < 12 { 160.0 } else { 30.0 }, 20.0));
    for (mut run, told) in [(slower, "became slower 3.00s"), (fewer, "QPS became worse 3.00s")] {
        run.plan.ramp_ns = SECOND;
        let (_, text) = not_steady(&run).expect("it became worse");
        assert!(text.contains(told), "{text}");
    }
}

/// Of the requests only some became slower, and of what comes since then too little is in a part to tell a level.
#[test]
fn throughput_that_falls_for_good_is_reported_with_few_responses_too() {
    let few = |per_s: fn(usize) -> f64| not_steady(&sliced(|at| (per_s(at), 20.0)));
    let (verdict, text) = few(|at| if at < 6 { 160.0 } else { 30.0 }).expect("it fell");
    assert_eq!(verdict, Verdict::Valid);
    assert!(text.contains("QPS became worse 1.50s into the window"), "{text}");
    assert!(text.contains("160 before, 30"), "{text}");
    for healthy in [
        |at: usize| if (10..14).contains(&at) { 30.0 } else { 160.0 },
        |at: usize| if at.is_multiple_of(4) { 160.0 } else { 30.0 },
        |at: usize| if at < 6 { 50.0 } else { 30.0 },
        // Too short a time.
        |at: usize| if at < 20 { 30.0 } else { 12.0 },
    ] {
        assert_eq!(few(healthy), None);
    }
}

#[test]
fn what_to_do_is_said_by_what_happened() {
    let noise = |at: usize| 1.0 + 0.03 * (at * 7 % 5) as f64;
    let step = |from: (f64, f64), to: (f64, f64)| {
        sliced(move |at| {
            let (per_s, p50_ms) = if at < 9 { from } else { to };
            (per_s * noise(at), p50_ms * noise(at))
        })
    };
    let (fast, slow) = ((4000.0, 5.0), (360.0, 55.0));
    let queue = |at: usize| (1000.0, 2.0 + 0.1 * at as f64);
    let [mut grows, mut settles] = [open(), open()];
    went(&mut grows, queue);
    went(&mut settles, |at| queue(29 - at));
    for (run, slower) in [
        (step(fast, slow), true),
        (step(slow, fast), false),
        (few_in_slices(|at, _| if at < 12 { 21 } else { 400 }), true),
        (few_in_slices(|at, _| if at < 12 { 400 } else { 21 }), false),
        (grows, true),
        (settles, false),
    ] {
        let (_, text) = not_steady(&run).expect("it was not");
        assert_eq!(text.contains("Find out what made the server slower"), slower, "{text}");
        assert_eq!(text.contains("Exclude warm-up"), !slower, "{text}");
        let brief = brief_advice(ReasonCode::NotSteady, &run).expect("a rule");
        assert_eq!(brief.contains("--warmup"), !slower, "{brief}");
    }
}

#[test]
fn what_overlaps_or_lasts_for_a_moment_is_no_change_for_good() {
    let spread = few_in_slices(|at, nth| 5 + nth * 7 + at as u64);
    let mixed = few_in_slices(|_, nth| if nth % 2 == 0 { 20 } else { 400 });
    let cold = few_in_slices(|at, _| if at < 1 { 400 } else { 20 });
    let late = few_in_slices(|at, _| if at == 23 { 400 } else { 20 });
    let pause = few_in_slices(|at, _| if (10..14).contains(&at) { 400 } else { 20 });
    for run in [spread, mixed, cold, late, pause] {
        assert_eq!(not_steady(&run), None);
    }
}

/// Medians of parts that hold a few seconds of the other level are as far apart as those of the levels.
#[test]
fn a_level_that_became_worse_is_reported_with_its_instant() {
    let noise = |at: usize| 1.0 + 0.01 * (at * 7 % 5) as f64;
    for from in [15, 20, 24] {
        for (name, worse) in [("the median response time", (1000.0, 4.0)), ("QPS", (600.0, 2.0))] {
            let mut run = closed();
            went(&mut run, |at| {
                let (per_s, p50_ms) = if at < from { (1000.0, 2.0) } else { worse };
                (per_s * noise(at), p50_ms * noise(at + 2))
            });
            let (_, text) = not_steady(&run).expect("it became worse");
            let told = format!("{name} became worse {from}.0s into the window");
            assert!(text.contains(&told), "{text}");
        }
    }
}

/// Nothing comes any more in most of the window: the median of its parts is 0.
#[test]
fn an_end_in_a_short_window_is_reported_with_its_instant() {
    let run = sliced(|at| if at < 8 { (4000.0, 5.0) } else { (0.0, 0.0) });
    let (verdict, text) = not_steady(&run).expect("it ended");
    assert_eq!(verdict, Verdict::Valid);
    assert!(text.contains("QPS became worse 2.00s into the window"), "{text}");
    // Bursts of as many users as there are, every second and a half: no part says anything of the level.
    let bursts = sliced(|at| if at % 6 == 0 { (4000.0, 5.0) } else { (0.0, 0.0) });
    assert_eq!(not_steady(&bursts), None);
}

/// A request every two seconds or so: seconds have none, or one.
#[test]
fn what_comes_seldom_is_judged_in_longer_parts_or_not_at_all() {
    let seldom = |every: usize, p50_ms: fn(usize) -> f64| {
        let mut run = open();
        went(&mut run, |at| if at % every == 0 { (1.0, p50_ms(at)) } else { (0.0, 0.0) });
        run
    };
    let even = |_: usize| 5.0;
    assert_eq!(stability(&seldom(2, even)), Stability::TooFew);
    assert_eq!(stability(&seldom(1, even)), Stability::Stable, "ten parts of three seconds");
    let slower = |at: usize| if at < 12 { 5.0 } else { 55.0 };
    assert_eq!(not_steady(&seldom(2, slower)), None);
    let (_, text) = not_steady(&seldom(1, slower)).expect("it became slower");
    assert!(text.contains("the median response time became worse"), "{text}");
    // Users of a closed loop whose responses take three seconds and come together.
    let mut bursts = closed();
    went(&mut bursts, |at| if at % 3 == 0 { (100.0, 3000.0) } else { (0.0, 0.0) });
    assert_eq!(not_steady(&bursts), None);
}

#[test]
fn a_load_that_grows_in_the_window_is_reported() {
    let grown = |ramp_s: u64, warmup_s: u64| {
        let mut run = closed();
        (run.plan.ramp_ns, run.plan.warmup_ns) = (ramp_s * SECOND, warmup_s * SECOND);
        went(&mut run, |at| (1000.0 + (at % 3) as f64, 2.0));
        run
    };
    let (verdict, text) = not_steady(&grown(8, 0)).expect("it grows for most of the window");
    assert_eq!(verdict, Verdict::Valid);
    assert!(
        text.contains("the first 8.00s of the window (--ramp), so that 60.00 % of it"),
        "{text}"
    );
    // Within the warm-up, and hardly beyond it.
    assert_eq!((not_steady(&grown(8, 8)), not_steady(&grown(8, 7))), (None, None));
    assert_eq!(stability(&grown(8, 0)), Stability::Stable, "the server was");
}

#[test]
fn a_count_that_waits_for_its_last_response_says_so() {
    // A thousand responses in a second, and one that took 29 s more.
    let mut run = closed();
    went(&mut run, |at| (if at == 0 { 1000.0 } else { 0.0 }, 2.0));
    run.totals.duration_ns = 30 * SECOND;
    assert_eq!(not_steady(&run).map(|(_, text)| text.contains("-n")), None);
    run.plan.requests = Some(1001);
    let (verdict, text) = not_steady(&run).expect("it waited");
    assert_eq!(verdict, Verdict::Valid);
    assert!(
        text.contains("within the first 1.00s of the window, which lasted for 30.0s"),
        "{text}"
    );
    // Of a server that went away no response was waited for.
    presence::dead(&mut run, 20);
    assert_eq!(not_steady(&run), None);
}

/// Each is too short for the server to have been away.
#[test]
fn stalls_of_all_users_that_p99_does_not_show_are_told_by_their_sum() {
    let stalled = |run: Run, times: u64, length_ns: u64| {
        judged(run, |run| {
            let silence = |nth: u64| model::Silence {
                from_ns: nth * SECOND,
                to_ns: nth * SECOND + length_ns,
                ended: true,
                ..Default::default()
            };
            let silences = (0..times).map(silence).collect();
            let user_ns = 100 * SECOND;
            run.presence = Some(model::Presence { user_ns, silences, ..Default::default() });
        })
    };
    let (verdict, codes, text) = stalled(closed(), 3, 450 * MILLISECOND);
    assert_eq!((verdict, &codes[..]), (Verdict::Valid, &[ReasonCode::Dips][..]), "{text}");
    let told = "all users waited at once for 1.35s in all, 13.50 % of the window (3 times, 450ms at the longest), and p99 is \
                6.00ms";
    assert!(text.contains(told), "{text}");
    // A part of the window that is small, times that are no longer than responses, and users who do not wait for others.
    for (run, times, length_ms) in [(closed(), 2, 450), (closed(), 9, 115), (open(), 3, 450)] {
        assert_eq!(stalled(run, times, length_ms * MILLISECOND).1, vec![]);
    }
    // Users who pause between steps, or who have no more to send; attempts that failed, for which nobody waited; and no
    // response at all, which has no p99.
    let (mut pausing, mut counted, mut unanswered) = (closed(), closed(), closed());
    unanswered.service_ns = model::Summary::default();
    pausing.plan.mix.flows.push(model::plan::FlowPlan::default());
    counted.plan.requests = Some(10_000);
    let cases = [
        (pausing, 0, false),
        (counted, 0, false),
        (unanswered, 0, false),
        (closed(), 5, false),
        (closed(), 0, true),
    ];
    for (mut run, failed_slots, told) in cases {
        let silences = vec![
            model::Silence {
                to_ns: 450 * MILLISECOND,
                failed_slots,
                ended: true,
                ..Default::default()
            };
            3
        ];
        let user_ns = 100 * SECOND;
        run.presence = Some(model::Presence { user_ns, silences, ..Default::default() });
        assert_eq!(stalls_in_words(&run).is_some(), told);
    }
}

/// Of a server that was still starting, and of one whose responses took longer for good later on.
#[test]
fn a_slow_start_hides_no_server_that_becomes_slower() {
    let started = |slow_ms: f64| {
        judged(open(), |run| {
            went(run, |at| (1000.0, if at < 20 { 2.0 } else { slow_ms }));
            let silence = model::Silence {
                to_ns: 2 * SECOND,
                ended: true,
                released: true,
                before_any_response: true,
                ..Default::default()
            };
            run.presence = Some(model::Presence { silences: vec![silence], ..Default::default() });
        })
    };
    let expected = (Verdict::LowerBound, vec![ReasonCode::NotSteady]);
    let (verdict, codes, text) = started(2.0);
    assert_eq!((verdict, codes), expected, "{text}");
    let start = "no response came in the first 2.00s of the window";
    assert!(text.contains(start) && text.contains("arrivals that waited for it"), "{text}");
    let (verdict, codes, text) = started(8.0);
    assert_eq!((verdict, codes), expected, "{text}");
    assert!(text.contains(start), "{text}");
    assert!(text.contains("the median response time became worse"), "{text}");
}
