//! `plimsoll capacity`: the highest rate, or concurrency, that holds the objectives.
//!
//! Owns the command: flags to settings, runs to judgements, files and words. `verdict::capacity` chooses
//! the next step and evaluates all of them; [`crate::runs::execute`] makes a step's run. Data
//! flows from [`mod@runner`] (steps one after another) into [`files`] after every step.

mod files;
mod resume;
mod runner;

use std::path::{Path, PathBuf};

use model::capacity::{CapacitySearch, Outcome, SCHEMA, Settings, UsersOfLoad};
use model::units::{MILLISECOND, SECOND, exact_duration};
use model::{Arrivals, Arriving, Finding, LevelKind, Nanos, Ruling, Run};
use verdict::capacity::{Ending, SearchObjectives, words};
use verdict::exit::{COULD_NOT_RUN, DONE, INTERRUPTED, NOT_BELIEVABLE, OBJECTIVES_MISSED};
use verdict::objective::LEAST_FOR_STABILITY;

use crate::args::{CapacityArgs, CapacityFormat};
use crate::built_in_api::BuiltIn;
use crate::failure::{Failure, usage};
use crate::load::cursors;
use crate::load::input::LoadInput;
use crate::load::objectives;
use crate::load::settings::{Origin, Setting, Settings as LoadSettings};
use crate::load::shape::Shape;
use crate::profiles::stored::ProfileInto;
use crate::results::claim::{Kind, claim_free};
use crate::results::consent;
use crate::results::folder::{PARENT, folder_name, remove_if_empty, unused};
use crate::results::output;
use crate::runs::prepare;
use crate::secrets;
use crate::terminal::signals::stop_on_signal;
use measure::clock::now_rfc3339;

pub use files::{CAPACITY_JSON, SEARCH_JSON, STEPS};

use files::Files;
use runner::{End, SearchRunner};

/// The whole search, by default.
const BUDGET: Nanos = 300 * SECOND;
/// The whole search of the built-in API.
const BUILT_IN_BUDGET: Nanos = 60 * SECOND;
/// Causes that are listed of what limits the server, at most.
const MOST_CAUSES: usize = 3;
/// The shortest search that can find anything.
const LEAST_BUDGET: Nanos = 10 * SECOND;

/// Steps that a search takes, about: where each needs a longer warm-up, the budget is that much longer.
const USUAL_STEPS: u64 = 12;

/// Runs the command; the exit code.
///
/// # Errors
/// When no step could be run.
pub fn capacity(args: &CapacityArgs) -> Result<u8, Failure> {
    match &args.resume {
        Some(dir) => resume::resume(dir, args),
        None => start(args),
    }
}

fn start(args: &CapacityArgs) -> Result<u8, Failure> {
    let built_in = args.url.is_none();
    let mut settings = settings(args, built_in)?;
    objectives::read("--slo", &args.slo)?;
    let dir = folder(args)?;
    let built_in = if built_in { Some(BuiltIn::start()?) } else { None };
    let url = args.url.as_deref().or(built_in.as_ref().map(BuiltIn::url)).unwrap_or_default();
    let mut input = LoadInput::of(url, &args.load)?;
    settings.arriving = input.arriving();
    let longer_ns = warmup(settings.step_ns, &input) - settings.warmup_ns;
    settings.warmup_ns += longer_ns;
    if args.budget.is_none() {
        settings.budget_ns = settings.budget_ns.saturating_add(USUAL_STEPS * longer_ns);
    }
    settings.arrivals = arrivals(&mut input, settings.kind, Arrivals::Poisson);
    let asked = asked(args, &input, &settings)?;
    // A length that the user chose stays.
    settings.hold_attempts =
        if args.hold.is_some() { 0 } else { asked.hold_attempts(input.endpoints()) };
    let users = users_of_load(args, &input)?;
    let wanted = wanted(args, &input);
    let record = CapacitySearch {
        users_of_load: users,
        wanted_per_s: wanted,
        ..empty(url, settings, asked.names())
    };
    let runner = runner(input, args, settings, asked)?;
    let files = Files::new(&dir)?;
    consent::keep(&dir, runner.prepared.input.files(&args.load));
    if cursors::begin(&dir, &runner.prepared.input)? {
        // What is killed in its first step goes on too.
        files.write_record(&record);
    }
    let ended = carry_out(&runner, record, &files, args.format, built_in.as_ref());
    drop(files);
    if args.out.is_none() {
        remove_if_empty(&dir.join(STEPS));
    }
    ended
}

