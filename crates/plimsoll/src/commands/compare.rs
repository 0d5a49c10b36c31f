//! `plimsoll compare`: is one server faster than another, or than it was?
//!
//! Owns the command: which runs in which order, what is stored, and the exit code. [`crate::runs::execute`]
//! makes the runs, `verdict::comparison` judges them, `report` renders table, picture and page.
//! Runs flow from [`rounds`] into [`files`] after every round.

pub mod files;
mod rounds;

use std::path::{Path, PathBuf};

use model::{Run, Verdict};
use verdict::Comparison;
use verdict::comparison::{likeness, rounds as judged};
use verdict::exit::{COULD_NOT_RUN, DONE, INTERRUPTED, NOT_BELIEVABLE};

use crate::args::{CompareArgs, CompareFormat, LoadArgs, ShapeArgs};
use crate::failure::{Failure, cannot_run, usage};
use crate::load::input::LoadInput;
use crate::load::settings::DEFAULT_DURATION;
use crate::load::shape::{IdleWorkers, Shape, threads};
use crate::results::claim::{Kind, claim_free};
use crate::results::folder::{PARENT, folder_name, named, unused};
use crate::results::input::{self, RUN_JSON};
use crate::results::output;
use crate::results::stored_run;
use crate::runs::prepare_url;
use crate::terminal::signals::stop_on_signal;

pub use files::COMPARE_JSON;

use files::{Files, Progress, Stored};
use rounds::{Contestant, Rounds};

/// Rounds at most: a week of minutes.
const MOST_ROUNDS: u64 = 10_000;

/// Runs the command; the exit code.
///
/// # Errors
/// When the command line is wrong or no round could be run.
pub fn compare(args: &CompareArgs) -> Result<u8, Failure> {
    refuse(args)?;
    let baseline = args.baseline.as_deref().map(read_baseline).transpose()?;
    let contestants = contestants(args, baseline.is_some())?;
    let shape = shape(args, baseline.as_ref(), &contestants[0].prepared.input)?;
    // What would be refused in the first round makes no folder.
    shape.check()?;
    shape.check_arrivals(threads(args.load.threads, shape.connections, IdleWorkers::LeftOut)?)?;
    for contestant in &contestants {
        contestant.prepared.input.settings.check_level(shape)?;
    }
    let files = Files::new(folder(args)?)?;
    let mut rounds = Rounds::new(contestants, shape, args, stop_on_signal()?);
    rounds.announce();
    // What is killed in its first round can be reported too.
    files.write(&compared(args, &rounds, baseline.as_ref()), &rounds);
    for round in 0..args.rounds {
        match rounds.run(round, &files) {
            Ok(true) => {}
            Ok(false) => break,
            Err(failure) if round == 0 => return Err(failure),
            // The rounds before are judged.
            Err(failure) => {
                rounds.fail(round, &failure);
                break;
            }
        }
        files.write(&compared(args, &rounds, baseline.as_ref()), &rounds);
    }
    let comparison = compared(args, &rounds, baseline.as_ref());
    let written = files.write(&comparison, &rounds);
    let printed = print_result(args, &comparison, &files, (rounds.progress(), written));
    if let Some(lost) = rounds.lost() {
        eprintln!("plimsoll: {lost}. The comparison ends here, with the rounds before");
    }
    let code = match () {
        () if rounds.failed().is_some() => COULD_NOT_RUN,
        () if rounds.stopped() => INTERRUPTED,
        () if rounds.lost().is_some() => NOT_BELIEVABLE,
        () => comparison.exit_code(),
    };
    Ok(if written && printed || code != DONE { code } else { COULD_NOT_RUN })
}

fn refuse(args: &CompareArgs) -> Result<(), Failure> {
    let is_result = |text: &&String| !text.contains("://") && stored_run::is_in(Path::new(text));
    if let Some(dir) = args.urls.iter().find(is_result) {
        return usage(format!(
            "{dir} is a folder of results: use `plimsoll compare --baseline {dir} URL`, or `plimsoll diff` for \
             two such folders"
        ));
    }
    match (args.urls.len(), &args.baseline) {
        (1, None) => usage(
            "compare takes two URLs, or one and an earlier run: compare OLD_URL NEW_URL, or compare \
             --baseline run.json URL",
        ),
        (2, Some(_)) => usage("--baseline stands for the first URL: name one URL only"),
        _ if args.load.unix.len() > args.urls.len() => {
            usage("--unix: at most one for each URL that is run")
        }
        _ if args.rounds == 0 => {
            usage("--rounds 0: at least one round is needed, and three to judge")
        }
        _ if args.rounds > MOST_ROUNDS => usage(format!("--rounds: at most {MOST_ROUNDS}")),
        _ if args.rate.is_some() && (args.load.pace.is_some() || args.load.think.is_some()) => {
            usage("--pace and --think belong to a closed loop: leave out either them or -R")
        }
        _ => Ok(()),
    }
}

