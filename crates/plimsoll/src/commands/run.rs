//! `plimsoll run`: one load.
//!
//! Owns the command: from flags to what is printed, the files, and the exit code. Carrying the load out is
//! [`crate::measure::execute`]'s, going on with the pools of an earlier run [`mod@resume`]'s.

mod resume;

use std::path::{Path, PathBuf};

use model::Run;

use crate::args::{Format, RunArgs};
use crate::failure::{Failure, cannot_run, usage};
use crate::load::cursors;
use crate::load::objectives::{Objectives, watch};
use crate::load::resolve::{Prepared, Shape, check_ramp, check_shape, threads};
use crate::load::script_run::{ScriptRun, Steps};
use crate::load::sent::Sent;
use crate::load::settings::{Origin, Settings, ShapeSettings};
use crate::load::tls;
use crate::machine::environment;
use crate::measure::execute::{JournalIn, execute_sampled};
use crate::results::consent;
use crate::results::lock::Lock;
use crate::results::output;
use crate::terminal::live::Live;
use crate::terminal::signals::stop_on_signal;

/// Runs the command; the exit code.
///
/// # Errors
/// When the load could not be made.
pub fn run(args: &RunArgs) -> Result<u8, Failure> {
    match &args.resume {
        Some(dir) => resume::resume(dir, args),
        None => {
            let sent = Sent::of(args.url.as_deref().unwrap_or_default(), &args.load)?;
            carry_out(args, sent, |sent| {
                let made = args.out.as_deref().filter(|dir| writable(dir));
                let lock = made.map(Lock::of_folder).transpose()?;
                if let Some(dir) = made
                    && cursors::begin(dir, sent)?
                {
                    consent::keep(dir, sent, &args.load);
                }
                Ok(Folder {
                    asked: args.out.is_some(),
                    made: made.map(Path::to_owned),
                    _lock: lock,
                })
            })
        }
    }
}

/// Where a run's files go.
struct Folder {
    asked: bool,
    /// None where it cannot be written to.
    made: Option<PathBuf>,
    _lock: Option<Lock>,
}

/// Makes the run; `folder` is asked for once the load is known to be one.
fn carry_out(
    args: &RunArgs,
    sent: Sent,
    folder: impl FnOnce(&Sent) -> Result<Folder, Failure>,
) -> Result<u8, Failure> {
    let shape = ShapeSettings::of_sent(&args.shape, &sent)?.shape();
    refuse_contradictions(&sent.settings, shape)?;
    check_shape(shape)?;
    threads(args.load.threads, shape.connections, false)?;
    let objectives = Objectives::of(&args.objectives)?.or_written(&sent)?;
    let watch = watch(&args.abort, shape.rate_per_s.is_some())?;
    let mut prepared = Prepared::of(sent, &args.load)?;
    prepared.on_course = true;
    prepared.print_for_people(args.format != Format::Json);
    let stop = stop_on_signal()?;
    let (launch, notices) = prepared.level(shape, false, &stop)?;
    for notice in prepared.notices.iter().chain(&notices) {
        eprintln!("plimsoll: {notice}");
    }
    let folder = folder(&prepared.sent)?;
    let mut live = Live::new(args.quiet, shape.rate_per_s.is_some());
    let environment = environment::read(prepared.files);
    let mut steps = Steps::default();
    let made = folder.made.as_deref();
    let journal = made.map(|dir| JournalIn { dir, objectives: objectives.names() });
    let run = execute_sampled(&launch, environment, journal, &mut live, watch, &mut steps);
    let mut run = run?;
    objectives.judge(&mut run);
    prepared.script.iter().for_each(ScriptRun::flush);
    let code = deliver(&run, args.format, args.latency, made, tls::spoken_at)?;
    let told = objectives.tell(&run);
    if let Some(script) = &prepared.script {
        script.end(&run, &steps)?;
    }
    Ok(if (folder.asked && made.is_none() || !told) && code == 0 { 1 } else { code })
}

/// Whether results can be written to `dir`. If not it says so, and the run is made all the same: its
/// result is still printed.
fn writable(dir: &Path) -> bool {
    let made = output::make_folder(dir);
    if let Err(failure) = &made {
        eprintln!("plimsoll: {failure}; the result is printed only");
    }
    made.is_ok()
}

/// Prints a run, writes its files, and says how the command ends. `speaks_tls` tells whether TLS is spoken at an address.
///
/// # Errors
/// When nothing was answered because the URL's scheme is not what the server speaks. Never because of
/// a file that cannot be written: the result is printed all the same.
pub fn deliver(
    run: &Run,
    format: Format,
    latency: bool,
    out: Option<&Path>,
    speaks_tls: fn(&str) -> bool,
) -> Result<u8, Failure> {
    let printed = output::print_run(run, format, latency);
    let written = out.is_none_or(|dir| output::write_run(dir, run));
    if let Some(advice) = other_scheme(run) {
        return cannot_run(advice);
    }
    // Many servers answer a request in the clear on a port of TLS, in the clear.
    if run.plan.tls.is_none() && run.totals.statuses.keys().eq(&[400]) {
        if run.plan.addresses.first().is_some_and(|address| speaks_tls(address)) {
            return cannot_run(format!("{}: {}", run.plan.url, engine::SPEAKS_TLS));
        }
        eprintln!(
            "plimsoll: every answer was 400: if the server speaks TLS on this port, use https://"
        );
    }
    if let Some(why) = &run.halted {
        eprintln!("plimsoll: {why}; the result is that of the run so far");
    }
    let code = verdict::exit_code(run);
    Ok(if printed && written || code != 0 { code } else { 1 })
}

/// What to do when nothing was answered because one side spoke TLS and the other did not.
fn other_scheme(run: &Run) -> Option<String> {
    let samples = run.totals.error_samples.values();
    let told = samples.map(String::as_str).find(|sample| {
        [engine::SPEAKS_NO_TLS, engine::SPEAKS_TLS].contains(sample) && run.totals.requests == 0
    })?;
    Some(format!("{}: {told}", run.plan.url))
}

/// What a kind of loop has no use for.
///
/// # Errors
/// When it was asked for all the same.
pub fn refuse_contradictions(settings: &Settings, shape: Shape) -> Result<(), Failure> {
    let open = shape.rate_per_s.is_some();
    if open && (settings.pace_ns.value.is_some() || settings.think_ns.value.is_some()) {
        return usage("--pace and --think belong to a closed loop: leave -R out, or them");
    }
    if !open && settings.arrivals.origin != Origin::Default {
        return usage("--arrivals belongs to an open loop: give its rate with -R");
    }
    check_ramp(settings, shape)
}
