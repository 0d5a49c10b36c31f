//! Fills a database with realistic rows: PostgreSQL, MySQL and MariaDB, SQLite.
//!
//! [`survey()`] reads the schema and statistics of a database into [`Facts`]; [`Rows`] makes rows from them without any
//! I/O; [`try_out`] tries a few rows, [`work`] writes them in batches, and [`clean()`] removes them again. Fills are
//! recorded in the database itself (`ledger`). Does not own the command line nor what is printed (`plimsoll`).

mod check;
mod clean;
mod computed;
mod content;
mod database;
mod draw;
mod error;
mod facts;
mod found;
mod guard;
mod kind;
mod learn;
pub mod ledger;
mod pace;
mod plan;
pub mod pools;
mod refusal;
mod rows;
mod schema;
mod spread;
mod survey;
mod times;
mod trial;
mod value;
mod words;
pub mod work;

pub use clean::{Cleaned, INTERRUPTED as CLEAN_INTERRUPTED, Replaced, clean};
pub use database::{
    Address, Canceller, Database, Environment, all, column_list, connect, masked, selected,
};
pub use error::{Error, Result};
pub use facts::Facts;
pub use guard::{Look, MARKS, alone, check as guard};
pub use ledger::Fill;
pub use plan::{Size, Wish};
pub use pools::PoolColumn;
pub use rows::Rows;
pub use schema::{Dialect, Schema, Table};
pub use survey::{Request, SlowRemoval, Survey, looked_through, slow_removals, survey};
pub use times::parse_date;
pub use trial::try_out;
pub use value::Value;
pub use words::LOCALES;
pub use work::{INTERRUPTED, Progress, fill};
