//! The exit code that a result deserves, so that a script need not read the report.

use model::{LevelKind, Run, Sweep, Verdict};

use crate::audit::{Audit, Severity};

/// Done: `VALID`, or `LOWER_BOUND` in a closed loop ("at least").
pub const DONE: u8 = 0;
/// Could not run.
pub const COULD_NOT_RUN: u8 = 1;
/// The command line was wrong.
pub const USAGE: u8 = 2;
/// The result cannot be believed: `INVALID`, or an open loop that the generator could not send.
pub const NOT_BELIEVABLE: u8 = 98;
/// Objectives were missed.
pub const OBJECTIVES_MISSED: u8 = 99;
/// Interrupted; the partial result is saved.
pub const INTERRUPTED: u8 = 130;

/// The code of a judged run.
pub fn exit_code(run: &Run) -> u8 {
    if run.interrupted {
        INTERRUPTED
    } else if believable(run) {
        DONE
    } else {
        NOT_BELIEVABLE
    }
}

/// The code of a sweep that was not interrupted. One level that cannot be believed (the last of a
/// climb often is) leaves the others their worth, so only a sweep without any that can fails.
pub fn exit_code_of_sweep(sweep: &Sweep) -> u8 {
    if sweep.levels.iter().any(|held| believable(&held.run)) { DONE } else { NOT_BELIEVABLE }
}

/// The code of an audit: one impossible row is enough. What is doubtful is said and not failed.
pub fn exit_code_of_audit(audit: &Audit) -> u8 {
    if audit.worst() == Some(Severity::Impossible) { NOT_BELIEVABLE } else { DONE }
}

/// Whether a figure at this level says something of the server: `VALID`, or "at least" where a
/// lower bound is one. At a fixed rate it is none: the users the schedule wanted were not sent.
fn believable(run: &Run) -> bool {
    let kind = if run.plan.rate_per_s.is_some() { LevelKind::Rate } else { LevelKind::Concurrency };
    match (run.validity.verdict, kind) {
        (Verdict::Valid, _) | (Verdict::LowerBound, LevelKind::Concurrency) => true,
        (Verdict::LowerBound, LevelKind::Rate) | (Verdict::Invalid, _) => false,
    }
}

#[cfg(test)]
mod tests {
    use model::sweep::Level;
    use model::{Curve, LevelKind, Validity};

    use super::*;
    use crate::fixture::{closed, open};

    fn judged(mut run: Run, verdict: Verdict) -> Run {
        run.validity = Validity { verdict, reasons: Vec::new() };
        run
    }

    fn sweep(kind: LevelKind, runs: Vec<Run>) -> Sweep {
        let levels = (1..).zip(runs).map(|(n, run)| Level { level: f64::from(n), run }).collect();
        Sweep {
            schema: model::sweep::SCHEMA.into(),
            plimsoll: closed().plimsoll,
            name: "apiserver".into(),
            url: closed().plan.url,
            started_at: closed().started_at,
            command: Vec::new(),
            kind,
            objective_mean_ns: 500_000_000,
            ended: None,
            levels,
        }
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
