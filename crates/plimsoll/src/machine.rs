//! What the machine is, and what it does beside the load: limits, processors, neighbours, fonts.

pub mod calibrations;
pub mod fonts;
