//! Indexes of pools' files, kept in the user's cache folder.
//!
//! Owns when an index is made and when one that is there will do, and telling how far the making is. What
//! an index holds is `traffic`'s.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use traffic::{IndexHead, Indexing, RowFile, RowIndex};

use crate::load::pool_file::Stamp;
use crate::results::output::{Readers, create_new, make_folder};
use crate::terminal::live::Live;
use crate::terminal::signals::{stop_at_once, stop_on_signal, stopped};
use crate::user_folder;

const SCHEMA: &str = "plimsoll.index/1";
/// The head's room at the file's beginning; entries follow.
const PAGE: u64 = 4096;
/// How often progress is printed.
const PRINT_EVERY: Duration = Duration::from_secs(1);

/// What an index is of.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Head {
    schema: String,
    /// The rows' file.
    path: PathBuf,
    bytes: u64,
    modified_ns: i64,
    /// What else it depends on.
    key: String,
    index: Option<IndexHead>,
}

/// The index of a pool's file: the one that is kept, or a new one.
///
/// # Errors
/// What is wrong with the file, or with the folder that the index is kept in.
pub fn index(path: &Path, wanted: &Indexing<'_>) -> Result<RowIndex, String> {
    let path = path.canonicalize().map_err(|error| error.to_string())?;
    let about = fs::metadata(&path).map_err(|error| error.to_string())?;
    let Stamp { size, modified_ns } = Stamp::of(&about);
    let (schema, key) = (SCHEMA.to_owned(), wanted.key());
    let head = Head { schema, path, bytes: size, modified_ns, key, index: None };
    let kept = place(&head)?;
    if kept.exists() {
        match open(&kept, &head) {
            Ok(index) => return Ok(index),
            Err(why) => {
                eprintln!("plimsoll: the index of {} {why}: it is rebuilt", head.path.display())
            }
        }
    }
    make(&kept, head, wanted)
}

/// Where an index is kept: one for each file and what else it depends on.
fn place(head: &Head) -> Result<PathBuf, String> {
    let Some(cache) = user_folder::find("XDG_CACHE_HOME", ".cache") else {
        return Err(
            "neither XDG_CACHE_HOME nor HOME is set, so its index cannot be kept".to_owned()
        );
    };
    let facts = format!("{}\n{}", head.path.display(), head.key);
    Ok(cache.join("pools").join(format!("{}.index", user_folder::name_of(&facts))))
}

/// An index that is there, or why it will not do.
fn open(kept: &Path, wanted: &Head) -> Result<RowIndex, &'static str> {
    const DAMAGED: &str = "is damaged";
    let file = File::open(kept).map_err(|_| "cannot be read")?;
    let size = file.metadata().map_err(|_| "cannot be read")?.len();
    let mut page = [0; PAGE as usize];
    file.read_exact_at(&mut page, 0).map_err(|_| DAMAGED)?;
    let line = page.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let head: Head = serde_json::from_slice(line).map_err(|_| DAMAGED)?;
    let index = head.index.clone();
    if (Head { index: None, ..head }) != *wanted {
        return Err("belongs to another version of the file");
    }
    let entries = Entries { file, size: size - PAGE };
    RowIndex::open(index.ok_or(DAMAGED)?, Arc::new(entries)).map_err(|_| DAMAGED)
}

/// Makes an index beside its final name, and renames it when it is whole.
fn make(kept: &Path, mut head: Head, wanted: &Indexing<'_>) -> Result<RowIndex, String> {
    let dir = kept.parent().unwrap_or(Path::new(""));
    make_folder(dir).map_err(|failure| failure.to_string())?;
    // Before there is a file that Ctrl-C must not leave behind.
    let stop = stop_on_signal().map_err(|failure| failure.to_string())?;
    let partial = Partial(kept.with_extension(format!("{}.partial", process::id())));
    let wrong = |error: io::Error| format!("cannot write {}: {error}", partial.0.display());
    let mut out = BufWriter::new(create_new(&partial.0, Readers::Owner).map_err(wrong)?);
    out.write_all(&[0; PAGE as usize]).map_err(wrong)?;
    let mut progress = Progress::new(&head.path, wanted.size(), &stop);
    let made = wanted.build(&mut |entries| out.write_all(entries).map_err(wrong), &mut |bytes| {
        progress.update(bytes, &partial)
    });
    progress.live.end();
    head.index = Some(made?);
    let line = serde_json::to_vec(&head).expect("plain data becomes JSON");
    if line.len() as u64 >= PAGE {
        return Err("its name is too long for an index".to_owned());
    }
    out.seek(SeekFrom::Start(0)).map_err(wrong)?;
    out.write_all(&line).and_then(|()| out.write_all(b"\n")).map_err(wrong)?;
    out.into_inner().map_err(|error| wrong(error.into_error()))?;
    fs::rename(&partial.0, kept).map_err(wrong)?;
    progress.end();
    stop_at_once();
    let wanted = Head { index: None, ..head };
    open(kept, &wanted).map_err(|why| format!("its index {why} although it was just written"))
}

/// A file that is gone unless it was renamed.
struct Partial(PathBuf);

impl Drop for Partial {
    fn drop(&mut self) {
        // Renamed, it is no longer there.
        let _ = fs::remove_file(&self.0);
    }
}

/// Prints the progress of an index in the making.
struct Progress<'a> {
    path: &'a Path,
    size: u64,
    stop: &'a AtomicBool,
    begun: Instant,
    last: Instant,
    live: Live,
}

impl<'a> Progress<'a> {
    fn new(path: &'a Path, size: u64, stop: &'a AtomicBool) -> Self {
        let begun = Instant::now();
        Self { path, size, stop, begun, last: begun, live: Live::new(false) }
    }

    fn update(&mut self, bytes: u64, partial: &Partial) -> Result<(), String> {
        if stopped(self.stop) {
            self.live.end();
            let _ = fs::remove_file(&partial.0);
            eprintln!("plimsoll: interrupted; no index is kept of {}", self.path.display());
            process::exit(verdict::exit::INTERRUPTED.into());
        }
        if self.last.elapsed() >= PRINT_EVERY {
            self.last = Instant::now();
            let share = 100.0 * bytes as f64 / self.size.max(1) as f64;
            let rate = bytes as f64 / 1e6 / self.begun.elapsed().as_secs_f64();
            self.live.show_line(&format!(
                "indexing {}: {share:.0} %, {rate:.0} MB/s",
                self.path.display()
            ));
        }
        Ok(())
    }

    fn end(&self) {
        let took = self.begun.elapsed().as_secs_f64();
        self.live.say(&format!("plimsoll: indexed {} in {took:.1} s", self.path.display()));
    }
}

/// The entries of an index.
#[derive(Debug)]
struct Entries {
    file: File,
    size: u64,
}

impl RowFile for Entries {
    fn size(&self) -> u64 {
        self.size
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), String> {
        let read = self.file.read_exact_at(into, PAGE + offset);
        read.map_err(|error| format!("cannot be read: {error}"))
    }
}
