//! Learns distributions from existing rows, from which new values are drawn.
//!
//! Owns the statistics of a table's rows, kept in bounded memory while the rows stream by: for each column its common
//! values with their frequencies, and a histogram or the number of distinct values of the rest, as query planners keep
//! them. The sample does not depend on the order in which rows arrive.

use std::collections::{BTreeMap, BinaryHeap};

use serde::{Deserialize, Serialize};

use crate::draw::{key_of, key_of_text};
use crate::schema::{Column, Table, Type};
use crate::times;

mod form;
pub use form::Form;

/// Rows kept of a table.
const SAMPLE: usize = 10_000;
/// Bytes of a cell that are kept; a longer one is cut.
const LONGEST_CELL: usize = 8 << 10;
/// Bytes of all cells that are kept: 64 MiB.
const MOST_BYTES: usize = 64 << 20;
/// Bytes of a column's values that are kept to be used again, and their number.
const MOST_AGAIN: (usize, usize) = (256 << 10, 2000);
/// Hashes kept to count distinct values (Bar-Yossef et al. 2002, "k minimum values"): within about 3 %.
const HASHES: usize = 1024;
/// Common values kept.
const MOST_COMMON: usize = 200;
/// Parts of a histogram.
const PARTS: usize = 200;
/// Values of a text column up to which no others are made.
const CLOSED_SET: f64 = 200.0;
/// Rows below which nothing is learnt of a column whose values can be made up otherwise.
pub const FEW: usize = 20;
/// Rows from which an order of two columns, or of a column and the key, is believed.
pub const ENOUGH: usize = 50;

/// A row as text.
pub type Cells = Vec<Option<String>>;

/// What is kept of a table's rows.
#[derive(Debug)]
pub struct Sample {
    seed: u64,
    /// By hash; the highest is thrown out.
    rows: BinaryHeap<(u64, Cells)>,
    bytes: usize,
    /// Rows of this hash and above are not kept.
    below: u64,
    distinct: Vec<Minima>,
    /// Rows seen.
    pub seen: u64,
}

impl Sample {
    /// Of a table with so many columns.
    pub fn new(columns: usize, seed: u64) -> Self {
        let distinct = (0..columns).map(|_| Minima::default()).collect();
        Self { seed, rows: BinaryHeap::new(), bytes: 0, below: u64::MAX, distinct, seen: 0 }
    }

    /// Sees a row.
    pub fn add(&mut self, row: &[Option<&str>]) {
        self.seen += 1;
        let mut key = self.seed;
        for (cell, minima) in row.iter().zip(&mut self.distinct) {
            let hash = cell.map(key_of_text);
            if let Some(hash) = hash {
                minima.add(hash);
            }
            key = key_of(&[key, hash.unwrap_or(1)]);
        }
        if key >= self.below {
            return;
        }
        let cut = |text: &str| {
            let mut end = text.len().min(LONGEST_CELL);
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            text[..end].to_owned()
        };
        let cells: Cells = row.iter().map(|cell| cell.map(cut)).collect();
        self.bytes += size_of(&cells);
        self.rows.push((key, cells));
        while self.rows.len() > SAMPLE || self.bytes > MOST_BYTES {
            let Some((highest, cells)) = self.rows.pop() else { break };
            self.bytes -= size_of(&cells);
            self.below = highest;
        }
    }

    /// What the columns of a table are like, of which this is the sample.
    pub fn learn(self, table: &Table) -> Vec<Learned> {
        let mut rows: Vec<Cells> =
            self.rows.into_sorted_vec().into_iter().map(|(_, row)| row).collect();
        let key = table.uniques.first().filter(|key| key.columns.len() == 1);
        let key = key.map(|key| key.columns[0]);
        let numbers = |column: usize| numbers_of(&table.columns[column].kind, &rows, column);
        let order: Option<Vec<f64>> = key.and_then(|key| numbers(key).into_iter().collect());
        if let Some(order) = order {
            let mut keyed: Vec<(f64, Cells)> = order.into_iter().zip(rows).collect();
            keyed.sort_by(|one, other| one.0.total_cmp(&other.0));
            rows = keyed.into_iter().map(|(_, row)| row).collect();
        }
        let mut learned: Vec<Learned> = Vec::new();
        for (at, column) in table.columns.iter().enumerate() {
            let distinct = self.distinct[at].estimate();
            learned.push(learn_column(column, &rows, at, distinct, self.seen));
        }
        learn_orders(table, &rows, &mut learned);
        learned
    }
}

/// Bytes of a row, about.
fn size_of(cells: &Cells) -> usize {
    cells.iter().map(|cell| 32 + cell.as_ref().map_or(0, String::len)).sum()
}

/// The lowest hashes.
#[derive(Debug, Default)]
struct Minima(std::collections::BTreeSet<u64>);

