//! Limits that several gateways share, by a Redis or Valkey server.
//!
//! Each gateway decides by what it knows and tells the server afterwards: no request waits for it. What the server
//! keeps of a rate is the instant at which the next request would be due at an even pace (`limits::Gcra`), to which
//! every gateway adds what it let through; what it keeps of a quota is a count. [`Syncer`] says what is told and when,
//! and takes in what comes back; it is pure. [`Link`] carries it, on a thread of its own. [`Meter`] is what decisions
//! ask: who has something to tell, and whether the server answers.
//!
//! Over all N gateways, a key of rate r and burst b is let through at most b + r W + (N - 1)(b + r D) requests in any
//! time W, where D is the longest time that a gateway takes to be told what the others did once it has let half of b
//! through: [`NEAR_NS`] and the way to the server and back. What was let through too much is counted, so that the
//! following time has as much less: the excess does not grow with W.

mod link;
mod meter;
mod resp;
mod sync;

pub use link::{Link, LinkView, Place};
pub use meter::Meter;
pub use resp::{Reply, RespError, read_reply};
pub use sync::{Answer, NEAR_NS, Syncer, Tell};
