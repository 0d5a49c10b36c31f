//! Whether runs are like enough for a judgement.

use model::{Run, Verdict};

use crate::figures::grouped;

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
    (load(a) != load(b)).then(|| format!("their loads differ ({} against {})", load(a), load(b)))
}
