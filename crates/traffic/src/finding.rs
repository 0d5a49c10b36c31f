//! Errors in a workload, with their places.

use std::cell::RefCell;
use std::fmt;
use std::ops::Range;

/// The most findings reported for one workload.
const MOST: usize = 100;

/// One error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The value it is about: names and positions from 0, such as `endpoints/2/path`; `~1` stands for
    /// a `/` in a name and `~0` for a `~`.
    pub path: String,
    /// The bytes of that value's text, if it is about a part of it.
    pub part: Option<Range<usize>>,
    /// What is wrong, and what to do.
    pub what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.what)
    }
}

/// Why a workload cannot be run: errors of the user's input. At least one finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileError {
    /// All findings, in the order in which they were made.
    pub findings: Vec<Finding>,
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, finding) in self.findings.iter().enumerate() {
            write!(f, "{}{finding}", if at > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}

impl std::error::Error for CompileError {}

/// Collects findings from all parts of the compiler.
#[derive(Debug, Default)]
pub(crate) struct Findings(RefCell<Vec<Finding>>);

impl Findings {
    pub(crate) fn add(&self, path: &str, what: impl Into<String>) {
        self.add_at(path, None, what);
    }

    pub(crate) fn add_at(&self, path: &str, part: Option<Range<usize>>, what: impl Into<String>) {
        let finding = Finding { path: path.to_owned(), part, what: what.into() };
        let mut found = self.0.borrow_mut();
        if found.len() < MOST && !found.contains(&finding) {
            found.push(finding);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    pub(crate) fn into_error(self) -> CompileError {
        CompileError { findings: self.0.into_inner() }
    }
}

/// The path of a value inside of another.
pub(crate) fn inside(path: &str, name: &str) -> String {
    format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"))
}
