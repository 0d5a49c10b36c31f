//! Replaces a key by a new one, in one transaction.
//!
//! Keys that replace each other have one rate, one limit on requests in flight, one share and one quota: their requests
//! count together, so rotating a key gains nothing.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::store::{insert, key_of, log, saturated};
use super::{KeyRecord, NewKey, Stamp, Store, StoreError, new_key};
use crate::usage::has_table;

/// The keys that replace others.
const TABLE: &str =
    "CREATE TABLE IF NOT EXISTS replaced (key INTEGER PRIMARY KEY, old INTEGER NOT NULL) STRICT";

/// For each key that replaces another, by number: the key that it replaces.
#[derive(Debug, Default)]
pub struct Replaced(BTreeMap<u64, u64>);

impl Replaced {
    /// The keys.
    pub fn keys(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.keys().copied()
    }

    /// The first key in a chain of replacements; the key itself if it replaces none.
    pub fn first(&self, mut id: u64) -> u64 {
        // Numbers ascend, but in a damaged file.
        while let Some(old) = self.0.get(&id).filter(|old| **old < id) {
            id = *old;
        }
        id
    }
}

impl Store {
    /// Replaces a key by a new one with the same settings, counted in the same limits. The old key expires `grace_s` seconds
    /// from now; with 0, at once. A key that the old one replaced expires when it was to expire before.
    ///
    /// # Errors
    /// When there is none in force with this number, it has expired or was replaced before, or the file cannot be written; nothing
    /// has changed then.
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
        transaction.execute_batch(TABLE)?;
        if let Some(last) = last_of(&transaction, id)? {
            return Err(is_replaced(id, &last, stamp.at_s));
        }
        if old.key.expires_s != 0 && old.key.expires_s <= stamp.at_s {
            return Err(StoreError::Wrong(format!(
                "key {id} has expired, and one in its place would end when it did: `plimsoll gate keys add` makes a new one"
            )));
        }
        // Of its tier, even where the configuration has that no longer.
        let new = insert(&transaction, &digest, &old.key, stamp)?;
        let pair = params![saturated(new), saturated(id)];
        transaction.execute("INSERT INTO replaced VALUES (?1, ?2)", pair)?;
        log(&transaction, stamp, Some(new), &format!("added in the place of key {id}"))?;
        end(&transaction, (id, &old.key), new, grace_s, stamp)?;
        transaction.commit()?;
        Ok((key, new))
    }

    /// The first key in a chain of replacements; the key itself if it replaces none.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn first_of(&self, mut id: u64) -> Result<u64, StoreError> {
        if !has_table(&self.connection, "replaced")? {
            return Ok(id);
        }
        let query = "SELECT old FROM replaced WHERE key = ?1 AND old < key";
        let mut statement = self.connection.prepare_cached(query)?;
        let mut old = |id: u64| statement.query_row([saturated(id)], |row| row.get(0)).optional();
        while let Some(replaced) = old(id)? {
            id = i64::max(replaced, 0) as u64;
        }
        Ok(id)
    }

    /// All keys that replace others.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn replaced(&self) -> Result<Replaced, StoreError> {
        if !has_table(&self.connection, "replaced")? {
            return Ok(Replaced::default());
        }
        let mut statement = self.connection.prepare("SELECT key, old FROM replaced")?;
        let id = |number: i64| number.max(0) as u64;
        let pairs = statement.query_map([], |row| Ok((id(row.get(0)?), id(row.get(1)?))))?;
        Ok(Replaced(pairs.collect::<Result<_, _>>()?))
    }
}

/// The last key in a chain of replacements that begins with this one; none if it was not replaced.
fn last_of(connection: &Connection, mut id: u64) -> Result<Option<KeyRecord>, StoreError> {
    let query = "SELECT max(key) FROM replaced WHERE old = ?1 AND key > old";
    let newer = |id: u64| {
        let newer =
            connection.query_row(query, [saturated(id)], |row| row.get::<_, Option<i64>>(0));
        newer.map(|newer| newer.map(|newer| newer.max(0) as u64))
    };
    let first = id;
    while let Some(newer) = newer(id)? {
        id = newer;
    }
    if id == first { Ok(None) } else { key_of(connection, id) }
}

