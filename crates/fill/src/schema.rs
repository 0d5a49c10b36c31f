//! What a database's schema says, as far as rows depend on it.
//!
//! Owns the types. The readers are in `database`, one for each kind of database.

use std::fmt;

use model::quote::plain;
use serde::{Deserialize, Serialize};

use crate::value::Value;

/// The kind of database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// PostgreSQL.
    Postgres,
    /// MySQL and MariaDB.
    Mysql,
    /// SQLite.
    Sqlite,
}

impl Dialect {
    /// An identifier in this dialect's quotes: any name is allowed, reserved words included.
    pub fn quoted(self, name: &str) -> String {
        match self {
            Self::Mysql => format!("`{}`", name.replace('`', "``")),
            _ => format!("\"{}\"", name.replace('"', "\"\"")),
        }
    }

    /// A text as a literal.
    pub fn literal(self, text: &str) -> String {
        let text = text.replace('\'', "''");
        match self {
            Self::Mysql => format!("'{}'", text.replace('\\', "\\\\")),
            _ => format!("'{text}'"),
        }
    }
}

/// A table's name. No schema: the one in which unqualified names are looked up.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Name {
    /// The schema, if it is not the usual one.
    pub schema: Option<String>,
    /// The table.
    pub table: String,
}

impl Name {
    /// As SQL.
    pub fn sql(&self, dialect: Dialect) -> String {
        let table = dialect.quoted(&self.table);
        match &self.schema {
            Some(schema) => format!("{}.{table}", dialect.quoted(schema)),
            None => table,
        }
    }

    /// Whether a user who writes `text` means this table.
    pub fn is_meant_by(&self, text: &str) -> bool {
        text == self.table && self.schema.is_none() || text == self.to_string()
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(schema) = &self.schema {
            write!(f, "{}.", plain(schema, 64))?;
        }
        f.write_str(&plain(&self.table, 64))
    }
}

/// All tables that rows can be written to.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    /// Whose SQL it is.
    pub dialect: Dialect,
    /// The tables, by name.
    pub tables: Vec<Table>,
}

impl Schema {
    /// The table that a user means.
    pub fn find(&self, text: &str) -> Option<usize> {
        self.tables.iter().position(|table| table.name.is_meant_by(text))
    }
}

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: Name,
    /// Its columns, in order.
    pub columns: Vec<Column>,
    /// The primary key first, where there is one.
    pub uniques: Vec<Unique>,
    /// Rules that hold for some rows only (`WHERE`), or for what is computed of these columns. No row is known by one.
    pub partial: Vec<Unique>,
    /// Exclusion constraints.
    pub exclusions: Vec<Exclusion>,
    /// Whether the first of `uniques` is the primary key.
    pub has_primary: bool,
    /// Foreign keys.
    pub references: Vec<Reference>,
    /// Conditions on rows.
    pub checks: Vec<Check>,
    /// SQLite's hidden row number can be written under this name.
    pub rowid: Option<&'static str>,
    /// Why no rows can be added to it, and what helps.
    pub unfit: Option<&'static str>,
}

impl Table {
    /// A table of these columns, without rules.
    pub fn new(name: Name, columns: Vec<Column>) -> Self {
        Self {
            name,
            columns,
            uniques: Vec::new(),
            partial: Vec::new(),
            exclusions: Vec::new(),
            has_primary: false,
            references: Vec::new(),
            checks: Vec::new(),
            rowid: None,
            unfit: None,
        }
    }

    /// All rules of uniqueness.
    pub fn rules(&self) -> impl Iterator<Item = &Unique> {
        let equal = self.exclusions.iter().map(|exclusion| &exclusion.equal);
        self.uniques.iter().chain(&self.partial).chain(equal)
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The column that an expression means by this name, of which the case of letters may differ.
    pub fn column_meant(&self, name: &str) -> Option<usize> {
        let same = |column: &Column| column.name.eq_ignore_ascii_case(name);
        self.column(name).or_else(|| self.columns.iter().position(same))
    }

    /// `users.email`, for messages.
    pub fn place(&self, column: usize) -> String {
        format!("{}.{}", self.name, plain(&self.columns[column].name, 64))
    }

    /// `orders (user_id, day)`, for messages; of no columns `orders`.
    pub fn places(&self, columns: &[usize]) -> String {
        if columns.is_empty() {
            return self.name.to_string();
        }
        let names: Vec<String> =
            columns.iter().map(|&column| plain(&self.columns[column].name, 64)).collect();
        format!("{} ({})", self.name, names.join(", "))
    }

    /// The columns that a condition names.
    pub fn columns_of(&self, check: &Check) -> Vec<usize> {
        let mut columns = self.named_in(&check.text);
        columns.extend(check.value.filter(|value| !columns.contains(value)));
        columns.sort_unstable();
        columns
    }

    /// The columns that an expression names.
    pub fn named_in(&self, text: &str) -> Vec<usize> {
        // What is between quotes is data, in all three databases.
        let code: Vec<&str> = text.split('\'').step_by(2).collect();
        let named = |at: &usize| {
            let name = self.columns[*at].name.as_str();
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let plain = name.chars().all(is_word);
            code.iter().any(|part| match plain {
                true => part.split(|c| !is_word(c)).any(|word| word.eq_ignore_ascii_case(name)),
                false => part.contains(name),
            })
        };
        (0..self.columns.len()).filter(named).collect()
    }

    /// `(id 7, total -1.00)`, for messages: these values of these columns.
    pub fn shown(&self, columns: &[usize], values: &[Value]) -> String {
        let cell = |(&column, value): (&usize, &Value)| {
            let text = match value {
                Value::Null => "NULL".to_owned(),
                value => plain(&value.text(), 40),
            };
            format!("{} {text}", plain(&self.columns[column].name, 64))
        };
        let cells: Vec<String> = columns.iter().zip(values).take(20).map(cell).collect();
        let more = if columns.len() > 20 { ", ..." } else { "" };
        format!("({}{more})", cells.join(", "))
    }

    /// The columns by which a row is told from all others, none of which may be NULL or is computed.
    pub fn key(&self) -> Option<&Unique> {
        let usable = |unique: &&Unique| {
            let written = |&column: &usize| {
                let of = &self.columns[column];
                !of.nullable && of.generated.is_none()
            };
            unique.columns.iter().all(written) && !unique.columns.is_empty()
        };
        self.uniques.iter().find(usable)
    }
}

/// Columns whose values together occur once. A generated column is never among them, but those that it is computed of
/// (`computed`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unique {
    /// The name of the constraint or index.
    pub rule: String,
    /// Columns of the table.
    pub columns: Vec<usize>,
}

