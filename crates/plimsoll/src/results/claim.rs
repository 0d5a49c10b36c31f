//! Whether a command may write its result to a folder: neither results nor other files are replaced silently.
//!
//! Owns which files show what a folder contains, and moving an earlier run away for a new one. Results of other kinds than
//! runs are only continued, never replaced: their commands refuse a folder that contains one.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use measure::{beside, journal};

use crate::failure::{Failure, usage};
use crate::profiles::stored;
use crate::results::folder::{PAGE, RUN_FILES, folder_name, unused};
use crate::results::input::{RUN_JSON, SWEEP_JSON};
use crate::results::lock::Lock;

/// Where in a folder the run is that was made there before.
pub const PREVIOUS: &str = "previous";
/// Bytes of a file's beginning that show whose it is: the schema is the first thing that is written.
const HEAD: u64 = 4096;
/// Experiments that `explain --confirm` made on a run: `confirm`, `confirm-2` ...
const EXPERIMENTS: &str = "confirm";

/// A kind of result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One run.
    Run,
    /// Levels in a row.
    Sweep,
    /// A search for capacity.
    Search,
    /// Two servers in turns.
    Comparison,
    /// What access logs became.
    Mined,
}

impl Kind {
    const ALL: [Self; 5] = [Self::Run, Self::Sweep, Self::Search, Self::Comparison, Self::Mined];

    /// The file that is it.
    fn file(self) -> &'static str {
        match self {
            Self::Run => RUN_JSON,
            Self::Sweep => SWEEP_JSON,
            Self::Search => "search.json",
            Self::Comparison => "compare.json",
            Self::Mined => "mine.json",
        }
    }

    /// How the file's schema begins.
    fn schema(self) -> &'static str {
        match self {
            Self::Run => "\"plimsoll.run/",
            Self::Sweep => "\"plimsoll.sweep/",
            Self::Search => "\"plimsoll.capacity/",
            Self::Comparison => "\"plimsoll.compare/",
            Self::Mined => "\"plimsoll.mine/",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Sweep => "sweep",
            Self::Search => "search",
            Self::Comparison => "comparison",
            Self::Mined => "mined workload",
        }
    }

    /// What else is written under names that do not show whose they are.
    fn others(self) -> &'static [&'static str] {
        match self {
            Self::Run => &["latency.hgrm", "timeline.csv", beside::NAME],
            Self::Sweep => &[],
            Self::Search => &["capacity.json", "search.csv", "search.svg", "search.png"],
            Self::Comparison => &["effects.csv"],
            Self::Mined => &["workload.yaml", "pools", "arrivals.txt"],
        }
    }
}

/// As [`claim`], for a command that locks the folder later: one that another command writes to is refused first.
///
/// # Errors
/// As [`claim`], and when another command holds the folder.
pub fn claim_free(dir: &Path, kind: Kind, named: &[String]) -> Result<(), Failure> {
    if dir.is_dir() {
        drop(Lock::of_folder(dir)?);
    }
    claim(dir, kind, named).map(drop)
}

/// Makes sure that a folder, if it is there, can take a result of this kind, and the files `named` after it. A run that
/// it holds makes way for another; the line that says where to is returned.
///
/// # Errors
/// When it holds another result, or a file that would be replaced and is not of plimsoll.
pub fn claim(dir: &Path, kind: Kind, named: &[String]) -> Result<Option<String>, Failure> {
    let shown = dir.display();
    let mut held = Vec::new();
    for kind in Kind::ALL {
        let file = dir.join(kind.file());
        match begins_with(&file, kind.schema()) {
            Some(true) => held.push(kind),
            Some(false) => return foreign(&file),
            None if kind == Kind::Run => match dir.join(journal::NAME).symlink_metadata() {
                Ok(about) if about.is_file() => held.push(kind),
                Ok(_) => return foreign(&dir.join(journal::NAME)),
                Err(_) => {}
            },
            None => {}
        }
    }
    if let Some(other) = held.iter().find(|held| **held != kind) {
        return usage(format!("{shown} holds a {}: name another folder", other.name()));
    }
    match kind {
        _ if held.is_empty() => {
            let names = kind.others().iter().copied().chain([PAGE]);
            let names = names.chain(named.iter().map(String::as_str));
            match names.map(|name| dir.join(name)).find(|file| file.symlink_metadata().is_ok()) {
                Some(file) => foreign(&file),
                None => Ok(None),
            }
        }
        Kind::Run => put_aside(dir).map(Some),
        Kind::Comparison | Kind::Mined => {
            usage(format!("{shown} holds a {} already: name another folder", kind.name()))
        }
        Kind::Sweep | Kind::Search => usage(format!(
            "{shown} holds a {} already: continue it with --resume {shown}, or name another folder",
            kind.name()
        )),
    }
}

/// Whether a file's beginning holds `mark`; none where there is no file.
fn begins_with(file: &Path, mark: &str) -> Option<bool> {
    let about = file.symlink_metadata().ok()?;
    let mut head = Vec::new();
    let read = about.is_file()
        && File::open(file).and_then(|file| file.take(HEAD).read_to_end(&mut head)).is_ok();
    Some(read && head.windows(mark.len()).any(|part| part == mark.as_bytes()))
}

fn foreign<T>(file: &Path) -> Result<T, Failure> {
    usage(format!(
        "{} would be replaced, although plimsoll did not write it: name another folder, or move it away",
        file.display()
    ))
}

