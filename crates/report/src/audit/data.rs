//! An audit for programs: one line a row as CSV, everything as JSON (`plimsoll.audit/1`).

use model::Nanos;
use model::claim::Claim;
use schemars::JsonSchema;
use serde::Serialize;
use verdict::audit::side::Group;
use verdict::audit::{Audit, Audited, Finding, Severity};

use crate::csv::cell;
use crate::figure::clean;

/// Longest text from a file.
const LONGEST: usize = 1000;

/// The rows as CSV, plain numbers: durations in nanoseconds, success as a ratio. Codes of what was
/// found are separated by blanks.
pub fn csv(audit: &Audit) -> String {
    let header = "file,tool,target,loop,connections,rate_per_s,requests_per_s,mean_ns,in_flight,\
                  in_flight_ratio,success_ratio,verdict,codes";
    let mut rows: Vec<Vec<String>> = vec![header.split(',').map(String::from).collect()];
    for file in &audit.files {
        for (at, row) in file.claims.rows.iter().enumerate() {
            let codes: Vec<&str> = file.findings[at].iter().map(|finding| finding.code).collect();
            rows.push(vec![
                clean(&file.name, LONGEST),
                file.claims.tool.name().to_owned(),
                row.target.as_deref().map_or_else(String::new, |target| clean(target, LONGEST)),
                row.loop_kind.name().to_owned(),
                cell(row.connections),
                cell(row.rate_per_s),
                row.qps.to_string(),
                cell(row.mean_ns),
                cell(row.in_flight()),
                cell(row.ratio()),
                cell(row.success),
                verdict(file.worst_of(at)).to_owned(),
                codes.join(" "),
            ]);
        }
    }
    crate::csv::csv(rows)
}

/// `possible` when nothing worse than a note was found.
fn verdict(worst: Option<Severity>) -> &'static str {
    match worst {
        None | Some(Severity::Note) => "possible",
        Some(Severity::Doubtful) => "doubtful",
        Some(Severity::Impossible) => "impossible",
    }
}

/// Everything as JSON: `plimsoll.audit/1`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Document<'a> {
    /// `plimsoll.audit/1`.
    schema: &'static str,
    /// The worst over all files: `possible`, `doubtful` or `impossible`.
    verdict: &'static str,
    /// The files, in the order they were named.
    files: Vec<FileOf<'a>>,
    /// Rows of the same target and concurrency, beside one another.
    side_by_side: Vec<GroupOf<'a>>,
}

/// One file.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "File")]
struct FileOf<'a> {
    /// As it was named.
    file: &'a str,
    /// The tool that made it.
    tool: &'static str,
    /// What its latencies are of.
    latency_is: &'static str,
    /// What it counts as success.
    success_means: &'a str,
    /// The worst over its rows: `possible`, `doubtful` or `impossible`.
    verdict: &'static str,
    /// Its rows.
    rows: Vec<RowOf<'a>>,
}

/// One result of a file. What the file does not say is null.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Row")]
struct RowOf<'a> {
    /// What was measured.
    target: Option<&'a str>,
    /// `closed loop`, `users` or `open loop`.
    #[serde(rename = "loop")]
    loop_kind: &'static str,
    /// Connections, or users.
    connections: Option<f64>,
    /// Arrivals wanted per second.
    rate_per_s: Option<f64>,
    /// QPS.
    requests_per_s: f64,
    /// Requests in all.
    requests: Option<u64>,
    /// Length of the run.
    duration_ns: Option<Nanos>,
    /// Mean latency.
    mean_ns: Option<Nanos>,
    /// How far printing may have rounded the mean.
    mean_error_ns: Nanos,
    /// Least latency.
    min_ns: Option<Nanos>,
    /// Longest latency.
    max_ns: Option<Nanos>,
    /// Percentiles, ascending.
    percentiles: Vec<Percentile>,
    /// Successes of all, 0..=1.
    success_ratio: Option<f64>,
    /// QPS x mean.
    in_flight: Option<f64>,
    /// The most that can be in flight.
    in_flight_cap: Option<f64>,
    /// `in_flight` over `in_flight_cap`.
    in_flight_ratio: Option<f64>,
    /// `possible`, `doubtful` or `impossible`.
    verdict: &'static str,
    /// What was found, the worst first.
    findings: Vec<FindingOf<'a>>,
}

