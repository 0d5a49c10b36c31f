//! Creates sockets with the options that both nets need.

use std::io;
use std::mem::ManuallyDrop;
use std::net::{Shutdown, SocketAddr, TcpListener};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::SocketAddrUnix;
use socket2::{Domain, Protocol, Socket, Type};

use crate::{Peer, Route};

/// The accept queue requested; the kernel limits it to `net.core.somaxconn`.
const ACCEPT_QUEUE: i32 = 65_535;
/// Pause before a Unix socket whose queue is full is tried again.
const QUEUE_PAUSE: Duration = Duration::from_millis(5);

/// A listening socket with `SO_REUSEPORT`, so that each thread can have one.
///
/// # Errors
/// When the address is not local, is taken, or may not be bound.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = bound(address, true)?;
    socket.listen(ACCEPT_QUEUE)?;
    Ok(socket.into())
}

/// A socket bound to an address, which others may share or not.
fn bound(address: SocketAddr, shareable: bool) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(shareable)?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.bind(&address.into())?;
    Ok(socket)
}

/// An address where no other process listens, held until the listeners of this process stand there.
#[derive(Debug)]
pub struct Claim {
    /// Where to listen; the port is the one that the kernel chose where 0 was asked for.
    pub address: SocketAddr,
    /// Bound and not listening: no connection can come to it, and the kernel gives its port to nobody who lets it
    /// choose one.
    _bound: Socket,
}

/// Claims the address for listeners with `SO_REUSEPORT`. They would not notice that they share it: the kernel would
/// let them share it with another server, and give each a part of the clients.
///
/// # Errors
/// When the address is not local, somebody listens there, or it may not be bound.
pub fn claim(address: SocketAddr) -> io::Result<Claim> {
    let held = bound(address, true)?;
    let address = held.local_addr()?.as_socket().unwrap_or(address);
    // Without `SO_REUSEPORT`: refused beside any listener.
    bound(address, false)?.listen(1)?;
    Ok(Claim { address, _bound: held })
}

/// Whether a peer waits to be accepted, as far as is known: where that cannot be asked, one may.
pub(crate) fn has_peers(listener: &TcpListener) -> bool {
    let mut looked = [PollFd::new(listener, PollFlags::IN)];
    rustix::event::poll(&mut looked, Some(&Timespec::default())) != Ok(0)
}

/// Checks whether this route leads to a connection, and closes it again.
///
/// # Errors
/// When it was refused, did not stand within `within`, or the source cannot be bound.
pub fn try_connect(route: &Route, within: Duration) -> io::Result<()> {
    let (socket, address) = (Socket::from(outgoing(route, Type::STREAM)?), route.to.address()?);
    let until = Instant::now() + within;
    loop {
        // A time-out of zero is refused.
        let left = until.saturating_duration_since(Instant::now()).max(QUEUE_PAUSE);
        match socket.connect_timeout(&address, left) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && Instant::now() < until => {
                thread::sleep(QUEUE_PAUSE);
            }
            ended => return ended,
        }
    }
}

/// A socket bound as the route wants it, not yet connected. Its kind is that of a stream, blocking or not.
pub(crate) fn outgoing(route: &Route, kind: Type) -> io::Result<OwnedFd> {
    let Some(to) = route.to.tcp() else {
        return Ok(Socket::new(Domain::UNIX, kind, None)?.into());
    };
    let socket = Socket::new(Domain::for_address(to), kind, Some(Protocol::TCP))?;
    socket.set_tcp_nodelay(true)?;
    if let Some(from) = route.from {
        // The port is then chosen at connect time, when the destination is known: one source
        // address serves as many connections to each destination as there are ports.
        bind_address_no_port(socket.as_raw_fd())?;
        socket.bind(&SocketAddr::new(from, 0).into())?;
    }
    Ok(socket.into())
}