/// The warm-up of a step of this length: longer where flag or file say what the server needs to be warm, or over
/// which time the load grows.
fn warmup(step_ns: Nanos, input: &LoadInput) -> Nanos {
    let LoadSettings { warmup_ns, ramp_ns, .. } = &input.settings;
    tenth(step_ns).max(warmup_ns.value).max(ramp_ns.value)
}

/// What a rest or a warm-up lasts of itself.
fn tenth(step_ns: Nanos) -> Nanos {
    (step_ns / 10).clamp(200 * MILLISECOND, 5 * SECOND)
}

/// How the arrivals of a search are spaced: as flag or file say, else by `default`. Users do not come
/// evenly, so unlike a run a search sends at random by default: evenly spaced arrivals
/// would find a capacity that users never get.
fn arrivals(input: &mut LoadInput, kind: LevelKind, default: Arrivals) -> Option<Arrivals> {
    let setting = &mut input.settings.arrivals;
    if setting.origin == Origin::Default {
        *setting = Setting { value: default, origin: Origin::Default };
    }
    (kind == LevelKind::Rate).then_some(setting.value)
}

/// The users that the load is of: as the workload file says, or else the flag, and the rate that the file gives them.
fn users_of_load(args: &CapacityArgs, input: &LoadInput) -> Result<Option<UsersOfLoad>, Failure> {
    let Some(daily_users) = input.daily_users().or(args.dau_now) else { return Ok(None) };
    if let Some(other) = args.dau_now.filter(|now| *now != daily_users) {
        eprintln!(
            "plimsoll: the rates of the workload file are those of {daily_users} daily users (its daily_users), and are \
             counted as such: --dau-now {other} changes nothing"
        );
    }
    match input.rate_of_file().filter(|rate| *rate > 0.0) {
        Some(scaled) if daily_users > 0 && !args.closed => {
            let rate_per_s = scaled / args.load.scale.unwrap_or(1.0);
            Ok(Some(UsersOfLoad { daily_users, rate_per_s }))
        }
        _ if args.dau_now.is_none() => Ok(None),
        _ => usage(
            "--dau-now needs a workload file whose requests have rates, as `plimsoll mine` writes it, and a \
             number above 0; it does not go with --closed",
        ),
    }
}

/// The arrivals per second that the workload file asks for, at the scale given.
fn wanted(args: &CapacityArgs, input: &LoadInput) -> Option<f64> {
    input.rate_of_file().filter(|rate| *rate > 0.0 && !args.closed)
}

/// What `--slo` says, or else the workload file.
fn asked(
    args: &CapacityArgs,
    input: &LoadInput,
    settings: &Settings,
) -> Result<SearchObjectives, Failure> {
    let flags = objectives::read("--slo", &args.slo)?;
    let asked = SearchObjectives::of(objectives::of_load(flags, input)?);
    if asked.asks_for_stability() && settings.hold_ns < LEAST_FOR_STABILITY {
        return usage(format!(
            "--slo stable: dips can be found from {} on: give --hold {0}, or a longer --budget",
            exact_duration(LEAST_FOR_STABILITY)
        ));
    }
    Ok(asked)
}

fn runner(
    mut input: LoadInput,
    args: &CapacityArgs,
    settings: Settings,
    asked: SearchObjectives,
) -> Result<SearchRunner, Failure> {
    input.settings.check_pauses(settings.kind == LevelKind::Rate)?;
    ProfileInto::check(&args.take, settings.step_ns.max(settings.hold_ns), "--step 4s")?;
    // Each step has its own, into which the ramp fits.
    input.settings.warmup_ns.value = settings.warmup_ns.max(input.settings.ramp_ns.value);
    let mut prepared = prepare(input, &args.load, args.quiet)?;
    prepared.print_for_people(args.format == CapacityFormat::Text);
    prepared.notices.iter().for_each(|notice| eprintln!("plimsoll: {notice}"));
    let sources = args.observe.sources(prepared.input.sources())?;
    let (stop, quiet, take) = (stop_on_signal()?, args.quiet, args.take.clone());
    Ok(SearchRunner { prepared, settings, asked, sources, stop, quiet, take })
}

