//! The last two sweeps of one target, or the last two runs, for a comparison that names no files.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::failure::{Failure, usage};
use crate::results::folder::started_at;
use crate::results::input;
use crate::results::input::SWEEP_JSON;

/// What of a stored sweep says which it is.
#[derive(Debug, Clone, Deserialize)]
struct Head {
    url: String,
    started_at: String,
    command: Vec<String>,
    levels: Vec<IgnoredAny>,
}

impl Head {
    /// What was swept: the URL or workload file that was named. The built-in API, which nobody names, listens
    /// on another port each time and is one target.
    fn target(&self) -> &str {
        if self.command.contains(&self.url) { &self.url } else { "the built-in API" }
    }
}

/// The newest sweep under `root` that has another of the same target before it, and that other one; or the last two runs
/// that were given no folder, where they are newer. The older of the two comes first.
///
/// # Errors
/// When there are neither two such sweeps nor two runs.
pub fn two(root: &Path) -> Result<[PathBuf; 2], Failure> {
    let mut held: Vec<(PathBuf, Head)> = folders(root)
        .iter()
        .flat_map(|name| folders(name))
        .filter_map(|dir| Some((dir.clone(), head(&dir)?)))
        .collect();
    held.sort_by(|(a, a_head), (b, b_head)| (&b_head.started_at, b).cmp(&(&a_head.started_at, a)));
    let sweeps = pair(&held).map(|(started_at, pair)| (started_at.to_owned(), pair));
    match sweeps.max(last_runs(root)) {
        Some((_, pair)) => Ok(pair),
        None => usage(format!(
            "no files were named, and {} holds neither two sweeps of the same target nor two \
             runs: name two or more results, or measure again",
            root.display()
        )),
    }
}

/// When the last run was started that was given no folder, where the one before it is, and where it is.
fn last_runs(root: &Path) -> Option<(String, [PathBuf; 2])> {
    let pair = ["previous", "last"].map(|name| root.join(name));
    let started_at = pair.each_ref().map(|dir| started_at(dir));
    let [Some(_), Some(last)] = started_at else { return None };
    Some((last, pair))
}

/// When the newer of the two was started, and both, the older one first.
fn pair(newest_first: &[(PathBuf, Head)]) -> Option<(&str, [PathBuf; 2])> {
    newest_first.iter().enumerate().find_map(|(at, (newer, head))| {
        let before = newest_first[at + 1..].iter().find(|(_, h)| h.target() == head.target())?;
        Some((head.started_at.as_str(), [before.0.clone(), newer.clone()]))
    })
}

fn folders(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

/// A sweep that cannot be read, or was ended in its first level, is not among the last two.
fn head(dir: &Path) -> Option<Head> {
    let head: Head =
        serde_json::from_slice(&input::read_result(&dir.join(SWEEP_JSON)).ok()?).ok()?;
    (!head.levels.is_empty()).then_some(head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::input::RUN_JSON;

    fn held(name: &str, url: &str, command: &str) -> (PathBuf, Head) {
        let command = command.split(' ').map(str::to_owned).collect();
        (
            name.into(),
            Head { url: url.into(), started_at: String::new(), command, levels: Vec::new() },
        )
    }

    #[test]
    fn the_newest_with_a_forerunner() {
        let named = |name, url| held(name, url, &format!("plimsoll sweep {url}"));
        let sweeps = [
            named("alone", "http://c/"),
            named("new", "http://a/"),
            named("other", "http://b/"),
            named("old", "http://a/"),
            named("older", "http://a/"),
        ];
        assert_eq!(pair(&sweeps), Some(("", ["old".into(), "new".into()])));
        assert_eq!(pair(&sweeps[..3]), None);
        let built_in = [
            held("second", "http://127.0.0.1:2/queue", "plimsoll sweep"),
            held("first", "http://127.0.0.1:1/queue", "plimsoll sweep -q"),
        ];
        assert_eq!(pair(&built_in), Some(("", ["first".into(), "second".into()])));
        let others = [
            held("built in", "http://127.0.0.1:2/queue", "plimsoll sweep -H Referer:http://a/"),
            named("orders", "orders.toml"),
            named("local", "localhost:8080"),
            held("built in, too", "http://127.0.0.1:1/queue", "plimsoll sweep"),
            named("local, too", "localhost:8080"),
            named("orders, too", "orders.toml"),
        ];
        assert_eq!(pair(&others), Some(("", ["built in, too".into(), "built in".into()])));
        assert_eq!(pair(&others[1..]), Some(("", ["orders, too".into(), "orders".into()])));
        assert_eq!(pair(&others[1..4]), None);
    }

    #[test]
    fn two_runs_newer_than_the_sweeps_are_compared() {
        let root = tempfile::tempdir().unwrap();
        let put = |name: &str, file: &str, text: &str| {
            fs::create_dir_all(root.path().join(name)).unwrap();
            fs::write(root.path().join(name).join(file), text).unwrap();
        };
        put("last", RUN_JSON, r#"{"started_at":"2026-02-02"}"#);
        assert!(two(root.path()).is_err());
        put("previous", RUN_JSON, r#"{"started_at":"2026-02-01"}"#);
        let runs = ["previous", "last"].map(|name| root.path().join(name));
        assert_eq!(two(root.path()).unwrap(), runs);
        for (name, date) in [("api/1", "2026-01-01"), ("api/2", "2026-03-01")] {
            let text =
                format!(r#"{{"url":"a","started_at":"{date}","command":[],"levels":[{{}}]}}"#);
            put(name, SWEEP_JSON, &text);
        }
        assert_eq!(
            two(root.path()).unwrap(),
            ["api/1", "api/2"].map(|name| root.path().join(name))
        );
    }

    #[test]
    fn a_sweep_without_a_level_is_none_to_compare() {
        let folder = tempfile::tempdir().unwrap();
        let write = |levels: &str| {
            let text =
                format!(r#"{{"url":"a","started_at":"b","command":[],"levels":[{levels}]}}"#);
            fs::write(folder.path().join(SWEEP_JSON), text).unwrap();
            head(folder.path()).is_some()
        };
        assert!(!write("") && write("{}"));
    }
}
