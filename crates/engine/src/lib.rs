//! Workers that drive load. A worker owns its connections, its share of the schedule and its tally,
//! and shares nothing; once a second it hands its tally over and the collector makes an
//! [`model::Interval`] of all workers' tallies.
//!
//! Owns: when a request leaves, what became of it, and the counting. Does not own: sockets and the
//! clock (`net`), HTTP syntax (`wire`), the schedule's arithmetic (`model`), any judgement
//! (`verdict`). The workers run unchanged on io_uring, epoll and the simulation.

mod arrivals;
mod collect;
mod conn;
mod connections;
mod desk;
mod expected;
mod gaps;
mod gate;
mod in_flight_limit;
mod keeper;
mod kinds;
mod launch;
mod ledger;
mod notes;
mod presence;
mod problem;
mod sample;
mod spent;
mod starts;
mod timeouts;
mod tls;
mod worker;

pub use collect::Collector;
pub use desk::Desk;
pub use gate::Gate;
pub use launch::{Launch, LaunchError, Outcome, Progress, launch};
pub use ledger::{Page, Sheet};
pub use notes::Notes;
pub use problem::{Advice, Problem, SPEAKS_NO_TLS, SPEAKS_TLS};
pub use spent::Spent;
pub use tls::{PemInput, TlsError, TlsSettings, client_config};
pub use worker::{Job, Worker};
