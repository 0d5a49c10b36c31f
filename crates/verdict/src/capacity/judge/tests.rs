//! Runs that held, broke, or were the generator's fault.

use model::capacity::Purpose;
use model::units::{MILLISECOND, SECOND};
use model::{Plan, Reason, Validity};

use super::super::SearchObjectives;
use super::*;
use crate::objective::parse;
use fixture::sound::{around, closed, open};

fn judged(run: &Run) -> Judged {
    let run = &Run { plan: Plan { warmup_ns: SECOND, ..run.plan.clone() }, ..run.clone() };
    judge(run, SearchObjectives::default().margins(run, &[], Purpose::Search), Some(2e6))
}

#[test]
fn a_sound_run_holds() {
    for run in [open(), closed()] {
        let judged = judged(&run);
        assert_eq!(judged.outcome, Outcome::Held, "{judged:?}");
        assert_eq!((judged.requests_per_s, judged.succeeded_per_s), (1000.0, 1000.0));
        assert_eq!(judged.note, None);
    }
}

#[test]
fn the_objective_that_broke_most_comes_first() {
    let mut run = open();
    run.response_ns = around(5_000_000_000, 10_000);
    run.rates.requests_per_s = 900.0;
    let judged = judged(&run);
    assert_eq!(judged.outcome, Outcome::Broke);
    let names: Vec<&str> = judged.margins.iter().map(|m| m.objective.as_str()).collect();
    assert_eq!(names, ["mean<=500ms", "answered>=99%", "success>=99%"]);
    assert_eq!(judged.margins[1].value, 0.9);
}

#[test]
fn a_pace_that_holds_below_its_limit_says_why() {
    let mut run = open();
    let pace = |run: &Run| {
        let margins = judged(run).margins;
        margins.into_iter().find(|margin| margin.objective == "answered>=99%").unwrap()
    };
    assert_eq!(pace(&run).why, None);
    // 10,000 were due in the window: three of them, in flight at its ends, are borne.
    run.rates.requests_per_s = 989.8;
    let pace = pace(&run);
    assert_eq!(pace.outcome, Outcome::Held);
    assert!(pace.why.is_some_and(|why| why.contains("in flight")));
}

/// Requests of 2 s at rest: in a window of 10 s after a second of warm-up, a tenth more are under way at its end.
#[test]
fn the_pace_of_a_slow_server_is_held_against_its_time_at_rest() {
    let mut run = open();
    run.plan.warmup_ns = SECOND;
    run.rates.requests_per_s = 900.0;
    let outcome = |run: &Run, idle_ns: f64| judge(run, Vec::new(), Some(idle_ns)).outcome;
    assert_eq!(outcome(&run, 2e6), Outcome::Broke);
    assert_eq!(outcome(&run, 2e9), Outcome::Held);
    run.rates.requests_per_s = 800.0;
    assert_eq!(outcome(&run, 2e9), Outcome::Broke);
}

/// A server that has become slow answers all the same, if its times do not grow.
#[test]
fn responses_that_take_long_all_along_are_no_backlog() {
    let mut run = open();
    (run.plan.rate_per_s, run.plan.warmup_ns) = (Some(219.0), SECOND / 5);
    run.totals.duration_ns = 5 * SECOND / 2;
    (run.rates.offered_per_s, run.rates.achieved_per_s) = (211.0, 211.0);
    run.rates.requests_per_s = 197.0;
    let mut outcome = |means_ms: [u64; 3]| {
        let block =
            |ms: u64| model::Block { response_mean_ns: ms * MILLISECOND, ..Default::default() };
        run.blocks = means_ms.into_iter().map(block).collect();
        judge(&run, Vec::new(), Some(20e6)).outcome
    };
    assert_eq!(outcome([401, 402, 401]), Outcome::Held);
    assert_eq!(outcome([120, 290, 460]), Outcome::Broke, "a queue that grows");
    assert_eq!(outcome([21, 21, 401]), Outcome::Broke);
}

