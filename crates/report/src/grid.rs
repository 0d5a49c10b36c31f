//! Columns that line up: a small text table whose cells know which side they lean to.
//!
//! Owns widths and gaps. Does not own what the cells say; they have passed through `figure`.

use unicode_width::UnicodeWidthStr;

use crate::figure::{clean, wrap};
use crate::text::{Style, Tone};

/// Where a column's cells stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lean {
    /// Names and words.
    Left,
    /// Numbers.
    Right,
}

const GAP: usize = 2;
/// The last column is broken into lines where it has this much room, and stands below the row where it has less.
const ROOM: usize = 24;
/// How far words below their row stand from the left.
const INDENT: usize = 4;
/// A first column of words is not made narrower than this.
const NAME: usize = 8;

/// Rows of cells, laid out by their widest.
#[derive(Debug)]
pub struct Grid {
    leans: Vec<Lean>,
    rows: Vec<Vec<String>>,
    spare: Vec<usize>,
}

/// What is done so that rows fit.
#[derive(Debug)]
struct Layout {
    /// The columns shown side by side, with their widths.
    columns: Vec<(usize, usize)>,
    gap: usize,
    /// The last column, where it does not stand on one line: how far from the left its lines begin, and how wide
    /// they are.
    folded: Option<(usize, usize)>,
}

impl Grid {
    /// Columns that lean so.
    pub fn new(leans: impl IntoIterator<Item = Lean>) -> Self {
        Self { leans: leans.into_iter().collect(), rows: Vec::new(), spare: Vec::new() }
    }

    /// A first column of names, then `figures` columns of numbers.
    pub fn named(figures: usize) -> Self {
        Self::new([Lean::Left].into_iter().chain(std::iter::repeat_n(Lean::Right, figures)))
    }

    /// Columns that are left out where a line has no room for all, in this order.
    pub fn spare(mut self, columns: &[usize]) -> Self {
        self.spare = columns.to_vec();
        self
    }

    /// Adds a row.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// All rows, each on one line, however wide.
    pub(crate) fn print(&self) -> String {
        self.rows(usize::MAX).into_iter().map(|row| row + "\n").collect()
    }

    /// The rows in lines of at most `columns`, its first row set apart as headings.
    pub fn print_headed(&self, style: Style) -> String {
        let mut rows = self.rows(style.columns).into_iter();
        let head = rows.next().unwrap_or_default();
        // Above words that stand below their rows there is nothing to head.
        let head = head.lines().next().unwrap_or_default();
        let body: String = rows.map(|row| row + "\n").collect();
        style.paint(Tone::Strong, head) + "\n" + &body
    }

    /// Each row, in as many lines of at most `columns` as it takes.
    pub(crate) fn rows(&self, columns: usize) -> Vec<String> {
        let layout = self.layout(columns);
        self.rows.iter().map(|row| self.laid_out(row, &layout)).collect()
    }

    /// All columns if they fit; else without the spare ones; else with the last one folded, as many of the spare
    /// ones as then fit; else with narrow gaps, and at last with a shortened first column. A last column without a
    /// heading has marks of a few rows, and is folded before others are left out for it.
    fn layout(&self, columns: usize) -> Layout {
        let all: Vec<(usize, usize)> =
            (0..self.leans.len()).map(|at| (at, self.width(at))).collect();
        let without = |spared: usize| -> Vec<(usize, usize)> {
            let out = &self.spare[..spared];
            all.iter().copied().filter(|(at, _)| !out.contains(at)).collect()
        };
        let choices = || (0..=self.spare.len()).map(without);
        let beside = |columns_of: Vec<(usize, usize)>, gap| Layout {
            columns: columns_of,
            gap,
            folded: None,
        };
        let fits = |layout: &Layout| layout.width() <= columns;
        let words_last = self.leans.len() > 1 && self.leans.last() == Some(&Lean::Left);
        let folded = |gap| {
            let choices = choices().filter(|_| words_last);
            choices.filter_map(move |mut kept| {
                kept.pop();
                Layout { columns: kept, gap, folded: None }.folded_within(columns)
            })
        };
        let marks = self.rows.first().and_then(|head| head.last()).is_some_and(String::is_empty);
        let in_full = Some(beside(all.clone(), GAP)).filter(fits);
        let in_full = in_full.or_else(|| folded(GAP).next().filter(|_| marks));
        let whole = in_full.or_else(|| choices().map(|kept| beside(kept, GAP)).find(fits));
        let whole = whole.or_else(|| folded(GAP).next());
        let narrow = || choices().map(|kept| beside(kept, 1)).find(fits);
        let narrow = || narrow().or_else(|| folded(1).next());
        whole.or_else(narrow).unwrap_or_else(|| {
            let mut least = beside(without(self.spare.len()), 1);
            least.shorten(columns);
            least
        })
    }

