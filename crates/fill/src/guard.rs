//! Whether a database looks as if people depended on it.

use crate::database::{Address, Database};
use crate::error::{Error, Result};

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
