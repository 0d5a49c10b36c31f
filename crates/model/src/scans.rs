//! How statements of a database read its tables, by the plans that the database itself makes of them (`EXPLAIN`).
//!
//! Values only: `observe` reads them, `verdict` judges them.

/// What a database says of one statement; of one that it knows with several constants, of each.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// The statement's shape, as figures name it: `SELECT … FROM orders WHERE user_id = $1`.
    pub statement: String,
    /// Its scans.
    pub scans: Result<Vec<Scan>, NoPlan>,
}

/// Why there is no plan of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoPlan {
    /// In words.
    pub why: String,
    /// Whether the database may have its text while it is at work.
    pub while_at_work: bool,
}

impl From<String> for NoPlan {
    fn from(why: String) -> Self {
        Self { why, while_at_work: false }
    }
}

/// One table in a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Scan {
    /// With its schema: `public.orders`.
    pub table: String,
    /// How its rows are found.
    pub way: Way,
    /// Rows of the table, estimated by the database.
    pub table_rows: f64,
    /// Rows that are read of it for one call, estimated: at least this many.
    pub rows_read: f64,
    /// Rows that are left of one scan once its conditions were looked at, where the database has an estimate.
    pub rows_kept: Option<f64>,
    /// Whether a condition is looked at for each row that is read.
    pub filtered: bool,
    /// Columns that such a condition compares with what is known before.
    pub compared: Vec<String>,
    /// Those of them by which an index finds rows, and this plan does not.
    pub indexed: Vec<String>,
}

/// How the rows of a table are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// All are read.
    Whole,
    /// All are read, in the order of an index.
    Along(String),
    /// An index leads to them.
    ByIndex(String),
}
