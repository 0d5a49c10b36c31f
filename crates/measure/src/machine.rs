//! What the generator's machine is, and what it does beside the load: read from `/proc`, cgroups and the clocks.

mod environment;
mod pulse;
mod watch;

pub use environment::{memory_available, read as environment};
pub(crate) use watch::Watch;
