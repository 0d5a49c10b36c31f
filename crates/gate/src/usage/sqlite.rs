//! Batches in SQLite: a row for each minute, key and route, to which batches are added. Rows of old minutes are added to those
//! of their hour.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};

use super::buckets::BUCKETS;
use super::collector::{Batch, Sink};
use super::json_lines::refusals;
use super::sum::Sum;
use crate::keys::open_to_inspect;
use crate::policy::PROBLEMS;

/// A table of usage, with a row for each stretch of time, key and route.
#[derive(Debug)]
struct Rows {
    table: &'static str,
    /// The column that numbers the stretches since the epoch.
    unit: &'static str,
    unit_s: i64,
}

const MINUTES: Rows = Rows { table: "usage", unit: "minute", unit_s: 60 };
const HOURS: Rows = Rows { table: "usage_hours", unit: "hour", unit_s: 3600 };

impl Rows {
    fn creation(&self) -> String {
        let Self { table, unit, .. } = self;
        format!(
            "CREATE TABLE IF NOT EXISTS {table} (
                {unit} INTEGER NOT NULL,
                key INTEGER NOT NULL,
                route TEXT NOT NULL,
                forwarded INTEGER NOT NULL,
                upstream_failed INTEGER NOT NULL,
                bytes_in INTEGER NOT NULL,
                bytes_out INTEGER NOT NULL,
                latency_sum_ns INTEGER NOT NULL,
                statuses TEXT NOT NULL,
                refused TEXT NOT NULL,
                latency TEXT NOT NULL,
                PRIMARY KEY ({unit}, key, route)
            ) STRICT, WITHOUT ROWID;"
        )
    }

    /// The query of all rows, to which a condition is added.
    fn query(&self, condition: &str) -> String {
        let Self { table, unit, .. } = self;
        format!(
            "SELECT {unit}, key, route, forwarded, upstream_failed, bytes_in, bytes_out, latency_sum_ns, statuses, refused, \
             latency FROM {table} {condition}"
        )
    }

    /// The first stretch of a period, and the one after its last.
    fn stretches(&self, period: Period) -> [i64; 2] {
        [period.from_s.div_euclid(self.unit_s), period.to_s.div_euclid(self.unit_s)]
    }
}

const DAY_S: i64 = 86_400;
const HOUR_MINUTES: i64 = HOURS.unit_s / MINUTES.unit_s;
/// Minutes that are kept as such: 7 days.
const KEPT_MINUTES: i64 = 7 * 24 * HOUR_MINUTES;
/// Hours that are kept: 90 days.
const KEPT_HOURS: i64 = 90 * 24;
/// Forgets the oldest hour, where it is before another.
const FORGET: &str =
    "DELETE FROM usage_hours WHERE hour < ?1 AND hour = (SELECT min(hour) FROM usage_hours)";
/// Minutes that are added to their hours as a minute begins, and hours that are forgotten as one begins, at most: a clock that is
/// far ahead for a while takes twice that while of the oldest usage along, and not all there is.
const AT_ONCE: usize = 2;
/// How long another process may hold the file.
const WAIT: Duration = Duration::from_secs(5);

/// The table of usage in a file of keys.
#[derive(Debug)]
pub struct Sqlite {
    connection: Connection,
    /// The minute of the last batch.
    minute: Option<i64>,
}

impl Sqlite {
    /// In the file of a [`crate::keys::Store`] that was opened before.
    ///
    /// # Errors
    /// In words, when the file cannot be written.
    pub fn open(path: &Path) -> Result<Self, String> {
        let tables = MINUTES.creation() + &HOURS.creation();
        Ok(Self { connection: open_to_write(path, &tables)?, minute: None })
    }

