//! Replaces a running gateway without refusing a client: the new one gets the listening sockets of the earlier one,
//! which then ends as if it had been asked to stop.
//!
//! They talk over a Unix socket beside the store, which only its owner may use: `FILE.PORT.sock`, with the port of the
//! first listener.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use net::handing_over::{give, take};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::GatewayError;
use super::troubles::file_at;
use crate::config::Config;

/// How often a later gateway is looked for.
const LOOK: Duration = Duration::from_millis(50);
/// How long a later gateway may take to start, and an earlier one to answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// Rounds of connections that wake the gateway waiting at a socket, and connections of each round.
const WAKES: usize = 20;
const AT_ONCE: usize = 8;
/// The message of a later gateway once it serves.
const READY: u8 = b'!';

/// The socket at which a gateway of this store and first address is found.
pub(super) fn place(store: &Path, port: u16) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push(format!(".{port}.sock"));
    PathBuf::from(name)
}

/// A description of the sockets that are passed, in their order.
#[derive(Debug, Serialize, Deserialize)]
struct Given {
    /// Of each listener: its address, and how many sockets it has.
    listeners: Vec<(SocketAddr, usize)>,
    /// Whether the admin API's socket comes last.
    admin: bool,
    uring: bool,
}

/// The sockets of a gateway.
#[derive(Debug, Default)]
pub(super) struct Sockets {
    pub(super) listeners: Vec<(SocketAddr, Vec<Arc<TcpListener>>)>,
    pub(super) admin: Option<TcpListener>,
    pub(super) io: Option<net::Io>,
}

impl Sockets {
    /// Sets the number of threads to that of the earlier gateway, of which each had its socket of each listener. Returns a note
    /// where the configuration asks for another number.
    pub(super) fn keep_threads(&self, config: &mut Config) -> Option<String> {
        let had = self.listeners.iter().map(|(_, own)| own.len()).find(|had| *had > 0)?;
        let asked = config.workers.as_ref().map(|workers| *workers.get_ref());
        let wanted = asked.unwrap_or_else(|| net::limits::allowed_cpus().len().max(1));
        if had == wanted {
            return None;
        }
        config.workers = Some(Spanned::new(0..0, had));
        Some(format!(
            "threads of each listener: {had}, as the gateway had that was taken over, and not {wanted}: a start without \
             --take-over changes that"
        ))
    }
}

/// The earlier gateway, which still serves.
#[derive(Debug)]
pub(super) struct EarlierGateway {
    stream: UnixStream,
    place: PathBuf,
}

impl EarlierGateway {
    /// Asks the gateway at a place for its sockets.
    pub(super) fn ask(place: &Path) -> Result<(Self, Sockets), GatewayError> {
        let words = |error: io::Error| GatewayError::File(not_given(place, &error));
        let mut stream = UnixStream::connect(place).map_err(words)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(words)?;
        let (text, sockets) = take(&mut stream).map_err(words)?;
        let given: Given = serde_json::from_slice(&text).map_err(|e| words(e.into()))?;
        let mut sockets = sockets.into_iter().map(TcpListener::from);
        let mut of =
            |count: usize| -> Vec<_> { sockets.by_ref().take(count).map(Arc::new).collect() };
        let listeners: Vec<_> =
            given.listeners.iter().map(|(address, count)| (*address, of(*count))).collect();
        let admin = if given.admin { sockets.next() } else { None };
        let io = Some(if given.uring { net::Io::Uring } else { net::Io::Epoll });
        let place = place.to_owned();
        Ok((Self { stream, place }, Sockets { listeners, admin, io }))
    }

    /// Asks it to stop. Returns a stream that is closed once it has stopped; `None` where it has already.
    ///
    /// # Errors
    /// When it no longer listens to this gateway and continues: two would serve.
    pub(super) fn end(mut self) -> Result<Option<UnixStream>, GatewayError> {
        match self.stream.write_all(&[READY]) {
            Ok(()) => Ok(Some(self.stream)),
            Err(_) if UnixStream::connect(&self.place).is_err() => Ok(None),
            Err(error) => Err(GatewayError::File(format!(
                "{}: {error}: the gateway that runs waited {} s for this one to start, and goes on: try again",
                self.place.display(),
                PATIENCE.as_secs()
            ))),
        }
    }
}

