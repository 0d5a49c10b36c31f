//! What the gateway costs, beside nginx doing the same: a key looked up, a limit on its rate, in front of one server.
//!
//! The gateway or nginx has core 1 to itself; client and server share core 0, so that what they cost is not counted.

use anyhow::{Context, Result};

use super::passage;
use crate::bench::Bench;
use crate::bench::client::{Client, Outcome};
use crate::bench::process::pinned;
use crate::bench::proxy::Proxy;
use crate::bench::row::{Reach, Row, Unit};
use crate::bench::server::Server;
use crate::bench::statistics::Spread;
use crate::repo;

/// A client with a key, through a proxy.
fn client<'s>(bench: &Bench, proxy: &Proxy, load: &str, server: &'s Server) -> Result<Client<'s>> {
    let client = bench.client(load, server)?.through(proxy.address);
    Ok(client.header(&format!("X-API-Key: {}", proxy.keys[0])))
}

/// The run of a client, and the proxy's processor time for a request, in microseconds.
fn cost_of(proxy: &Proxy, client: &Client<'_>, seconds: u32) -> Result<(Outcome, f64)> {
    let before = proxy.cpu_us()?;
    let outcome = client.run(seconds)?;
    let spent = proxy.cpu_us()? - before;
    let cost = spent / outcome.requests as f64;
    Ok((outcome, cost))
}

/// Processor time of a request over nginx's, and what the gateway adds to latency.
pub fn gate(bench: &Bench) -> Result<Vec<Row>> {
    let server = Server::target(bench.plimsoll()?, "0", 1)?;
    let upstream = server.origin();
    let proxies = [Proxy::gate(bench.plimsoll()?, upstream, "")?, Proxy::nginx(upstream)?];
    let (few, rate) = cost(bench, &server, &proxies, 64)?;
    let (many, _) = cost(bench, &server, &proxies, 1000)?;
    let mut rows = vec![few, many];
    drop((server, proxies));
    rows.extend(passage::latency(bench, (rate / 2.0) as u32)?);
    Ok(rows)
}

/// A million keys: the start with them, their memory, and how long one is looked for.
pub fn many_keys(bench: &Bench) -> Result<Vec<Row>> {
    let program = repo::build(&["--release", "--package", "gate", "--example", "many_keys"])?;
    let mut figures: [Vec<f64>; 5] = Default::default();
    for _ in 0..bench.rounds {
        let mut command = pinned("1", &program);
        let text = repo::output(command.arg("1000000"))?;
        let value: serde_json::Value = serde_json::from_str(&text)?;
        let names =
            ["start_s", "table_bytes_per_key", "resident_bytes_per_key", "find_ns", "digest_ns"];
        for (values, name) in figures.iter_mut().zip(names) {
            values.push(value[name].as_f64().with_context(|| format!("no {name} in {text}"))?);
        }
    }
    let [start, table, resident, find, digest] = &figures;
    let us = |ns: &[f64]| Spread::of(&ns.iter().map(|ns| ns / 1e3).collect::<Vec<_>>());
    let row = |what: &str, unit, spread, most, detail| Row {
        what: format!("gate: a million keys, {what}"),
        unit,
        spread,
        reach: Reach::AtMost(most),
        detail,
    };
    let resident = format!("{:.0} B a key more are resident", Spread::of(resident).median);
    let digest = format!("its digest takes {:.2} us beside", us(digest).median);
    Ok(vec![
        row(
            "start",
            Unit::Seconds,
            Spread::of(start),
            2.0,
            "from the store to the first client".into(),
        ),
        row("memory of one", Unit::Bytes, Spread::of(table), 200.0, resident),
        row("finding one", Unit::Microseconds, us(find), 1.0, digest),
    ])
}

/// A closed loop, and the rate that the gateway reached in it.
fn cost(
    bench: &Bench,
    server: &Server,
    proxies: &[Proxy; 2],
    connections: u32,
) -> Result<(Row, f64)> {
    let (mut costs, mut rates) = ([vec![], vec![]], [vec![], vec![]]);
    for round in 0..=bench.rounds {
        for (which, proxy) in proxies.iter().enumerate() {
            let client = client(bench, proxy, &format!("-t1 -c{connections}"), server)?;
            let (outcome, cost) = cost_of(proxy, &client, bench.seconds)?;
            // The first round opens connections upstream and warms up.
            if round > 0 {
                costs[which].push(cost);
                rates[which].push(outcome.requests_per_s());
            }
        }
    }
    let median = |values: &[f64]| Spread::of(values).median;
    let [ours, theirs] = &costs;
    let row = Row {
        what: format!("gate: CPU a request over nginx's, key and rate checked, c={connections}"),
        unit: Unit::Ratio,
        spread: Spread::of_ratios(ours, theirs),
        reach: Reach::AtMost(1.0),
        detail: format!(
            "{:.2} us at {:.0}/s; nginx {:.2} us at {:.0}/s",
            median(ours),
            median(&rates[0]),
            median(theirs),
            median(&rates[1])
        ),
    };
    Ok((row, median(&rates[0])))
}
