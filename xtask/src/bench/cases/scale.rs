//! What more connections and more workers cost.

use anyhow::Result;

use crate::bench::Bench;
use crate::bench::client::Outcome;
use crate::bench::row::{Reach, Row, Unit};
use crate::bench::server::Server;
use crate::bench::statistics::Spread;

const BOTH_CORES: &str = "0,1";

/// Resident memory at its highest, and what each further connection adds.
pub fn memory(bench: &Bench) -> Result<Vec<Row>> {
    const FEW: u32 = 100;
    const MANY: u32 = 19_000;
    let server = Server::target(bench.plimsoll()?, "1", 1)?;
    let at = |connections| bench.client(&format!("-t1 -c{connections}"), &server);
    let [few, many] = bench.interleave([at(FEW)?, at(MANY)?], &server)?;
    let bytes = |outcome: &Outcome| outcome.peak_bytes as f64;
    let mib = |bytes: &f64| bytes / f64::from(1 << 20);
    let (few, many) = (few.map(bytes), many.map(bytes));
    let further: Vec<f64> =
        many.iter().zip(&few).map(|(many, few)| (many - few) / f64::from(MANY - FEW)).collect();
    Ok(vec![
        Row {
            what: format!("memory, c={FEW}: resident at its highest"),
            unit: Unit::MiB,
            spread: Spread::of(&few.iter().map(mib).collect::<Vec<_>>()),
            reach: Reach::AtMost(32.0),
            detail: String::new(),
        },
        Row {
            what: format!("memory, c={MANY}: per further connection"),
            unit: Unit::Bytes,
            spread: Spread::of(&further),
            reach: Reach::AtMost(2048.0),
            detail: format!("{:.1} MiB in all", mib(&Spread::of(&many).median)),
        },
    ])
}

/// Two workers against one, each worker with as many connections, the server on the same two cores both times.
pub fn workers(bench: &Bench) -> Result<Vec<Row>> {
    let server = Server::target(bench.plimsoll()?, BOTH_CORES, 2)?;
    let client = |options| Ok(bench.client(options, &server)?.on(BOTH_CORES));
    let clients: Result<_> = client("-t1 -c100").and_then(|one| Ok([one, client("-t2 -c200")?]));
    let [one, two] = bench.interleave(clients?, &server)?;
    let (one, two) = (one.map(Outcome::cpu_us), two.map(Outcome::cpu_us));
    let median = |values| Spread::of(values).median;
    Ok(vec![Row {
        what: "two workers on two shared cores: CPU over one worker's".into(),
        unit: Unit::Ratio,
        spread: Spread::of_ratios(&two, &one),
        reach: Reach::AtMost(1.1),
        detail: format!("{:.2} us; one {:.2} us", median(&two), median(&one)),
    }])
}

/// More connections than one file table holds on most machines, with enough workers to have tables for them.
pub fn connections(bench: &Bench) -> Result<Vec<Row>> {
    const ALL: u32 = 50_000;
    let server = Server::target(bench.plimsoll()?, BOTH_CORES, 4)?;
    let client = bench.client(&format!("-t4 -c{ALL}"), &server)?.on(BOTH_CORES);
    let outcome = client.run(&server)?;
    let once = |value| Spread::of(&[value]);
    Ok(vec![
        Row {
            what: format!("{ALL} connections: open at once"),
            unit: Unit::Count,
            spread: once(outcome.reported("/concurrency/open_max")?),
            reach: Reach::AtLeast(ALL.into()),
            detail: format!("{} requests", outcome.requests),
        },
        Row {
            what: format!("{ALL} connections: success"),
            unit: Unit::Percent,
            spread: once(outcome.reported("/rates/success_ratio")? * 100.0),
            reach: Reach::AtLeast(100.0),
            detail: String::new(),
        },
    ])
}