/// An exclusion constraint: of its comparisons of two rows, one at least says no.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exclusion {
    /// Its name, and the columns that it compares by `=`: two rows that differ in one of them are allowed. There may be
    /// none.
    pub equal: Unique,
    /// The columns that it compares otherwise: a row with NULL in one of them is allowed beside any other.
    pub others: Vec<usize>,
    /// Whether it holds for some rows only.
    pub partial: bool,
}

/// A foreign key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The name of the constraint.
    pub rule: String,
    /// Columns of the table.
    pub columns: Vec<usize>,
    /// The table that they refer to.
    pub table: usize,
    /// Columns of that table, in the same order.
    pub targets: Vec<usize>,
    /// What becomes of a row when the one it refers to is deleted.
    pub on_delete: OnDelete,
}

/// What becomes of a row when the one it refers to is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnDelete {
    /// Nothing: the database refuses to delete the other (NO ACTION, RESTRICT).
    #[default]
    Refuse,
    /// It is deleted too.
    Cascade,
    /// Its reference becomes NULL.
    SetNull,
    /// Its reference becomes the column's default.
    SetDefault,
}

impl OnDelete {
    /// From the SQL, such as `SET NULL`, or PostgreSQL's letter for it.
    pub fn of(text: &str) -> Self {
        match text {
            "c" | "CASCADE" => Self::Cascade,
            "n" | "SET NULL" => Self::SetNull,
            "d" | "SET DEFAULT" => Self::SetDefault,
            _ => Self::Refuse,
        }
    }
}

impl fmt::Display for OnDelete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Refuse => "NO ACTION",
            Self::Cascade => "CASCADE",
            Self::SetNull => "SET NULL",
            Self::SetDefault => "SET DEFAULT",
        })
    }
}

/// A condition on rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The name of the constraint.
    pub rule: String,
    /// The condition, as the database prints it.
    pub text: String,
    /// The column for which it says `VALUE`: a condition of its domain.
    pub value: Option<usize>,
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: Type,
    /// The type as the database prints it.
    pub type_name: String,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// The expression of its default, as the database prints it.
    pub default: Option<String>,
    /// The expression by which the database computes it: nothing may be written.
    pub generated: Option<String>,
    /// Numbers come from a sequence, identity or auto_increment.
    pub counted: bool,
    /// Whether texts that differ in the case of letters alone are the same.
    pub folds: bool,
}

impl Column {
    /// Whether the database fills texts up with blanks, or takes those at the end away: `character(n)`.
    pub fn is_padded(&self) -> bool {
        let name = self.type_name.split('(').next().unwrap_or_default();
        ["char", "character", "bpchar"].iter().any(|padded| name.eq_ignore_ascii_case(padded))
    }

    /// Whether MySQL shows it as a byte string, and takes a text for one: `bit(n)`, as a number here.
    pub fn is_bits(&self) -> bool {
        self.type_name.starts_with("bit(")
    }

    /// Whether MySQL shows it as a byte string that begins with the number of a reference system: a geometry.
    pub fn is_geometry(&self) -> bool {
        let name = self.type_name.as_str();
        ["point", "linestring", "polygon"].iter().any(|shape| name.ends_with(shape))
            || name.starts_with("geom")
    }
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    /// True or false.
    Bool,
    /// Whole numbers from `min` to `max`.
    Int {
        /// The lowest.
        min: i128,
        /// The highest.
        max: i128,
    },
    /// Decimal numbers of `precision` digits, `scale` of them behind the point.
    Decimal {
        /// Digits.
        precision: u32,
        /// Digits behind the point.
        scale: u32,
    },
    /// Binary fractions.
    Float,
    /// Text of so many characters at most.
    Text {
        /// None: no limit.
        most: Option<u32>,
    },
    /// Bytes, so many at most.
    Bytes {
        /// None: no limit.
        most: Option<u32>,
    },
    /// One of these.
    Enum(Vec<String>),
    /// A day.
    Date,
    /// A time of day.
    Time,
    /// A day and a time of day; seconds only where `micros` is not set.
    Moment {
        /// Whether parts of seconds are kept.
        micros: bool,
    },
    /// A UUID.
    Uuid,
    /// JSON.
    Json,
    /// An address of the internet protocol; where both versions may stand, one of version 4 does.
    Inet,
    /// An address of its version 6.
    Inet6,
    /// Any other type.
    Other,
}

impl Type {
    /// Numbers and times: values between two values are values.
    pub fn is_continuous(&self) -> bool {
        matches!(
            self,
            Self::Int { .. }
                | Self::Decimal { .. }
                | Self::Float
                | Self::Date
                | Self::Time
                | Self::Moment { .. }
        )
    }

    /// Days and times.
    pub fn is_time(&self) -> bool {
        matches!(self, Self::Date | Self::Moment { .. })
    }
}
