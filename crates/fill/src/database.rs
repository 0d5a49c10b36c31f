//! Databases: their schemas, reading as text, and writing rows in batches.
//!
//! Owns the one interface that the rest of the crate uses, and its three implementations. Identifiers are always
//! quoted, values are data of COPY and LOAD DATA, bound parameters, or literals of [`Dialect::literal`].

mod mysql;
mod postgres;
mod read_mysql;
mod read_postgres;
mod read_sqlite;
mod sqlite;
mod types;

use crate::error::{Error, Result};
use crate::facts::Series;
use crate::schema::{Column, Dialect, Name, Schema, Table, Type};
use crate::value::Value;

pub use login::{Address, Environment, masked};

/// Makes the row of a number.
pub type Make<'a> = dyn Fn(u64, &mut Vec<Value>) -> Result<()> + Sync + 'a;

/// Takes a row as text.
pub type Each<'a> = dyn FnMut(&[Option<&str>]) -> Result<()> + 'a;

/// Ends the statement that a connection carries out, from another thread; it then fails as if the database refused.
/// Does nothing where none is carried out, or the server cannot be reached.
pub type Canceller = Box<dyn Fn() + Send>;

/// Where rows go.
#[derive(Debug)]
pub struct Target<'a> {
    /// The table.
    pub table: &'a Table,
    /// The columns that are written, in order.
    pub columns: &'a [usize],
    /// The hidden row number of row 0, where it is written too.
    pub first_rowid: Option<i64>,
}

/// A connection.
pub trait Database {
    /// Whose SQL it takes.
    fn dialect(&self) -> Dialect;

    /// What ends the statement at hand, whichever that is by then.
    fn canceller(&self) -> Canceller;

    /// Reads the schema.
    ///
    /// # Errors
    /// When the database refuses.
    fn schema(&mut self) -> Result<Schema>;

    /// Carries out a statement; the rows that it changed.
    ///
    /// # Errors
    /// When the database refuses.
    fn execute(&mut self, sql: &str) -> Result<u64>;

