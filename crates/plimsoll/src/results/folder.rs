//! Names of result folders, and the folder of the last run that was given none.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::results::input::{self, RUN_JSON, SWEEP_JSON};
use crate::results::lock::Lock;
use crate::results::output::make_folder;
use measure::journal;

/// Where results go that were given no folder.
pub const PARENT: &str = "plimsoll-out";
/// The last run that was given no folder.
pub const LAST_RUN: &str = "plimsoll-out/last";
/// The one before it.
const PREVIOUS_RUN: &str = "plimsoll-out/previous";
/// Characters of a name made of a URL at most.
const LONGEST_NAME: usize = 80;
/// The files that results of each kind are read from.
const RESULTS: [&str; 4] = [RUN_JSON, SWEEP_JSON, "search.json", "compare.json"];
/// What a run writes.
const RUN_FILES: [&str; 5] =
    ["run.json", journal::NAME, "latency.hgrm", "timeline.csv", "report.html"];

/// `20261121-074500`, in UTC.
pub fn folder_name() -> String {
    jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string()
}

/// `parent/name`, or the first of `parent/name-2`, `-3` ... that does not exist.
pub fn unused(parent: &Path, name: &str) -> PathBuf {
    let numbered = (2..).map(|n| parent.join(format!("{name}-{n}")));
    let mut candidates = std::iter::once(parent.join(name)).chain(numbered);
    candidates.find(|dir| !dir.exists()).expect("some number is free")
}