    fn add(&mut self, batch: &Batch) -> rusqlite::Result<()> {
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let minute = batch.at_s.div_euclid(MINUTES.unit_s);
        for (key, route, sum) in &batch.rows {
            add_row(&transaction, &MINUTES, minute, *key, route, sum)?;
        }
        if self.minute != Some(minute) {
            (0..AT_ONCE).try_for_each(|_| fold_oldest(&transaction, minute - KEPT_MINUTES))?;
        }
        let hour = minute.div_euclid(HOUR_MINUTES);
        if self.minute.map(|last| last.div_euclid(HOUR_MINUTES)) != Some(hour) {
            for _ in 0..AT_ONCE {
                transaction.execute(FORGET, [hour - KEPT_HOURS])?;
            }
        }
        transaction.commit()?;
        self.minute = Some(minute);
        Ok(())
    }
}

impl Sink for Sqlite {
    fn write(&mut self, batch: &Batch) -> Result<(), String> {
        self.add(batch).map_err(|error| error.to_string())
    }
}

/// Adds the rows of the oldest minute to those of its hour, where it is before another.
fn fold_oldest(transaction: &Transaction, before: i64) -> rusqlite::Result<()> {
    let oldest = "SELECT min(minute) FROM usage";
    let oldest: Option<i64> = transaction.query_row(oldest, [], |row| row.get(0))?;
    let Some(minute) = oldest.filter(|minute| *minute < before) else { return Ok(()) };
    let mut statement = transaction.prepare_cached(&MINUTES.query("WHERE minute = ?1"))?;
    let rows = statement.query_map([minute], |row| usage_row(row, &MINUTES))?;
    let rows: Vec<UsageRow> = rows.collect::<Result<_, _>>()?;
    let hour = minute.div_euclid(HOUR_MINUTES);
    for UsageRow { key, route, sum, .. } in &rows {
        add_row(transaction, &HOURS, hour, *key, route, sum)?;
    }
    transaction.execute("DELETE FROM usage WHERE minute = ?1", [minute])?;
    Ok(())
}

/// Adds to the row of a stretch of time, by its number.
fn add_row(
    transaction: &Transaction,
    rows: &Rows,
    at: i64,
    key: u64,
    route: &str,
    sum: &Sum,
) -> rusqlite::Result<()> {
    let query = rows.query(&format!("WHERE {} = ?1 AND key = ?2 AND route = ?3", rows.unit));
    let found = transaction
        .prepare_cached(&query)?
        .query_row(params![at, key as i64, route], |row| usage_row(row, rows))
        .optional()?;
    let mut whole = found.map(|row| row.sum).unwrap_or_default();
    whole.merge(sum);
    let latency: BTreeMap<usize, u64> = whole.latency.filled().collect();
    let put = format!(
        "INSERT OR REPLACE INTO {} VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        rows.table
    );
    transaction.prepare_cached(&put)?.execute(params![
        at,
        key as i64,
        route,
        whole.forwarded as i64,
        whole.upstream_failed as i64,
        whole.bytes_in as i64,
        whole.bytes_out as i64,
        whole.latency_sum_ns as i64,
        json(&whole.statuses),
        json(&refusals(&whole)),
        json(&latency),
    ])?;
    Ok(())
}

/// A map of numbers and names, which has no value that JSON lacks.
fn json(map: &impl serde::Serialize) -> String {
    serde_json::to_string(map).unwrap_or_default()
}

/// A row of the tables.
#[derive(Debug, Clone, PartialEq)]
pub struct UsageRow {
    /// Beginning of its minute or hour, in seconds since the epoch.
    pub at_s: i64,
    /// The key's number, 0 for none.
    pub key: u64,
    /// The route's name, `-` for none.
    pub route: String,
    /// The counts.
    pub sum: Sum,
}

/// From when to when, in seconds since the epoch; whole minutes, and whole hours where usage is older than 7 days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    /// The first.
    pub from_s: i64,
    /// After the last.
    pub to_s: i64,
}

