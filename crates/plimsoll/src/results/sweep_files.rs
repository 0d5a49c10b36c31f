//! The files of a sweep, written whole after every level.

use std::path::{Path, PathBuf};

use model::{Curve, Sweep};

use crate::failure::{Failure, usage};
use crate::results::charts::drawn;
use crate::results::input::SWEEP_JSON;
use crate::results::lock::Lock;
use crate::results::output::{json, make_folder, write_files};

/// Where a sweep's results go.
#[derive(Debug)]
pub struct SweepFiles {
    dir: PathBuf,
    name: String,
    json: String,
    report: String,
    _lock: Lock,
}

/// The charts of a sweep, behind its name.
const CHARTS: [&str; 2] = ["_qps_ttlb", "_successrate"];
/// The law fitted to it, and its table, likewise.
const SCALING: &str = "_scaling.json";
const TABLE: &str = ".dat";

/// The files that carry the name of a sweep.
pub fn names(name: &str) -> Vec<String> {
    let charts =
        CHARTS.iter().flat_map(|chart| ["svg", "png"].map(|end| format!("{name}{chart}.{end}")));
    charts.chain([SCALING, TABLE].map(|rest| format!("{name}{rest}"))).collect()
}

impl SweepFiles {
    /// A folder that holds this sweep alone.
    ///
    /// # Errors
    /// When the name is no file name, or the folder cannot be written to or is written to already.
    pub fn of_sweep(dir: &Path, name: &str) -> Result<Self, Failure> {
        check_name(name)?;
        make_folder(dir)?;
        Self::of_locked(dir, name, Lock::of_folder(dir)?)
    }

    /// As [`SweepFiles::of_sweep`], of a folder that is there and locked.
    ///
    /// # Errors
    /// As [`SweepFiles::of_sweep`].
    pub fn of_locked(dir: &Path, name: &str, lock: Lock) -> Result<Self, Failure> {
        check_name(name)?;
        make_folder(dir)?;
        let (json, report) = (SWEEP_JSON.to_owned(), "report.html".to_owned());
        Ok(Self { dir: dir.to_owned(), name: name.to_owned(), json, report, _lock: lock })
    }

    /// A folder where the results of several jobs lie side by side, as wrktest.sh leaves them.
    ///
    /// # Errors
    /// As [`SweepFiles::of_sweep`].
    pub fn of_job(dir: &Path, name: &str) -> Result<Self, Failure> {
        check_name(name)?;
        make_folder(dir)?;
        Ok(Self {
            dir: dir.to_owned(),
            name: name.to_owned(),
            json: format!("{name}.sweep.json"),
            report: format!("{name}.report.html"),
            _lock: Lock::of_job(dir, name)?,
        })
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The page.
    pub fn report(&self) -> PathBuf {
        self.dir.join(&self.report)
    }

    /// A file of the folder that carries the name: `NAME` and `rest`.
    pub fn named(&self, rest: &str) -> PathBuf {
        self.dir.join(format!("{}{rest}", self.name))
    }

    /// Writes a sweep that has no level yet, so that it can be resumed if it is killed in its
    /// first.
    pub fn write_json(&self, sweep: &Sweep) {
        write_files(&self.dir, [(self.json.as_str(), (json(sweep) + "\n").into_bytes())]);
    }

    /// Writes the sweep as it is; whether every file could be.
    pub fn write(&self, sweep: &Sweep) -> bool {
        let Ok(curve) = Curve::from_sweep(sweep) else { return false };
        let reading = verdict::curve::read(&curve, sweep.objective_mean_ns);
        let qps = report::charts::curve(&curve, &reading, sweep.objective_mean_ns).chart();
        let source = report::charts::of_sweep(sweep);
        let title = format!("Success rate of {}", curve.name);
        let success = report::charts::success(&title, std::slice::from_ref(&curve)).chart();
        let scaling = json(&reading.scaling(&curve)) + "\n";
        let mut files = vec![
            (self.json.clone(), (json(sweep) + "\n").into_bytes()),
            (format!("{}{SCALING}", self.name), scaling.into_bytes()),
            (
                format!("{}{TABLE}", self.name),
                import::dat::print(&whole_levels(sweep, &curve)).into_bytes(),
            ),
            (self.report.clone(), report::html::sweep(sweep, &curve, &reading).into_bytes()),
        ];
        for (chart, drawing) in CHARTS.iter().zip([qps, success]) {
            files
                .extend(drawn(&format!("{}{chart}", self.name), &drawing.signed([source.clone()])));
        }
        write_files(&self.dir, files.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())))
    }
}

/// The levels that were not cut short by Ctrl-C: wrktest.sh's table has no place to say so, and would
/// show a part as a whole.
fn whole_levels(sweep: &Sweep, curve: &Curve) -> Curve {
    let cut = |level: f64| {
        let held = sweep.levels.iter().find(|held| held.level == level);
        held.is_some_and(|held| held.run.interrupted && held.run.aborted.is_none())
    };
    let mut whole = curve.clone();
    whole.rows.retain(|row| !cut(row.level));
    whole
}

fn check_name(name: &str) -> Result<(), Failure> {
    if name.is_empty() || name.starts_with('.') || name.contains(['/', '\0']) {
        return usage(format!(
            "`{name}` cannot be a file name: leave out slashes and a leading dot"
        ));
    }
    Ok(())
}