/// What the flags mean.
fn settings(args: &CapacityArgs, built_in: bool) -> Result<Settings, Failure> {
    refuse_contradictions(args)?;
    let kind = if args.closed { LevelKind::Concurrency } else { LevelKind::Rate };
    let budget_ns = args.budget.unwrap_or(if built_in { BUILT_IN_BUDGET } else { BUDGET });
    let tenths = |ns: Nanos| ns / (100 * MILLISECOND) * 100 * MILLISECOND;
    let step_ns = args.step.unwrap_or(tenths(budget_ns / 30).clamp(SECOND, 30 * SECOND));
    let hold_ns = args.hold.unwrap_or((budget_ns / 5).max(step_ns));
    // A hold may be cut to half its length.
    if step_ns.saturating_add(hold_ns / 2) >= budget_ns {
        return usage(format!(
            "--budget {}: a step of {} and a hold of {} do not fit into it",
            exact_duration(budget_ns),
            exact_duration(step_ns),
            exact_duration(hold_ns)
        ));
    }
    let connections = u32::try_from(args.connections).unwrap_or(u32::MAX);
    Ok(Settings {
        kind,
        arriving: Arriving::default(),
        arrivals: None,
        connections,
        most: args.max,
        precision: args.precision,
        step_ns,
        hold_ns,
        hold_attempts: 0,
        warmup_ns: tenth(step_ns),
        rest_ns: args.rest.unwrap_or(tenth(step_ns)),
        budget_ns,
    })
}

fn refuse_contradictions(args: &CapacityArgs) -> Result<(), Failure> {
    let most = args.connections;
    Shape { connections: most, rate_per_s: None, duration_ns: None, requests: None }.check()?;
    if !args.closed && (args.load.pace.is_some() || args.load.think.is_some()) {
        return usage(
            "--pace and --think belong to a closed loop: add --closed, or leave them out",
        );
    }
    if args.closed && args.load.arrivals.is_some() {
        return usage("--arrivals belongs to an open loop: leave out either it or --closed");
    }
    if args.budget.is_some_and(|budget| budget < LEAST_BUDGET) {
        return usage("--budget: a search needs 10s at least");
    }
    if args.step == Some(0) || args.hold == Some(0) {
        return usage("--step and --hold must be above zero");
    }
    if !(0.005..=0.5).contains(&args.precision) {
        return usage("--precision: from 0.5% to 50%");
    }
    if args.closed && args.max.is_some_and(|most| most < 1.0) {
        return usage("--max: at least one connection");
    }
    Ok(())
}

/// A search before its first step.
fn empty(url: &str, settings: Settings, objectives: Vec<String>) -> CapacitySearch {
    CapacitySearch {
        schema: SCHEMA.to_owned(),
        plimsoll: model::environment::Program { version: env!("CARGO_PKG_VERSION").to_owned() },
        url: secrets::mask_url(url),
        started_at: now_rfc3339(),
        command: secrets::command(),
        settings,
        objectives,
        users_of_load: None,
        wanted_per_s: None,
        steps: Vec::new(),
        outcome: None,
        ended: None,
        load_line: None,
        limited_by: Vec::new(),
    }
}