#[test]
fn a_page_of_errors_with_a_good_status_breaks_a_level() {
    use model::kinds::Changed;
    let mut run = open();
    let mixed = ResponseChange { how: Changed::Mixed, share: 0.66, ..ResponseChange::default() };
    run.response_changes = vec![mixed];
    assert_eq!(judged(&run).outcome, Outcome::Held, "a note, where requests differ");
    run.validity = Validity::of(vec![
        Reason {
            code: ReasonCode::ResponsesChanged,
            consequence: Verdict::Invalid,
            text: "66 % had another media type".into(),
        },
        Reason {
            code: ReasonCode::ConnectionsExhausted,
            consequence: Verdict::LowerBound,
            text: "all connections were in use".into(),
        },
    ]);
    let judged = judged(&run);
    assert_eq!(judged.outcome, Outcome::Broke, "{judged:?}");
    let first = &judged.margins[0];
    assert_eq!(first.objective, "usual responses>=99%");
    assert!((first.value - 0.34).abs() < 1e-9);
}

#[test]
fn responses_before_a_change_count_as_usual() {
    use model::kinds::{Changed, ResponseKind};
    let kind = |responses| ResponseKind { responses, ..ResponseKind::default() };
    let mut run = open();
    run.response_kinds = vec![kind(970), kind(30)];
    run.response_changes = vec![ResponseChange {
        how: Changed::ForGood,
        since_ns: 9 * SECOND,
        after: kind(30),
        share: 1.0,
        ..ResponseChange::default()
    }];
    run.validity = Validity::of(vec![Reason {
        code: ReasonCode::ResponsesChanged,
        consequence: Verdict::Invalid,
        text: "the responses changed".into(),
    }]);
    let judged = judged(&run);
    let first = &judged.margins[0];
    assert_eq!(
        (judged.outcome, first.objective.as_str()),
        (Outcome::Broke, "usual responses>=99%")
    );
    assert!((first.value - 0.97).abs() < 1e-9, "{first:?}");
}

#[test]
fn fast_errors_are_no_capacity() {
    let mut run = open();
    run.rates.success_ratio = Some(0.5);
    run.totals.succeeded = 5_000;
    let judged = judge(&run, Vec::new(), None);
    assert_eq!((judged.outcome, judged.succeeded_per_s), (Outcome::Broke, 500.0));
}

#[test]
fn a_level_whose_run_is_invalid_does_not_hold() {
    let outcome = |code, consequence, objective: &str| {
        let mut run = open();
        run.rates.available_ratio = Some(0.9);
        run.validity = Validity::of(vec![Reason { code, consequence, text: "why".into() }]);
        let asked = SearchObjectives::of(parse(objective).expect("an objective"));
        judge(&run, asked.margins(&run, &[], Purpose::Search), Some(2e6)).outcome
    };
    for (code, consequence, objective, expected) in [
        (ReasonCode::Throttled, Verdict::Invalid, "mean<1s", Outcome::Unclear),
        (ReasonCode::GeneratorPaused, Verdict::Invalid, "mean<1s", Outcome::Unclear),
        (ReasonCode::StarvedConnections, Verdict::Invalid, "mean<1s", Outcome::Unclear),
        (ReasonCode::ServerGone, Verdict::Invalid, "mean<1s", Outcome::Unclear),
        (ReasonCode::ServerGone, Verdict::Invalid, "available>=50%", Outcome::Held),
        (ReasonCode::LateSends, Verdict::Invalid, "mean<1s", Outcome::Held),
        (ReasonCode::Throttled, Verdict::LowerBound, "mean<1s", Outcome::Held),
        (ReasonCode::ServerGone, Verdict::Valid, "mean<1s", Outcome::Held),
        (ReasonCode::Throttled, Verdict::Invalid, "mean<1ns", Outcome::Generator),
    ] {
        let got = outcome(code, consequence, objective);
        assert_eq!(got, expected, "{} {objective}", code.name());
    }
}

#[test]
fn the_generators_fault_is_not_the_servers() {
    let blamed = |code, service_ns| {
        let mut run = open();
        run.rates.requests_per_s = 800.0;
        run.rates.achieved_per_s = 800.0;
        run.service_ns = around(service_ns, 8_000);
        let consequence = Verdict::LowerBound;
        run.validity = Validity::of(vec![Reason { code, consequence, text: "why".into() }]);
        judged(&run).outcome
    };
    assert_eq!(blamed(ReasonCode::AchievedBelowOffered, 2_000_000), Outcome::Generator);
    assert_eq!(blamed(ReasonCode::ConnectionsExhausted, 2_000_000), Outcome::Generator);
    assert_eq!(blamed(ReasonCode::ConnectionsExhausted, 50_000_000), Outcome::Broke);
    assert_eq!(blamed(ReasonCode::KeepaliveRefused, 2_000_000), Outcome::Broke);
}

