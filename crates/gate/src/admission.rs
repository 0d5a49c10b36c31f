//! The global ceiling: how much is let through in all, so that the API stays within what a load line certifies.
//!
//! [`Line`] is what a load line says in the terms of decisions: a rate, a number at once, what each endpoint costs, and
//! the latency it was certified with. [`Ceiling`] is the state that decisions ask. [`Governor`] moves the ceiling below
//! the line while live latency is outside of its envelope, and back; never above the line, and it never probes. [`shares`] divides it among
//! keys while they ask for more, or what the API carries of it ([`Throughput`]). [`Shortfall`] tells where that is far less than was
//! measured. One of several gateways holds its [`Part`].
//!
//! Pure: what was seen and how long it took is handed in.

mod error_statuses;
mod throughput;
mod ceiling;
mod fair;
mod governor;
mod line;
#[cfg(test)]
mod overload;
mod part;
mod shortfall;

pub use error_statuses::ErrorStatuses;
pub use throughput::Throughput;
pub use ceiling::{Ceiling, NoRoom, Room, Seen};
pub use fair::{Asked, Asking, KeyShare, left_free, shares};
pub use governor::{Governor, Verdict};
pub use line::{Envelope, Line, LineError};
pub use part::Part;
pub use shortfall::{Short, Shortfall};

#[cfg(test)]
pub(crate) use overload::queue;
