//! What is wrong with a file, and where.

use std::fmt;

use crate::document;
use crate::results::ResultError;
use model::quote::plain;

/// Why a file could not be read. It is the file that is to blame; the caller names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadFile {
    /// The line it is about, from 1; absent when it is about the whole file or said in the text.
    pub line: Option<usize>,
    /// What is wrong there, and what to do.
    pub what: String,
}

impl BadFile {
    pub(crate) fn at(line: usize, what: impl Into<String>) -> Self {
        Self { line: Some(line), what: what.into() }
    }

    pub(crate) fn whole(what: impl Into<String>) -> Self {
        Self { line: None, what: what.into() }
    }

    /// Of a document, whose text is needed to tell the place.
    pub(crate) fn of_document(text: &str, fault: document::Fault) -> Self {
        let (line, column) = document::place(text, fault.at);
        Self::at(line, format!("column {column}: {}", fault.what))
    }

    /// Of JSON that another program writes.
    pub(crate) fn json(error: &serde_json::Error) -> Self {
        if error.is_eof() {
            return Self::at(
                error.line(),
                "the file ends in the middle of its JSON: it was cut short",
            );
        }
        let text = error.to_string();
        let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what);
        Self::at(error.line(), plain(what, 200))
    }
}

impl fmt::Display for BadFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

impl std::error::Error for BadFile {}

impl From<ResultError> for BadFile {
    fn from(error: ResultError) -> Self {
        Self::whole(error.to_string())
    }
}
