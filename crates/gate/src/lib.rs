//! The gateway: forwards requests to upstreams if the key, the limits and the measured load line allow it.
//!
//! Two halves meet in [`policy`]. The data path ([`mod@path`]) asks it for a decision on each request and reports the
//! outcome; it never waits there. The control side ([`gateway`]) builds a [`policy::Policy`] from keys, configuration and
//! load line, and replaces the previous one in a single step. What was served is counted in [`usage`].
//!
//! Does not own sockets (`net`), HTTP syntax (`wire`), TLS (`tls`), nor the command line (`plimsoll`).

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
mod locks;
pub mod path;
pub mod policy;
pub mod shared;
pub mod usage;
