//! `plimsoll fill` against real databases: what it writes keeps every rule, comes again with the same seed, goes on
//! after a kill, and goes away without a trace.

mod ctrl_c;
pub mod engines;
mod planner;
mod refused;
mod secure;
mod shop;
mod stopped;
mod times;
mod wishes;
