//! Scripts driven as a worker drives them, without sockets.
//!
//! - `harness`: a script, its sources, and turns
//! - `interface`: the table `wrk`, `thread`, `setup`, `init`, copying between states
//! - `load`: `request`, `delay`, `response`, pipelines, `thread:stop`
//! - `done`: `summary`, `latency`, `requests`
//! - `refused`: what a script can do wrong, and the words for it

mod done;
mod harness;
mod interface;
mod load;
mod refused;