/// The error for rotating a key that was replaced already: it expires, and so would the new one.
fn is_replaced(id: u64, last: &KeyRecord, now_s: i64) -> StoreError {
    let ends_s = last.key.expires_s;
    let has_ended = last.revoked_s.is_some() || ends_s != 0 && ends_s <= now_s;
    let last = last.id;
    StoreError::Wrong(match has_ended {
        true => format!(
            "key {id} was replaced by key {last}, which has ended: `plimsoll gate keys add` makes a new one"
        ),
        false => format!("key {id} was replaced by key {last}: rotate key {last}"),
    })
}

/// Lets a key that another replaces expire, now or later.
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
    use super::super::store::tests::{STAMP, store};
    use super::*;

    /// The old key can no longer be ended: there is no new one either.
    #[test]
    fn a_rotation_that_fails_on_the_way_leaves_no_key_behind() {
        let (_folder, mut store) = store();
        let (_, id) = store.add(&NewKey::default(), &STAMP).unwrap();
        let refuses =
            "CREATE TRIGGER no BEFORE UPDATE ON keys BEGIN SELECT raise(ABORT, 'no'); END";
        store.connection.execute_batch(refuses).unwrap();
        let changes = store.last_change().unwrap();
        for grace_s in [0, 60] {
            assert!(matches!(store.rotate(id, grace_s, &STAMP), Err(StoreError::Failed(_))));
            assert_eq!((store.count().unwrap(), store.last_change().unwrap()), (1, changes));
        }
    }

    /// The new key opened nothing.
    #[test]
    fn a_key_that_has_expired_is_not_rotated() {
        let (_folder, mut store) = store();
        let lasts = NewKey { expires_s: STAMP.at_s + 10, ..NewKey::default() };
        let (_, id) = store.add(&lasts, &STAMP).unwrap();
        let later = Stamp { at_s: STAMP.at_s + 10, ..STAMP };
        let Err(StoreError::Wrong(why)) = store.rotate(id, 60, &later) else { panic!("rotated") };
        assert!(why.starts_with("key 1 has expired"), "{why}");
        assert_eq!(store.count().unwrap(), 1);
    }

    /// The new key ended with the grace of the old one.
    #[test]
    fn a_key_that_was_replaced_is_not_rotated_again() {
        let (_folder, mut store) = store();
        let (_, first) = store.add(&NewKey::default(), &STAMP).unwrap();
        let (_, second) = store.rotate(first, 60, &STAMP).unwrap();
        let refused = |store: &mut Store| match store.rotate(first, 60, &STAMP) {
            Err(StoreError::Wrong(why)) => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(refused(&mut store), "key 1 was replaced by key 2: rotate key 2");
        let later = Stamp { at_s: STAMP.at_s + 30, ..STAMP };
        let (_, third) = store.rotate(second, 60, &later).unwrap();
        assert_eq!(refused(&mut store), "key 1 was replaced by key 3: rotate key 3");
        // Each of them ends when it was to end.
        let ends = [first, second, third].map(|id| store.key(id).unwrap().unwrap().key.expires_s);
        assert_eq!(ends, [STAMP.at_s + 60, STAMP.at_s + 90, 0]);
        store.revoke(third, &later).unwrap();
        assert!(refused(&mut store).contains("by key 3, which has ended"));
        assert_eq!(store.count().unwrap(), 3);
    }

    #[test]
    fn the_first_of_keys_that_replace_each_other_is_known() {
        let (_folder, mut store) = store();
        let ids = [0; 2].map(|_| store.add(&NewKey::default(), &STAMP).unwrap().1);
        assert_eq!(ids.map(|id| store.first_of(id).unwrap()), ids);
        let (_, third) = store.rotate(ids[1], 60, &STAMP).unwrap();
        let (_, fourth) = store.rotate(third, 0, &STAMP).unwrap();
        let replaced = store.replaced().unwrap();
        assert_eq!(replaced.keys().collect::<Vec<_>>(), [third, fourth]);
        for (id, first) in [(ids[0], ids[0]), (ids[1], ids[1]), (third, ids[1]), (fourth, ids[1])] {
            assert_eq!((replaced.first(id), store.first_of(id).unwrap()), (first, first));
        }
        // A damaged file leads round in no circle.
        store.connection.execute_batch("INSERT INTO replaced VALUES (2, 4)").unwrap();
        assert_eq!(
            (store.first_of(fourth).unwrap(), store.replaced().unwrap().first(fourth)),
            (2, 2)
        );
    }
}
