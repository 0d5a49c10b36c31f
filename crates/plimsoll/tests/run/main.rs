//! `plimsoll run` as its users meet it, against servers that behave and servers that do not.
//!
//! * `harness`: a run in one line, its JSON read back and its counts checked.
//! * `faults`: liars, from the built-in server and from raw sockets: each in its class, no hang.
//! * `counts`: what we say was sent against what others saw.
//! * `load`: rates, counts and windows in real time.
//! * `ways`: addresses, sources, methods, bodies, pipelining.
//! * `tls`: certificates, names, and the wrong scheme.
//! * `unix`: Unix sockets, by all commands that make load.
//! * `theory`: queues and stalls over real sockets, minutes long, only when asked for.
//! * `results`: formats, files, the schema, and what is left when something ends early.
//! * `objectives`: rulings, exit codes, test reports, runs that end early.
//! * `refused`: bad input, one clear line each.
//! * `wide`: more connections than one file table holds.

mod counts;
mod faults;
mod harness;
mod load;
mod objectives;
mod refused;
mod responses;
mod results;
mod theory;
mod tls;
mod unix;
mod ways;
mod wide;
