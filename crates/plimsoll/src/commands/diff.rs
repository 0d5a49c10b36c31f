//! `plimsoll diff`: results side by side.
//!
//! Owns the command: which files, under which names, where the charts go. [`inputs`] finds and names
//! the files, `import` reads them, `verdict` compares, `report` draws.

mod inputs;
pub mod json;
mod latest;

use std::path::{Path, PathBuf};

use model::{Curve, Run};
use report::html::Comparison;
use report::text::paragraph;
use report::watched::Beside;
use verdict::Diff;
use verdict::comparison::levels::{self, AtLevel};
use verdict::exit::{COULD_NOT_RUN, DONE, NOT_BELIEVABLE, OBJECTIVES_MISSED};
use verdict::figures::level;

use crate::args::{DiffArgs, TableFormat};
use crate::failure::{Failure, usage};
use crate::results::charts::drawn;
use crate::results::folder;
use crate::results::output;
use crate::secrets;

use inputs::Inputs;

/// Runs the command; the exit code.
///
/// # Errors
/// When the files cannot be read, or are not comparable.
pub fn diff(args: &DiffArgs) -> Result<u8, Failure> {
    let files = if args.files.is_empty() {
        let latest = latest::two(Path::new(folder::PARENT))?;
        let [older, newer] = latest.each_ref().map(|path| path.display());
        eprintln!("plimsoll: the old one is {older}, the new one {newer}");
        latest.to_vec()
    } else {
        args.files.clone()
    };
    let compared = Compared::read(&files, args.margin, args.anyway)?;
    let mut printed = output::print(&match args.format {
        TableFormat::Text => compared.text(),
        TableFormat::Csv => report::table::diff_csv(&compared.diff),
        TableFormat::Json => {
            output::json(&json::document(&compared.diff, &compared.judgements)) + "\n"
        }
    });
    let dir = args.out.clone().unwrap_or_else(|| compared.folder.clone());
    let written = compared.write(&dir);
    if args.format == TableFormat::Text && written {
        let report = dir.join(compared.report(&dir));
        printed &= output::print(&format!("\nreport: {}\n", report.display()));
    }
    let code = compared.exit_code();
    Ok(if printed && written || code != DONE { code } else { COULD_NOT_RUN })
}

/// Results read and joined.
#[derive(Debug)]
pub struct Compared {
    curves: Vec<Curve>,
    diff: Diff,
    /// Each curve but the first judged against the first, level by level.
    judgements: Vec<Vec<AtLevel>>,
    /// What was watched beside each, at the highest level that all of them have.
    watched: Vec<Beside>,
    /// The names in a row, as the charts' files are called.
    stem: String,
    /// The second file's folder.
    folder: PathBuf,
}

impl Compared {
    /// Reads files and folders, the one that the others are compared with first, and judges at this margin; where they
    /// are not alike only if it is wanted anyway.
    ///
    /// # Errors
    /// On fewer than two, on those that cannot be read, and on rates beside concurrencies.
    pub fn read(files: &[PathBuf], margin: f64, anyway: bool) -> Result<Self, Failure> {
        if files.len() < 2 {
            // What is wrong with the one comes first: it may be another tool's.
            inputs::read(files)?;
            return usage("diff takes two or more results: .dat, sweep.json, run.json or folders");
        }
        let Inputs { curves, runs, folder } = inputs::read(files)?;
        let mut diff = Diff::of(&curves).map_err(|error| Failure::Usage(error.to_string()))?;
        diff.notes.extend(inputs::different_urls(&diff.names, &runs));
        let stem: Vec<String> = diff.names.iter().map(|name| inputs::file_name(name)).collect();
        let against_first = |of: usize| {
            let names = [diff.names[0].as_str(), diff.names[of].as_str()];
            levels::judge(names, &runs[0], &runs[of], margin, anyway)
        };
        let judgements = (1..runs.len()).map(against_first).collect();
        let stem = inputs::shortened(&stem.join("_"));
        let watched = watched(&diff.names, &runs);
        Ok(Self { stem, curves, diff, judgements, watched, folder })
    }

