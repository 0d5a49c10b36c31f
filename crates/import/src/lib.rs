//! Files to results and to workloads. Bytes in, values of `model` or an error that says what is wrong and where;
//! the caller reads the file and puts its name before the error.
//!
//! - [`results`]: our own results: `run.json`, `sweep.json` and `search.json`, and the four-column table of
//!   wrktest.sh.
//! - [`mod@claims`]: results of any tool, Plimsoll included, as rows of what they claim.
//! - [`requests`]: requests of third-party tools (curl, vegeta, HAR, OpenAPI, Postman) to a workload.
//! - [`workload`]: workload files, with the place of every value.
//!
//! Below the last two is `document`: JSON and YAML as trees with places.
//!
//! What is loaded goes on to `verdict` (comparison, audit) and `report`. Every input is hostile: nothing
//! here panics, and nothing from a file reaches an error message unescaped or at length.

mod bad_file;
pub mod claims;
mod document;
pub mod requests;
pub mod results;
pub mod workload;

pub use bad_file::BadFile;
pub use claims::claims;
pub use results::{
    Kind, ResultError, dat, declares, detect, load_run, load_search, load_sweep, within_reach,
};
