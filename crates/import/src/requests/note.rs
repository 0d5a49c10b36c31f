//! Notes on an import: what was left out, replaced or assumed, a line each.

use std::fmt;

use model::quote::plain;

/// Notes kept at most; further ones are counted.
pub(super) const MOST_NOTES: usize = 2_000;

/// Characters of a note at most.
const LONGEST: usize = 400;

/// What a note reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Something in the file has no place in the workload.
    NotCarriedOver,
    /// A credential was replaced by an environment variable.
    Secret,
    /// Something the file leaves open was filled in, or was carried over in another form.
    Assumed,
}

/// The part of the workload that a note is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Anchor {
    /// All of it, or what is missing from it.
    Workload,
    /// The endpoint at this index.
    Endpoint(usize),
    /// The flow at this index.
    Flow(usize),
    /// Of the flow at this index, the step at that one.
    Step(usize, usize),
}

/// One line about an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What it reports.
    pub kind: Kind,
    /// The place in the file: `line 3`, `entry 12`, `GET /pets`; empty for all of it.
    pub place: String,
    /// What it is, on one line.
    pub what: String,
    /// The part of the workload it is about.
    pub anchor: Anchor,
}

impl Note {
    /// A note on the whole of a file; what it is and where are put on one line.
    pub fn new(kind: Kind, place: impl Into<String>, what: impl AsRef<str>) -> Self {
        let (place, what) = (plain(&place.into(), LONGEST), plain(what.as_ref(), LONGEST));
        Self { kind, place, what, anchor: Anchor::Workload }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            Kind::NotCarriedOver => "not converted: ",
            Kind::Secret => "secret: ",
            Kind::Assumed => "note: ",
        })?;
        match self.place.as_str() {
            "" => f.write_str(&self.what),
            place => write!(f, "{place}: {}", self.what),
        }
    }
}
