//! The access log: a line for each request, written off the path of requests.
//!
//! A worker writes the facts of a request into a page of bytes ([`PageWriter`]); full pages wait in a [`PageQueue`] of
//! fixed size until the log's thread ([`Writer`]) formats them as lines. If that thread cannot keep up, requests are left out
//! of the log and counted. Neither keys nor values that look like credentials are written.

mod entry;
mod format;
mod page_queue;
mod writer;

pub(crate) use entry::Entry;
pub use format::LogFormat;
pub use page_queue::{LogCounts, PageQueue, PageWriter};
pub use writer::Writer;
