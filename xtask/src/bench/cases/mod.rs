//! What is measured: one function a case, by topic.
//!
//! The limits are those that the project set itself; bench/README.md explains each.

pub mod closed;
pub mod fill;
pub mod gate;
pub mod hold;
pub mod instructions;
pub mod mine;
pub mod open;
pub mod passage;
pub mod profile;
pub mod scale;
pub mod sizes;
pub mod traffic;
