//! What the gateway costs, beside nginx doing the same: a key looked up, a limit on its rate, in front of one server.
//!
//! The gateway or nginx has core 1 to itself; client and server share core 0, so that what they cost is not counted.

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use crate::bench::Bench;
use crate::bench::client::{Client, Outcome};
use crate::bench::process::{Background, pinned};
use crate::bench::row::{Reach, Row, Unit};
use crate::bench::server::{Server, free_address};
use crate::bench::statistics::Spread;
use crate::repo;

/// A key as nginx knows it. The gateway makes its own.
const KEY: &str = "0123456789abcdef0123456789abcdef";
/// Far above what one core carries, so that the limit is looked at and never met.
const RATE_PER_S: u32 = 1_000_000;

/// Something in front of the server, on core 1.
struct Proxy {
    process: Background,
    address: SocketAddr,
    key: String,
    _folder: TempDir,
}

impl Proxy {
    fn gate(plimsoll: &Path, upstream: &str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let store = folder.path().join("gate.db");
        let mut add = repo::command(plimsoll);
        add.args([
            "gate",
            "keys",
            "add",
            "--tier",
            "gold",
            "--rate",
            &format!("{RATE_PER_S}/s"),
            "--store",
        ]);
        let key = repo::output(add.arg(&store))?.trim().to_owned();
        let address = free_address()?;
        let mut command = pinned("1", plimsoll);
        command.args([
            "gate",
            "--workers",
            "1",
            "--listen",
            &address.to_string(),
            "--upstream",
            upstream,
            "--store",
        ]);
        Self::start(command.arg(&store), address, key, folder)
    }

    fn nginx(upstream: &str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let address = free_address()?;
        let (here, upstream) = (folder.path().display(), upstream.trim_start_matches("http://"));
        let configuration = format!(
            "daemon off; master_process off; worker_rlimit_nofile 19500; pid {here}/pid;
events {{ worker_connections 19000; multi_accept on; }}
http {{
  access_log off; keepalive_requests 1000000000; keepalive_timeout 600;
  client_body_temp_path {here}/body; proxy_temp_path {here}/proxy; fastcgi_temp_path {here}/fastcgi;
  uwsgi_temp_path {here}/uwsgi; scgi_temp_path {here}/scgi;
  map $http_x_api_key $owner {{ default \"\"; \"{KEY}\" \"one\"; }}
  limit_req_zone $owner zone=keys:10m rate={RATE_PER_S}r/s;
  upstream api {{ server {upstream}; keepalive 1024; keepalive_requests 1000000000; }}
  server {{
    listen {address} backlog=4096;
    location / {{
      if ($owner = \"\") {{ return 401; }}
      limit_req zone=keys burst=100000 nodelay;
      proxy_pass http://api; proxy_http_version 1.1; proxy_set_header Connection \"\";
    }}
  }}
}}
"
        );
        fs::write(folder.path().join("nginx.conf"), configuration)?;
        let mut command = pinned("1", repo::require("nginx")?);
        command.arg("-p").arg(folder.path()).args(["-c", "nginx.conf", "-e", "error.log"]);
        Self::start(&mut command, address, KEY.to_owned(), folder)
    }

    fn start(
        command: &mut std::process::Command,
        address: SocketAddr,
        key: String,
        folder: TempDir,
    ) -> Result<Self> {
        let log = folder.path().join("log");
        let command = std::mem::replace(command, std::process::Command::new("true"));
        let mut process = Background::start(command, &log)?;
        let patience = Instant::now() + Duration::from_secs(10);
        while TcpStream::connect(address).is_err() {
            process.check().with_context(|| fs::read_to_string(&log).unwrap_or_default())?;
            ensure!(Instant::now() < patience, "nothing listens on {address}");
            thread::sleep(Duration::from_millis(20));
        }
        Ok(Self { process, address, key, _folder: folder })
    }

    /// Processor time of all its threads, in microseconds.
    fn cpu_us(&self) -> Result<f64> {
        let mut ns = 0.0;
        for task in fs::read_dir(format!("/proc/{}/task", self.process.id()))? {
            let text = fs::read_to_string(task?.path().join("schedstat"))?;
            let first = text.split(' ').next().unwrap_or_default();
            ns += first.parse::<f64>().context("schedstat begins with a number")?;
        }
        Ok(ns / 1e3)
    }

    fn client<'s>(&self, bench: &Bench, load: &str, server: &'s Server) -> Result<Client<'s>> {
        let client = bench.client(load, server)?.through(self.address);
        Ok(client.header(&format!("X-API-Key: {}", self.key)))
    }

    /// The run of a client, and the proxy's processor time for a request, in microseconds.
    fn cost(&self, client: &Client<'_>, seconds: u32) -> Result<(Outcome, f64)> {
        let before = self.cpu_us()?;
        let outcome = client.run(seconds)?;
        let spent = self.cpu_us()? - before;
        let cost = spent / outcome.requests as f64;
        Ok((outcome, cost))
    }
}

/// Processor time of a request over nginx's, and what the gateway adds to latency.
pub fn gate(bench: &Bench) -> Result<Vec<Row>> {
    let server = Server::target(bench.plimsoll()?, "0", 1)?;
    let upstream = server.url.trim_end_matches("/healthz").to_owned();
    let proxies = [Proxy::gate(bench.plimsoll()?, &upstream)?, Proxy::nginx(&upstream)?];
    let (few, rate) = cost(bench, &server, &proxies, 64)?;
    let (many, _) = cost(bench, &server, &proxies, 1000)?;
    let mut rows = vec![few, many];
    rows.extend(latency(bench, &server, &proxies, (rate / 2.0) as u32)?);
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
            let client = proxy.client(bench, &format!("-t1 -c{connections}"), server)?;
            let (outcome, cost) = proxy.cost(&client, bench.seconds)?;
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

/// An open loop at half of what a closed one reached, direct and through both.
fn latency(bench: &Bench, server: &Server, proxies: &[Proxy; 2], rate: u32) -> Result<Vec<Row>> {
    let load = format!("-t1 -c64 -R{rate} --arrivals poisson");
    let clients = [
        bench.client(&load, server)?,
        proxies[0].client(bench, &load, server)?,
        proxies[1].client(bench, &load, server)?,
    ];
    let series = bench.interleave(clients)?;
    let mut rows = Vec::new();
    for (quantile, most_us) in [("p50", 60.0), ("p99", 300.0)] {
        let of = |which: usize| -> Result<Vec<f64>> {
            let ns = series[which].reported(&format!("/service_ns/{quantile}"))?;
            Ok(ns.iter().map(|ns| ns / 1e3).collect())
        };
        let [direct, ours, theirs] = [of(0)?, of(1)?, of(2)?];
        let added = |through: &[f64]| -> Vec<f64> {
            through.iter().zip(&direct).map(|(through, direct)| through - direct).collect()
        };
        rows.push(Row {
            what: format!("gate: latency added at {rate}/s, {quantile}"),
            unit: Unit::Microseconds,
            spread: Spread::of(&added(&ours)),
            reach: Reach::AtMost(most_us),
            detail: format!("nginx adds {:.1} us", Spread::of(&added(&theirs)).median),
        });
    }
    Ok(rows)
}
