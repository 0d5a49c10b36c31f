//! The threads of the server, from start to stop.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::{io, thread};

use net::{clock, limits, socket};

use crate::context::Shared;
use crate::counters::Served;
use crate::options::{Options, StartError};
use crate::worker::Worker;

/// Connections that the default number of threads has room for.
const CONNECTIONS: u64 = 60_000;
/// How often a thread checks whether to stop.
const PATIENCE_NS: u64 = 50 * model::units::MILLISECOND;
/// Connections a net's tables are made for; they grow past it.
const EXPECTED: u64 = 16_384;

/// A running server. Dropping it stops it.
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<io::Result<()>>>,
    address: SocketAddr,
    io: net::Io,
}

/// What every thread is started with.
#[derive(Debug, Clone, Copy)]
struct Start {
    listen: SocketAddr,
    io: net::Io,
    /// Whether the thread gets its own file table.
    own_files: bool,
    long_lived: bool,
    connections: usize,
}

impl Server {
    /// Starts the threads and returns once all of them listen. Raises the soft limit on open files
    /// to the hard one.
    ///
    /// # Errors
    /// When an option is out of range, the address cannot be listened on, a certificate cannot be made
    /// or read, or a thread cannot be started. Nothing keeps running then.
    pub fn start(options: Options) -> Result<Self, StartError> {
        let room = limits::raise_file_limit().connections_per_table();
        let threads = options.threads.unwrap_or_else(|| default_threads(room));
        let io = options.io.unwrap_or_else(best_io);
        let shared = Arc::new(Shared::new(&options, threads, clock::now())?);
        let claim = socket::claim(options.listen)
            .map_err(|cause| StartError::Listen { address: options.listen, cause })?;
        let start = Start {
            listen: claim.address,
            io,
            own_files: threads > 1 && room < CONNECTIONS && !options.share_files,
            long_lived: options.responses_per_connection() > 1,
            connections: room.min(EXPECTED) as usize,
        };
        let mut server = Self { shared, threads: Vec::new(), address: start.listen, io };
        for thread in 0..threads {
            // An error drops, and so stops, what runs.
            server.add_thread(thread, start)?;
        }
        Ok(server)
    }

    fn add_thread(&mut self, thread: usize, start: Start) -> Result<(), StartError> {
        let (started, heard) = channel();
        let shared = Arc::clone(&self.shared);
        let spawned = thread::Builder::new()
            .name(format!("target-{thread}"))
            .spawn(move || serve(shared, thread, start, started))
            .map_err(StartError::Thread)?;
        self.threads.push(spawned);
        // The sender is dropped unused when the thread fails before it serves: then its end says why.
        if let Ok(outcome) = heard.recv() {
            return outcome.map_err(|cause| StartError::Listen { address: start.listen, cause });
        }
        let end = self.threads.pop().map(JoinHandle::join);
        Err(StartError::Thread(match end {
            Some(Ok(Err(error))) => error,
            _ => io::Error::other("it ended at once"),
        }))
    }

    /// Where it listens, with the port that was found when 0 was asked for.
    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    /// Threads.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// The kernel interface in use.
    pub fn io(&self) -> net::Io {
        self.io
    }

    /// The certificate that TLS clients are shown, in DER; `None` without TLS.
    pub fn certificate(&self) -> Option<&[u8]> {
        self.shared.identity.as_ref().map(|identity| &*identity.certificate)
    }

    /// What has been served so far.
    pub fn served(&self) -> Served {
        self.shared.served(clock::now(), self.io)
    }

    /// Closes all connections and says what was served.
    pub fn stop(mut self) -> Served {
        let failures = self.end();
        Served { failures, ..self.served() }
    }

    fn end(&mut self) -> Vec<String> {
        self.shared.stop.store(true, Relaxed);
        let ends = self.threads.drain(..).map(JoinHandle::join);
        ends.filter_map(|end| match end {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("it panicked, which is a bug".to_owned()),
        })
        .collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

/// One for each processor, or more where it takes more file tables to hold the connections.
fn default_threads(room: u64) -> usize {
    limits::allowed_cpus().len().max(CONNECTIONS.div_ceil(room.max(1)) as usize)
}

fn best_io() -> net::Io {
    if net::uring_works() { net::Io::Uring } else { net::Io::Epoll }
}

/// The body of a thread.
fn serve(
    shared: Arc<Shared>,
    thread: usize,
    start: Start,
    started: Sender<io::Result<()>>,
) -> io::Result<()> {
    if start.own_files {
        // Where the kernel refuses, the threads share one table and its limit: fewer connections.
        let _ = limits::unshare_files();
    }
    let listener = match socket::listen(start.listen) {
        Ok(listener) => listener,
        Err(error) => {
            // The starter waits for this; it cannot have gone away.
            let _ = started.send(Err(error));
            return Ok(());
        }
    };
    let options = net::Options {
        connections: start.connections,
        long_lived: start.long_lived,
        listener: Some(listener),
    };
    let mut worker = Worker::new(shared, thread, PATIENCE_NS).announcing(started);
    net::run(start.io, options, &mut worker)
}
