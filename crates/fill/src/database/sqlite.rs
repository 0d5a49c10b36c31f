//! SQLite: one transaction for each batch, prepared statements.

use std::path::Path;
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, Value as Stored, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, params_from_iter};

use super::{Canceller, Database, Each, Make, Target, column_list, number, one, read_sqlite};
use crate::error::{Error, Result};
use crate::schema::{Dialect, Name, Schema, Table};
use crate::value::Value;

/// How long another program's lock is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// An open file.
#[derive(Debug)]
pub struct Sqlite {
    connection: Connection,
}

impl Sqlite {
    /// Opens a file that is there; foreign keys are enforced.
    pub fn open(path: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(|error| wrong(&error))?;
        connection.busy_timeout(PATIENCE).map_err(|error| wrong(&error))?;
        connection.execute_batch("PRAGMA foreign_keys = ON").map_err(|error| wrong(&error))?;
        Ok(Self { connection })
    }
}

fn wrong(error: &rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch) => {
            Error::Rule(error.to_string())
        }
        Some(ErrorCode::DiskFull) => Error::Database(format!("{error}{FULL}")),
        _ => Error::Database(error.to_string()),
    }
}

/// SQLite writes the old pages down before it changes them, so that deleting needs room too.
const FULL: &str = "; make room first: SQLite needs some even to remove rows";

impl Database for Sqlite {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn canceller(&self) -> Canceller {
        let handle = self.connection.get_interrupt_handle();
        Box::new(move || handle.interrupt())
    }

    fn schema(&mut self) -> Result<Schema> {
        read_sqlite::schema(self)
    }

    fn execute(&mut self, sql: &str) -> Result<u64> {
        let changed = self.connection.execute(sql, []).map_err(|error| wrong(&error))?;
        Ok(changed as u64)
    }