/// Starts connecting a non-blocking socket. Where the queue of a Unix socket is full, that would block.
pub(crate) fn start_connect(fd: &OwnedFd, to: &Peer) -> io::Result<()> {
    let started = match to {
        Peer::Tcp(to) => rustix::net::connect(fd, to),
        Peer::Unix(unix) => {
            SocketAddrUnix::new(unix.path()).and_then(|to| rustix::net::connect(fd, &to))
        }
    };
    match started {
        Ok(()) | Err(rustix::io::Errno::INPROGRESS) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The error that a connection attempt ended with; `None` when it stands.
pub(crate) fn take_error(fd: RawFd) -> Option<io::Error> {
    borrowed(fd).take_error().unwrap_or_else(Some)
}

/// The other end's address and port.
pub(crate) fn peer_address(fd: RawFd) -> Option<SocketAddr> {
    borrowed(fd).peer_addr().ok()?.as_socket()
}

/// Lets a connection be reset instead of closed in order.
pub(crate) fn reset_on_close(fd: RawFd) {
    // A failure here turns the RST into a FIN; nothing else depends on it.
    let _ = borrowed(fd).set_linger(Some(Duration::ZERO));
}

/// Ends sending (a FIN goes out), receiving, or both.
pub(crate) fn shutdown(fd: RawFd, how: Shutdown) {
    // Fails if the peer is gone already, which is as good.
    let _ = borrowed(fd).shutdown(how);
}

/// Switches Nagle's delay off on an accepted connection.
pub(crate) fn no_delay(fd: RawFd) {
    // A refusal costs latency alone and shows in the figures.
    let _ = borrowed(fd).set_tcp_nodelay(true);
}

/// Where `tcpi_bytes_acked` lies in the kernel's `struct tcp_info`, since Linux 4.1.
const BYTES_ACKED: usize = 120;

/// Bytes that the peer has acknowledged, where the kernel says.
pub(crate) fn acknowledged(fd: RawFd) -> Option<u64> {
    let mut info = [0_u64; 32];
    let mut length = size_of_val(&info) as libc::socklen_t;
    // SAFETY: the kernel writes no more than `length` bytes to the array, and the length; both live for the call.
    let result = unsafe {
        libc::getsockopt(
            fd,
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    let is_reported = result == 0 && length as usize >= BYTES_ACKED + size_of::<u64>();
    is_reported.then_some(info[BYTES_ACKED / size_of::<u64>()])
}

fn borrowed(fd: RawFd) -> ManuallyDrop<Socket> {
    // SAFETY: the callers hold `fd` open for the call, and `ManuallyDrop` never closes it.
    ManuallyDrop::new(unsafe { Socket::from_raw_fd(fd) })
}

fn bind_address_no_port(fd: RawFd) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the option takes an int, which lives for the call.
    let result = unsafe {
        libc::setsockopt(
            fd,
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr, TcpStream};

    use super::*;

    /// `0.0.0.0:80` and `[::]:80` could be had in the other order only.
    #[test]
    fn a_port_of_ipv4_is_free_for_ipv6() {
        if listen((Ipv6Addr::LOCALHOST, 0).into()).is_err() {
            return;
        }
        // Some other program may have one of these ports.
        let is_free = |one: &TcpListener| {
            let port = one.local_addr().expect("an address").port();
            claim((Ipv6Addr::UNSPECIFIED, port).into()).is_ok()
        };
        let of_ipv4: Vec<_> =
            (0..8).map(|_| listen((Ipv4Addr::LOCALHOST, 0).into()).expect("a port")).collect();
        assert!(of_ipv4.iter().any(is_free));
    }

    #[test]
    fn a_claimed_port_is_for_the_listeners_of_this_process() {
        let claimed = claim((Ipv4Addr::LOCALHOST, 0).into()).expect("a port");
        // The kernel does not choose it for others, however often they ask.
        let others: Vec<_> = (0..200)
            .map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("another port"))
            .collect();
        assert!(others.iter().all(|other| other.local_addr().expect("one") != claimed.address));
        let (one, two) = (listen(claimed.address), listen(claimed.address));
        let error = claim(claimed.address).expect_err("they listen there");
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
        // A connection comes to those that listen, not to what is bound only.
        drop(two);
        for _ in 0..20 {
            TcpStream::connect(claimed.address).expect("it listens");
            one.as_ref().expect("a listener").accept().expect("a connection");
        }
    }

    #[test]
    fn a_peer_that_waits_is_known() {
        let listener = listen((Ipv4Addr::LOCALHOST, 0).into()).expect("a port");
        assert!(!has_peers(&listener));
        let to = listener.local_addr().expect("an address");
        let _peer = TcpStream::connect(to).expect("it listens");
        assert!(has_peers(&listener));
    }
}
