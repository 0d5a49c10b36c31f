//! The terminal: output, the live line, Ctrl-C.

// First, for its macros.
#[macro_use]
pub mod screen;

pub mod live;
pub mod signals;
