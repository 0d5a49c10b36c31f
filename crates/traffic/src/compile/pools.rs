//! Pools: their rows read, their orders made ready.

use std::collections::BTreeMap;

use model::Workload;
use model::workload::{FileFormat, Order, Pool};

use crate::draw::{Choice, mixed};
use crate::finding::{Findings, inside, quote};
use crate::pool::{BadRow, Rows, Table, read_csv, read_json_lines, read_values};

use super::Inputs;
use super::meaning::nearest;

/// Pools of a workload at most.
const MOST: usize = 1_000;

/// Reads all pools. Of a pool that cannot be read only its name is known.
pub(super) fn read(
    workload: &Workload,
    inputs: &Inputs<'_>,
    findings: &mut Findings,
) -> (Vec<Table>, Vec<Rows>, BTreeMap<String, Option<u16>>) {
    let (mut tables, mut rows, mut names) = (Vec::new(), Vec::new(), BTreeMap::new());
    if workload.pools.len() > MOST {
        findings.add("pools", format!("more than {MOST} pools"));
    }
    for (name, pool) in workload.pools.iter().take(MOST) {
        let path = inside("pools", name);
        if name == "env" {
            findings.add(&path, "`env` names the environment: call the pool something else");
        }
        let made = table(pool, inputs, &path, findings).and_then(|table| {
            let weights = weights(pool, &table, &path, findings)?;
            Some((table, weights))
        });
        let Some((table, weights)) = made else {
            names.insert(name.clone(), None);
            continue;
        };
        names.insert(name.clone(), Some(tables.len() as u16));
        let seed = inputs.seed ^ mixed(tables.len() as u64);
        rows.push(Rows::new(name, table.rows(), pool.order, weights, seed));
        tables.push(table);
    }
    (tables, rows, names)
}

fn table(pool: &Pool, inputs: &Inputs<'_>, path: &str, findings: &mut Findings) -> Option<Table> {
    let read = match (&pool.file, &pool.values) {
        (Some(_), Some(_)) => {
            findings.add(path, "has `file` and `values`: one of them is wanted");
            return None;
        }
        (None, None) => {
            findings.add(path, "has neither `file` nor `values`: one of them is wanted");
            return None;
        }
        (None, Some(values)) => (read_values(values), inside(path, "values")),
        (Some(file), None) => {
            let at = inside(path, "file");
            let bytes = bytes_of(file, inputs, &at, findings)?;
            (rows_of(pool, file, &bytes, path, findings)?, at)
        }
    };
    let (table, at) = match read {
        (Ok(table), at) => (table, at),
        (Err(bad), at) => {
            let file = pool.file.as_deref().unwrap_or_default();
            let what = match bad.line {
                Some(line) => format!("{file}:{line}: {}", bad.what),
                None => format!("{file} {}", bad.what).trim_start().to_owned(),
            };
            findings.add(&at, what);
            return None;
        }
    };
    if table.rows() == 0 {
        findings.add(&at, "the pool is empty");
        return None;
    }
    Some(table)
}

fn bytes_of(file: &str, inputs: &Inputs<'_>, at: &str, findings: &mut Findings) -> Option<Vec<u8>> {
    match (inputs.file)(file) {
        Ok(bytes) => Some(bytes),
        Err(what) => {
            findings.add(at, format!("{}: {what}", quote(file)));
            None
        }
    }
}

fn rows_of(
    pool: &Pool,
    file: &str,
    bytes: &[u8],
    path: &str,
    findings: &mut Findings,
) -> Option<Result<Table, BadRow>> {
    let ending = file.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let format = pool.format.or(match ending.as_str() {
        "csv" => Some(FileFormat::Csv),
        "tsv" => Some(FileFormat::Tsv),
        "jsonl" | "ndjson" => Some(FileFormat::Jsonl),
        _ => None,
    });
    let Some(format) = format else {
        let what =
            format!("{} does not say its format: add `format: csv` or the like", quote(file));
        findings.add(&inside(path, "file"), what);
        return None;
    };
    if format == FileFormat::Jsonl {
        return Some(read_json_lines(bytes));
    }
    let separator = match (pool.separator.as_deref().map(str::as_bytes), format) {
        (Some(&[byte]), _) if !matches!(byte, b'"' | b'\r' | b'\n') => byte,
        (Some(_), _) => {
            findings.add(&inside(path, "separator"), "one character of ASCII is wanted");
            return None;
        }
        (None, FileFormat::Tsv) => b'\t',
        (None, _) => b',',
    };
    Some(read_csv(bytes, separator, pool.columns.as_deref()))
}

/// The choice among rows that `order: weighted` makes; nothing for other orders.
fn weights(
    pool: &Pool,
    table: &Table,
    path: &str,
    findings: &mut Findings,
) -> Option<Option<Choice>> {
    let Some(name) = &pool.weight else {
        if pool.order == Order::Weighted {
            let what = "`order: weighted` needs `weight`, the column that holds each row's weight";
            findings.add(path, what);
            return None;
        }
        return Some(None);
    };
    let at = inside(path, "weight");
    if pool.order != Order::Weighted {
        findings.add(&at, "means something with `order: weighted` only");
        return None;
    }
    let columns = table.columns();
    let Some(column) = columns.iter().position(|column| column == name) else {
        let near = nearest(name, columns.iter().map(String::as_str));
        findings.add(&at, format!("there is no column {}{near}", quote(name)));
        return None;
    };
    let mut weights = Vec::with_capacity(table.rows() as usize);
    for row in 0..table.rows() {
        let text = String::from_utf8_lossy(table.cell(row, column as u16).0);
        match text.trim().parse::<f64>() {
            Ok(weight) if weight.is_finite() && weight >= 0.0 => weights.push(weight),
            _ => {
                let what = format!("row {}: {} is no weight", row + 1, quote(&text));
                findings.add(&at, what);
                return None;
            }
        }
    }
    let choice = Choice::new(&weights);
    if choice.is_none() {
        findings.add(&at, "the weights sum to nothing");
    }
    choice.map(Some)
}
