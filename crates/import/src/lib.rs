//! Files to results and to workloads. Bytes in, values of `model` or an error that says what is wrong and where;
//! the caller reads the file and puts its name before the error.
//!
//! - [`dat`]: the four-column table of wrktest.sh, read and printed.
//! - [`results`]: `run.json`, `sweep.json` and `search.json`.
//! - [`mod@detect`]: which of them some bytes are.
//! - [`mod@claims`]: results of any tool, ours too, as rows of what they claim.
//! - [`foreign`]: other tools' requests (curl, vegeta, HAR, OpenAPI, Postman) to a workload.
//! - [`workload`]: workload files, with the place of every value.
//!
//! What is loaded goes on to `verdict` (comparison, audit) and `report`. Every input is hostile: nothing
//! here panics, and nothing from a file reaches an error message unescaped or at length.

mod bad_file;
pub mod claims;
pub mod dat;
pub mod detect;
mod document;
mod figure;
pub mod foreign;
mod reach;
pub mod results;
pub mod workload;

pub use bad_file::BadFile;
pub use claims::{claims, known_formats};
pub use dat::DatError;
pub use detect::{Kind, detect};
pub use reach::within_reach;
pub use results::{ResultError, load_run, load_search, load_sweep};
