//! `pools.cursors`: how far the pools of order `unique` are used up, in a result folder, so that what goes
//! on with it uses no row twice.
//!
//! Owns the file: what workload and rows it is about, and where each pool's records lie. What a record
//! says is `traffic`'s. A worker writes one before it uses the rows that it is about; what a killed
//! process has written, the kernel still has.

mod doubt;

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use traffic::{KeptRanges, RECORD_BYTES, RangeStore};

use crate::failure::{Failure, cannot_run, usage};
use crate::load::input::LoadInput;
use crate::load::pool_file::Stamp;
use crate::load::workload_file::{Ready, WorkloadFile};
use crate::results::input;
use crate::results::output::write_file;

use doubt::Doubt;

/// The file's name in a result folder.
pub const NAME: &str = "pools.cursors";
const SCHEMA: &str = "plimsoll.cursors/1";
/// Records of a pool: workers at most.
const SLOTS: usize = 512;
/// Records begin where a page does.
const PAGE: usize = 4096;
/// Bytes of the file's first line at most.
const LONGEST_HEAD: usize = 16 << 20;
/// Bytes of the file at most: its first line, and records of a thousand pools.
const LONGEST: u64 = 96 << 20;

/// The first line. Records of each pool follow it, from the next page on.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Head {
    schema: String,
    /// SHA-256 of the workload file.
    workload: String,
    pools: Vec<PoolHead>,
}

/// A pool whose rows come once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct PoolHead {
    name: String,
    /// Its file, as the workload names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<FileHead>,
    /// Whether places count the file's bytes.
    by_bytes: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct FileHead {
    name: String,
    bytes: u64,
    /// When it was last written to, nanoseconds since 1970.
    modified_ns: i64,
}

/// From now on, keeps in `dir` how far the pools of order `unique` are used up; where there is no such pool,
/// does nothing. Returns whether there is one: then `dir` can only be resumed, whatever became of the first load.
///
/// # Errors
/// When the folder knows of pools that are in use, or the file cannot be written.
pub fn begin(dir: &Path, input: &LoadInput) -> Result<bool, Failure> {
    allow(dir, input)?;
    let Some((file, ready)) = input.workload() else { return Ok(false) };
    let head = head(file, ready)?;
    let path = dir.join(NAME);
    let ranges = vec![KeptRanges::default(); head.pools.len()];
    keep(&path, &head, &ranges, ready)?;
    Ok(!head.pools.is_empty())
}

/// Makes sure that [`begin`] would lose no record of rows that are used up.
///
/// # Errors
/// When the folder knows of pools that are in use.
pub fn allow(dir: &Path, input: &LoadInput) -> Result<(), Failure> {
    let Some((_, ready)) = input.workload() else { return Ok(()) };
    if ready.compiled.pools().unique().next().is_none() || !dir.join(NAME).exists() {
        return Ok(());
    }
    usage(format!(
        "{0} records which rows of its pools are used up: continue it with --resume {0}, or name another folder",
        dir.display()
    ))
}

/// Resumes the pools of `dir`: rows that were used or may have been are not used again, and a
/// line prints how many they are. Does nothing where the workload has no pool of order `unique`.
///
/// # Errors
/// When the workload or a pool's file is not what it was, or the file is missing, damaged or cannot be
/// written.
pub fn go_on(dir: &Path, input: &LoadInput) -> Result<(), Failure> {
    let Some((file, ready)) = input.workload() else { return Ok(()) };
    let now = head(file, ready)?;
    if now.pools.is_empty() {
        return Ok(());
    }
    let path = dir.join(NAME);
    let (was, ranges) = load(&path)?;
    same(dir, &was, &now)?;
    let pools = ready.compiled.pools();
    if !now.pools.iter().zip(&ranges).all(|(pool, ranges)| pools.fit(&pool.name, ranges)) {
        return damaged(&path);
    }
    let doubts: Vec<Doubt<'_>> =
        now.pools.iter().zip(&ranges).map(|(pool, ranges)| Doubt::of(&pool.name, ranges)).collect();
    doubt::note(dir, &doubts)?;
    keep(&path, &now, &ranges, ready)?;
    doubts.iter().for_each(|doubt| eprintln!("plimsoll: {}", doubt.sentence(dir)));
    Ok(())
}

