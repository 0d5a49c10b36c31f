//! The laws of `wire`, by topic:
//!
//! * `accepted`: well-formed messages and what is read from them
//! * `refused`: every malformed or smuggling case of RFC 9112 sections 2 to 7 and 11, by table
//! * `bounds`: dripped, endless and repeated input against time and memory
//! * `gateway`: interim responses and trailers, for who passes them on
//! * `splitting`: a message reads the same however it is cut (properties)
//! * `round_trip`: what is written is read back equal; hostile parts never get out (properties)
//! * `mutation`: seeded mutations of messages against the same laws, and `httparse` as an oracle
//!
//! `replay` runs a parser over pieces of input and records its events; the fuzz targets use it too.
//! `messages` makes random well-formed messages together with what must be read from them.

mod accepted;
mod bounds;
mod gateway;
mod messages;
mod mutation;
mod refused;
mod replay;
mod round_trip;
mod splitting;
