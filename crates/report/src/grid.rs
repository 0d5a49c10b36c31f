//! Columns that line up: a small text table whose cells know which side they lean to.
//!
//! Owns widths and gaps. Does not own what the cells say; they have passed through `figure`.

use unicode_width::UnicodeWidthStr;

use crate::text::{Style, Tone};

/// Where a column's cells stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lean {
    Left,
    Right,
}

const GAP: &str = "  ";

/// Rows of cells, laid out by their widest.
#[derive(Debug)]
pub(crate) struct Grid {
    leans: Vec<Lean>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    pub(crate) fn new(leans: impl IntoIterator<Item = Lean>) -> Self {
        Self { leans: leans.into_iter().collect(), rows: Vec::new() }
    }

    /// A first column of names, then `figures` columns of numbers.
    pub(crate) fn named(figures: usize) -> Self {
        Self::new([Lean::Left].into_iter().chain(std::iter::repeat_n(Lean::Right, figures)))
    }

    pub(crate) fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    pub(crate) fn print(&self) -> String {
        let widths: Vec<usize> = (0..self.leans.len()).map(|at| self.width(at)).collect();
        let mut out = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (at, (cell, lean)) in row.iter().zip(&self.leans).enumerate() {
                if at > 0 {
                    line.push_str(GAP);
                }
                let pad = " ".repeat(widths[at].saturating_sub(cell.width()));
                match lean {
                    Lean::Left => line.extend([cell.as_str(), &pad]),
                    Lean::Right => line.extend([pad.as_str(), cell]),
                }
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }

    /// The same, its first row set apart as headings.
    pub(crate) fn print_headed(&self, style: Style) -> String {
        let table = self.print();
        let (head, body) = table.split_at(table.find('\n').unwrap_or(0));
        style.paint(Tone::Strong, head) + body
    }

    fn width(&self, at: usize) -> usize {
        self.rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.width()).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lean_left_and_numbers_right() {
        let mut grid = Grid::named(2);
        grid.row(["level", "QPS", "µ"]);
        grid.row(["1", "12,345", "7µs"]);
        assert_eq!(grid.print(), "level     QPS    µ\n1      12,345  7µs\n");
        let mut wide = Grid::named(1);
        wide.row(["日本", "1"]);
        wide.row(["abcd", "2"]);
        assert_eq!(wide.print(), "日本  1\nabcd  2\n");
    }
}
