//! One command at a time writes to a result folder.
//!
//! Owns the lock: a hidden file in the folder, locked by `flock`, that names its holder. The kernel releases the lock when
//! the process ends in any way, so the lock file of a killed command blocks nobody.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;

use model::quote::plain;
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::failure::{Failure, cannot_run};
use crate::secrets;
use measure::clock::now_rfc3339;

/// The lock's file; of a job in a folder that it shares with others, behind the job's name.
const NAME: &str = "plimsoll.lock";
/// Bytes that are read of what a holder says.
const LONGEST: u64 = 16 << 10;
/// Characters of a holder's command that are shown.
const SHOWN: usize = 200;
/// How often the file may be gone by the time it is locked.
const TRIES: usize = 100;

/// A folder, or one job's part of it, that no other command writes to as long as this lives.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    /// None where the file system has no locks.
    _held: Option<File>,
}

/// What the holder says of itself.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Holder {
    pid: u32,
    since: String,
    command: String,
}

impl Lock {
    /// Locks a folder that is there.
    ///
    /// # Errors
    /// When another command holds it, which is named; when the folder cannot be written to.
    pub fn of_folder(dir: &Path) -> Result<Self, Failure> {
        Self::take(dir, format!(".{NAME}"))
    }

    /// Locks what belongs to one job in a folder where results of several lie side by side.
    ///
    /// # Errors
    /// As [`Lock::of_folder`].
    pub fn of_job(dir: &Path, job: &str) -> Result<Self, Failure> {
        Self::take(dir, format!(".{job}.{NAME}"))
    }

    fn take(dir: &Path, name: String) -> Result<Self, Failure> {
        let path = dir.join(name);
        let wrong = |error: io::Error| {
            Failure::CannotRun(format!("cannot lock the folder {}: {error}", dir.display()))
        };
        for _ in 0..TRIES {
            let mut file = open(&path).map_err(wrong)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                // The one before may have removed the file between the two calls.
                Ok(()) if !is_still_there(&path, &file) => {}
                Ok(()) => {
                    sign(&mut file).map_err(wrong)?;
                    return Ok(Self { path, _held: Some(file) });
                }
                Err(Errno::WOULDBLOCK) => return cannot_run(taken(dir, &mut file)),
                Err(Errno::INTR) => {}
                Err(error) => {
                    let dir = dir.display();
                    eprintln!(
                        "plimsoll: {dir} cannot be locked ({error}): let no other command write to it"
                    );
                    return Ok(Self { path, _held: None });
                }
            }
        }
        Err(wrong(io::Error::other("its lock file keeps changing")))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Locked still: those who opened the file meanwhile sees that it is gone, and makes another.
        let _ = fs::remove_file(&self.path);
    }
}

fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).mode(0o600).custom_flags(flags.cast_signed());
    let file = options.open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other(format!("{} is not a regular file", path.display()))),
    }
}

fn is_still_there(path: &Path, file: &File) -> bool {
    let held = file.metadata().map(|about| (about.dev(), about.ino()));
    let there = fs::symlink_metadata(path).map(|about| (about.dev(), about.ino()));
    matches!((held, there), (Ok(held), Ok(there)) if held == there)
}

fn sign(file: &mut File) -> io::Result<()> {
    let command = secrets::command().join(" ");
    let holder = Holder { pid: process::id(), since: now_rfc3339(), command };
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&serde_json::to_vec(&holder).expect("plain data becomes JSON"))
}

/// The error that the folder is locked; names the holder where its record can be read.
fn taken(dir: &Path, file: &mut File) -> String {
    let mut bytes = Vec::new();
    let read = file.take(LONGEST).read_to_end(&mut bytes);
    let holder: Option<Holder> = read.ok().and_then(|_| serde_json::from_slice(&bytes).ok());
    let who = holder.map_or_else(
        || "another command".to_owned(),
        |Holder { pid, since, command }| {
            let (since, command) = (plain(&since, 40), plain(&command, SHOWN));
            format!("process {pid} since {since} (`{command}`)")
        },
    );
    format!(
        "{} is being written to by {who}: wait until it ends, or name another folder",
        dir.display()
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_second_learns_who_the_first_is() {
        let dir = tempfile::tempdir().unwrap();
        let first = Lock::of_folder(dir.path()).unwrap();
        let refusal = Lock::of_folder(dir.path()).unwrap_err().to_string();
        assert!(refusal.contains(&format!("process {} since 2", process::id())), "{refusal}");
        drop(Lock::of_job(dir.path(), "other").unwrap());
        drop(first);
        drop(Lock::of_folder(dir.path()).unwrap());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left behind");
    }

    #[test]
    fn what_a_killed_command_left_is_no_hindrance() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(".plimsoll.lock"), "{\"pid\":1,").unwrap();
        drop(Lock::of_folder(dir.path()).unwrap());
    }

    #[test]
    fn links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let victim = dir.path().join("victim");
        fs::write(&victim, "untouched").unwrap();
        symlink(&victim, dir.path().join(".plimsoll.lock")).unwrap();
        assert!(Lock::of_folder(dir.path()).is_err());
        assert_eq!(fs::read(&victim).unwrap(), b"untouched");
    }

    #[test]
    fn what_a_stranger_wrote_there_is_shown_tame() {
        let dir = tempfile::tempdir().unwrap();
        let lock = Lock::of_folder(dir.path()).unwrap();
        let hostile = r#"{"pid":1,"since":"\u001b[2J","command":"\u001b]0;x\u0007"}"#;
        fs::write(dir.path().join(".plimsoll.lock"), hostile).unwrap();
        let refusal = Lock::of_folder(dir.path()).unwrap_err().to_string();
        assert!(refusal.contains("process 1") && !refusal.contains('\u{1b}'), "{refusal}");
        drop(lock);
    }
}
