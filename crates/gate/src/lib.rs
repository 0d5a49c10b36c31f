//! The gateway: requests are forwarded to upstreams where a key, the limits and the measured load line allow it.
//!
//! Two halves meet in [`policy`]. The data path asks it what to do with a request, and tells it what came of the
//! request; it never waits for anything there. Keys, configuration and the load line become a [`policy::Policy`] off
//! that path, which replaces the one before it in one step. What was served is counted in [`usage`].

mod access;
mod admin;
pub mod admission;
pub mod config;
mod connect;
mod escapes;
pub mod export;
pub mod gateway;
pub mod health;
pub mod keys;
mod limits;
mod lines;
pub mod path;
pub mod policy;
pub mod shared;
pub mod usage;
