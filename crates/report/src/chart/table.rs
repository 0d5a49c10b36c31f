//! The data behind a chart: what every chart is published with.

use super::number::plain;
use super::text::clean;

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

    /// The table as CSV (RFC 4180: CRLF line ends, quotes doubled). A text that a spreadsheet would
    /// run as a formula gets an apostrophe in front, since series names come from outside.
    pub fn to_csv(&self) -> String {
        let mut out = String::new();
        for row in std::iter::once(&self.headers).chain(&self.rows) {
            for (i, cell) in row.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                push_field(&mut out, cell);
            }
            out.push_str("\r\n");
        }
        out
    }
}

fn push_field(out: &mut String, cell: &str) {
    let formula = cell.starts_with(['=', '+', '-', '@']) && cell.parse::<f64>().is_err();
    let guard = if formula { "'" } else { "" };
    if cell.contains([',', '"', '\r', '\n']) {
        out.push_str(&format!("\"{guard}{}\"", cell.replace('"', "\"\"")));
    } else {
        out.push_str(guard);
        out.push_str(cell);
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
