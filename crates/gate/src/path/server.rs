//! The workers of a gateway, from start to stop.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use net::{limits, socket};
use rustix::io::Errno;

use super::certificates::Identity;
use super::shared::{Counts, DRAIN, END, Entrance, PathCounts, PathReader, RUN, Shared};
use super::worker::Worker;
use crate::access::PageQueue;
use crate::health::Health;
use crate::policy::Current;

/// Connections that the tables of a net are made for; they grow past it.
const EXPECTED: usize = 4096;
/// How often the end of the workers is looked for.
const LOOK: Duration = Duration::from_millis(10);

/// Where clients connect.
#[derive(Debug, Clone)]
pub struct Listener {
    /// The address; port 0 takes a free one.
    pub address: SocketAddr,
    /// Speaks TLS with this certificate.
    pub identity: Option<Identity>,
    /// Insists on a PROXY protocol header (version 1 or 2) on each connection.
    pub proxy: bool,
    /// Sockets that listen there already, a worker for each; empty: as many are made as there are to be workers.
    pub sockets: Vec<Arc<TcpListener>>,
}

impl Listener {
    /// Plain HTTP.
    pub fn plain(address: SocketAddr) -> Self {
        Self { address, identity: None, proxy: false, sockets: Vec::new() }
    }
}

/// What a gateway is started with.
#[derive(Debug)]
pub struct Options {
    /// At least one.
    pub listeners: Vec<Listener>,
    /// Workers of each listener; `None`: one for each processor that may be used.
    pub workers: Option<usize>,
    /// The kernel interface; `None` takes io_uring where it works.
    pub io: Option<net::Io>,
    /// How long a worker looks for further events before it sleeps, after each one; 0: not at all.
    pub busy_poll_ns: u64,
    /// Where requests are logged; `None`: nowhere.
    pub log: Option<Arc<PageQueue>>,
}

/// Why the data path did not start. Nothing of it keeps running.
#[derive(Debug)]
pub enum StartError {
    /// No listener was given, or no worker.
    Nothing,
    /// An address cannot be listened on.
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's reason.
        cause: io::Error,
    },
    /// A thread or its kernel interface could not be made.
    Thread(io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("a gateway needs at least one listener and one worker"),
            Self::Listen { address, cause } => {
                let advice = files_advice(cause).unwrap_or("choose another with --listen");
                write!(f, "cannot listen on {address}: {cause}; {advice}")
            }
            Self::Thread(cause) => match files_advice(cause) {
                Some(advice) => write!(f, "cannot start a worker: {cause}; {advice}"),
                None => write!(f, "cannot start a worker: {cause}"),
            },
        }
    }
}

/// What to do where it is files that lack, of which each worker has some.
pub(crate) fn files_advice(cause: &io::Error) -> Option<&'static str> {
    (Errno::from_io_error(cause) == Some(Errno::MFILE))
        .then_some("ask for fewer --workers, or raise the hard limit on open files (ulimit -Hn)")
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Listen { cause, .. } | Self::Thread(cause) => Some(cause),
            Self::Nothing => None,
        }
    }
}

/// The running data path. Dropping it ends it at once.
#[derive(Debug)]
pub struct Gate {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<io::Result<()>>>,
    addresses: Vec<SocketAddr>,
    /// Of each listener; the workers have their own descriptors of them.
    sockets: Vec<Vec<Arc<TcpListener>>>,
    io: net::Io,
}

impl Gate {
    /// Starts the workers, and returns once all of them listen. Raises the soft limit on open files to the hard one.
    ///
    /// # Errors
    /// [`StartError`].
    pub fn start(
        options: Options,
        current: Arc<Current>,
        health: Arc<Health>,
    ) -> Result<Self, StartError> {
        limits::raise_file_limit();
        let workers = options.workers.unwrap_or_else(|| limits::allowed_cpus().len().max(1));
        let (mut addresses, mut sockets) = (Vec::new(), Vec::new());
        for listener in &options.listeners {
            let (address, own) = listen(listener, workers)?;
            addresses.push(address);
            sockets.push(own);
        }
        let threads: usize = sockets.iter().map(Vec::len).sum();
        if threads == 0 {
            return Err(StartError::Nothing);
        }
        let shared = Arc::new(Shared {
            current,
            health,
            log: options.log,
            busy_poll_ns: options.busy_poll_ns,
            caps: super::connection_caps::Caps::default(),
            stop: RUN.into(),
            counts: (0..threads).map(|_| Counts::default()).collect(),
        });
        let io = options.io.unwrap_or_else(best_io);
        let mut gate = Self { shared, threads: Vec::new(), addresses, sockets, io };
        for (number, listener) in options.listeners.iter().enumerate() {
            let entrance = Entrance { identity: listener.identity.clone(), proxy: listener.proxy };
            for socket in gate.sockets[number].clone() {
                let address = gate.addresses[number];
                let own = socket.try_clone();
                let own = own.map_err(|cause| StartError::Listen { address, cause })?;
                // An error drops, and so ends, what runs.
                gate.add_worker(own, entrance.clone())?;
            }
        }
        Ok(gate)
    }

