//! The run that a result folder holds: whole, or as far as its journal goes.
//!
//! Owns which of the two counts, for every command that reads stored runs, and the words that say so.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use import::{Kind, ResultError};
use model::Run;

use crate::failure::{Failure, cannot_run};
use crate::results::folder::{LAST_RUN, PAGE, PARENT, named, newest};
use crate::results::input::{self, RUN_JSON, SWEEP_JSON};
use measure::beside;
use measure::journal::{self, Replayed};

/// Whether there is a run in a folder, come to its end or not.
pub fn is_in(dir: &Path) -> bool {
    [RUN_JSON, journal::NAME].iter().any(|name| dir.join(name).is_file())
}

/// The folder whose run a file stands for: a `run.json` beside a journal, which may be of a later run, and the journal
/// itself. None for any other file.
pub fn folder_of(file: &Path) -> Option<&Path> {
    let dir = file.parent()?;
    let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    if !dir.join(journal::NAME).is_file() {
        return None;
    }
    // Another tool's result may have that name.
    let is_ours =
        || input::read_result(file).is_ok_and(|bytes| import::detect(&bytes) == Kind::Run);
    let stands = match file.file_name()?.to_str()? {
        journal::NAME => true,
        RUN_JSON => !file.exists() || is_ours(),
        _ => false,
    };
    stands.then_some(dir)
}

/// The folder that a path stands for: `last` and `previous` as they are called, and of a run's own file, or a result's page,
/// the one it lies in. Any other file stands for itself.
pub fn folder_named(path: &Path) -> PathBuf {
    let path = named(path);
    let own = [RUN_JSON, journal::NAME, PAGE];
    let is_own = path.file_name().is_some_and(|name| own.iter().any(|own| name == *own));
    match path.parent().filter(|_| is_own && path.is_file()) {
        Some(dir) if dir.as_os_str().is_empty() => PathBuf::from("."),
        Some(dir) => dir.to_owned(),
        None => path,
    }
}

/// The folder of the last result, for `plimsoll COMMAND` without a folder; said where it is not that of the last `run`.
///
/// # Errors
/// When there is no result where one would be.
pub fn last_result(command: &str) -> Result<PathBuf, Failure> {
    let Some(dir) = newest(Path::new(PARENT)) else {
        return cannot_run(format!(
            "{PARENT} holds no result here: name the folder of one, as in `plimsoll {command} DIR`, or measure first, as \
             in `plimsoll run URL`"
        ));
    };
    if dir != Path::new(LAST_RUN) {
        eprintln!("plimsoll: the last result is {}", dir.display());
    }
    Ok(dir)
}

/// The run in a folder, or in a file, for `plimsoll explain`: of what [`folder_named`] says.
///
/// # Errors
/// When there is none.
pub fn of_path(path: &Path) -> Result<Run, Failure> {
    if path.is_dir() || !path.exists() {
        return of_folder(path).map(|replayed| replayed.run);
    }
    let bytes = input::read_result(path).map_err(|why| unreadable(path, &why))?;
    import::load_run(&bytes).map_err(|error| unreadable(path, &error))
}

/// The run in a folder, whole or as far as its journal goes, and the objectives kept beside it.
pub fn of_folder(dir: &Path) -> Result<Replayed, Failure> {
    let (finished, journal) = (dir.join(RUN_JSON), dir.join(journal::NAME));
    if finished.exists() {
        let bytes = input::read_result(&finished).map_err(|why| unreadable(&finished, &why))?;
        match import::load_run(&bytes) {
            Ok(run) if is_of_another_run(&journal, &run) => {
                let (name, from) = (finished.display(), journal::NAME);
                eprintln!("plimsoll: {name} is of an earlier run than {from}, whose run is shown");
                replayed(&journal)
            }
            Ok(run) => Ok(Replayed { run, objectives: Vec::new(), damage: None }),
            Err(error @ ResultError::CutShort { .. }) => {
                let made = replayed(&journal);
                if made.is_ok() {
                    let (name, from) = (finished.display(), journal::NAME);
                    eprintln!("plimsoll: {name} was truncated: rebuilt from {from}");
                }
                made.map_err(|why| lost(&finished, &error, &journal, &why))
            }
            Err(error) => Err(unreadable(&finished, &error)),
        }
    } else if journal.exists() {
        replayed(&journal)
    } else if let Err(error) = dir.metadata() {
        let why = match error.kind() {
            ErrorKind::NotFound => "there is no such file or folder".to_owned(),
            _ => error.to_string(),
        };
        cannot_run(format!("{}: {why}", dir.display()))
    } else {
        let within = newest(dir).map_or_else(
            || "is it a folder that `run`, `sweep`, `capacity` or `compare` wrote to?".to_owned(),
            |newest| format!("the newest result below it is in {}", newest.display()),
        );
        cannot_run(format!(
            "{} holds neither run.json, {} nor {SWEEP_JSON}: {within}",
            dir.display(),
            journal::NAME
        ))
    }
}

/// That neither the result nor the journal beside it can be read.
fn lost(finished: &Path, error: &ResultError, journal: &Path, why: &Failure) -> Failure {
    let why = match journal.exists() {
        true => format!("nor can it be rebuilt from its journal: {why}"),
        false => format!("and no {} lies beside it to rebuild it from", journal::NAME),
    };
    unreadable(finished, &format!("{error}, {why}; measure again"))
}

/// Whether the folder was used again by a run that was killed: its journal is of a later run then.
fn is_of_another_run(journal: &Path, run: &Run) -> bool {
    journal::head(journal).is_ok_and(|head| head.started_at > run.started_at)
}

/// The run that a journal holds; damage is reported.
fn replayed(path: &Path) -> Result<Replayed, Failure> {
    let mut made = journal::replay(path).map_err(|error| Failure::CannotRun(error.to_string()))?;
    if let Some(damage) = &made.damage {
        let path = path.display();
        eprintln!("plimsoll: {path} is damaged ({damage}): the data before the damage is used");
    }
    let run = &mut made.run;
    let from_ns = run.plan.warmup_ns;
    let window = (from_ns, from_ns.saturating_add(run.totals.duration_ns));
    run.observed = path.parent().and_then(|folder| beside::replay(folder, window));
    Ok(made)
}

/// That a file of a result cannot be read, and why.
pub fn unreadable(path: &Path, error: &impl std::fmt::Display) -> Failure {
    Failure::CannotRun(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_result_stand_for_its_folder() {
        let dir = tempfile::tempdir().unwrap();
        for name in [RUN_JSON, journal::NAME, PAGE] {
            let file = dir.path().join(name);
            std::fs::write(&file, "").unwrap();
            assert_eq!(folder_named(&file), dir.path(), "{name}");
        }
        let other = dir.path().join("other.json");
        std::fs::write(&other, "").unwrap();
        assert_eq!(folder_named(&other), other);
    }
}
