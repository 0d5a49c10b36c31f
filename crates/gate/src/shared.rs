//! Limits that several gateways share, by a Redis or Valkey server.
//!
//! Each gateway decides by what it knows and tells the server afterwards: no request waits for it. What the server
//! keeps of a rate is the instant at which the next request would be due at an even pace (`limits::Gcra`), to which
//! every gateway adds what it let through, from when that came; what it keeps of a quota is a total of each gateway.
//! [`Syncer`] says what is told and when, and takes in what comes back; it is pure. [`Link`] carries it, on a thread of
//! its own. [`Meter`] is what decisions ask: who has something to tell, and whether the server answers.
//!
//! Nothing is added twice. A total is told as often as one likes. What is added to a rate is sent once, over a connection
//! all of whose answers have come; each connection of a gateway has a number, and once the server has heard a later one it
//! takes nothing more from those before. So what was under way when a connection broke was added before the first answer
//! of the next one, or never is; after that answer a gateway tells where it stands, and the server keeps the later instant.
//!
//! Over all N gateways, a key of rate r and burst b is let through at most b + r (W + A) + (N - 1)(b + r D) requests in any
//! time W while the server answers within R. D = [`NEAR_NS`] + 2 R is the longest time that a gateway takes to be told what
//! the others did once it has let half of b through: an exchange that is under way, and its own. A = 0.1 s + R is the most
//! that requests told of at once lie apart: the server takes all for as old as the first, so that it never takes them to be
//! ahead when they are not, as it would be with those of several gateways that came at the same time. That is the pace of
//! the same requests come up to A sooner, so it is late by A at most, however long it goes on. What was let through too much
//! is counted, so that the following time has as much less: the excess does not grow with W.
//!
//! Quotas are those of keys, of tiers, of routes and of all requests; keys that replace each other have one, by the name of the first.
//! Rates other than those of keys and of the load line are each gateway's own.
//!
//! What the server keeps is of one rate: gateways share those that are the same in their configurations. A reload of one of them
//! shares its new rates with those that have them too.
//!
//! The number in flight of a load line cannot be told in time. The server counts the gateways by their signs of life, and
//! each holds its part: of K in flight, N gateways that know of each other have K together, or one each where that is more.
//! M that begin add K / g each at most, g as their configuration says (`gateways`), until they were counted and the others
//! heard of them: within a quarter of a second from one sign of life to the next, a tenth of a second and the way. One that
//! ends leaves its part to the others once its last sign of life is forgotten.

mod command;
mod link;
mod meter;
mod resp;
mod sync;

pub use link::{Link, LinkView, Place};
pub use meter::Meter;
pub use resp::{Reply, RespError, read_reply};
pub use sync::{Answer, Heard, NEAR_NS, Syncer, Tell};