/// Why a gateway passes no listeners.
fn not_given(place: &Path, error: &io::Error) -> String {
    let place = place.display();
    if is_no_end(error) {
        return format!(
            "{place}: the gateway that runs did not answer within {} s: see whether it is stopped, or end it and start without \
             --take-over",
            PATIENCE.as_secs()
        );
    }
    let has_ended = [io::ErrorKind::ConnectionReset, io::ErrorKind::UnexpectedEof];
    if has_ended.contains(&error.kind()) {
        return format!(
            "{place}: {error}: the gateway that ran has just ended, or another one has taken it over: try again"
        );
    }
    format!(
        "{place}: {error}: no gateway of this store and address gives its listeners away; start without --take-over"
    )
}

/// Waits for a later gateway until this one stops; then removes its socket file.
#[derive(Debug)]
pub(super) struct TakeoverSocket {
    listener: UnixListener,
    place: PathBuf,
    /// The file that this process made there.
    made: Option<(u64, u64)>,
}

/// Waits until a gateway that was asked to stop has stopped, or until `give_up`.
pub(super) fn wait_for_end(mut stream: UnixStream, give_up: impl Fn() -> bool) {
    let mut byte = [0];
    let ticks = stream.set_read_timeout(Some(LOOK)).is_ok();
    while ticks && !give_up() {
        match stream.read(&mut byte) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) if is_no_end(&error) => {}
            Err(_) => return,
        }
    }
}

/// Whether nothing has come yet.
fn is_no_end(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock)
}

impl TakeoverSocket {
    /// Opens a place; one that an earlier process left behind is replaced. `None` where there can be none, for its name
    /// is too long or the folder is read only: then this gateway cannot be taken over.
    pub(super) fn open(place: PathBuf) -> Option<Self> {
        // A later gateway replaces the place of the one that it takes over.
        let _ = fs::remove_file(&place);
        let listener = UnixListener::bind(&place).ok()?;
        fs::set_permissions(&place, fs::Permissions::from_mode(0o600)).ok()?;
        listener.set_nonblocking(true).ok()?;
        let made = file_at(&place);
        Some(Self { listener, place, made })
    }

    /// Serves it. `replaced` is set once a later gateway serves: what it is told by, when dropped, that this one has ended.
    pub(super) fn serve(
        self,
        sockets: &Sockets,
        replaced: &AtomicBool,
        stop: &AtomicBool,
    ) -> Option<UnixStream> {
        while !stop.load(Ordering::SeqCst) {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    if let Ok(Some(successor)) = hand_over(stream, sockets, stop) {
                        replaced.store(true, Ordering::SeqCst);
                        return Some(successor);
                    }
                }
                Err(_) => thread::sleep(LOOK),
            }
        }
        // A later gateway may have its own there.
        if self.made.is_some() && file_at(&self.place) == self.made {
            let _ = fs::remove_file(&self.place);
        }
        None
    }
}

/// Connects to listeners that were taken over, a few times for a second: of two that wait at one socket the kernel wakes
/// one for a new client, and where that was the earlier gateway, about to end, the client waits in the queue until another
/// comes.
pub(super) fn wake(addresses: &[SocketAddr]) {
    for _ in 0..WAKES {
        thread::sleep(LOOK);
        for address in addresses {
            let mut address = *address;
            if address.ip().is_unspecified() {
                address.set_ip(if address.is_ipv4() {
                    Ipv4Addr::LOCALHOST.into()
                } else {
                    Ipv6Addr::LOCALHOST.into()
                });
            }
            // Several, since each of the address's sockets gets its share of them. One that fails wakes nobody.
            let held: Vec<_> =
                (0..AT_ONCE).map(|_| TcpStream::connect_timeout(&address, LOOK)).collect();
            drop(held);
        }
    }
}

