//! wrk 4's output block in its very shape, so that whatever parses wrk parses this.
//!
//! Owns wrk's layout, units and rounding. The figures are the run's own: latencies are service times
//! as measured (wrk "corrects" its own afterwards), and the four socket errors sum up our classes.

use model::histogram::Latencies;
use model::outcome::ErrorCounts;
use model::run::{Generator, Run};
use model::units::SECOND;

/// The block; `with_distribution` is wrk's `--latency`.
///
/// Figures come from the run's summaries. Should its service histogram be damaged, the share within
/// a standard deviation is printed as zero.
pub fn block(run: &Run, with_distribution: bool) -> String {
    let elapsed_s = elapsed_s(run);
    // Of an interrupted run, what was measured: others read the first line for how long that was.
    let planned_ns = run.plan.duration_ns.filter(|_| !run.interrupted);
    let planned_s = planned_ns.map_or(elapsed_s, |planned_ns| planned_ns as f64 / SECOND as f64);
    let url = crate::figure::clean(&run.plan.url, 8192);
    let mut out = format!("Running {} test @ {url}\n", time(planned_s, 0));
    let (threads, connections) = (run.plan.threads, run.plan.connections);
    out += &format!("  {threads} threads and {connections} connections\n");
    out += &format!("  Thread Stats{:>6}{:>11}{:>8}{:>12}\n", "Avg", "Stdev", "Max", "+/- Stdev");
    out += &stats("Latency", latency(run), time_us);
    out += &stats("Req/Sec", throughput(&run.generator), |n| metric(n, 2));
    if with_distribution {
        out += &distribution(run);
    }
    let counts = Counts::of(run);
    out += &format!(
        "  {} requests in {}, {}B read\n",
        counts.requests,
        time_us(elapsed_s * 1e6),
        binary(counts.bytes as f64)
    );
    out += &errors(&counts);
    out += &format!("Requests/sec: {:9.2}\n", run.rates.requests_per_s);
    let transferred = run.rates.bytes_read_per_s * (window_s(run) / elapsed_s);
    let transferred = if elapsed_s > 0.0 { transferred } else { 0.0 };
    out += &format!("Transfer/sec: {:>10}B\n", binary(transferred));
    out
}

/// Seconds that wrk's requests and bytes are over.
fn elapsed_s(run: &Run) -> f64 {
    run.rate_over_ns() as f64 / SECOND as f64
}

fn window_s(run: &Run) -> f64 {
    run.totals.duration_ns as f64 / SECOND as f64
}

/// What a line of `Thread Stats` shows; times in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Stats {
    mean: f64,
    stdev: f64,
    max: f64,
    within_stdev: f64,
}

fn latency(run: &Run) -> Stats {
    let service = &run.service_ns;
    let micros = |nanos: u64| nanos as f64 / 1e3;
    let within_stdev = run.histogram("service").as_ref().map_or(0.0, Latencies::share_within_stdev);
    Stats {
        mean: micros(service.mean),
        stdev: micros(service.stdev),
        max: micros(service.max),
        within_stdev,
    }
}

/// All workers' samples as one set: the pooled mean and variance are exact; the share within a
/// standard deviation is the mean of the workers' shares, since the samples themselves are not kept.
fn throughput(generator: &Generator) -> Stats {
    let samples = generator.workers.iter().map(|w| w.req_per_s);
    let count: f64 = samples.clone().map(|s| s.count as f64).sum();
    if count == 0.0 {
        return Stats::default();
    }
    let weighted = |figure: &dyn Fn(&model::run::StepSummary) -> f64| {
        samples.clone().map(|s| s.count as f64 * figure(&s)).sum::<f64>() / count
    };
    let mean = weighted(&|s| s.mean);
    let variance = weighted(&|s| s.stdev.powi(2) + (s.mean - mean).powi(2));
    Stats {
        mean,
        stdev: variance.sqrt(),
        max: samples.clone().map(|s| s.max).fold(0.0, f64::max),
        within_stdev: weighted(&|s| s.within_stdev),
    }
}