fn head(file: &WorkloadFile, ready: &Ready) -> Result<Head, Failure> {
    let stamp = |name: &str| {
        let path = file.beside(name);
        let about = fs::metadata(&path)
            .map_err(|error| Failure::CannotRun(format!("{}: {error}", path.display())))?;
        let Stamp { size, modified_ns } = Stamp::of(&about);
        Ok::<_, Failure>(FileHead { name: name.to_owned(), bytes: size, modified_ns })
    };
    let pools = ready.compiled.pools().unique().map(|(name, by_bytes)| {
        let written = file.workload().pools.get(name).and_then(|pool| pool.file.as_deref());
        Ok(PoolHead { name: name.to_owned(), file: written.map(stamp).transpose()?, by_bytes })
    });
    let pools = pools.collect::<Result<_, Failure>>()?;
    let digest = Sha256::digest(file.bytes());
    let workload = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Head { schema: SCHEMA.to_owned(), workload, pools })
}

/// That nothing has changed that rows are counted in.
fn same(dir: &Path, was: &Head, now: &Head) -> Result<(), Failure> {
    let other = if was.workload != now.workload {
        Some("the workload file".to_owned())
    } else {
        let changed = was.pools.iter().zip(&now.pools).find(|(was, now)| was != now);
        let name = |pool: &PoolHead| pool.file.as_ref().map(|file| file.name.clone());
        changed.map(|(_, now)| name(now).unwrap_or_else(|| now.name.clone()))
    };
    match other {
        None => Ok(()),
        Some(what) => usage(format!(
            "{what} has changed since {} was written: which of its rows are used up is unknown; \
             start again in another folder",
            dir.display()
        )),
    }
}

/// Writes the file anew and has the pools write to it.
fn keep(path: &Path, head: &Head, ranges: &[KeptRanges], ready: &Ready) -> Result<(), Failure> {
    if head.pools.is_empty() {
        return Ok(());
    }
    let mut bytes = serde_json::to_vec(head).expect("plain data becomes JSON");
    bytes.push(b'\n');
    let first = bytes.len().next_multiple_of(PAGE);
    bytes.resize(first, 0);
    for (at, ranges) in ranges.iter().enumerate() {
        bytes.extend(ranges.records());
        bytes.resize(first + (at + 1) * SLOTS * RECORD_BYTES, 0);
    }
    let wrong = |error| Failure::CannotRun(format!("cannot write {}: {error}", path.display()));
    write_file(path, &bytes).map_err(wrong)?;
    let file = Arc::new(
        File::options()
            .write(true)
            .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
            .open(path)
            .map_err(wrong)?,
    );
    for (at, (pool, ranges)) in head.pools.iter().zip(ranges).enumerate() {
        let from = first + at * SLOTS * RECORD_BYTES;
        let kept = Kept { file: Arc::clone(&file), path: path.to_owned(), from: from as u64 };
        ready.compiled.pools().keep(&pool.name, Arc::new(kept), ranges);
    }
    Ok(())
}

fn load(path: &Path) -> Result<(Head, Vec<KeptRanges>), Failure> {
    let wrong = |what: String| Failure::CannotRun(format!("{}: {what}", path.display()));
    let bytes = input::read_plain(path, LONGEST).map_err(|error| {
        Failure::CannotRun(format!(
            "{}: {error}; name a folder that was written to with a workload that has a pool of order \
             `unique`",
            path.display()
        ))
    })?;
    let line = bytes.iter().take(LONGEST_HEAD).position(|byte| *byte == b'\n');
    let line = line.ok_or_else(|| wrong("is not a cursor file".to_owned()))?;
    let head: Head =
        serde_json::from_slice(&bytes[..line]).map_err(|error| wrong(error.to_string()))?;
    if head.schema != SCHEMA {
        return cannot_run(format!("{}: {} is another version's", path.display(), head.schema));
    }
    let first = (line + 1).next_multiple_of(PAGE);
    let records = bytes.get(first..).unwrap_or_default().chunks(SLOTS * RECORD_BYTES);
    let ranges: Result<Vec<KeptRanges>, _> = records.map(KeptRanges::read).collect();
    match ranges {
        Ok(ranges) if ranges.len() == head.pools.len() => Ok((head, ranges)),
        _ => damaged(path),
    }
}

fn damaged<T>(path: &Path) -> Result<T, Failure> {
    cannot_run(format!(
        "{} is damaged: which rows are used up is unknown; start again in another folder",
        path.display()
    ))
}

/// A pool's part of the file.
#[derive(Debug)]
struct Kept {
    file: Arc<File>,
    path: PathBuf,
    from: u64,
}

impl RangeStore for Kept {
    fn put(&self, slot: u32, record: &[u8; RECORD_BYTES]) -> Result<(), String> {
        let slot = slot as usize;
        if slot >= SLOTS {
            return Err(format!("more than {SLOTS} workers are not supported"));
        }
        let at = self.from + (slot * RECORD_BYTES) as u64;
        self.file
            .write_all_at(record, at)
            .map_err(|error| format!("cannot write {}: {error}", self.path.display()))
    }
}
