//! What a store knows about the gateway that was last configured with it: the names of tiers and routes, which commands for
//! keys look up; a digest of its settings, for the audit log; and how many keys refer to each name.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, params};

use super::store::log;
use super::{Stamp, Store, StoreError};

/// The tiers and routes that keys refer to, each with the number of such keys; revoked ones do not count.
#[derive(Debug, Default)]
pub struct NamedByKeys {
    /// Keys by tier.
    pub tiers: BTreeMap<String, u64>,
    /// Keys by route.
    pub routes: BTreeMap<String, u64>,
}

impl NamedByKeys {
    /// Counts what a key names.
    pub fn add<'a>(&mut self, tier: &str, routes: impl IntoIterator<Item = &'a str>) {
        count(&mut self.tiers, tier);
        routes.into_iter().for_each(|route| count(&mut self.routes, route));
    }
}

impl Store {
    /// The tiers of the gateway that was last configured with this store; `None` before the first.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn tiers(&self) -> Result<Option<Vec<String>>, StoreError> {
        self.configured("tiers")
    }

    /// The names of one kind that the gateway was last configured with.
    pub(super) fn configured(&self, kind: &str) -> Result<Option<Vec<String>>, StoreError> {
        let names = self.meta(kind)?;
        Ok(names.map(|names| names.split(',').map(str::to_owned).collect()))
    }

    fn meta(&self, name: &str) -> Result<Option<String>, StoreError> {
        let query = "SELECT CAST(value AS TEXT) FROM meta WHERE name = ?1";
        Ok(self.connection.query_row(query, [name], |row| row.get(0)).optional()?)
    }

    fn record(&self, name: &str, value: &str) -> Result<(), StoreError> {
        let statement = "INSERT OR REPLACE INTO meta VALUES (?1, ?2)";
        self.connection.execute(statement, params![name, value.as_bytes()])?;
        Ok(())
    }

    /// Where the gateway of this store reports its usage, in words; `None` where that is the store.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn usage_place(&self) -> Result<Option<String>, StoreError> {
        Ok(self.meta("usage_place")?.filter(|place| !place.is_empty()))
    }

    /// Stores where usage is reported; empty for the store itself.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn record_usage_place(&self, place: &str) -> Result<(), StoreError> {
        if self.usage_place()?.unwrap_or_default() == place {
            return Ok(());
        }
        self.record("usage_place", place)
    }

    /// Stores the names of the tiers and routes that a gateway is configured with; they contain no comma.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn record_configured(&self, tiers: &[&str], routes: &[&str]) -> Result<(), StoreError> {
        for (kind, names) in [("tiers", tiers), ("routes", routes)] {
            if self.configured(kind)?.is_none_or(|known| known != names) {
                self.record(kind, &names.join(","))?;
            }
        }
        Ok(())
    }

    /// How many keys that were not revoked name each tier, and each route.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn named_by_keys(&self) -> Result<NamedByKeys, StoreError> {
        let query =
            "SELECT tier, routes FROM keys WHERE tier || routes <> '' AND revoked_s IS NULL";
        let mut statement = self.connection.prepare(query)?;
        let mut rows = statement.query([])?;
        let mut named = NamedByKeys::default();
        while let Some(row) = rows.next()? {
            let text = |column| row.get_ref(column).map(|value| value.as_str().unwrap_or_default());
            named.add(text(0)?, text(1)?.split(','));
        }
        Ok(named)
    }

    /// The settings of the configuration that last ran with this store, as stored; `None` before the first.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn settings(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let query = "SELECT value FROM meta WHERE name = 'settings'";
        Ok(self.connection.query_row(query, [], |row| row.get(0)).optional()?)
    }

    /// Stores the settings of the configuration that runs, with a note for the audit log, if any.
    ///
    /// # Errors
    /// When the file cannot be written; then neither is stored.
    pub fn record_settings(
        &self,
        settings: &[u8],
        what: Option<&str>,
        stamp: &Stamp,
    ) -> Result<(), StoreError> {
        let transaction = self.connection.unchecked_transaction()?;
        let keep = "INSERT OR REPLACE INTO meta VALUES ('settings', ?1)";
        transaction.execute(keep, params![settings])?;
        what.iter().try_for_each(|what| log(&transaction, stamp, None, what))?;
        transaction.commit()?;
        Ok(())
    }
}

/// Counts a name, if it is one.
fn count(names: &mut BTreeMap<String, u64>, name: &str) {
    match names.get_mut(name) {
        _ if name.is_empty() => {}
        Some(count) => *count += 1,
        None => drop(names.insert(name.to_owned(), 1)),
    }
}