fn stats(name: &str, stats: Stats, show: impl Fn(f64) -> String) -> String {
    format!(
        "    {name:<10}{}{}{}{:8.2}%\n",
        column(&show(stats.mean), 8),
        column(&show(stats.stdev), 10),
        column(&show(stats.max), 9),
        stats.within_stdev * 100.0
    )
}

fn distribution(run: &Run) -> String {
    let service = &run.service_ns;
    let rows = [(50, service.p50), (75, service.p75), (90, service.p90), (99, service.p99)];
    let row = |(percent, nanos): (u32, u64)| {
        format!("{percent:7}%{}\n", column(&time_us(nanos as f64 / 1e3), 10))
    };
    rows.into_iter().fold("  Latency Distribution\n".to_owned(), |out, r| out + &row(r))
}

fn errors(counts: &Counts) -> String {
    let Counts { connect, read, write, timeout, status, .. } = *counts;
    let mut out = String::new();
    if [connect, read, write, timeout].iter().any(|&n| n > 0) {
        out += &format!(
            "  Socket errors: connect {connect}, read {read}, write {write}, timeout {timeout}\n"
        );
    }
    if status > 0 {
        out += &format!("  Non-2xx or 3xx responses: {status}\n");
    }
    out
}

/// A run's counts as wrk has them, in its block and for `done` of its scripts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Responses inside the window.
    pub requests: u64,
    /// Bytes received inside it.
    pub bytes: u64,
    /// Connections that could not be opened.
    pub connect: u64,
    /// Failed reads, responses cut short and responses that are no HTTP.
    pub read: u64,
    /// Failed writes.
    pub write: u64,
    /// Requests without a response in time.
    pub timeout: u64,
    /// Responses with a status above 399, whatever the workload takes for success. Responses after the
    /// window are among the statuses and not among wrk's requests: no more are reported than `requests`,
    /// or a script would subtract its way below zero.
    pub status: u64,
}

impl Counts {
    /// Those of a run.
    pub fn of(run: &Run) -> Self {
        let requests = (run.rates.requests_per_s * elapsed_s(run)).round() as u64;
        let refused = run.totals.statuses.range(400..);
        let refused = refused.fold(0, |sum: u64, (_, &n)| sum.saturating_add(n));
        Self {
            requests,
            bytes: (run.rates.bytes_read_per_s * window_s(run)).round() as u64,
            status: refused.min(requests),
            ..Self::socket(&run.totals.errors)
        }
    }

    /// wrk's four classes of our nine.
    fn socket(errors: &ErrorCounts) -> Self {
        Self {
            connect: errors.dns.saturating_add(errors.connect).saturating_add(errors.tls),
            read: errors.read.saturating_add(errors.protocol),
            write: errors.write,
            timeout: errors.timeout,
            ..Self::default()
        }
    }
}

/// A number right-aligned by its digits: a unit of one letter is followed by a space and none by
/// two, so that units form a column.
fn column(text: &str, width: usize) -> String {
    let unit = text.chars().rev().take(2).filter(char::is_ascii_alphabetic).count();
    let pad = 2 - unit;
    format!("{text:>0$}{1}", width - pad, " ".repeat(pad))
}

/// Takes the next unit from 85 % of it on, as wrk does: 940 becomes `0.94k`, 60 s `1.00m`.
fn scaled(n: f64, base: &str, step: f64, units: &[&str], decimals: usize) -> String {
    let mut amount = n;
    let mut unit = base;
    for &next in units {
        if amount < step * 0.85 {
            break;
        }
        amount /= step;
        unit = next;
    }
    format!("{amount:.decimals$}{unit}")
}

fn metric(n: f64, decimals: usize) -> String {
    scaled(n, "", 1000.0, &["k", "M", "G", "T"], decimals)
}

fn binary(n: f64) -> String {
    scaled(n, "", 1024.0, &["K", "M", "G", "T"], 2)
}

/// Seconds. wrk never gets past minutes.
fn time(seconds: f64, decimals: usize) -> String {
    scaled(seconds, "s", 60.0, &["m"], decimals)
}

/// Microseconds; below a second wrk stops at milliseconds.
fn time_us(micros: f64) -> String {
    if micros >= 1e6 { time(micros / 1e6, 2) } else { scaled(micros, "us", 1000.0, &["ms"], 2) }
}

#[cfg(test)]
mod tests;
