//! The exit code that a result deserves, so that a script need not read the report.

use model::capacity::{CapacitySearch, Outcome, Purpose, SearchStep};
use model::{LevelKind, Reason, ReasonCode, Ruling, Run, Sweep, Verdict};

use crate::capacity::judge::QUEUED;
use crate::gone::{gone, gone_for_good, is_counted_by_available};
use crate::objective::levels::holds;
use crate::offered::shortfall;

use crate::audit::{Audit, Severity};

/// Done: `VALID`, or `LOWER_BOUND` in a closed loop (QPS "at least", latency "at most"), unless the objective `valid` was
/// asked for.
pub const DONE: u8 = 0;
/// Could not run, or not to the end: what was to be sent came to one before.
pub const COULD_NOT_RUN: u8 = 1;
/// The command line was wrong.
pub const USAGE: u8 = 2;
/// The result cannot be believed: `INVALID`, an open loop that the generator could not send, a
/// generator that was not running for a while, an objective that the run left undecided, or a run aborted because its rate was not reached.
pub const NOT_BELIEVABLE: u8 = 98;
/// Objectives were missed, or a breach that the user named ended the run.
pub const OBJECTIVES_MISSED: u8 = 99;
/// Interrupted; the partial result is saved.
pub const INTERRUPTED: u8 = 130;

/// The code of a judged run. What cannot be believed or is undecided goes before what was missed: a
/// miss among doubts is a doubt.
pub fn exit_code(run: &Run) -> u8 {
    let any = |ruling| run.objectives.iter().any(|held| held.ruling == ruling);
    let rate_not_reached = run.aborted.as_ref().is_some_and(|abort| abort.rate_not_reached);
    if run.halted.is_some() {
        COULD_NOT_RUN
    } else if run.interrupted && run.aborted.is_none() {
        INTERRUPTED
    } else if !is_believable(run) || any(Ruling::Inconclusive) || rate_not_reached {
        NOT_BELIEVABLE
    } else if any(Ruling::Fail) || run.aborted.is_some() {
        OBJECTIVES_MISSED
    } else {
        DONE
    }
}

/// Whether a run's figures may be gone by: it is `VALID`, a lower bound of a closed loop whose generator was running, or of
/// a server whose absence an objective bears.
pub fn is_believable(run: &Run) -> bool {
    believable(run) || absence_borne(run)
}

/// What the code of a `LOWER_BOUND` run is and what to do about it, in a sentence; none where the code says something else.
pub fn of_lower_bound(run: &Run) -> Option<String> {
    let asked = run.objectives.iter().any(|held| held.objective == "valid");
    if run.validity.verdict != Verdict::LowerBound || asked {
        return None;
    }
    match exit_code(run) {
        DONE => Some("Exit code 0, as QPS is at least this; with --slo valid it is 98.".to_owned()),
        NOT_BELIEVABLE if !believable(run) => {
            let doubts = |code| {
                let found = run.validity.reasons.iter().find(|reason| reason.code == code);
                found.is_some_and(|reason| reason.consequence != Verdict::Valid)
            };
            let why = match () {
                () if not_running(&run.validity.reasons) => "the generator was held up",
                () if shortfall(run).is_some() || doubts(ReasonCode::AchievedBelowOffered) => {
                    "the rate asked for was not sent"
                }
                () if doubts(ReasonCode::LateSends) => "requests left later than they were due",
                () => "figures at a fixed rate are not bounds",
            };
            Some(format!("Exit code 98, as {why}."))
        }
        _ => None,
    }
}

/// Why the code of an `INVALID` run is 0 all the same, in a sentence; none where it is not.
pub fn of_borne_absence(run: &Run) -> Option<String> {
    let borne = run.validity.verdict == Verdict::Invalid && exit_code(run) == DONE;
    borne.then(|| {
        "Exit code 0, as the server was available for as much as the objective on it asks."
            .to_owned()
    })
}

