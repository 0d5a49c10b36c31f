//! What keys use of their quotas, kept in the store where usage itself goes elsewhere: a restart forgets none of it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior, params};

use super::collector::{Batch, Sink};

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
