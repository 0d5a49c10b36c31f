//! `--expect-body-like FIRST`: gets the response with which all others are compared, before the load, by one request after
//! another. Under load, the first response might be the very error page that the comparison should detect.

use std::collections::BTreeMap;

use model::plan::EXPECT_FIRST;
use model::quote::counted;
use model::secret::mask_text;
use model::units::{SECOND, exact_duration};
use model::{Nanos, Plan, ResponseKind, Run};

use crate::args::LoadArgs;
use crate::failure::{Failure, cannot_run};
use crate::load::prepared::Prepared;
use crate::runs::execute::execute;
use crate::terminal::live::{Live, waiting};
use measure::machine;

/// Requests for each endpoint of a mix: one of a sixteenth of the mean's weight comes among this many with 63 %.
const AN_ENDPOINT: u64 = 16;
/// Requests for all of them together at most.
const MOST: u64 = 512;
/// The time after which no further request is sent.
const WITHIN: Nanos = 5 * SECOND;
/// Endpoints that are listed by name, with their first response or without one.
const MOST_NAMES: usize = 5;

/// Asks for the first responses of a load, if others are to be compared with them. What was asked and what came is
/// added to the notices.
///
/// # Errors
/// When no response came that others could be compared with.
pub fn ask(prepared: &mut Prepared, args: &LoadArgs, quiet: bool) -> Result<(), Failure> {
    if args.expect_body_like.as_deref() != Some(EXPECT_FIRST) {
        return Ok(());
    }
    let requests = match prepared.input.endpoints().len() as u64 {
        0 | 1 => 1,
        many => (many * AN_ENDPOINT).min(MOST),
    };
    let launch = prepared.alone(requests, WITHIN)?;
    let environment = machine::environment(prepared.files);
    let what = waited_for(requests, &launch.plan);
    let run = waiting(quiet, &what, || execute(&launch, environment, &mut Live::quiet()))?;
    if run.totals.attempts == 0 {
        let unsent = "no request was due before the load: the first response under load counts";
        prepared.notices.push(format!("--expect-body-like {EXPECT_FIRST}: {unsent}"));
        return Ok(());
    }
    if run.totals.succeeded == 0 {
        return cannot_run(format!(
            "--expect-body-like {EXPECT_FIRST}: nothing to compare responses with: of {} before the load, {}",
            counted(run.totals.attempts, "request"),
            why_none(&run)
        ));
    }
    prepared.notices.extend(found(&run));
    Ok(())
}

/// What is waited for, and for how long at most.
fn waited_for(requests: u64, plan: &Plan) -> String {
    let what = if requests == 1 { "the response" } else { "the responses" };
    let each = if requests == 1 { "" } else { "each " };
    let longest = exact_duration(plan.timeout_ns);
    format!("waiting for {what} that others are compared with, {each}up to {longest} (-T)")
}

/// Why none of the responses will do.
fn why_none(run: &Run) -> String {
    match run.totals.error_samples.values().next() {
        Some(sample) => format!("none succeeded: {}", mask_text(sample)),
        None => "none had a response".to_owned(),
    }
}

/// What came, and whether others should be like it.
fn found(run: &Run) -> Vec<String> {
    let sent = counted(run.totals.attempts, "request");
    let mut firsts: BTreeMap<u32, &ResponseKind> = BTreeMap::new();
    for kind in &run.response_kinds {
        firsts.entry(kind.endpoint).or_insert(kind);
    }
    let endpoints = &run.plan.mix.endpoints;
    let mut notices = if endpoints.len() <= 1 {
        let kind = firsts.values().next().map(|kind| words(kind));
        let kind = kind.unwrap_or_else(|| "the response".to_owned());
        vec![format!("{sent} before the load: other responses must be like {kind}")]
    } else {
        let missing = (0..).zip(endpoints).filter(|(nth, _)| !firsts.contains_key(nth));
        let missing: Vec<&str> = missing.map(|(_, endpoint)| endpoint.name.as_str()).collect();
        let no_first = match missing.is_empty() {
            true => String::new(),
            false => {
                let names = listed(&missing, ", ");
                format!("; {names} had none yet, so the first under load counts there")
            }
        };
        let like = "other responses must be like the first of each endpoint";
        let mut lines = vec![format!("{sent} before the load: {like}{no_first}")];
        lines.extend(of_endpoints(run, &firsts));
        lines
    };
    notices.extend(firsts.values().find_map(|kind| doubt(kind)));
    notices
}

/// The first response of each endpoint, those first that should not be what others are like.
fn of_endpoints(run: &Run, firsts: &BTreeMap<u32, &ResponseKind>) -> Option<String> {
    let mut firsts: Vec<&ResponseKind> = firsts.values().copied().collect();
    firsts.sort_by_key(|kind| verdict::seems_unwanted(kind).is_none());
    let each = firsts.into_iter().filter_map(|kind| {
        let endpoint = run.plan.mix.endpoints.get(kind.endpoint as usize)?;
        let seems = verdict::seems_unwanted(kind).map(|seems| format!(", which {seems}"));
        Some(format!("{}: {}{}", endpoint.name, words(kind), seems.unwrap_or_default()))
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| listed(&each, "; "))
}

/// Some of these, and how many others there are.
fn listed<S: AsRef<str>>(all: &[S], between: &str) -> String {
    let shown: Vec<&str> = all.iter().take(MOST_NAMES).map(AsRef::as_ref).collect();
    let more = match all.len().saturating_sub(MOST_NAMES) {
        0 => String::new(),
        more => format!(" and {}", counted(more as u64, "other")),
    };
    shown.join(between) + &more
}

/// A response, nothing secret in it.
fn words(kind: &ResponseKind) -> String {
    mask_text(&verdict::validity::kind_in_words(kind))
}

/// What to do where the response is none that others should be like.
fn doubt(kind: &ResponseKind) -> Option<String> {
    let seems = verdict::seems_unwanted(kind)?;
    Some(format!(
        "--expect-body-like {EXPECT_FIRST}: the response that others must be like {seems}. If it is not a good one, good ones will \
         fail: end this and say what they contain (--expect-body-like TEXT, `checks` in a workload file)"
    ))
}
