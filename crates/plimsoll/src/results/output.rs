//! Results to standard output and to files, which are for their owner alone (0600): detectors of secrets find most of
//! them, not all.

use std::fs;
use std::io;
use std::path::Path;
use std::process;

use model::Run;
use model::profiled::{Flame, Profiled};
use model::quote::is_obeyed;

use crate::args::{Format, PrintArgs};
use crate::failure::{Failure, cannot_run};
use crate::results::folder::PARENT;
use crate::terminal::screen;

pub use measure::files::{Readers, create_new, write_file, write_file_for};

pub use crate::terminal::screen::style;

/// Makes a folder and what leads to it.
///
/// # Errors
/// When it cannot be made or not be written to.
pub fn make_folder(dir: &Path) -> Result<(), Failure> {
    if let Err(error) = fs::create_dir_all(dir) {
        let why = match dir.is_file() {
            true => "there is a file of that name: name another".to_owned(),
            false => error.to_string(),
        };
        let other = elsewhere(dir);
        return cannot_run(format!("cannot make the folder {}: {why}{other}", dir.display()));
    }
    let probe = dir.join(format!(".plimsoll-probe.{}", process::id()));
    match create_new(&probe, Readers::Owner).and_then(|_| fs::remove_file(&probe)) {
        Ok(()) => Ok(()),
        Err(error) => {
            let other = elsewhere(dir);
            cannot_run(format!("cannot write to the folder {}: {error}{other}", dir.display()))
        }
    }
}

/// What to do where a folder that nobody named cannot be written to.
fn elsewhere(dir: &Path) -> &'static str {
    if dir.starts_with(PARENT) { "; name another with --out DIR" } else { "" }
}

/// Writes files into `dir`, and prints one line about those that could not be; whether all were.
pub fn write_files<'a>(dir: &Path, files: impl IntoIterator<Item = (&'a str, Vec<u8>)>) -> bool {
    let mut failed = Vec::new();
    let mut reason = None;
    for (name, bytes) in files {
        if let Err(error) = write_file(&dir.join(name), &bytes) {
            failed.push(name);
            reason.get_or_insert(error);
        }
    }
    if let Some(reason) = &reason {
        eprintln!("plimsoll: cannot write {} in {}: {reason}", failed.join(", "), dir.display());
    }
    reason.is_none()
}

/// Prints a run in the form asked for; whether it could be.
pub fn print_run(run: &Run, print_as: &PrintArgs) -> bool {
    let latency = print_as.latency;
    match print_as.format {
        Format::Text if print_as.details || latency => {
            print(&report::text::details(run, latency, screen::style_of_tables()))
        }
        Format::Text => print(&report::text::summary(run, style())),
        Format::Wrk => {
            let printed = print(&report::wrk::block(run, latency));
            let style = screen::style_of_stderr();
            let objectives = report::text::objectives::section(run, style).unwrap_or_default();
            let verdict = report::text::validity(run, style);
            screen::print_styled_to_stderr(&(objectives + &verdict), style);
            printed
        }
        Format::Json => print(&(json(run) + "\n")),
    }
}

/// The line that names the page of a result; nothing where the page could not be `written`.
pub fn report_line(page: &Path, written: bool) -> String {
    if written { format!("report: {}\n", page.display()) } else { String::new() }
}

/// A command as it can be typed, of a folder or a file.
pub fn typed(command: &[&str], path: &Path) -> String {
    let path = path.display().to_string();
    let words: Vec<String> = command.iter().map(|word| (*word).to_owned()).chain([path]).collect();
    report::shell(&words)
}

/// Writes a run's files; whether all could be.
pub fn write_run(dir: &Path, run: &Run) -> bool {
    write_profiled_run(dir, run, None)
}

/// Writes the files of a run, its profile into its page; whether all could be.
pub fn write_profiled_run(dir: &Path, run: &Run, profile: Option<(&Profiled, &Flame)>) -> bool {
    let response = run.histogram("response").unwrap_or_default();
    write_files(
        dir,
        [
            ("run.json", (json(run) + "\n").into_bytes()),
            ("latency.hgrm", report::hgrm::hgrm(&response).into_bytes()),
            ("timeline.csv", report::timeline::timeline_csv(run).into_bytes()),
            ("report.html", report::html::profiled_run(run, profile).into_bytes()),
        ],
    )
}

/// Any of our results as JSON. What a terminal would obey stands in it as JSON's own escapes.
pub fn json(value: &impl serde::Serialize) -> String {
    let text = serde_json::to_string_pretty(value).expect("plain data becomes JSON");
    if !text.contains(is_obeyed) {
        return text;
    }
    // All these characters are of the basic plane, and outside of strings there are none.
    let escaped = |c: char| match is_obeyed(c) {
        true => format!("\\u{:04x}", u32::from(c)),
        false => c.to_string(),
    };
    text.chars().map(escaped).collect()
}

/// Prints to standard output; whether that could be done. A reader that has gone (`| head`) is no
/// failure; a full disk is one, and reported.
pub fn print(text: &str) -> bool {
    match screen::print(text) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            eprintln!("plimsoll: cannot write to standard output: {error}");
            false
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, symlink};

    use super::*;

    #[test]
    fn files_are_their_owners_and_no_link_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (victim, wanted) = (dir.path().join("victim"), dir.path().join("run.json"));
        fs::write(&victim, "untouched").unwrap();
        symlink(&victim, &wanted).unwrap();
        let partial = dir.path().join(format!(".run.json.{}.partial", process::id()));
        symlink(&victim, &partial).unwrap();
        write_file(&wanted, b"{}").unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"untouched");
        let about = fs::symlink_metadata(&wanted).unwrap();
        assert!(about.is_file() && about.mode() & 0o777 == 0o600, "{about:?}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn json_holds_nothing_that_a_terminal_obeys() {
        let hostile = "\u{1b}[2J \u{9b}31m \u{202e} \u{7f} é";
        let text = json(&hostile);
        assert!(!text.contains(is_obeyed), "{text:?}");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), hostile);
    }
}
