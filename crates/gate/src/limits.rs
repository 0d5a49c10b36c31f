//! Limits: rates with bursts, quotas of calendar periods, requests at once.
//!
//! Pure: each is an atomic to which the caller passes the instant and the rule. If a limit is used up, nothing is taken, so a
//! refusal does not count towards a client's limits.

mod at_once;
mod calendar;
mod gcra;
mod quota;

pub use at_once::AtOnce;
pub(crate) use calendar::MONTHS;
pub use calendar::{Calendar, Periods, date};
pub use gcra::{Gcra, Rate};
pub use quota::Quota;
