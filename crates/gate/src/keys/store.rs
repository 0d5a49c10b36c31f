//! The file that keys are kept in: SQLite, readable by its owner only.
//!
//! Owns the tables of keys and of changes made to them. A running gateway and commands on the same file see each
//! other's changes: every change has a number, and [`Store::changes_after`] gives those that one has not seen.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;

use model::names::nearest;
use model::quote::visible;
use rusqlite::{
    Connection, OpenFlags, OptionalExtension, Row, Transaction, TransactionBehavior, params,
};

use super::digest::random;
use super::record::{Change, KeyRecord, NewKey, Stamp, StoreError};
use super::{Digest, Digester, new_key};
use crate::escapes::{self, Unit};
use crate::limits::Rate;

/// The layout of the tables, in `user_version`.
const LAYOUT: i64 = 1;
/// Changes that are kept, the newest ones.
const CHANGES_KEPT: i64 = 100_000;
/// How long another process may hold the file.
const WAIT: Duration = Duration::from_secs(5);

const TABLES: &str = "
CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT;
CREATE TABLE keys (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    digest BLOB NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    tier TEXT NOT NULL,
    routes TEXT NOT NULL,
    rate_per_s REAL,
    burst REAL,
    at_once INTEGER,
    day_quota INTEGER,
    month_quota INTEGER,
    created_s INTEGER NOT NULL,
    expires_s INTEGER NOT NULL,
    revoked_s INTEGER
) STRICT;
CREATE TABLE changes (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at_s INTEGER NOT NULL,
    by TEXT NOT NULL,
    key INTEGER,
    what TEXT NOT NULL
) STRICT;
";

/// The file, opened.
#[derive(Debug)]
pub struct Store {
    pub(super) connection: Connection,
    pub(super) digester: Digester,
}

