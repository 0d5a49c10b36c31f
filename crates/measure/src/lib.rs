//! Runs a plan: takes what the engine needs, and returns a judged run.
//!
//! Owns the part that all commands which make load have in common, without command line, terminal or result folder: it
//! turns the engine's intervals into a [`model::Run`], adds what the machine did meanwhile, and keeps the journal. A caller
//! that wants to see intervals as they come, or to stop the run, passes an [`Observer`]. Does not own what is sent and
//! when (`traffic`, `engine`), nor the rules by which a run is judged (`verdict`).

pub mod beside;
pub mod clock;
pub mod files;
pub mod journal;
pub mod machine;
mod run;

pub use run::{Observer, run};