fn read_baseline(path: &Path) -> Result<Run, Failure> {
    let given = named(path);
    let file = if given.is_dir() { given.join(RUN_JSON) } else { given.clone() };
    if let Some(dir) = stored_run::folder_of(&file) {
        return stored_run::of_folder(dir).map(|replayed| replayed.run);
    }
    let wrong = |what: String| Failure::CannotRun(format!("--baseline {}: {what}", file.display()));
    let bytes = input::read_found(&given, &file).map_err(wrong)?;
    if import::detect(&bytes) == import::Kind::Dat {
        return Err(wrong("a .dat does not describe its environment and is never judged".into()));
    }
    import::load_run(&bytes).map_err(|error| wrong(error.to_string()))
}

/// What was asked for, else what the baseline had, else what a workload file says, else the defaults.
fn shape(args: &CompareArgs, baseline: Option<&Run>, input: &LoadInput) -> Result<Shape, Failure> {
    let plan = baseline.map(|run| &run.plan);
    let flags = ShapeArgs {
        connections: args.connections.or(plan.map(|plan| u64::from(plan.connections))),
        duration: args.duration.or(plan.and_then(|plan| plan.duration_ns)),
        rate: args.rate.or(plan.and_then(|plan| plan.rate_per_s)),
        requests: None,
    };
    let shape = input.shape(&flags)?.shape();
    let duration_ns = Some(shape.duration_ns.unwrap_or(DEFAULT_DURATION));
    Ok(Shape { duration_ns, requests: None, ..shape })
}

