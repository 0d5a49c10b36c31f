//! What the machine is, and what it does beside the load: limits, processors, neighbours, fonts.

pub mod calibrations;
pub mod environment;
pub mod fonts;
pub mod watch;
