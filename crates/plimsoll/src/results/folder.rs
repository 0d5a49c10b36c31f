//! Names of result folders, and the folder of the last run that was given none.

use std::fs::{self, DirEntry};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::failure::{Failure, cannot_run};
use crate::profiles::stored;
use crate::results::input::{self, RUN_JSON, SWEEP_JSON};
use crate::results::lock::Lock;
use crate::results::output::make_folder;
use crate::secrets::mask_url;
use measure::{beside, journal};

/// Where results go that were given no folder.
pub const PARENT: &str = "plimsoll-out";
/// The last run that was given no folder.
pub const LAST_RUN: &str = "plimsoll-out/last";
/// Their names in [`PARENT`]: of that one, and of the one before it.
const LAST_TWO: [&str; 2] = ["last", "previous"];
/// The page that every command writes.
pub const PAGE: &str = "report.html";
/// Characters of a name made of a URL at most.
const LONGEST_NAME: usize = 80;
/// The files that results of each kind are read from.
const RESULTS: [&str; 4] = [RUN_JSON, SWEEP_JSON, "search.json", "compare.json"];
/// The files that a run writes.
pub const RUN_FILES: [&str; 6] =
    [RUN_JSON, journal::NAME, beside::NAME, "latency.hgrm", "timeline.csv", PAGE];

/// The folder that a path names: `last` and `previous` as they are called where they are.
pub fn named(path: &Path) -> PathBuf {
    let inside = Path::new(PARENT).join(path);
    if !path.exists() && inside.is_dir() { inside } else { path.to_owned() }
}

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