#[test]
fn a_few_arrivals_that_found_no_connection_are_not_the_servers() {
    let outcome = |service_ns, errors, wait_ns| {
        let mut run = open();
        run.totals.unsent = 150;
        run.totals.errors.read = errors;
        run.rates.success_ratio = Some(0.985);
        run.concurrency.in_flight_max = run.plan.inflight_cap();
        run.service_ns = around(service_ns, 9_850);
        run.wait_ns = around(wait_ns, 9_850);
        judge(&run, Vec::new(), Some(2e6)).outcome
    };
    assert_eq!(outcome(2_000_000, 0, 10_000_000), Outcome::Generator);
    assert_eq!(outcome(20_000_000, 0, 10_000_000), Outcome::Broke);
    assert_eq!(outcome(2_000_000, 1, 10_000_000), Outcome::Broke);
    assert_eq!(outcome(2_000_000, 0, 0), Outcome::Broke);
}

#[test]
fn arrivals_that_wait_for_a_server_that_is_away_do_not_want_more_connections() {
    let outcome = |consequence| {
        let mut run = open();
        run.rates.success_ratio = Some(0.985);
        run.concurrency.in_flight_max = run.plan.inflight_cap();
        run.wait_ns = around(10 * MILLISECOND, 9_850);
        let code = ReasonCode::ServerGone;
        run.validity = Validity::of(vec![Reason { code, consequence, text: "why".into() }]);
        judge(&run, Vec::new(), Some(2e6)).outcome
    };
    assert_eq!(outcome(Verdict::Invalid), Outcome::Broke);
    assert_eq!(outcome(Verdict::Valid), Outcome::Generator, "for a moment");
}

#[test]
fn a_target_that_dies_is_no_limit_of_the_generator() {
    let outcome = |failed, limits: &[&str]| {
        let mut run = open();
        run.totals.errors.connect = failed;
        run.totals.unsent = 3_000;
        run.totals.limits = limits.iter().map(|&name| (name.to_owned(), failed)).collect();
        run.rates.success_ratio = Some(0.5);
        let (code, consequence) = (ReasonCode::AchievedBelowOffered, Verdict::LowerBound);
        run.validity = Validity::of(vec![Reason { code, consequence, text: "why".into() }]);
        judge(&run, Vec::new(), Some(2e6)).outcome
    };
    assert_eq!(outcome(2_000, &[]), Outcome::Broke);
    assert_eq!(outcome(50, &[]), Outcome::Generator);
    assert_eq!(outcome(2_000, &["EADDRNOTAVAIL"]), Outcome::Generator);
}

#[test]
fn lateness_is_blamed_for_what_it_explains() {
    for (mean_ns, outcome) in [(505_000_000, Outcome::Generator), (600_000_000, Outcome::Broke)] {
        let mut run = open();
        run.response_ns = around(mean_ns, 10_000);
        run.late_ns = around(5_000_000, 10_000);
        let (code, consequence) = (ReasonCode::LateSends, Verdict::LowerBound);
        run.validity = Validity::of(vec![Reason { code, consequence, text: "why".into() }]);
        assert_eq!(judged(&run).outcome, outcome, "{mean_ns}");
    }
}