    /// Runs a query and hands over its rows as they come.
    ///
    /// # Errors
    /// When the database refuses, and what `each` fails with.
    fn query(&mut self, sql: &str, each: &mut Each<'_>) -> Result<()>;

    /// Writes rows, inside of the transaction that was begun.
    ///
    /// # Errors
    /// When the database refuses: with the rule and the column, where it says so.
    fn write(&mut self, target: &Target<'_>, rows: &[u64], make: &Make<'_>) -> Result<()>;

    /// Where a column's counter stands: its last value, and whether that was given out.
    ///
    /// # Errors
    /// When the database refuses.
    fn counter(&mut self, table: &Table, column: usize) -> Result<Option<(i64, bool)>>;

    /// Which numbers a column's counter gives; none where it gives all of the column's type.
    ///
    /// # Errors
    /// When the database refuses.
    fn series(&mut self, _table: &Table, _column: usize) -> Result<Option<Series>> {
        Ok(None)
    }

    /// The condition that says which rows a partition of a table takes; none where it has no partitions, they take all, or
    /// that is not known.
    ///
    /// # Errors
    /// When the database refuses.
    fn partitions(&mut self, _table: &Table) -> Result<Option<String>> {
        Ok(None)
    }

    /// Sets a column's counter.
    ///
    /// # Errors
    /// When the database refuses.
    fn set_counter(&mut self, table: &Table, column: usize, value: (i64, bool)) -> Result<()>;

    /// Whether there is a table of this name where unqualified names are looked up.
    ///
    /// # Errors
    /// When the database refuses.
    fn has_table(&mut self, name: &str) -> Result<bool>;

    /// What the database compares instead of each text of a column: the same for those of these texts that are the same
    /// to it. None for a text that the column cannot hold.
    ///
    /// # Errors
    /// When the database refuses.
    fn compared_as(
        &mut self,
        table: &Table,
        column: usize,
        texts: &[String],
    ) -> Result<Vec<Option<String>>>;

    /// Signs that the database is in use by others: replicas, clients that are connected and have written. What may
    /// not be looked at is left out.
    ///
    /// # Errors
    /// When the connection fails.
    fn signs_of_use(&mut self) -> Result<Vec<String>>;

    /// A text that is another one after others have changed rows; none where that may not be looked at.
    ///
    /// # Errors
    /// When the connection fails.
    fn changes(&mut self) -> Result<Option<String>>;

    /// Has the planner's statistics renewed; whether they were.
    ///
    /// # Errors
    /// When the database refuses.
    fn analyze(&mut self, table: &Name) -> Result<bool>;

    /// Takes back what [`Database::analyze`] left in the schema.
    ///
    /// # Errors
    /// When the database refuses.
    fn forget_statistics(&mut self) -> Result<()>;
}

/// Connects.
///
/// # Errors
/// When the address names no database or the database refuses; neither holds the password.
pub fn connect(address: &Address) -> Result<Box<dyn Database>> {
    let mut address = address.clone();
    address.as_application("plimsoll fill");
    if address.database().is_empty() {
        let why = "the URL names no database: mysql://USER@HOST/DATABASE";
        return Err(Error::Usage(why.to_owned()));
    }
    Ok(match &address {
        Address::Postgres(login) => Box::new(postgres::Postgres::connect(login)?),
        Address::Mysql(opts) => Box::new(mysql::Mysql::connect(opts)?),
        Address::Sqlite(path) => Box::new(sqlite::Sqlite::open(path)?),
    })
}

/// All rows of a query that has few.
///
/// # Errors
/// As [`Database::query`].
pub fn all(database: &mut dyn Database, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
    let mut rows = Vec::new();
    database.query(sql, &mut |row| {
        rows.push(row.iter().map(|cell| cell.map(str::to_owned)).collect());
        Ok(())
    })?;
    Ok(rows)
}

/// The one value of a query; none where it is NULL or there is no row.
///
/// # Errors
/// As [`Database::query`].
pub fn one(database: &mut dyn Database, sql: &str) -> Result<Option<String>> {
    let mut found = None;
    database.query(sql, &mut |row| {
        found = row.first().copied().flatten().map(str::to_owned);
        Ok(())
    })?;
    Ok(found)
}

/// The number of a query.
///
/// # Errors
/// As [`Database::query`], and where it is none.
pub fn number(database: &mut dyn Database, sql: &str) -> Result<u64> {
    let found = one(database, sql)?;
    let number = found.as_deref().map_or(Some(0), |text| text.parse().ok());
    number.ok_or_else(|| Error::Database(format!("not a number: {found:?}")))
}

/// A value as a literal.
pub fn literal(dialect: Dialect, value: &Value) -> String {
    match (value, dialect) {
        (Value::Null, _) => "NULL".to_owned(),
        // As a number it would be one of more digits than a `real` has, and equal to none.
        (Value::Float(_), Dialect::Postgres) => format!("'{}'", value.text()),
        (Value::Int(_) | Value::Decimal { .. } | Value::Float(_), _) => value.text(),
        (Value::Bool(value), Dialect::Postgres) => value.to_string(),
        (Value::Bool(value), _) => u8::from(*value).to_string(),
        (Value::Bytes(_), Dialect::Postgres) => format!("'\\x{}'", value.text()),
        (Value::Bytes(_), _) => format!("x'{}'", value.text()),
        (value, dialect) => dialect.literal(&value.text()),
    }
}

/// A value of a column as a literal.
pub fn literal_of(dialect: Dialect, of: &Column, value: &Value) -> String {
    let text = literal(dialect, value);
    match dialect == Dialect::Mysql && of.kind == Type::Other && of.is_geometry() {
        true => geometry(&text),
        false => text,
    }
}

/// MySQL's geometry of a text as [`selected`] shows it.
fn geometry(text: &str) -> String {
    format!("UNHEX(SUBSTR({text}, 3))")
}

/// The columns' names as SQL.
pub fn column_list(dialect: Dialect, table: &Table, columns: &[usize]) -> String {
    let names: Vec<String> =
        columns.iter().map(|&column| dialect.quoted(&table.columns[column].name)).collect();
    names.join(", ")
}

/// The columns as queries select them: bytes and MySQL's geometries as PostgreSQL shows bytes, `\\x` and hexadecimal
/// digits, and MySQL's bits as a number.
pub fn selected(dialect: Dialect, table: &Table, columns: &[usize]) -> String {
    let cell = |&column: &usize| {
        let of = &table.columns[column];
        let name = dialect.quoted(&of.name);
        match (&of.kind, dialect) {
            (Type::Bytes { .. }, Dialect::Mysql) => format!("CONCAT(CHAR(92), 'x', HEX({name}))"),
            (Type::Other, Dialect::Mysql) if of.is_geometry() => {
                format!("CONCAT(CHAR(92), 'x', HEX({name}))")
            }
            (Type::Bool, Dialect::Mysql) => format!("{name} + 0"),
            (_, Dialect::Mysql) if of.is_bits() => format!("{name} + 0"),
            (Type::Bytes { .. }, Dialect::Sqlite) => {
                format!(
                    "CASE typeof({name}) WHEN 'blob' THEN char(92) || 'x' || hex({name}) ELSE {name} END"
                )
            }
            _ => name,
        }
    };
    columns.iter().map(cell).collect::<Vec<_>>().join(", ")
}

/// Appends a value as COPY and LOAD DATA read it.
fn write_copied(value: &Value, scratch: &mut String, out: &mut String) {
    match value {
        Value::Null => out.push_str("\\N"),
        Value::Text(text) => escape(text, out),
        Value::Int(_) | Value::Date(_) | Value::Moment(_) | Value::Decimal { .. } => {
            value.write(out);
        }
        other => {
            scratch.clear();
            other.write(scratch);
            escape(scratch, out);
        }
    }
}

fn escape(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '\t', '\n', '\r', '\0']) {
        out.push_str(&rest[..at]);
        match rest.as_bytes()[at] {
            b'\\' => out.push_str("\\\\"),
            b'\t' => out.push_str("\\t"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            // No text of PostgreSQL's can hold it.
            _ => {}
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
}

/// Bytes of rows that travel together between the maker and the connection.
const CHUNK: usize = 128 << 10;

/// Makes rows in the form of COPY, in chunks; ends early where nobody takes them.
fn produce(
    rows: &[u64],
    make: &Make<'_>,
    bytes_mark: &str,
    send: &std::sync::mpsc::SyncSender<Result<String>>,
) {
    let (mut chunk, mut scratch, mut row) =
        (String::with_capacity(CHUNK + 4096), String::new(), Vec::new());
    for &number in rows {
        if let Err(error) = make(number, &mut row) {
            let _ = send.send(Err(error));
            return;
        }
        for (at, value) in row.iter().enumerate() {
            if at > 0 {
                chunk.push('\t');
            }
            if matches!(value, Value::Bytes(_)) {
                chunk.push_str(bytes_mark);
            }
            write_copied(value, &mut scratch, &mut chunk);
        }
        chunk.push('\n');
        if chunk.len() >= CHUNK {
            let full = std::mem::replace(&mut chunk, String::with_capacity(CHUNK + 4096));
            if send.send(Ok(full)).is_err() {
                return;
            }
        }
    }
    let _ = send.send(Ok(chunk));
}
