//! The files of a search: its record and each step's run while it goes on, the load line, page and
//! picture at its end.

use std::path::{Path, PathBuf};

use model::Run;
use model::capacity::{CapacitySearch, SearchStep, Step};
use verdict::capacity::Reading;

use crate::failure::Failure;
use crate::results::charts::drawn;
use crate::results::input;
use crate::results::lock::Lock;
use crate::results::output::{json, make_folder, write_files};

/// The search itself.
pub const SEARCH_JSON: &str = "search.json";
/// The load line.
pub const CAPACITY_JSON: &str = "capacity.json";
pub const REPORT: &str = "report.html";
/// Where the runs of the steps are.
pub const STEPS: &str = "steps";

/// Where a search's results go.
#[derive(Debug)]
pub struct Files {
    dir: PathBuf,
    _lock: Lock,
}

impl Files {
    /// A folder that holds this search alone.
    ///
    /// # Errors
    /// When it cannot be written to, or is written to already.
    pub fn new(dir: &Path) -> Result<Self, Failure> {
        make_folder(dir)?;
        Self::of_locked(dir, Lock::of_folder(dir)?)
    }

    /// As [`Files::new`], of a folder that is there and locked.
    ///
    /// # Errors
    /// As [`Files::new`].
    pub fn of_locked(dir: &Path, lock: Lock) -> Result<Self, Failure> {
        make_folder(dir)?;
        make_folder(&dir.join(STEPS))?;
        Ok(Self { dir: dir.to_owned(), _lock: lock })
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The page.
    pub fn report(&self) -> PathBuf {
        self.dir.join(REPORT)
    }

    /// Writes the run of a step; its file's name in the folder.
    pub fn write_run(&self, nth: usize, step: &Step, run: &Run) -> String {
        let name = format!("{STEPS}/{nth:02}-{}-{}.json", step.purpose.name(), step.level);
        write_files(&self.dir, [(name.as_str(), (json(run) + "\n").into_bytes())]);
        name
    }

    /// The run of a step, as far as it can be read; the name of its file leads nowhere else.
    pub fn read_run(&self, step: &SearchStep) -> Option<Run> {
        let name = Path::new(&step.file).strip_prefix(STEPS).ok()?.file_name()?;
        let bytes = input::read_result(&self.dir.join(STEPS).join(name)).ok()?;
        import::load_run(&bytes).ok()
    }

    /// Writes what was learnt so far; whether it could be.
    pub fn write_record(&self, record: &CapacitySearch) -> bool {
        write_files(&self.dir, [(SEARCH_JSON, (json(record) + "\n").into_bytes())])
    }

    /// Writes everything; `run` is that of the level found. Whether every file could be.
    pub fn write(&self, record: &CapacitySearch, reading: &Reading, run: Option<&Run>) -> bool {
        let chart = report::charts::search(record);
        let csv = chart.table().to_csv();
        let mut files = vec![
            (SEARCH_JSON.to_owned(), (json(record) + "\n").into_bytes()),
            (REPORT.to_owned(), report::html::capacity(record, reading, run).into_bytes()),
            ("search.csv".to_owned(), csv.into_bytes()),
        ];
        if let Some(line) = &record.load_line {
            files.push((CAPACITY_JSON.to_owned(), (json(line) + "\n").into_bytes()));
        }
        files.extend(drawn("search", &chart.signed([report::charts::of_search(record)])));
        write_files(&self.dir, files.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())))
    }
}