/// What a sweep of a URL is called that nobody named: `127.0.0.1-8080-healthz`.
pub fn name_of_url(url: &str) -> String {
    // Names are printed and stored, and a path may hold a credential.
    let masked = mask_url(url);
    let rest = masked.split_once("://").map_or(masked.as_str(), |(_, rest)| rest);
    let target = rest.split(['?', '#']).next().unwrap_or_default();
    // What stands before the host may be a password.
    let (authority, path) = target.split_at(target.find('/').unwrap_or(target.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    plain_name(&format!("{host}{path}"))
}

/// What a sweep of a workload file is called that nobody named: `checkout`.
pub fn name_of_file(file: &str) -> String {
    plain_name(&Path::new(file).file_stem().unwrap_or_default().to_string_lossy())
}

/// A text as the name of a folder: letters, digits and `._-`.
fn plain_name(text: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let name: String = text.chars().map(plain).take(LONGEST_NAME).collect();
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

/// Removes a folder that a command made and wrote nothing to, and the one around it if that is empty then.
pub fn remove_if_empty(dir: &Path) {
    // What is not empty stays.
    if fs::remove_dir(dir).is_ok()
        && let Some(around) = dir.parent().filter(|around| *around != Path::new(PARENT))
    {
        let _ = fs::remove_dir(around);
    }
}

/// Where the results of a sweep of this name go that was given no folder.
pub fn of_sweep(name: &str) -> PathBuf {
    // A run that begins puts the folders of the last two aside, with whatever is in them.
    let name = if LAST_TWO.contains(&name) { format!("{name}-sweep") } else { name.to_owned() };
    unused(&Path::new(PARENT).join(name), &folder_name())
}

/// An empty folder for a run that was given none, locked: `last`, whose run becomes `previous`. Where another command
/// is writing to one of the two, one named by the date.
///
/// # Errors
/// Why there is none.
pub fn of_last_run() -> Result<(PathBuf, Lock), Failure> {
    in_turn(Path::new(PARENT))
}

fn in_turn(root: &Path) -> Result<(PathBuf, Lock), Failure> {
    make_folder(root)?;
    // Of two runs that begin at once one alone may put the last aside, and take its place.
    if let Ok(_turn) = Lock::of_folder(root)
        && put_last_aside(root)
    {
        let last = root.join(LAST_TWO[0]);
        make_folder(&last)?;
        let lock = Lock::of_folder(&last)?;
        return Ok((last, lock));
    }
    let name = folder_name();
    loop {
        let dir = unused(root, &name);
        match fs::create_dir(&dir) {
            Ok(()) => {
                let lock = Lock::of_folder(&dir)?;
                return Ok((dir, lock));
            }
            // Another run was quicker.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => {
                return cannot_run(format!("cannot make the folder {}: {error}", dir.display()));
            }
        }
    }
}

/// Makes way for another run; whether there is none in `last` now.
fn put_last_aside(root: &Path) -> bool {
    let [last, previous] = LAST_TWO.map(|name| root.join(name));
    if !last.exists() {
        return true;
    }
    // Another command may write to either: a run to `last`, `explain` and `report` to both.
    let is_free = |dir: &Path| Lock::of_folder(dir).is_ok();
    if !is_free(&last) || previous.is_dir() && !is_free(&previous) {
        return false;
    }
    let away = match () {
        () if !previous.exists() => true,
        () if holds_only_a_run(&previous) => fs::remove_dir_all(&previous).is_ok(),
        // Charts of a comparison, experiments, or a user's own files: they are kept.
        () => fs::rename(&previous, unused(root, &folder_name())).is_ok(),
    };
    away && fs::rename(last, previous).is_ok()
}

/// Whether there is nothing in a folder but what a run writes, and what is left of one that was killed.
fn holds_only_a_run(dir: &Path) -> bool {
    let Ok(mut entries) = fs::read_dir(dir) else { return false };
    entries.all(|entry| entry.is_ok_and(|entry| is_of_a_run(&entry)))
}

fn is_of_a_run(entry: &DirEntry) -> bool {
    let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { return false };
    let name = name.to_string_lossy();
    let left_behind =
        name.starts_with(".plimsoll") || name.starts_with('.') && name.ends_with(".partial");
    if kind.is_dir() {
        return name == stored::FOLDER && stored::holds_only_profiles(&entry.path());
    }
    kind.is_file() && (left_behind || RUN_FILES.iter().any(|file| name == *file))
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

    fn names(root: &Path) -> Vec<String> {
        let entries = fs::read_dir(root).unwrap().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn the_last_two_runs_are_kept_and_what_is_no_run_s() {
        let root = tempfile::tempdir().unwrap();
        let run = |more: &str| {
            let (dir, lock) = in_turn(root.path()).unwrap();
            drop(lock);
            assert_eq!(dir, root.path().join("last"));
            let left = [".plimsoll.lock", ".run.json.7.partial"];
            for name in RUN_FILES.iter().chain(&left).chain([&more]).filter(|name| !name.is_empty())
            {
                let file = dir.join(name);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, *name).unwrap();
            }
        };
        for more in ["", "profile/cpu.pprof", "profile/window.json", "", ""] {
            run(more);
        }
        assert_eq!(names(root.path()), ["last", "previous"]);
        for more in ["notes.txt", "profile/notes.txt", "confirm/run.json"] {
            let before = names(root.path()).len();
            (0..3).for_each(|nth| run(if nth == 0 { more } else { "" }));
            let kept = names(root.path());
            assert_eq!(kept.len(), before + 1, "{more}: {kept:?}");
            assert!(kept.iter().any(|dir| root.path().join(dir).join(more).exists()), "{more}");
        }
    }

    #[test]
    fn what_another_command_writes_to_is_not_put_aside() {
        let root = tempfile::tempdir().unwrap();
        for _ in 0..2 {
            let (dir, lock) = in_turn(root.path()).unwrap();
            fs::write(dir.join(RUN_JSON), "{}").unwrap();
            drop(lock);
        }
        assert_eq!(names(root.path()), ["last", "previous"]);
        for held in ["last", "previous"] {
            let before = names(root.path()).len();
            let report = Lock::of_folder(&root.path().join(held)).unwrap();
            let (dir, lock) = in_turn(root.path()).unwrap();
            assert!(!LAST_TWO.iter().any(|name| dir == root.path().join(name)), "{held}: {dir:?}");
            drop((lock, report));
            assert_eq!(names(root.path()).len(), before + 1, "{held}");
            assert!(root.path().join(held).join(RUN_JSON).exists(), "{held}");
        }
    }

    #[test]
    fn a_sweep_does_not_share_the_folders_of_runs() {
        for (name, folder) in
            [("api", "api"), ("last", "last-sweep"), ("previous", "previous-sweep")]
        {
            assert_eq!(of_sweep(name).parent().unwrap(), Path::new(PARENT).join(folder));
        }
    }

    #[test]
    fn sweeps_are_named_by_what_they_measure() {
        for (url, name) in [
            ("http://127.0.0.1:8080/healthz", "127.0.0.1-8080-healthz"),
            ("localhost:8080", "localhost-8080"),
            ("https://me:secret@api.example.com/a/b?token=x#y", "api.example.com-a-b"),
            ("http://[::1]:80/", "1--80"),
            ("http://h/reset/5d41402abc4b2a76b9719d911017c592", "h-reset"),
            ("http:///", "sweep"),
        ] {
            assert_eq!(name_of_url(url), name, "{url}");
        }
        assert!(name_of_url(&"a".repeat(500)).len() <= LONGEST_NAME);
        assert_eq!(name_of_file("deep/checkout.yaml"), "checkout");
        assert_eq!(name_of_file("me@work #2.yaml"), "me-work--2");
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
