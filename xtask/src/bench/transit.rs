//! How long a proxy on core 1 keeps requests, measured by a client and server in one thread on core 0
//! (`crates/net/examples/transit`).

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::process::{Running, pinned};
use super::proxy::Proxy;
use super::server::free_address;
use crate::repo;

/// More of the time than this left out, and a run says too little.
const MOST_LEFT_OUT: f64 = 0.4;
/// More than this of the requests late by more than [`LATE_NS`], and what was sent is no longer what was meant.
const LATE_SHARE: &str = "p99";
const LATE_NS: f64 = 100_000.0;
/// Runs that may be repeated, of each.
const TRIES: u32 = 3;

/// The measuring program, and where it serves.
pub struct Transit {
    program: PathBuf,
    serve: SocketAddr,
}

/// What is sent.
#[derive(Clone, Copy)]
pub struct Load {
    pub connections: u32,
    pub rate_per_s: u32,
    pub seconds: u32,
}

/// What one run found.
pub struct Passage {
    result: Value,
    /// Runs that said too little before this one.
    pub repeated: u32,
}

impl Transit {
    pub fn build() -> Result<Self> {
        let program = repo::build(&["--release", "--package", "net", "--example", "transit"])?;
        Ok(Self { program, serve: free_address()? })
    }

    /// What proxies are to forward to. Nobody listens there between runs.
    pub fn upstream(&self) -> String {
        format!("http://{}", self.serve)
    }

    /// Runs until a run says enough.
    ///
    /// # Errors
    /// When a request failed, or when too much was disturbed every time.
    pub fn run(&self, proxy: &Proxy, load: Load) -> Result<Passage> {
        let mut repeated = 0;
        loop {
            let passage = Passage { result: self.once(proxy, load)?, repeated };
            let failed = passage.number("/failed")?;
            ensure!(failed == 0.0, "{failed} requests failed: {}", passage.result);
            let Err(why) = passage.undisturbed() else { return Ok(passage) };
            println!("  left out: {why:#}");
            repeated += 1;
            ensure!(repeated < TRIES, "disturbed {TRIES} times: {why:#}");
        }
    }

    fn once(&self, proxy: &Proxy, load: Load) -> Result<Value> {
        let Load { connections, rate_per_s, seconds } = load;
        let mut command = pinned("0", &self.program);
        command.args([self.serve.to_string(), proxy.address.to_string()]);
        command.args([connections, rate_per_s, seconds].map(|number| number.to_string()));
        command.args(["1", &proxy.id().to_string(), &format!("X-API-Key: {}", proxy.keys[0])]);
        let length = Duration::from_secs(seconds.into());
        let finished = Running::start(command)?.wait_for_end(length)?;
        ensure!(finished.status.success(), "transit: {} ({})", finished.stderr, finished.status);
        serde_json::from_str(&finished.stdout).context(finished.stdout)
    }
}

impl Passage {
    /// Whether enough was measured, of what was meant.
    fn undisturbed(&self) -> Result<()> {
        let left_out = self.number("/left_out")?;
        ensure!(left_out <= MOST_LEFT_OUT, "{:.0} % of the time", left_out * 100.0);
        let late = self.number(&format!("/late_ns/{LATE_SHARE}"))?;
        ensure!(late <= LATE_NS, "{LATE_SHARE} of the requests {:.0} us late", late / 1e3);
        Ok(())
    }

    /// A quantile of how long the proxy kept a request, in microseconds.
    pub fn between_us(&self, quantile: &str) -> Result<f64> {
        Ok(self.number(&format!("/between_ns/{quantile}"))? / 1e3)
    }

    /// The same of all requests, those of disturbed times among them.
    pub fn with_left_out_us(&self, quantile: &str) -> Result<f64> {
        Ok(self.number(&format!("/with_left_out_ns/{quantile}"))? / 1e3)
    }

    /// The share of the time that was left out.
    pub fn left_out(&self) -> Result<f64> {
        self.number("/left_out")
    }

    /// p99 of each second that counts, and how many do not.
    pub fn seconds(&self) -> Result<(Vec<f64>, f64)> {
        Ok((self.of_seconds("seconds_p99_ns")?, self.number("/seconds_left_out")?))
    }

    /// Of the same seconds, p99 of how late a thread woke that comes before the proxy on its core.
    pub fn core_late(&self) -> Result<Vec<f64>> {
        self.of_seconds("seconds_core_late_p99_ns")
    }

    fn of_seconds(&self, name: &str) -> Result<Vec<f64>> {
        let list = self.result[name].as_array().context("no list of seconds")?;
        let seconds: Vec<f64> = list.iter().filter_map(Value::as_f64).collect();
        ensure!(!seconds.is_empty(), "no second was measured");
        Ok(seconds)
    }

    /// One line that tells what happened.
    pub fn line(&self) -> Result<String> {
        let us = |pointer: &str| Ok::<f64, anyhow::Error>(self.number(pointer)? / 1e3);
        Ok(format!(
            "{:8} requests, kept p50 {:6.1} us, p99 {:7.1}, p99.9 {:7.1} ({:.1} % of the time left out; with it p99 {:.1}, \
             p99.9 {:.1}); late p99 {:.1}; gaps {} and {}, longest {:.0} and {:.0} us; steal {} ms",
            self.number("/requests")?,
            us("/between_ns/p50")?,
            us("/between_ns/p99")?,
            us("/between_ns/p999")?,
            self.left_out()? * 100.0,
            us("/with_left_out_ns/p99")?,
            us("/with_left_out_ns/p999")?,
            us("/late_ns/p99")?,
            self.number("/measurer_gaps")?,
            self.number("/core_gaps")?,
            us("/measurer_longest_gap_ns")?,
            us("/core_longest_gap_ns")?,
            self.result["steal_ms"],
        ))
    }

    fn number(&self, pointer: &str) -> Result<f64> {
        let number = self.result.pointer(pointer).and_then(Value::as_f64);
        number.with_context(|| format!("no number at {pointer} in {}", self.result))
    }
}
