//! What the gateway holds: the line under overload, honest keys beside a greedy one, and the throughput of the server
//! behind it.
//!
//! Client and server share core 0, the gateway has core 1 to itself. The server is a queue that waits instead of computing
//! ([`QUEUE`]) and does not wait for the client's time slices ([`Server::beside_client`]), so that sharing a core falsifies
//! little. Each response of it takes 4 ms at least and a refusal of the
//! gateway far less, so that the histogram of all responses shows the percentiles of either.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;
use tempfile::TempDir;

use crate::bench::Bench;
use crate::bench::cases::passage::slow_clients;
use crate::bench::process::{Running, pinned};
use crate::bench::proxy::Proxy;
use crate::bench::row::{Reach, Row, Unit};
use crate::bench::server::Server;
use crate::bench::statistics::Spread;
use crate::repo;

/// Four servers of 4 ms each: 1,000 requests/s at most.
const QUEUE: &str = "/queue?servers=4&mean=4ms&dist=det";
/// The same at half its speed.
const SLOWED: &str = "/queue?servers=4&mean=8ms&dist=det";
/// What the load line is measured within.
const OBJECTIVE_MS: f64 = 100.0;
/// How long a run of requests lasts.
const WINDOW_S: u32 = 4;

/// The server, its load line, and what is needed to run through a gateway.
struct Hold<'b> {
    plimsoll: &'b Path,
    server: Server,
    folder: TempDir,
    /// The rate of the line.
    line: f64,
}

/// A run of requests that has ended.
struct Ended {
    run: Value,
    folder: PathBuf,
}

impl<'b> Hold<'b> {
    /// Searches the load line of the queue.
    fn new(bench: &'b Bench) -> Result<Self> {
        let plimsoll = bench.plimsoll()?;
        let server = Server::beside_client(plimsoll)?;
        let folder = tempfile::tempdir()?;
        let mut search = pinned("0", plimsoll);
        search.args([
            "capacity",
            &format!("{}{QUEUE}", server.origin()),
            "-c",
            "256",
            "--budget",
            "3m",
            "--quiet",
        ]);
        search.args(["--slo", &format!("p99<{OBJECTIVE_MS}ms"), "--out"]);
        search.arg(folder.path().join("search"));
        // A line that no hold confirmed is a line all the same: what is judged is how it is held.
        let searched = Running::start(search)?.wait_for_end(Duration::from_secs(180))?;
        println!("{}", searched.stdout);
        let line = number(&json(&folder.path().join("search/capacity.json"))?, "/rate_per_s")?;
        Ok(Self { plimsoll, server, folder, line })
    }

    fn gate(&self, owners: &[&str], limits: &[&str]) -> Result<Proxy> {
        let line = self.folder.path().join("search/capacity.json");
        let settings = format!("loadline = {line:?}\n");
        Proxy::gate_with(self.plimsoll, self.server.origin(), owners, limits, &settings)
    }

    /// Begins a run through the gateway as the owner of a key.
    fn begin(
        &self,
        gate: &Proxy,
        key: usize,
        page: &str,
        load: &str,
    ) -> Result<(Running, PathBuf)> {
        let folder = self.folder.path().join(format!("run{key}"));
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        let mut command = pinned("0", self.plimsoll);
        command.args(["run", "--quiet", "-t1", "--success", "200", "--out"]).arg(&folder);
        command.args([
            "-d",
            &format!("{WINDOW_S}s"),
            "-H",
            &format!("X-API-Key: {}", gate.keys[key]),
        ]);
        command.args(load.split_whitespace()).arg(format!("http://{}{page}", gate.address));
        Ok((Running::start(command)?, folder))
    }

    fn run(&self, gate: &Proxy, page: &str, load: &str) -> Result<Ended> {
        Ended::of(self.begin(gate, 0, page, load)?)
    }
}

impl Ended {
    /// Waits for the run. Refused requests make it fail by its objectives or its verdict, which is no error here.
    fn of((running, folder): (Running, PathBuf)) -> Result<Self> {
        let finished = running.wait_for_end(Duration::from_secs(WINDOW_S.into()))?;
        let run = json(&folder.join("run.json")).with_context(|| finished.stderr)?;
        Ok(Self { run, folder })
    }