/// Moves the run that a folder holds to `previous` in it, and the one that was there to a name of its own.
fn put_aside(dir: &Path) -> Result<String, Failure> {
    let previous = dir.join(PREVIOUS);
    let wrong = |error: std::io::Error| {
        Failure::CannotRun(format!(
            "the run in {} cannot be moved to {}: {error}; name another folder",
            dir.display(),
            previous.display()
        ))
    };
    if previous.symlink_metadata().is_ok() {
        let earlier = unused(dir, &format!("{PREVIOUS}-{}", folder_name()));
        fs::rename(&previous, earlier).map_err(wrong)?;
    }
    fs::create_dir(&previous).map_err(wrong)?;
    let entries = fs::read_dir(dir).map_err(wrong)?.flatten().map(|entry| entry.file_name());
    let experiments: Vec<PathBuf> =
        entries.filter(|name| is_experiment(&name.to_string_lossy())).map(PathBuf::from).collect();
    let moved = RUN_FILES.iter().chain([&stored::FOLDER]).map(PathBuf::from).chain(experiments);
    for name in moved.filter(|name| dir.join(name).symlink_metadata().is_ok()) {
        fs::rename(dir.join(&name), previous.join(&name)).map_err(wrong)?;
    }
    Ok(format!("the run that {} held is in {} now", dir.display(), previous.display()))
}

/// Whether a folder is one of experiments on the run beside it.
fn is_experiment(name: &str) -> bool {
    let number = name.strip_prefix(EXPERIMENTS).map(|rest| rest.strip_prefix('-').unwrap_or(rest));
    number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "{\n  \"schema\": \"plimsoll.run/1\"";

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let file = dir.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        dir
    }

    #[test]
    fn what_a_folder_holds_decides() {
        let search = r#"{"schema":"plimsoll.capacity/1""#;
        let mined = r#"{"schema":"plimsoll.mine/1""#;
        for (files, kind, refused) in [
            (&[][..], Kind::Run, None),
            (&[("notes.txt", "x"), ("api.yaml", "x")], Kind::Run, None),
            (&[(RUN_JSON, r#"{"my":"data"}"#)], Kind::Run, Some("run.json would be replaced")),
            (&[(RUN_JSON, r#"{"my":"data"}"#)], Kind::Sweep, Some("run.json would be replaced")),
            (&[(PAGE, "<html>")], Kind::Comparison, Some("report.html would be replaced")),
            (&[("api.dat", "1 2 3 4")], Kind::Sweep, Some("api.dat would be replaced")),
            (&[("api.dat", "1 2 3 4")], Kind::Run, None),
            (&[("capacity.json", "{}")], Kind::Search, Some("capacity.json would be replaced")),
            (&[(RUN_JSON, RUN), (PAGE, "x")], Kind::Sweep, Some("holds a run: name another")),
            (&[(journal::NAME, "x")], Kind::Search, Some("holds a run: name another")),
            (&[("search.json", search)], Kind::Run, Some("holds a search: name another")),
            (&[("search.json", search)], Kind::Search, Some("continue it with --resume")),
            (&[("access.log", "x")], Kind::Mined, None),
            (&[("pools/a.csv", "x")], Kind::Mined, Some("pools would be replaced")),
            (&[("mine.json", mined)], Kind::Mined, Some("holds a mined workload already")),
            (&[("mine.json", mined)], Kind::Run, Some("holds a mined workload: name another")),
        ] {
            let dir = folder(files);
            let named = if kind == Kind::Sweep { vec!["api.dat".to_owned()] } else { Vec::new() };
            match (claim(dir.path(), kind, &named), refused) {
                (Ok(None), None) => {}
                (Err(Failure::Usage(why)), Some(needle)) if why.contains(needle) => {}
                (other, _) => panic!("{files:?} for {kind:?}: {other:?}"),
            }
            for (name, text) in files {
                assert_eq!(fs::read_to_string(dir.path().join(name)).unwrap(), *text);
            }
        }
    }

    #[test]
    fn an_earlier_run_is_kept_with_all_that_belongs_to_it() {
        let dir = folder(&[
            (RUN_JSON, RUN),
            (PAGE, "page 1"),
            ("profile/window.json", "{}"),
            ("confirm-2/again/run.json", RUN),
            ("confirmed.txt", "mine"),
        ]);
        let text = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
        let said = claim(dir.path(), Kind::Run, &[]).unwrap().unwrap();
        assert!(said.ends_with("previous now"), "{said}");
        assert_eq!(
            (text("previous/run.json"), text("previous/report.html")),
            (RUN.into(), "page 1".into())
        );
        assert_eq!(text("previous/confirm-2/again/run.json"), RUN);
        assert_eq!(
            (text("previous/profile/window.json"), text("confirmed.txt")),
            ("{}".into(), "mine".into())
        );
        assert!(!dir.path().join(RUN_JSON).exists() && !dir.path().join("profile").exists());
        // A third run finds the second in `previous`, and the first is there still.
        fs::write(dir.path().join(RUN_JSON), RUN).unwrap();
        fs::write(dir.path().join(PAGE), "page 2").unwrap();
        claim(dir.path(), Kind::Run, &[]).unwrap().unwrap();
        assert_eq!(text("previous/report.html"), "page 2");
        let names = fs::read_dir(dir.path()).unwrap().flatten();
        let mut first = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let first = first.find(|name| name.starts_with("previous-")).unwrap();
        assert_eq!(text(&format!("{first}/report.html")), "page 1");
    }
}
