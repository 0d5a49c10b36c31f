//! Files to results. Bytes in, values of `model` or an error that says what is wrong and where;
//! the caller reads the file and puts its name before the error.
//!
//! - [`dat`]: the four-column table of wrktest.sh, read and printed.
//! - [`results`]: `run.json` and `sweep.json`.
//! - [`mod@detect`]: which of them some bytes are.
//!
//! What is loaded goes on to `verdict` (comparison) and `report`. Every input is hostile: nothing
//! here panics, and nothing from a file reaches an error message unescaped or at length.

pub mod dat;
pub mod detect;
mod quote;
pub mod results;

pub use dat::DatError;
pub use detect::{Kind, detect};
pub use results::{ResultError, load_run, load_sweep};