/// Hands every row of a period to `each`: those of hours first, each oldest first.
///
/// # Errors
/// In words, when the file cannot be read or holds no usage.
pub fn read(path: &Path, period: Period, mut each: impl FnMut(UsageRow)) -> Result<(), String> {
    let mut read = || {
        let connection = open_to_read(path)?;
        for rows in [&HOURS, &MINUTES] {
            if !has_table(&connection, rows.table)? {
                continue;
            }
            let unit = rows.unit;
            let query = rows.query(&format!("WHERE {unit} >= ?1 AND {unit} < ?2 ORDER BY {unit}"));
            let mut statement = connection.prepare(&query)?;
            for row in statement.query_map(rows.stretches(period), |row| usage_row(row, rows))? {
                each(row?);
            }
        }
        Ok(())
    };
    read().map_err(|error: rusqlite::Error| format!("{}: {error}", path.display()))
}

/// Opens the file of a [`crate::keys::Store`] that was opened before, to write to these tables, which are made where they
/// are missing.
///
/// # Errors
/// In words, when the file cannot be written.
pub(super) fn open_to_write(path: &Path, tables: &str) -> Result<Connection, String> {
    let open = || {
        let connection = Connection::open(path)?;
        connection.busy_timeout(WAIT)?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.execute_batch(tables)?;
        Ok(connection)
    };
    open().map_err(|error: rusqlite::Error| format!("{}: {error}", path.display()))
}

/// Opens the same file to read it only, as it is at the first look: rows that are moved to another table meanwhile are read once.
/// Where there is no log of changes, no file is left beside it, and the folder need not be writable.
///
/// # Errors
/// When it cannot be read.
pub(super) fn open_to_read(path: &Path) -> rusqlite::Result<Connection> {
    let connection = open_to_inspect(path)?;
    connection.busy_timeout(WAIT)?;
    connection.execute_batch("BEGIN")?;
    Ok(connection)
}

/// Whether a file has this table.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn has_table(connection: &Connection, name: &str) -> rusqlite::Result<bool> {
    let query = "SELECT count(*) FROM sqlite_schema WHERE name = ?1";
    Ok(connection.query_row(query, [name], |row| row.get::<_, i64>(0))? > 0)
}

/// Requests that each key was let through in a period, for quotas that a process begins in the middle of. What was counted
/// after it, by a clock that was ahead, is left out.
///
/// # Errors
/// As [`read`].
pub fn used_by_key(path: &Path, period: Period) -> Result<BTreeMap<u64, u64>, String> {
    let used = used_by(path, period, "key", "quota_used", |row| row.get::<_, i64>(0));
    Ok(used?.into_iter().map(|(key, used)| (key.max(0) as u64, used)).collect())
}

/// As [`used_by_key`], of each route by its name.
///
/// # Errors
/// As there.
pub fn used_by_route(path: &Path, period: Period) -> Result<BTreeMap<String, u64>, String> {
    used_by(path, period, "route", "quota_used_of_routes", |row| row.get(0))
}

/// Sums over the tables of usage and one of days, by a column of all.
fn used_by<K: Ord>(
    path: &Path,
    period: Period,
    by: &str,
    of_days: &'static str,
    name: impl Fn(&Row) -> rusqlite::Result<K>,
) -> Result<BTreeMap<K, u64>, String> {
    let read = || {
        let connection = open_to_read(path)?;
        let mut used: BTreeMap<K, u64> = BTreeMap::new();
        let days = Rows { table: of_days, unit: "day", unit_s: DAY_S };
        for rows in [&HOURS, &MINUTES, &days] {
            let Rows { table, unit, .. } = rows;
            if !has_table(&connection, table)? {
                continue;
            }
            let mut statement = connection.prepare(&format!(
                "SELECT {by}, sum(forwarded) FROM {table} WHERE {unit} >= ?1 AND {unit} < ?2 GROUP BY {by}"
            ))?;
            let mut rows = statement.query(rows.stretches(period))?;
            while let Some(row) = rows.next()? {
                let forwarded = row.get::<_, i64>(1)?.max(0) as u64;
                *used.entry(name(row)?).or_default() += forwarded;
            }
        }
        Ok(used)
    };
    read().map_err(|error: rusqlite::Error| format!("{}: {error}", path.display()))
}