/// What a sweep is called that nobody named, by the URL or the workload file: `127.0.0.1-8080-healthz`, `checkout`.
pub fn name_of_target(target: &str, is_file: bool) -> String {
    let target = match (is_file, target.split_once("://")) {
        (true, _) => Path::new(target).file_stem().unwrap_or_default().to_string_lossy(),
        (false, Some((_, rest))) => rest.into(),
        (false, None) => target.into(),
    };
    let target = target.split(['?', '#']).next().unwrap_or_default();
    // What stands before the host may be a password.
    let (authority, path) = target.split_at(target.find('/').unwrap_or(target.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    let plain = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let name: String = host.chars().chain(path.chars()).map(plain).take(LONGEST_NAME).collect();
    match name.trim_matches(['-', '.']) {
        "" => "sweep".to_owned(),
        name => name.to_owned(),
    }
}

/// The folder under `root` whose result was started last, complete or not; absent where there is none.
pub fn newest(root: &Path) -> Option<PathBuf> {
    let within = |dir: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(dir).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
    };
    let outer = within(root);
    let inner: Vec<PathBuf> = outer.iter().flat_map(|dir| within(dir)).collect();
    let started = |dir: PathBuf| Some((started_at(&dir)?, dir));
    outer.into_iter().chain(inner).filter_map(started).max().map(|(_, dir)| dir)
}

/// Whether a result lies in a folder, of whatever kind, come to its end or not.
pub fn holds_result(dir: &Path) -> bool {
    RESULTS.iter().chain([&journal::NAME]).any(|name| dir.join(name).exists())
}

/// When the result of a folder was started. A journal may be of a later run than the result beside it.
pub fn started_at(dir: &Path) -> Option<String> {
    #[derive(Deserialize)]
    struct Started {
        started_at: String,
    }
    let of_result = |name: &&str| {
        let bytes = input::read_result(&dir.join(name)).ok()?;
        Some(serde_json::from_slice::<Started>(&bytes).ok()?.started_at)
    };
    let results = RESULTS.iter().filter_map(of_result);
    let journal = journal::head(&dir.join(journal::NAME)).ok().map(|head| head.started_at);
    results.chain(journal).max()
}

/// An empty folder for a run that was given none, locked: `last`, whose run becomes `previous`. Where another run is
/// writing to `last`, one named by the date.
///
/// # Errors
/// Why there is none, in words.
pub fn of_last_run() -> Result<(PathBuf, Lock), String> {
    let words = |failure: crate::failure::Failure| failure.to_string();
    make_folder(Path::new(PARENT)).map_err(words)?;
    let dir = match put_last_aside() {
        true => PathBuf::from(LAST_RUN),
        false => unused(Path::new(PARENT), &folder_name()),
    };
    make_folder(&dir).map_err(words)?;
    let lock = Lock::of_folder(&dir).map_err(words)?;
    Ok((dir, lock))
}

/// Makes way for another run; whether there is none in [`LAST_RUN`] now.
fn put_last_aside() -> bool {
    let (last, previous) = (Path::new(LAST_RUN), Path::new(PREVIOUS_RUN));
    // Two runs that begin at once must not both put it aside.
    let Ok(_turn) = Lock::of_folder(Path::new(PARENT)) else { return false };
    if !last.exists() {
        return true;
    }
    match Lock::of_folder(last) {
        Ok(lock) => drop(lock),
        Err(_) => return false,
    }
    let away = match () {
        () if !previous.exists() => true,
        () if holds_only_a_run(previous) => fs::remove_dir_all(previous).is_ok(),
        // Charts of a comparison, or a user's own files: they are kept.
        () => fs::rename(previous, unused(Path::new(PARENT), &folder_name())).is_ok(),
    };
    away && fs::rename(last, previous).is_ok()
}

/// Whether there is nothing in a folder but what a run writes.
fn holds_only_a_run(dir: &Path) -> bool {
    let Ok(mut entries) = fs::read_dir(dir) else { return false };
    entries.all(|entry| {
        entry.is_ok_and(|entry| {
            entry.file_type().is_ok_and(|kind| kind.is_file())
                && RUN_FILES.iter().any(|name| entry.file_name() == *name)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_results_is_never_used_twice() {
        let dir = tempfile::tempdir().unwrap();
        for wanted in ["now", "now-2", "now-3"] {
            let found = unused(dir.path(), "now");
            assert_eq!(found, dir.path().join(wanted));
            fs::create_dir(found).unwrap();
        }
    }

    #[test]
    fn sweeps_are_named_by_what_they_measure() {
        for (target, is_file, name) in [
            ("http://127.0.0.1:8080/healthz", false, "127.0.0.1-8080-healthz"),
            ("localhost:8080", false, "localhost-8080"),
            ("https://me:secret@api.example.com/a/b?token=x#y", false, "api.example.com-a-b"),
            ("http://[::1]:80/", false, "1--80"),
            ("deep/checkout.yaml", true, "checkout"),
            ("http:///", false, "sweep"),
        ] {
            assert_eq!(name_of_target(target, is_file), name, "{target}");
        }
        assert!(name_of_target(&"a".repeat(500), false).len() <= LONGEST_NAME);
    }

    #[test]
    fn the_newest_result_is_found_whatever_made_it() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(newest(root.path()), None);
        let put = |name: &str, file: &str, started_at: &str| {
            let dir = root.path().join(name);
            fs::create_dir_all(&dir).unwrap();
            fs::write(dir.join(file), format!(r#"{{"started_at":"{started_at}","x":1}}"#)).unwrap();
            newest(root.path()).unwrap().strip_prefix(root.path()).unwrap().to_owned()
        };
        assert_eq!(put("last", "run.json", "2026-02-01T00:00:00Z"), Path::new("last"));
        assert_eq!(put("api/1", "sweep.json", "2026-02-02T00:00:00Z"), Path::new("api/1"));
        assert_eq!(
            put("capacity/1", "search.json", "2026-02-03T00:00:00Z"),
            Path::new("capacity/1")
        );
        assert_eq!(
            put("compare/1", "compare.json", "2026-02-04T00:00:00Z"),
            Path::new("compare/1")
        );
        assert_eq!(
            put("compare/1/01-a", "run.json", "2026-02-05T00:00:00Z"),
            Path::new("compare/1")
        );
        assert_eq!(put("previous", "run.json", "2026-01-01T00:00:00Z"), Path::new("compare/1"));
        fs::write(root.path().join("last/run.json"), "{").unwrap();
        assert_eq!(newest(root.path()).unwrap(), root.path().join("compare/1"));
    }

    #[test]
    fn folders_are_named_by_date_and_time() {
        let name = folder_name();
        assert_eq!((name.len(), name.as_bytes()[8]), (15, b'-'), "{name}");
    }
}
