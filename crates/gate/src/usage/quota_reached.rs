//! How far quotas are used, written down soon after the requests: a gateway that is killed gives little of a quota again.
//!
//! Beside the counts that come with the reports of usage (`sqlite`, `quota_used`), some seconds later. Where both know of a
//! quota, the larger count holds, so that nothing counts twice.

use std::path::Path;

use rusqlite::{Connection, Row, TransactionBehavior, params};

use super::sqlite::{has_table, open_to_read, open_to_write};

const TABLE: &str = "
CREATE TABLE IF NOT EXISTS quota_reached (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    day INTEGER NOT NULL,
    of_day INTEGER NOT NULL,
    month INTEGER NOT NULL,
    of_month INTEGER NOT NULL,
    PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;
";
/// The larger count of a period is kept, and one of another period takes its place. Even and odd days have rows of their own: a
/// clock that is a day ahead for a while, or another gateway's that is behind at midnight, replaces nothing.
const RAISE: &str = "
INSERT INTO quota_reached VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (kind, name) DO UPDATE SET
    of_day = CASE WHEN day = excluded.day THEN max(of_day, excluded.of_day) ELSE excluded.of_day END,
    day = excluded.day,
    of_month = CASE WHEN month = excluded.month THEN max(of_month, excluded.of_month) ELSE excluded.of_month END,
    month = excluded.month
";
/// What the kind of a row ends with that was written beside another gateway.
const BESIDE: char = '+';
/// What the kind of a row of an odd day ends with.
const ODD: char = '-';

/// Whose quotas.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Whose {
    /// Those of the key of this number: of keys that replace each other, the first.
    Key(u64),
    /// Those of the tier of this name as a whole.
    Tier(String),
    /// Those of the route of this name.
    Route(String),
    /// Those of all requests together.
    All,
}

/// How far quotas are used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    /// Whose.
    pub whose: Whose,
    /// A day since 1970, and the requests of it.
    pub day: (u32, u64),
    /// A month since January 1970, and the requests of it.
    pub month: (u32, u64),
    /// Counted while another gateway still served, by the later one of the two: it does not know what the earlier one lets
    /// through, so each has a row of its own.
    pub beside: bool,
}

/// The table in a file of keys.
#[derive(Debug)]
pub struct ReachedTable {
    connection: Connection,
}

impl ReachedTable {
    /// In the file of a [`crate::keys::Store`] that was opened before. There are two rows for each key, tier and route that
    /// has quotas, whatever the month: none has to be forgotten by the clock.
    ///
    /// # Errors
    /// In words, when the file cannot be written.
    pub fn open(path: &Path) -> Result<Self, String> {
        Ok(Self { connection: open_to_write(path, TABLE)? })
    }

    /// Writes counts, all or none. Lower ones than those that are there change nothing.
    ///
    /// # Errors
    /// In words.
    pub fn raise(&mut self, all: &[Reached]) -> Result<(), String> {
        let write = |connection: &mut Connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for Reached { whose, day, month, beside } in all {
                let (kind, name) = match whose {
                    Whose::Key(id) => ("key", id.to_string()),
                    Whose::Tier(name) => ("tier", name.clone()),
                    Whose::Route(name) => ("route", name.clone()),
                    Whose::All => ("all", String::new()),
                };
                let mut kind = kind.to_owned();
                kind.extend(beside.then_some(BESIDE));
                kind.extend((day.0 % 2 == 1).then_some(ODD));
                let counts = (day.1 as i64, month.1 as i64);
                let values = params![kind, name, day.0, counts.0, month.0, counts.1];
                transaction.prepare_cached(RAISE)?.execute(values)?;
            }
            transaction.commit()
        };
        write(&mut self.connection).map_err(|error: rusqlite::Error| error.to_string())
    }
}

