//! Claims about runs, each printed as it is looked into.

use model::{ReasonCode, Run, Verdict};

use crate::harness::Loaded;

/// The consequence that a code had.
#[track_caller]
pub fn reported(run: &Run, code: ReasonCode) -> Verdict {
    let reason = run.validity.reasons.iter().find(|reason| reason.code == code);
    let (got, met) = match reason {
        Some(reason) if reason.consequence == Verdict::Valid => ("a note", "yes"),
        Some(reason) => (reason.consequence.name(), "yes"),
        None => ("nothing", "no"),
    };
    println!("truth | rigged: {} | reported by its code | {got} | {met}", code.name());
    reason.unwrap_or_else(|| panic!("no {}: {:?}", code.name(), run.validity)).consequence
}

/// That a run is not VALID for the reason that this code names, and that the exit code says so.
#[track_caller]
pub fn refused(name: &str, loaded: &Loaded, code: ReasonCode) {
    let (run, exit) = (&loaded.run, loaded.ended.code);
    let against = |reason: &&model::Reason| reason.consequence != Verdict::Valid;
    let named = run.validity.reasons.iter().filter(against).any(|reason| reason.code == code);
    let met = named && run.validity.verdict != Verdict::Valid && exit == 98;
    let codes: Vec<&str> = run.validity.reasons.iter().map(|reason| reason.code.name()).collect();
    let got = format!("{}, exit {exit}: {}", run.validity.verdict.name(), codes.join(" "));
    let word = if met { "yes" } else { "no" };
    println!("truth | rigged: {name} | {}, exit 98 | {got} | {word}", code.name());
    assert!(met, "{name}: {:?}", run.validity);
}

/// That a run is VALID, and that it has no reasons but what `known` names.
#[track_caller]
pub fn healthy(name: &str, run: &Run, known: &[ReasonCode]) {
    let others = run.validity.reasons.iter().filter(|reason| !known.contains(&reason.code));
    let others: Vec<&str> = others.map(|reason| reason.code.name()).collect();
    let met = run.validity.verdict == Verdict::Valid && others.is_empty();
    let got = format!("{} {}", run.validity.verdict.name(), others.join(" "));
    let word = if met { "yes" } else { "no" };
    println!("truth | healthy: {name} | VALID, no finding | {} | {word}", got.trim_end());
    assert!(met, "{name}: {:?}", run.validity);
}