fn contestants(args: &CompareArgs, has_baseline: bool) -> Result<Vec<Contestant>, Failure> {
    let words: &[&'static str] = if has_baseline { &["new"] } else { &["old", "new"] };
    let sockets = &args.load.unix;
    let contestant = |(at, (url, word)): (usize, (&String, &&'static str))| {
        let unix = sockets.get(at).or(sockets.first()).cloned().into_iter().collect();
        let mut prepared = prepare_url(url, &LoadArgs { unix, ..args.load.clone() }, args.quiet)?;
        prepared.print_for_people(args.format == CompareFormat::Text);
        Ok(Contestant { word, prepared })
    };
    let made: Vec<Contestant> =
        args.urls.iter().zip(words).enumerate().map(contestant).collect::<Result<_, Failure>>()?;
    if let Some(first) = made.first() {
        first.prepared.notices.iter().for_each(|notice| eprintln!("plimsoll: {notice}"));
    }
    Ok(made)
}

/// The folder asked for, if it holds no comparison, or a new one under `plimsoll-out`.
fn folder(args: &CompareArgs) -> Result<PathBuf, Failure> {
    match &args.out {
        Some(dir) => {
            claim_free(dir, Kind::Comparison, &[])?;
            Ok(dir.clone())
        }
        None => Ok(unused(&Path::new(PARENT).join("compare"), &folder_name())),
    }
}

/// The rounds so far, judged; or not, with the reasons.
fn compared(args: &CompareArgs, rounds: &Rounds, baseline: Option<&Run>) -> Comparison {
    let (mut withheld, mut round) = (Vec::<(String, Vec<u64>)>::new(), 1);
    let (mut invalid, mut remark, mut changed) = (false, None, None);
    let names = names(args);
    let mut unlike = |runs: [&Run; 2]| {
        remark = remark.take().or_else(|| likeness::remark(runs));
        for reason in likeness::differences(runs, names.each_ref().map(String::as_str)) {
            // What the responses were in each round would be a sentence each.
            match withheld.iter_mut().find(|(known, _)| likeness::alike(known, &reason)) {
                Some((_, rounds)) => rounds.push(round),
                None => withheld.push((reason, vec![round])),
            }
        }
        round += 1;
        invalid |= runs.iter().any(|run| run.validity.verdict == Verdict::Invalid);
    };
    let mut comparison = match baseline {
        Some(baseline) => {
            let runs = rounds.singles();
            runs.iter().for_each(|run| unlike([baseline, run]));
            judged::judge_against(names, baseline, &runs, args.margin)
        }
        None => {
            let pairs = rounds.pairs();
            pairs.iter().for_each(|[a, b]| unlike([a, b]));
            changed = judged::changed(&names, &pairs);
            judged::judge(names, &pairs, args.margin)
        }
    };
    let made = rounds.progress().made;
    let withheld = withheld.into_iter().map(|(reason, rounds)| in_rounds(&reason, &rounds, made));
    comparison.withhold(withheld.chain(changed).collect(), args.anyway);
    comparison.notes.extend(remark);
    // Where it is printed again nobody has read the warning.
    let early = rounds.failed().into_iter().chain(rounds.lost());
    comparison.notes.extend(early.map(|why| format!("it ended early: {why}")));
    comparison.invalid = invalid;
    comparison
}

/// Longest list of rounds that is written out.
const LISTED: usize = 8;

/// A reason with the rounds that it is found in, of those made.
fn in_rounds(reason: &str, rounds: &[u64], made: u64) -> String {
    let listed: Vec<String> = rounds.iter().take(LISTED).map(u64::to_string).collect();
    let listed = listed.join(", ");
    match rounds.len() {
        all if all as u64 == made => format!("{reason} in every round"),
        1 => format!("{reason} in round {listed} of {made}"),
        n if n <= LISTED => format!("{reason} in {n} of {made} rounds ({listed})"),
        n => format!("{reason} in {n} of {made} rounds ({listed} ...)"),
    }
}

/// The URLs, secrets masked; with a word before each where they are the same.
fn names(args: &CompareArgs) -> [String; 2] {
    let shown = |url: &String| crate::secrets::mask_url(url);
    match (&args.urls[..], &args.baseline) {
        ([a, b], _) if a == b => [format!("old {}", shown(a)), format!("new {}", shown(b))],
        ([a, b], _) => [shown(a), shown(b)],
        ([b], Some(file)) => [file.display().to_string(), shown(b)],
        _ => ["old".into(), "new".into()],
    }
}

fn print_result(
    args: &CompareArgs,
    comparison: &Comparison,
    files: &Files,
    (rounds, written): (Progress, bool),
) -> bool {
    match args.format {
        CompareFormat::Json => output::print(&files.document(comparison, rounds)),
        CompareFormat::Text => print_text(comparison, &files.report(), written),
    }
}

fn print_text(comparison: &Comparison, page: &Path, written: bool) -> bool {
    let text = report::comparison::text(comparison, output::style());
    let report = output::typed(&["plimsoll", "report"], page.parent().unwrap_or(page));
    let anyway = match comparison.judgement() {
        Some(_) => String::new(),
        None => format!("to judge it all the same: {report} --anyway\n"),
    };
    output::print(&format!("{text}\n{}{anyway}", output::report_line(page, written)))
}

/// Prints the comparison in a folder again as far as it got, judged all the same where that is wanted `anyway`; the
/// exit code.
///
/// # Errors
/// When the folder holds no comparison that can be read.
pub fn report(dir: &Path, as_json: bool, anyway: bool) -> Result<u8, Failure> {
    let Stored { mut comparison, rounds } = Stored::of(dir)?;
    if anyway && as_json {
        return usage("--anyway: compare.json is printed as it is; leave out --format json");
    }
    if anyway {
        comparison.judge_anyway();
    }
    let printed = match as_json {
        true => match input::read_result(&dir.join(COMPARE_JSON)) {
            Ok(bytes) => output::print(&String::from_utf8_lossy(&bytes)),
            Err(why) => return cannot_run(format!("{}: {why}", dir.display())),
        },
        false => {
            let page = dir.join(files::REPORT);
            // The page was made before it was judged.
            print_text(&comparison, &page, page.exists() && !anyway)
        }
    };
    let missing = rounds.filter(|rounds| rounds.made < rounds.asked);
    if let Some(Progress { made, asked, .. }) = missing {
        eprintln!("plimsoll: this comparison ended early, after {made} of {asked} rounds");
    }
    let code = match missing {
        Some(Progress { failed: true, .. }) => COULD_NOT_RUN,
        Some(Progress { lost: true, .. }) => NOT_BELIEVABLE,
        Some(_) => INTERRUPTED,
        None => comparison.exit_code(),
    };
    Ok(if printed || code != DONE { code } else { COULD_NOT_RUN })
}
