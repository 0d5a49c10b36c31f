//! Rules about the window.

use super::*;

#[test]
fn rules_about_the_window() {
    check(vec![
        (
            "more in flight than connections",
            closed(),
            |run| run.service_ns = around(20 * MILLISECOND, 10_000),
            Verdict::Invalid,
            ReasonCode::LittleLaw,
            "1,000 responses/s x 20.0ms mean service time is 20.0 requests in flight, where 10 connections x 1 allow 10",
        ),
        (
            "few responses",
            closed(),
            |run| run.response_ns.count = 999,
            Verdict::Valid,
            ReasonCode::WindowTooShort,
            "999 attempts in 10.0s are too few to quote p99 or above: 9 of them are above it",
        ),
        (
            "few responses for p99.9",
            closed(),
            |run| run.response_ns.count = 9_999,
            Verdict::Valid,
            ReasonCode::WindowTooShort,
            "9,999 attempts in 10.0s are too few to quote p99.9 or above: 9 of them are above it",
        ),
        (
            "few responses for p99.99",
            closed(),
            |run| run.response_ns.count = 99_999,
            Verdict::Valid,
            ReasonCode::WindowTooShort,
            "99,999 attempts in 10.0s are too few to quote p99.99 or above: 9 of them are above it",
        ),
        (
            "a single one above a percentile",
            closed(),
            |run| run.response_ns.count = 199,
            Verdict::Valid,
            ReasonCode::WindowTooShort,
            "199 attempts in 10.0s are too few to quote p99 or above: 1 of them is above it. Measure longer",
        ),
        (
            "hardly any responses",
            closed(),
            |run| run.response_ns.count = 29,
            Verdict::Valid,
            ReasonCode::WindowTooShort,
            "29 attempts on 10 connections are too few to quote QPS or a percentile. Measure longer",
        ),
        (
            "a burst",
            closed(),
            |run| (run.plan.connections, run.response_ns.count) = (50, 100),
            Verdict::Valid,
            ReasonCode::WindowTooShort,
            "100 attempts on 50 connections are too few to quote QPS",
        ),
        (
            "few of a low rate",
            open(),
            |run| run.response_ns.count = 20,
            Verdict::Valid,
            ReasonCode::WindowTooShort,
            "20 attempts in 10.0s are too few to quote p99",
        ),
    ]);
}

/// Neither the text nor the line asks for a longer window where the number of requests ended it.
#[test]
fn a_number_of_requests_is_what_to_raise() {
    let mut run = closed();
    run.response_ns.count = 999;
    let told = |run: &Run| {
        let reasons = judge(run).reasons;
        let short = reasons.iter().find(|reason| reason.code == ReasonCode::WindowTooShort);
        let brief = brief_advice(ReasonCode::WindowTooShort, run).expect("a rule");
        (short.expect("too short").text.clone(), brief)
    };
    let made = run.totals.attempts;
    for (requests, count, longer) in
        [(None, false, true), (Some(made + 1), false, true), (Some(made), true, false)]
    {
        run.plan.requests = requests;
        let (text, brief) = told(&run);
        for words in [text.as_str(), brief] {
            assert_eq!(words.contains("(-n)"), count, "{words}");
            assert_eq!(words.contains("(-d)"), longer, "{words}");
        }
    }
    run.response_ns.count = 20;
    let (text, brief) = told(&run);
    assert!(text.ends_with("Send more requests (-n) before you quote them."), "{text}");
    assert_eq!(brief, "so few requests show no rate: send more (-n or -d)");
}

#[test]
fn rules_about_its_end() {
    check(vec![
        (
            "interrupted when the window was over",
            closed(),
            |run| {
                run.interrupted = true;
                (run.plan.duration_ns, run.totals.unfinished) = (Some(10 * SECOND), 2);
            },
            Verdict::Valid,
            ReasonCode::Interrupted,
            "the window is whole, but 2 of its responses were not waited for. Let it run to the end",
        ),
        (
            "a script's error",
            closed(),
            |run| {
                (run.interrupted, run.halted) = (true, Some("x.lua:3: enough".into()));
                run.totals.duration_ns = SECOND / 100;
            },
            Verdict::Invalid,
            ReasonCode::Interrupted,
            "ended after 10.0ms of 10.0s: x.lua:3: enough. Let it run",
        ),
        (
            "a pool that was used up",
            closed(),
            |run| {
                (run.interrupted, run.halted) = (true, Some("no row is left".into()));
                run.totals.duration_ns = 3 * SECOND;
            },
            Verdict::Valid,
            ReasonCode::Interrupted,
            "ended after 3.00s of 10.0s",
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