impl Minima {
    fn add(&mut self, hash: u64) {
        if self.0.len() >= HASHES {
            if self.0.last().is_some_and(|last| hash >= *last) {
                return;
            }
            if self.0.insert(hash) {
                self.0.pop_last();
            }
            return;
        }
        self.0.insert(hash);
    }

    fn estimate(&self) -> f64 {
        match self.0.last() {
            Some(&last) if self.0.len() >= HASHES => {
                (HASHES - 1) as f64 / (last as f64 / u64::MAX as f64)
            }
            _ => self.0.len() as f64,
        }
    }
}

/// What a column's values are like.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Learned {
    /// Share of NULL.
    pub nulls: f64,
    /// Common values and their shares of all that is not NULL.
    pub common: Vec<(String, f64)>,
    /// Where the others come from.
    pub rest: Rest,
    /// What its texts are, and how they are written.
    pub form: Option<Form>,
    /// Values rise with the key.
    pub rising: bool,
    /// Never below this other column, and by how much above it: the edges of a histogram.
    pub after: Option<(usize, Vec<f64>)>,
}

/// Where values come from that are not common.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub enum Rest {
    /// There are none.
    #[default]
    None,
    /// The edges of a histogram whose parts have the same weight; values are multiples of `step`.
    Between {
        /// In the column's own unit: the number, days, microseconds.
        edges: Vec<f64>,
        /// The unit in which values were found to be counted, from `edges[0]`.
        step: f64,
    },
    /// One of these.
    OneOf(Vec<String>),
    /// Values that were not there before, of so many distinct ones for each row; of this mean length.
    Fresh {
        /// At most 1.
        per_row: f64,
        /// Characters.
        length: f64,
    },
}

impl Rest {
    fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// A cell as a number in the column's own unit.
pub fn number_of(kind: &Type, text: &str) -> Option<f64> {
    match kind {
        Type::Int { .. } | Type::Decimal { .. } | Type::Float => {
            text.parse().ok().filter(|number: &f64| number.is_finite())
        }
        Type::Date => times::parse_date(text).map(|days| days as f64),
        Type::Time => times::parse_time(text).map(|micros| micros as f64),
        Type::Moment { .. } => times::parse_moment(text).map(|micros| micros as f64),
        _ => None,
    }
}

fn numbers_of(kind: &Type, rows: &[Cells], column: usize) -> Vec<Option<f64>> {
    let number = |row: &Cells| row[column].as_deref().and_then(|text| number_of(kind, text));
    rows.iter().map(number).collect()
}

fn learn_column(column: &Column, rows: &[Cells], at: usize, distinct: f64, seen: u64) -> Learned {
    let filled: Vec<&str> = rows.iter().filter_map(|row| row[at].as_deref()).collect();
    let mut learned = Learned::default();
    if matches!(column.kind, Type::Text { .. }) {
        learned.form = Form::of_all(&filled);
    }
    let kind = learned.kind_of(column);
    let has_to_do = matches!(column.kind, Type::Other | Type::Json);
    if rows.is_empty() || (rows.len() < FEW && !has_to_do) {
        return learned;
    }
    learned.nulls = (rows.len() - filled.len()) as f64 / rows.len() as f64;
    let mut counts = BTreeMap::<&str, usize>::new();
    filled.iter().for_each(|value| *counts.entry(value).or_default() += 1);
    let mut by_count: Vec<(&str, usize)> = counts.into_iter().collect();
    by_count.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(other.0)));
    let closed = distinct <= CLOSED_SET
        && by_count.len() as f64 >= distinct * 0.5
        && (filled.len() as f64) >= distinct * 2.0;
    let usual = filled.len() as f64 / by_count.len().max(1) as f64;
    let is_common = |count: usize| closed || (count >= 3 && count as f64 > 1.5 * usual);
    let common = by_count
        .iter()
        .take(MOST_COMMON)
        .take_while(|(value, count)| is_common(*count) && value.len() < LONGEST_CELL);
    let share = |count: usize| count as f64 / filled.len() as f64;
    learned.common = common.map(|(value, count)| ((*value).to_owned(), share(*count))).collect();
    let others = &by_count[learned.common.len()..];
    if others.is_empty() {
        return learned;
    }
    learned.rest = between(&kind, others).unwrap_or_else(|| {
        let per_row = (distinct - learned.common.len() as f64).max(1.0) / seen.max(1) as f64;
        let texts = matches!(kind, Type::Text { .. } | Type::Uuid | Type::Bytes { .. });
        if (!texts || per_row < 0.1) && !used_again(others).is_empty() {
            return Rest::OneOf(used_again(others));
        }
        let characters: usize = others.iter().map(|(value, _)| value.chars().count()).sum();
        let length = characters as f64 / others.len() as f64;
        // Two digits stand for a byte.
        let length = if matches!(kind, Type::Bytes { .. }) { length / 2.0 } else { length };
        Rest::Fresh { per_row: per_row.min(1.0), length }
    });
    learned
}