/// The code of a sweep that was not interrupted. One level that cannot be believed (the last of a
/// climb often is) leaves the others their worth, so only a sweep without any that can fails. Nothing of
/// the kind holds where the generator was not running, or the server was not the same: levels are compared,
/// and one cannot be. Of a
/// sweep with objectives one level must hold them all; one that a rule of its user ended has missed
/// what the rule is about, one whose server went away cannot be believed as a whole, and one whose load came to its end
/// within a level could not be run.
pub fn exit_code_of_sweep(sweep: &Sweep) -> u8 {
    if sweep.levels.iter().any(|held| held.run.halted.is_some()) {
        return COULD_NOT_RUN;
    }
    let aborted = sweep.levels.iter().find_map(|held| held.run.aborted.as_ref());
    if let Some(abort) = aborted {
        return if abort.rate_not_reached { NOT_BELIEVABLE } else { OBJECTIVES_MISSED };
    }
    let spoilt = |run: &Run| not_running(&run.validity.reasons) || another_server(run);
    if sweep.levels.iter().any(|held| spoilt(&held.run)) {
        return NOT_BELIEVABLE;
    }
    let rulings = || sweep.levels.iter().flat_map(|held| &held.run.objectives).map(|h| h.ruling);
    if !sweep.levels.iter().any(|held| believable(&held.run)) {
        NOT_BELIEVABLE
    } else if rulings().next().is_none() || sweep.levels.iter().any(holds) {
        DONE
    } else if rulings().any(|ruling| ruling == Ruling::Inconclusive) {
        NOT_BELIEVABLE
    } else {
        OBJECTIVES_MISSED
    }
}

/// The code of an audit: one impossible row is enough. Doubtful rows are reported and do not fail it.
pub fn exit_code_of_audit(audit: &Audit) -> u8 {
    if audit.worst() == Some(Severity::Impossible) { NOT_BELIEVABLE } else { DONE }
}

/// Whether the steps of a search are about one server, and a generator that was running: those in which it
/// was not running count against it, and those that would have held but for a server that was away, changed or left
/// users without a response. A server that does the last while it is no slower than at rest is not overloaded.
pub fn search_believable(search: &CapacitySearch) -> bool {
    let at_rest =
        |step: &&SearchStep| step.step.purpose == Purpose::Idle && step.judged.mean_ns > 0.0;
    let idle = search.steps.iter().find(at_rest).map(|step| step.judged.mean_ns);
    let any_broke = search.steps.iter().any(|step| step.judged.outcome == Outcome::Broke);
    let held =
        search.steps.iter().filter(|step| is_level(step) && step.judged.outcome == Outcome::Held);
    let highest_held = held.map(|step| step.step.level).fold(0.0, f64::max);
    search.steps.iter().all(|step| {
        let judged = &step.judged;
        let unclear = judged.outcome == Outcome::Unclear;
        let calm = idle.is_some_and(|idle| judged.mean_ns < QUEUED * idle);
        let against = |reason: &Reason| {
            let starved = reason.code == ReasonCode::StarvedConnections;
            of_another_server(reason) && (unclear || starved && calm)
        };
        // Where a level broke, or one as high held, the search tried again what a pause had left open; a look at the
        // server at rest decides nothing.
        let undecided = unclear || judged.outcome == Outcome::Generator;
        let open = is_level(step) && step.step.level > highest_held && !any_broke;
        let paused = undecided && open && not_running(&judged.reasons);
        !(paused || judged.reasons.iter().any(against))
    })
}

/// Whether a step is a level approached from idle.
fn is_level(step: &SearchStep) -> bool {
    matches!(step.step.purpose, Purpose::Search | Purpose::Hold)
}

/// Whether the generator was not running for a while: what it measured then is its own, not even a
/// bound that its own limits set.
fn not_running(reasons: &[Reason]) -> bool {
    reasons.iter().any(|reason| {
        let listed = matches!(reason.code, ReasonCode::Throttled | ReasonCode::GeneratorPaused);
        listed && reason.consequence != Verdict::Valid
    })
}

/// Whether a level was measured of a server that was away for a while, responds differently than at the
/// levels before, or left users without a response. One that refuses a part of the users all along is
/// overloaded, which a level may be.
fn another_server(run: &Run) -> bool {
    let left = gone_for_good(run).is_some() && !absence_borne(run);
    let overloaded = gone(run).is_some_and(|gone| gone.silence.is_none() && gone.at_once.is_none());
    let mut reasons = run.validity.reasons.iter().filter(|reason| of_another_server(reason));
    let away = |reason: &Reason| reason.code == ReasonCode::ServerGone;
    left || reasons.any(|reason| !(away(reason) && (overloaded || absence_borne(run))))
}

fn of_another_server(reason: &Reason) -> bool {
    use ReasonCode::{NotSteady, ResponsesChanged, ServerGone, StarvedConnections};

    let listed =
        matches!(reason.code, ServerGone | StarvedConnections | ResponsesChanged | NotSteady);
    listed && reason.consequence == Verdict::Invalid
}

