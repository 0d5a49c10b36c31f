//! The person in front: what is printed, the live line, Ctrl-C.

// First, for its macros.
#[macro_use]
pub mod screen;

pub mod live;
pub mod signals;