    fn add_worker(&mut self, socket: TcpListener, entrance: Entrance) -> Result<(), StartError> {
        let (started, heard) = channel();
        let (shared, number, io) = (Arc::clone(&self.shared), self.threads.len(), self.io);
        let spawned = thread::Builder::new()
            .name(format!("gate-{number}"))
            .spawn(move || serve(shared, number, io, socket, entrance, started))
            .map_err(StartError::Thread)?;
        self.threads.push(spawned);
        // The sender is dropped unused when the thread fails before it serves: then its end says why.
        if heard.recv().is_ok() {
            return Ok(());
        }
        let end = self.threads.pop().map(JoinHandle::join);
        Err(StartError::Thread(match end {
            Some(Ok(Err(error))) => error,
            _ => io::Error::other("it ended at once"),
        }))
    }

    /// Where it listens, in the order of [`Options::listeners`], with the ports that were found.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The listening sockets of each address, in the order of [`Options::listeners`].
    pub fn sockets(&self) -> &[Vec<Arc<TcpListener>>] {
        &self.sockets
    }

    /// Workers.
    pub fn workers(&self) -> usize {
        self.threads.len()
    }

    /// The kernel interface in use.
    pub fn io(&self) -> net::Io {
        self.io
    }

    /// What was counted so far.
    pub fn counts(&self) -> PathCounts {
        self.shared.counts()
    }

    /// Looks at the counts also while this is borrowed elsewhere.
    pub fn reader(&self) -> PathReader {
        PathReader(Arc::clone(&self.shared))
    }

    /// Takes no more connections, and lets requests in flight end, for as long as the policy gives them. Returns
    /// once the workers have ended; a worker that failed says why.
    pub fn drain(mut self) -> Vec<String> {
        self.shared.stop.store(DRAIN, Relaxed);
        // Clients must not queue where nobody accepts.
        self.sockets.clear();
        while self.threads.iter().any(|thread| !thread.is_finished()) {
            thread::sleep(LOOK);
        }
        self.join()
    }

    fn join(&mut self) -> Vec<String> {
        let ends = self.threads.drain(..).map(JoinHandle::join);
        ends.filter_map(|end| match end {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("a worker panicked, which is a bug".to_owned()),
        })
        .collect()
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.shared.stop.store(END, Relaxed);
        self.join();
    }
}

/// The sockets of a listener, and their address.
fn listen(
    listener: &Listener,
    workers: usize,
) -> Result<(SocketAddr, Vec<Arc<TcpListener>>), StartError> {
    if !listener.sockets.is_empty() {
        return Ok((listener.address, listener.sockets.clone()));
    }
    let refused = |cause| StartError::Listen { address: listener.address, cause };
    let claim = socket::claim(listener.address).map_err(refused)?;
    let socket = |_| socket::listen(claim.address).map(Arc::new);
    let sockets: io::Result<_> = (0..workers).map(socket).collect();
    Ok((claim.address, sockets.map_err(refused)?))
}

fn best_io() -> net::Io {
    if net::uring_works() { net::Io::Uring } else { net::Io::Epoll }
}

/// The body of a thread.
fn serve(
    shared: Arc<Shared>,
    number: usize,
    io: net::Io,
    listener: TcpListener,
    entrance: Entrance,
    started: Sender<()>,
) -> io::Result<()> {
    let options =
        net::Options { connections: EXPECTED, long_lived: true, listener: Some(listener) };
    let mut worker = Worker::new(shared, number, entrance, Some(started));
    net::run(io, options, &mut worker)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_lack_are_no_fault_of_the_address() {
        let refused = |errno: Errno| {
            let cause = errno.into();
            StartError::Listen { address: SocketAddr::from(([127, 0, 0, 1], 80)), cause }
                .to_string()
        };
        let (files, taken) = (refused(Errno::MFILE), refused(Errno::ADDRINUSE));
        assert!(files.contains("fewer --workers") && !files.contains("--listen"), "{files}");
        assert!(taken.ends_with("choose another with --listen"), "{taken}");
    }
}
