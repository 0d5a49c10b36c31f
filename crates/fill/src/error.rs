//! Why a database was not filled.

use std::fmt;

use model::quote::visible;

use crate::schema::Name;

/// What stops a fill.
#[derive(Debug)]
pub enum Error {
    /// The user's request is wrong.
    Usage(String),
    /// A file that was named cannot be read.
    Unreadable(String),
    /// The schema, or what is asked of it, cannot be satisfied: which rule, which column.
    Schema(String),
    /// The database may be in use, and its name was not given.
    Refused(String),
    /// A rule of the database, or a trigger, refused rows: it would refuse them again.
    Rule(String),
    /// The database, or the way to it, failed.
    Database(String),
    /// Ctrl-C, with how to go on.
    Interrupted(&'static str),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(text)
            | Self::Unreadable(text)
            | Self::Schema(text)
            | Self::Refused(text)
            | Self::Rule(text)
            | Self::Database(text) => f.write_str(&visible(text, &[])),
            Self::Interrupted(how_to_go_on) => write!(f, "interrupted; {how_to_go_on}"),
        }
    }
}

impl Error {
    /// What the database says of this table.
    pub fn at(self, table: &Name) -> Self {
        self.reworded(|why| format!("{table}: {why}"))
    }

    /// What the database says, in other words.
    pub fn reworded(self, words: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Database(why) => Self::Database(words(why)),
            Self::Rule(why) => Self::Rule(words(why)),
            other => other,
        }
    }
}

impl std::error::Error for Error {}

impl From<login::WrongUrl> for Error {
    fn from(wrong: login::WrongUrl) -> Self {
        Self::Usage(wrong.0)
    }
}

/// The result of what may fail so.
pub type Result<T> = std::result::Result<T, Error>;

/// The schema cannot be satisfied.
pub fn unsatisfiable<T>(message: impl Into<String>) -> Result<T> {
    Err(Error::Schema(message.into()))
}