/// Whether the run would be believable but for a server that went away, and an objective on `available`
/// says how much of that is borne.
fn absence_borne(run: &Run) -> bool {
    let asked = run
        .objectives
        .iter()
        .any(|held| held.objective.starts_with("available") && held.ruling != Ruling::Inconclusive);
    let reasons = run.validity.reasons.iter();
    let mut against = reasons.filter(|reason| reason.consequence == Verdict::Invalid);
    asked
        && is_counted_by_available(run)
        && against.all(|reason| reason.code == ReasonCode::ServerGone)
}

/// Whether a figure at this level is believable: `VALID`, or a lower bound. At a fixed rate a
/// lower bound is not: the users the schedule wanted were not sent.
fn believable(run: &Run) -> bool {
    if not_running(&run.validity.reasons) {
        return false;
    }
    let kind = if run.plan.rate_per_s.is_some() { LevelKind::Rate } else { LevelKind::Concurrency };
    match (run.validity.verdict, kind) {
        (Verdict::Valid, _) | (Verdict::LowerBound, LevelKind::Concurrency) => true,
        (Verdict::LowerBound, LevelKind::Rate) | (Verdict::Invalid, _) => false,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_a_lower_bound_exits_with_is_said() {
        for (mut run, expected) in [
            (judged(closed(), Verdict::LowerBound), Some("Exit code 0,")),
            (judged(open(), Verdict::LowerBound), Some("Exit code 98,")),
            (judged(closed(), Verdict::Valid), None),
            (judged(open(), Verdict::Invalid), None),
        ] {
            let words = of_lower_bound(&run);
            assert_eq!(words.is_some(), expected.is_some(), "{words:?}");
            if let (Some(words), Some(expected)) = (words, expected) {
                assert!(words.starts_with(expected), "{words}");
                assert!(expected.contains(&exit_code(&run).to_string()), "{words}");
            }
            run.interrupted = true;
            assert_eq!(of_lower_bound(&run), None);
        }
    }

    #[test]
    fn what_was_sent_late_is_not_called_unsent() {
        for (code, achieved, words) in [
            (ReasonCode::LateSends, 1000.0, "as requests left later than they were due."),
            (ReasonCode::LateSends, 900.0, "as the rate asked for was not sent."),
            (ReasonCode::AchievedBelowOffered, 1000.0, "as the rate asked for was not sent."),
            (
                ReasonCode::ConnectionsExhausted,
                1000.0,
                "as figures at a fixed rate are not bounds.",
            ),
            (ReasonCode::GeneratorPaused, 1000.0, "as the generator was held up."),
        ] {
            let mut run = open();
            run.rates.achieved_per_s = achieved;
            let text = "evidence".to_owned();
            run.validity =
                Validity::of(vec![Reason { code, consequence: Verdict::LowerBound, text }]);
            let said = of_lower_bound(&run).unwrap();
            assert!(said.contains(words), "{said}");
        }
    }

    use model::sweep::Level;
    use model::units::SECOND;
    use model::{Abort, Curve, ErrorClass, Judgement, LevelKind, Presence, Silence, Validity};

    use super::*;
    use fixture::sound::{closed, open};

    fn judged(mut run: Run, verdict: Verdict) -> Run {
        run.validity = Validity { verdict, reasons: Vec::new() };
        run
    }

    fn sweep(kind: LevelKind, runs: Vec<Run>) -> Sweep {
        let levels = (1..).zip(runs).map(|(n, run)| Level { level: f64::from(n), run }).collect();
        Sweep { kind, ..fixture::sound::sweep(levels) }
    }

    #[test]
    fn codes_of_runs() {
        use Verdict::{Invalid, LowerBound, Valid};
        for (run, verdict, interrupted, code) in [
            (closed(), Valid, false, DONE),
            (closed(), LowerBound, false, DONE),
            (closed(), Invalid, false, NOT_BELIEVABLE),
            (open(), Valid, false, DONE),
            (open(), LowerBound, false, NOT_BELIEVABLE),
            (open(), Invalid, false, NOT_BELIEVABLE),
            (open(), Invalid, true, INTERRUPTED),
            (closed(), Valid, true, INTERRUPTED),
        ] {
            let run = Run { interrupted, ..judged(run, verdict) };
            assert_eq!(exit_code(&run), code, "{verdict:?} {interrupted}");
        }
    }

    #[test]
    fn what_a_generator_that_was_not_running_measured_is_never_done() {
        for code in [ReasonCode::Throttled, ReasonCode::GeneratorPaused] {
            for (consequence, expected) in
                [(Verdict::LowerBound, NOT_BELIEVABLE), (Verdict::Valid, DONE)]
            {
                let text = String::new();
                let reasons = vec![Reason { code, consequence, text }];
                let run = Run { validity: Validity::of(reasons), ..closed() };
                assert_eq!(exit_code(&run), expected, "{code:?} {consequence:?}");
                let swept = sweep(LevelKind::Concurrency, vec![closed(), run]);
                assert_eq!(exit_code_of_sweep(&swept), expected, "{code:?} {consequence:?}");
            }
        }
    }

    #[test]
    fn a_sweep_whose_load_ran_out_could_not_be_run() {
        let halted = Some("no row is left".to_owned());
        let last = Run { interrupted: true, halted, ..closed() };
        let swept = sweep(LevelKind::Concurrency, vec![closed(), last]);
        assert_eq!(exit_code_of_sweep(&swept), COULD_NOT_RUN);
    }

    #[test]
    fn levels_of_another_server_are_not_compared() {
        use ReasonCode::{FastErrors, NotSteady, ResponsesChanged, ServerGone, StarvedConnections};
        for (code, consequence, expected) in [
            (StarvedConnections, Verdict::Invalid, NOT_BELIEVABLE),
            (ResponsesChanged, Verdict::Invalid, NOT_BELIEVABLE),
            (ServerGone, Verdict::Invalid, NOT_BELIEVABLE),
            // It became another one within the level, or had a slow start.
            (NotSteady, Verdict::Invalid, NOT_BELIEVABLE),
            (NotSteady, Verdict::LowerBound, DONE),
            // A moment, an overload.
            (ServerGone, Verdict::Valid, DONE),
            (StarvedConnections, Verdict::Valid, DONE),
            (FastErrors, Verdict::Invalid, DONE),
        ] {
            let reasons = vec![Reason { code, consequence, text: String::new() }];
            let run = Run { validity: Validity::of(reasons), ..closed() };
            let swept = sweep(LevelKind::Concurrency, vec![closed(), run]);
            assert_eq!(exit_code_of_sweep(&swept), expected, "{code:?} {consequence:?}");
        }
    }

    #[test]
    fn an_objective_that_counts_errors_as_responses_bears_none() {
        let silence = Silence {
            unseen_ns: 0,
            from_ns: 2 * SECOND,
            to_ns: 4 * SECOND,
            last_failed_ns: Some(4 * SECOND),
            failed_slots: 100,
            ended: true,
            released: false,
            before_any_response: false,
        };
        let mut run = ruled(judged(closed(), Verdict::Invalid), &[Ruling::Pass]);
        run.objectives[0].objective = "available>=99%".into();
        run.validity.reasons = vec![Reason {
            code: ReasonCode::ServerGone,
            consequence: Verdict::Invalid,
            text: String::new(),
        }];
        let silences = vec![silence];
        run.presence =
            Some(Presence { user_ns: 1, down_ns: 0, cut_ns: 0, failing_ns: 0, silences });
        let (mut refused, mut errors) = (run.clone(), run);
        refused.totals.errors.add(ErrorClass::Connect, 200);
        errors.totals.errors.add(ErrorClass::Status, 200);
        errors.totals.statuses.insert(502, 200);
        for run in [&mut refused, &mut errors] {
            run.totals.succeeded = run.totals.attempts.saturating_sub(200);
        }
        assert_eq!(exit_code(&refused), DONE);
        assert_eq!(exit_code(&errors), NOT_BELIEVABLE);
        let words = of_borne_absence(&refused).expect("what its code is");
        assert!(words.starts_with(&format!("Exit code {DONE}, ")), "{words}");
        refused.objectives[0].ruling = Ruling::Fail;
        let sound = judged(closed(), Verdict::Valid);
        for run in [&errors, &refused, &sound] {
            assert_eq!(of_borne_absence(run), None);
        }
    }

    fn ruled(mut run: Run, rulings: &[Ruling]) -> Run {
        let judgement =
            |ruling: &Ruling| Judgement { ruling: *ruling, ..Judgement::undecided("max<1s", "") };
        run.objectives = rulings.iter().map(judgement).collect();
        run
    }

    #[test]
    fn a_miss_among_doubts_is_a_doubt() {
        use Ruling::{Fail, Inconclusive, Pass};
        for (verdict, rulings, code) in [
            (Verdict::Valid, &[Pass, Pass][..], DONE),
            (Verdict::Valid, &[Pass, Fail], OBJECTIVES_MISSED),
            (Verdict::Valid, &[Fail, Inconclusive], NOT_BELIEVABLE),
            (Verdict::LowerBound, &[Pass], DONE),
            (Verdict::LowerBound, &[Fail], OBJECTIVES_MISSED),
            (Verdict::Invalid, &[Fail], NOT_BELIEVABLE),
        ] {
            let run = ruled(judged(closed(), verdict), rulings);
            assert_eq!(exit_code(&run), code, "{verdict:?} {rulings:?}");
        }
    }

    #[test]
    fn codes_of_aborted_runs() {
        for (verdict, rate_not_reached, code) in [
            (Verdict::Valid, false, OBJECTIVES_MISSED),
            (Verdict::Valid, true, NOT_BELIEVABLE),
            (Verdict::Invalid, false, NOT_BELIEVABLE),
        ] {
            let (rule, text) = (String::new(), String::new());
            let aborted = Some(Abort { rule, rate_not_reached, at_ns: 1, text });
            let run = Run { interrupted: true, aborted, ..judged(closed(), verdict) };
            assert_eq!(exit_code(&run), code, "{verdict:?} {rate_not_reached}");
        }
    }

    #[test]
    fn one_level_must_hold_the_objectives() {
        use Ruling::{Fail, Inconclusive, Pass};
        for (levels, code) in [
            (&[&[Pass, Pass][..], &[Fail, Inconclusive]][..], DONE),
            (&[&[Pass, Fail], &[Fail, Fail]], OBJECTIVES_MISSED),
            (&[&[Pass, Fail], &[Pass, Inconclusive]], NOT_BELIEVABLE),
        ] {
            let runs = levels.iter().map(|rulings| ruled(closed(), rulings)).collect();
            assert_eq!(exit_code_of_sweep(&sweep(LevelKind::Concurrency, runs)), code);
        }
    }

    #[test]
    fn a_sweep_that_a_rule_ended() {
        for (rate_not_reached, code) in [(false, OBJECTIVES_MISSED), (true, NOT_BELIEVABLE)] {
            let (rule, text) = (String::new(), String::new());
            let aborted = Some(Abort { rule, rate_not_reached, at_ns: 1, text });
            let runs = vec![closed(), Run { interrupted: true, aborted, ..closed() }];
            assert_eq!(exit_code_of_sweep(&sweep(LevelKind::Rate, runs)), code);
        }
    }

    #[test]
    fn one_level_to_go_by_saves_a_sweep() {
        let bad = || judged(closed(), Verdict::Invalid);
        let concurrencies = |runs| sweep(LevelKind::Concurrency, runs);
        let saved = concurrencies(vec![bad(), judged(closed(), Verdict::LowerBound)]);
        assert_eq!(exit_code_of_sweep(&saved), DONE);
        assert_eq!(exit_code_of_sweep(&concurrencies(vec![bad(), bad()])), NOT_BELIEVABLE);
        assert_eq!(exit_code_of_sweep(&concurrencies(Vec::new())), NOT_BELIEVABLE);
        let rates = sweep(LevelKind::Rate, vec![judged(open(), Verdict::LowerBound)]);
        assert_eq!(exit_code_of_sweep(&rates), NOT_BELIEVABLE);
    }

    #[test]
    fn a_sweep_is_a_curve_of_its_runs() {
        let runs = vec![closed(), judged(closed(), Verdict::Invalid)];
        let mut swept = sweep(LevelKind::Concurrency, runs);
        let curve = Curve::from_sweep(&swept).unwrap();
        assert_eq!((curve.name.as_str(), curve.rows.len()), ("apiserver", 2));
        let row = curve.rows[1];
        assert_eq!((row.level, row.qps, row.mean_ns), (2.0, 1000.0, 2_000_000));
        assert_eq!((row.success, row.verdict), (Some(1.0), Some(Verdict::Invalid)));
        swept.levels[1].level = 1.0;
        assert!(Curve::from_sweep(&swept).is_err());
    }
}
