//! The exit code that a result deserves, so that a script need not read the report.

use model::{LevelKind, Run, Sweep, Verdict};

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

/// Whether a figure at this level says something of the server: `VALID`, or "at least" where a
/// lower bound is one. At a fixed rate it is none: the users the schedule wanted were not sent.
fn believable(run: &Run) -> bool {
    let kind = if run.plan.rate_per_s.is_some() { LevelKind::Rate } else { LevelKind::Concurrency };
    match (run.validity.verdict, kind) {
        (Verdict::Valid, _) | (Verdict::LowerBound, LevelKind::Concurrency) => true,
        (Verdict::LowerBound, LevelKind::Rate) | (Verdict::Invalid, _) => false,
    }
}
