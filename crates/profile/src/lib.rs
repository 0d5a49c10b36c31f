//! Profiles of servers: read from whatever wrote them, listed as `go tool pprof` lists them, charged to those who
//! caused the cost and to the requests that were served, compared, and used to predict what a change would bring.
//!
//! Pure: the caller fetches and opens profiles, and prints what comes of them. A profile is read into memory whole,
//! within the bounds of [`data`]; what is larger is refused.

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
