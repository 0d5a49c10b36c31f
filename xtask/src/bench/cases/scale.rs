//! What more connections and more workers cost.

use anyhow::Result;

use crate::bench::Bench;
use crate::bench::client::{Client, Outcome};
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
    let [few, many] = bench.interleave([at(FEW)?, at(MANY)?])?;
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

/// Two workers against one, the server on the same two cores both times.
///
/// The promise is about the same load, so that only the number of workers differs. With two workers the
/// cores have no idle time, so that a core's two threads share its caches, whatever the workers share;
/// the cost of two processes, which share nothing, is shown for comparison.
pub fn workers(bench: &Bench) -> Result<Vec<Row>> {
    let server = Server::target(bench.plimsoll()?, BOTH_CORES, 2)?;
    let client = |options| anyhow::Ok(bench.client(options, &server)?.on(BOTH_CORES));
    let processes = Client::two_processes(bench.plimsoll()?, "-t1 -c50", &server);
    let clients = [client("-t1 -c100")?, client("-t2 -c100")?, processes.on(BOTH_CORES)];
    let [one, two, processes] =
        bench.interleave(clients)?.map(|series| series.map(Outcome::cpu_us));
    let row = |what: &str, other: &[f64], name, reach| Row {
        what: format!("two workers on two shared cores, same load: {what}"),
        unit: Unit::Ratio,
        spread: Spread::of_ratios(&two, other),
        reach,
        detail: format!(
            "{:.2} us; {name} {:.2} us",
            Spread::of(&two).median,
            Spread::of(other).median
        ),
    };
    Ok(vec![
        row("CPU over one worker's", &one, "one", Reach::AtMost(1.1)),
        row("CPU over two processes'", &processes, "two processes", Reach::Nothing),
    ])
}

/// More connections than one file table holds on most machines, with enough workers to have tables for them.
pub fn connections(bench: &Bench) -> Result<Vec<Row>> {
    const ALL: u32 = 50_000;
    let server = Server::target(bench.plimsoll()?, BOTH_CORES, 4)?;
    // Opening takes seconds; a shorter run would end before the last connection is there.
    let seconds = bench.seconds.max(10);
    let options = format!("-t4 -c{ALL}");
    let client = bench.client(&options, &server)?.on(BOTH_CORES);
    let outcome = client.run(seconds)?;
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
