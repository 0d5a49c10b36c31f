//! The data behind a chart: what every chart is published with.

use super::number::plain;
use super::text::clean;
use crate::csv::csv;

/// The figures a chart was drawn from, one row a point. Cells are plain numbers (no suffix, no
/// grouping, a dot for the decimal) or text; units stand in the headers. A cell is empty where
/// nothing was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Column names with their units, such as `mean latency (ms)`.
    pub headers: Vec<String>,
    /// Rows, each as long as `headers`.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with these columns.
    pub(super) fn new<S: AsRef<str>>(headers: impl IntoIterator<Item = S>) -> Table {
        Table {
            headers: headers.into_iter().map(|h| clean(h.as_ref())).collect(),
            rows: Vec::new(),
        }
    }

    /// Appends a row.
    pub(super) fn push(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.headers.len(), "a row is as long as the headers");
        self.rows.push(cells);
    }

    /// The table as CSV.
    pub fn to_csv(&self) -> String {
        csv(std::iter::once(&self.headers).chain(&self.rows))
    }
}

/// A number as a cell.
pub(super) fn cell(v: f64) -> String {
    plain(v)
}

/// A number that may be missing as a cell.
pub(super) fn cell_or_empty(v: Option<f64>) -> String {
    v.map_or_else(String::new, plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_survives_hostile_cells() {
        let mut table = Table::new(["level", "na,me \"x\""]);
        table.push(vec![cell(-5.0), "=HYPERLINK(\"http://x\")".into()]);
        table.push(vec![cell(f64::NAN), cell_or_empty(Some(0.25))]);
        assert_eq!(
            table.to_csv(),
            "level,\"na,me \"\"x\"\"\"\r\n-5,\"'=HYPERLINK(\"\"http://x\"\")\"\r\n,0.25\r\n"
        );
    }
}