impl Store {
    /// Opens a file of keys, and makes it where there is none.
    ///
    /// # Errors
    /// When it cannot be opened, or is another kind of file.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let why = |why: String| StoreError::Open { path: path.to_owned(), why };
        is_file(path).map_err(why)?;
        may_be_ours(path).map_err(|error| why(unread(path, error.reason())))?;
        make_private(path).map_err(|error| why(error.to_string()))?;
        let mut connection = Connection::open(path).map_err(|error| why(error.to_string()))?;
        prepare(&mut connection).map_err(|error| why(error.reason()))?;
        let secret = secret(&connection).map_err(|error| why(error.reason()))?;
        Ok(Self { connection, digester: Digester::new(&secret) })
    }

    /// Opens a file of keys to be read, changes nothing of it and leaves no other file: keys of an earlier version's can be
    /// counted, not read.
    ///
    /// # Errors
    /// As [`Self::open`], and when there is none, or nothing in it.
    pub fn inspect(path: &Path) -> Result<Self, StoreError> {
        let why = |why: String| StoreError::Open { path: path.to_owned(), why };
        is_file(path).map_err(why)?;
        let connection = open_to_inspect(path).map_err(|error| why(error.to_string()))?;
        connection.busy_timeout(WAIT).map_err(|error| why(error.to_string()))?;
        let layout = usable_layout(&connection);
        if layout.map_err(|error| why(unread(path, error.reason())))? != LAYOUT {
            return Err(why("nothing is in it yet".to_owned()));
        }
        let secret = secret(&connection).map_err(|error| why(error.reason()))?;
        Ok(Self { connection, digester: Digester::new(&secret) })
    }

    /// What makes digests of keys of this store.
    pub fn digester(&self) -> &Digester {
        &self.digester
    }

    /// Makes a key; it and its number. The key is kept nowhere.
    ///
    /// # Errors
    /// When a key may not have one of the values, or the file cannot be written.
    pub fn add(&mut self, new: &NewKey, stamp: &Stamp) -> Result<(String, u64), StoreError> {
        if let Some(tiers) = self.tiers()?
            && !new.tier.is_empty()
        {
            check_known("tier", &new.tier, &tiers)?;
        }
        if let Some(routes) = self.configured("routes")? {
            new.routes.iter().try_for_each(|route| check_known("route", route, &routes))?;
        }
        new.check(stamp.at_s)?;
        let key = new_key()?;
        let digest = self.digester.digest(key.as_bytes());
        let transaction = self.begin()?;
        let id = insert(&transaction, &digest, new, stamp)?;
        log(&transaction, stamp, Some(id), "added")?;
        transaction.commit()?;
        Ok((key, id))
    }

    /// Begins to write.
    pub(super) fn begin(&mut self) -> Result<Transaction<'_>, StoreError> {
        Ok(self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?)
    }

    /// Ends a key.
    ///
    /// # Errors
    /// When there is none in force with this number, or the file cannot be written.
    pub fn revoke(&mut self, id: u64, stamp: &Stamp) -> Result<(), StoreError> {
        let transaction = self.begin()?;
        let changed = transaction.execute(
            "UPDATE keys SET revoked_s = ?2 WHERE id = ?1 AND revoked_s IS NULL",
            params![saturated(id), stamp.at_s],
        )?;
        if changed == 0 {
            return Err(StoreError::NoSuchKey(id));
        }
        log(&transaction, stamp, Some(id), "revoked")?;
        transaction.commit()?;
        Ok(())
    }

    /// Notes a change that is not of a key.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn note(&self, what: &str, stamp: &Stamp) -> Result<(), StoreError> {
        log(&self.connection, stamp, None, what)
    }

    /// One key.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn key(&self, id: u64) -> Result<Option<KeyRecord>, StoreError> {
        key_of(&self.connection, id)
    }

    /// Whose a key is, where there is one with this number.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn owner(&self, id: u64) -> Result<Option<String>, StoreError> {
        let mut statement =
            self.connection.prepare_cached("SELECT owner FROM keys WHERE id = ?1")?;
        Ok(statement.query_row([saturated(id)], |row| row.get(0)).optional()?)
    }

    /// How many keys there are, revoked ones included.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn count(&self) -> Result<u64, StoreError> {
        let count: i64 =
            self.connection.query_row("SELECT count(*) FROM keys", [], |row| row.get(0))?;
        Ok(count.max(0) as u64)
    }

    /// Hands every key to `each`, oldest first.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn each_key(&self, mut each: impl FnMut(KeyRecord)) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare(&format!("{SELECT} ORDER BY id"))?;
        for key in statement.query_map([], record)? {
            each(key?);
        }
        Ok(())
    }

    /// The keys after a number, oldest first, `most` of them at most.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn keys_after(&self, number: u64, most: u32) -> Result<Vec<KeyRecord>, StoreError> {
        let query = format!("{SELECT} WHERE id > ?1 ORDER BY id LIMIT ?2");
        let mut statement = self.connection.prepare_cached(&query)?;
        let keys = statement.query_map(params![saturated(number), most], record)?;
        Ok(keys.collect::<Result<_, _>>()?)
    }

    /// The number of the last change; 0 before the first.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn last_change(&self) -> Result<u64, StoreError> {
        let query = "SELECT coalesce(max(number), 0) FROM changes";
        let mut statement = self.connection.prepare_cached(query)?;
        let number: i64 = statement.query_row([], |row| row.get(0))?;
        Ok(number.max(0) as u64)
    }

    /// Changes after a number, oldest first, `most` of them at most. Of those, the last 100,000 are kept: where the first one has
    /// not the next number, others were forgotten.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn changes_after(&self, number: u64, most: u32) -> Result<Vec<Change>, StoreError> {
        let query = "SELECT number, at_s, by, key, what FROM changes WHERE number > ?1 ORDER BY number LIMIT ?2";
        let mut statement = self.connection.prepare_cached(query)?;
        let change = |row: &Row| {
            Ok(Change {
                number: row.get::<_, i64>(0)?.max(0) as u64,
                at_s: row.get(1)?,
                by: row.get(2)?,
                key: row.get::<_, Option<i64>>(3)?.map(|id| id.max(0) as u64),
                what: row.get(4)?,
            })
        };
        let changes = statement.query_map(params![saturated(number), most], change)?;
        Ok(changes.collect::<Result<_, _>>()?)
    }
}