    fn query(&mut self, sql: &str, each: &mut Each<'_>) -> Result<()> {
        let mut statement = self.connection.prepare(sql).map_err(|error| wrong(&error))?;
        let columns = statement.column_count();
        let mut rows = statement.query([]).map_err(|error| wrong(&error))?;
        while let Some(row) = rows.next().map_err(|error| wrong(&error))? {
            let mut cells: Vec<Option<String>> = Vec::with_capacity(columns);
            for at in 0..columns {
                cells.push(match row.get_ref(at).map_err(|error| wrong(&error))? {
                    ValueRef::Null => None,
                    ValueRef::Integer(number) => Some(number.to_string()),
                    ValueRef::Real(number) => Some(number.to_string()),
                    ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                        Some(String::from_utf8_lossy(bytes).into_owned())
                    }
                });
            }
            let row: Vec<Option<&str>> = cells.iter().map(Option::as_deref).collect();
            each(&row)?;
        }
        Ok(())
    }

    fn write(&mut self, target: &Target<'_>, rows: &[u64], make: &Make<'_>) -> Result<()> {
        let mut columns = column_list(Dialect::Sqlite, target.table, target.columns);
        let hidden = target.first_rowid.zip(target.table.rowid);
        if let Some((_, name)) = hidden {
            columns =
                if columns.is_empty() { name.to_owned() } else { format!("{name}, {columns}") };
        }
        let count = target.columns.len() + usize::from(hidden.is_some());
        let name = target.table.name.sql(Dialect::Sqlite);
        let sql = if count == 0 {
            format!("INSERT INTO {name} DEFAULT VALUES")
        } else {
            let marks = vec!["?"; count].join(", ");
            format!("INSERT INTO {name} ({columns}) VALUES ({marks})")
        };
        // What a foreign key refers to may not be there.
        let prepared = self.connection.prepare_cached(&sql);
        let mut statement = prepared.map_err(|error| wrong(&error).at(&target.table.name))?;
        let mut row = Vec::new();
        for &at in rows {
            make(at, &mut row)?;
            let rowid = hidden.map(|(first, _)| Stored::Integer(first.saturating_add_unsigned(at)));
            let values = rowid.map(ToSqlOutput::Owned).into_iter().chain(row.iter().map(bound));
            let inserted = statement
                .execute(params_from_iter(values))
                .map_err(|error| wrong(&error).at(&target.table.name))?;
            if inserted != 1 {
                let name = &target.table.name;
                return Err(Error::Rule(format!("{name}: a trigger drops rows")));
            }
        }
        Ok(())
    }

    fn counter(&mut self, table: &Table, _: usize) -> Result<Option<(i64, bool)>> {
        if !self.has_table("sqlite_sequence")? {
            return Ok(None);
        }
        let name = Dialect::Sqlite.literal(&table.name.table);
        let sql = format!("SELECT seq FROM sqlite_sequence WHERE name = {name}");
        let found = one(self, &sql)?.and_then(|text| text.parse().ok());
        Ok(Some(found.map_or((0, false), |value| (value, true))))
    }

    fn set_counter(&mut self, table: &Table, _: usize, value: (i64, bool)) -> Result<()> {
        let name = Dialect::Sqlite.literal(&table.name.table);
        let sql = match value {
            (value, true) => {
                format!("UPDATE sqlite_sequence SET seq = {value} WHERE name = {name}")
            }
            (_, false) => format!("DELETE FROM sqlite_sequence WHERE name = {name}"),
        };
        self.execute(&sql).map(|_| ())
    }

    /// Its `NOCASE` knows the letters of ASCII alone.
    fn compared_as(
        &mut self,
        table: &Table,
        column: usize,
        texts: &[String],
    ) -> Result<Vec<Option<String>>> {
        let folds = table.columns[column].folds;
        let compared = |text: &String| if folds { text.to_ascii_lowercase() } else { text.clone() };
        Ok(texts.iter().map(|text| Some(compared(text))).collect())
    }

    fn has_table(&mut self, name: &str) -> Result<bool> {
        let name = Dialect::Sqlite.literal(name);
        let sql =
            format!("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = {name}");
        Ok(number(self, &sql)? > 0)
    }

    fn signs_of_use(&mut self) -> Result<Vec<String>> {
        // Whoever writes holds the lock.
        self.connection.busy_timeout(Duration::from_millis(200)).map_err(|error| wrong(&error))?;
        let locked = self.execute("BEGIN IMMEDIATE").is_err();
        if !locked {
            self.execute("ROLLBACK")?;
        }
        self.connection.busy_timeout(PATIENCE).map_err(|error| wrong(&error))?;
        Ok(if locked { vec!["another program is writing to it".to_owned()] } else { Vec::new() })
    }

    fn changes(&mut self) -> Result<Option<String>> {
        one(self, "PRAGMA data_version")
    }

    /// Only where no statistics are there: they are rows of a table, and cannot be put back as they were.
    fn analyze(&mut self, table: &Name) -> Result<bool> {
        if self.has_table("sqlite_stat1")? && !self.has_table(MARK)? {
            return Ok(false);
        }
        self.execute(&format!("CREATE TABLE IF NOT EXISTS {MARK} (id INTEGER)"))?;
        self.connection
            .execute_batch(&format!("ANALYZE {}", table.sql(Dialect::Sqlite)))
            .map_err(|error| wrong(&error))?;
        Ok(true)
    }

    fn forget_statistics(&mut self) -> Result<()> {
        if !self.has_table(MARK)? {
            return Ok(());
        }
        for name in ["sqlite_stat1", "sqlite_stat4", MARK] {
            self.execute(&format!("DROP TABLE IF EXISTS {name}"))?;
        }
        Ok(())
    }
}

/// Stands for statistics that a fill made.
const MARK: &str = "plimsoll_fill_analyzed";

fn bound(value: &Value) -> ToSqlOutput<'_> {
    let stored = match value {
        Value::Null => Stored::Null,
        Value::Bool(value) => Stored::Integer((*value).into()),
        Value::Int(number) => match i64::try_from(*number) {
            Ok(number) => Stored::Integer(number),
            Err(_) => Stored::Text(number.to_string()),
        },
        Value::Float(number) => Stored::Real(*number),
        Value::Decimal { .. } => Stored::Real(value.number().unwrap_or_default()),
        Value::Text(text) => return ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
        Value::Bytes(bytes) => return ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
        other => Stored::Text(other.text()),
    };
    ToSqlOutput::Owned(stored)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::all;

    #[test]
    fn a_full_disk_is_reported_with_what_it_takes() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let mut database = Sqlite::open(file.path()).expect("a database");
        database.execute("CREATE TABLE a (b TEXT)").expect("a table");
        all(&mut database, "PRAGMA max_page_count = 10").expect("a limit");
        let mut written =
            (0..100).map(|_| database.execute("INSERT INTO a VALUES (hex(zeroblob(2000)))"));
        let error = written.find_map(Result::err).expect("it is full").to_string();
        assert!(error.contains("is full; make room first"), "{error}");
    }
}
