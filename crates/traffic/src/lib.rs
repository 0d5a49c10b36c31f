//! Generates requests: compiles workloads and plays them.
//!
//! Owns the trait [`Source`] from which the engine takes its requests, the meaning of workloads
//! ([`compile()`]), and playing them. Does not own when a request leaves, connections, or counting
//! (`engine`), the syntax of workload files (`import`), nor that of HTTP (`wire`). Pure: files, the
//! environment and the time are passed in as values, and the same seed gives the same requests.

mod always;
mod body_budget;
mod check;
mod coded_bodies;
mod compile;
mod content_coding;
mod draw;
mod escape;
mod expect;
mod expression;
mod finding;
mod keeps_cookies;
mod play;
mod pool;
mod program;
mod source;
mod value;

pub use always::Always;
pub use coded_bodies::CodedBodies;
pub use compile::{Compiled, Inputs, Pools, Sample, compile};
pub use expect::{BodyLike, Expect, Expecting};
pub use finding::{CompileError, Finding};
pub use keeps_cookies::KeepsCookies;
pub use pool::{
    Damaged, IndexHead, Indexing, KeptRanges, Place, PoolFile, RECORD_BYTES, RangeStore, RowFile,
    RowIndex, RowRange,
};
pub use source::{
    Completed, Fixed, Halt, LONGEST_REQUEST, NO_USER, Next, Part, Payload, Requests, Session,
    Skipped, Source, Supply, Turn, Wants, WorkerPlace, asks_to_close,
};
