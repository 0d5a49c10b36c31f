//! Judging results level by level: sweeps, and runs as sweeps of one level.

use model::{Run, Verdict};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Comparison, blocks, likeness};

/// The new one against the old one at one level.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AtLevel {
    /// Connections, or arrivals per second.
    pub level: f64,
    /// What was found out there.
    pub comparison: Comparison,
}

/// Levels with their runs.
pub type Runs = [(f64, Run)];

/// Judges B against A at every level that both have, within the runs. Each level is judged by itself:
/// of twenty, one may well be called different though nothing is.
pub fn judge(names: [&str; 2], a: &Runs, b: &Runs, margin: f64, anyway: bool) -> Vec<AtLevel> {
    let pairs = b.iter().filter_map(|(level, run_b)| {
        let (_, run_a) = a.iter().find(|(other, _)| other == level)?;
        Some((*level, run_a, run_b))
    });
    pairs
        .map(|(level, run_a, run_b)| {
            let runs = [run_a, run_b];
            let mut comparison = blocks::judge(names.map(str::to_owned), runs, margin);
            comparison.withhold(likeness::differences(runs, names), anyway);
            comparison.notes.extend(likeness::remark(runs));
            comparison.invalid = runs.iter().any(|run| run.validity.verdict == Verdict::Invalid);
            AtLevel { level, comparison }
        })
        .collect()
}
