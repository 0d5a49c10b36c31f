//! The records of a store: keys, and changes to them; and the errors of a store.

use std::fmt;
use std::path::PathBuf;

use model::quote::visible;

use super::Digest;
use crate::limits::Rate;

/// Longest name of an owner or tier.
const NAME_MAX: usize = 200;
/// The first second of the year 9999, in seconds since the epoch: no key expires later.
const ENDS_BEFORE_S: i64 = 253_370_764_800;
/// The text of SQLite's error for a file that another program locks for too long.
const LOCKED: &str = "database is locked";
/// What to do then.
const HELD: &str = "another program holds it: try again";
/// Largest quota or length that a file of keys holds: its numbers are signed.
const NUMBER_MAX: u64 = i64::MAX as u64;

/// Why the file of keys could not be used.
#[derive(Debug)]
pub enum StoreError {
    /// The file cannot be opened, or is not a store.
    Open {
        /// Which.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A statement failed: disk full, file locked, file damaged.
    Failed(String),
    /// There is no key with this number, or it was revoked before.
    NoSuchKey(u64),
    /// A value that no key may have.
    Wrong(String),
    /// The system has no random numbers.
    NoRandomNumbers,
}

impl StoreError {
    /// What went wrong, without what it went wrong with.
    pub(super) fn reason(self) -> String {
        match self {
            Self::Failed(why) => why,
            other => other.to_string(),
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open { path, why } => {
                let advice = if why.contains(LOCKED) { HELD } else { "--store names another file" };
                write!(f, "{}: {}; {advice}", path.display(), visible(why, &[]))
            }
            Self::Failed(why) if why.contains(LOCKED) => write!(f, "the key store: {why}; {HELD}"),
            Self::Failed(why) => write!(f, "the key store: {}", visible(why, &[])),
            Self::NoSuchKey(id) => {
                write!(f, "there is no key {id} in force: `plimsoll gate keys list` shows all")
            }
            Self::Wrong(why) => f.write_str(why),
            Self::NoRandomNumbers => {
                f.write_str("the system gives no random numbers: no key can be made")
            }
        }
    }
}

impl std::error::Error for StoreError {}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

/// The settings of a new key.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewKey {
    /// Its owner; may be empty.
    pub owner: String,
    /// Its tier's name; may be empty for the default tier.
    pub tier: String,
    /// Names of the routes it is for; empty for all.
    pub routes: Vec<String>,
    /// Requests per second, instead of the tier's.
    pub rate: Option<Rate>,
    /// Requests at once, instead of the tier's.
    pub at_once: Option<u32>,
    /// Requests a day, instead of the tier's.
    pub day_quota: Option<u64>,
    /// Requests a month, instead of the tier's.
    pub month_quota: Option<u64>,
    /// Bytes of the longest body, instead of the tier's; 0 for none.
    pub body_max_bytes: Option<u64>,
    /// When it expires, in seconds since the epoch; 0: never.
    pub expires_s: i64,
}

impl NewKey {
    /// Checks whether a key that is made now, in seconds since the epoch, may have these values, as far as this is possible
    /// without a store.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self, now_s: i64) -> Result<(), StoreError> {
        let wrong = |what: String| Err(StoreError::Wrong(what));
        for (what, name) in [("owner", &self.owner), ("tier", &self.tier)] {
            if name.len() > NAME_MAX || name.chars().any(char::is_control) {
                return wrong(format!(
                    "the {what} has at most {NAME_MAX} bytes and no control characters"
                ));
            }
        }
        if self.routes.iter().any(|name| name.is_empty() || name.contains(',')) {
            return wrong("the name of a route is not empty and has no comma".into());
        }
        match self.rate {
            Some(rate) if !(rate.per_s > 0.0 && rate.per_s.is_finite()) => {
                wrong("a rate is above 0; `keys revoke` ends a key".into())
            }
            Some(rate) if !(rate.burst >= 1.0 && rate.burst.is_finite()) => {
                wrong("a burst is 1 or more".into())
            }
            _ if self.expires_s != 0 && self.expires_s <= now_s => wrong(
                "a key that has expired opens nothing; without a time to expire it never does"
                    .into(),
            ),
            _ if self.expires_s >= ENDS_BEFORE_S => {
                wrong("a key expires before the year 9999, in seconds since 1970".into())
            }
            _ if self.at_once == Some(0) => wrong("requests at once are 1 or more".into()),
            _ if self.day_quota == Some(0) || self.month_quota == Some(0) => {
                wrong("a quota is 1 or more; `keys revoke` ends a key".into())
            }
            _ if self.day_quota.max(self.month_quota) > Some(NUMBER_MAX) => {
                wrong(format!("a quota is at most {NUMBER_MAX}"))
            }
            _ if self.body_max_bytes > Some(NUMBER_MAX) => {
                wrong(format!("a body has at most {NUMBER_MAX} bytes"))
            }
            _ => Ok(()),
        }
    }
}

/// A key as stored.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyRecord {
    /// The number that people and usage know it by.
    pub id: u64,
    /// Its digest.
    pub digest: Digest,
    /// Its settings.
    pub key: NewKey,
    /// When it was made, in seconds since the epoch.
    pub created_s: i64,
    /// When it was revoked, if it was.
    pub revoked_s: Option<i64>,
}

/// When a change is made, and through what: `command line`, `admin API`, `SIGHUP`, `changed file`, `start`, `take-over`.
#[derive(Debug, Clone, Copy)]
pub struct Stamp<'a> {
    /// Seconds since the epoch.
    pub at_s: i64,
    /// By whom.
    pub by: &'a str,
}

/// A change that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Ascending.
    pub number: u64,
    /// Seconds since the epoch.
    pub at_s: i64,
    /// By whom.
    pub by: String,
    /// The key it is about.
    pub key: Option<u64>,
    /// In words.
    pub what: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_is_held_is_no_reason_for_another() {
        let said =
            |why: &str| StoreError::Open { path: "a.db".into(), why: why.into() }.to_string();
        let held = said("database is locked");
        assert_eq!(held, "a.db: database is locked; another program holds it: try again");
        let failed = StoreError::Failed("database is locked".into());
        assert!(failed.to_string().ends_with("; another program holds it: try again"));
        assert_eq!(failed.reason(), "database is locked");
        assert!(said("it is a folder").ends_with("; --store names another file"));
    }
}
