//! What keys use of their quotas, kept in the store where usage itself goes elsewhere: a restart forgets none of it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior, params};

use super::collector::{Batch, Sink};
use super::sqlite::has_table;

const TABLE: &str = "
CREATE TABLE IF NOT EXISTS quota_used (
    day INTEGER NOT NULL,
    key INTEGER NOT NULL,
    forwarded INTEGER NOT NULL,
    PRIMARY KEY (day, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS quota_used_of_routes (
    day INTEGER NOT NULL,
    route TEXT NOT NULL,
    forwarded INTEGER NOT NULL,
    PRIMARY KEY (day, route)
) STRICT, WITHOUT ROWID;
";
const DAY_S: i64 = 86_400;
/// Days that are kept: more than a month has.
const KEPT_DAYS: i64 = 40;
/// How long another process may hold the file.
const WAIT: Duration = Duration::from_secs(5);

/// Has a key begin with what another has used, day by day.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn carry_used(connection: &Connection, from: u64, to: u64) -> rusqlite::Result<()> {
    connection.execute_batch(TABLE)?;
    let mut used: BTreeMap<i64, i64> = BTreeMap::new();
    for (table, day) in [("usage", "minute / 1440"), ("quota_used", "day")] {
        if !has_table(connection, table)? {
            continue;
        }
        let query = format!("SELECT {day}, sum(forwarded) FROM {table} WHERE key = ?1 GROUP BY 1");
        let mut statement = connection.prepare(&query)?;
        let mut rows = statement.query([from as i64])?;
        while let Some(row) = rows.next()? {
            *used.entry(row.get(0)?).or_default() += row.get::<_, i64>(1)?;
        }
    }
    let newest = used.last_key_value().map_or(0, |(day, _)| *day);
    for (day, forwarded) in used.range(newest - KEPT_DAYS..) {
        connection
            .prepare_cached("INSERT INTO quota_used VALUES (?1, ?2, ?3)")?
            .execute(params![day, to as i64, forwarded])?;
    }
    Ok(())
}

/// Has a key begin with no less than this used: in the day of an instant, and since another one.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn raise_used(
    connection: &Connection,
    key: u64,
    (now_s, of_day): (i64, u64),
    (since_s, of_month): (i64, u64),
) -> rusqlite::Result<()> {
    if of_day == 0 && of_month == 0 {
        return Ok(());
    }
    let (today, since) = (now_s.div_euclid(DAY_S), since_s.div_euclid(DAY_S));
    connection.execute_batch(TABLE)?;
    let raise = "INSERT INTO quota_used SELECT ?1, ?2, max(?3, ?4 - coalesce(sum(forwarded), 0)) FROM quota_used WHERE \
                 key = ?2 AND day >= ?5 AND day <> ?1 ON CONFLICT (day, key) DO UPDATE SET forwarded = max(forwarded, \
                 excluded.forwarded)";
    connection.execute(raise, params![today, key as i64, of_day as i64, of_month as i64, since])?;
    Ok(())
}

/// A sink, and a count of each key's requests by day in the file of keys.
pub struct Counted {
    sink: Box<dyn Sink>,
    connection: Connection,
    /// The batch in hand is with the sink, and still to be counted.
    written: bool,
}

impl Counted {
    /// Beside this sink, in the file of a [`crate::keys::Store`] that was opened before.
    ///
    /// # Errors
    /// In words, when the file cannot be written.
    pub fn beside(sink: Box<dyn Sink>, path: &Path) -> Result<Self, String> {
        let open = || {
            let connection = Connection::open(path)?;
            connection.busy_timeout(WAIT)?;
            connection.pragma_update(None, "synchronous", "NORMAL")?;
            connection.execute_batch(TABLE)?;
            Ok(connection)
        };
        let connection =
            open().map_err(|error: rusqlite::Error| format!("{}: {error}", path.display()))?;
        Ok(Self { sink, connection, written: false })
    }

    fn count(&mut self, batch: &Batch) -> rusqlite::Result<()> {
        let mut used: BTreeMap<u64, u64> = BTreeMap::new();
        let mut of_routes: BTreeMap<&str, u64> = BTreeMap::new();
        for (key, route, sum) in batch.rows.iter().filter(|(_, _, sum)| sum.forwarded > 0) {
            *used.entry(*key).or_default() += sum.forwarded;
            *of_routes.entry(route).or_default() += sum.forwarded;
        }
        used.remove(&0);
        let day = batch.at_s.div_euclid(DAY_S);
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for (key, forwarded) in used {
            let add = "INSERT INTO quota_used VALUES (?1, ?2, ?3) ON CONFLICT (day, key) DO UPDATE SET forwarded = \
                       forwarded + excluded.forwarded";
            let values = params![day, key as i64, forwarded as i64];
            transaction.prepare_cached(add)?.execute(values)?;
        }
        for (route, forwarded) in of_routes {
            let add = "INSERT INTO quota_used_of_routes VALUES (?1, ?2, ?3) ON CONFLICT (day, route) DO UPDATE SET \
                       forwarded = forwarded + excluded.forwarded";
            transaction.prepare_cached(add)?.execute(params![day, route, forwarded as i64])?;
        }
        for table in ["quota_used", "quota_used_of_routes"] {
            let old = format!("DELETE FROM {table} WHERE day < ?1");
            transaction.execute(&old, [day - KEPT_DAYS])?;
        }
        transaction.commit()
    }
}

impl Sink for Counted {
    fn write(&mut self, batch: &Batch) -> Result<(), String> {
        if !self.written {
            self.sink.write(batch)?;
            self.written = true;
        }
        self.count(batch).map_err(|error| format!("the counts of quotas: {error}"))?;
        self.written = false;
        Ok(())
    }
}
