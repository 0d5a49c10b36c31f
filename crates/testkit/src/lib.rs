//! For tests: a simulated network, and real servers and peers.
//!
//! * [`sim`]: a clock and a network in memory, seeded and exactly repeatable. It implements
//!   [`net::Net`], so tests run the real workers and servers on it.
//! * [`peer`]: scripted peers on real loopback sockets that know nothing of HTTP and share no code
//!   with what they test.
//! * [`casestudy`]: servers of the case study, built with Go.
//! * [`databases`]: PostgreSQL, MariaDB, Redis and memcached, started in a temporary folder and stopped on drop.
//! * [`misbehaving`]: an HTTP server that is well for a while and then is not.
//! * [`needs`]: third-party programs that tests need, and leaving the test out where they are missing.
//! * [`pipes`]: named pipes.
//! * [`ports`]: ports that are reserved for a server that is told where to listen.
//! * [`process`]: programs as child processes, ended on drop: servers that print their URL, and programs that a test leads
//!   from step to step.
//! * [`queueing`]: what theory says of queues under Poisson arrivals.
//! * [`servers`]: third-party servers, started in a temporary folder and stopped on drop.
//!
//! Nothing here is part of the product. Of the project's crates it uses only `net`.

pub mod casestudy;
mod certificates;
pub mod databases;
pub mod misbehaving;
pub mod needs;
pub mod peer;
pub mod pipes;
pub mod ports;
pub mod process;
pub mod queueing;
pub mod servers;
pub mod sim;
