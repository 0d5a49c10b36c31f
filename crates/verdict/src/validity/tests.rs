//! One case at least for every rule: a sound run, spoilt on purpose.

mod endpoints;
mod failing;
mod generator;
mod idle;
mod machine;
mod observed;
mod pauses;
mod presence;
mod responses;
mod steady;
mod users;
mod way;
mod window;

use model::ErrorClass;
use model::units::{MILLISECOND, SECOND};

use super::*;
use fixture::sound::{around, closed, open};

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

/// Sets the machine of a run.
fn on(run: &mut Run, change: impl Fn(&mut model::Machine)) {
    let mut machine = model::Machine { sampled_ns: 10 * SECOND, ..Default::default() };
    change(&mut machine);
    run.generator.machine = Some(machine);
}

#[test]
fn sound_runs_are_valid() {
    for run in [closed(), open()] {
        let (verdict, codes, _) = judged(run, |_| ());
        assert_eq!((verdict, codes), (Verdict::Valid, vec![]));
    }
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
        run.observed_late_ns = around(u64::MAX / 8, 1);
    });
    assert_eq!(verdict, Verdict::Invalid);
    judged(open(), |run| {
        run.totals = Default::default();
        run.rates = Default::default();
        run.plan.connections = 0;
    });
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
