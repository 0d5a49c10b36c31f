//! Workers in virtual time: the very code that runs for real, against scripted servers and the
//! built-in one, where every instant can be had by arithmetic.
//!
//! * `harness`: a load, a world and a server to the run that came of them.
//! * `server`: servers that respond as a closure says.
//! * `closed`, `open`: what leaves when, and what is measured, when all goes well.
//! * `queue`: waiting against queueing theory and against a stalling server.
//! * `theory`: queues by the million against Lindley's recursion and theory.
//! * `capacity`: searches for the capacity of queues that have a known one.
//! * `paths`, `sources`: requests that differ, sessions, bursts, and sources that end the run.
//! * `pace`: sessions that pile up before a queue of known capacity, and long ones that do not.
//! * `window`: warm-up, window, count, interruption.
//! * `presence`: servers that go away, told with their share of the time.
//! * `healthy`: a thousand healthy servers, never said to be in trouble.
//! * `trouble`: time-outs, refusals, limits, resets and liars, one by one.
//! * `edge`: whose time is whose, and responses that nobody asked for.
//! * `users`: users who never get a response, and kinds of responses.
//! * `chaos`: all of them at once, over many seeds: nothing is lost or counted twice.

mod capacity;
mod chaos;
mod closed;
mod edge;
mod harness;
mod healthy;
mod open;
mod pace;
mod paths;
mod presence;
mod queue;
mod server;
mod sources;
mod theory;
mod trouble;
mod users;
mod window;
