//! What was served, by key and route: counted by each worker, merged off the path of requests, reported in batches.
//!
//! Data goes from a worker's [`Local`] over the [`Hub`] (once a second, a table of fixed size for an empty one) to a
//! [`Collector`], which merges and hands batches to a [`Sink`] on a thread of its own. Memory is bounded at every
//! place; what finds no room is counted as dropped, so that always served = reported + pending + dropped. A sink that
//! stands still delays nothing but its own reports.

mod buckets;
mod by_key;
mod collector;
mod http;
mod json_lines;
mod local;
mod quota_reached;
mod quota_used;
mod sqlite;
mod sum;
mod table;

pub use buckets::{BUCKETS, Buckets, bucket_of, longest_ns};
pub use by_key::{ByKey, KeySum};
pub use collector::{Account, Batch, Collector, Reader, Reporter, Second, Sink, Snapshot};
pub use http::HttpSink;
pub use json_lines::JsonLines;
pub use local::{Hub, Local};
pub use quota_reached::{Reached, ReachedTable, Whose, reached};
pub use quota_used::Counted;
pub(crate) use sqlite::has_table;
pub use sqlite::{Period, Sqlite, UsageRow, read, used_by_key, used_by_route};
pub use sum::Sum;
