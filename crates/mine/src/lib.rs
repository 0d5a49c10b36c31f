//! Access logs to workloads: how a log's lines are read, which endpoints its paths belong to, when most requests
//! came, who asked and how, and what that makes of a load for so many users.
//!
//! Pure: the caller opens files, decompresses them and hands over whole lines, twice. The first reading
//! ([`Survey`]) finds the peak and the templates of paths, the second ([`Tally`]) counts what came of each and
//! gathers the values of parameters. Parts of a log may be read by several threads and put together. [`outcome`]
//! makes figures ([`model::Mined`]), a [`model::Workload`] and its pools of the two.
//!
//! Memory is bounded whatever the log holds; where a figure is an estimate because of that, it says so. Addresses
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
