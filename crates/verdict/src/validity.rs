//! May a run's figures be believed? One table of rules, [`RULES`]: what each looks at, what it
//! makes of the result, and what to do. The table is also the documentation of validity
//! ([`rules_as_markdown`]).
//!
//! Here are the rules that cost nothing: they read what a run holds anyway. An overloaded server is
//! a result, not invalidity; a rule speaks only where the generator, its machine or its settings
//! shaped the figures, or where the figures do not mean what they seem to.

use std::fmt::Write as _;

use model::{Reason, ReasonCode, Run, Validity, Verdict};

mod answers;
mod generator;
mod window;

/// What a rule found: its consequence, and the evidence in one or more sentences without the final
/// full stop.
type Finding = (Verdict, String);

/// One rule of validity.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// What it is about.
    pub code: ReasonCode,
    /// When it applies.
    pub condition: &'static str,
    /// What it makes of the result, and why.
    pub consequence: &'static str,
    /// What to do about it; ends every reason's text.
    pub advice: &'static str,
    check: fn(&Run) -> Option<Finding>,
}

impl Rule {
    /// The reason this rule gives on a run, if it applies.
    pub fn apply(&self, run: &Run) -> Option<Reason> {
        let (consequence, evidence) = (self.check)(run)?;
        let text = format!("{evidence}. {}", self.advice);
        Some(Reason { code: self.code, consequence, text })
    }
}

/// Every rule, in the order the documentation lists them.
pub const RULES: &[Rule] = &[
    Rule {
        code: ReasonCode::NoAnswers,
        condition: "no whole answer came in the window",
        consequence: "INVALID: nothing was measured",
        advice: "Check that the URL answers one request at all, then look at the errors by class.",
        check: answers::none,
    },
    Rule {
        code: ReasonCode::LittleLaw,
        condition: "QPS x mean service time exceeds, by over 5 % and what the window's ends can \
                    explain, the requests that can be in flight (connections x pipeline)",
        consequence: "INVALID: it cannot happen unless the clock or the counting is broken \
                      (Little 1961)",
        advice: "Do not use this result; please report it with its run.json.",
        check: window::little,
    },
    Rule {
        code: ReasonCode::LimitsHit,
        condition: "files, ports or memory for sockets ran out on the generator's machine",
        consequence: "INVALID when most attempts may have failed by it, else LOWER_BOUND: the \
                      failures are not the server's",
        advice: "Raise the limit named or lower -c, and measure again.",
        check: generator::limits,
    },
    Rule {
        code: ReasonCode::FastErrors,
        condition: "more than half of the answers were failures by status or check",
        consequence: "INVALID above nine in ten: QPS and latency are those of the error path. \
                      Else a note: a server that sheds load is a result, but its QPS is not what \
                      it carries",
        advice: "Look at the status codes; read QPS x success rate as what was carried; where these \
                 answers are wanted, say so with --success.",
        check: answers::failing,
    },
    Rule {
        code: ReasonCode::WorkersSaturated,
        condition: "a worker was busy for 95 % of the window or more (not with --spin, where every \
                    worker always is)",
        consequence: "LOWER_BOUND in a closed loop: the server carries at least this. A note in an \
                      open loop, where late sends and the achieved rate tell",
        advice: "Give the generator more workers (-t) and cores, or another machine; latencies \
                 include time in its own queue.",
        check: generator::saturated,
    },
    Rule {
        code: ReasonCode::AchievedBelowOffered,
        condition: "over 0.1 % of an open loop's arrivals were not sent in the window, and not for \
                    want of a free connection",
        consequence: "LOWER_BOUND: the server saw less than the rate asked for",
        advice: "Lower the rate, or give the generator more workers (-t) and cores.",
        check: generator::below_offered,
    },
    Rule {
        code: ReasonCode::ConnectionsExhausted,
        condition: "over 0.1 % of an open loop's arrivals were not sent in the window, with every \
                    connection in use",
        consequence: "LOWER_BOUND: more connections might have carried more. A note when the \
                      server was evidently saturated: one in a hundred answers were 429 or 503, a \
                      tenth of the attempts timed out, or service times show a queue (mean ten \
                      times the least, with little spread)",
        advice: "Raise -c (and --max-inflight); if QPS does not follow, the server is the limit.",
        check: generator::exhausted,
    },
    Rule {
        code: ReasonCode::LateSends,
        condition: "late p99 is above 1 ms and above a tenth of response p99",
        consequence: "INVALID above half of response p99: the percentiles are the generator's. \
                      Else LOWER_BOUND: response times include what the generator added",
        advice: "Use fewer arrivals per worker (-t), leave cores idle for it, or try --spin; service \
                 time does not include lateness.",
        check: generator::late,
    },
    Rule {
        code: ReasonCode::KeepaliveRefused,
        condition: "keep-alive was asked and the server closed a connection on more than one in \
                    ten answers",
        consequence: "a note: connecting is part of what was measured",
        advice: "Raise the server's requests per connection, or measure with --no-keepalive \
                 knowingly.",
        check: answers::keepalive_refused,
    },
    Rule {
        code: ReasonCode::WindowTooShort,
        condition: "fewer than 1,000 attempts were timed",
        consequence: "a note: fewer than ten of them are above p99",
        advice: "Measure longer (-d) before quoting percentiles.",
        check: window::too_short,
    },
    Rule {
        code: ReasonCode::Interrupted,
        condition: "the window was ended early",
        consequence: "a note: the figures are those of the part that ran",
        advice: "Let it run to its end before comparing it with others.",
        check: window::interrupted,
    },
];

/// Judges a run by every rule. The verdict is the worst consequence; none makes it `VALID`.
pub fn judge(run: &Run) -> Validity {
    Validity::of(RULES.iter().filter_map(|rule| rule.apply(run)).collect())
}

/// The table of rules as documentation.
pub fn rules_as_markdown() -> String {
    let mut text = "| code | when | consequence | what to do |\n|---|---|---|---|\n".to_owned();
    for Rule { code, condition, consequence, advice, .. } in RULES {
        // Writing to a `String` does not fail.
        let _ = writeln!(text, "| `{}` | {condition} | {consequence} | {advice} |", code.name());
    }
    text
}

#[cfg(test)]
mod tests;
