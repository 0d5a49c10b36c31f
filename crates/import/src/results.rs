//! Our own results, and which of them some bytes are ([`mod@detect`]); wrktest.sh's table is [`dat`]'s.
//!
//! Here `run.json` and `sweep.json`: text to [`Run`] and [`Sweep`]. Fields we do not know are passed
//! over, so that a result of a later minor version stays readable; a newer schema is refused.

pub mod dat;
pub mod detect;
mod reach;

use std::fmt;

use model::{CapacitySearch, Run, Sweep, capacity, run, sweep};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use model::quote::{plain, quote};

pub use detect::{Kind, detect};
pub use reach::within_reach;

/// Why a stored result could not be read. The text names no file; the caller does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResultError {
    /// The text ends before its JSON does.
    CutShort {
        /// Where it ends, from 1.
        line: usize,
    },
    /// A schema that a later version of Plimsoll writes.
    Newer {
        /// The schema it names.
        schema: String,
        /// The one read here.
        readable: &'static str,
    },
    /// JSON that is some other document.
    Other {
        /// The schema it names, if any.
        schema: Option<String>,
        /// The one read here.
        readable: &'static str,
    },
    /// Not JSON, or a field is missing or of another type.
    Malformed {
        /// Where, from 1.
        line: usize,
        /// Where in the line, in bytes from 1; 0 before its first.
        column: usize,
        /// What is wrong there.
        what: String,
    },
    /// A sweep whose levels make no curve.
    Levels(String),
    /// A figure that no run can bring.
    Beyond(String),
}

impl fmt::Display for ResultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CutShort { line } => {
                write!(f, "ends in the middle at line {line}: the file was cut short")
            }
            Self::Newer { schema, readable } => write!(
                f,
                "made by a newer plimsoll ({}); this one reads {readable}: \
                 update plimsoll, or measure again with this one",
                plain(schema, 40)
            ),
            Self::Other { schema: Some(schema), readable } => {
                write!(f, "its schema is {}, not {readable}", quote(schema))
            }
            Self::Other { schema: None, readable } => write!(
                f,
                "JSON without a `schema`: not a result of plimsoll; expected {readable}, \
                 as `plimsoll run --out DIR` and `plimsoll sweep` write it"
            ),
            Self::Malformed { line, column, what } => {
                write!(f, "line {line}, column {column}: {what}")
            }
            Self::Levels(what) | Self::Beyond(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for ResultError {}

/// Reads a `run.json`.
///
/// # Errors
/// See [`ResultError`].
pub fn load_run(bytes: &[u8]) -> Result<Run, ResultError> {
    load(bytes, run::SCHEMA)
}

/// Reads a `sweep.json`. Its levels come back ascending.
///
/// # Errors
/// See [`ResultError`]; a level that is not above zero or comes twice is one too.
pub fn load_sweep(bytes: &[u8]) -> Result<Sweep, ResultError> {
    let mut sweep: Sweep = load(bytes, sweep::SCHEMA)?;
    if let Some(held) = sweep.levels.iter().find(|held| held.level <= 0.0) {
        return Err(ResultError::Levels(format!("level {} is not above zero", held.level)));
    }
    sweep.levels.sort_by(|a, b| a.level.total_cmp(&b.level));
    let doubled = sweep.levels.windows(2).find(|pair| pair[0].level == pair[1].level);
    if let Some(pair) = doubled {
        let level = pair[0].level;
        return Err(ResultError::Levels(format!(
            "level {level} comes twice: remove one of the two from `levels`"
        )));
    }
    Ok(sweep)
}

/// Reads the `search.json` of a search for capacity.
///
/// # Errors
/// See [`ResultError`]; a level or setting that no search can have is one too.
pub fn load_search(bytes: &[u8]) -> Result<CapacitySearch, ResultError> {
    let search: CapacitySearch = load(bytes, capacity::SCHEMA)?;
    let levels = search.steps.iter().map(|held| held.step.level);
    let mut numbers = levels.chain(search.settings.most).chain([search.settings.precision]);
    match numbers.find(|number| !(number.is_finite() && *number > 0.0)) {
        Some(number) => Err(ResultError::Levels(format!("{number} is not above zero"))),
        None => Ok(search),
    }
}

fn load<T: DeserializeOwned>(bytes: &[u8], readable: &'static str) -> Result<T, ResultError> {
    let bytes = without_bom(bytes);
    if bytes.trim_ascii_start().first().is_some_and(|&byte| byte != b'{') {
        let what = format!("not a JSON object; expected {readable}");
        return Err(ResultError::Malformed { line: 1, column: 1, what });
    }
    declares(bytes, readable)?;
    // Before anything is made of it: long lists would take far more memory than their text.
    within_reach(bytes).map_err(ResultError::Beyond)?;
    serde_json::from_slice(bytes).map_err(|error| malformed(&error, bytes))
}

/// That a JSON text declares the schema that is read here.
///
/// # Errors
/// See [`ResultError`]: where it declares none, another or a newer one.
pub fn declares(bytes: &[u8], readable: &'static str) -> Result<(), ResultError> {
    let schema = schema_of(bytes)?;
    if schema == readable { Ok(()) } else { Err(refusal(schema, readable)) }
}

/// The name of the schema that a JSON text declares; empty when it declares none.
pub(crate) fn schema_of(bytes: &[u8]) -> Result<String, ResultError> {
    #[derive(Deserialize)]
    struct Head {
        #[serde(default)]
        schema: String,
    }
    match serde_json::from_slice::<Head>(bytes) {
        Ok(Head { schema }) => Ok(schema),
        // A `schema` of another type than text is as good as none, and nothing is built of it.
        Err(error) if error.classify() == Category::Data => Ok(String::new()),
        Err(error) => Err(malformed(&error, bytes)),
    }
}

pub(crate) fn without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

fn refusal(schema: String, readable: &'static str) -> ResultError {
    let version = |name: &str| {
        let (family, version) = name.split_once('/')?;
        Some((family.to_owned(), version.parse::<u32>().ok()?))
    };
    match (version(&schema), version(readable)) {
        (Some((name, version)), Some((wanted, known))) if name == wanted && version > known => {
            ResultError::Newer { schema, readable }
        }
        _ => {
            let schema = Some(schema).filter(|name| !name.is_empty());
            ResultError::Other { schema, readable }
        }
    }
}

fn malformed(error: &serde_json::Error, bytes: &[u8]) -> ResultError {
    let (line, column) = (error.line(), error.column());
    // To the parser, a cut inside a number or a word is a bad number or word, not the end of the file.
    let ends_open = error.is_syntax() && !bytes.trim_ascii_end().ends_with(b"}");
    if error.is_eof() || ends_open {
        return ResultError::CutShort { line };
    }
    let text = error.to_string();
    let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what);
    ResultError::Malformed { line, column, what: plain(what, 200) }
}

#[cfg(test)]
mod tests;
