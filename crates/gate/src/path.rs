//! The data path: clients' connections, requests to upstreams, answers back. It decides nothing about who may ask.
//!
//! Workers share nothing but the policy, the servers' health and the number of connections of each address. Each is
//! a handler on a net of its own, with a listener of its own on the shared port. The path of a request allocates,
//! locks and formats nothing once the buffers of its connections are made.
//!
//! * `server`, `shared`: the workers, from start to stop, and what they share.
//! * `worker`: the table of connections and their events. `due`: time-outs and draining. `crowd`: no room for more connections.
//! * `reading`, `begin`: what clients send, and the beginning of a request. `handing`: the way of it upstream.
//! * `answering`, `ending`: the answer's way back, and how a request ends. `tunnel`: after a change of protocols.
//! * `shadow`: requests sent to another upstream too. `logging`: what the access log is told. `client`, `up`, `slab`, `pool`, `retry`, `caps`: their state. `checks`: active checks of servers.
//! * `target`, `fields`, `key`, `request`, `response`, `redirects`, `date`, `refusal`, `failure`, `proxy`: bytes; `certificates`: of both sides.

#[cfg(test)]
mod allocations;
mod answering;
mod begin;
mod caps;
mod certificates;
mod checks;
mod client;
mod crowd;
mod date;
mod due;
mod ending;
mod failure;
mod fields;
mod handing;
mod key;
mod logging;
mod pool;
mod proxy;
mod reading;
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
mod tunnel;
mod up;
mod waiting;
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