/// Runs the steps, writes and prints what they came to, and says how the command ends.
fn carry_out(
    runner: &SearchRunner,
    mut record: CapacitySearch,
    files: &Files,
    format: CapacityFormat,
    built_in: Option<&BuiltIn>,
) -> Result<u8, Failure> {
    let end = runner.run(&mut record, files)?;
    let search = verdict::capacity::Search::of_record(&record);
    let ending = match end {
        End::Over(ending) => Some(ending),
        End::Interrupted | End::Halted => None,
    };
    let run = search.answer().and_then(|answer| files.read_run(record.steps.get(answer.step)?));
    record.load_line = line(&search, &runner.asked, &record, run.as_ref());
    let resumed = output::typed(&["plimsoll", "capacity", "--resume"], files.dir());
    let resumed = built_in.is_none().then_some(resumed.as_str());
    let onward = verdict::capacity::onward(&search, ending, resumed);
    record.limited_by = limited_by(&search, &record, files, &onward);
    let throughput =
        record.load_line.as_ref().map(|line| runner.asked.throughput(line)).unwrap_or_default();
    let mut reading = words::read(&search, ending);
    if let Some(users) = record.load_line.as_ref().and_then(words::daily_users) {
        reading.outcome += &format!(". It {users}");
    }
    if let Some(line) = &record.load_line
        && let Some(short) = words::throughput(&throughput, line)
    {
        reading.outcome += &format!(". {short}");
    }
    record.outcome = ending.map(|_| reading.outcome.clone());
    let written = files.write(&record, &reading, run.as_ref());
    let text = match format {
        CapacityFormat::Json => output::json(&record) + "\n",
        CapacityFormat::Text => {
            let more = verdict::capacity::going_on(&search, ending).zip(resumed);
            let apart = more.as_ref().map(|_| with_going_on_apart(&record, &search, ending, files));
            let shown = apart.as_ref().unwrap_or(&record);
            let text = report::capacity::text(shown, &reading, output::style());
            let found = record.load_line.as_ref().map(|line| line.rate_per_s);
            let truth = built_in.map(|built_in| built_in.beside_truth(found)).unwrap_or_default();
            let more = more.map(|(more, resumed)| format!("to go on: {resumed}{more}\n"));
            let report = output::report_line(&files.report(), written);
            format!("{text}{truth}{report}{}", more.unwrap_or_default())
        }
    };
    let printed = output::print(&text);
    let code = match end {
        End::Halted => COULD_NOT_RUN,
        _ => exit_code(ending, &record, &throughput),
    };
    Ok(if code == DONE && !(written && printed) { COULD_NOT_RUN } else { code })
}

/// The search as a terminal is shown it above a line on how to go on: the advice has that command too, and there a break at
/// the terminal's width would cut it.
fn with_going_on_apart(
    record: &CapacitySearch,
    search: &verdict::capacity::Search,
    ending: Option<Ending>,
    files: &Files,
) -> CapacitySearch {
    let onward = verdict::capacity::onward(search, ending, None);
    CapacitySearch { limited_by: limited_by(search, record, files, &onward), ..record.clone() }
}

/// Prints the search in a folder again as far as it got, and writes its page; the exit code.
///
/// # Errors
/// When the folder holds no search that can be read.
pub fn report(dir: &Path, format: CapacityFormat) -> Result<u8, Failure> {
    let record = resume::load(dir)?;
    let search = verdict::capacity::Search::of_record(&record);
    let ending = record.outcome.as_ref().and_then(|_| ended(&search));
    let mut reading = words::read(&search, ending);
    if let Some(outcome) = &record.outcome {
        reading.outcome.clone_from(outcome);
    }
    let lock = super::report::locked(dir);
    let files = lock.map(|lock| Files::of_locked(dir, lock)).transpose()?;
    let of_answer = |files: &Files| files.read_run(record.steps.get(search.answer()?.step)?);
    let written = files
        .as_ref()
        .is_some_and(|files| files.write(&record, &reading, of_answer(files).as_ref()));
    let printed = match format {
        CapacityFormat::Json => output::print(&(output::json(&record) + "\n")),
        CapacityFormat::Text => {
            let goes_on = record.outcome.is_none();
            let shown = files
                .as_ref()
                .filter(|_| goes_on)
                .map(|files| with_going_on_apart(&record, &search, ending, files));
            let record = shown.as_ref().unwrap_or(&record);
            let text = report::capacity::text(record, &reading, output::style());
            let page = dir.join(files::REPORT);
            output::print(&format!("{text}{}", output::report_line(&page, page.exists())))
        }
    };
    if record.outcome.is_none() {
        let resume = output::typed(&["plimsoll", "capacity", "--resume"], dir);
        eprintln!("plimsoll: this search did not come to its end: {resume} goes on with it");
    }
    let missed = record.load_line.iter().flat_map(|line| &line.missed);
    let missed: Vec<_> = missed.map(|name| (name.clone(), Ruling::Fail)).collect();
    let code = match ending {
        // What ended it is in no step: the server went away or changed, or the next step could not be run.
        None if record.outcome.is_some() => NOT_BELIEVABLE,
        None if record.ended.is_some() => COULD_NOT_RUN,
        _ => exit_code(ending, &record, &missed),
    };
    Ok(if code == DONE && !(written && printed) { COULD_NOT_RUN } else { code })
}

