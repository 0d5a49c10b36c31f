//! `profile whatif --verify URL`: the changed server, measured as the run was that the prediction came from.

use std::path::Path;

use clap::Parser;
use model::Run;
use model::profiled::{Verified, WhatIf};
use model::units::exact_duration;

use crate::args::{Cli, Command, RunArgs};
use crate::failure::{Failure, usage};
use crate::load::input::LoadInput;
use crate::profiles::stored::Stored;
use crate::runs::execute::execute;
use crate::runs::prepare;
use crate::secrets::mask_url;
use crate::terminal::live::Live;
use crate::terminal::signals::stop_on_signal;
use measure::machine;

/// Measures `url` and puts the rate beside the predicted one.
///
/// # Errors
/// When the run cannot be repeated from what is known of it, or not be carried out.
pub fn verify(dir: &Path, url: &str, what: &WhatIf) -> Result<Verified, Failure> {
    let before = Stored::run(dir)?;
    let run = measure(&arguments(&before, url)?)?;
    let qps = run.rates.requests_per_s;
    let within = |low: Option<f64>, high: Option<f64>| Some(low? <= qps && qps <= high?);
    Ok(Verified {
        url: mask_url(url),
        qps,
        inside: within(what.qps_low, what.qps_high).unwrap_or(false),
        error: what.qps_predicted.unwrap_or(0.0) / qps.max(f64::MIN_POSITIVE) - 1.0,
        verdict: run.validity.verdict,
    })
}

/// The flags of a run like this one. What a result does not keep (secrets, scripts, files) cannot be repeated.
fn arguments(run: &Run, url: &str) -> Result<RunArgs, Failure> {
    let plan = &run.plan;
    let plain = plan.method == "GET" && run.endpoints.is_empty() && plan.headers.is_empty();
    let (Some(duration), true) = (plan.duration_ns, plain) else {
        return usage(
            "--verify repeats plain GET requests only: measure the changed server with the flags of the run, and compare \
             its QPS with the prediction",
        );
    };
    let words = [
        "plimsoll".to_owned(),
        "run".to_owned(),
        url.to_owned(),
        "-c".to_owned(),
        plan.connections.to_string(),
        "-t".to_owned(),
        plan.threads.to_string(),
        "-d".to_owned(),
        exact_duration(duration),
        "--warmup".to_owned(),
        exact_duration(plan.warmup_ns),
    ];
    match Cli::try_parse_from(words) {
        Ok(Cli { command: Command::Run(args), .. }) => Ok(*args),
        _ => usage(format!("--verify: `{url}` is not a URL that can be measured")),
    }
}

fn measure(args: &RunArgs) -> Result<Run, Failure> {
    let input = LoadInput::of(args.url.as_deref().unwrap_or_default(), &args.load)?;
    let shape = input.shape(&args.shape)?.shape();
    let prepared = prepare(input, &args.load)?;
    let stop = stop_on_signal()?;
    let (launch, notices) = prepared.level(shape, false, &stop)?;
    for notice in prepared.notices.iter().chain(&notices) {
        eprintln!("plimsoll: {notice}");
    }
    let mut live = Live::new(false, false);
    execute(&launch, machine::environment(prepared.files), &mut live)
}
