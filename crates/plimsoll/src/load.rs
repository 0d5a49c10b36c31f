//! From a command line to a plan: what a load sends, its settings, and what the engine needs to run it.
//!
//! Owns the reading of the workload files, pools and scripts that a load names, and continuing the pools of an earlier
//! load (`cursors`). Does not own the flags (`args`) nor running the plan (`runs`).

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
