//! The rows that a request or a session was given.

/// Cells of rows, one behind the other, in buffers that are kept.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl Cells {
    /// Empties it; its memory stays.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// The number of cells.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Adds a cell behind the last.
    #[inline]
    pub(crate) fn push(&mut self, cell: &[u8]) {
        self.bytes.extend_from_slice(cell);
        self.ends.push(self.bytes.len() as u32);
    }

    /// A cell's bytes.
    #[inline]
    pub(crate) fn cell(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start as usize..self.ends[at] as usize]
    }
}

/// One row of each pool that is needed: by its number where the pool is in memory, else as a copy of
/// its cells, because the buffer that it was read from is reused.
#[derive(Debug, Default)]
pub(crate) struct Drawn {
    /// By pool: the row in memory, or the first of the cells.
    pub(super) at: Vec<u64>,
    pub(super) cells: Cells,
}

impl Drawn {
    /// Forgets all rows, and makes room for this many pools.
    pub(crate) fn clear(&mut self, pools: usize) {
        self.at.resize(pools, 0);
        self.cells.clear();
    }

    /// Copies another's rows.
    pub(crate) fn copy(&mut self, other: &Self) {
        self.at.clear();
        self.at.extend_from_slice(&other.at);
        self.cells.clear();
        self.cells.bytes.extend_from_slice(&other.cells.bytes);
        self.cells.ends.extend_from_slice(&other.cells.ends);
    }
}
