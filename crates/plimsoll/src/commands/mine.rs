//! `plimsoll mine`: makes a workload of access logs.
//!
//! Owns files and threads: opens logs, decompresses them, reads them twice on all processors, and writes the results into a
//! folder. The crate `mine` does the analysis.

mod blocks;
mod gzip;
mod ranges;
mod readings;
mod zstd;

use std::fs;
use std::path::PathBuf;

use import::requests::{self, Imported, Kind, Note};
use mine::{Format, NAMES, Outcome, Scale, Wanted};
use model::quote::quote;
use model::units::SECOND;

use crate::args::{MineArgs, MineFormat};
use crate::failure::{Failure, cannot_run, usage};
use crate::load::address;
use crate::load::workload_file;
use crate::results::claim::{self, claim_free};
use crate::results::folder::{folder_name, unused};
use crate::results::lock::Lock;
use crate::results::output::{self, Readers, make_folder, write_file};
use blocks::Log;

/// Where results go that were given no folder.
const PARENT: &str = "plimsoll-out/mine";
/// The folder of pools beside the workload.
const POOLS: &str = "pools";

/// Runs the command; the exit code.
///
/// # Errors
/// When a log cannot be read, too many of its lines are bad, it holds no request of an API, or the result cannot be
/// written.
pub fn mine(args: &MineArgs) -> Result<u8, Failure> {
    let target = checked(args)?;
    if let Some(dir) = &args.out {
        claim_free(dir, claim::Kind::Mined, &[])?;
    }
    let (logs, notes) = opened(args)?;
    let dir = match &args.out {
        Some(dir) => dir.clone(),
        None => unused(PARENT.as_ref(), &folder_name()),
    };
    make_folder(&dir)?;
    let lock = Lock::of_folder(&dir)?;
    let outcome = match readings::read(args, &logs, &wanted(args, target, &logs, notes)) {
        Ok(outcome) => outcome,
        Err(failure) => {
            drop(lock);
            // Only if nothing is in it.
            let _ = fs::remove_dir(&dir);
            return Err(failure);
        }
    };
    write(&dir, &outcome)?;
    let printed = match args.format {
        MineFormat::Json => output::print(&(output::json(&outcome.mined) + "\n")),
        MineFormat::Text => output::print(&text(&dir, &outcome)),
    };
    Ok(if printed { 0 } else { 1 })
}

/// Refuses what makes no workload; the server that it is for.
fn checked(args: &MineArgs) -> Result<String, Failure> {
    let server = address::target(&args.target)?;
    // A host without a dot may be right, but nothing is sent to it now: a slip would be seen late.
    let target = args.target.as_str();
    if !target.contains(['.', ':']) && target != "localhost" {
        return usage(format!("--target {}: write a URL, such as http://HOST:PORT", quote(target)));
    }
    if args.window < SECOND {
        return usage("--window must be 1s or more");
    }
    if args.top == 0 {
        return usage("--top must be 1 or more: a workload without endpoints sends nothing");
    }
    Ok(server)
}

/// The logs that have lines, each once, and what is to be said of the others.
fn opened(args: &MineArgs) -> Result<(Vec<Log>, Vec<String>), Failure> {
    let mut logs: Vec<Log> = Vec::new();
    let mut notes = Vec::new();
    let formats = given_formats(args)?;
    for path in &args.logs {
        let mut log = match Log::open(path) {
            Ok(log) => log,
            Err(why) => return cannot_run(format!("{}: {why}", path.display())),
        };
        if logs.iter().any(|other| log.is(other)) {
            notes.push(format!("{} is named more than once, and read once", log.name()));
            continue;
        }
        if let Err(why) = log.find_format(&formats) {
            return cannot_run(format!("{}: {why}", log.name()));
        }
        if log.is_empty() {
            notes.push(format!("{} is empty, and left out", log.name()));
            continue;
        }
        if let Some(other) = logs.iter().find(|other| log.is_like(other)) {
            notes.push(format!(
                "{} begins with the same lines as {}: if they are the same log, its requests count twice",
                log.name(),
                other.name()
            ));
        }
        if let Some(note) = log.note() {
            notes.push(format!("{}: {note}", log.name()));
        }
        logs.push(log);
    }
    match logs.is_empty() {
        true => cannot_run(format!("{}: is empty", args.logs[0].display())),
        false => Ok((logs, notes)),
    }
}