    fn status(&self, code: u16) -> f64 {
        let count = self.run.pointer(&format!("/totals/statuses/{code}")).and_then(Value::as_f64);
        count.unwrap_or(0.0)
    }

    /// Responses with status 200 a second.
    fn admitted_per_s(&self) -> Result<f64> {
        Ok(self.status(200) / (number(&self.run, "/totals/duration_ns")? / 1e9))
    }

    /// The response or service time, in milliseconds, that a share of the responses did not exceed: what the program says of
    /// its kept run.
    fn quantile_ms(&self, plimsoll: &Path, time: &str, share: f64) -> Result<f64> {
        let mut command = repo::command(plimsoll);
        command.arg("report").arg(&self.folder).args(["--format", "json", "--slo"]);
        command.arg(format!("{time}.p{:.4}<1s", share * 100.0));
        let judged = Running::start(command)?.wait_for_end(Duration::from_secs(10))?;
        let run: Value = serde_json::from_str(&judged.stdout).with_context(|| judged.stderr)?;
        Ok(number(&run, "/objectives/0/value")? / 1e6)
    }

    /// p99 of the admitted and of the refused, in milliseconds; of the refused none without any. A refusal's is that from
    /// its sending: how late a client wakes that sleeps until the next is due is not the gateway's.
    fn p99_ms(&self, plimsoll: &Path) -> Result<(f64, Option<f64>)> {
        let (admitted, refused) = (self.status(200), self.status(429));
        let share = refused / (admitted + refused);
        let of_refused = match refused > 0.0 {
            true => Some(self.quantile_ms(plimsoll, "service", 0.99 * share)?),
            false => None,
        };
        Ok((self.quantile_ms(plimsoll, "response", 1.0 - 0.01 * (1.0 - share))?, of_refused))
    }

    /// Seconds until nothing was refused any more and the objective held.
    fn recovered_after_s(&self) -> Result<f64> {
        let points = self.run["timeline"].as_array().context("a timeline")?;
        let mut after = 0.0;
        for point in points {
            let late = number(point, "/p99_ns")? > OBJECTIVE_MS * 1e6;
            if late || number(point, "/failed")? > 0.0 {
                after = (number(point, "/start_ns")? + number(point, "/duration_ns")?) / 1e9;
            }
        }
        Ok(after)
    }
}

/// The load line held by the gateway: under overload, and for an honest key beside a greedy one.
pub fn hold(bench: &Bench) -> Result<Vec<Row>> {
    let hold = Hold::new(bench)?;
    let mut rows = overload(bench, &hold)?;
    rows.extend(greedy(bench, &hold)?);
    Ok(rows)
}

/// Goodput, latency and refusals at parts and multiples of the line, and how soon an overload is over.
fn overload(bench: &Bench, hold: &Hold) -> Result<Vec<Row>> {
    let gate = hold.gate(&["all"], &[])?;
    let mut rows = Vec::new();
    let mut recovery = Vec::new();
    for factor in [0.5, 1.0, 2.0, 5.0] {
        let (mut goodput, mut admitted, mut refused) = (vec![], vec![], vec![]);
        for _ in 0..bench.rounds {
            let load =
                |factor: f64| format!("-c 1024 -R {:.0} --arrivals poisson", hold.line * factor);
            let ended = hold.run(&gate, QUEUE, &load(factor))?;
            goodput.push(ended.admitted_per_s()? / hold.line / f64::min(factor, 1.0));
            let (of_admitted, of_refused) = ended.p99_ms(hold.plimsoll)?;
            admitted.push(of_admitted);
            refused.extend(of_refused);
            if factor > 2.0 {
                recovery.push(hold.run(&gate, QUEUE, &load(0.5))?.recovered_after_s()?);
            }
        }
        let row = |what: &str, unit, values: &[f64], reach| Row {
            what: format!("gate: at {factor} times the load line, {what}"),
            unit,
            spread: Spread::of(values),
            reach,
            detail: format!("load line {:.0}/s", hold.line),
        };
        rows.push(row("goodput over what it carries", Unit::Ratio, &goodput, Reach::AtLeast(0.95)));
        let inside = Reach::AtMost(OBJECTIVE_MS);
        rows.push(row("p99 of the admitted", Unit::Milliseconds, &admitted, inside));
        if factor > 1.0 {
            rows.push(row("p99 of refusals", Unit::Milliseconds, &refused, Reach::AtMost(1.0)));
        }
    }
    rows.push(Row {
        what: "gate: back to normal after 5 times the load line".into(),
        unit: Unit::Seconds,
        spread: Spread::of(&recovery),
        reach: Reach::AtMost(2.0),
        detail: "whole seconds; then half the line is offered".into(),
    });
    Ok(rows)
}