/// A percentile.
#[derive(Debug, Serialize, JsonSchema)]
struct Percentile {
    /// Share of the requests, 0..=1.
    share: f64,
    /// That took no longer than this.
    latency_ns: Nanos,
}

/// One thing found.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Finding")]
struct FindingOf<'a> {
    /// See docs/reference/audit.md.
    code: &'a str,
    /// `note`, `doubtful` or `impossible`.
    severity: String,
    /// The figures that show it.
    evidence: &'a str,
    /// What likely caused it.
    likely_cause: Option<&'a str>,
    /// What to do.
    advice: &'a str,
}

/// Rows that measured the same.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Group")]
struct GroupOf<'a> {
    /// What was measured.
    target: Option<&'a str>,
    /// With how many connections.
    connections: f64,
    /// Index in `rows` of the row that the others are held against.
    reference: usize,
    /// The rows.
    rows: Vec<StandingOf<'a>>,
}

/// A row beside the others of its group.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Standing")]
struct StandingOf<'a> {
    /// Its file.
    file: &'a str,
    /// Index of the row in the file.
    row: usize,
    /// The tool that made it.
    tool: &'static str,
    /// QPS.
    requests_per_s: f64,
    /// QPS over the reference's.
    qps_ratio: f64,
    /// Mean latency over the reference's.
    mean_ratio: Option<f64>,
    /// Whether it differs beyond what is usual.
    disagrees: bool,
    /// Why, and which tool probably measured too little.
    why: Option<&'a str>,
}

/// Everything as JSON.
pub fn document(audit: &Audit) -> Document<'_> {
    Document {
        schema: "plimsoll.audit/1",
        verdict: verdict(audit.worst()),
        files: audit.files.iter().map(file).collect(),
        side_by_side: audit.groups.iter().map(|found| group(audit, found)).collect(),
    }
}

fn file(file: &Audited) -> FileOf<'_> {
    let rows = file.claims.rows.iter().zip(&file.findings);
    FileOf {
        file: &file.name,
        tool: file.claims.tool.name(),
        latency_is: file.claims.tool.latency(),
        success_means: &file.claims.success_means,
        verdict: verdict(file.worst()),
        rows: rows.map(|(claim, found)| row(claim, found)).collect(),
    }
}

fn row<'a>(claim: &'a Claim, found: &'a [Finding]) -> RowOf<'a> {
    let percentiles = claim.quantiles.iter();
    RowOf {
        target: claim.target.as_deref(),
        loop_kind: claim.loop_kind.name(),
        connections: claim.connections,
        rate_per_s: claim.rate_per_s,
        requests_per_s: claim.qps,
        requests: claim.requests,
        duration_ns: claim.duration_ns,
        mean_ns: claim.mean_ns,
        mean_error_ns: claim.error_ns,
        min_ns: claim.min_ns,
        max_ns: claim.max_ns,
        percentiles: percentiles
            .map(|&(share, latency_ns)| Percentile { share, latency_ns })
            .collect(),
        success_ratio: claim.success,
        in_flight: claim.in_flight(),
        in_flight_cap: claim.in_flight_cap(),
        in_flight_ratio: claim.ratio(),
        verdict: verdict(found.first().map(|finding| finding.severity)),
        findings: found.iter().map(finding).collect(),
    }
}

fn finding(finding: &Finding) -> FindingOf<'_> {
    FindingOf {
        code: finding.code,
        severity: finding.severity.name().to_ascii_lowercase(),
        evidence: &finding.evidence,
        likely_cause: finding.cause.as_deref(),
        advice: finding.advice,
    }
}

fn group<'a>(audit: &'a Audit, group: &'a Group) -> GroupOf<'a> {
    let standings = group.standings.iter().map(|standing| {
        let file = &audit.files[standing.file];
        StandingOf {
            file: &file.name,
            row: standing.row,
            tool: file.claims.tool.name(),
            requests_per_s: file.claims.rows[standing.row].qps,
            qps_ratio: standing.qps_ratio,
            mean_ratio: standing.mean_ratio,
            disagrees: standing.why.is_some(),
            why: standing.why.as_deref(),
        }
    });
    GroupOf {
        target: group.target.as_deref(),
        connections: group.connections,
        reference: group.reference,
        rows: standings.collect(),
    }
}
