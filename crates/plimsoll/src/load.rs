//! From a command line to a plan: what a load sends, what was asked for and what holds, and what the engine
//! needs to carry it out.
//!
//! Owns the reading of workload files, pools and scripts that a load names, and how far a load that follows
//! another one goes on where that ended (`cursors`). Does not own the flags (`args`).

pub mod address;
pub mod allowed_files;
pub mod body;
pub mod cursors;
pub mod input;
pub mod objectives;
pub mod plan;
pub mod pool_file;
pub mod pool_index;
pub mod prepared;
mod room;
pub mod script_run;
pub mod settings;
pub mod shape;
pub mod stand_in;
pub mod tls;
pub mod workload_file;
