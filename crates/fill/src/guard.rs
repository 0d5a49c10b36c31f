//! Whether a database looks as if people depended on it.

use std::thread;
use std::time::Duration;

use crate::database::{Address, Database, one};
use crate::error::{Error, Result};
use crate::schema::Dialect;

/// Words in names of databases and hosts that mark production, unless the user says others.
pub const MARKS: [&str; 4] = ["prod", "production", "prd", "live"];

/// Refuses a database that looks like production, unless its name is given.
///
/// # Errors
/// With the signs, and how to go on.
pub fn check(
    database: &mut dyn Database,
    address: &Address,
    marks: &[String],
    yes_to: Option<&str>,
) -> Result<()> {
    let name = address.database();
    if yes_to == Some(name.as_str()) {
        return Ok(());
    }
    if let Some(other) = yes_to {
        return Err(Error::Usage(format!(
            "--yes-to {other} is not the name of the database, which is {name}"
        )));
    }
    let mut signs: Vec<String> = address
        .marks()
        .iter()
        .filter_map(|text| Some(format!("`{text}` contains the word `{}`", marked(text, marks)?)))
        .collect();
    signs.extend(database.signs_of_use()?);
    if signs.is_empty() {
        return Ok(());
    }
    Err(Error::Refused(format!(
        "this database looks like one that people depend on: {}. Nothing was written. If it may be filled all the \
         same, give its name: --yes-to {name}",
        signs.join("; ")
    )))
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

/// The first mark that is a word of the text.
fn marked(text: &str, marks: &[String]) -> Option<String> {
    let small = text.to_lowercase();
    let words: Vec<&str> = small.split(|c: char| !c.is_alphanumeric()).collect();
    marks.iter().find(|mark| words.contains(&mark.to_lowercase().as_str())).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_whole_words() {
        let marks: Vec<String> = MARKS.map(str::to_owned).to_vec();
        for (text, wanted) in [
            ("shop_prod", Some("prod")),
            ("db.production.example.com", Some("production")),
            ("LIVE", Some("live")),
            ("products", None),
            ("delivery", None),
            ("shop_dev", None),
        ] {
            assert_eq!(marked(text, &marks).as_deref(), wanted, "{text}");
        }
    }
}
