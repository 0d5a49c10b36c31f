//! A new key in the place of one: all of it is written, or nothing.
//!
//! The new key begins with what the old one has used of its quotas, so that nobody gets a second quota by rotating. From
//! then on each counts for itself.

use rusqlite::{OptionalExtension, Transaction, params};

use super::store::{insert, key_of, log, saturated};
use super::{NewKey, Stamp, Store, StoreError, new_key};
use crate::usage::{carry_used, has_table, raise_used};

/// Which key each was put in the place of.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS replaced (key INTEGER PRIMARY KEY, old INTEGER NOT NULL) STRICT";

impl Store {
    /// Puts a new key in the place of one, with the same settings and what that has used of its quotas, as far as it was
    /// reported; the old one ends `grace_s` seconds from now, at once where that is 0.
    ///
    /// # Errors
    /// When there is none in force with this number, or the file cannot be written; nothing has changed then.
    pub fn rotate(
        &mut self,
        id: u64,
        grace_s: u32,
        stamp: &Stamp,
    ) -> Result<(String, u64), StoreError> {
        let key = new_key()?;
        let digest = self.digester.digest(key.as_bytes());
        let transaction = self.begin()?;
        let old = key_of(&transaction, id)?.filter(|key| key.revoked_s.is_none());
        let Some(old) = old else { return Err(StoreError::NoSuchKey(id)) };
        // Of its tier, even where the configuration has that no longer.
        let new = insert(&transaction, &digest, &old.key, stamp)?;
        transaction.execute_batch(TABLE)?;
        let pair = params![saturated(new), saturated(id)];
        transaction.execute("INSERT INTO replaced VALUES (?1, ?2)", pair)?;
        carry_used(&transaction, id, new)?;
        log(&transaction, stamp, Some(new), &format!("added in the place of key {id}"))?;
        end(&transaction, (id, &old.key), new, grace_s, stamp)?;
        transaction.commit()?;
        Ok((key, new))
    }

    /// Has it kept that a key begins with no less than this used: today, and since the beginning of the month.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn raise_used(
        &self,
        id: u64,
        now_s: i64,
        of_day: u64,
        of_month: (i64, u64),
    ) -> Result<(), StoreError> {
        Ok(raise_used(&self.connection, id, (now_s, of_day), of_month)?)
    }

    /// The key in whose place one was put, if it was.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn replaced_by(&self, id: u64) -> Result<Option<u64>, StoreError> {
        if !has_table(&self.connection, "replaced")? {
            return Ok(None);
        }
        let query = "SELECT old FROM replaced WHERE key = ?1";
        let old: Option<i64> =
            self.connection.query_row(query, [saturated(id)], |row| row.get(0)).optional()?;
        Ok(old.map(|old| old.max(0) as u64))
    }
}

/// Ends a key that another replaces, now or later.
fn end(
    transaction: &Transaction<'_>,
    (id, key): (u64, &NewKey),
    new: u64,
    grace_s: u32,
    stamp: &Stamp,
) -> Result<(), StoreError> {
    if grace_s == 0 {
        let now = params![saturated(id), stamp.at_s];
        transaction.execute("UPDATE keys SET revoked_s = ?2 WHERE id = ?1", now)?;
        return log(transaction, stamp, Some(id), "revoked");
    }
    let ends = stamp.at_s.saturating_add(i64::from(grace_s));
    let ends = if key.expires_s == 0 { ends } else { ends.min(key.expires_s) };
    let then = params![saturated(id), ends];
    transaction.execute("UPDATE keys SET expires_s = ?2 WHERE id = ?1", then)?;
    log(transaction, stamp, Some(id), &format!("ends in {grace_s} s: key {new} replaces it"))
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::usage::used_since;

    const STAMP: Stamp = Stamp { at_s: 100_000_000, by: "test" };

    fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("gate.db")).unwrap();
        (folder, store)
    }

    /// The old key can no longer be ended: there is no new one either.
    #[test]
    fn a_rotation_that_fails_on_the_way_leaves_no_key_behind() {
        let (_folder, mut store) = store();
        let (_, id) = store.add(&NewKey::default(), &STAMP).unwrap();
        let refuses = "CREATE TRIGGER no BEFORE UPDATE ON keys BEGIN SELECT raise(ABORT, 'no'); END";
        store.connection.execute_batch(refuses).unwrap();
        let changes = store.last_change().unwrap();
        for grace_s in [0, 60] {
            assert!(matches!(store.rotate(id, grace_s, &STAMP), Err(StoreError::Failed(_))));
            assert_eq!((store.count().unwrap(), store.last_change().unwrap()), (1, changes));
        }
    }

    #[test]
    fn a_new_key_begins_with_what_the_old_one_has_used() {
        let (folder, mut store) = store();
        let path = folder.path().join("gate.db");
        let (_, first) = store.add(&NewKey::default(), &STAMP).unwrap();
        let used = |key| used_since(&path, 99_900_000).unwrap().get(&key).copied().unwrap_or(0);
        let (_, second) = store.rotate(first, 0, &STAMP).unwrap();
        assert_eq!((used(second), store.replaced_by(second).unwrap()), (0, Some(first)));
        assert_eq!(store.replaced_by(first).unwrap(), None);
        drop(crate::usage::Sqlite::open(&path).unwrap());
        let usage = |minute: i64, key: u64, forwarded: u64| {
            let row = format!(
                "INSERT INTO usage VALUES ({minute}, {key}, 'a', {forwarded}, 0, 0, 0, 0, '{{}}', '{{}}', '{{}}')"
            );
            Connection::open(&path).unwrap().execute_batch(&row).unwrap();
        };
        // Of two days, and one that is long gone.
        [(1_666_666, 3), (1_665_100, 4), (1_000_000, 50)]
            .into_iter()
            .for_each(|(minute, forwarded)| usage(minute, second, forwarded));
        let (_, third) = store.rotate(second, 60, &STAMP).unwrap();
        assert_eq!((used(second), used(third)), (7, 7));
        usage(1_666_666, third, 2);
        let (_, fourth) = store.rotate(third, 0, &STAMP).unwrap();
        assert_eq!(used(fourth), 9);
        let of_day = used_since(&path, 99_993_600).unwrap();
        assert_eq!(of_day.get(&fourth), Some(&5));
    }
}
