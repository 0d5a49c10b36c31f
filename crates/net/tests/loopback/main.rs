//! Both nets over real loopback sockets, by the same small handlers.
//!
//! * `harness`: handlers in a few lines, on every net that works here.
//! * `bytes`: large bodies both ways, pressure back on the sender, order.
//! * `ends`: the ways a connection ends, as the peer sees them.
//! * `edge`: when bytes left and arrived; the end of a net with much under way.
//! * `lengths`: long and short ones in turns, in either direction.
//! * `many`: short connections one after the other, and thousands at once.
//! * `skip`: bytes that a handler has no use for.
//! * `unix`: Unix sockets, also where their queue is full.

mod bytes;
mod edge;
mod ends;
mod harness;
mod lengths;
mod many;
mod skip;
mod unix;
