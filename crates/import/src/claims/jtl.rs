//! JMeter's JTL: a sample a line, or an element a sample, summed up as one row.
//!
//! A transaction's own sample is passed over: it repeats the samples inside it. Of a sample with
//! samples inside (redirects, embedded files) the outer one counts. Memory does not grow with the
//! file: latencies go into a histogram.

mod csv;
mod xml;

use std::collections::BTreeMap;
use std::net::IpAddr;

use model::units::{LONGEST, MILLISECOND, SECOND};
use model::{Claim, Claims, Latencies, Tool};

use crate::BadFile;

pub(super) use csv::from_csv;
pub(super) use xml::from_xml;

/// How the response code begins of a sample that had no response: JMeter's HTTP samplers write the exception there.
const NO_RESPONSE: &str = "Non HTTP response code";
/// How the message of a transaction's own sample begins.
const TRANSACTION: &str = "Number of samples in transaction";
/// Engines distinguished at most; the threads of any more are not counted.
const MOST_ENGINES: usize = 1_000;
/// The latest instant accepted, in milliseconds since 1970: in the year 5138.
const LATEST_MS: u64 = 100_000_000_000_000;

/// What matters of a sample.
#[derive(Debug, Clone, Copy, Default)]
struct Sample<'a> {
    began_ms: u64,
    elapsed_ms: u64,
    /// Whether no response came, by the response code.
    unanswered: bool,
    /// Absent where it was not saved.
    succeeded: Option<bool>,
    /// The thread's name: begins with its engine's address when there are several engines.
    thread: &'a str,
    /// Threads of that engine at the sample's end.
    threads: u64,
    url: &'a str,
}

/// The only target of all samples, if there is one.
#[derive(Debug, Default)]
enum Target {
    #[default]
    NoneYet,
    Only(String),
    Several,
}

#[derive(Debug, Default)]
struct Sum {
    /// Of the responses: a sample without one took as long as a refused connection or a time-out does.
    latencies: Latencies<u64>,
    /// Samples, those without a response included.
    samples: u64,
    succeeded: u64,
    /// Samples of which it was not saved whether they succeeded.
    unstated: u64,
    first_ms: Option<u64>,
    last_ms: u64,
    /// The most threads at once of each engine.
    engines: BTreeMap<String, u64>,
    target: Target,
    /// Samples of transactions, which were passed over.
    transactions: u64,
}

impl Sum {
    fn add(&mut self, sample: Sample<'_>) -> Result<(), String> {
        if sample.began_ms > LATEST_MS {
            return Err(format!("timeStamp {} is not a time in milliseconds", sample.began_ms));
        }
        if sample.elapsed_ms > LONGEST / MILLISECOND {
            return Err(format!("elapsed {} is longer than ten years", sample.elapsed_ms));
        }
        self.samples += 1;
        if !sample.unanswered {
            self.latencies.record(sample.elapsed_ms * MILLISECOND);
        }
        self.succeeded += u64::from(sample.succeeded == Some(true));
        self.unstated += u64::from(sample.succeeded.is_none());
        let first = self.first_ms.unwrap_or(sample.began_ms);
        self.first_ms = Some(first.min(sample.began_ms));
        self.last_ms = self.last_ms.max(sample.began_ms + sample.elapsed_ms);
        self.engine(sample.thread, sample.threads);
        self.target(sample.url);
        Ok(())
    }

    fn engine(&mut self, thread: &str, threads: u64) {
        // The address as JMeter was given it, with or without a port. A group's name may have a `-` too.
        let is_address = |prefix: &&str| prefix.contains(':') || prefix.parse::<IpAddr>().is_ok();
        let engine = thread.split('-').next().filter(is_address).unwrap_or_default();
        if let Some(most) = self.engines.get_mut(engine) {
            *most = (*most).max(threads);
        } else if self.engines.len() < MOST_ENGINES {
            self.engines.insert(engine.to_owned(), threads);
        }
    }

    fn target(&mut self, url: &str) {
        // What JMeter writes of a sampler without a URL.
        let url = if url == "null" { "" } else { url };
        match &self.target {
            Target::NoneYet if !url.is_empty() => self.target = Target::Only(url.to_owned()),
            Target::Only(only) if only != url => self.target = Target::Several,
            _ => {}
        }
    }

    fn claims(self) -> Result<Claims, BadFile> {
        let summary = self.latencies.summary();
        let Some(first_ms) = self.first_ms else {
            let what = match self.transactions {
                0 => "a JTL without any sample",
                _ => {
                    "a JTL of transactions alone, whose requests were not saved: leave out `Generate parent \
                     sample`, or save XML"
                }
            };
            return Err(BadFile::whole(what));
        };
        let duration_ns = (self.last_ms - first_ms).saturating_mul(MILLISECOND);
        let seconds = duration_ns as f64 / SECOND as f64;
        let per_s = |n: u64| if seconds > 0.0 { n as f64 / seconds } else { 0.0 };
        let timed = |value| (summary.count > 0).then_some(value);
        let threads = self.engines.values().fold(0u64, |sum, &most| sum.saturating_add(most));
        let quantiles =
            [(0.5, summary.p50), (0.75, summary.p75), (0.9, summary.p90), (0.95, summary.p95)];
        let row = Claim {
            target: match self.target {
                Target::Only(url) => Some(url),
                Target::NoneYet | Target::Several => None,
            },
            connections: (threads > 0).then_some(threads as f64),
            error_ns: MILLISECOND,
            min_ns: timed(summary.min),
            max_ns: timed(summary.max),
            quantiles: quantiles
                .into_iter()
                .chain([(0.99, summary.p99)])
                .filter(|_| summary.count > 0)
                .collect(),
            requests: Some(summary.count),
            duration_ns: Some(duration_ns),
            pauses: true,
            success: (self.unstated == 0).then(|| self.succeeded as f64 / self.samples as f64),
            succeeded_per_s: (self.unstated == 0).then(|| per_s(self.succeeded)),
            ..Claim::new(per_s(summary.count), timed(summary.mean))
        };
        Ok(Claims::new(Tool::Jmeter, vec![row]))
    }
}
