//! `run.journal`: what a run brought so far, a line an interval, so that nothing measured is lost to
//! a kill, a crash or a full disk. The first line is the run's head.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use model::{Interval, Run, RunBuilder, RunHead};

use crate::failure::{Failure, cannot_run};

/// The journal's name in a result folder.
pub const NAME: &str = "run.journal";

/// A journal being written. After the first failure it says so once and stops; the run goes on.
#[derive(Debug)]
pub struct Journal {
    file: Option<File>,
    path: PathBuf,
}

impl Journal {
    /// Begins a journal in `dir`.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn create(dir: &Path, head: &RunHead) -> Result<Self, Failure> {
        let path = dir.join(NAME);
        let file = File::create(&path).map_err(|error| {
            Failure::CannotRun(format!("cannot write {}: {error}", path.display()))
        })?;
        let mut journal = Self { file: Some(file), path };
        journal.write(head);
        Ok(journal)
    }

    /// Appends an interval.
    pub fn append(&mut self, interval: &Interval) {
        self.write(interval);
    }

    fn write(&mut self, line: &impl serde::Serialize) {
        let Some(file) = &mut self.file else { return };
        let mut text = serde_json::to_vec(line).expect("plain data becomes JSON");
        text.push(b'\n');
        if let Err(error) = file.write_all(&text) {
            eprintln!(
                "plimsoll: cannot write {}: {error}; the run goes on without it",
                self.path.display()
            );
            self.file = None;
        }
    }
}

/// The run that a journal holds: every whole line of it.
///
/// # Errors
/// When the file cannot be read or does not begin as a journal does.
pub fn replay(path: &Path) -> Result<Run, Failure> {
    let file = File::open(path)
        .map_err(|error| Failure::CannotRun(format!("cannot read {}: {error}", path.display())))?;
    let mut lines = BufReader::new(file).lines();
    let head = match lines.next() {
        Some(Ok(line)) => serde_json::from_str::<RunHead>(&line).map_err(|error| {
            Failure::CannotRun(format!(
                "{} does not begin as a journal does: {error}",
                path.display()
            ))
        })?,
        _ => return cannot_run(format!("{} is empty: nothing was measured yet", path.display())),
    };
    let mut builder = RunBuilder::new(head);
    for line in lines {
        // The last line of a killed run may be cut short; what precedes it stands.
        let Some(interval) =
            line.ok().and_then(|line| serde_json::from_str::<Interval>(&line).ok())
        else {
            break;
        };
        builder.add(&interval);
    }
    let mut run = builder.finish(true);
    run.validity = verdict::judge(&run);
    Ok(run)
}
