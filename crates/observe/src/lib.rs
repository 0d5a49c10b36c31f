//! Watches machines, processes and services, and returns the readings as [`model::Sample`]s.
//!
//! - [`proc`]: parsers of `/proc`, cgroups and `sock_diag`: text or bytes in, values out.
//! - [`host`], [`process`]: read those files for one machine, and for the processes of a server.
//! - `kernel_log`: messages of the kernel during a run. `jvm`: a JVM's counters of its locks.
//! - [`server`]: which processes listen at the measured address. [`cgroup`]: what a quota costs.
//! - [`source`]: the syntax of a source on the command line.
//! - [`sources`]: a reader for each kind of source: this machine, a command, a page of metrics, a database.
//! - [`plans`]: the execution plans of the statements that were seen in a watched database.
//! - [`watcher`]: reads sources at a fixed interval, each on its own thread.
//!
//! Does not own what the figures mean (`verdict`) nor how they are shown (`report`). All input is bounded.

mod awaited;
pub mod cgroup;
mod dial;
pub mod host;
pub mod http;
mod jvm;
mod kernel_log;
pub mod plans;
pub mod proc;
pub mod process;
pub mod server;
pub mod source;
pub mod sources;
mod text;
pub mod watcher;

pub use source::{Kind, Source, SourceError};
pub use watcher::{Reading, Watcher};
