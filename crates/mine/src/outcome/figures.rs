//! The figures of a log, and the notes about them.

use std::collections::BTreeSet;

use jiff::tz::{Offset, TimeZone};
use model::mined::{BadLines, PathCount, Peak, SCHEMA, SessionFigures};
use model::secret::mask_text;

use super::Making;
use crate::pools::decode;
use crate::sample::masked;
use crate::scale::{Observed, figure};
use crate::tally::Tally;
use crate::visits::Sessions;

impl Making<'_> {
    pub(super) fn figures(&mut self, observed: &Observed, sessions: &Sessions) {
        let (surveyed, tally) = (self.surveyed, self.tally);
        let peak = surveyed.peak;
        let (users, users_error) = tally.users.count();
        let offset = peak.offset_s;
        let mined = &mut self.made.mined;
        mined.schema = SCHEMA.to_owned();
        mined.files.clone_from(&self.wanted.files);
        mined.format.clone_from(&self.wanted.format);
        mined.lines = surveyed.lines;
        mined.bad_lines = surveyed.bad.iter().map(|(_, count, _)| count).sum();
        mined.bad = surveyed.bad.iter().map(bad).collect();
        mined.first_at = instant(surveyed.first.seconds(), surveyed.first.offset_s);
        mined.last_at = instant(surveyed.last.seconds(), surveyed.last.offset_s);
        mined.requests = tally.requests;
        mined.bytes = tally.bytes;
        mined.statuses = tally.statuses.by_status();
        mined.bots = tally.bots;
        mined.without_agents = !tally.agents;
        mined.static_files = tally.static_files;
        mined.left_out = tally.left_out;
        mined.counted = tally.counted;
        mined.reads = tally.reads;
        mined.writes = tally.counted - tally.reads;
        (mined.users, mined.users_error) = (users, users_error);
        mined.daily_users = observed.daily_users;
        mined.sessions = sessions.among(tally.counted);
        mined.session = SessionFigures {
            requests: sessions.requests,
            think_ns: sessions.think.summary(),
            sampled: sessions.sampled,
            most_open: sessions.most_open,
        };
        mined.session_gap_ns = self.wanted.session_gap_ns;
        mined.peak = Peak {
            from: instant(peak.from, offset),
            to: instant(peak.to, offset),
            from_s: peak.from,
            seconds: observed.seconds,
            requests: peak.requests,
            rate_per_s: peak.requests as f64 / self.seconds,
            burst_factor: observed.burst_factor,
        };
        (mined.curve_step_s, mined.curve) = (surveyed.curve.0, surveyed.curve.1.clone());
        mined.by_hour = surveyed.by_hour.to_vec();
        mined.top_paths = top_paths(tally);
        mined.arithmetic.splice(0..0, self.scaled.steps.iter().cloned());
        let first = self.wanted.notes.iter().chain(&self.scaled.notes).cloned();
        mined.notes.splice(0..0, first);
        self.notes(sessions);
        self.note_failing();
    }

    fn notes(&mut self, sessions: &Sessions) {
        let mined = &mut self.made.mined;
        if mined.users_error > 0.0 {
            let error = mined.users_error * 100.0;
            mined
                .notes
                .push(format!("users are an estimate, with a standard error of {error:.1} %"));
        }
        if sessions.sampled < 1.0 {
            let sampled = figure(sessions.sampled * 100.0);
            mined.notes.push(format!(
                "sessions are those of {sampled} % of the users, drawn at random, and scaled"
            ));
        }
        if mined.without_agents {
            mined.notes.push(
                "no line has a User-Agent: requests of bots cannot be told apart, and are counted as users'"
                    .to_owned(),
            );
        }
        if !self.tally.paths.is_exact() {
            mined
                .notes
                .push("the counts of top paths are estimates: there are too many paths".into());
        }
        let times: BTreeSet<bool> =
            mined.endpoints.iter().map(|endpoint| endpoint.latency_ns.is_some()).collect();
        if !times.contains(&true) {
            mined.notes.push(
                "the log does not say how long requests took, so that there is no latency of today to compare with; \
                 with nginx, add $request_time to its log_format"
                    .to_owned(),
            );
        }
    }
}

fn bad((bad, count, sample): &(crate::Bad, u64, Vec<u8>)) -> BadLines {
    BadLines { reason: bad.words().to_owned(), count: *count, sample: masked(sample) }
}

/// A request as it stands in the log, without its credentials, escaped ones too.
fn masked_request(row: &[u8]) -> String {
    let text = String::from_utf8_lossy(row);
    let masked = mask_text(&text);
    match decode(row, false) {
        Some(decoded) if masked == text && mask_text(&decoded) != decoded => mask_text(&decoded),
        _ => masked,
    }
}

fn top_paths(tally: &Tally) -> Vec<PathCount> {
    const TOP: usize = 30;
    let counted = |(count, row): (f64, &[u8])| PathCount {
        request: masked_request(row),
        count: count.round() as u64,
    };
    let mut paths: Vec<PathCount> = Vec::new();
    for path in tally.paths.weighted(TOP).into_iter().map(counted) {
        // Those that differ in a credential alone are one.
        match paths.iter_mut().find(|other| other.request == path.request) {
            Some(same) => same.count += path.count,
            None => paths.push(path),
        }
    }
    paths
}

/// RFC 3339 in a zone.
fn instant(second: i64, offset_s: i32) -> String {
    let offset = Offset::from_seconds(offset_s).unwrap_or(Offset::UTC);
    let Ok(timestamp) = jiff::Timestamp::from_second(second) else { return String::new() };
    let zoned = timestamp.to_zoned(TimeZone::fixed(offset));
    zoned.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}
