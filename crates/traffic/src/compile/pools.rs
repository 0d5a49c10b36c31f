//! Compiles pools: reads their rows and prepares their orders.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::Workload;
use model::random::mixed;
use model::workload::{FileFormat, Order, Pool as Written};

use crate::draw::Choice;
use crate::finding::{Findings, inside};
use crate::pool::{
    BadRow, CsvFile, Indexed, Indexing, KeptRanges, Numbers, Pool, PoolFile, RangeStore, Stream,
    Table, WINDOW, json_bytes, read_csv, read_json_lines, read_values, weight_of,
};
use model::quote::quote;

use super::Inputs;
use super::resolver::suggestion;

/// Pools of a workload at most.
const MOST: usize = 1_000;

/// A workload's pools: their rows, and the cursors of ordered ones. Compilations that share them never
/// give a row of a `unique` pool twice.
#[derive(Debug, Clone)]
pub struct Pools {
    pub(super) all: Arc<[Pool]>,
    /// By name; `None` for a pool that cannot be read.
    pub(super) names: Arc<BTreeMap<String, Option<u16>>>,
}

impl Pools {
    /// Names of the `unique` pools, and whether their places count bytes of a file.
    pub fn unique(&self) -> impl Iterator<Item = (&str, bool)> {
        self.all.iter().filter_map(|pool| pool.unique().map(|(_, bytes)| (pool.name(), bytes)))
    }

    /// Whether saved ranges are possible for the pool of this name.
    pub fn fit(&self, name: &str, ranges: &KeptRanges) -> bool {
        self.all.iter().find(|pool| pool.name() == name).is_some_and(|pool| pool.fits(ranges))
    }

    /// Saves the ranges of a `unique` pool from now on, and continues where saved ones end. Call before
    /// its first use.
    pub fn keep(&self, name: &str, keep: Arc<dyn RangeStore>, ranges: &KeptRanges) {
        if let Some((cursor, _)) =
            self.all.iter().find(|pool| pool.name() == name).and_then(Pool::unique)
        {
            cursor.keep(keep, ranges);
        }
    }
}

/// Reads all pools.
pub(super) fn read(workload: &Workload, inputs: &Inputs<'_>, findings: &Findings) -> Pools {
    let (mut all, mut names) = (Vec::new(), BTreeMap::new());
    if workload.pools.len() > MOST {
        findings.add("pools", format!("more than {MOST} pools"));
    }
    for (name, written) in workload.pools.iter().take(MOST) {
        let path = inside("pools", name);
        if name == "env" {
            findings.add(&path, "`env` is reserved for the environment: rename the pool");
        }
        let seed = inputs.seed ^ mixed(all.len() as u64);
        let Some(pool) = pool(name, written, seed, inputs, &path, findings) else {
            names.insert(name.clone(), None);
            continue;
        };
        names.insert(name.clone(), Some(all.len() as u16));
        all.push(pool);
    }
    // Uses of the others are not reported too.
    names.extend(workload.pools.keys().skip(MOST).map(|name| (name.clone(), None)));
    Pools { all: all.into(), names: Arc::new(names) }
}

fn pool(
    name: &str,
    written: &Written,
    seed: u64,
    inputs: &Inputs<'_>,
    path: &str,
    findings: &Findings,
) -> Option<Pool> {
    let rows = rows(written, inputs, path, findings)?;
    let table = match rows {
        Found::Table(table) => table,
        Found::Large(csv) => return large(name, written, seed, csv, inputs, path, findings),
    };
    let weights = weights(written, &table, path, findings)?;
    let numbers = Numbers::new(table.rows(), written.order, weights, seed);
    Some(Pool::of_table(name, table, numbers))
}

/// A pool in a file that is too large for memory.
fn large(
    name: &str,
    written: &Written,
    seed: u64,
    csv: CsvFile,
    inputs: &Inputs<'_>,
    path: &str,
    findings: &Findings,
) -> Option<Pool> {
    let weight = weight_column(written, &csv.columns, path, findings)?;
    if matches!(written.order, Order::Sequential | Order::Unique) {
        let stream = Stream::new(csv, written.order == Order::Unique, WINDOW);
        return Some(Pool::of_stream(name, stream));
    }
    match (inputs.index)(&csv.name, &Indexing::of(&csv, weight)) {
        Ok(index) => {
            let indexed = Indexed::new(csv, index, weight);
            let numbers = Numbers::new(indexed.rows(), written.order, None, seed);
            Some(Pool::of_indexed(name, indexed, numbers))
        }
        Err(what) => {
            findings.add(&inside(path, "file"), what);
            None
        }
    }
}

/// Where a pool's rows are.
enum Found {
    Table(Table),
    Large(CsvFile),
}