/// Values that were not cut, as many as are kept.
fn used_again(others: &[(&str, usize)]) -> Vec<String> {
    let mut bytes = 0;
    let fits = |value: &&str| {
        bytes += value.len();
        bytes <= MOST_AGAIN.0
    };
    let whole = others.iter().map(|(value, _)| *value).filter(|value| value.len() < LONGEST_CELL);
    whole.take(MOST_AGAIN.1).take_while(fits).map(str::to_owned).collect()
}

/// A histogram of numbers or times; none of anything else.
fn between(kind: &Type, others: &[(&str, usize)]) -> Option<Rest> {
    if !kind.is_continuous() {
        return None;
    }
    let mut numbers: Vec<f64> = Vec::new();
    for (value, count) in others {
        let number = number_of(kind, value)?;
        numbers.extend(std::iter::repeat_n(number, *count));
    }
    numbers.sort_by(f64::total_cmp);
    let step = step_of(kind, &numbers);
    Some(Rest::Between { edges: edges(&numbers), step })
}

fn edges(sorted: &[f64]) -> Vec<f64> {
    let parts = PARTS.min(sorted.len().saturating_sub(1)).max(1);
    (0..=parts).map(|part| sorted[part * (sorted.len() - 1) / parts]).collect()
}

/// The largest unit of which all differences are multiples.
fn step_of(kind: &Type, numbers: &[f64]) -> f64 {
    let unit = match kind {
        Type::Decimal { scale, .. } => 10_f64.powi(-i32::try_from(*scale).unwrap_or(0)),
        Type::Float => return 0.0,
        _ => 1.0,
    };
    let first = numbers[0];
    let units = numbers.iter().map(|number| ((number - first) / unit).round().abs() as u64);
    let divisor = units.fold(0, greatest_divisor);
    divisor.max(1) as f64 * unit
}

fn greatest_divisor(mut one: u64, mut other: u64) -> u64 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// Which columns rise with the key, whose order the rows are in, and which never lie before another.
fn learn_orders(table: &Table, rows: &[Cells], learned: &mut [Learned]) {
    let kinds: Vec<Type> =
        table.columns.iter().zip(&*learned).map(|(column, of)| of.kind_of(column)).collect();
    let columns: Vec<usize> = (0..kinds.len()).filter(|&column| kinds[column].is_time()).collect();
    let numbers: Vec<Vec<Option<f64>>> =
        columns.iter().map(|&column| numbers_of(&kinds[column], rows, column)).collect();
    for (at, &column) in columns.iter().enumerate() {
        let filled: Vec<f64> = numbers[at].iter().flatten().copied().collect();
        let rising = filled.windows(2).filter(|pair| pair[0] <= pair[1]).count();
        learned[column].rising =
            filled.len() >= ENOUGH && rising as f64 >= 0.95 * (filled.len() - 1) as f64;
    }
    let mut bases = vec![false; columns.len()];
    for later in 0..columns.len() {
        // What is always the same stays the same, whatever lies before it.
        if bases[later] || learned[columns[later]].is_constant() {
            continue;
        }
        for earlier in 0..columns.len() {
            let same = kinds[columns[later]] == kinds[columns[earlier]];
            if earlier == later || !same || learned[columns[earlier]].after.is_some() {
                continue;
            }
            if let Some(distances) = distances(&numbers[earlier], &numbers[later]) {
                learned[columns[later]].after = Some((columns[earlier], distances));
                bases[earlier] = true;
                break;
            }
        }
    }
}

/// Edges of the histogram of how far one column lies behind another; none where it does not always.
fn distances(earlier: &[Option<f64>], later: &[Option<f64>]) -> Option<Vec<f64>> {
    let pairs = earlier.iter().zip(later).filter_map(|(one, other)| Some((*other)? - (*one)?));
    let mut distances: Vec<f64> = pairs.collect();
    distances.sort_by(f64::total_cmp);
    let first = *distances.first()?;
    (distances.len() >= ENOUGH && first >= 0.0).then(|| edges(&distances))
}

impl Learned {
    /// What a column holds: what its texts stand for, where it holds texts that do.
    pub fn kind_of(&self, column: &Column) -> Type {
        self.form.as_ref().and_then(Form::kind).unwrap_or_else(|| column.kind.clone())
    }

    /// Whether all values are the same.
    fn is_constant(&self) -> bool {
        self.common.len() == 1 && self.rest.is_none()
    }

    /// Whether anything but NULL was seen.
    pub fn is_known(&self) -> bool {
        !self.common.is_empty() || !self.rest.is_none()
    }
}

#[cfg(test)]
mod tests;
