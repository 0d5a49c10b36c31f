//! The data path over real sockets, in front of the built-in API and of scripted peers.

mod bodies;
mod certificate;
mod changes;
mod failures;
mod harness;
mod keep_alive;
mod life;
mod line;
mod many;
mod redirects;
mod reports;
mod secure;
mod shadows;
mod spellings;
mod timeouts;
mod tunnels;
