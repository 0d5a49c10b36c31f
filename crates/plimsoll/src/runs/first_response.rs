//! `--expect-body-like FIRST`: the response with which all others are compared, asked for before the load, one request after
//! another. Under load the first to come may be the page of errors that the others were to be told from.

use std::collections::BTreeSet;

use model::plan::EXPECT_FIRST;
use model::quote::counted;
use model::secret::mask_text;
use model::units::{SECOND, exact_duration};
use model::{Nanos, Plan, Run};

use crate::args::LoadArgs;
use crate::failure::{Failure, cannot_run};
use crate::load::prepared::Prepared;
use crate::runs::execute::execute;
use crate::terminal::live::{Live, waiting};
use measure::machine;

/// Requests for each endpoint of a mix: one of a sixteenth of the mean's weight comes among so many with 63 %.
const AN_ENDPOINT: u64 = 16;
/// Requests for all of them together at most.
const MOST: u64 = 512;
/// The time after which no further request is sent.
const WITHIN: Nanos = 5 * SECOND;
/// Endpoints without a first response that are listed by name.
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
    let requests = match prepared.input.endpoints() as u64 {
        0 | 1 => 1,
        many => (many * AN_ENDPOINT).min(MOST),
    };
    let launch = prepared.alone(requests, WITHIN)?;
    let environment = machine::environment(prepared.files);
    let what = waited_for(requests, &launch.plan);
    let run = waiting(quiet, &what, || execute(&launch, environment, &mut Live::new(true, false)))?;
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
    prepared.notices.push(found(&run));
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

/// What came, in one line.
fn found(run: &Run) -> String {
    let sent = counted(run.totals.attempts, "request");
    let endpoints = &run.plan.mix.endpoints;
    if endpoints.len() <= 1 {
        let kind = run.response_kinds.first().map(verdict::validity::kind_in_words);
        let kind = kind.unwrap_or_else(|| "the response".to_owned());
        return format!(
            "{sent} before the load: other responses must be like {}",
            mask_text(&kind)
        );
    }
    let seen: BTreeSet<u32> = run.response_kinds.iter().map(|kind| kind.endpoint).collect();
    let missing = (0..).zip(endpoints).filter(|(nth, _)| !seen.contains(nth));
    let missing: Vec<&str> = missing.map(|(_, endpoint)| endpoint.name.as_str()).collect();
    if missing.is_empty() {
        return format!(
            "{sent} before the load: other responses must be like the first of each endpoint"
        );
    }
    let more = missing.len().saturating_sub(MOST_NAMES);
    let more = match more {
        0 => String::new(),
        more => format!(" and {}", counted(more as u64, "other")),
    };
    let names = missing[..missing.len().min(MOST_NAMES)].join(", ");
    format!(
        "{sent} before the load: other responses must be like the first of each endpoint; {names}{more} had none \
         yet, so the first under load counts there"
    )
}