    fn laid_out(&self, row: &[String], layout: &Layout) -> String {
        let mut line = String::new();
        for (i, &(at, width)) in layout.columns.iter().enumerate() {
            let cell = clean(row.get(at).map_or("", String::as_str), usize::MAX);
            // Marks above letters take no columns, though `clean` bounds them as if they did.
            let cell = if cell.width() > width { clean(&cell, width.max(1)) } else { cell };
            if i > 0 {
                line.push_str(&" ".repeat(layout.gap));
            }
            let pad = " ".repeat(width.saturating_sub(cell.width()));
            match self.leans[at] {
                Lean::Left => line.extend([cell.as_str(), &pad]),
                Lean::Right => line.extend([pad.as_str(), &cell]),
            }
        }
        let last = row.get(self.leans.len() - 1).filter(|words| !words.is_empty());
        if let (Some((from, width)), Some(words)) = (layout.folded, last) {
            fold(&mut line, words, from, width);
        }
        line.trim_end().to_owned()
    }

    /// Whether the columns before the last stand side by side in `columns` without anything cut off.
    pub(crate) fn fits_before_the_last(&self, columns: usize) -> bool {
        let before = self.leans.len().saturating_sub(1);
        let widths: usize = (0..before).map(|at| self.width(at)).sum();
        widths + before.saturating_sub(1) <= columns
    }

    fn width(&self, at: usize) -> usize {
        self.rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.width()).max().unwrap_or(0)
    }
}

/// Adds words to a line from this place on, or below it where the line is longer; more of them follow below.
fn fold(line: &mut String, words: &str, from: usize, width: usize) {
    for (i, part) in wrap(words, width).iter().enumerate() {
        let used = if i == 0 { line.width() } else { usize::MAX };
        if used <= from {
            line.push_str(&" ".repeat(from - used));
        } else {
            let kept = line.trim_end().len();
            line.truncate(kept);
            line.push('\n');
            line.push_str(&" ".repeat(from));
        }
        line.push_str(part);
    }
}

impl Layout {
    fn width(&self) -> usize {
        let gaps = self.gap * self.columns.len().saturating_sub(1);
        self.columns.iter().map(|(_, width)| width).sum::<usize>() + gaps
    }

    /// With one more column of words, broken into lines; none where the others have no room.
    fn folded_within(mut self, columns: usize) -> Option<Self> {
        let used = self.width();
        if used > columns {
            return None;
        }
        let beside = used + self.gap;
        self.folded = Some(match columns.saturating_sub(beside) {
            room if room >= ROOM => (beside, room),
            _ => (INDENT, columns.saturating_sub(INDENT).max(1)),
        });
        Some(self)
    }

    /// Takes what is too wide off the first column, and then off the widest ones.
    fn shorten(&mut self, columns: usize) {
        let over = self.width().saturating_sub(columns);
        if let Some((_, first)) = self.columns.first_mut() {
            *first = first.saturating_sub(over).max(NAME.min(*first));
        }
        while self.width() > columns {
            let widest = self.columns.iter_mut().max_by_key(|(_, width)| *width);
            match widest {
                Some((_, width)) if *width > 1 => *width -= 1,
                _ => break,
            }
        }
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
        let mut marked = Grid::named(1);
        marked.row(["Cafe\u{301}", "1"]);
        assert_eq!(marked.print(), "Cafe\u{301}  1\n");
        let mut wide = Grid::named(1);
        wide.row(["日本", "1"]);
        wide.row(["abcd", "2"]);
        assert_eq!(wide.print(), "日本  1\nabcd  2\n");
    }

    fn wide() -> Grid {
        let leans = [Lean::Right, Lean::Right, Lean::Right, Lean::Left];
        let mut grid = Grid::new(leans).spare(&[1]);
        grid.row(["level", "p50", "QPS", ""]);
        grid.row(["1", "812us", "12,345", ""]);
        grid.row(["2", "1.00ms", "12,346", "the best one of all"]);
        grid
    }

    #[test]
    fn what_does_not_fit_is_left_out_or_stands_below() {
        let at = |columns| wide().rows(columns).join("\n");
        let all = "level     p50     QPS\n    1   812us  12,345\n    2  1.00ms  12,346  the best one of all";
        assert_eq!(at(42), all);
        assert_eq!(
            at(41),
            "level     p50     QPS\n    1   812us  12,345\n    2  1.00ms  12,346\n    the best one of all"
        );
        assert_eq!(
            at(20),
            "level     QPS\n    1  12,345\n    2  12,346\n    the best one of\n    all"
        );
        let headed = wide().print_headed(Style { columns: 20, ..Style::default() });
        assert!(headed.starts_with("level     QPS\n    1"), "{headed}");
        let mut words = wide();
        words.rows[0][3] = "why".into();
        assert_eq!(words.rows(41)[2], "    2  12,346  the best one of all");
    }

    #[test]
    fn words_at_the_end_are_broken_beside_their_row() {
        let mut grid = Grid::new([Lean::Right, Lean::Left]);
        grid.row(["12,345", "because the server was gone for a while"]);
        assert_eq!(grid.rows(36), ["12,345  because the server was gone\n        for a while"]);
    }

    #[test]
    fn no_line_is_wider_than_asked_for() {
        let mut grid = Grid::named(5);
        grid.row(["日本語のとても長い名前です", "QPS", "mean", "p50", "p99", "success"]);
        grid.row(["GET /a", "123,456", "12.3ms", "12.3ms", "12.3ms", "100.00 %"]);
        for columns in [40, 44, 50, 60, 80] {
            for line in
                grid.rows(columns).iter().chain(&wide().rows(columns)).flat_map(|row| row.lines())
            {
                assert!(line.width() <= columns, "{columns}: {line}");
            }
        }
    }
}
