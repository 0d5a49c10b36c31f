//! Results to standard output and to files. Files are written beside their final name and renamed,
//! so that a kill or a full disk never leaves half of one in place of a whole one.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use model::Run;
use report::text::Style;

use crate::args::Format;
use crate::failure::{Failure, cannot_run};

/// Makes a folder and what leads to it.
///
/// # Errors
/// When it cannot be made or not be written to.
pub fn make_folder(dir: &Path) -> Result<(), Failure> {
    if let Err(error) = fs::create_dir_all(dir) {
        return cannot_run(format!("cannot make the folder {}: {error}", dir.display()));
    }
    let probe = dir.join(".plimsoll-probe");
    match fs::write(&probe, b"").and_then(|()| fs::remove_file(&probe)) {
        Ok(()) => Ok(()),
        Err(error) => cannot_run(format!("cannot write to the folder {}: {error}", dir.display())),
    }
}

/// Writes a whole file or leaves the old one.
///
/// # Errors
/// When the disk is full or the folder not writable; no part of the new file is left.
pub fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let partial = path.with_file_name(format!(".{name}.partial"));
    let written = fs::write(&partial, bytes).and_then(|()| fs::rename(&partial, path));
    if written.is_err() {
        // The write's own failure is what is told.
        let _ = fs::remove_file(&partial);
    }
    written
}

/// Writes files into `dir` and tells in one line of those that could not be; whether all were.
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
pub fn print_run(run: &Run, format: Format, latency: bool) -> bool {
    match format {
        Format::Text if latency => {
            let block = report::wrk::block(run, true);
            print(&format!("{block}\n{}", report::text::detail(run, style())))
        }
        Format::Text => print(&report::text::run(run, style())),
        Format::Wrk => {
            let printed = print(&report::wrk::block(run, latency));
            let style = style_of(io::stderr().is_terminal());
            eprint!("{}", report::text::objectives::section(run, style).unwrap_or_default());
            eprint!("{}", report::text::validity(&run.validity, style));
            printed
        }
        Format::Json => print(&(json(run) + "\n")),
    }
}

/// Writes a run's files; whether all could be.
pub fn write_run(dir: &Path, run: &Run) -> bool {
    let response = run.histogram("response").unwrap_or_default();
    write_files(
        dir,
        [
            ("run.json", (json(run) + "\n").into_bytes()),
            ("latency.hgrm", report::hgrm::hgrm(&response).into_bytes()),
            ("timeline.csv", report::timeline::timeline_csv(run).into_bytes()),
            ("report.html", report::html::run(run).into_bytes()),
        ],
    )
}

/// Any of our results as JSON.
pub fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).expect("plain data becomes JSON")
}

/// Prints to standard output; whether that could be done. A reader that has gone (`| head`) is no
/// failure; a full disk is one, and said.
pub fn print(text: &str) -> bool {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            eprintln!("plimsoll: cannot write to standard output: {error}");
            false
        }
        _ => true,
    }
}

/// How standard output wants to be written to.
pub fn style() -> Style {
    style_of(io::stdout().is_terminal())
}

fn style_of(terminal: bool) -> Style {
    Style { colour: terminal && std::env::var_os("NO_COLOR").is_none() }
}
