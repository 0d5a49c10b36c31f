//! What may be resumed with the name of its folder only.
//!
//! A result folder contains the command that made it. It may come from elsewhere, and a command names scripts to run,
//! files to send and servers to load: so a folder's command is never run by itself. When a command creates a folder, it
//! leaves a record in the user's own state folder: the command, and digests of the files that it names. `--resume DIR`
//! runs the command of the record, and only if it equals the folder's and the files are unchanged. Otherwise the command
//! is printed, and the user must give it again.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::failure::{Failure, usage};
use crate::results::input;
use crate::results::output;
use crate::secrets;
use crate::user_folder;

const SCHEMA: &str = "plimsoll.begun/1";
/// Bytes of a record at most.
const LONGEST: u64 = 4 << 20;
/// Records that are kept at most; the oldest go.
const MOST: usize = 500;
/// Up to this many bytes a file is identified by its digest; a larger one, whose digest takes seconds, by its place
/// on the disk and its times, of which nobody but root can set the last.
const DIGESTED: u64 = 256 << 20;
/// Characters of a folder's command that are shown.
const SHOWN: usize = 4000;

/// What a command began.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Record {
    schema: String,
    /// The folder, without links in its path.
    folder: PathBuf,
    /// Secrets masked, as the folder has it.
    command: Vec<String>,
    /// What relative names count from.
    working_folder: PathBuf,
    files: Vec<Named>,
}

/// A file that the command, or its workload, names.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Named {
    path: PathBuf,
    /// What identifies it; none where it is not a regular file, whose content is never the same for sure.
    content: Option<String>,
}

/// Records that the command that runs now began `dir`, and that it uses these files. Where that cannot be done, `--resume` asks for the command.
pub fn keep(dir: &Path, files: BTreeSet<PathBuf>) {
    let (Some(path), Ok(folder), Ok(working_folder)) =
        (place(dir), dir.canonicalize(), std::env::current_dir())
    else {
        return;
    };
    let named = |path: PathBuf| Named { content: content(&path).ok().flatten(), path };
    let record = Record {
        schema: SCHEMA.to_owned(),
        folder,
        command: secrets::command(),
        working_folder,
        files: files.into_iter().map(named).collect(),
    };
    let Some(kept) = path.parent() else { return };
    if output::make_folder(kept).is_ok()
        && output::write_file(&path, output::json(&record).as_bytes()).is_ok()
    {
        prune(kept);
    }
}

/// The command that began `dir`, which holds `stored` as its own.
///
/// # Errors
/// When that is not known for sure, or a file that it names is not what it was.
pub fn command(dir: &Path, stored: &[String]) -> Result<Vec<String>, Failure> {
    let resumed = format!("give it again with --resume {} instead of --out", dir.display());
    command_for(dir, stored, &format!("--resume {}", dir.display()), &resumed)
}

/// As [`command`], for what the user `asked` for, with how to go on without the record.
///
/// # Errors
/// As [`command`].
pub fn command_for(
    dir: &Path,
    stored: &[String],
    asked: &str,
    otherwise: &str,
) -> Result<Vec<String>, Failure> {
    let shown = dir.display();
    let record = place(dir).and_then(|path| read(&path));
    let folder = dir.canonicalize().ok();
    let Some(record) = record.filter(|r| r.command == stored && Some(&r.folder) == folder.as_ref())
    else {
        return usage(format!(
            "{asked}: your records do not say how this folder was started (it was made elsewhere, moved or \
             changed), and a command stored in a folder is not run without your consent. The \
             folder names this command: `{}`. To run it, {otherwise}",
            shortened(stored)
        ));
    };
    if !record.files.is_empty()
        && std::env::current_dir().ok().as_ref() != Some(&record.working_folder)
    {
        return usage(format!(
            "{asked}: it was started in {}, and its file names are relative to that folder: change to it, or \
             give the command again",
            record.working_folder.display()
        ));
    }
    let same = |named: &Named| {
        named.content.is_some() && content(&named.path).ok() == Some(named.content.clone())
    };
    match record.files.iter().find(|named| !same(named)) {
        Some(named) => usage(format!(
            "{} has changed since {shown} was written: if it is what you want to use, {otherwise}: `{}`",
            named.path.display(),
            shortened(stored)
        )),
        None => Ok(record.command),
    }
}

fn shortened(command: &[String]) -> String {
    let shell = report::shell(command);
    match shell.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}...", &shell[..at]),
        None => shell,
    }
}

/// Where the record of a folder is.
fn place(dir: &Path) -> Option<PathBuf> {
    let state = user_folder::find("XDG_STATE_HOME", ".local/state")?;
    let name = user_folder::name_of(&dir.canonicalize().ok()?.to_string_lossy());
    Some(state.join("begun").join(format!("{name}.json")))
}

fn read(path: &Path) -> Option<Record> {
    let bytes = input::read_plain(path, LONGEST).ok()?;
    serde_json::from_slice(&bytes).ok().filter(|record: &Record| record.schema == SCHEMA)
}

/// What identifies a file's content.
fn content(path: &Path) -> io::Result<Option<String>> {
    let about = fs::metadata(path)?;
    if !about.is_file() {
        return Ok(None);
    }
    if about.len() > DIGESTED {
        let times = (about.mtime(), about.mtime_nsec(), about.ctime(), about.ctime_nsec());
        return Ok(Some(format!("{:?}", (about.dev(), about.ino(), about.len(), times))));
    }
    let (mut file, mut digest, mut buffer) = (File::open(path)?, Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            read => digest.update(&buffer[..read]),
        }
    }
    Ok(Some(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()))
}

/// Leaves the newest records.
fn prune(kept: &Path) {
    let Ok(entries) = fs::read_dir(kept) else { return };
    let dated = |entry: fs::DirEntry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()));
    let mut records: Vec<_> = entries.filter_map(Result::ok).filter_map(dated).collect();
    if records.len() > MOST {
        records.sort();
        for (_, path) in &records[..records.len() - MOST] {
            let _ = fs::remove_file(path);
        }
    }
}
