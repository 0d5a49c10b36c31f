//! The built-in API server: a fast baseline to compare other servers with, queues of known
//! capacity, and faults on demand.
//!
//! Threads share nothing but a port (`SO_REUSEPORT`) and, for `/queue` only, a lock: each is a
//! [`Worker`] driven by its own net. Bytes come from `net` and are parsed by `wire`; responses
//! go back to `net`. What was served is counted here and returned to the caller as [`Served`].
//!
//! * `options`, `server`: the options, and the threads that serve.
//! * `worker`, `exchange`, `slow_responses`: a connection's events, its requests and responses, and the responses
//!   that take time. `conn`, `context`, `timers` and `stall` are their state.
//! * `route`, `query`, `fault`: what a path means.
//! * `response`, `counters`, `queue`, `shop`, `certificate`: bytes of responses, counters, the queue model, an API
//!   with a login, TLS.
//!
//! A [`Worker`] works on any [`net::Net`], the simulated one included.

mod certificate;
mod conn;
mod context;
mod counters;
mod exchange;
mod fault;
mod options;
mod query;
mod queue;
mod response;
mod route;
mod server;
mod shop;
mod slow_responses;
mod stall;
mod timers;
mod worker;

pub use context::Shared;
pub use counters::{PathCount, Served};
pub use fault::Fault;
pub use options::{Options, Stall, StartError, Tls};
pub use queue::{Distribution, Queue, QueueKey};
pub use server::Server;
pub use worker::Worker;
