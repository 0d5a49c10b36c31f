//! What is sent, request by request.
//!
//! Owns the trait [`Source`] that the engine takes its requests from, and its implementations that
//! need no I/O. Does not own when a request leaves, connections, or counting (`engine`), nor the
//! syntax of HTTP (`wire`). Pure: given the same seed, the same requests come out.

mod fixed;
mod source;

pub use fixed::Always;
pub use source::{
    Answered, Fixed, Halt, NOBODY, Next, Part, Payload, Requests, Seat, Session, Skipped, Source,
    Supply, Turn, Wants,
};
