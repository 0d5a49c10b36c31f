//! Instructions that reading one response takes: the same on a noisy machine as on a quiet one.

use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::bench::Bench;
use crate::bench::process::{Running, pinned};
use crate::bench::row::{Reach, Row, Unit};
use crate::bench::statistics::Spread;
use crate::repo;

/// Responses read in a short and in a longer run; the difference excludes the cost of starting.
const SHORT: u32 = 1_000;
const LONG: u32 = 11_000;

/// Even on a busy machine.
const EXPECTED: Duration = Duration::from_secs(30);

pub fn parse(_bench: &Bench) -> Result<Vec<Row>> {
    let arguments = ["--release", "--package", "xtask", "--example", "read_responses"];
    let program = repo::build(&arguments)?;
    let count = |responses: u32, how: &str| -> Result<u64> {
        let mut valgrind = pinned("0", "valgrind");
        valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(&program);
        valgrind.arg(responses.to_string()).arg(how);
        let finished = Running::start(valgrind)?.wait_for_end(EXPECTED)?;
        collected(&finished.stderr).with_context(|| finished.stderr.clone())
    };
    let row = |how, what: &str| -> Result<Row> {
        let (short, long) = (count(SHORT, how)?, count(LONG, how)?);
        ensure!(long > short, "reading {LONG} responses took no more than reading {SHORT}");
        Ok(Row {
            what: format!("reading a response{what}: instructions"),
            unit: Unit::Count,
            spread: Spread::of(&[(long - short) as f64 / f64::from(LONG - SHORT)]),
            reach: Reach::Nothing,
            detail: "callgrind".into(),
        })
    };
    Ok(vec![row("new", "")?, row("seen", " with a head that was seen before")?])
}

/// The count in callgrind's closing line, `==PID== Collected : N`.
fn collected(output: &str) -> Option<u64> {
    output.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_read_from_callgrind() {
        let output = "==12== Callgrind\n==12== \n==12== Events    : Ir\n==12== Collected : 1234567\n==12== \n";
        assert_eq!(collected(output), Some(1_234_567));
        assert_eq!(collected("==12== Callgrind\n"), None);
    }
}
