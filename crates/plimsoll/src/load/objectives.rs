//! Objectives on the command line: read before anything is sent, judged when a result is there, and
//! reported to people and to CI systems. The rules are `verdict::objective`'s.

use std::path::PathBuf;

use model::quote::quote;
use model::{Run, Sweep};
use report::text::Style;
use verdict::objective::levels::holding;
use verdict::objective::parse::parse_abort;
use verdict::objective::{self, AbortWatch, Objective, Subject};

use crate::args::{AbortArgs, Annotations, ObjectiveArgs};
use crate::failure::{Failure, usage};
use crate::load::input::LoadInput;
use crate::results::output::{Readers, write_file_for};
use crate::terminal::screen;

/// What is wrong where rulings of a sweep are asked for that there are none of.
const NOTHING_TO_REPORT: &str =
    "--junit and --annotations report objectives, and this sweep has none: give --slo";

/// What results are judged by, and where the rulings go.
#[derive(Debug, Default)]
pub struct Objectives {
    list: Vec<Objective>,
    junit: Option<PathBuf>,
    annotations: Option<Annotations>,
}

impl Objectives {
    /// Reads the flags.
    ///
    /// # Errors
    /// When one is no objective; the message points at the column.
    pub fn of(args: &ObjectiveArgs) -> Result<Self, Failure> {
        let list = read("--slo", &args.slo)?;
        Ok(Self { list, junit: args.junit.clone(), annotations: args.annotations })
    }

    /// These, or if there are none, those that the workload file holds.
    ///
    /// # Errors
    /// As [`of_load`] says.
    pub fn or_written(self, input: &LoadInput) -> Result<Self, Failure> {
        Ok(Self { list: of_load(self.list, input)?, ..self })
    }

    /// Makes sure that a sweep which is to be reported has objectives: of one without there is nothing to report.
    ///
    /// # Errors
    /// When it has none.
    pub fn for_levels(&self) -> Result<(), Failure> {
        if self.list.is_empty() && self.is_reported() {
            return usage(NOTHING_TO_REPORT);
        }
        Ok(())
    }

    /// As [`Objectives::for_levels`], of a sweep that was judged.
    ///
    /// # Errors
    /// When it was judged by none.
    pub fn for_sweep(&self, sweep: &Sweep) -> Result<(), Failure> {
        if self.is_reported() && !sweep.levels.is_empty() && holding(sweep).is_none() {
            return usage(NOTHING_TO_REPORT);
        }
        Ok(())
    }

    fn is_reported(&self) -> bool {
        self.junit.is_some() || self.annotations.is_some()
    }

    /// As `--slo` takes them, presets by their names.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for asked in &self.list {
            let name = match asked.preset {
                Some((preset, _)) => preset.name().to_owned(),
                None => asked.to_string(),
            };
            if names.last() != Some(&name) || asked.preset.is_none() {
                names.push(name);
            }
        }
        names
    }

    /// These, or if there are none, those that were asked for when the run was made. Names that
    /// this version does not know are ignored: they can no longer be corrected.
    pub fn or_kept(mut self, kept: &[String]) -> Self {
        if self.list.is_empty() {
            let known = kept.iter().filter_map(|text| objective::parse(text).ok());
            self.list = known.flatten().collect();
        }
        self
    }

    /// Judges a run whose validity is known; without objectives it keeps the rulings it has.
    pub fn judge(&self, run: &mut Run) {
        if !self.list.is_empty() {
            // A damaged histogram leaves its endpoint without figures, and the ruling says so.
            let endpoints = objective::Endpoint::all_of(run).unwrap_or_default();
            run.objectives = objective::judge(run, &endpoints, &self.list);
        }
    }

    /// Reports a run to CI systems; whether that could be done.
    pub fn report(&self, run: &Run) -> bool {
        if let Some(Annotations::Github) = self.annotations {
            annotate(&report::annotations::github(run));
        }
        self.write_junit(|| report::junit::run(run))
    }

    /// Reports a sweep that was judged to CI systems; whether that could be done.
    pub fn report_sweep(&self, sweep: &Sweep) -> bool {
        let Some(holding) = holding(sweep) else { return true };
        if let Some(Annotations::Github) = self.annotations {
            annotate(&report::annotations::github_of_sweep(sweep, &holding));
        }
        self.write_junit(|| report::junit::sweep(sweep, &holding))
    }

    fn write_junit(&self, xml: impl FnOnce() -> String) -> bool {
        let Some(path) = &self.junit else { return true };
        let written = write_file_for(Readers::Usual, path, xml().as_bytes());
        if let Err(error) = &written {
            eprintln!("plimsoll: cannot write {}: {error}", path.display());
        }
        written.is_ok()
    }
}

/// Prints workflow commands, each of which is one line however long it is.
fn annotate(lines: &str) {
    screen::print_styled_to_stderr(lines, Style::default());
}

/// Reads what `--slo` says, one flag after another.
///
/// # Errors
/// When one is no objective; the message points at the column.
pub fn read(named_by: &str, texts: &[String]) -> Result<Vec<Objective>, Failure> {
    let mut list = Vec::new();
    for text in texts {
        match objective::parse(text) {
            Ok(read) => list.extend(read),
            Err(error) => return usage(format!("{named_by}: {error}")),
        }
    }
    Ok(list)
}

/// What a load is judged by: the flags' objectives, or if there are none, those that its workload file holds.
///
/// # Errors
/// When one of the file's is no objective, or one is of an endpoint that the file does not have.
pub fn of_load(flags: Vec<Objective>, input: &LoadInput) -> Result<Vec<Objective>, Failure> {
    let Some((file, ready)) = input.workload() else { return Ok(flags) };
    let name = file.path().display();
    let list = match flags.is_empty() {
        true => read(&format!("{name}: objectives"), &input.objectives())?,
        false => flags,
    };
    let endpoints = &ready.compiled.mix().endpoints;
    for asked in &list {
        let Subject::Endpoint(wanted) = &asked.subject else { continue };
        if !endpoints.iter().any(|endpoint| endpoint.name == *wanted) {
            let known: Vec<&str> =
                endpoints.iter().map(|held| held.name.as_str()).take(10).collect();
            return usage(format!(
                "'{asked}': {name} sends nothing called {}; it has {}",
                quote(wanted),
                known.join(", ")
            ));
        }
    }
    Ok(list)
}

/// Reads the rules that end a run early.
///
/// # Errors
/// When one is no rule, or speaks of a rate where none is asked for; the message points at the column.
pub fn watch(args: &AbortArgs, open_loop: bool) -> Result<AbortWatch, Failure> {
    let mut rules = Vec::new();
    for text in &args.abort_on {
        match parse_abort(text) {
            Ok(rule) if !open_loop && rule.breach.metric == objective::Metric::Achieved => {
                return usage(format!(
                    "--abort-on '{text}': a closed loop has no target rate; give one with -R"
                ));
            }
            Ok(rule) => rules.push(rule),
            Err(error) => return usage(format!("--abort-on: {error}")),
        }
    }
    Ok(AbortWatch::new(rules))
}
