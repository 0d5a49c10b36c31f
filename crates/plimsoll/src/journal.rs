//! `run.journal`: what a run brought so far, a line an interval, so that nothing measured is lost to
//! a kill, a crash or a full disk. The first line is the run's head, with the objectives that it was
//! to be judged by.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Lines, Write};
use std::path::{Path, PathBuf};

use model::{Interval, Run, RunBuilder, RunHead};
use serde::{Deserialize, Serialize};

use crate::failure::{Failure, cannot_run};

/// The journal's name in a result folder.
pub const NAME: &str = "run.journal";

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    #[serde(flatten)]
    run: RunHead,
    /// As `--slo` takes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    objectives: Vec<String>,
}

/// What a journal holds.
#[derive(Debug)]
pub struct Replayed {
    /// The run, as far as it went, its validity judged.
    pub run: Run,
    /// The objectives that it was to be judged by, as `--slo` takes them.
    pub objectives: Vec<String>,
}

/// A journal being written. After the first failure it says so once and stops; the run goes on.
#[derive(Debug)]
pub struct Journal {
    file: Option<File>,
    path: PathBuf,
}

impl Journal {
    /// Begins a journal in `dir` of a run to be judged by `objectives`. Where that cannot be done it
    /// says so; the run goes on.
    pub fn create(dir: &Path, head: &RunHead, objectives: &[String]) -> Self {
        let path = dir.join(NAME);
        let mut journal = Self { file: None, path };
        match File::create(&journal.path) {
            Ok(file) => journal.file = Some(file),
            Err(error) => journal.give_up(&error),
        }
        journal.write(&Head { run: head.clone(), objectives: objectives.to_vec() });
        journal
    }

    /// Appends an interval.
    pub fn append(&mut self, interval: &Interval) {
        self.write(interval);
    }

    fn write(&mut self, line: &impl Serialize) {
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

/// The command that a journal's run was started with, secrets masked.
///
/// # Errors
/// As [`replay`].
pub fn command(path: &Path) -> Result<Vec<String>, Failure> {
    Ok(open(path)?.0.run.command)
}

/// The run that a journal holds: every whole line of it. A line that is none ends it; where others
/// follow, that is said.
///
/// # Errors
/// When the file cannot be read or does not begin as a journal does.
pub fn replay(path: &Path) -> Result<Replayed, Failure> {
    let (Head { run: head, objectives }, mut lines) = open(path)?;
    let mut builder = RunBuilder::new(head);
    while let Some(line) = lines.next() {
        let interval: Result<Interval, String> =
            line.map_err(|error| error.to_string()).and_then(|line| read(&line));
        match interval {
            Ok(interval) => builder.add(&interval),
            // The last line of a killed run may be cut short; what precedes it stands.
            Err(_) if lines.next().is_none() => break,
            Err(error) => {
                let path = path.display();
                eprintln!("plimsoll: {path} is damaged ({error}): what precedes the damage stands");
                break;
            }
        }
    }
    Ok(Replayed { run: verdict::conclude(builder, true), objectives })
}

/// A journal's first line, and the lines behind it.
fn open(path: &Path) -> Result<(Head, Lines<BufReader<File>>), Failure> {
    let file = File::open(path)
        .map_err(|error| Failure::CannotRun(format!("cannot read {}: {error}", path.display())))?;
    let mut lines = BufReader::new(file).lines();
    let begins_otherwise = |error: String| {
        Failure::CannotRun(format!("{} does not begin as a journal does: {error}", path.display()))
    };
    match lines.next() {
        Some(Ok(line)) => Ok((read(&line).map_err(begins_otherwise)?, lines)),
        _ => cannot_run(format!("{} is empty: nothing was measured yet", path.display())),
    }
}

/// A line, if its figures are such as a run can have.
fn read<T: serde::de::DeserializeOwned>(line: &str) -> Result<T, String> {
    import::within_reach(line.as_bytes())?;
    serde_json::from_str(line).map_err(|error| error.to_string())
}
