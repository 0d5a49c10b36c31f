//! The access log: a line for each request, written off the path of requests.
//!
//! A worker puts what it knows of a request into a page of bytes ([`PageWriter`]); full pages wait in a [`PageQueue`] of
//! fixed size until the log's thread ([`Writer`]) makes lines of them. Where that thread is behind, requests are left out
//! of the log and counted. Neither keys nor values that look like credentials are written.

mod entry;
mod format;
mod page_queue;
mod writer;

pub(crate) use entry::Entry;
pub use format::LogFormat;
pub use page_queue::{LogCounts, PageQueue, PageWriter};
pub use writer::Writer;
