//! How far figures can be off.
//!
//! Requests of one run follow on one another: a slow moment slows many. So no request here counts
//! as an independent sample. Within a run, figures are compared between its blocks
//! (`stretches` reads them, `estimate` makes intervals), and blocks that follow on one another
//! count for less ([`autocorrelation`]). Between runs, each run is one sample: [`rank`] and
//! [`order`] assume no shape, [`student`] is for means of rounds. [`proportion`] is for counts that
//! are independent by design.
//!
//! Everything is deterministic. What the intervals mean for a run is decided elsewhere.

pub mod autocorrelation;
pub mod estimate;
pub mod order;
pub mod proportion;
pub mod rank;
pub mod stretches;
pub mod student;

pub use estimate::{Estimate, Figure, NoInterval, Time, estimate};
pub use order::OrderInterval;
pub use rank::{RankTest, mann_whitney};
pub use stretches::{Stretch, stretches, stretches_of};
