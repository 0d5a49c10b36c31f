//! Rows in memory.

/// Rows of cells, in one buffer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    pub(super) columns: Vec<String>,
    bytes: Vec<u8>,
    /// Where each cell ends, row after row; the highest bit says that it is a JSON value other than
    /// text.
    ends: Vec<u32>,
    /// For each column the first row, from 1, that lacks it.
    lacking: Vec<Option<u64>>,
}

const JSON: u32 = 1 << 31;

impl Table {
    pub(super) fn new(columns: Vec<String>) -> Self {
        Self { lacking: vec![None; columns.len()], columns, ..Self::default() }
    }

    /// Names of the columns.
    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> u64 {
        self.ends.len().checked_div(self.columns.len()).unwrap_or(0) as u64
    }

    /// The first row, from 1, that has no value in a column.
    pub(crate) fn lacks(&self, column: u16) -> Option<u64> {
        self.lacking[usize::from(column)]
    }

    /// A cell's bytes, and whether they are a JSON value other than text.
    #[inline]
    pub(crate) fn cell(&self, row: u64, column: u16) -> (&[u8], bool) {
        let at = row as usize * self.columns.len() + usize::from(column);
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before] & !JSON);
        let end = self.ends[at];
        (&self.bytes[start as usize..(end & !JSON) as usize], end & JSON != 0)
    }

    /// Adds a cell behind the last; `None` for one that the row lacks.
    ///
    /// # Errors
    /// When the table has grown beyond 2 GiB.
    pub(super) fn add(&mut self, cell: Option<(&[u8], bool)>) -> Result<(), String> {
        let (bytes, json) = cell.unwrap_or_default();
        self.bytes.extend_from_slice(bytes);
        let end = u32::try_from(self.bytes.len()).ok().filter(|end| end & JSON == 0);
        let Some(end) = end else { return Err("the pool is larger than 2 GiB".into()) };
        self.ends.push(end | if json { JSON } else { 0 });
        if cell.is_none() {
            let at = self.ends.len() - 1;
            let row = (at / self.columns.len()) as u64 + 1;
            self.lacking[at % self.columns.len()].get_or_insert(row);
        }
        Ok(())
    }
}