fn usage_row(row: &Row, of: &Rows) -> rusqlite::Result<UsageRow> {
    let count = |at: usize| row.get::<_, i64>(at).map(|n| n.max(0) as u64);
    let text = |at: usize| row.get::<_, String>(at);
    let mut sum = Sum {
        forwarded: count(3)?,
        upstream_failed: count(4)?,
        bytes_in: count(5)?,
        bytes_out: count(6)?,
        latency_sum_ns: count(7)?,
        statuses: parsed(&text(8)?),
        ..Sum::default()
    };
    let refused: BTreeMap<String, u64> = parsed(&text(9)?);
    for (problem, n) in PROBLEMS.iter().zip(&mut sum.refused) {
        *n = refused.get(problem.code()).copied().unwrap_or(0);
    }
    let latency: BTreeMap<usize, u64> = parsed(&text(10)?);
    for (bucket, n) in latency {
        sum.latency.0[bucket.min(BUCKETS - 1)] += n;
    }
    Ok(UsageRow { at_s: row.get::<_, i64>(0)? * of.unit_s, key: count(1)?, route: text(2)?, sum })
}

/// A map that is damaged counts as empty.
fn parsed<T: serde::de::DeserializeOwned + Default>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Store;
    use crate::policy::Problem;
    use crate::usage::bucket_of;

    #[test]
    fn batches_of_a_minute_are_one_row() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gate.db");
        drop(Store::open(&path).unwrap());
        let mut sink = Sqlite::open(&path).unwrap();
        let mut sum = Sum { forwarded: 2, bytes_in: 10, latency_sum_ns: 7, ..Sum::default() };
        sum.statuses.insert(200, 2);
        sum.refused[Problem::KeyUnknown as usize] = 1;
        sum.latency.0[bucket_of(5_000)] = 2;
        for at_s in [6_000_000, 6_000_010, 6_000_100] {
            sink.write(&Batch { at_s, rows: vec![(4, "shop".into(), sum.clone())] }).unwrap();
        }
        let mut rows = Vec::new();
        let period = Period { from_s: 0, to_s: 7_000_000 };
        read(&path, period, |row| rows.push(row)).unwrap();
        assert_eq!(rows.len(), 2);
        let mut twice = sum.clone();
        twice.merge(&sum);
        assert_eq!((rows[0].at_s, rows[0].key, &rows[0].sum), (6_000_000, 4, &twice));
        assert_eq!(rows[1].sum, sum);
        let used = |from_s, to_s| used_by_key(&path, Period { from_s, to_s }).unwrap();
        assert_eq!(used(6_000_060, 7_000_000), BTreeMap::from([(4, 2)]));
        assert_eq!(used(6_000_000, 6_000_060), BTreeMap::from([(4, 4)]));
        // After 7 days the two minutes are in one row, of their hour; after 90 days it is gone.
        let mut write_later = |days: i64| {
            let rows = vec![(4, "shop".into(), sum.clone())];
            sink.write(&Batch { at_s: 6_000_100 + days * DAY_S + 60, rows }).unwrap();
            let mut rows = Vec::new();
            let first_day = Period { from_s: 0, to_s: 6_000_000 + DAY_S };
            read(&path, first_day, |row| rows.push(row)).unwrap();
            rows
        };
        let mut thrice = twice;
        thrice.merge(&sum);
        let hour = 6_000_000 - 6_000_000 % 3600;
        let expected = UsageRow { at_s: hour, key: 4, route: "shop".into(), sum: thrice };
        assert_eq!(write_later(7), [expected]);
        assert_eq!(used(hour, hour + 3600), BTreeMap::from([(4, 6)]));
        assert!(write_later(91).is_empty());
    }

    /// Two were left where no gateway ran, and none could be read in a folder that cannot be written.
    #[test]
    fn usage_that_is_read_gets_no_files_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gate.db");
        drop(Store::open(&path).unwrap());
        let mut sink = Sqlite::open(&path).unwrap();
        let sum = Sum { forwarded: 1, ..Sum::default() };
        sink.write(&Batch { at_s: 60, rows: vec![(4, "shop".into(), sum)] }).unwrap();
        let period = Period { from_s: 0, to_s: 120 };
        let expected = BTreeMap::from([(4, 1)]);
        assert_eq!(used_by_key(&path, period).unwrap(), expected, "beside who writes");
        drop(sink);
        assert_eq!(used_by_key(&path, period).unwrap(), expected);
        let mut rows = 0;
        read(&path, period, |_| rows += 1).unwrap();
        assert_eq!(rows, 1);
        assert!(crate::usage::quota_reached::reached(&path, 0, 0).unwrap().is_empty());
        let files = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name());
        assert_eq!(files.collect::<Vec<_>>(), ["gate.db"]);
    }

    #[test]
    fn rows_that_are_added_to_their_hours_are_counted_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gate.db");
        drop(Store::open(&path).unwrap());
        let mut sink = Sqlite::open(&path).unwrap();
        let mut write = |minute: i64| {
            let sum = Sum { forwarded: 1, ..Sum::default() };
            let rows = vec![(4, "shop".into(), sum)];
            sink.write(&Batch { at_s: minute * MINUTES.unit_s, rows }).unwrap();
        };
        let used = |from_s, to_s| {
            let mut rows = 0;
            let period = Period { from_s, to_s };
            read(&path, period, |row| rows += row.sum.forwarded).unwrap();
            assert_eq!(used_by_key(&path, period).unwrap().values().sum::<u64>(), rows);
            rows
        };
        // Two of most hours of two weeks.
        let (step, days) = (29, 14);
        let writes = days * DAY_S / MINUTES.unit_s / step;
        for nth in 0..writes {
            write(nth * step);
            // Some hours are whole, some are minutes, and one is both.
            if nth % 37 == 0 {
                assert_eq!(used(0, days * DAY_S), nth as u64 + 1);
            }
        }
        // One that comes late, to an hour that was whole.
        write(61);
        write(days * DAY_S / MINUTES.unit_s - 1);
        let by_day = (0..days).map(|day| used(day * DAY_S, (day + 1) * DAY_S));
        assert_eq!(by_day.sum::<u64>(), writes as u64 + 2);
    }

    #[test]
    fn a_clock_that_is_far_ahead_for_a_while_takes_little_of_the_usage_along() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gate.db");
        drop(Store::open(&path).unwrap());
        let mut sink = Sqlite::open(&path).unwrap();
        let batch = |hour: i64| {
            let sum = Sum { forwarded: 1, ..Sum::default() };
            Batch { at_s: hour * HOURS.unit_s, rows: vec![(4, "shop".into(), sum)] }
        };
        let ahead = 20 * KEPT_HOURS;
        // Ten hours; then some reports of one minute, by a clock that is far ahead.
        for hour in (1000..1010).chain([ahead; 5]) {
            sink.write(&batch(hour)).unwrap();
        }
        let of = |from: i64, to: i64| {
            let mut hours = Vec::new();
            let period = Period { from_s: from * HOURS.unit_s, to_s: to * HOURS.unit_s };
            read(&path, period, |row| hours.push(row.at_s / HOURS.unit_s)).unwrap();
            hours
        };
        assert_eq!(of(0, ahead), (1002..1010).collect::<Vec<_>>());
        assert_eq!(of(ahead, ahead + 1), [ahead]);
    }
}
