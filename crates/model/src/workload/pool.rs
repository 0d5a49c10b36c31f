//! Where parameters take their values from, as written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::value::Literal;

/// Rows of values. `${pool.column}` takes a column of the row drawn for the request, `${pool}` the
/// only one; all places of one request see the same row, and so do all steps of one session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Pool {
    /// A file of rows, its name relative to the workload file's folder. Instead of `values`. A CSV
    /// file
    /// of more than 64 MiB is not read into memory: each of its rows may have up to 1 MiB, and it must not
    /// change while it is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// How the file is to be read; by its name (`.csv`, `.tsv`, `.jsonl`, `.ndjson`) unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<FileFormat>,
    /// Names of a CSV file's columns, if its first row does not contain them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<String>>,
    /// The separator between two values of a CSV row; a comma unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub separator: Option<String>,
    /// The rows themselves: single values (their column is `value`), or objects of columns. Instead of
    /// `file`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<Literal>>,
    /// Which row comes next.
    #[serde(skip_serializing_if = "Order::is_default")]
    pub order: Order,
    /// The column that holds a row's weight, for the order `weighted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<String>,
}

/// How a pool's file is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileFormat {
    /// Rows of RFC 4180, quoted where needed.
    Csv,
    /// CSV separated by tabs.
    Tsv,
    /// A JSON value on each line.
    Jsonl,
}

/// Which row of a pool comes next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// A random row, all with the same probability.
    #[default]
    Random,
    /// One after another over all workers, then from the start again.
    Sequential,
    /// As `sequential`, in a random order that the seed determines.
    Shuffled,
    /// A random row, with the probability of its weight.
    Weighted,
    /// One after another, none twice in all levels of a command; when no row is left, the run ends
    /// and
    /// says so. `--resume` continues where an earlier command ended.
    Unique,
}

impl Order {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
