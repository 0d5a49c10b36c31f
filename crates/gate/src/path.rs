//! The data path: clients' connections, requests to upstreams, and the responses back. It does not decide who may ask.
//!
//! Workers share only the policy, the servers' health and the number of connections of each address. Each is a handler
//! on its own net, with its own listener on the shared port. The path of a request allocates, locks and formats nothing
//! once the buffers of its connections are made.
//!
//! * Workers: `server` starts and stops them, `shared` is what they share, `worker` has the table of connections and
//!   their events, `timeouts` the deadlines and draining, `idle_eviction` makes room for new connections.
//! * From client to upstream: `from_client` reads requests, `begin` starts one, `body_buffering` waits for its body where
//!   a load line is in force, `to_upstream` sends it on.
//! * From upstream to client: `from_upstream` passes a response on, `ending` ends requests and connections; `tunnel` is
//!   for connections that changed their protocol.
//! * State: `client`, `upstream`, `slab`, `pool`, `retry`, `connection_caps`.
//! * Beside requests: `shadow` sends copies to another upstream, `checks` are active checks of servers, `logging` feeds
//!   the access log.
//! * Bytes: `target`, `fields`, `key`, `request`, `response`, `redirects`, `date`, `refusal`, `failure`, `proxy`, and
//!   `certificates` of both sides.

#[cfg(test)]
mod allocations;
mod begin;
mod body_buffering;
mod certificates;
mod checks;
mod client;
mod connection_caps;
mod date;
mod ending;
mod failure;
mod fields;
mod from_client;
mod from_upstream;
mod idle_eviction;
mod key;
mod logging;
mod pool;
mod proxy;
mod redirects;
mod refusal;
mod request;
mod response;
mod retry;
mod rewritten;
mod server;
mod shadow;
mod shared;
mod slab;
mod target;
mod timeouts;
mod to_upstream;
mod tunnel;
mod upstream;
#[cfg(test)]
mod wires;
mod worker;

pub use certificates::{Identity, Trust};
pub use failure::Failure;
pub(crate) use fields::alike;
pub(crate) use key::bearer;
pub use refusal::Fault;
pub use rewritten::rewritten;
pub(crate) use server::files_advice;
pub use server::{Gate, Listener, Options, StartError};
pub use shared::{FAULT_STATUSES, PathCounts, PathReader};
