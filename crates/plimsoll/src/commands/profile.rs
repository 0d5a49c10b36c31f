//! `plimsoll profile`: what a server spends its time on, whose code that is, and what a change would bring.
//!
//! Owns which profile is read and what is printed. The crate `profile` does the analysis.

mod verify;

use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use model::profiled::WhatIf;
use profile::compare::compare;
use profile::whatif::{Start, whatif as predict};
use profile::{Filter, Form, Granularity, Listing, Wanted};

use crate::args::{
    GranularityArg, ProfileArgs, ProfileCommand, ProfileDiffArgs, TextOrJson, ValueArgs, WhatIfArgs,
};
use crate::failure::{Failure, cannot_run, usage};
use crate::profiles::endpoint::LONGEST_S;
use crate::profiles::stored::Stored;
use crate::results::output;
use verdict::blocks::Figure;

/// Exit code where nothing could be predicted.
const REFUSED: u8 = 98;

/// Runs the command; the exit code.
///
/// # Errors
/// When a profile cannot be read or fetched, or the command line is wrong.
pub fn profile(args: &ProfileArgs) -> Result<u8, Failure> {
    match &args.command {
        Some(ProfileCommand::Whatif(args)) => return whatif(args),
        Some(ProfileCommand::Diff(args)) => return diff(args),
        None => {}
    }
    let filter = filter(&args.values)?;
    let source = args.source.as_deref().unwrap_or_default();
    let mut stored = Stored::open(source, args.seconds.clamp(1, LONGEST_S), &args.profile_header)?;
    let form = match (args.tree, &args.peek) {
        _ if args.top => Some(Form::Top),
        (true, _) => Some(Form::Tree),
        (_, Some(_)) => Some(Form::Peek),
        _ => None,
    };
    if let Some(form) = form {
        return list(args, stored, filter, form);
    }
    if args.cum || args.nodecount.is_some() || args.granularity != GranularityArg::Function {
        return usage("--cum, --nodecount and --granularity go with --top, --tree or --peek");
    }
    let sample_index = args.values.sample_index.as_deref();
    let profiled = stored.costs(sample_index, &args.values.own, &filter)?;
    if let Some(page) = &args.page {
        let kind = stored.kind(sample_index).expect("as before");
        let tree = profile::flame(&stored.profile, kind, &args.values.own);
        write_page(page, &report::html::profiled(&profiled, &tree))?;
    }
    let printed = match args.format {
        TextOrJson::Json => output::print(&(output::json(&profiled) + "\n")),
        TextOrJson::Text => output::print(&report::profiled::text(&profiled, output::style())),
    };
    Ok(u8::from(!printed))
}

fn filter(args: &ValueArgs) -> Result<Filter, Failure> {
    let [focus, ignore, hide, show] = [&args.focus, &args.ignore, &args.hide, &args.show];
    Filter::new(focus.as_deref(), ignore.as_deref(), hide.as_deref(), show.as_deref())
        .or_else(|error| usage(error.to_string()))
}

fn list(args: &ProfileArgs, stored: Stored, filter: Filter, form: Form) -> Result<u8, Failure> {
    let source = stored.source;
    stored.profile.notes.iter().for_each(|note| eprintln!("plimsoll: {note}"));
    let time = local_time(stored.profile.time_ns);
    let wanted = Wanted {
        kind: args.values.sample_index.clone(),
        cum: args.cum,
        nodes: args.nodecount.map(|nodes| usize::try_from(nodes).unwrap_or(usize::MAX)),
        granularity: match args.granularity {
            GranularityArg::Function => Granularity::Function,
            GranularityArg::Line => Granularity::Line,
            GranularityArg::File => Granularity::File,
        },
        filter,
        time,
    };
    let listing = match Listing::new(stored.profile, &wanted, form) {
        Ok(listing) => listing,
        Err(error) => return usage(format!("{source}: {error}")),
    };
    for name in &listing.missed {
        eprintln!("plimsoll: --{name} matched nothing");
    }
    let text = match form {
        Form::Top => listing.top(),
        Form::Tree | Form::Peek => match listing.tree(args.peek.as_deref()) {
            Ok(text) => text,
            Err(error @ profile::Error::Pattern { .. }) => return usage(error.to_string()),
            Err(error) => return cannot_run(format!("{source}: {error}")),
        },
    };
    Ok(u8::from(!output::print(&text)))
}

/// A profile's time in this machine's zone, as pprof writes it.
fn local_time(time_ns: i64) -> Option<String> {
    let time = Timestamp::from_nanosecond(i128::from(time_ns)).ok()?;
    let zoned = time.to_zoned(TimeZone::system());
    Some(zoned.strftime("%Y-%m-%d %H:%M:%S %Z").to_string())
}

