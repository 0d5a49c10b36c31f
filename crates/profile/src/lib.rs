//! Profiles of servers: reads the formats of several profilers, lists functions as `go tool pprof` does, attributes costs
//! to owners, layers and requests, compares profiles, and predicts what a change would bring.
//!
//! Pure: the caller fetches and opens profiles, and prints the results (`report`). A profile is read into memory whole,
//! within the bounds of [`data`]; a larger one is refused.

mod collapsed;
pub mod compare;
pub mod costs;
mod cpuprofile;
pub mod data;
mod error;
mod filter;
mod flame;
mod functions;
mod graph;
mod listing;
mod names;
mod owner;
mod perf_script;
mod pprof;
mod protobuf;
mod prune;
mod read;
mod roles;
mod text;
mod units;
pub mod whatif;

pub use data::Profile;
pub use error::Error;
pub use filter::Filter;
pub use flame::{flame, flame_of_change};
pub use graph::Granularity;
pub use listing::{Form, Listing, Wanted};
pub use read::{LARGEST, read};