/// How a search ended that has; none where further steps were to come.
fn ended(search: &verdict::capacity::Search) -> Option<Ending> {
    match search.next() {
        verdict::capacity::Next::Done(ending) => Some(ending),
        verdict::capacity::Next::Run(_) => None,
    }
}

/// What limits the server where it was first beyond its objectives; of a search without such a level, where the load
/// was highest, with what would find more (`onward`) if nothing was at its limit.
fn limited_by(
    search: &verdict::capacity::Search,
    record: &CapacitySearch,
    files: &Files,
    onward: &str,
) -> Vec<Finding> {
    let Some(held) = search.limiting_step().and_then(|at| record.steps.get(at)) else {
        return Vec::new();
    };
    let Some(mut run) = files.read_run(held) else { return Vec::new() };
    run.validity = verdict::judge(&run);
    let margins = held.judged.margins.iter();
    let missed = margins.filter(|margin| margin.outcome == Outcome::Broke).map(words::measured);
    let missed: Vec<String> = missed.collect();
    let mut findings = verdict::explain_step(&run, &missed, onward).findings;
    findings.truncate(MOST_CAUSES);
    // Else the share of failures there reads as that at the capacity, perhaps at the same level.
    let at = words::step_of(record.settings.kind, &held.step, held.judged.outcome);
    for finding in &mut findings {
        finding.sentence = format!("At {at}: {}", finding.sentence);
    }
    findings
}

fn line(
    search: &verdict::capacity::Search,
    asked: &SearchObjectives,
    record: &CapacitySearch,
    run: Option<&Run>,
) -> Option<model::LoadLine> {
    Some(verdict::capacity::load_line(record, asked, &search.answer()?, run?))
}

/// What is confirmed is believable; objectives that nothing meets are missed, and so is throughput that
/// the capacity does not have.
fn exit_code(
    ending: Option<Ending>,
    record: &CapacitySearch,
    throughput: &[(String, Ruling)],
) -> u8 {
    let confirmed = record.load_line.as_ref().is_some_and(|line| line.confirmed_for_ns.is_some());
    let any = |wanted| throughput.iter().any(|(_, ruling)| *ruling == wanted);
    match ending {
        Some(_) if !verdict::search_believable(record) => NOT_BELIEVABLE,
        None => INTERRUPTED,
        Some(Ending::NeverMet) => OBJECTIVES_MISSED,
        Some(Ending::Died | Ending::Stuck | Ending::Changed | Ending::Unconfirmed) => {
            NOT_BELIEVABLE
        }
        Some(Ending::Found | Ending::OutOfBudget) if !confirmed => NOT_BELIEVABLE,
        Some(Ending::Found | Ending::OutOfBudget) => match () {
            () if any(Ruling::Inconclusive) => NOT_BELIEVABLE,
            () if any(Ruling::Fail) => OBJECTIVES_MISSED,
            () => DONE,
        },
    }
}

/// The folder asked for, or a new one under `plimsoll-out`.
fn folder(args: &CapacityArgs) -> Result<PathBuf, Failure> {
    match &args.out {
        Some(dir) => {
            claim_free(dir, Kind::Search, &[])?;
            Ok(dir.clone())
        }
        None => Ok(unused(&Path::new(PARENT).join("capacity"), &folder_name())),
    }
}