/// The formats to choose from, if any are given.
fn given_formats(args: &MineArgs) -> Result<Vec<Format>, Failure> {
    let json = || {
        let format = Format::json(&args.field).map(|format| vec![format]);
        format.or_else(|why| usage(format!("--field {why}")))
    };
    let Some(given) = &args.log_format else {
        return if args.field.is_empty() { Ok(Vec::new()) } else { json() };
    };
    if ["json", "caddy", "traefik"].iter().any(|name| given.eq_ignore_ascii_case(name)) {
        return json();
    }
    let user = user_field(&args.field)?;
    if let Some(format) = Format::named(given) {
        let format = match user {
            None => Some(format),
            Some(user) => format.with_user_column(user),
        };
        return format.map_or_else(
            || {
                usage(format!(
                    "--field user=...: {given} has no other field that tells users apart; describe it with --log-format"
                ))
            },
            |format| Ok(vec![format]),
        );
    }
    if given.contains(['$', '%']) {
        return Format::from_pattern(given, user)
            .map(|format| vec![format])
            .or_else(|why| usage(format!("--log-format: {why}")));
    }
    let text = match fs::read_to_string(given) {
        Ok(text) => text,
        Err(error) => {
            return usage(format!(
                "--log-format {}: is not a format string, none of {NAMES}, and no file that can be read \
                 ({error})",
                quote(given)
            ));
        }
    };
    Format::from_nginx_conf(&text, user)
        .or_else(|why| usage(format!("--log-format {given}: {why}")))
}

/// The field that tells users apart of a format that is no JSON; what holds the rest, its description says.
fn user_field(fields: &[String]) -> Result<Option<&str>, Failure> {
    let mut user = None;
    for field in fields {
        match field.split_once('=') {
            Some((role, name)) if role.trim() == "user" && !name.trim().is_empty() => {
                user = Some(name.trim());
            }
            _ => {
                return usage(format!(
                    "--field {}: names members of JSON lines; with --log-format only user=FIELD is left to say",
                    quote(field)
                ));
            }
        }
    }
    Ok(user)
}

fn wanted(args: &MineArgs, target: String, logs: &[Log], notes: Vec<String>) -> Wanted {
    let mut formats: Vec<&str> = Vec::new();
    for name in logs.iter().filter_map(|log| Some(log.format()?.name())) {
        if !formats.contains(&name) {
            formats.push(name);
        }
    }
    Wanted {
        files: logs.iter().map(|log| log.name().to_owned()).collect(),
        format: formats.join(", "),
        target,
        top: args.top.try_into().unwrap_or(usize::MAX),
        scale: Scale {
            users_now: args.dau_now,
            users_wanted: args.dau_target,
            factor: args.factor,
            pace_ns: args.pace,
            speed: args.trace,
        },
        map: args.map.clone(),
        session_gap_ns: args.session_gap,
        sessions: args.sessions,
        closed: args.closed,
        keep_secrets: args.keep_secrets.clone(),
        pools: POOLS.to_owned(),
        notes,
    }
}

/// Writes the workload, its files, the figures and the page.
fn write(dir: &std::path::Path, outcome: &Outcome) -> Result<(), Failure> {
    for (name, text) in &outcome.files {
        let path = dir.join(name);
        if let Some(folder) = path.parent() {
            make_folder(folder)?;
        }
        if let Err(error) = write_file(&path, text.as_bytes()) {
            return cannot_run(format!("cannot write {}: {error}", path.display()));
        }
    }
    let yaml = requests::yaml(&imported(outcome));
    workload_file::write(&dir.join("workload.yaml"), &yaml, true, Readers::Owner)?;
    let files = [
        ("mine.json", (output::json(&outcome.mined) + "\n").into_bytes()),
        ("report.html", report::html::mined(&outcome.mined).into_bytes()),
    ];
    if output::write_files(dir, files) {
        Ok(())
    } else {
        cannot_run(format!("the result in {} is not complete", dir.display()))
    }
}

/// The workload with its notes, which become comments.
fn imported(outcome: &Outcome) -> Imported {
    let mined = &outcome.mined;
    let mut notes = vec![Note::new(
        Kind::Assumed,
        "",
        format!(
            "requests of {} to {}: {}/s in all",
            mined.peak.from,
            mined.peak.to,
            verdict::figures::rate(mined.peak.rate_per_s)
        ),
    )];
    notes.extend(mined.arithmetic.iter().map(|step| {
        let figure = report::mined::value(step);
        Note::new(Kind::Assumed, "", format!("{} = {figure} ({})", step.step, step.assumption))
    }));
    notes.extend(outcome.environment.iter().map(|(name, purpose)| {
        let what = format!("set the environment variable {name} before a run: {purpose}");
        Note::new(Kind::Secret, "", what)
    }));
    notes.extend(mined.notes.iter().map(|note| Note::new(Kind::Assumed, "", note)));
    Imported {
        workload: outcome.workload.clone(),
        notes,
        further_notes: 0,
        environment: outcome.environment.clone(),
    }
}

/// The main figures and what to do next.
fn text(dir: &std::path::Path, outcome: &Outcome) -> String {
    let workload: PathBuf = dir.join("workload.yaml");
    let mut text = report::mined::text(&outcome.mined, output::style());
    text += &format!(
        "\nworkload: {}\nreport: {}\n",
        workload.display(),
        dir.join("report.html").display()
    );
    for (name, purpose) in &outcome.environment {
        text += &format!("set {name} before a run: {purpose}\n");
    }
    let plan = output::typed(&["plimsoll", "plan"], &workload);
    text + &format!("see what it would send: {plan}\n")
}
