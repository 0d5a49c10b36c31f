//! How fast a profile is read and listed, beside `go tool pprof` on the same file.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::bench::Bench;
use crate::bench::process::{Finished, Running, pinned};
use crate::bench::row::{Reach, Row, Unit};
use crate::bench::statistics::Spread;
use crate::repo;

/// What pprof takes for it, at most.
const EXPECTED: Duration = Duration::from_secs(30);

/// Seconds of the Go compiler's own profile (300 kB packed), printed as `top`, over pprof's.
pub fn top(bench: &Bench) -> Result<Vec<Row>> {
    let go = repo::program("go").context("go is not installed")?;
    let mut command = std::process::Command::new(&go);
    let root = repo::output(command.args(["env", "GOROOT"]))?;
    let file = Path::new(root.trim()).join("src/cmd/compile/default.pgo");
    ensure!(file.exists(), "{} is not there", file.display());
    // `go tool` builds pprof the first time it is asked for.
    let mut command = pinned("0", &go);
    run(command.args(["tool", "pprof", "-top"]).arg(&file))?;
    let (mut theirs, mut ours) = (vec![], vec![]);
    for _ in 0..bench.rounds.max(5) {
        let mut command = pinned("0", &go);
        theirs.push(seconds(&run(command.args(["tool", "pprof", "-top"]).arg(&file))?));
        let mut command = pinned("0", bench.plimsoll()?);
        ours.push(seconds(&run(command.arg("profile").arg(&file).arg("--top"))?));
    }
    let median = |times: &[f64]| Spread::of(times).median * 1000.0;
    Ok(vec![Row {
        what: "profile: time to read 300 kB and print top, over pprof's".into(),
        unit: Unit::Ratio,
        spread: Spread::of_ratios(&ours, &theirs),
        reach: Reach::AtMost(0.2),
        detail: format!("{:.1} ms; pprof {:.1} ms", median(&ours), median(&theirs)),
    }])
}

fn run(command: &mut std::process::Command) -> Result<Finished> {
    let command = std::mem::replace(command, std::process::Command::new("true"));
    let finished = Running::start(command)?.wait_for_end(EXPECTED)?;
    ensure!(finished.status.success(), "it failed: {}", finished.stderr);
    Ok(finished)
}

fn seconds(finished: &Finished) -> f64 {
    finished.awake.as_secs_f64()
}
