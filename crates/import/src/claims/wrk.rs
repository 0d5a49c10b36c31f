//! wrk's block, wrk2's, and Plimsoll's own, which begins with wrk's.

use model::units::Nanos;
use model::{Claim, Latency, LoopKind};

use super::blocks::{Block, labelled, word_after};
use crate::BadFile;
use crate::claims::figure::{Printed, count, duration, number};

#[derive(Debug, Default)]
pub(super) struct Wrk {
    target: Option<String>,
    connections: Option<u64>,
    /// The mean, and the greatest latency or the 99th percentile; none inside where nothing was timed.
    latency: Option<Option<(Printed, Printed)>>,
    /// Newer wrk2 prints p99 where wrk has the greatest latency, and says so at the head.
    p99_for_max: bool,
    quantiles: Vec<(f64, Nanos)>,
    /// Whether lines of per cent are the distribution's: not after the requests, where a script prints its own.
    in_distribution: bool,
    requests: Option<u64>,
    duration: Option<Printed>,
    refused: u64,
    connect_errors: u64,
    timeouts: u64,
    other_errors: u64,
    qps: Option<f64>,
    open: bool,
    /// Whether Plimsoll printed it.
    ours: bool,
}

impl Block for Wrk {
    fn opens(line: &str) -> bool {
        line.trim_start().starts_with("Running ") && line.contains(" test @ ")
    }

    fn line(&mut self, number: usize, line: &str) -> Result<(), BadFile> {
        let words: Vec<&str> = line.split_whitespace().take(9).collect();
        match words.as_slice() {
            ["Running", _, "test", "@", url, ..] => self.target = Some((*url).to_owned()),
            [_, "threads", "and", n, "connections"] => {
                self.connections = Some(count(number, "connections", n)?);
            }
            ["Latency", "Distribution", rest @ ..] => {
                // wrk2 prints a second one, without the wait for a connection, which is not read.
                self.in_distribution = self.quantiles.is_empty();
                self.open |= rest.first() == Some(&"(HdrHistogram");
            }
            // Only wrk2 calibrates; its other lines are the same as wrk's.
            ["Thread", "calibration:", ..] => self.open = true,
            ["Thread", "Stats", "Avg", "Stdev", "99%", ..] => {
                (self.open, self.p99_for_max) = (true, true);
            }
            // wrk2's mean of nothing.
            ["Latency", "-nanus" | "nanus", ..] => self.latency = Some(None),
            ["Latency", mean, _, max, _] if self.latency.is_none() => {
                let mean = duration(number, "mean latency", mean)?;
                let what = if self.p99_for_max { "99%" } else { "greatest latency" };
                self.latency = Some(Some((mean, duration(number, what, max)?)));
            }
            [share, value] if self.in_distribution && share.ends_with('%') => {
                self.quantile(number, share, value)?;
            }
            [n, "requests", "in", time, ..] => {
                self.in_distribution = false;
                self.requests = Some(count(number, "requests", n)?);
                self.duration = Some(duration(number, "duration", time.trim_end_matches(','))?);
            }
            ["Socket", "errors:", ..] => self.socket_errors(number, line)?,
            // Plimsoll's own text continues with what drove the load.
            ["Load", kind @ ("open" | "closed"), "loop,", ..] => {
                (self.ours, self.open) = (true, *kind == "open");
            }
            _ => self.totals(number, line)?,
        }
        Ok(())
    }

    fn finish(self) -> Result<Claim, &'static str> {
        let qps = self.qps.ok_or("`Requests/sec:` line")?;
        let latency = self.latency.ok_or("`Latency` line")?;
        let requests = self.requests.ok_or("line of requests")?;
        let connections = self.connections.ok_or("line of threads and connections")?;
        let (late, unanswered) = match self.times_out_responses(requests) {
            true => (self.timeouts, 0),
            false => (0, self.timeouts),
        };
        let failed = [self.connect_errors, self.other_errors, unanswered];
        let attempts = failed.into_iter().fold(requests, u64::saturating_add) as f64;
        let succeeded = requests.saturating_sub(self.refused).saturating_sub(late) as f64;
        let answered = requests as f64;
        let timed = latency.filter(|_| requests > 0);
        let (mut quantiles, mut max_ns) = (self.quantiles, timed.map(|(_, last)| last.ns));
        if self.p99_for_max {
            let p99 = max_ns.take().filter(|_| quantiles.is_empty());
            quantiles.extend(p99.map(|ns| (0.99, ns)));
        }
        Ok(Claim {
            target: self.target,
            connections: Some(connections as f64).filter(|&n| n > 0.0),
            loop_kind: if self.open { LoopKind::Open } else { LoopKind::Closed },
            latency: if self.open && !self.ours { Latency::Response } else { Latency::Service },
            error_ns: timed.map_or(0, |(mean, _)| mean.error_ns),
            max_ns,
            quantiles,
            requests: Some(requests),
            duration_ns: self.duration.map(|time| time.ns),
            duration_error_ns: self.duration.map_or(0, |time| time.error_ns),
            success: (attempts > 0.0).then(|| succeeded / attempts),
            succeeded_per_s: (answered > 0.0).then(|| qps * succeeded / answered),
            connect_errors: self.connect_errors,
            ..Claim::new(qps, timed.map(|(mean, _)| mean.ns))
        })
    }
}

impl Wrk {
    /// Whether time-outs are among the requests. wrk 4 calls a response late that it counts as a request; wrk2 and
    /// Plimsoll count what had no response yet.
    fn times_out_responses(&self, requests: u64) -> bool {
        !self.open && !self.ours && self.timeouts <= requests
    }

    fn quantile(&mut self, line: usize, share: &str, value: &str) -> Result<(), BadFile> {
        let percent = number(line, "percentile", share.trim_end_matches('%'))?;
        // The hundredth is the greatest latency, which another line has.
        if percent < 100.0 {
            self.quantiles.push((percent / 100.0, duration(line, "percentile", value)?.ns));
        }
        Ok(())
    }

    fn socket_errors(&mut self, line: usize, text: &str) -> Result<(), BadFile> {
        let text = labelled(text, "Socket errors:").unwrap_or_default();
        for part in text.split(',').take(8) {
            let Some((class, n)) = part.trim().split_once(' ') else { continue };
            let n = count(line, "socket errors", n.trim())?;
            let sum = match class {
                "connect" => &mut self.connect_errors,
                "timeout" => &mut self.timeouts,
                _ => &mut self.other_errors,
            };
            *sum = sum.saturating_add(n);
        }
        Ok(())
    }

    fn totals(&mut self, line: usize, text: &str) -> Result<(), BadFile> {
        if let Some(word) = word_after(text, "Requests/sec:") {
            self.qps = Some(number(line, "Requests/sec", word)?);
        } else if let Some(word) = word_after(text, "Non-2xx or 3xx responses:") {
            self.refused = count(line, "Non-2xx or 3xx responses", word)?;
        }
        Ok(())
    }
}
