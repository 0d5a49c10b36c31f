//! Profiles of servers: where they are fetched from, taking them while a run measures, and finding them in result
//! folders. What they say is worked out in the crate `profile`.

pub mod endpoint;
pub mod server;
pub mod stored;
pub mod taker;
