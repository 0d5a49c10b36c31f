//! benchstat (Go's golang.org/x/perf) against what the test of ranks in `statistics` takes for its
//! word.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;

use super::claim::Claim;
use super::told;
use crate::golang::Go;
use crate::repo;

/// The program in the one version that the kept answer is of.
const BENCHSTAT: &str = "golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da";

pub fn against_benchstat() -> Result<Vec<Claim>> {
    let printed = printed_by_benchstat()?;
    let kept = fs::read_to_string(samples().join("expected.csv"))?;
    let same = printed == kept;
    let mut claims = told::by_tests(super::STATISTICS, "benchstat_prints")?;
    claims.push(Claim {
        claim: "what the test takes for benchstat's word".into(),
        reach: "what benchstat prints".into(),
        got: if same { "the same bytes" } else { "other bytes" }.into(),
        met: Some(same),
    });
    Ok(claims)
}

fn samples() -> PathBuf {
    repo::root().join("crates/statistics/tests/benchstat")
}

fn printed_by_benchstat() -> Result<String> {
    let mut benchstat = repo::command(Go::find()?.install(BENCHSTAT)?);
    benchstat.current_dir(samples()).args(["-format", "csv", "a.txt", "b.txt"]);
    repo::output(&mut benchstat)
}