    /// With the charts' files called as wrktest.sh calls them: after the one that the other is compared with at the end.
    pub fn called_as_by_wrktest(mut self) -> Self {
        let names = self.diff.names.iter().rev().map(|name| inputs::file_name(name));
        let names: Vec<String> = names.collect();
        self.stem = inputs::shortened(&names.join("_"));
        self
    }

    /// The comparison for people.
    pub fn text(&self) -> String {
        let mut text = report::table::diff(&self.diff, output::style());
        let partial: Vec<_> = self.diff.partial_levels().collect();
        for name in &self.diff.names {
            let alone = partial.iter().filter(|(_, having)| having.contains(&name.as_str()));
            let levels: Vec<String> = alone.map(|(at, _)| level(*at)).collect();
            if !levels.is_empty() {
                let words = format!("{name} has levels that others lack: {}", levels.join("; "));
                text += &paragraph(&words, "", output::style());
            }
        }
        for judged in &self.judgements {
            text += &report::comparison::levels(judged, self.diff.kind, output::style());
        }
        text + &report::watched::side_by_side(&self.watched, output::style())
    }

    /// What the judgements come to: 99 when any level is slower than the first result named there, 98 when
    /// that is undecided for one or its judgement is withheld, or where nothing is judged of a result that has no level to go
    /// by; tables, which are never judged, are no failure.
    fn exit_code(&self) -> u8 {
        let unjudged = self.judgements.iter().any(Vec::is_empty) && self.diff.lacks_figures();
        let judged = self.judgements.iter().flatten().map(|at| at.comparison.exit_code());
        let codes: Vec<u8> = judged.chain(unjudged.then_some(NOT_BELIEVABLE)).collect();
        [OBJECTIVES_MISSED, NOT_BELIEVABLE]
            .into_iter()
            .find(|worst| codes.contains(worst))
            .unwrap_or(DONE)
    }

    /// Writes charts and page into `dir`; whether all could be.
    pub fn write(&self, dir: &Path) -> bool {
        if let Err(failure) = output::make_folder(dir) {
            eprintln!("plimsoll: {failure}");
            return false;
        }
        let title = verdict::diff::title(&self.diff.names);
        let qps = report::charts::diff(&title, &self.curves).chart();
        let success =
            report::charts::success(&format!("Success rate: {title}"), &self.curves).chart();
        let command = secrets::command();
        let page = report::html::diff(&Comparison {
            curves: &self.curves,
            diff: &self.diff,
            judgements: &self.judgements,
            watched: &self.watched,
            command: &command,
        });
        let source = report::charts::of_curves(&self.curves);
        let mut files = drawn(&self.chart("qps.ttlb"), &qps.signed(source.clone()));
        files.extend(drawn(&self.chart("successrate"), &success.signed(source)));
        files.push((self.report(dir), page.into_bytes()));
        output::write_files(dir, files.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())))
    }

    /// The page's name in `dir`: another one where `dir` is a result that has a page already.
    pub fn report(&self, dir: &Path) -> String {
        let taken = folder::holds_result(dir);
        if taken { format!("{}.diff.html", self.stem) } else { "report.html".to_owned() }
    }

    /// The second file's folder, where charts go by default.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What a chart's files are called, without what follows the last dot.
    pub fn chart(&self, of: &str) -> String {
        format!("{}.{of}.diff", self.stem)
    }
}

/// What was watched beside each result at the highest level that all of them have; nothing where there is none.
fn watched(names: &[String], runs: &[Vec<(f64, Run)>]) -> Vec<Beside> {
    let at = |of: &[(f64, Run)], level: f64| of.iter().position(|(other, _)| *other == level);
    let common = runs.first().into_iter().flatten().map(|(level, _)| *level);
    let common = common.filter(|level| runs.iter().all(|of| at(of, *level).is_some()));
    let Some(level) = common.reduce(f64::max) else { return Vec::new() };
    let beside = |(name, of): (&String, &Vec<(f64, Run)>)| {
        let (_, run) = &of[at(of, level)?];
        let from_ns = run.plan.warmup_ns;
        let window = (from_ns, from_ns.saturating_add(run.totals.duration_ns));
        Some(Beside { name: name.clone(), level, observed: run.observed.clone()?, window })
    };
    names.iter().zip(runs).filter_map(beside).collect()
}