fn whatif(args: &WhatIfArgs) -> Result<u8, Failure> {
    let mut what = predicted(args)?;
    if let (Some(url), None) = (&args.verify, &what.refused) {
        what.verified = Some(verify::verify(&args.dir, url, &what)?);
    }
    let printed = match args.format {
        TextOrJson::Json => output::print(&(output::json(&what) + "\n")),
        TextOrJson::Text => output::print(&report::profiled::whatif(&what, output::style())),
    };
    Ok(match (printed, &what.refused) {
        (false, _) => 1,
        (true, Some(_)) => REFUSED,
        (true, None) => 0,
    })
}

/// Predicts from a run's profile.
///
/// # Errors
/// When the folder holds no profile, or a function is not in it.
pub fn predicted(args: &WhatIfArgs) -> Result<WhatIf, Failure> {
    let mut stored = Stored::of_run(&args.dir)?;
    let run = Stored::run(&args.dir)?;
    let profiled = stored.costs(None, &args.own, &Filter::default())?;
    let kind = stored.kind(None).expect("as before");
    let window = stored.window.as_ref().expect("a run's profile has one");
    let start = Start {
        taken: stored.taken(kind, &args.own),
        profiled: &profiled,
        asked: &args.functions,
        stay: &args.keep,
        qps: run.rates.requests_per_s,
        qps_error: rate_error(&run),
        processors: args.processors.or(window.processors),
        refused: refusal(&run, &profiled.value.kind).or_else(|| stored.mismatch()),
        ceiling: run.generator.ceiling.as_ref().map(|ceiling| ceiling.requests_per_s),
    };
    predict(&start).or_else(|error| usage(format!("{}: {error}", args.dir.display())))
}

/// The standard error of a run's rate, as a share; 0 where the run is too short for one.
fn rate_error(run: &model::Run) -> f64 {
    let blocks = verdict::blocks::blocks(run).unwrap_or_default();
    let interval = verdict::blocks::interval(&blocks, Figure::Qps, 0.95);
    let half = interval.map_or(0.0, |found| (found.high - found.low) / 2.0);
    half / 1.96 / run.rates.requests_per_s.max(1.0)
}

/// Why a run allows no prediction, whatever its profile says.
fn refusal(run: &model::Run, kind: &str) -> Option<String> {
    if kind != "cpu" {
        return Some(format!("the profile is of {kind}, not of the processor's time"));
    }
    if run.plan.rate_per_s.is_some() {
        return Some(
            "the run was at a fixed rate, so its QPS is what was sent, not what the server can do: run it with -c".to_owned(),
        );
    }
    if run.validity.verdict == model::Verdict::Invalid {
        let why = run.validity.reasons.first().map_or("", |reason| reason.text.as_str());
        return Some(format!("the run is INVALID: {why}"));
    }
    let (others, cores) = verdict::explain::neighbours(run)
        .filter(|(others, cores)| *others >= NEIGHBOURS * cores)?;
    Some(format!(
        "others used {others:.2} of the machine's {cores} processors, and none were left: the QPS is what they left to the \
         server; end them, and run it again"
    ))
}

/// The share of a used up machine that others must use for a run on it to tell nothing of the server: as much as a
/// server may leave idle whose processors are its limit.
const NEIGHBOURS: f64 = 0.15;

fn diff(args: &ProfileDiffArgs) -> Result<u8, Failure> {
    let (before, after) = (Stored::of_run(&args.before)?, Stored::of_run(&args.after)?);
    for stored in [&before, &after] {
        if let Some(mismatch) = stored.mismatch() {
            eprintln!("plimsoll: {}: {mismatch}", stored.source);
        }
    }
    let [before, after] = [before.taken_by_default(&args.own)?, after.taken_by_default(&args.own)?];
    let diff = compare(&before, &after).or_else(|error| cannot_run(error.to_string()))?;
    let Some(diff) = diff else {
        return cannot_run(
            "profiles are compared per completed request: both must be of the processor's time and taken in a run \
             (`plimsoll run URL --profile URL --out DIR`)",
        );
    };
    if let Some(page) = &args.page {
        let tree = profile::flame_of_change(&before, &after).expect("what compares is drawn");
        write_page(page, &report::html::profile_diff(&diff, &tree))?;
    }
    let printed = match args.format {
        TextOrJson::Json => output::print(&(output::json(&diff) + "\n")),
        TextOrJson::Text => output::print(&report::profiled::diff(&diff, output::style())),
    };
    Ok(u8::from(!printed))
}

fn write_page(page: &Path, html: &str) -> Result<(), Failure> {
    output::write_file(page, html.as_bytes())
        .or_else(|error| cannot_run(format!("cannot write {}: {error}", page.display())))
}