/// How far quotas of a day and of a month are used that were written down; of another period, 0. The largest of several
/// counts of one quota holds.
///
/// # Errors
/// In words, when the file cannot be read.
pub fn reached(path: &Path, day: u32, month: u32) -> Result<Vec<Reached>, String> {
    let read = || {
        let connection = open_to_read(path)?;
        if !has_table(&connection, "quota_reached")? {
            return Ok(Vec::new());
        }
        let query = "SELECT kind, name, day, of_day, month, of_month FROM quota_reached WHERE day = ?1 OR month = ?2";
        let mut statement = connection.prepare(query)?;
        let row = |row: &Row| {
            let (kind, name): (String, String) = (row.get(0)?, row.get(1)?);
            let plain = kind.trim_end_matches([BESIDE, ODD]);
            let whose = match plain {
                "key" => name.parse().ok().map(Whose::Key),
                "tier" => Some(Whose::Tier(name)),
                "route" => Some(Whose::Route(name)),
                "all" => Some(Whose::All),
                _ => None,
            };
            let of = |period: u32, at: usize| {
                let (its, count): (i64, i64) = (row.get(at)?, row.get(at + 1)?);
                let same = its == i64::from(period);
                Ok::<_, rusqlite::Error>((period, if same { count.max(0) as u64 } else { 0 }))
            };
            let (day, month) = (of(day, 2)?, of(month, 4)?);
            let beside = kind.contains(BESIDE);
            Ok(whose.map(|whose| Reached { whose, day, month, beside }))
        };
        let rows = statement.query_map(params![day, month], row)?;
        rows.filter_map(Result::transpose).collect::<Result<_, _>>()
    };
    read().map_err(|error: rusqlite::Error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Store;

    #[test]
    fn the_larger_count_of_a_period_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gate.db");
        drop(Store::open(&path).unwrap());
        assert_eq!(reached(&path, 7, 3), Ok(Vec::new()));
        let mut table = ReachedTable::open(&path).unwrap();
        let whose =
            [Whose::All, Whose::Key(12), Whose::Route("all".into()), Whose::Tier("all".into())];
        let of =
            |whose: &Whose, day, month| Reached { whose: whose.clone(), day, month, beside: false };
        // Day, month, and what is kept of day 7 and month 3.
        for (day, month, kept) in [
            ((7, 5), (3, 50), (5, 50)),
            ((7, 4), (3, 51), (5, 51)),
            // A gateway is behind at midnight, and a clock a day ahead for a while.
            ((6, 9), (2, 99), (5, 51)),
            ((8, 1), (3, 52), (5, 52)),
            ((7, 6), (3, 53), (6, 53)),
            ((40, 1), (4, 1), (6, 53)),
            ((41, 1), (4, 2), (0, 0)),
            // A clock that was ahead is set right.
            ((9000, 8), (300, 8), (0, 0)),
            ((7, 2), (3, 20), (2, 20)),
        ] {
            let all: Vec<Reached> = whose.iter().map(|whose| of(whose, day, month)).collect();
            table.raise(&all).unwrap();
            let found = reached(&path, 7, 3).unwrap();
            for its in &whose {
                let most = found
                    .iter()
                    .filter(|one| one.whose == *its)
                    .fold((0, 0), |most, one| (one.day.1.max(most.0), one.month.1.max(most.1)));
                assert_eq!(most, kept, "{its:?} {day:?}");
            }
        }
        // Two gateways of which neither knows what the other lets through.
        let own =
            [false, true].map(|beside| Reached { beside, ..of(&Whose::All, (41, 1), (4, 1)) });
        let more = Reached { day: (41, 9), month: (4, 9), ..own[1].clone() };
        table.raise(&[own[1].clone(), own[0].clone(), more.clone()]).unwrap();
        assert_eq!(
            reached(&path, 41, 9).unwrap(),
            [&more, &own[0]].map(|own| Reached { month: (9, 0), ..own.clone() })
        );
        // A gateway that begins later, or by a clock that is ahead, forgets nothing.
        drop(table);
        drop(ReachedTable::open(&path).unwrap());
        assert_eq!(reached(&path, 41, 9).unwrap().len(), 2);
    }
}
