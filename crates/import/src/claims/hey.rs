//! hey's printout. It does not say how many connections there were.
//!
//! hey keeps a million results and counts statuses among those only, but its rate counts all: the responses are the
//! statuses, and of more than a million what rate and time come to.

use model::Claim;
use model::units::Nanos;

use super::blocks::{Block, word_after};
use crate::BadFile;
use crate::claims::figure::{self, Printed, count, in_unit};

/// Results that hey keeps.
const MOST_KEPT: u64 = 1_000_000;

/// The times at the head of the summary, which oha prints under the same labels.
#[derive(Debug, Default)]
pub(super) struct Times {
    pub(super) total: Option<Printed>,
    pub(super) slowest: Option<Printed>,
    pub(super) fastest: Option<Printed>,
    pub(super) average: Option<Printed>,
}

impl Times {
    /// The time that a line names, unless it was read before: its label, its place, its text.
    pub(super) fn of_line<'l>(
        &mut self,
        line: &'l str,
    ) -> Option<(&'static str, &mut Option<Printed>, &'l str)> {
        let Self { total, slowest, fastest, average } = self;
        let times =
            [("Total", total), ("Slowest", slowest), ("Fastest", fastest), ("Average", average)];
        let (named, text) = line.trim_start().split_once(':')?;
        let mut unread = times.into_iter().filter(|(_, place)| place.is_none());
        let (label, place) = unread.find(|(label, _)| *label == named)?;
        Some((label, place, text.trim()))
    }
}

#[derive(Debug, Default)]
pub(super) struct Hey {
    times: Times,
    /// Responses and errors per second.
    rate: Option<f64>,
    quantiles: Vec<(f64, Nanos)>,
    statuses: u64,
    succeeded: u64,
    errors: u64,
    in_statuses: bool,
    in_errors: bool,
}

impl Block for Hey {
    fn opens(line: &str) -> bool {
        line.trim_end() == "Summary:"
    }

    fn line(&mut self, number: usize, line: &str) -> Result<(), BadFile> {
        // Without a response the average is NaN.
        if let Some((label, place, text)) = self.times.of_line(line)
            && let Some(word) = text.split_whitespace().next().filter(|word| *word != "NaN")
        {
            *place = Some(in_unit(number, label, word, "secs")?);
        } else if let Some(word) = word_after(line, "Requests/sec:") {
            self.rate = Some(figure::number(number, "Requests/sec", word)?);
        } else if line.starts_with("Status code distribution:") {
            self.in_statuses = true;
        } else if line.starts_with("Error distribution:") {
            self.in_errors = true;
        } else if line.trim().is_empty() {
            self.in_errors = false;
        } else {
            self.counted(number, line)?;
        }
        Ok(())
    }

    fn finish(self) -> Result<Claim, &'static str> {
        let rate = self.rate.ok_or("`Requests/sec:` line")?;
        let Times { total, slowest, fastest, average } = self.times;
        let total = total.ok_or("`Total:` line")?;
        if slowest.is_none() || (average.is_none() && self.statuses > 0) {
            return Err("`Average:` line");
        }
        if !self.in_statuses {
            return Err("`Status code distribution:`");
        }
        let (kept, errors) = (self.statuses as f64, self.errors as f64);
        let responses = if self.statuses < MOST_KEPT {
            kept
        } else {
            (rate * total.ns as f64 / 1e9 - errors).round().max(kept)
        };
        let attempts = responses + errors;
        let answered = if attempts > 0.0 { responses / attempts } else { 0.0 };
        let good = self.succeeded as f64 / kept.max(1.0);
        let timed = average.filter(|_| self.statuses > 0);
        Ok(Claim {
            min_ns: timed.and(fastest).map(|printed| printed.ns),
            max_ns: timed.and(slowest).map(|printed| printed.ns),
            error_ns: timed.map_or(0, |printed| printed.error_ns),
            quantiles: self.quantiles,
            requests: Some(responses as u64),
            duration_ns: Some(total.ns),
            duration_error_ns: total.error_ns,
            success: (attempts > 0.0).then_some(answered * good),
            succeeded_per_s: Some(rate * answered * good),
            ..Claim::new(rate * answered, timed.map(|printed| printed.ns))
        })
    }
}

impl Hey {
    fn counted(&mut self, line: usize, text: &str) -> Result<(), BadFile> {
        if let Some((share, value)) = percentile(text) {
            let percent = figure::number(line, "percentile", share)?;
            let latency = in_unit(line, "percentile", value, "secs")?;
            self.quantiles.push((percent / 100.0, latency.ns));
        } else if let Some((inside, rest)) = bracketed(text) {
            // Lines of a log that follow at once are not indented.
            if self.in_errors && text.starts_with(' ') {
                self.errors = self.errors.saturating_add(count(line, "errors", inside)?);
            } else if let Some(n) = rest.strip_suffix("responses") {
                let n = count(line, "responses", n.trim())?;
                let status = count(line, "status", inside)?;
                self.statuses = self.statuses.saturating_add(n);
                if status < 400 {
                    self.succeeded = self.succeeded.saturating_add(n);
                }
            }
        }
        Ok(())
    }
}

/// `50% in 0.0013 secs`; hey itself prints two percent signs.
fn percentile(text: &str) -> Option<(&str, &str)> {
    match text.split_whitespace().take(5).collect::<Vec<_>>().as_slice() {
        [share, "in", value, "secs"] if share.ends_with('%') => {
            Some((share.trim_end_matches('%'), value))
        }
        _ => None,
    }
}

/// `[200] 68706 responses` is `200` and `68706 responses`. Lines of a histogram have their count in
/// brackets too, but not first.
pub(super) fn bracketed(text: &str) -> Option<(&str, &str)> {
    let (inside, rest) = text.trim_start().strip_prefix('[')?.split_once(']')?;
    Some((inside.trim(), rest.trim()))
}
