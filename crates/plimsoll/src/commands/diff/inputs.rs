//! The files of a comparison: found in folders, read, and given distinct names.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use import::Kind;
use model::{Curve, Run};

use crate::args::DEFAULT_NAME;
use crate::commands::capacity::{SEARCH_JSON, STEPS};
use crate::commands::compare::COMPARE_JSON;
use crate::failure::{Failure, cannot_run, usage};
use crate::results::folder::named;
use crate::results::input::SWEEP_JSON;
use crate::results::input::{self, RUN_JSON};
use crate::results::stored_run;

/// Longest part of a file's name, in bytes, well below what file systems take.
const LONGEST_NAME: usize = 160;

/// What is compared, and where the second of it lies.
#[derive(Debug)]
pub struct Inputs {
    /// In the order named, under names that differ.
    pub curves: Vec<Curve>,
    /// The runs behind each curve by level; none of a table, whose environment is not known.
    pub runs: Vec<Vec<(f64, Run)>>,
    /// The second file's folder; the first one's where it is alone.
    pub folder: PathBuf,
}

/// Reads files and folders.
///
/// # Errors
/// On one that cannot be read or is no result.
pub fn read(paths: &[PathBuf]) -> Result<Inputs, Failure> {
    let files = paths.iter().map(|path| find(path)).collect::<Result<Vec<_>, _>>()?;
    let loaded = files.iter().zip(paths).map(|(file, path)| load(file, &named(path)));
    let loaded = loaded.collect::<Result<Vec<_>, _>>()?;
    let (mut curves, runs): (Vec<_>, Vec<_>) = loaded.into_iter().unzip();
    let given: Vec<String> = curves.iter().map(|curve: &Curve| curve.name.clone()).collect();
    for (curve, name) in curves.iter_mut().zip(names(&files, &given)) {
        curve.name = name;
    }
    let folder = files.get(1).or(files.first()).map_or_else(PathBuf::new, |file| folder_of(file));
    Ok(Inputs { curves, runs, folder })
}

/// What each result is of, in a sentence, where that is not one URL.
pub fn different_urls(names: &[String], runs: &[Vec<(f64, Run)>]) -> Option<String> {
    let url = |runs: &Vec<(f64, Run)>| Some(runs.first()?.1.plan.url.clone());
    let urls: Vec<(&String, String)> =
        names.iter().zip(runs).filter_map(|(name, runs)| Some((name, url(runs)?))).collect();
    let (_, first) = urls.first()?;
    if urls.iter().all(|(_, url)| url == first) {
        return None;
    }
    let of: Vec<String> = urls.iter().map(|(name, url)| format!("{name} measured {url}")).collect();
    Some(format!("results of different URLs are compared: {}", of.join(", ")))
}

/// The result that a path names: itself, or the one in the folder it is.
fn find(path: &Path) -> Result<PathBuf, Failure> {
    if let Some(url) = path.to_str().filter(|text| text.contains("://")) {
        return usage(format!(
            "{url} is a URL, and diff compares results: `plimsoll compare OLD_URL NEW_URL` measures two, and \
             `plimsoll compare --baseline RUN.json URL` one against an earlier run"
        ));
    }
    let path = &named(path);
    if !path.is_dir() {
        return Ok(path.clone());
    }
    if let Some(found) = input::in_folder(path) {
        return Ok(found);
    }
    let shown = path.display();
    let entries = fs::read_dir(path)
        .map_err(|error| Failure::CannotRun(format!("cannot read {shown}: {error}")))?;
    let mut tables: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    tables.retain(|file| file.extension().is_some_and(|extension| extension == "dat"));
    match tables.as_slice() {
        [table] => Ok(table.clone()),
        [] => cannot_run(format!(
            "{shown} holds neither {SWEEP_JSON}, {RUN_JSON} nor a .dat{}",
            what_to_name(path)
        )),
        several => usage(format!("{shown} holds {} .dat files: name one of them", several.len())),
    }
}

/// What to name instead of a folder that holds several runs; nothing for any other.
fn what_to_name(folder: &Path) -> String {
    let shown = folder.display();
    if folder.join(COMPARE_JSON).exists() {
        return format!(
            ": it is a comparison, which `plimsoll report {shown}` prints; name two of its runs, such as \
             {shown}/round-01-old and {shown}/round-01-new"
        );
    }
    if folder.join(SEARCH_JSON).exists() {
        return format!(
            ": it is a search, which `plimsoll report {shown}` prints; of its runs, name files in {shown}/{STEPS}"
        );
    }
    String::new()
}

