//! Workers in virtual time: the very code that runs for real, against scripted servers and the
//! built-in one, where every instant can be had by arithmetic.
//!
//! * `harness`: a load, a world and a server to the run that came of them.
//! * `server`: servers that respond as a closure says.
//! * `closed`, `open`: when requests leave, and what is measured, when all goes well.
//! * `opening`: connections before the start.
//! * `queue`: waiting against queueing theory and against a stalling server.
//! * `theory`: queues by the million against Lindley's recursion and theory.
//! * `capacity`: searches for the capacity of queues that have a known one.
//! * `bodies`: long bodies that nobody looks at are skipped, and all else is as if they were not.
//! * `paths`, `sources`: requests that differ, sessions, bursts, and sources that end the run.
//! * `pace`: sessions that pile up before a queue of known capacity, and long ones that do not.
//! * `window`: warm-up, window, count, interruption.
//! * `presence`: servers that go away, reported with the share of time.
//! * `healthy`: a thousand healthy servers, never reported as in trouble.
//! * `trouble`: time-outs, refusals, limits, resets and liars, one by one.
//! * `edge`: the generator's time against the server's, and unsolicited responses.
//! * `surplus`: servers that send more than they were asked for.
//! * `users`: users who never get a response, and kinds of responses.
//! * `chaos`: all of them at once, over many seeds: nothing is lost or counted twice.

mod bodies;
mod capacity;
mod chaos;
mod closed;
mod edge;
mod harness;
mod healthy;
mod open;
mod opening;
mod pace;
mod paths;
mod presence;
mod queue;
mod server;
mod sources;
mod surplus;
mod theory;
mod trouble;
mod users;
mod window;
