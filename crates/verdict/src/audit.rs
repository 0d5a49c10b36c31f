//! Can results that others made be believed? One table of rules, [`RULES`], over the rows that files
//! claim, as [`crate::validity`] is over runs; and [`side`]: several files of the same load.
//!
//! A row that breaks arithmetic is impossible, those who made it: some figure in it is wrong. A row
//! that is possible and odd is doubtful. Response times of an open loop include what waited to be
//! sent and are bound by no number of connections: no rule calls them impossible for that.
//!
//! Reading files is `import`'s, showing findings `report`'s.

use std::fmt::Write as _;

use model::{Claim, Claims, Tool};

mod arithmetic;
mod law;
mod outcome;
pub mod side;

use side::Group;

/// What a finding makes of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Possible, and not to be quoted before it is explained.
    Doubtful,
    /// The figures contradict one another or Little's law: at least one is wrong.
    Impossible,
}

impl Severity {
    /// As printed everywhere: `note`, `doubtful`, `IMPOSSIBLE`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Doubtful => "doubtful",
            Self::Impossible => "IMPOSSIBLE",
        }
    }
}

/// One thing found at a row.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The rule's code, such as `little_law`.
    pub code: &'static str,
    /// What it makes of the row.
    pub severity: Severity,
    /// The evidence, without a final full stop.
    pub evidence: String,
    /// What likely made it so, where something is known.
    pub cause: Option<String>,
    /// What to do about it.
    pub advice: &'static str,
}

/// What a rule found: severity, evidence, and the likely cause.
type Found = (Severity, String, Option<String>);

/// One rule of the audit.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Its name in reports and JSON.
    pub code: &'static str,
    /// When it applies.
    pub condition: &'static str,
    /// What it makes of the row, and why.
    pub consequence: &'static str,
    /// What to do about it.
    pub advice: &'static str,
    check: fn(Tool, &Claim) -> Option<Found>,
}

impl Rule {
    /// What this rule finds at a row, if it applies.
    pub fn apply(&self, tool: Tool, claim: &Claim) -> Option<Finding> {
        let (severity, evidence, cause) = (self.check)(tool, claim)?;
        Some(Finding { code: self.code, severity, evidence, cause, advice: self.advice })
    }
}

/// Every rule, in the order the documentation lists them.
pub const RULES: &[Rule] = &[
    Rule {
        code: "little_law",
        condition: "QPS x mean, less what rounding may have added, exceeds by over 5 % the \
                    requests that can be in flight (connections; for Plimsoll's own results \
                    connections x pipeline)",
        consequence: "IMPOSSIBLE in a closed loop, and in any loop for Plimsoll's service times \
                      (Little 1961). Doubtful where the file does not state the bound: k6's \
                      users may send several requests at once, and oha may have been told to \
                      correct its latencies",
        advice: "Quote neither this mean nor its percentiles. QPS is a plain count and more \
                 likely to be right, unless rate_contradicts_count says otherwise: measure the latency with \
                 another tool.",
        check: law::exceeded,
    },
    Rule {
        code: "idle_connections",
        condition: "QPS x mean, plus what rounding may have taken, is at most half of the requests \
                    that can be in flight",
        consequence: "doubtful in a closed loop, where each connection should always have one: \
                      the load was not that of this many connections. A note where users may \
                      pause",
        advice: "Do not read it as a result at this concurrency; read it as one at the number in \
                 flight.",
        check: law::idle,
    },
    Rule {
        code: "percentiles_out_of_order",
        condition: "by more than 1 % and rounding, a higher percentile is below a lower one, or \
                    one lies outside the range from least to greatest latency",
        consequence: "IMPOSSIBLE: the percentiles were averaged over threads, seconds or \
                      machines, or edited",
        advice: "Percentiles cannot be averaged: merge the distributions they come from.",
        check: arithmetic::order,
    },
    Rule {
        code: "mean_outside_percentiles",
        condition: "the mean is over 5 % and rounding lower or higher than any distribution with \
                    this least and greatest latency and these percentiles can have, however the \
                    tool rounds ranks or interpolates",
        consequence: "IMPOSSIBLE: mean and percentiles do not come from the same samples",
        advice: "Quote neither until you know how each was computed.",
        check: arithmetic::mean,
    },
    Rule {
        code: "rate_contradicts_count",
        condition: "QPS differs from requests / duration by more than 5 % and rounding",
        consequence: "IMPOSSIBLE: the three figures do not belong together",
        advice: "Check whether the file was edited or combined from several runs.",
        check: arithmetic::rate,
    },
    Rule {
        code: "hey_million",
        condition: "hey made more than 1,000,000 requests",
        consequence: "doubtful: hey adds up all latencies but divides by one million at most, so \
                      its average is too high; its percentiles cover the first million only",
        advice: "Use the corrected mean, or measure with fewer requests.",
        check: outcome::hey_million,
    },
    Rule {
        code: "nothing_measured",
        condition: "no response arrived, or none was timed",
        consequence: "doubtful: there is nothing to judge",
        advice: "Check that the URL answers a single request.",
        check: outcome::nothing,
    },
    Rule {
        code: "mostly_errors",
        condition: "fewer than nine in ten requests succeeded, by what the file counts as \
                    success",
        consequence: "doubtful: errors are often faster than successes, and QPS counts them",
        advice: "Read what succeeded per second as the load carried.",
        check: outcome::failing,
    },
    Rule {
        code: "connects_failed",
        condition: "connections could not be opened",
        consequence: "doubtful if one in a hundred connections or more failed: fewer were in use \
                      than the file says. Else a note",
        advice: "Raise the generator's limits on files and ports, and the server's backlog.",
        check: outcome::connects,
    },
    Rule {
        code: "arrivals_dropped",
        condition: "the generator left out over 0.1 % of the scheduled arrivals",
        consequence: "doubtful: the server saw less than the rate asked for, and no latency \
                      includes the requests left out",
        advice: "Give the generator more users or another machine, or lower the rate.",
        check: outcome::dropped,
    },
    Rule {
        code: "own_verdict",
        condition: "one of Plimsoll's own results is INVALID or LOWER_BOUND",
        consequence: "doubtful: its validity rules say why",
        advice: "See the validity rules for what to do.",
        check: outcome::own_verdict,
    },
    Rule {
        code: "connections_unknown",
        condition: "the file does not say how many connections there were",
        consequence: "a note: Little's law cannot be applied",
        advice: "Give the number with --connections.",
        check: law::unknown,
    },
    Rule {
        code: "open_loop",
        condition: "these are response times of an open loop, and QPS x mean exceeds the \
                    connections",
        consequence: "a note: requests waited for a connection, and response time includes that \
                      wait",
        advice: "Check whether the tool or the server was the limit: repeat with more \
                 connections.",
        check: law::waited,
    },
    Rule {
        code: "coarse_latency",
        condition: "the latencies are printed with too few digits to decide Little's law",
        consequence: "a note: the law may or may not be broken",
        advice: "Measure something slower, or with a tool that prints more digits.",
        check: law::coarse,
    },
    Rule {
        code: "no_keepalive",
        condition: "each request opened a connection",
        consequence: "a note: QPS and latency mostly measure connecting, and local ports run out \
                      after about 28,000 requests a minute",
        advice: "Use keep-alive (ab -k) unless your clients do not.",
        check: outcome::no_keepalive,
    },
    Rule {
        code: "few_requests",
        condition: "the file states p99 or higher of fewer than 1,000 responses",
        consequence: "a note: fewer than ten of them are above it",
        advice: "Measure longer before quoting percentiles.",
        check: outcome::few,
    },
];

