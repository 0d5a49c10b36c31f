//! The server as its clients see it.
//!
//! * `virtual_time`: delays, queues and pauses, to the nanosecond, in the simulation.
//! * `paths`: every path over real sockets, on each kernel interface.
//! * `faults`: every kind of misbehaviour, byte for byte.
//! * `framing`: requests cut anywhere, pipelined, trickled, and crafted to smuggle.
//! * `bounds`: clients that do not read, send too much, or leave.
//! * `tls`: the same bytes, wrapped.

mod bounds;
mod faults;
mod framing;
mod harness;
mod paths;
mod simulated;
mod tls;
mod virtual_time;
