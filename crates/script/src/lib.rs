//! wrk's scripts, run unchanged: a LuaJIT host that is a [`traffic::Source`].
//!
//! Owns wrk's Lua interface: one state per worker and one for `setup` and `done`, the hooks and the order
//! in which they are called, what a script may do to the workers, and the watchdog for hooks that do not
//! return. Does not own when a request leaves and what is counted (`engine`), nor the results: the
//! command passes a [`Summary`] and [`Stats`] for `done`.
//!
//! [`Script`] is the file and its inputs; [`Script::begin`] makes a [`Session`] and a source for each
//! worker; after the run [`Session::done`] closes it. A [`Watchdog`] limits the time of every call.

mod address;
mod error;
mod file;
mod hook;
mod lua_state;
mod requests;
mod responses;
mod session;
mod source;
mod stats;
mod thread;
mod watchdog;

pub use error::ScriptError;
pub use file::{Printed, Script, Site};
pub use hook::{HOOK_LIMIT, Hook, LOAD_LIMIT, MEMORY_LIMIT};
pub use session::{Session, Summary, SummaryErrors};
pub use source::Scripted;
pub use stats::Stats;
pub use watchdog::{Overrun, Watchdog};
