//! The notebook's folder: the record of the tuning (`story`), and every run in a folder of its own.

use std::fs;
use std::path::{Path, PathBuf};

use model::profiled::{Flame, Profiled};
use model::tuning::{SCHEMA, Tuning};

use crate::failure::{Failure, cannot_run, usage};
use crate::results::input;
use crate::results::lock::Lock;
use crate::results::output;

/// The story's file.
const STORY: &str = "tune.json";

/// A folder, held by this command alone.
#[derive(Debug)]
pub struct Notebook {
    dir: PathBuf,
    _lock: Lock,
}

impl Notebook {
    /// A folder in which no story was begun.
    ///
    /// # Errors
    /// When there is one, or it cannot be written to.
    pub fn new(dir: &Path) -> Result<Self, Failure> {
        output::make_folder(dir)?;
        let lock = Lock::of_folder(dir)?;
        if dir.join(STORY).exists() {
            return usage(format!(
                "{} holds a story already: go on with `plimsoll tune try`, or give another --notebook",
                dir.display()
            ));
        }
        Ok(Self { dir: dir.to_owned(), _lock: lock })
    }

    /// A folder with its story.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn open(dir: &Path) -> Result<(Self, Tuning), Failure> {
        let path = dir.join(STORY);
        if !path.is_file() {
            return cannot_run(format!(
                "{}: holds no story: begin one with `plimsoll tune begin URL`",
                dir.display()
            ));
        }
        // Before the story is read, or what another command adds to it meanwhile would be lost.
        let lock = Lock::of_folder(dir)?;
        let bytes = input::read_result(&path)
            .or_else(|why| cannot_run(format!("{}: {why}", path.display())))?;
        let tuning: Tuning = match serde_json::from_slice(&bytes) {
            Ok(tuning) => tuning,
            Err(error) => return cannot_run(format!("{}: {error}", path.display())),
        };
        if tuning.schema != SCHEMA {
            let schema = model::quote::quote(&tuning.schema);
            return cannot_run(format!(
                "{}: is of {schema}, which this version does not read",
                path.display()
            ));
        }
        Ok((Self { dir: dir.to_owned(), _lock: lock }, tuning))
    }

    /// A folder for a run, that no run has.
    pub fn run_folder(&self, name: &str) -> (String, PathBuf) {
        let plain: String = (name.chars().take(40))
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
            .collect();
        let free = (1..).map(|number| match number {
            1 => plain.clone(),
            number => format!("{plain}-{number}"),
        });
        let name = free
            .into_iter()
            .find(|name| !self.dir.join(name).exists())
            .expect("numbers do not end");
        let path = self.dir.join(&name);
        (name, path)
    }

    /// The folder of a run of the story.
    ///
    /// # Errors
    /// When the story names one elsewhere.
    pub fn place(&self, name: &str) -> Result<PathBuf, Failure> {
        match Path::new(name).file_name() {
            Some(base) if Path::new(name) == Path::new(base) => Ok(self.dir.join(base)),
            _ => cannot_run(format!("{}: names a run elsewhere", self.dir.join(STORY).display())),
        }
    }

    /// Writes the story and its page.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write(
        &self,
        tuning: &Tuning,
        profile: Option<(&Profiled, &Flame)>,
    ) -> Result<(), Failure> {
        let files = [
            (STORY, (output::json(tuning) + "\n").into_bytes()),
            ("report.html", report::html::tuning(tuning, profile).into_bytes()),
        ];
        match output::write_files(&self.dir, files) {
            true => Ok(()),
            false => {
                cannot_run(format!("the story in {} could not be written", self.dir.display()))
            }
        }
    }

    /// The page.
    pub fn page(&self) -> PathBuf {
        self.dir.join("report.html")
    }

    /// Removes the folder of a run that failed; it may hold nothing.
    pub fn forget(&self, path: &Path) {
        if path.starts_with(&self.dir) {
            let _ = fs::remove_dir(path);
        }
    }
}
