//! Whether runs are like enough for a judgement.

use model::{Run, Verdict};

use crate::figures::{grouped, share};

/// Parts of a plan that two servers may need differently, or that change no figure by themselves.
const MAY_DIFFER: [&str; 7] =
    ["header fields", "body", "duration", "warm-up", "time-out", "TLS", "mix of endpoints"];
/// Shares of success that lie closer together than this are alike.
const LEAST: f64 = 0.001;
/// Attempts at least by which they must lie apart.
const SEVERAL: f64 = 5.0;
/// Deviations beyond which a difference of shares is no chance.
const DEVIATIONS: f64 = 4.0;

/// Why the second run must not be judged against the first, one sentence each; empty when they are alike: the same
/// environment, the same responses, figures that may be believed. `names` are what the reader calls them.
pub fn differences([a, b]: [&Run; 2], names: [&str; 2]) -> Vec<String> {
    let mut found = Vec::new();
    let environments = a.environment.differences(&b.environment);
    if !environments.is_empty() {
        found.push(format!("they ran in different environments ({})", environments.join("; ")));
    }
    found.extend(responses(a, b));
    found.extend(loads(a, b));
    found.extend(successes(a, b));
    for (run, name) in [(a, names[0]), (b, names[1])] {
        if run.validity.verdict != Verdict::Valid {
            found.push(format!("a run of {name} is {}", verdict(run)));
        }
    }
    found
}

/// The verdict with the rules that made it.
fn verdict(run: &Run) -> String {
    let validity = &run.validity;
    let made = validity.reasons.iter().filter(|reason| reason.consequence == validity.verdict);
    let codes: Vec<&str> = made.map(|reason| reason.code.name()).collect();
    format!("{} ({})", validity.verdict.name(), codes.join(", "))
}

fn responses(a: &Run, b: &Run) -> Option<String> {
    let (Some(a), Some(b)) = (&a.commonest_response, &b.commonest_response) else {
        return Some("the responses are not known for both".to_owned());
    };
    if (a.status, a.bytes, &a.body_sha256) == (b.status, b.bytes, &b.body_sha256) {
        return None;
    }
    let shown = |response: &model::CommonestResponse| {
        format!("status {}, {} bytes", response.status, grouped(response.bytes as f64, 0))
    };
    let what =
        if (a.status, a.bytes) == (b.status, b.bytes) { ", but different content" } else { "" };
    Some(format!("their responses differ ({} against {}{what})", shown(a), shown(b)))
}

fn loads(a: &Run, b: &Run) -> Option<String> {
    let load = |run: &Run| match run.plan.rate_per_s {
        Some(rate) => format!("{rate}/s over {} connections", run.plan.connections),
        None => format!("{} connections", run.plan.connections),
    };
    if load(a) != load(b) {
        return Some(format!("their loads differ ({} against {})", load(a), load(b)));
    }
    let mut other = a.plan.differences(&b.plan);
    other.retain(|what| !MAY_DIFFER.contains(what));
    if a.plan.stages != b.plan.stages {
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
    let attempts = |run: &Run| run.totals.attempts.max(1) as f64;
    let both = (one * attempts(a) + other * attempts(b)) / (attempts(a) + attempts(b));
    let deviation = (both * (1.0 - both) * (1.0 / attempts(a) + 1.0 / attempts(b))).sqrt();
    let apart = (one - other).abs();
    // So few that fail are no normal distribution.
    let several = apart * attempts(a).min(attempts(b)) >= SEVERAL;
    let beyond_chance = several && apart > LEAST.max(DEVIATIONS * deviation);
    beyond_chance.then(|| {
        format!(
            "they succeed differently ({} against {} of the attempts)",
            share(one),
            share(other)
        )
    })
}
