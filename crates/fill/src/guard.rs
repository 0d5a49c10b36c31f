//! Whether a database looks as if people depended on it: by its name, by who is connected, and by what changes during the
//! check. What others wrote earlier, over connections that are closed now, looks the same as what the user's own programs
//! wrote, so it does not count.

use std::thread;
use std::time::{Duration, Instant};

use crate::database::{Address, Database, one};
use crate::error::{Error, Result};
use crate::kind::words_of;
use crate::schema::Dialect;

/// Words in names of databases and hosts that mark production, unless the user says others.
pub const MARKS: [&str; 4] = ["prod", "production", "prd", "live"];

/// Marks that count in the midst of a word too. Others would be found in many names: `delivery`.
const ANYWHERE: [&str; 2] = ["prod", "production"];

/// Beginnings of ordinary words that hold a mark.
const ORDINARY: [&str; 10] = [
    "product",
    "produce",
    "produci",
    "prodig",
    "alive",
    "olive",
    "lively",
    "livelihood",
    "livestock",
    "liver",
];

/// What a server counts of a session that has ended may come so much later.
const SETTLED: Duration = Duration::from_secs(1);
/// How long changes are looked for at least: servers count what a busy session wrote once a second.
const LOOK: Duration = Duration::from_secs(2);

/// A look at what others change, from [`check`] to [`Look::end`]: the survey's time is used for it.
#[derive(Debug)]
pub struct Look {
    began: Instant,
    known: Option<String>,
    name: Option<String>,
}

impl Look {
    fn begin(database: &mut dyn Database, name: String) -> Result<Self> {
        if database.dialect() != Dialect::Sqlite {
            thread::sleep(SETTLED);
        }
        Ok(Self { began: Instant::now(), known: database.changes()?, name: Some(name) })
    }

    fn none() -> Self {
        Self { began: Instant::now(), known: None, name: None }
    }

    /// Refuses the database if rows of it were changed since the look began, which lasts two seconds at least (with
    /// SQLite, whose count of changes is exact, no longer than the survey).
    ///
    /// # Errors
    /// With the sign, and how to go on.
    pub fn end(self, database: &mut dyn Database) -> Result<()> {
        let Some(name) = self.name.filter(|_| self.known.is_some()) else { return Ok(()) };
        if database.dialect() != Dialect::Sqlite {
            thread::sleep(LOOK.saturating_sub(self.began.elapsed()));
        }
        if database.changes()? == self.known {
            return Ok(());
        }
        refused(&["its rows are being changed by others".to_owned()], &name)
    }
}

fn refused<T>(signs: &[String], name: &str) -> Result<T> {
    Err(Error::Refused(format!(
        "this database looks like one that people depend on: {}. Nothing was written. If it may be filled all the \
         same, give its name: --yes-to {name}",
        signs.join("; ")
    )))
}

/// Refuses a database that looks like production, unless its name is given. What comes back ends the look before
/// anything is written.
///
/// # Errors
/// With the signs, and how to go on.
pub fn check(
    database: &mut dyn Database,
    address: &Address,
    marks: &[String],
    yes_to: Option<&str>,
) -> Result<Look> {
    let name = address.database();
    if yes_to == Some(name.as_str()) {
        return Ok(Look::none());
    }
    if let Some(other) = yes_to {
        return Err(Error::Usage(format!(
            "--yes-to {other} is not the name of the database, which is {name}"
        )));
    }
    let mut signs: Vec<String> = address
        .marks()
        .iter()
        .filter_map(|text| Some(format!("`{text}` contains `{}`", marked(text, marks)?)))
        .collect();
    signs.extend(database.signs_of_use()?);
    if !signs.is_empty() {
        return refused(&signs, &name);
    }
    Look::begin(database, name)
}

/// Takes the database's own lock for fills, which its end of the connection releases. SQLite has none: there each
/// batch holds the lock on the file.
///
/// # Errors
/// When another fill of this database is running.
pub fn alone(database: &mut dyn Database) -> Result<()> {
    // The server may notice a moment late that a fill was killed.
    const TRIES: u32 = 30;
    let sql = match database.dialect() {
        Dialect::Postgres => "SELECT pg_try_advisory_lock(hashtext('plimsoll fill'))::int::text",
        Dialect::Mysql => "SELECT GET_LOCK(LEFT(CONCAT('plimsoll fill ', DATABASE()), 64), 0)",
        Dialect::Sqlite => return Ok(()),
    };
    for _ in 0..TRIES {
        if one(database, sql)?.as_deref() == Some("1") {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(100));
    }
    Err(Error::Refused(
        "another fill of this database is running: wait for it, or end it and --resume or --clean"
            .to_owned(),
    ))
}

/// The first mark that the text has: a word begins or ends with it, numbers aside, or holds it, if it is one of
/// [`ANYWHERE`]. Ordinary words count for nothing.
fn marked(text: &str, marks: &[String]) -> Option<String> {
    let words: Vec<String> = words_of(text).into_iter().map(without_ordinary).collect();
    let has = |word: &String, mark: &str| {
        let bare = word.trim_matches(|c: char| c.is_ascii_digit());
        bare.starts_with(mark)
            || bare.ends_with(mark)
            || (ANYWHERE.contains(&mark) && word.contains(mark))
    };
    let found = |mark: &&String| {
        let small = mark.to_lowercase();
        !small.is_empty() && words.iter().any(|word| has(word, &small))
    };
    marks.iter().find(found).cloned()
}

/// The word with a blank for what begins an ordinary word.
fn without_ordinary(word: String) -> String {
    // `production` is none, though it begins as `product` does.
    let (kept, stands_for) = ("production", "\u{1}");
    let word = word.replace(kept, stands_for);
    let word = ORDINARY.iter().fold(word, |word, ordinary| word.replace(ordinary, " "));
    word.replace(stands_for, kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_begin_or_end_words_and_prod_is_found_anywhere() {
        let marks: Vec<String> = MARKS.map(str::to_owned).to_vec();
        for (text, wanted) in [
            ("shop_prod", Some("prod")),
            ("db.production.example.com", Some("prod")),
            ("LIVE", Some("live")),
            ("prod1", Some("prod")),
            ("prod2024", Some("prod")),
            ("production2", Some("prod")),
            ("prodshop", Some("prod")),
            ("shopprod", Some("prod")),
            ("euprodshop", Some("prod")),
            ("preprod", Some("prod")),
            ("productprod", Some("prod")),
            ("Shop-PROD1", Some("prod")),
            ("liveshop", Some("live")),
            ("shoplive2", Some("live")),
            ("shopLiveDb", Some("live")),
            ("eu-prd-1", Some("prd")),
            ("prd01", Some("prd")),
            ("product", None),
            ("products", None),
            ("product_test", None),
            ("Productivity", None),
            ("produce", None),
            ("delivery", None),
            ("oliver", None),
            ("olives", None),
            ("shop_dev", None),
        ] {
            assert_eq!(marked(text, &marks).as_deref(), wanted, "{text}");
        }
        let own = ["Blue".to_owned()];
        assert_eq!(marked("blueshop", &own).as_deref(), Some("Blue"));
        assert_eq!(marked("shopbluedb", &own), None);
        assert_eq!(marked("shopprod", &[String::new()]), None);
    }
}
