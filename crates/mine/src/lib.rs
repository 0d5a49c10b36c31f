//! Makes workloads of access logs. Owns the formats of log lines, the grouping of paths into endpoints, the search for the
//! busiest period, sessions of clients, and the scaling to a number of users.
//!
//! Pure: the caller opens files, decompresses them and passes in whole lines, twice. The first reading
//! ([`Survey`]) finds the peak and the templates of paths, the second ([`Tally`]) counts the requests of each and
//! collects the values of parameters. Several threads may read parts of a log; their results are merged. [`outcome`]
//! turns both readings into figures ([`model::Mined`]), a [`model::Workload`] and its pools.
//!
//! Memory is bounded whatever the log contains; a figure that is an estimate for that reason says so. Client addresses
//! are hashed as they are read, and no part of them leaves this crate.

mod address;
mod chain;
mod distinct;
mod filter;
mod fit;
mod format;
mod given;
mod hit;
mod lines;
mod outcome;
mod parallel;
mod pools;
mod repeated;
mod rows;
mod sample;
mod scale;
mod seconds;
mod segment;
mod survey;
mod tally;
mod template;
mod time;
mod trie;
mod visits;
mod words;

pub use filter::Filter;
pub use format::{Format, NAMES, Reader};
pub use given::Given;
pub use hit::{Bad, Hit, Took};
pub use outcome::{Outcome, Wanted, outcome};
pub use parallel::{Each, in_turn};
pub use sample::masked as masked_line;
pub use scale::Scale;
pub use survey::{Survey, Surveyed};
pub use tally::Tally;
pub use template::{Piece, Template, Templates};
pub use time::Stamp;

/// What some programs begin a text in UTF-8 with.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Bytes of a line that is read at most: 64 KiB. Servers refuse requests whose line alone is that long.
pub const LONGEST_LINE: usize = 64 << 10;