/// A file with what was found at each of its rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Audited {
    /// What the file is called here.
    pub name: String,
    /// What it claims.
    pub claims: Claims,
    /// For each row what was found, worst first.
    pub findings: Vec<Vec<Finding>>,
}

impl Audited {
    /// The worst of a row; none when nothing was found.
    pub fn worst_of(&self, row: usize) -> Option<Severity> {
        self.findings.get(row)?.first().map(|finding| finding.severity)
    }

    /// The worst of the file.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().filter_map(|found| Some(found.first()?.severity)).max()
    }
}

/// Files judged, alone and side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct Audit {
    /// In the order given.
    pub files: Vec<Audited>,
    /// Rows of several files at the same target and concurrency.
    pub groups: Vec<Group>,
}

impl Audit {
    /// The worst of all files.
    pub fn worst(&self) -> Option<Severity> {
        self.files.iter().filter_map(Audited::worst).max()
    }
}

/// Judges files by every rule. `same_target` says that all measured the same, whatever they name.
pub fn audit(files: Vec<(String, Claims)>, same_target: bool) -> Audit {
    let files: Vec<Audited> = files
        .into_iter()
        .map(|(name, claims)| {
            let findings = claims.rows.iter().map(|row| findings(claims.tool, row)).collect();
            Audited { name, claims, findings }
        })
        .collect();
    let groups = side::groups(&files, same_target);
    Audit { files, groups }
}

/// What every rule finds at a row, worst first.
pub fn findings(tool: Tool, claim: &Claim) -> Vec<Finding> {
    let mut found: Vec<Finding> = RULES.iter().filter_map(|rule| rule.apply(tool, claim)).collect();
    found.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    found
}

/// The formats and the rules as documentation.
pub fn as_markdown() -> String {
    let mut text =
        "# Audit\n\nMade by `cargo xtask docs` from the tables of formats and rules; do \
                    not edit.\n\n## Formats\n\n| tool | what is read | latencies | success \
                    |\n|---|---|---|---|\n"
            .to_owned();
    for tool in Tool::ALL {
        let (name, form) = (tool.name(), tool.form());
        // Writing to a `String` does not fail.
        let _ = writeln!(text, "| {name} | {form} | {} | {} |", tool.latency(), tool.success());
    }
    text += "\n## Rules\n\n| code | when | consequence | what to do |\n|---|---|---|---|\n";
    for Rule { code, condition, consequence, advice, .. } in RULES {
        let _ = writeln!(text, "| `{code}` | {condition} | {consequence} | {advice} |");
    }
    text
}

#[cfg(test)]
mod tests;
