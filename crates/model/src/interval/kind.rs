//! The kinds of responses that came in an interval, distinguished by status, media type, how the body begins
//! and how long it is, per endpoint. So a page of errors that comes with status 200 is seen.
//!
//! Only responses that succeeded are counted: the others are known as failures. Not here: the kinds of a
//! run over time ([`crate::kinds`]).

mod beginning;
mod place;

use serde::{Deserialize, Serialize};

use crate::units::Nanos;

pub use beginning::{BEGINNING, NO_BODY, begins, wording};
pub(crate) use place::merge;
pub use place::{Counted, MOST_KINDS, MOST_WORDINGS, place};

/// What distinguishes kinds.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Look {
    /// HTTP status.
    pub status: u16,
    /// A hash of the media type without its parameters; 0 where there is none.
    pub media_type: u32,
    /// What the body begins with, see [`begins`].
    pub begins: u32,
    /// The words it begins with, see [`wording`]: told apart while an endpoint has few of them. 0 where
    /// they are not: of an endpoint either all kinds have one or none.
    #[serde(default)]
    pub wording: u32,
}

impl Look {
    /// The same, whatever the wording.
    #[must_use]
    pub const fn plain(self) -> Self {
        Self { wording: 0, ..self }
    }

    /// Its status and media type alone.
    #[must_use]
    pub const fn typed(self) -> Self {
        Self { begins: 0, ..self.plain() }
    }
}

/// A class for the length of a body: the binary digits of the number of its bytes.
#[inline]
pub const fn length_class(bytes: u64) -> u8 {
    (u64::BITS - bytes.leading_zeros()) as u8
}

/// One kind of response in one interval.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KindTally {
    /// Index into the plan's endpoints; 0 for a load of one request.
    pub endpoint: u32,
    /// What it looks like.
    pub look: Look,
    /// See [`length_class`].
    pub length: u8,
    /// How many came.
    #[serde(rename = "answers")]
    pub responses: u64,
    /// When the first and the last was whole, since the run's start.
    pub first_ns: Nanos,
    /// See `first_ns`.
    pub last_ns: Nanos,
    /// Shortest and longest body.
    pub least_bytes: u64,
    /// See `least_bytes`.
    pub most_bytes: u64,
    /// Sum of done - sent.
    pub service_sum_ns: u64,
    /// How many came after a response of another look, as the worker saw them that received them.
    pub turns: u64,
    /// How one body began, control characters escaped.
    pub beginning: Option<String>,
    /// The media type in words.
    pub media_type: Option<String>,
}

impl KindTally {
    pub(crate) fn add(&mut self, other: &Self) {
        if other.responses == 0 {
            return;
        }
        if self.responses == 0 {
            (self.first_ns, self.least_bytes) = (other.first_ns, other.least_bytes);
        }
        self.first_ns = self.first_ns.min(other.first_ns);
        self.last_ns = self.last_ns.max(other.last_ns);
        self.least_bytes = self.least_bytes.min(other.least_bytes);
        self.most_bytes = self.most_bytes.max(other.most_bytes);
        self.responses = self.responses.saturating_add(other.responses);
        self.service_sum_ns = self.service_sum_ns.saturating_add(other.service_sum_ns);
        self.turns = self.turns.saturating_add(other.turns);
        if self.beginning.is_none() {
            self.beginning.clone_from(&other.beginning);
        }
        if self.media_type.is_none() {
            self.media_type.clone_from(&other.media_type);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_classed_by_their_binary_digits() {
        assert_eq!([0, 1, 15, 16, 35].map(length_class), [0, 1, 4, 5, 6]);
    }
}
