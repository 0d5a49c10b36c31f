//! Workers that generate load. A worker owns its connections, its share of the schedule and its counts,
//! and shares nothing. Once a second it hands its counts to the collector, which merges those of all
//! workers into an [`model::Interval`].
//!
//! Owns: when a request leaves, its outcome, and the counting. Does not own: sockets and the clock
//! (`net`), HTTP syntax (`wire`), what is sent (`traffic`), the schedule's arithmetic (`model`), any
//! judgement (`verdict`). The same workers run on io_uring, epoll and the simulation.

mod arrivals;
mod attempt_log;
mod body_hash;
mod collect;
mod conn;
mod connections;
mod failure_samples;
mod first_responses;
mod gaps;
mod in_flight_limit;
mod launch;
mod presence;
mod problem;
mod recorder;
mod recorder_slot;
mod response_kinds;
mod spent;
mod start_barrier;
mod timeouts;
mod tls;
mod user_timers;
mod worker;

pub use self::tls::{PemInput, TlsError, TlsSettings, client_config};
pub use attempt_log::AttemptLog;
pub use collect::Collector;
pub use first_responses::FirstResponses;
pub use launch::{Launch, LaunchError, Outcome, Progress, launch};
pub use problem::{ASKS_FOR_TLS, Advice, Problem, SPEAKS_TLS};
pub use recorder::{IntervalBuffers, WorkerInterval};
pub use recorder_slot::RecorderSlot;
pub use spent::Spent;
pub use start_barrier::StartBarrier;
pub use worker::{Job, OPEN_WITHIN, Worker};