fn rows(pool: &Written, inputs: &Inputs<'_>, path: &str, findings: &Findings) -> Option<Found> {
    let (read, at) = match (&pool.file, &pool.values) {
        (Some(_), Some(_)) => {
            findings.add(path, "has `file` and `values`: give exactly one of them");
            return None;
        }
        (None, None) => {
            findings.add(path, "has neither `file` nor `values`: give exactly one of them");
            return None;
        }
        (None, Some(values)) => (read_values(values).map(Found::Table), inside(path, "values")),
        (Some(file), None) => {
            let at = inside(path, "file");
            (rows_of(pool, file, inputs, path, findings)?, at)
        }
    };
    match read {
        Ok(Found::Table(table)) if table.rows() == 0 => {
            findings.add(&at, "the pool is empty");
            None
        }
        Ok(found) => Some(found),
        Err(bad) => {
            let file = pool.file.as_deref().unwrap_or_default();
            let what = match bad.line {
                Some(line) => format!("{file}:{line}: {}", bad.what),
                None => format!("{file} {}", bad.what).trim_start().to_owned(),
            };
            findings.add(&at, what);
            None
        }
    }
}

fn rows_of(
    pool: &Written,
    file: &str,
    inputs: &Inputs<'_>,
    path: &str,
    findings: &Findings,
) -> Option<Result<Found, BadRow>> {
    let at = inside(path, "file");
    let ending = file.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let format = pool.format.or(match ending.as_str() {
        "csv" => Some(FileFormat::Csv),
        "tsv" => Some(FileFormat::Tsv),
        "jsonl" | "ndjson" => Some(FileFormat::Jsonl),
        _ => None,
    });
    let opened = match (inputs.rows)(file) {
        Ok(opened) => opened,
        Err(what) => {
            findings.add(&at, format!("{}: {what}", quote(file)));
            return None;
        }
    };
    let Some(format) = format else {
        let what =
            format!("{} does not say its format: add `format: csv` or the like", quote(file));
        findings.add(&at, what);
        return None;
    };
    let separator = separator(pool, format, path, findings)?;
    let columns = pool.columns.as_deref();
    Some(match opened {
        PoolFile::Small(bytes) if format == FileFormat::Jsonl => {
            read_json_lines(&bytes).map(Found::Table)
        }
        PoolFile::Large(rows) if format == FileFormat::Jsonl => {
            json_bytes(&*rows).and_then(|bytes| read_json_lines(&bytes)).map(Found::Table)
        }
        PoolFile::Small(bytes) => read_csv(&bytes, separator, columns).map(Found::Table),
        PoolFile::Large(rows) => CsvFile::open(file, rows, separator, columns).map(Found::Large),
    })
}

fn separator(pool: &Written, format: FileFormat, path: &str, findings: &Findings) -> Option<u8> {
    match (pool.separator.as_deref().map(str::as_bytes), format) {
        (_, FileFormat::Jsonl) => Some(b','),
        (Some(&[byte]), _) if !matches!(byte, b'"' | b'\r' | b'\n') => Some(byte),
        (Some(_), _) => {
            findings.add(&inside(path, "separator"), "expected one ASCII character");
            None
        }
        (None, FileFormat::Tsv) => Some(b'\t'),
        (None, _) => Some(b','),
    }
}

/// The column that holds the weights, if the order asks for one.
fn weight_column(
    pool: &Written,
    columns: &[String],
    path: &str,
    findings: &Findings,
) -> Option<Option<usize>> {
    let at = inside(path, "weight");
    match (&pool.weight, pool.order) {
        (None, Order::Weighted) => {
            let what = "`order: weighted` needs `weight`, the column that holds each row's weight";
            findings.add(path, what);
            None
        }
        (None, _) => Some(None),
        (Some(name), Order::Weighted) => {
            let column = columns.iter().position(|column| column == name);
            if column.is_none() {
                let near = suggestion(name, columns.iter().map(String::as_str));
                findings.add(&at, format!("there is no column {}{near}", quote(name)));
            }
            column.map(Some)
        }
        (Some(_), _) => {
            findings.add(&at, "is used only with `order: weighted`");
            None
        }
    }
}

/// The choice among rows that `order: weighted` makes; nothing for other orders.
fn weights(
    pool: &Written,
    table: &Table,
    path: &str,
    findings: &Findings,
) -> Option<Option<Choice>> {
    let Some(column) = weight_column(pool, table.columns(), path, findings)? else {
        return Some(None);
    };
    let at = inside(path, "weight");
    let mut weights = Vec::with_capacity(table.rows() as usize);
    for row in 0..table.rows() {
        let cell = table.cell(row, column as u16).0;
        let Some(weight) = weight_of(cell) else {
            let text = String::from_utf8_lossy(cell);
            findings.add(&at, format!("row {}: {} is not a weight", row + 1, quote(&text)));
            return None;
        };
        weights.push(weight);
    }
    let choice = Choice::new(&weights);
    if choice.is_none() {
        findings.add(&at, "the weights sum to zero");
    }
    choice.map(Some)
}
