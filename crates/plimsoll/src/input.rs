//! Files that were named on the command line, read whole and within bounds.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::sweep::files::SWEEP_JSON;

/// A run in a folder of its own.
pub const RUN_JSON: &str = "run.json";
/// Bytes of one file at most: a sweep of a thousand levels takes less.
const LARGEST: u64 = 1 << 30;

/// Reads a file. The bound holds for what has no length beforehand too, such as a pipe.
///
/// # Errors
/// A sentence without the file's name, when it cannot be read or is too large.
pub fn read(path: &Path) -> Result<Vec<u8>, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let about = file.metadata().map_err(|error| error.to_string())?;
    if about.is_dir() {
        return Err("is a folder".to_owned());
    }
    let mut bytes = Vec::new();
    let too_large = || format!("more than {} MiB, which no result has", LARGEST >> 20);
    if about.len() > LARGEST {
        return Err(too_large());
    }
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > LARGEST { Err(too_large()) } else { Ok(bytes) }
}

/// The result of ours that a folder holds; a path that is no folder is itself.
pub fn in_folder(path: &Path) -> Option<PathBuf> {
    if !path.is_dir() {
        return Some(path.to_owned());
    }
    [SWEEP_JSON, RUN_JSON].map(|name| path.join(name)).into_iter().find(|file| file.exists())
}
