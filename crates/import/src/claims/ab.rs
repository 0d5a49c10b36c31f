//! ApacheBench's printout.
//!
//! Its `Time per request` is concurrency over QPS, so that Little's law holds by construction and
//! says nothing; the mean read is that of the connection times, which ab measures and prints in
//! whole milliseconds.

use model::Claim;
use model::units::{MILLISECOND, Nanos};

use super::blocks::{Block, labelled, word_after};
use crate::BadFile;
use crate::claims::figure::{self, Printed, count, in_unit};

#[derive(Debug, Default)]
pub(super) struct Ab {
    host: Option<String>,
    port: Option<String>,
    tls: bool,
    path: Option<String>,
    connections: Option<u64>,
    duration: Option<Printed>,
    complete: Option<u64>,
    broken: u64,
    refused: u64,
    /// Whether it was asked for, with -k, and any request was answered so.
    kept_alive: bool,
    qps: Option<f64>,
    /// Least, mean and greatest total time.
    total: Option<(Nanos, Nanos, Nanos)>,
    quantiles: Vec<(f64, Nanos)>,
}

impl Block for Ab {
    fn opens(line: &str) -> bool {
        labelled(line, "Server Software:").is_some()
    }

    fn line(&mut self, number: usize, line: &str) -> Result<(), BadFile> {
        let after = |label| word_after(line, label);
        let own = |word: &str| Some(word.to_owned());
        if let Some(word) = after("Server Hostname:") {
            self.host = own(word);
        } else if let Some(word) = after("Server Port:") {
            self.port = own(word);
        } else if labelled(line, "SSL/TLS Protocol:").is_some() {
            self.tls = true;
        } else if let Some(word) = after("Document Path:") {
            self.path = own(word);
        } else if let Some(word) = after("Concurrency Level:") {
            self.connections = Some(count(number, "Concurrency Level", word)?);
        } else if let Some(word) = after("Time taken for tests:") {
            self.duration = Some(in_unit(number, "Time taken for tests", word, "s")?);
        } else if let Some(word) = after("Complete requests:") {
            self.complete = Some(count(number, "Complete requests", word)?);
        } else if let Some(word) = after("Non-2xx responses:") {
            self.refused = count(number, "Non-2xx responses", word)?;
        } else if let Some(word) = after("Keep-Alive requests:") {
            self.kept_alive = count(number, "Keep-Alive requests", word)? > 0;
        } else if let Some(word) = after("Requests per second:") {
            self.qps = Some(figure::number(number, "Requests per second", word)?);
        } else {
            self.distribution(number, line)?;
        }
        Ok(())
    }

    fn finish(self) -> Result<Claim, &'static str> {
        let qps = self.qps.ok_or("`Requests per second:` line")?;
        let complete = self.complete.ok_or("`Complete requests:` line")?;
        let connections = self.connections.ok_or("`Concurrency Level:` line")?;
        if complete > 0 && self.total.is_none() {
            return Err("`Total:` line of connection times");
        }
        let succeeded = complete.saturating_sub(self.refused).saturating_sub(self.broken);
        let target = target(self.tls, self.host, self.port, self.path);
        Ok(Claim {
            target,
            connections: Some(connections as f64).filter(|&n| n > 0.0),
            error_ns: MILLISECOND / 2,
            min_ns: self.total.map(|(min, _, _)| min),
            max_ns: self.total.map(|(_, _, max)| max),
            quantiles: self.quantiles,
            requests: Some(complete),
            duration_ns: self.duration.map(|time| time.ns),
            duration_error_ns: self.duration.map_or(0, |time| time.error_ns),
            success: (complete > 0).then(|| succeeded as f64 / complete as f64),
            keepalive: Some(self.kept_alive),
            ..Claim::new(qps, self.total.map(|(_, mean, _)| mean))
        })
    }
}

impl Ab {
    fn distribution(&mut self, line: usize, text: &str) -> Result<(), BadFile> {
        let ms =
            |word: &str| in_unit(line, "connection times", word, "ms").map(|printed| printed.ns);
        let words: Vec<&str> = text.split_whitespace().take(6).collect();
        match words.as_slice() {
            // With -S there is no deviation and no median.
            ["Total:", min, mean, _, _, max] | ["Total:", min, mean, max] => {
                self.total = Some((ms(min)?, ms(mean)?, ms(max)?));
            }
            [share, value] if share.ends_with('%') => {
                let percent = figure::number(line, "percentile", share.trim_end_matches('%'))?;
                if percent < 100.0 {
                    self.quantiles.push((percent / 100.0, ms(value)?));
                }
            }
            // A response of another length than the first is no failure of the server's.
            ["(Connect:", ..] => {
                for part in text.trim_matches([' ', '(', ')']).split(',').take(8) {
                    if let Some((class, n)) = part.split_once(':')
                        && class.trim() != "Length"
                    {
                        let n = count(line, "Failed requests", n.trim())?;
                        self.broken = self.broken.saturating_add(n);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn target(
    tls: bool,
    host: Option<String>,
    port: Option<String>,
    path: Option<String>,
) -> Option<String> {
    let (host, port) = (host?, port?);
    let scheme = if tls { "https" } else { "http" };
    let host = if host.contains(':') { format!("[{host}]") } else { host };
    Some(format!("{scheme}://{host}:{port}{}", path.as_deref().unwrap_or("/")))
}
