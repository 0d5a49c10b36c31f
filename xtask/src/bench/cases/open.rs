//! Sending from a schedule: 20,000 requests a second, evenly spaced, from one core.
//!
//! What a wake-up costs, and that is most of what a sender that sleeps spends, differs from machine to machine by more
//! than any change of the program: its CPU time is compared with that of a bare loop that wakes up for every request and
//! does nothing else.

use anyhow::Result;

use super::closed::ratio;
use crate::bench::Bench;
use crate::bench::client::Outcome;
use crate::bench::rounds::Series;
use crate::bench::row::{Reach, Row, Unit};
use crate::bench::server::Server;
use crate::bench::statistics::Spread;

/// What one way of waiting for the next arrival must reach, in microseconds.
struct Promise {
    mode: &'static str,
    late_p50_us: f64,
    late_p99_us: f64,
}

const RATE: u32 = 20_000;

/// The default, which sleeps, and `--spin`, which burns the core.
pub fn open_loop(bench: &Bench) -> Result<Vec<Row>> {
    let server = Server::target(bench.plimsoll()?, "1", 1)?;
    let load = format!("-t1 -c100 -R{RATE} --arrivals uniform");
    let clients = [
        bench.client(&load, &server)?,
        bench.client(&format!("{load} --spin"), &server)?,
        bench.bare_loop("uring", 100, Some(RATE), &server)?,
    ];
    let [sleeping, spinning, bare] = bench.interleave(clients)?;
    let sleeps = Promise { mode: "default", late_p50_us: 100.0, late_p99_us: 500.0 };
    let spins = Promise { mode: "--spin", late_p50_us: 3.0, late_p99_us: 30.0 };
    let mut rows = rows(&sleeping, &sleeps)?;
    let cpu = what(&sleeps, "CPU over the bare loop's");
    rows.push(ratio(cpu, &sleeping, ("bare loop", &bare), Reach::AtMost(1.0)));
    rows.extend(self::rows(&spinning, &spins)?);
    Ok(rows)
}

fn what(promise: &Promise, figure: &str) -> String {
    format!("open loop, 20,000/s, {}: {figure}", promise.mode)
}

fn rows(series: &Series, promise: &Promise) -> Result<Vec<Row>> {
    let what = |figure: &str| what(promise, figure);
    let late = |quantile: &str, reach_us| {
        let nanoseconds = series.reported(&format!("/late_ns/{quantile}"))?;
        let microseconds: Vec<f64> = nanoseconds.iter().map(|ns| ns / 1e3).collect();
        anyhow::Ok(Row {
            what: what(&format!("late {quantile}")),
            unit: Unit::Microseconds,
            spread: Spread::of(&microseconds),
            reach: Reach::AtMost(reach_us),
            detail: String::new(),
        })
    };
    Ok(vec![
        achieved(what("achieved off by"), series)?,
        late("p50", promise.late_p50_us)?,
        late("p99", promise.late_p99_us)?,
        Row {
            what: what("CPU a request"),
            unit: Unit::Microseconds,
            spread: Spread::of(&series.map(Outcome::cpu_us)),
            reach: Reach::Nothing,
            detail: claimed_cpu(series)?,
        },
    ])
}

/// How far the achieved rate lay from the offered one, either way.
fn achieved(what: String, series: &Series) -> Result<Row> {
    let rates = series.reported("/rates/requests_per_s")?;
    let off: Vec<f64> =
        rates.iter().map(|rate| (rate / f64::from(RATE) - 1.0).abs() * 100.0).collect();
    Ok(Row {
        what,
        unit: Unit::Percent,
        spread: Spread::of(&off),
        reach: Reach::AtMost(0.1),
        detail: format!("{:.1}/s", Spread::of(&rates).median),
    })
}

/// What Plimsoll reports as its own cost, beside what the kernel counted for the whole process.
fn claimed_cpu(series: &Series) -> Result<String> {
    let claimed = Spread::of(&series.reported("/generator/cpu_ns_per_request")?).median;
    Ok(format!("reported: {:.2} us", claimed / 1e3))
}
