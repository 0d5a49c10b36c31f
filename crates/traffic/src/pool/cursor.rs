//! The cursor of an ordered pool: workers take ranges of rows, and no row is taken twice.
//!
//! Owns which worker has which range. With a store, a range is saved before any of its rows is used, so
//! that a killed run can be resumed: [`KeptRanges::read`] says which rows are used, which are not, and
//! which may be. Does not own what rows hold, nor where ranges are written ([`RangeStore`]).

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// A position between two rows of a pool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// What orders places: bytes before it in a file that is read by windows, otherwise rows.
    pub at: u64,
    /// Rows before it.
    pub row: u64,
    /// Lines before it in the file; 0 in a pool in memory.
    pub line: u64,
}

/// The rows from one place to another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowRange {
    /// Before its first row.
    pub from: Place,
    /// Behind its last row.
    pub to: Place,
}

impl RowRange {
    /// Whether no row is in it.
    pub const fn is_empty(&self) -> bool {
        self.from.at >= self.to.at
    }
}

/// Where ranges are saved. A record outlasts the process once [`put`](Self::put) returns.
pub trait RangeStore: fmt::Debug + Send + Sync {
    /// Replaces the record of a slot.
    ///
    /// # Errors
    /// A message, when it cannot be saved; the run then ends.
    fn put(&self, slot: u32, record: &[u8; RECORD_BYTES]) -> Result<(), String>;
}

/// Bytes of a record. Records lie one behind the other from the start of a page, so that none is on two
/// pages and each is written whole.
pub const RECORD_BYTES: usize = 128;

/// A record is not what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damaged;

/// What a worker does with the range in its slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RangeState {
    /// It uses the rows of it now.
    InUse = 1,
    /// It has given it back: no row of it was used.
    Left = 2,
}

/// A pool's ranges as they were saved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptRanges {
    /// The first place from which no rows had been taken; `None` when nothing was saved.
    pub next: Option<Place>,
    /// Rows that were taken and certainly not used.
    pub left: Vec<RowRange>,
    /// Rows that were in use: some of them were used.
    pub doubtful: Vec<RowRange>,
}

impl KeptRanges {
    /// Reads records. Zeros are an unused slot.
    ///
    /// # Errors
    /// When anything else is there: which rows are used up is then unknown.
    pub fn read(records: &[u8]) -> Result<Self, Damaged> {
        let mut ranges = Self::default();
        for record in records.chunks(RECORD_BYTES) {
            if record.iter().all(|byte| *byte == 0) {
                continue;
            }
            let (next, range, held) = decode(record).ok_or(Damaged)?;
            ranges.next = ranges.next.max(Some(next));
            match held {
                _ if range.is_empty() => {}
                RangeState::InUse => ranges.doubtful.push(range),
                RangeState::Left => ranges.left.push(range),
            }
        }
        // Between two writes a range that moves from slot to slot is in both.
        let mut in_use: Vec<Place> = ranges.doubtful.iter().map(|range| range.to).collect();
        in_use.sort_unstable();
        ranges.left.retain(|left| in_use.binary_search(&left.to).is_err());
        Ok(ranges)
    }

    /// Whether they are possible in a pool whose places go from `start` to `end`: places in order, no
    /// row in two ranges, and no unused range longer than `longest`. Records may be forged, with valid
    /// sums.
    pub(crate) fn fit(&self, start: u64, end: u64, longest: u64) -> bool {
        let Some(next) = self.next else { return true };
        let in_order =
            |from: Place, to: Place| from.at <= to.at && from.row <= to.row && from.line <= to.line;
        let mut all: Vec<&RowRange> = self.left.iter().chain(&self.doubtful).collect();
        all.sort_by_key(|range| range.from);
        (start..=end).contains(&next.at)
            && all.iter().all(|range| {
                range.from.at >= start && in_order(range.from, range.to) && in_order(range.to, next)
            })
            && all.windows(2).all(|pair| in_order(pair[0].to, pair[1].from))
            && self.left.iter().all(|range| range.to.at - range.from.at <= longest)
    }

    /// Records from which the same ranges are read again, without the doubtful ones.
    pub fn records(&self) -> Vec<u8> {
        let Some(next) = self.next else { return Vec::new() };
        let nothing = RowRange { from: next, to: next };
        let all = if self.left.is_empty() { &[nothing][..] } else { &self.left };
        all.iter().flat_map(|range| encode(next, *range, RangeState::Left)).collect()
    }
}

