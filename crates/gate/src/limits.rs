//! Limits: rates with bursts, quotas of calendar periods, requests at once.
//!
//! Pure: each is an atomic that is asked with the instant and the rule. What cannot be had is not taken, so a refusal
//! costs a client nothing of its limits.

mod at_once;
mod calendar;
mod gcra;
mod quota;

pub use at_once::AtOnce;
pub use calendar::{Calendar, Periods, date};
pub(crate) use calendar::{MONTHS, day_begins_s};
pub use gcra::{Gcra, Rate};
pub use quota::Quota;
