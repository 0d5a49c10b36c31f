//! An audit for programs: one line a row as CSV, everything as JSON (`plimsoll.audit/1`).

use model::claim::Claim;
use serde_json::{Value, json};
use verdict::audit::side::Group;
use verdict::audit::{Audit, Audited, Finding, Severity};

use crate::figure::clean;

/// Longest text from a file.
const LONGEST: usize = 1000;

/// The rows as CSV, plain numbers: durations in nanoseconds, success as a ratio. Codes of what was
/// found are separated by blanks.
pub fn csv(audit: &Audit) -> String {
    let mut out = "file,tool,target,loop,connections,rate_per_s,requests_per_s,mean_ns,in_flight,\
                   in_flight_ratio,success_ratio,verdict,codes\r\n"
        .to_owned();
    for file in &audit.files {
        for (at, row) in file.claims.rows.iter().enumerate() {
            let codes: Vec<&str> = file.findings[at].iter().map(|finding| finding.code).collect();
            let fields = [
                quoted(&file.name),
                file.claims.maker.name().to_owned(),
                row.target.as_deref().map_or_else(String::new, quoted),
                row.loop_kind.name().to_owned(),
                number(row.connections),
                number(row.rate_per_s),
                row.qps.to_string(),
                row.mean_ns.map_or_else(String::new, |ns| ns.to_string()),
                number(row.in_flight()),
                number(row.ratio()),
                number(row.success),
                verdict(file.worst_of(at)).to_owned(),
                codes.join(" "),
            ];
            out += &(fields.join(",") + "\r\n");
        }
    }
    out
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// A field from outside as RFC 4180 wants it, and not as a formula.
fn quoted(text: &str) -> String {
    let guard = if text.starts_with(['=', '+', '-', '@']) { "'" } else { "" };
    format!("\"{guard}{}\"", clean(text, LONGEST).replace('"', "\"\""))
}

/// `possible` when nothing worse than a note was found.
fn verdict(worst: Option<Severity>) -> &'static str {
    match worst {
        None | Some(Severity::Note) => "possible",
        Some(Severity::Doubtful) => "doubtful",
        Some(Severity::Impossible) => "impossible",
    }
}

/// Everything as JSON.
pub fn document(audit: &Audit) -> Value {
    json!({
        "schema": "plimsoll.audit/1",
        "verdict": verdict(audit.worst()),
        "files": audit.files.iter().map(file).collect::<Vec<_>>(),
        "side_by_side": audit.groups.iter().map(|found| group(audit, found)).collect::<Vec<_>>(),
    })
}

fn file(file: &Audited) -> Value {
    let rows = file.claims.rows.iter().zip(&file.findings);
    json!({
        "file": file.name,
        "tool": file.claims.maker.name(),
        "latency_is": file.claims.maker.latency(),
        "success_means": file.claims.success_means,
        "verdict": verdict(file.worst()),
        "rows": rows.map(|(claim, found)| row(claim, found)).collect::<Vec<_>>(),
    })
}

fn row(claim: &Claim, found: &[Finding]) -> Value {
    let percentiles: Vec<Value> = claim
        .quantiles
        .iter()
        .map(|(share, ns)| json!({ "share": share, "latency_ns": ns }))
        .collect();
    json!({
        "target": claim.target,
        "loop": claim.loop_kind.name(),
        "connections": claim.connections,
        "rate_per_s": claim.rate_per_s,
        "requests_per_s": claim.qps,
        "requests": claim.requests,
        "duration_ns": claim.duration_ns,
        "mean_ns": claim.mean_ns,
        "mean_error_ns": claim.error_ns,
        "min_ns": claim.min_ns,
        "max_ns": claim.max_ns,
        "percentiles": percentiles,
        "success_ratio": claim.success,
        "in_flight": claim.in_flight(),
        "in_flight_cap": claim.in_flight_cap(),
        "in_flight_ratio": claim.ratio(),
        "verdict": verdict(found.first().map(|finding| finding.severity)),
        "findings": found.iter().map(finding).collect::<Vec<_>>(),
    })
}

fn finding(finding: &Finding) -> Value {
    json!({
        "code": finding.code,
        "severity": finding.severity.name().to_ascii_lowercase(),
        "evidence": finding.evidence,
        "likely_cause": finding.cause,
        "advice": finding.advice,
    })
}

fn group(audit: &Audit, group: &Group) -> Value {
    let standings: Vec<Value> = group
        .standings
        .iter()
        .map(|standing| {
            let file = &audit.files[standing.file];
            json!({
                "file": file.name,
                "row": standing.row,
                "tool": file.claims.maker.name(),
                "requests_per_s": file.claims.rows[standing.row].qps,
                "qps_ratio": standing.qps_ratio,
                "mean_ratio": standing.mean_ratio,
                "disagrees": standing.why.is_some(),
                "why": standing.why,
            })
        })
        .collect();
    json!({
        "target": group.target,
        "connections": group.connections,
        "reference": group.reference,
        "rows": standings,
    })
}
