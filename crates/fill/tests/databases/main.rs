//! Fills of real databases, and what `clean` leaves of them.

mod bytes;
mod collations;
mod computed;
mod conditions;
mod counters;
mod engine;
mod partial;
mod partitions;
mod pools;
mod refused;
mod replaced;
mod taken_back;
mod types;
mod unfit;
