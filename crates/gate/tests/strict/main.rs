//! Strictness: a case for each rule, over raw sockets, against the gateway; and the same cases against nginx and
//! HAProxy, where they are installed, for comparison.
//!
//! A case is the bytes of one connection, and either the status that the last of its requests is refused with, or
//! what reaches the upstream. The upstream answers each request with the bytes of it that it received, so that a case
//! sees what was forwarded. It shares no code with the gateway.

mod case;
mod cases;
mod compare;
mod differential;
mod harness;
mod mirror;
mod routes;
