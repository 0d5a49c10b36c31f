//! Writing a workload file that editors understand: its first line names its JSON Schema, which
//! stands beside it.
//!
//! Owns those two files and the refusal to write over one. Does not own what the workload says
//! (`import`, [`crate::init`]) nor reading one.

use std::path::Path;

use model::workload::Workload;

use crate::failure::{Failure, cannot_run, usage};
use crate::output::{json, write_file};

/// The schema's file, beside the workload file.
pub const SCHEMA_FILE: &str = "plimsoll.workload-1.json";

/// The JSON Schema of workload files.
pub fn schema() -> String {
    json(&schemars::schema_for!(Workload)) + "\n"
}

/// Writes `yaml` below the line that names the schema, and the schema into the same folder.
///
/// # Errors
/// When the file is there and may not be written over, or one of the two cannot be written.
pub fn write(path: &Path, yaml: &str, over: bool) -> Result<(), Failure> {
    if path.exists() && !over {
        let path = path.display();
        return usage(format!("{path} is there already: --force writes over it, --out elsewhere"));
    }
    let text = format!("# yaml-language-server: $schema={SCHEMA_FILE}\n{yaml}");
    let beside = path.with_file_name(SCHEMA_FILE);
    for (path, bytes) in [(path, text.as_bytes()), (&beside, schema().as_bytes())] {
        if let Err(error) = write_file(path, bytes) {
            return cannot_run(format!("cannot write {}: {error}", path.display()));
        }
    }
    Ok(())
}
