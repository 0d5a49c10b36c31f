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

use crate::failure::{Failure, usage};

/// Name and value of a header field, as `flag` takes it.
///
/// # Errors
/// When it has no colon.
pub fn header_field<'a>(flag: &str, text: &'a str) -> Result<(&'a str, &'a str), Failure> {
    match text.split_once(':') {
        Some((name, value)) => Ok((name.trim(), value.trim_matches([' ', '\t']))),
        // It may be a credential: it is not repeated.
        None => usage(format!("{flag}: a field without a colon: write it as 'Name: value'")),
    }
}
