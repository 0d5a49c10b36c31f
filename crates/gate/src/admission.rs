//! The global ceiling: how much is let through in total, so that the API stays within what a load line certifies.
//!
//! [`Line`] is a load line as decisions need it: a rate, a number in flight, the cost of each endpoint, and the latency
//! it was certified with. [`Ceiling`] is the state that decisions read. [`Governor`] lowers the ceiling below the line
//! while live latency is outside of its envelope, and raises it again; never above the line, and it never probes.
//! [`shares`] divides the ceiling, or what the API carries of it ([`Throughput`]), among keys while they ask for more.
//! [`Shortfall`] and [`ErrorStatuses`] notice that the API is not the one that was measured. One of several gateways
//! holds its [`Part`].
//!
//! Pure: the caller passes in what it observed, and over how long.

mod ceiling;
mod error_statuses;
mod fair;
mod governor;
mod line;
#[cfg(test)]
mod overload;
mod part;
mod shortfall;
mod throughput;

pub use ceiling::{Ceiling, NoRoom, Room, Seen};
pub use error_statuses::ErrorStatuses;
pub use fair::{Asked, Asking, KeyShare, left_free, shares};
pub use governor::{Governor, Verdict};
pub use line::{Envelope, Line, LineError};
pub use part::Part;
pub use shortfall::{Short, Shortfall};
pub use throughput::Throughput;

#[cfg(test)]
pub(crate) use overload::queue;
