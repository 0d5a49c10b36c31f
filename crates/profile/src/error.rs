//! Why a profile could not be read or a listing not be made, in words for the person who asked for it.

use std::fmt;

/// What is wrong with a profile, or with what was asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// There are no bytes.
    Empty,
    /// It has more of something than is read.
    TooLarge {
        /// Of what.
        what: &'static str,
        /// How many of them are read at most.
        most: usize,
    },
    /// Its gzip stream is damaged or cut off.
    Gzip(String),
    /// It is a pprof protobuf that contradicts itself or ends too early.
    Damaged {
        /// What is wrong.
        what: String,
        /// The byte of the unpacked profile at which that was seen.
        at: usize,
    },
    /// It is of no format that is known; the text says what it looks like and what to do.
    NotAProfile(&'static str),
    /// No such kind of value is in the profile.
    NoSuchValue {
        /// As asked for.
        asked: String,
        /// The kinds that are there.
        known: Vec<String>,
    },
    /// A pattern is no regular expression.
    Pattern {
        /// Which one, such as `focus`.
        of: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// Nothing has this name.
    NoMatch {
        /// As asked for.
        asked: String,
        /// The nearest names that are there.
        near: Vec<String>,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("is empty: no profile was written"),
            Self::TooLarge { what, most } => {
                write!(
                    f,
                    "has more than {most} {what}, which is all that is read: take a shorter profile"
                )
            }
            Self::Gzip(why) => {
                write!(f, "its compression is damaged or cut off ({why}): fetch it again")
            }
            Self::Damaged { what, at } => {
                write!(
                    f,
                    "is not a complete pprof profile: {what} (byte {at} of the unpacked profile): fetch it again"
                )
            }
            Self::NotAProfile(looks) => f.write_str(looks),
            Self::NoSuchValue { asked, known } => {
                write!(f, "has no values `{asked}`: it has {}", known.join(", "))
            }
            Self::Pattern { of, why } => write!(f, "--{of}: {why}"),
            Self::NoMatch { asked, near } if near.is_empty() => {
                write!(f, "no function of the profile matches `{asked}`")
            }
            Self::NoMatch { asked, near } => {
                write!(
                    f,
                    "no function of the profile matches `{asked}`; similar: {}",
                    near.join(", ")
                )
            }
        }
    }
}

impl std::error::Error for Error {}
