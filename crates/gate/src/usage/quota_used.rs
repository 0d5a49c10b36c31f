//! What keys use of their quotas, kept in the store where usage itself goes elsewhere: a restart forgets none of it.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, TransactionBehavior, params};

use super::collector::{Batch, Sink};
use super::sqlite::open_to_write;

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
/// Days that are forgotten as one begins, at most, so that a clock that is far ahead for a while does not take the month along.
const FORGOTTEN_AT_ONCE: usize = 2;

/// A sink, and a count of each key's requests by day in the file of keys.
pub struct Counted {
    sink: Box<dyn Sink>,
    connection: Connection,
    /// The batch in hand is with the sink, and still to be counted.
    written: bool,
    /// The day of the last batch.
    day: Option<i64>,
}

impl Counted {
    /// Beside this sink, in the file of a [`crate::keys::Store`] that was opened before.
    ///
    /// # Errors
    /// In words, when the file cannot be written.
    pub fn beside(sink: Box<dyn Sink>, path: &Path) -> Result<Self, String> {
        let connection = open_to_write(path, TABLE)?;
        Ok(Self { sink, connection, written: false, day: None })
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
        let days = if self.day == Some(day) { 0 } else { FORGOTTEN_AT_ONCE };
        for table in ["quota_used", "quota_used_of_routes"].repeat(days) {
            let old = format!(
                "DELETE FROM {table} WHERE day < ?1 AND day = (SELECT min(day) FROM {table})"
            );
            transaction.execute(&old, [day - KEPT_DAYS])?;
        }
        transaction.commit()?;
        self.day = Some(day);
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Store;
    use crate::usage::{Period, Sum, used_by_key};

    struct Nowhere;

    impl Sink for Nowhere {
        fn write(&mut self, _: &Batch) -> Result<(), String> {
            Ok(())
        }
    }

    #[test]
    fn a_clock_that_is_far_ahead_for_a_while_leaves_the_month() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gate.db");
        drop(Store::open(&path).unwrap());
        let mut counted = Counted::beside(Box::new(Nowhere), &path).unwrap();
        for day in (100..120).chain([900; 5]) {
            let sum = Sum { forwarded: 1, ..Sum::default() };
            let batch = Batch { at_s: day * DAY_S, rows: vec![(4, "shop".into(), sum)] };
            counted.write(&batch).unwrap();
        }
        let used = |from: i64, to: i64| {
            let period = Period { from_s: from * DAY_S, to_s: to * DAY_S };
            used_by_key(&path, period).unwrap().get(&4).copied()
        };
        assert_eq!((used(0, 120), used(900, 901), used(120, 900)), (Some(18), Some(5), None));
    }
}
