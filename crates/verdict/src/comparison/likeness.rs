//! Whether runs are alike enough to be compared.

use model::{Run, Verdict};

use super::responses::{self, DIFFER};
use crate::chance::beyond_chance;
use crate::figures::{counted, share};

/// How a reason begins where shares of success differ.
const SUCCEED: &str = "they succeed differently";
/// Parts of a plan that two servers may need differently, or that change no figure by themselves.
const MAY_DIFFER: [&str; 7] =
    ["header fields", "body", "duration", "warm-up", "time-out", "TLS", "mix of endpoints"];
/// Shares of success that lie closer together than this are alike.
const LEAST: f64 = 0.001;

/// Why the second run must not be judged against the first, one sentence each; empty when they are alike: the same
/// environment, responses of the same kinds, figures that may be believed. `names` are what the reader calls them.
pub fn differences([a, b]: [&Run; 2], names: [&str; 2]) -> Vec<String> {
    let mut found = Vec::new();
    let environments = a.environment.differences(&b.environment);
    if !environments.is_empty() {
        found.push(format!("they ran in different environments ({})", environments.join("; ")));
    }
    found.extend(responses::difference(a, b));
    found.extend(loads(a, b));
    found.extend(successes(a, b));
    for (run, name) in [(a, names[0]), (b, names[1])] {
        if run.validity.verdict != Verdict::Valid {
            found.push(format!("a run of {name} is {}", verdict(run)));
        }
    }
    found
}

/// Whether two reasons, of two rounds, are one but for figures that differ from round to round.
pub fn alike(one: &str, other: &str) -> bool {
    let both = |begin: &str| one.starts_with(begin) && other.starts_with(begin);
    one == other || [DIFFER, SUCCEED].into_iter().any(both)
}

/// What is different of runs that are alike, and does not forbid to judge them.
pub fn remark([a, b]: [&Run; 2]) -> Option<String> {
    responses::difference(a, b).is_none().then(|| responses::other_contents(a, b)).flatten()
}

/// The verdict with the rules that made it.
fn verdict(run: &Run) -> String {
    let validity = &run.validity;
    let made = validity.reasons.iter().filter(|reason| reason.consequence == validity.verdict);
    let codes: Vec<&str> = made.map(|reason| reason.code.name()).collect();
    format!("{} ({})", validity.verdict.name(), codes.join(", "))
}

fn loads(a: &Run, b: &Run) -> Option<String> {
    let load = |run: &Run| {
        let connections = counted(run.plan.connections.into(), "connection");
        match run.plan.rate_per_s {
            Some(rate) => format!("{rate}/s over {connections}"),
            None => connections,
        }
    };
    if load(a) != load(b) {
        return Some(format!("their loads differ ({} against {})", load(a), load(b)));
    }
    let mut other = a.plan.differences(&b.plan);
    other.retain(|what| !MAY_DIFFER.contains(what));
    // Instants of a trace are not stored; another one hardly has as many.
    let traced = |run: &Run| run.plan.recorded.as_ref().map(|recorded| recorded.arrivals);
    if a.plan.stages != b.plan.stages || traced(a) != traced(b) {
        other.push("course of the load");
    }
    // Names may be paths, which differ between servers.
    let shares = |run: &Run| run.plan.mix.endpoints.iter().map(|e| e.share).collect::<Vec<_>>();
    if shares(a) != shares(b) {
        other.push("mix of endpoints");
    }
    (!other.is_empty()).then(|| format!("they were sent with another {}", other.join(", ")))
}

/// Who answers with failures is quicker or slower for that, and its figures are not those of the work asked for.
fn successes(a: &Run, b: &Run) -> Option<String> {
    // By attempts: how long users were without a response varies more than chance allows attempts to.
    let ratio =
        |run: &Run| run.rates.attempts_success_ratio.or(run.rates.success_ratio).unwrap_or(0.0);
    let (one, other) = (ratio(a), ratio(b));
    let attempts = |run: &Run| run.totals.attempts as f64;
    beyond_chance([one, other], [attempts(a), attempts(b)], LEAST)
        .then(|| format!("{SUCCEED} ({} against {} of the attempts)", share(one), share(other)))
}
