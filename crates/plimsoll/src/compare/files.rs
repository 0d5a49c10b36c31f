//! The files of a comparison, written whole after every round.

use std::path::{Path, PathBuf};

use serde_json::json;
use verdict::Comparison;

use crate::execute::now_rfc3339;
use crate::failure::Failure;
use crate::output::{json, make_folder, write_files};
use crate::secrets;
use crate::sweep::files::drawn;

/// The comparison in its folder.
pub const COMPARE_JSON: &str = "compare.json";
const REPORT: &str = "report.html";

/// Where a comparison's results go.
#[derive(Debug)]
pub struct Files {
    dir: PathBuf,
    started_at: String,
}

impl Files {
    /// In this folder.
    ///
    /// # Errors
    /// When it cannot be written to.
    pub fn new(dir: PathBuf) -> Result<Self, Failure> {
        make_folder(&dir)?;
        Ok(Self { dir, started_at: now_rfc3339() })
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The page.
    pub fn report(&self) -> PathBuf {
        self.dir.join(REPORT)
    }

    /// The comparison as JSON. Latencies in nanoseconds, effects as ratios.
    pub fn document(&self, comparison: &Comparison) -> String {
        json(&json!({
            "schema": "plimsoll.compare/1",
            "plimsoll": { "version": env!("CARGO_PKG_VERSION") },
            "started_at": self.started_at,
            "command": secrets::mask_command(std::env::args()),
            "judgement": comparison.judgement(),
            "sentence": comparison.sentence(),
            "comparison": comparison,
        })) + "\n"
    }

    /// Writes everything but the runs; whether every file could be.
    pub fn write(&self, comparison: &Comparison, rounds: &[(String, String)]) -> bool {
        let command = secrets::mask_command(std::env::args());
        let page = report::html::comparison(&report::html::Compared {
            comparison,
            command: &command,
            rounds,
        });
        let mut files = vec![
            (COMPARE_JSON.to_owned(), self.document(comparison).into_bytes()),
            ("effects.csv".to_owned(), report::comparison::csv(comparison).into_bytes()),
            (REPORT.to_owned(), page.into_bytes()),
        ];
        if !comparison.effects.is_empty() {
            files.extend(drawn("effects", &report::comparison::chart(comparison).chart()));
        }
        write_files(&self.dir, files.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())))
    }
}
