//! `run.journal`: what a run brought so far, a line an interval, so that nothing measured is lost to
//! a kill, a crash or a full disk. The first line is the run's head.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
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
    /// Begins a journal in `dir`. Where that cannot be done it says so; the run goes on.
    pub fn create(dir: &Path, head: &RunHead) -> Self {
        let path = dir.join(NAME);
        let mut journal = Self { file: None, path };
        match File::create(&journal.path) {
            Ok(file) => journal.file = Some(file),
            Err(error) => journal.give_up(&error),
        }
        journal.write(head);
        journal
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
            self.give_up(&error);
        }
    }

    fn give_up(&mut self, error: &io::Error) {
        let path = self.path.display();
        eprintln!("plimsoll: cannot write {path}: {error}; the run goes on without it");
        self.file = None;
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
    Ok(verdict::conclude(builder, true))
}