/// The result in a file, which the path `given` stands for.
fn load(file: &Path, given: &Path) -> Result<(Curve, Vec<(f64, Run)>), Failure> {
    let shown = file.display();
    let wrong = |what: String| Failure::CannotRun(format!("{shown}: {what}"));
    if let Some(dir) = stored_run::folder_of(file) {
        return stored_run::of_folder(dir).map(|replayed| of_run(&stem(file), replayed.run));
    }
    let bytes = input::read_found(given, file).map_err(wrong)?;
    let name = stem(file);
    match import::detect(&bytes) {
        Kind::Dat => {
            let other = match file.extension().is_some_and(|ending| ending == "dat") {
                true => String::new(),
                false => format!("; `plimsoll audit {shown}` checks results of other tools"),
            };
            let curve = import::dat::parse(&name, &bytes);
            let curve = curve.map_err(|error| wrong(format!("{error}{other}")))?;
            Ok((curve, Vec::new()))
        }
        Kind::Run => {
            let run = import::load_run(&bytes).map_err(|error| wrong(error.to_string()))?;
            Ok(of_run(&name, run))
        }
        // JSON that is no result of Plimsoll's gets the sweep's error, which says what was expected.
        Kind::Sweep | Kind::OtherJson => {
            let sweep = import::load_sweep(&bytes).map_err(|error| wrong(error.to_string()))?;
            let curve = Curve::from_sweep(&sweep)
                .map_err(|level| wrong(format!("level {} occurs twice", level.0)))?;
            Ok((curve, sweep.levels.into_iter().map(|held| (held.level, held.run)).collect()))
        }
    }
}

/// A run as a curve of one level.
fn of_run(name: &str, run: Run) -> (Curve, Vec<(f64, Run)>) {
    let curve = Curve::from_run(name, &run);
    let level = curve.rows[0].level;
    (curve, vec![(level, run)])
}

/// Distinct names for the files. A table has its file's name, a sweep the one it was `given`;
/// where two are alike their folders' names are added, and where those are alike a number. A sweep
/// that nobody named, as a run, is called after its folder.
fn names(files: &[PathBuf], given: &[String]) -> Vec<String> {
    let own = files.iter().zip(given).map(|(file, given)| own_name(file, given));
    let own: Vec<Option<String>> = own.collect();
    let one = |(file, own_name): (&PathBuf, &Option<String>)| {
        let Some(name) = own_name else { return folder_name(file) };
        match (own.iter().filter(|other| *other == own_name).count(), is_result(file)) {
            (1, _) => name.clone(),
            (_, true) => folder_name(file),
            (_, false) => format!("{}-{name}", folder_name(file)),
        }
    };
    let mut names: Vec<String> = files.iter().zip(&own).map(one).collect();
    let mut seen: HashMap<String, usize> = HashMap::new();
    for name in &mut names {
        let times = seen.entry(name.clone()).or_default();
        *times += 1;
        if *times > 1 {
            name.push_str(&format!("-{times}"));
        }
    }
    names
}

/// The name of a result, if the user chose one.
fn own_name(file: &Path, given: &str) -> Option<String> {
    let is_sweep = file.file_name().is_some_and(|name| name == SWEEP_JSON);
    match (is_result(file), is_sweep && given != DEFAULT_NAME) {
        (false, _) => Some(stem(file)),
        (true, true) => Some(given.to_owned()),
        (true, false) => None,
    }
}

fn is_result(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == SWEEP_JSON || name == RUN_JSON)
}

fn stem(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn folder_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

fn folder_name(file: &Path) -> String {
    let folder = folder_of(file);
    let whole = folder.canonicalize().unwrap_or(folder);
    whole.file_name().map_or_else(|| stem(file), |name| name.to_string_lossy().into_owned())
}

/// A name as part of a file's: separators and control characters replaced.
pub fn file_name(name: &str) -> String {
    name.chars().map(|c| if c == '/' || c.is_control() { '-' } else { c }).collect()
}

/// At most as long as a file's name may be.
pub fn shortened(name: &str) -> String {
    let mut end = name.len().min(LONGEST_NAME);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_distinguish_files() {
        let unnamed = DEFAULT_NAME;
        for (files, given, wanted) in [
            (["/x/a.dat", "/x/b.dat"], ["a", "b"], ["a", "b"]),
            (["/x/a.dat", "/y/a.dat"], ["a", "a"], ["x-a", "y-a"]),
            (["/x/sweep.json", "/y/sweep.json"], [unnamed, unnamed], ["x", "y"]),
            (["/x/sweep.json", "/y/sweep.json"], ["old", unnamed], ["old", "y"]),
            (["/x/sweep.json", "/y/sweep.json"], ["old", "new"], ["old", "new"]),
            (["/x/sweep.json", "/y/sweep.json"], ["old", "old"], ["x", "y"]),
            (["/x/sweep.json", "/y/old.dat"], ["old", "old"], ["x", "y-old"]),
            (["/x/run.json", "/y/a.dat"], ["run", "a"], ["x", "a"]),
            (["/x/a.dat", "/x/a.dat"], ["a", "a"], ["x-a", "x-a-2"]),
        ] {
            assert_eq!(names(&files.map(PathBuf::from), &given.map(String::from)), wanted);
        }
    }

    #[test]
    fn folders_of_several_runs_say_what_to_name() {
        let dir = tempfile::tempdir().unwrap();
        let told = || find(dir.path()).unwrap_err().to_string();
        assert!(told().ends_with("nor a .dat"), "{}", told());
        fs::write(dir.path().join(SEARCH_JSON), "{}").unwrap();
        assert!(told().contains("it is a search") && told().ends_with(STEPS), "{}", told());
        fs::write(dir.path().join(COMPARE_JSON), "{}").unwrap();
        assert!(told().contains("it is a comparison"), "{}", told());
        assert!(told().ends_with("round-01-new"), "{}", told());
    }

    #[test]
    fn names_make_file_names() {
        assert_eq!(file_name("../a b\n"), "..-a b-");
        assert_eq!(shortened(&"ü".repeat(100)).len(), LONGEST_NAME);
    }
}