const SELECT: &str = "SELECT id, digest, owner, tier, routes, rate_per_s, burst, at_once, day_quota, month_quota, \
    created_s, expires_s, revoked_s, body_bytes FROM keys";

/// One key.
pub(super) fn key_of(connection: &Connection, id: u64) -> Result<Option<KeyRecord>, StoreError> {
    let query = format!("{SELECT} WHERE id = ?1");
    Ok(connection.query_row(&query, [saturated(id)], record).optional()?)
}

/// Writes a key; its number.
pub(super) fn insert(
    transaction: &Transaction<'_>,
    digest: &Digest,
    new: &NewKey,
    stamp: &Stamp,
) -> Result<u64, StoreError> {
    transaction.execute(
        "INSERT INTO keys (digest, owner, tier, routes, rate_per_s, burst, at_once, day_quota, month_quota,
         created_s, expires_s, body_bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        params![
            digest.0,
            new.owner,
            new.tier,
            new.routes.join(","),
            new.rate.map(|rate| rate.per_s),
            new.rate.map(|rate| rate.burst),
            new.at_once,
            new.day_quota.map(saturated),
            new.month_quota.map(saturated),
            stamp.at_s,
            new.expires_s,
            new.body_max_bytes.map(saturated),
        ],
    )?;
    Ok(transaction.last_insert_rowid() as u64)
}

fn record(row: &Row) -> rusqlite::Result<KeyRecord> {
    let count = |number: Option<i64>| number.map(|number| number.max(0) as u64);
    let rate = match (row.get(5)?, row.get(6)?) {
        (Some(per_s), Some(burst)) => Some(Rate { per_s, burst }),
        _ => None,
    };
    let routes: String = row.get(4)?;
    Ok(KeyRecord {
        id: row.get::<_, i64>(0)?.max(0) as u64,
        digest: Digest(row.get(1)?),
        key: NewKey {
            owner: row.get(2)?,
            tier: row.get(3)?,
            routes: routes.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
            rate,
            at_once: row.get(7)?,
            day_quota: count(row.get(8)?),
            month_quota: count(row.get(9)?),
            body_max_bytes: count(row.get(13)?),
            expires_s: row.get(11)?,
        },
        created_s: row.get(10)?,
        revoked_s: row.get(12)?,
    })
}

/// SQLite's numbers are signed.
pub(super) fn saturated(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn check_known(kind: &str, name: &str, known: &[String]) -> Result<(), StoreError> {
    if known.iter().any(|known| known == name) {
        return Ok(());
    }
    let near = nearest(name, known.iter().map(String::as_str));
    let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
    let name = visible(name, &[]);
    Err(StoreError::Wrong(format!(
        "there is no {kind} `{name}`: {near}the gateway of this store has {}",
        known.join(", ")
    )))
}

/// Notes a change, and forgets the oldest ones where there are too many.
pub(super) fn log(
    connection: &Connection,
    stamp: &Stamp,
    key: Option<u64>,
    what: &str,
) -> Result<(), StoreError> {
    connection.execute(
        "INSERT INTO changes (at_s, by, key, what) VALUES (?1, ?2, ?3, ?4)",
        params![stamp.at_s, stamp.by, key.map(saturated), what],
    )?;
    let oldest = connection.last_insert_rowid().saturating_sub(CHANGES_KEPT);
    connection.execute("DELETE FROM changes WHERE number <= ?1", [oldest])?;
    Ok(())
}

/// Opens a file of keys to be read, and changes nothing of it. SQLite would make two files beside it, and leave
/// them, where no other process has it open; it makes none of a file that is said not to change, which is so while there is no
/// log of changes.
pub(crate) fn open_to_inspect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // The log is beside the file itself, not beside a link to it.
    let Ok(file) = fs::canonicalize(path) else { return Connection::open_with_flags(path, flags) };
    if is_beside(&file, "-wal") {
        return Connection::open_with_flags(file, flags);
    }
    let mut url = b"file:".to_vec();
    for &byte in file.as_os_str().as_bytes() {
        escapes::write(&mut url, Unit { byte, escaped: byte != b'/' });
    }
    url.extend_from_slice(b"?immutable=1");
    Connection::open_with_flags(OsStr::from_bytes(&url), flags | OpenFlags::SQLITE_OPEN_URI)
}

