//! Runs made by other commands than `run`, with the same flags each time: for a verification, for a notebook.

use std::ffi::OsString;
use std::path::Path;

use clap::Parser;
use model::{Plan, Run, Verdict};

use super::execute::{Extras, execute_sampled};
use super::prepare;
use crate::args::{Cli, Command, RunArgs};
use crate::failure::{Failure, cannot_run, usage};
use crate::load::input::LoadInput;
use crate::load::objectives::Objectives;
use crate::load::script_run::Steps;
use crate::load::shape::IdleWorkers;
use crate::load::tls;
use crate::profiles::endpoint::Endpoint;
use crate::profiles::stored;
use crate::profiles::taker::Taker;
use crate::results::deliver::mismatch;
use crate::results::output;
use crate::terminal::live::Live;
use crate::terminal::signals::stop_on_signal;
use measure::machine;

/// The flags of a run of this URL.
///
/// # Errors
/// When one is no flag of `run`, or has a wrong value.
pub fn arguments(url: &str, flags: &[String]) -> Result<RunArgs, Failure> {
    let words = ["plimsoll", "run", url].into_iter().chain(flags.iter().map(String::as_str));
    let words: Vec<OsString> = words.map(OsString::from).collect();
    match Cli::try_parse_from(&words) {
        Ok(Cli { command: Command::Run(args), .. }) => Ok(*args),
        Ok(_) => usage(format!("`{url}` is not a URL that can be measured")),
        Err(error) => usage(crate::args::familiar::in_one_line(&error, &words)),
    }
}

/// Makes a run, judges it, and keeps it in a folder with its profile if it is given one. A doubtful verdict is said.
///
/// # Errors
/// When it cannot be made, would differ from `like` in more than its URL, was interrupted, or cannot be kept.
pub fn make(args: &RunArgs, dir: Option<&Path>, like: Option<&Plan>) -> Result<Run, Failure> {
    let input = LoadInput::of(args.url.as_deref().unwrap_or_default(), &args.load)?;
    let shape = input.shape(&args.shape)?.shape();
    let objectives = Objectives::of(&args.objectives)?;
    let mut taker = match &args.take.profile {
        Some(url) => {
            Some(Taker::new(Endpoint::parse(url, &args.take.profile_header)?, shape.duration_ns)?)
        }
        None => None,
    };
    let prepared = prepare(input, &args.load, args.quiet)?;
    let stop = stop_on_signal()?;
    let (launch, notices) = prepared.level(shape, IdleWorkers::Refused, &stop)?;
    for notice in prepared.notices.iter().chain(&notices) {
        eprintln!("plimsoll: {notice}");
    }
    if let Some(like) = like {
        let differences = differences(like, &launch.plan);
        if !differences.is_empty() {
            return usage(format!(
                "the run can only be made with another {}: measure the server with the flags of the run, and compare its QPS",
                differences.join(", ")
            ));
        }
    }
    let (mut live, mut steps) = (Live::new(args.quiet), Steps::default());
    let environment = machine::environment(prepared.files);
    let extras = Extras { taker: taker.as_mut(), ..Extras::default() };
    let mut run = execute_sampled(&launch, environment, extras, &mut live, &mut steps)?;
    objectives.judge(&mut run);
    doubt(&run).iter().for_each(|doubt| eprintln!("plimsoll: {doubt}"));
    if let Some(why) = mismatch(&run, tls::is_used_at) {
        return cannot_run(why);
    }
    if run.interrupted {
        return Err(Failure::Interrupted(
            "interrupted: what was measured until then is not kept".to_owned(),
        ));
    }
    if run.totals.succeeded == 0 {
        let why = run.totals.error_samples.values().next().cloned().unwrap_or_default();
        return cannot_run(format!("no request succeeded: {}", model::secret::mask_text(&why)));
    }
    let Some(dir) = dir else { return Ok(run) };
    output::make_folder(dir)?;
    if !output::write_run(dir, &run) {
        return cannot_run(format!("the run in {} is not complete", dir.display()));
    }
    if let Some(taker) = taker {
        let taken = taker.finish(&run)?;
        taken.notices.iter().for_each(|notice| eprintln!("plimsoll: {notice}"));
        stored::write(dir, &taken)?;
        let (profiled, tree) = stored::write_page(dir)?;
        output::write_profiled_run(dir, &run, Some((&profiled, &tree)));
    }
    Ok(run)
}

/// In what two plans differ beyond their URLs.
fn differences(like: &Plan, plan: &Plan) -> Vec<&'static str> {
    let mut like = like.clone();
    if let (Some(tls), Some(now)) = (&mut like.tls, &plan.tls) {
        tls.sni.clone_from(&now.sni);
    }
    like.differences(plan)
}

/// What to say of a run whose rate may not be what it seems.
fn doubt(run: &Run) -> Option<String> {
    let validity = &run.validity;
    let reason = validity.reasons.first().filter(|_| validity.verdict != Verdict::Valid)?;
    Some(format!("this run is {}: {}", validity.verdict.name(), reason.text))
}