/// How far a pool has been handed out, shared by all workers.
#[derive(Debug, Default)]
pub(crate) struct Cursor(Mutex<CursorState>);

#[derive(Debug, Default)]
struct CursorState {
    /// The first place from which no rows have been taken.
    next: Place,
    /// By worker, what it gave back when it was done.
    left: Vec<RowRange>,
    keep: Option<Arc<dyn RangeStore>>,
}

impl Cursor {
    /// At a place, with no row taken.
    pub(crate) fn at(next: Place) -> Self {
        Self(Mutex::new(CursorState { next, ..CursorState::default() }))
    }

    /// Saves ranges from now on, and continues where saved ones end.
    pub(crate) fn keep(&self, keep: Arc<dyn RangeStore>, ranges: &KeptRanges) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.next = ranges.next.unwrap_or(state.next);
        state.left.clone_from(&ranges.left);
        state.keep = Some(keep);
    }

    /// A range for a worker, and whether it is new. First the worker's own unused range, then a new one
    /// from `cut`, which is given the first place not taken and returns an empty range when there are
    /// no more rows; then a range that another worker gave back; in the end, an empty range.
    ///
    /// # Errors
    /// When no range can be cut or saved.
    pub(crate) fn take(
        &self,
        worker: u32,
        cut: impl FnOnce(Place) -> Result<RowRange, String>,
    ) -> Result<(RowRange, bool), String> {
        let state = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = state.left.get(worker as usize).is_some_and(|range| !range.is_empty());
        if own {
            return Ok((state.hand_over(worker as usize, worker)?, false));
        }
        let range = cut(state.next)?;
        if !range.is_empty() {
            state.next = range.to;
            state.put(worker, range, RangeState::InUse)?;
            return Ok((range, true));
        }
        match state.left.iter().position(|range| !range.is_empty()) {
            Some(other) => Ok((state.hand_over(other, worker)?, false)),
            None => Ok((RowRange::default(), false)),
        }
    }

    /// Gives back what a worker has not used when it is done.
    ///
    /// # Errors
    /// When it cannot be saved; the rows then count as used.
    pub(crate) fn give_back(&self, worker: u32, range: RowRange) -> Result<(), String> {
        let state = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = worker as usize;
        if slot >= state.left.len() {
            state.left.resize(slot + 1, RowRange::default());
        }
        state.put(worker, range, RangeState::Left)?;
        state.left[slot] = range;
        Ok(())
    }
}

impl CursorState {
    fn hand_over(&mut self, from: usize, to: u32) -> Result<RowRange, String> {
        let range = std::mem::take(&mut self.left[from]);
        self.put(to, range, RangeState::InUse)?;
        if from != to as usize {
            self.put(from as u32, RowRange::default(), RangeState::Left)?;
        }
        Ok(range)
    }

    fn put(&self, slot: u32, range: RowRange, held: RangeState) -> Result<(), String> {
        match &self.keep {
            Some(keep) => keep.put(slot, &encode(self.next, range, held)),
            None => Ok(()),
        }
    }
}

const WORDS: usize = RECORD_BYTES / 8;

/// A record: three places, the state of the range, and a checksum.
fn encode(next: Place, range: RowRange, held: RangeState) -> [u8; RECORD_BYTES] {
    let mut words = [0u64; WORDS];
    for (place, words) in [next, range.from, range.to].iter().zip(words.chunks_exact_mut(3)) {
        words.copy_from_slice(&[place.at, place.row, place.line]);
    }
    words[9] = held as u64;
    words[WORDS - 1] = sum(&words);
    let mut record = [0; RECORD_BYTES];
    for (word, bytes) in words.iter().zip(record.chunks_exact_mut(8)) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    record
}

fn decode(record: &[u8]) -> Option<(Place, RowRange, RangeState)> {
    if record.len() != RECORD_BYTES {
        return None;
    }
    let mut words = [0u64; WORDS];
    for (word, bytes) in words.iter_mut().zip(record.chunks_exact(8)) {
        *word = u64::from_le_bytes(bytes.try_into().ok()?);
    }
    let place = |at: usize| Place { at: words[at], row: words[at + 1], line: words[at + 2] };
    let held = match words[9] {
        1 => RangeState::InUse,
        2 => RangeState::Left,
        _ => return None,
    };
    let right = words[WORDS - 1] == sum(&words);
    right.then(|| (place(0), RowRange { from: place(3), to: place(6) }, held))
}

fn sum(words: &[u64; WORDS]) -> u64 {
    words[..WORDS - 1].iter().fold(1, |sum, word| model::random::mixed(sum ^ word))
}
