//! Carrying out plans: one run, or several one after the other.

pub mod execute;
pub mod series;