/// Of an open loop whose requests left late, or found no connection, one in a hundred by 20 ms and one in a
/// thousand by 200 ms; half of them at once.
#[test]
fn a_part_of_a_time_is_blamed_by_the_figure_that_is_limited() {
    let outcome = |objective: &str, value_ms: u64, waited: bool| {
        let mut run = open();
        let (p99, p999) = (20 * MILLISECOND, 200 * MILLISECOND);
        let mean = MILLISECOND;
        let part = Summary { mean, p50: 0, p99, p999, ..around(p999, 10_000) };
        *(if waited { &mut run.wait_ns } else { &mut run.late_ns }) = part;
        run.concurrency.in_flight_max = run.plan.inflight_cap();
        if !waited {
            let (code, consequence) = (ReasonCode::LateSends, Verdict::LowerBound);
            run.validity = Validity::of(vec![Reason { code, consequence, text: "why".into() }]);
        }
        let (value, limit) = ((value_ms * MILLISECOND) as f64, 5e8);
        let of = Of::objective(&parse(objective).expect("an objective")[0]);
        let (objective, unit) = (objective.to_owned(), Unit::Nanoseconds);
        let outcome = Outcome::Broke;
        let margin = Margin { objective, value, limit, unit, outcome, why: None, untried: false };
        let weighed = MetricMargin { margin, of, too_few: false, left_open: false };
        judge(&run, vec![weighed], Some(2e6)).outcome
    };
    for (objective, value_ms, of_late, of_waited) in [
        ("p99<500ms", 515, Outcome::Generator, Outcome::Generator),
        ("p99<500ms", 525, Outcome::Broke, Outcome::Broke),
        ("mean<500ms", 515, Outcome::Broke, Outcome::Broke),
        ("p50<500ms", 515, Outcome::Broke, Outcome::Broke),
        ("p99.5<500ms", 690, Outcome::Generator, Outcome::Generator),
        ("GET /users/{id}: p99.9<500ms", 690, Outcome::Generator, Outcome::Generator),
        // Who takes arrivals up late takes responses up late too, but waiting comes before sending.
        ("service.p99<500ms", 515, Outcome::Generator, Outcome::Broke),
    ] {
        let got = [false, true].map(|waited| outcome(objective, value_ms, waited));
        assert_eq!(got, [of_late, of_waited], "{objective} {value_ms}");
    }
}

#[test]
fn failures_that_are_allowed_do_not_excuse_the_generator() {
    let outcome = |asked: &str| {
        let mut run = open();
        run.totals.errors.status = 200;
        run.totals.succeeded = 7_800;
        run.rates.success_ratio = Some(0.78);
        run.rates.achieved_per_s = 800.0;
        run.rates.requests_per_s = 800.0;
        let (code, consequence) = (ReasonCode::AchievedBelowOffered, Verdict::LowerBound);
        run.validity = Validity::of(vec![Reason { code, consequence, text: "why".into() }]);
        let asked = SearchObjectives::of(parse(asked).expect("an objective"));
        judge(&run, asked.margins(&run, &[], Purpose::Search), Some(2e6)).outcome
    };
    assert_eq!(outcome("success>=70%"), Outcome::Generator);
    assert_eq!(outcome("success>=95%"), Outcome::Generator);
    assert_eq!(outcome("success>=98.5%"), Outcome::Broke);
    assert_eq!(outcome("errors<1%"), Outcome::Broke);
    assert_eq!(outcome("errors<5%"), Outcome::Generator);
    assert_eq!(outcome("errors<100"), Outcome::Broke);
    assert_eq!(outcome("errors<500"), Outcome::Generator);
}

#[test]
fn lateness_is_blamed_for_no_more_responses_than_came_due_in_it() {
    for (answered_per_s, outcome) in [(970.0, Outcome::Broke), (988.0, Outcome::Generator)] {
        let mut run = open();
        run.rates.requests_per_s = answered_per_s;
        run.late_ns = around(40_000_000, 10_000);
        let (code, consequence) = (ReasonCode::LateSends, Verdict::LowerBound);
        run.validity = Validity::of(vec![Reason { code, consequence, text: "why".into() }]);
        assert_eq!(judged(&run).outcome, outcome, "{answered_per_s}");
    }
}

#[test]
fn a_server_that_answers_nothing_is_no_limit_of_the_generator() {
    let outcome = |in_flight| {
        let mut run = open();
        (run.totals.requests, run.rates.success_ratio) = (0, Some(0.0));
        (run.rates.achieved_per_s, run.concurrency.in_flight_max) = (0.4, in_flight);
        let (code, consequence) = (ReasonCode::AchievedBelowOffered, Verdict::LowerBound);
        run.validity = Validity::of(vec![Reason { code, consequence, text: "why".into() }]);
        judge(&run, Vec::new(), Some(2e6)).outcome
    };
    assert_eq!((outcome(200), outcome(0)), (Outcome::Broke, Outcome::Generator));
}

#[test]
fn a_run_without_responses_broke() {
    let mut run = open();
    run.totals.requests = 0;
    run.totals.errors.connect = 10_000;
    run.totals.error_samples.insert("connect".into(), "connection refused".into());
    let judged = judge(&run, Vec::new(), None);
    assert_eq!(judged.outcome, Outcome::Broke);
    assert!(judged.note.is_some_and(|note| note.contains("connection refused")));
}
