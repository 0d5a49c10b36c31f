//! Limits that several gateways share through a Redis or Valkey server.
//!
//! Each gateway decides from what it knows and reports to the server afterwards, so no request waits for the server. Of a
//! rate the server keeps the instant at which the next request would be due at an even pace (`limits::Gcra`), which
//! each gateway moves on by the requests that it let through, from the time of their arrival. Of a quota it keeps one
//! total per gateway. [`Syncer`] decides what is reported and when, and applies the answers; it is pure. [`Link`] is the
//! thread with the connection. [`Meter`] is the interface to decisions: which limits have something to report, and whether
//! the server answers.
//!
//! Nothing is added twice. A total may be reported any number of times. An addition to a rate is sent once, over a
//! connection all of whose earlier commands were answered. Each connection of a gateway has a number; once the server has
//! received a command over one, it accepts none over those with lower numbers. So an addition that was sent when a connection broke
//! is applied before the first answer on the next connection, or never. After that answer the gateway reports the instant that it
//! has computed itself, and the server keeps the later of the two.
//!
//! Over all N gateways, a key of rate r and burst b is let through at most b + r (W + A) + (N - 1)(b + r D) requests in any
//! time W while the server answers within R. D = [`NEAR_NS`] + 2 R is the longest time until a gateway learns what the
//! others did once it has let half of b through: the exchange under way, and its own. A = 0.1 s + R is the longest time
//! between two requests that are reported together. The server counts all of them from the first one's arrival. Counting
//! them from a later one would put them ahead of the pace although they were not, since other gateways had requests at the
//! same time. This is the pace of the same requests shifted to at most A earlier, so the error stays within A for as long as
//! the gateways run. Requests beyond the limit are counted, so the time after them has as many fewer: the excess does not
//! grow with W.
//!
//! Quotas of keys, of tiers, of routes and of all requests are shared. Keys that replace each other share one quota, under the name
//! of the first. Of rates, those of keys and of the load line are shared; each gateway holds all others by itself.
//!
//! The name of a rate on the server contains the rate: only gateways whose configurations have the same rate share it. After a
//! reload, a gateway shares its new rate with the gateways that have it too.
//!
//! The number in flight of a load line cannot be shared in this way, because reports take too long. The server counts the
//! gateways by their heartbeats, and each gateway holds its part: of K in flight, N gateways that know of each other have K
//! together, or one each if N is more. M gateways that start have at most K / g each, where g is the number in their
//! configuration (`gateways`), until they are counted and the others know of them: a quarter of a second between two heartbeats, a
//! tenth of a second, and the time on the network. When a gateway ends, the others take over its part once its last heartbeat
//! has expired.

mod command;
mod link;
mod meter;
mod resp;
mod sync;

pub use link::{Link, LinkView, Place};
pub use meter::Meter;
pub use resp::{Reply, RespError, read_reply};
pub use sync::{Answer, NEAR_NS, Report, Response, Syncer};
