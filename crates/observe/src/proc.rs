//! Parsers of the files in which Linux describes a machine and its processes. Pure: text or bytes in, values into a
//! sample.
//!
//! A field that is missing or not a number is left out, and the rest is read: kernels and containers differ.

pub mod kmsg;
pub mod memory;
pub mod network;
pub mod processes;
pub mod processors;
pub mod sockets;

/// The kernel's tick in `/proc`: a hundredth of a second wherever Linux runs today.
pub const TICK_NS: u64 = 10_000_000;

#[cfg(test)]
mod tests;