/// The share of an honest key's requests that are served beside a greedy key, a retry storm and on a slowed server.
fn greedy(bench: &Bench, hold: &Hold) -> Result<Vec<Row>> {
    let gate = hold.gate(&["honest", "greedy"], &[])?;
    let open = format!("-c 1024 -R {:.0} --arrivals poisson", hold.line * 5.0);
    let mut rows = Vec::new();
    for (what, page, load) in [
        ("beside a key with 5 times the line", QUEUE, open.as_str()),
        ("beside a key that tries again at once, 64 connections", QUEUE, "-c 64"),
        ("the same, server at half its speed", SLOWED, "-c 64"),
        ("beside 5 times the line, server at half its speed", SLOWED, open.as_str()),
    ] {
        let (mut kept, mut others) = (Vec::new(), Vec::new());
        let rate = hold.line * 0.2;
        for _ in 0..bench.rounds {
            let greedy = hold.begin(&gate, 1, page, load)?;
            let honest = format!("-c 256 -R {rate:.0} --arrivals poisson --warmup 500ms");
            let honest = Ended::of(hold.begin(&gate, 0, page, &honest)?)?;
            kept.push(honest.admitted_per_s()? / number(&honest.run, "/rates/offered_per_s")?);
            others.push(Ended::of(greedy)?.admitted_per_s()?);
        }
        rows.push(Row {
            what: format!("gate: an honest key's share served, {what}"),
            unit: Unit::Ratio,
            spread: Spread::of(&kept),
            reach: Reach::AtLeast(0.95),
            detail: format!("of {rate:.0}/s; {:.0}/s of the other's", Spread::of(&others).median),
        });
    }
    Ok(rows)
}

/// Throughput with 1,000 connections through the gateway against direct, of a server that could carry 16,000/s.
pub fn through(bench: &Bench) -> Result<Vec<Row>> {
    let server = Server::beside_client(bench.plimsoll()?)?;
    let gate = Proxy::gate(bench.plimsoll()?, server.origin(), "")?;
    let load = "-t1 -c1000";
    let direct = bench.client(load, &server)?.page(PAGE);
    let through = bench.client(load, &server)?.page(PAGE).through(gate.address);
    let through = through.header(&format!("X-API-Key: {}", gate.keys[0]));
    let series = bench.interleave([direct, through])?;
    let rates = |which: usize| series[which].reported("/rates/requests_per_s");
    let (direct, through) = (rates(0)?, rates(1)?);
    let detail =
        format!("{:.0}/s, direct {:.0}/s", Spread::of(&through).median, Spread::of(&direct).median);
    let ratio = Row {
        what: "gate: throughput at 1,000 connections over direct".into(),
        unit: Unit::Ratio,
        spread: Spread::of_ratios(&through, &direct),
        reach: Reach::AtLeast(0.99),
        detail,
    };
    Ok(vec![ratio, slow_clients(bench)?])
}

/// What 1,000 connections ask for 16 times a second each.
const PAGE: &str = "/delay/62500us";
fn json(file: &Path) -> Result<Value> {
    let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
    Ok(serde_json::from_str(&text)?)
}

fn number(value: &Value, pointer: &str) -> Result<f64> {
    let found = value.pointer(pointer).and_then(Value::as_f64);
    found.with_context(|| format!("no number at {pointer}"))
}
