//! What is known of a database before it is filled, and what is to be added: all that rows depend on besides the schema.
//! It is stored in the database with a fill, so that the fill can be resumed and taken back.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::learn::Learned;
use crate::schema::Name;

/// The version of this form.
pub const VERSION: u32 = 8;

/// One fill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// The version of this form.
    pub version: u32,
    /// The seed of all draws.
    pub seed: u64,
    /// The language of texts.
    pub locale: String,
    /// The latest time that is made, in microseconds since 1970.
    pub until: i64,
    /// What stands for the tables: a fill is not continued after one has changed.
    pub schema: u64,
    /// Rows in a batch.
    pub batch: u64,
    /// One for each table of the schema, in its order; those that have come since have no name here.
    pub tables: Vec<TableFacts>,
    /// The tables that rows are added to, parents first.
    pub order: Vec<usize>,
    /// References whose values come in a second pass, since they close a cycle: table, and its reference.
    pub deferred: Vec<(usize, usize)>,
}

/// What is known of a table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TableFacts {
    /// Its name.
    pub name: Option<Name>,
    /// Rows before.
    pub rows: u64,
    /// Rows to add.
    pub add: u64,
    /// One for each column; none where nothing was asked.
    pub columns: Vec<ColumnFacts>,
    /// One for each reference.
    pub links: Vec<LinkFacts>,
    /// Keys that rows had before, for those who refer to them.
    pub parents: Vec<ParentKeys>,
    /// The first hidden row number, for a table in SQLite that has no key.
    pub first_rowid: i64,
    /// The condition that says which rows have a partition. Partitions come and go without the table being another one,
    /// so that it is no part of the schema.
    #[serde(default)]
    pub partitions: Option<String>,
}

/// What is known of a column.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ColumnFacts {
    /// What its values are like.
    pub learned: Learned,
    /// The highest number.
    pub highest: Option<i64>,
    /// The lowest and the highest of numbers below that one that no row has, where there is no room above it; or of the
    /// most in a row of the numbers that texts of a regular expression have.
    pub gap: Option<(i64, i64)>,
    /// The highest number at the end of a text.
    pub trailing: u64,
    /// Values that requests ask for and that are not there, the most wanted first.
    pub wanted: Vec<String>,
    /// The weights of all values that requests ask for, most first: those of the rows that are there, and those of
    /// `wanted`.
    pub weights: (Vec<f64>, Vec<f64>),
    /// Values that are taken, of a unique column with few possible values.
    pub taken: Vec<String>,
    /// Texts of a unique column that the database takes for the same as an earlier one, each with that one: of those that
    /// may be written, are asked for or are taken.
    #[serde(default)]
    pub alike: BTreeMap<String, String>,
    /// Where its counter stood: the last value, and whether that was given out.
    pub counter: Option<(i64, bool)>,
    /// What that counter gives, where the database says so.
    #[serde(default)]
    pub series: Option<Series>,
}

impl ColumnFacts {
    /// What stands for all texts that are the same to the database as this one.
    pub fn same_as<'a>(&'a self, text: &'a str) -> &'a str {
        self.alike.get(text).map_or(text, String::as_str)
    }
}

/// The numbers that a counter gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Series {
    /// From one to the next; below 0 it counts down.
    pub step: i64,
    /// The highest.
    pub highest: i64,
}

/// What is known of a reference.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkFacts {
    /// Share of rows without a parent.
    pub nulls: f64,
    /// How many parents have so many children: (children, parents).
    pub counts: Vec<(u64, u64)>,
    /// Parents among [`ParentKeys::keys`] that no child has, for a reference that is unique.
    pub free: Vec<u32>,
    /// Columns with times that never lie before a time of the parent: the column, and the parent's.
    pub times: Vec<(usize, usize)>,
}

/// Keys of rows that were there before.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ParentKeys {
    /// The columns.
    pub columns: Vec<usize>,
    /// Their values, in order; those that requests ask for first.
    pub keys: Vec<Vec<String>>,
    /// Their times, in microseconds since 1970, of the columns that children may not lie before.
    pub times: Vec<(usize, Vec<Option<i64>>)>,
}

impl Facts {
    /// The tables that rows are added to, in order.
    pub fn filled(&self) -> &[usize] {
        &self.order
    }

    /// Rows that are added to a table.
    pub fn added_to(&self, table: usize) -> u64 {
        self.tables[table].add
    }

    /// Rows that are added in all.
    pub fn rows_added(&self) -> u64 {
        self.tables.iter().map(|table| table.add).sum()
    }
}

impl TableFacts {
    /// The keys of these columns.
    pub fn keys_of(&self, columns: &[usize]) -> &[Vec<String>] {
        let found = self.parents.iter().find(|parents| parents.columns == columns);
        found.map_or(&[], |parents| parents.keys.as_slice())
    }
}
