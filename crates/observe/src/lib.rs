//! Watches machines, processes and services, and gives what it reads as [`model::Sample`]s.
//!
//! - [`proc`]: parsers of `/proc`, cgroups and `sock_diag`: text or bytes in, values out.
//! - [`host`], [`process`]: read those files for one machine, and for the processes of a server.
//! - `kernel_log`: what the kernel logs meanwhile. `jvm`: what a JVM counts of its locks.
//! - [`server`]: who listens at the address that is measured. [`cgroup`]: what a quota costs.
//! - [`source`]: how a source is written on the command line.
//! - [`sources`]: each kind of source read: this machine, a command, a page of figures, a database.
//! - [`plans`]: how a watched database would carry out the statements that it was seen with.
//! - [`watcher`]: sources read at a steady pace, each on its own thread.
//!
//! Does not own what figures mean (`verdict`) nor how they are shown. Everything that is read is bounded.

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
