//! Requests that already failed in the log: which statuses the workload counts as success nevertheless, and what the user
//! should know of them.

use model::StatusRanges;

use super::Making;
use crate::tally::Endpoint;

/// Endpoints that are named.
const NAMED: usize = 5;

/// Statuses that say what the load is, not that a server has too much of it or that a client went away.
fn is_an_answer(status: u16) -> bool {
    matches!(status, 400..=499) && !matches!(status, 408 | 429 | 499)
}

/// The statuses to take for success where most of an endpoint's requests are refused: the usual ones and those.
pub(super) fn accepted(endpoint: &Endpoint) -> Option<StatusRanges> {
    const LEAST: f64 = 0.1;
    let statuses = endpoint.statuses.by_status();
    let answers = || statuses.iter().filter(|(status, _)| is_an_answer(**status));
    let refused: u64 = answers().map(|(_, count)| count).sum();
    if refused == 0 || refused * 2 < endpoint.count {
        return None;
    }
    let often = answers().filter(|(_, count)| **count as f64 >= LEAST * endpoint.count as f64);
    let ranges: Vec<String> = often.map(|(status, _)| status.to_string()).collect();
    format!("{},{}", StatusRanges::default(), ranges.join(",")).parse().ok()
}

impl Making<'_> {
    /// Says which requests of the workload failed in the log.
    pub(super) fn note_failing(&mut self) {
        let kept = || self.made.mined.endpoints.iter().filter(|one| one.workload_name.is_some());
        let all: u64 = kept().map(|one| one.peak).sum();
        let mut failed: Vec<(u64, String)> = Vec::new();
        for endpoint in kept() {
            for (status, count) in &endpoint.failed {
                let share = percent(*count, all);
                let name = format!("{} {} {status} ({share})", endpoint.method, endpoint.path);
                failed.push((*count, name));
            }
        }
        let total: u64 = failed.iter().map(|(count, _)| count).sum();
        if total == 0 {
            return;
        }
        failed.sort_by(|(a, x), (b, y)| b.cmp(a).then_with(|| x.cmp(y)));
        let named: Vec<&str> = failed.iter().take(NAMED).map(|(_, name)| name.as_str()).collect();
        let more = if failed.len() > NAMED { ", and others" } else { "" };
        let mut note = format!(
            "{} of the requests failed in the peak: {}{more}. They are in the workload; as long as they fail, success \
             stays below 100 % (--exclude leaves paths out)",
            percent(total, all),
            named.join(", ")
        );
        if !self.refused.is_empty() {
            note += &format!(
                ". Where most requests of an endpoint are refused, its `success` takes that for the right answer: {}",
                self.refused.join(", ")
            );
        }
        self.made.mined.notes.push(note);
    }
}

/// A part of the whole in per cent.
fn percent(part: u64, whole: u64) -> String {
    format!("{:.2} %", part as f64 / whole.max(1) as f64 * 100.0)
}