/// Whether SQLite has a file of this ending beside a file.
fn is_beside(file: &Path, ending: &str) -> bool {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    Path::new(&name).exists()
}

/// Why a file cannot be read. SQLite names no file where it cannot make the index of a log of changes, as of a file that was copied
/// without it to a folder that cannot be written.
fn unread(path: &Path, reason: String) -> String {
    let file = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if is_beside(&file, "-wal") && !is_beside(&file, "-shm") {
        return format!(
            "{reason}: the changes in its -wal file are to be read too, for which the folder must be writable; copy both to \
             one that is"
        );
    }
    reason
}

/// Whether keys can be kept there: in a regular file, or one that is to be made. A device may be readable as an empty
/// database, and is not ours to change the mode of.
fn is_file(path: &Path) -> Result<(), String> {
    match fs::metadata(path) {
        Ok(about) if about.is_dir() => Err("it is a folder".to_owned()),
        Ok(about) if !about.is_file() => Err("it is not a regular file".to_owned()),
        _ => Ok(()),
    }
}

/// Whether keys are in a file, or nothing is: of another program's nothing is changed, its mode included.
fn may_be_ours(path: &Path) -> Result<(), StoreError> {
    if !path.exists() {
        return Ok(());
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(WAIT)?;
    usable_layout(&connection).map(drop)
}

/// Makes the file where there is none, so that it never was readable by others.
fn make_private(path: &Path) -> std::io::Result<()> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            let mode = fs::metadata(path)?.permissions().mode();
            if mode & 0o077 != 0 {
                fs::set_permissions(path, fs::Permissions::from_mode(mode & !0o077))?;
            }
            Ok(())
        }
        made => made.map(drop),
    }
}

fn prepare(connection: &mut Connection) -> Result<(), StoreError> {
    connection.busy_timeout(WAIT)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if usable_layout(&transaction)? != LAYOUT {
        let mut secret = [0; 32];
        random(&mut secret)?;
        transaction.execute_batch(TABLES)?;
        transaction.execute("INSERT INTO meta VALUES ('secret', ?1)", [secret])?;
        transaction.pragma_update(None, "user_version", LAYOUT)?;
    }
    // Earlier versions made it without, and are not disturbed by it.
    let has = "SELECT count(*) FROM pragma_table_info('keys') WHERE name = 'body_bytes'";
    let has: i64 = transaction.query_row(has, [], |row| row.get(0))?;
    if has == 0 {
        transaction.execute_batch("ALTER TABLE keys ADD COLUMN body_bytes INTEGER")?;
    }
    transaction.commit()?;
    Ok(())
}

