//! Carries out a plan: what the engine needs goes in, a judged run comes out.
//!
//! Owns the middle of every command that makes load, without a command line, a terminal or a result folder: intervals
//! from the engine become a [`model::Run`], with what the machine did beside them; the journal keeps them as they come.
//! Whoever wants to see or change what comes is an [`Observer`]. Does not own what is sent and when (`traffic`,
//! `engine`), nor what a run is worth (`verdict`).

pub mod beside;
pub mod clock;
pub mod files;
pub mod journal;
pub mod machine;
mod run;

pub use run::{Observer, run};