/// Gives the sockets away; returns the stream to the later gateway if that serves before this one stops.
fn hand_over(
    mut stream: UnixStream,
    sockets: &Sockets,
    stop: &AtomicBool,
) -> io::Result<Option<UnixStream>> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(LOOK))?;
    stream.set_write_timeout(Some(LOOK))?;
    let of_listeners = sockets.listeners.iter().flat_map(|(_, sockets)| sockets);
    let mut all: Vec<BorrowedFd<'_>> = of_listeners.map(|socket| socket.as_fd()).collect();
    all.extend(sockets.admin.iter().map(AsFd::as_fd));
    let given = Given {
        listeners: sockets.listeners.iter().map(|(at, sockets)| (*at, sockets.len())).collect(),
        admin: sockets.admin.is_some(),
        uring: sockets.io == Some(net::Io::Uring),
    };
    give(&mut stream, &serde_json::to_vec(&given)?, &all)?;
    let mut said = [0];
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until && !stop.load(Ordering::SeqCst) {
        match stream.read(&mut said) {
            Ok(1) if said[0] == READY => return Ok(Some(stream)),
            // A later gateway that does not start closes the connection instead: this one goes on.
            Ok(_) => return Ok(None),
            Err(error) if is_no_end(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The earlier gateway no longer waits for the later one, and serves on.
    #[test]
    fn an_earlier_gateway_that_goes_on_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(&folder.path().join("gate.db"), 1);
        let door = TakeoverSocket::open(place.clone()).unwrap();
        let ask = || {
            let stream = UnixStream::connect(&place).unwrap();
            drop(door.listener.accept().unwrap());
            EarlierGateway { stream, place: place.clone() }
        };
        let (told_in_vain, of_a_dead_one) = (ask(), ask());
        assert!(matches!(told_in_vain.end(), Err(GatewayError::File(_))));
        drop(door);
        assert!(matches!(of_a_dead_one.end(), Ok(None)));
    }

    /// To start without --take-over, which was advised, fails where the port is taken.
    #[test]
    fn an_earlier_gateway_that_is_stopped_is_told_from_none() {
        let said = |kind: io::ErrorKind| not_given(Path::new("gate.db.1.sock"), &kind.into());
        let stopped = said(io::ErrorKind::WouldBlock);
        assert!(stopped.contains("did not answer within 30 s"), "{stopped}");
        let none = said(io::ErrorKind::ConnectionRefused);
        assert!(none.ends_with("listeners away; start without --take-over"), "{none}");
        // As where two take over at a time.
        let ended = said(io::ErrorKind::ConnectionReset);
        assert!(ended.ends_with("another one has taken it over: try again"), "{ended}");
    }

    /// A later gateway that does not come to serve keeps nobody from ending.
    #[test]
    fn who_asks_and_says_nothing_is_not_waited_for_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(&folder.path().join("gate.db"), 1);
        let door = TakeoverSocket::open(place.clone()).unwrap();
        let (replaced, stop) = (AtomicBool::new(false), AtomicBool::new(false));
        thread::scope(|scope| {
            let (ended, told) = std::sync::mpsc::channel();
            let (replaced, stop) = (&replaced, &stop);
            scope.spawn(move || {
                let successor = door.serve(&Sockets::default(), replaced, stop);
                ended.send(successor.is_none()).unwrap();
            });
            let (_silent, _) = EarlierGateway::ask(&place).unwrap();
            stop.store(true, Ordering::SeqCst);
            assert_eq!(told.recv_timeout(PATIENCE / 3), Ok(true));
        });
        assert!(!replaced.load(Ordering::SeqCst));
    }

    #[test]
    fn a_later_gateway_keeps_its_place_when_the_earlier_one_stops() {
        let folder = tempfile::tempdir().unwrap();
        let place = place(&folder.path().join("gate.db"), 1);
        let (replaced, stop) = (AtomicBool::new(false), AtomicBool::new(true));
        let earlier = TakeoverSocket::open(place.clone()).unwrap();
        let later = TakeoverSocket::open(place.clone()).unwrap();
        assert!(earlier.serve(&Sockets::default(), &replaced, &stop).is_none());
        assert!(place.exists());
        assert!(later.serve(&Sockets::default(), &replaced, &stop).is_none());
        assert!(!place.exists());
    }
}