fn layout(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// The layout of a file of keys: 0 where nothing is in it yet.
fn usable_layout(connection: &Connection) -> Result<i64, StoreError> {
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    match layout(connection)? {
        0 if tables == 0 => Ok(0),
        LAYOUT => Ok(LAYOUT),
        other => Err(wrong_layout(other)),
    }
}

fn wrong_layout(layout: i64) -> StoreError {
    StoreError::Failed(match layout {
        0 => "it holds another program's tables".to_owned(),
        later => format!("its layout {later} is of a later version of Plimsoll"),
    })
}

fn secret(connection: &Connection) -> Result<Vec<u8>, StoreError> {
    let query = "SELECT value FROM meta WHERE name = 'secret'";
    let secret: Vec<u8> = connection.query_row(query, [], |row| row.get(0))?;
    if secret.len() == 32 {
        Ok(secret)
    } else {
        Err(StoreError::Failed("its secret is damaged".into()))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;

    use super::*;

    pub(in crate::keys) const STAMP: Stamp = Stamp { at_s: 1_000, by: "test" };

    /// A store in a folder of its own.
    pub(in crate::keys) fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("gate.db")).unwrap();
        (folder, store)
    }

    fn gold() -> NewKey {
        NewKey {
            owner: "ada".into(),
            tier: "gold".into(),
            routes: vec!["shop".into(), "blog".into()],
            rate: Some(Rate { per_s: 100.0, burst: 20.0 }),
            day_quota: Some(5),
            body_max_bytes: Some(1 << 20),
            ..NewKey::default()
        }
    }

    /// As it was made before keys had a longest body.
    #[test]
    fn a_store_of_an_earlier_version_is_read_and_takes_new_keys() {
        let (folder, mut store) = store();
        let plain = NewKey { body_max_bytes: None, ..gold() };
        let (_, old) = store.add(&plain, &STAMP).unwrap();
        store.connection.execute_batch("ALTER TABLE keys DROP COLUMN body_bytes").unwrap();
        drop(store);
        let path = folder.path().join("gate.db");
        let looked = Store::inspect(&path).unwrap().named_by_keys().unwrap();
        assert_eq!(looked.tiers.get("gold"), Some(&1));
        let mut store = Store::open(&path).unwrap();
        let (_, new) = store.add(&gold(), &STAMP).unwrap();
        let (_, rotated) = store.rotate(new, 0, &STAMP).unwrap();
        for (id, expected) in [(old, plain), (new, gold()), (rotated, gold())] {
            assert_eq!(store.key(id).unwrap().unwrap().key, expected);
        }
    }

    #[test]
    fn a_store_that_is_looked_at_gets_no_files_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ga?te #1%20.db");
        let mut store = Store::open(&path).unwrap();
        store.add(&gold(), &STAMP).unwrap();
        let count = || Store::inspect(&path).unwrap().count().unwrap();
        assert_eq!(count(), 1, "as it is in the log of changes");
        drop(store);
        assert_eq!(count(), 1);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    /// A root's test may write everywhere: what is said is tested without a folder that cannot be written.
    #[test]
    fn a_log_of_changes_without_its_index_is_said_to_need_a_writable_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gate.db");
        let said = || unread(&path, "unable to open".to_owned());
        assert_eq!(said(), "unable to open");
        fs::write(folder.path().join("gate.db-wal"), "x").unwrap();
        assert!(said().contains("unable to open: the changes in its -wal file"), "{}", said());
        fs::write(folder.path().join("gate.db-shm"), "x").unwrap();
        assert_eq!(said(), "unable to open");
    }

    /// What was in the log of changes was left out.
    #[test]
    fn a_store_is_looked_at_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("gate.db"), folder.path().join("link.db"));
        let mut store = Store::open(&path).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        store.add(&gold(), &STAMP).unwrap();
        assert_eq!(Store::inspect(&link).unwrap().count().unwrap(), 1);
    }

    /// Nor is the mode of such a thing changed.
    #[test]
    fn what_is_no_regular_file_is_no_store() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let _listening = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        let before = mode(&socket);
        for (path, why) in [
            (Path::new("/dev/zero"), "it is not a regular file"),
            (&*socket, "it is not a regular file"),
            (folder.path(), "it is a folder"),
        ] {
            for opened in [Store::open(path), Store::inspect(path)] {
                let said = opened.unwrap_err().to_string();
                assert!(said.contains(why), "{said}");
            }
        }
        assert_eq!(mode(&socket), before);
    }

    #[test]
    fn what_no_key_may_have_is_refused() {
        let (_folder, mut store) = store();
        let ends = |expires_s| NewKey { expires_s, ..NewKey::default() };
        let a_month = |quota| NewKey { month_quota: Some(quota), ..NewKey::default() };
        let body = |bytes| NewKey { body_max_bytes: Some(bytes), ..NewKey::default() };
        let ended = [ends(-1), ends(1_000), ends(99_999_999_999_999)];
        for new in ended.into_iter().chain([a_month(0), a_month(u64::MAX), body(u64::MAX)]) {
            let added = store.add(&new, &STAMP);
            assert!(matches!(added, Err(StoreError::Wrong(_))), "{new:?}");
        }
        for new in [ends(0), ends(1_001), a_month(1), a_month(i64::MAX as u64), body(0)] {
            let (_, id) = store.add(&new, &STAMP).unwrap();
            assert_eq!(store.key(id).unwrap().unwrap().key, new);
        }
    }

    #[test]
    fn a_key_is_kept_as_its_digest_and_nothing_else_of_it() {
        let (folder, mut store) = store();
        let (key, id) = store.add(&gold(), &STAMP).unwrap();
        let kept = store.key(id).unwrap().unwrap();
        assert_eq!(kept.key, gold());
        assert_eq!(kept.digest, store.digester().digest(key.as_bytes()));
        drop(store);
        for entry in fs::read_dir(folder.path()).unwrap() {
            let path = entry.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            let holds = |what: &[u8]| bytes.windows(what.len()).any(|window| window == what);
            assert!(!holds(key.as_bytes()) && !holds(&key.as_bytes()[4..]), "{}", path.display());
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o077, 0);
        }
        // The secret lasts: the key is known to the next process.
        let again = Store::open(&folder.path().join("gate.db")).unwrap();
        assert_eq!(again.digester().digest(key.as_bytes()), kept.digest);
    }

    #[test]
    fn revoked_once_and_rotated_with_or_without_grace() {
        let (_folder, mut store) = store();
        let (_, first) = store.add(&gold(), &STAMP).unwrap();
        let (_, second) = store.rotate(first, 60, &STAMP).unwrap();
        assert_eq!(store.key(first).unwrap().unwrap().key.expires_s, 1_060);
        assert_eq!(store.key(second).unwrap().unwrap().key, gold());
        let (_, third) = store.rotate(second, 0, &STAMP).unwrap();
        assert_eq!(store.key(second).unwrap().unwrap().revoked_s, Some(1_000));
        store.revoke(third, &STAMP).unwrap();
        assert!(matches!(store.revoke(third, &STAMP), Err(StoreError::NoSuchKey(_))));
        assert!(matches!(store.rotate(third, 0, &STAMP), Err(StoreError::NoSuchKey(_))));
        let changes = store.changes_after(0, 100).unwrap();
        let words: Vec<_> =
            changes.iter().map(|change| (change.key, change.what.as_str())).collect();
        assert_eq!(words[0], (Some(first), "added"));
        assert_eq!(words.last(), Some(&(Some(third), "revoked")));
        assert_eq!(store.last_change().unwrap(), changes.last().unwrap().number);
    }

    #[test]
    fn the_oldest_changes_are_forgotten() {
        let (_folder, mut store) = store();
        (0..3).for_each(|_| store.note("early", &STAMP).unwrap());
        let late = "INSERT INTO changes VALUES (?1, 1, 'test', NULL, 'late')";
        store.connection.execute(late, [CHANGES_KEPT + 1]).unwrap();
        store.add(&gold(), &STAMP).unwrap();
        let changes = store.changes_after(0, 100).unwrap();
        let numbers: Vec<i64> = changes.iter().map(|change| change.number as i64).collect();
        assert_eq!(numbers, [3, CHANGES_KEPT + 1, CHANGES_KEPT + 2]);
    }

    #[test]
    fn keys_are_read_in_parts() {
        let (_folder, mut store) = store();
        (0..5).for_each(|_| drop(store.add(&gold(), &STAMP).unwrap()));
        let ids = |after, most| {
            let keys = store.keys_after(after, most).unwrap();
            keys.iter().map(|key| key.id).collect::<Vec<_>>()
        };
        assert_eq!((ids(0, 2), ids(2, 2), ids(4, 2)), (vec![1, 2], vec![3, 4], vec![5]));
        assert!(ids(5, 2).is_empty() && ids(u64::MAX, 2).is_empty());
    }

    #[test]
    fn a_tier_or_route_that_no_gateway_has_is_refused() {
        let (folder, mut store) = store();
        store.add(&gold(), &STAMP).expect("no gateway has said its tiers");
        store.record_configured(&["free", "silver"], &["users", "shop"]).unwrap();
        let Err(StoreError::Wrong(why)) =
            store.add(&NewKey { tier: "silber".into(), ..NewKey::default() }, &STAMP)
        else {
            panic!("it was accepted")
        };
        assert!(why.contains("did you mean `silver`?") && why.contains("free, silver"), "{why}");
        let of_route =
            |route: &str| NewKey { routes: vec!["shop".into(), route.into()], ..NewKey::default() };
        let Err(StoreError::Wrong(why)) = store.add(&of_route("user"), &STAMP) else {
            panic!("it was accepted")
        };
        assert!(why.contains("no route `user`: did you mean `users`?"), "{why}");
        store.add(&of_route("users"), &STAMP).unwrap();
        for tier in ["", "free"] {
            store.add(&NewKey { tier: tier.into(), ..NewKey::default() }, &STAMP).unwrap();
        }
        store.rotate(1, 0, &STAMP).expect("a key keeps its tier");
        let named = store.named_by_keys().unwrap();
        let counts = |names: BTreeMap<String, u64>| names.into_iter().collect::<Vec<_>>();
        assert_eq!(counts(named.tiers), [("free".to_owned(), 1), ("gold".to_owned(), 1)]);
        assert!(counts(named.routes).contains(&("users".to_owned(), 1)));
        let looked = Store::inspect(&folder.path().join("gate.db")).unwrap();
        assert_eq!(looked.tiers().unwrap().unwrap(), ["free", "silver"]);
        assert!(looked.record_configured(&["x"], &[]).is_err(), "it is only read");
        assert!(Store::inspect(&folder.path().join("none.db")).is_err());
        let empty = folder.path().join("empty.db");
        fs::write(&empty, "").unwrap();
        let said = Store::inspect(&empty).unwrap_err().to_string();
        assert!(said.contains("nothing is in it yet"), "{said}");
        assert!(!folder.path().join("none.db").exists());
    }

    #[test]
    fn wrong_values_and_other_files_are_refused() {
        let (folder, mut store) = store();
        let rate = |per_s, burst| NewKey { rate: Some(Rate { per_s, burst }), ..NewKey::default() };
        for wrong in [
            rate(0.0, 1.0),
            rate(f64::NAN, 1.0),
            rate(1.0, 0.5),
            NewKey { at_once: Some(0), ..NewKey::default() },
            NewKey { day_quota: Some(0), ..NewKey::default() },
            NewKey { owner: "a\nb".into(), ..NewKey::default() },
            NewKey { routes: vec!["a,b".into()], ..NewKey::default() },
        ] {
            assert!(matches!(store.add(&wrong, &STAMP), Err(StoreError::Wrong(_))), "{wrong:?}");
        }
        let text = folder.path().join("text");
        fs::write(&text, "not a database, but longer than a header of one").unwrap();
        let other = folder.path().join("other.db");
        Connection::open(&other).unwrap().execute_batch("CREATE TABLE x (y)").unwrap();
        for path in [text, other] {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
            let before = fs::read(&path).unwrap();
            assert!(matches!(Store::open(&path), Err(StoreError::Open { .. })));
            let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode, fs::read(&path).unwrap()), (0o644, before), "it is not ours");
        }
    }
}
