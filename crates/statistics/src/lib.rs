//! How uncertain figures are: confidence intervals, distributions, fits. Numbers in, numbers out: this crate knows
//! nothing of HTTP.
//!
//! Consecutive samples are not independent: a slow moment slows many requests. Within a run, figures
//! are compared between blocks of time ([`estimate`]), and blocks that resemble their neighbours count
//! for less ([`autocorrelation`]). Between runs, each run is one sample: [`student`] is for means of
//! rounds. [`proportion`] is for counts that are independent by design. [`trend`] is a series without
//! its outliers, [`usl`] fits the Universal Scalability Law.
//!
//! Everything is deterministic. Does not own what an interval means for a result (`verdict`).

pub mod autocorrelation;
pub mod distribution;
pub mod estimate;
pub mod order;
pub mod proportion;
pub mod student;
pub mod trend;
pub mod usl;

pub use distribution::Distribution;
pub use estimate::{Estimate, NoInterval};
