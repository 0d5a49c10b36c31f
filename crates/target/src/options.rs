//! What the server is started with, and why it cannot start.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use model::Nanos;

/// The options of [`crate::Server::start`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Where to listen. Port 0 takes a free one.
    pub listen: SocketAddr,
    /// Threads; `None` takes one for each allowed processor, and as many more as it takes to have
    /// room for 60,000 connections where each thread's files are limited. At least 1.
    pub threads: Option<usize>,
    /// Speaks TLS.
    pub tls: Option<Tls>,
    /// Pauses the whole server now and then.
    pub stall: Option<Stall>,
    /// Responses after which a connection is closed; `None` for no limit. At least 1.
    pub requests_per_connection: Option<u64>,
    /// Closes each connection after its first response.
    pub close: bool,
    /// Seed of queues that name none.
    pub seed: u64,
    /// The kernel interface; `None` takes io_uring where it works.
    pub io: Option<net::Io>,
    /// Keeps all threads in the process's file table, and so within its limit. Otherwise several
    /// threads get separate tables where one would not do; files that the process has open at
    /// that moment then stay open in those tables until the server stops.
    pub share_files: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            threads: None,
            tls: None,
            stall: None,
            requests_per_connection: None,
            close: false,
            seed: 1,
            io: None,
            share_files: false,
        }
    }
}

impl Options {
    /// Responses after which a connection is closed.
    pub(crate) fn responses_per_connection(&self) -> u64 {
        if self.close { 1 } else { self.requests_per_connection.unwrap_or(u64::MAX) }
    }
}

/// Where the certificate comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tls {
    /// Generated at start, for `localhost`, 127.0.0.1 and ::1.
    SelfSigned,
    /// Read at start.
    Files {
        /// PEM file with the certificate and those that it is signed by, in order.
        cert: PathBuf,
        /// PEM file with the private key.
        key: PathBuf,
    },
}

/// Pauses of the whole server. The k-th, k = 1, 2, ..., begins k x `every_ns` after the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    /// From the beginning of one to that of the next. Above `for_ns`.
    pub every_ns: Nanos,
    /// How long one lasts. Above 0.
    pub for_ns: Nanos,
}

/// Why the server did not start.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// An option is out of its range.
    Option(&'static str),
    /// The address cannot be listened on.
    Listen {
        /// It.
        address: SocketAddr,
        /// The system's reason.
        cause: io::Error,
    },
    /// A certificate or key cannot be read or used.
    Certificate {
        /// What was wrong, and with which file.
        reason: String,
    },
    /// A thread or its kernel interface could not be created.
    Thread(io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option(what) => f.write_str(what),
            Self::Listen { address, cause } => {
                write!(f, "cannot listen on {address}: {cause}; choose another with --listen")
            }
            Self::Certificate { reason } => f.write_str(reason),
            Self::Thread(cause) => write!(f, "cannot start a server thread: {cause}"),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Listen { cause, .. } | Self::Thread(cause) => Some(cause),
            Self::Option(_) | Self::Certificate { .. } => None,
        }
    }
}
