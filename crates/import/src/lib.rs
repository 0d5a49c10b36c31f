//! Parses files into results and workloads. Bytes in; values of `model` out, or an error that says what is wrong and
//! where. The caller reads the file, and puts its name before the error.
//!
//! - [`results`]: Plimsoll's own results (`run.json`, `sweep.json`, `search.json`), and the four-column table of
//!   wrktest.sh.
//! - [`mod@claims`]: results of any tool, Plimsoll included, as rows of claimed figures.
//! - [`requests`]: requests of other tools (curl, vegeta, HAR, OpenAPI, Postman), as a workload.
//! - [`workload`]: workload files, with the place of every value.
//!
//! Below the last two is `document`: JSON and YAML as trees with places.
//!
//! Does not judge what it reads (`verdict`), nor compile workloads (`traffic`). Every input is taken for hostile: nothing
//! here panics, and text from a file is escaped and shortened before it reaches an error message.

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
