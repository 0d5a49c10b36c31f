//! Connections to servers beside the path of requests: to the first address of a name that takes one.

use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// Connects within `patience` in all; looking up the name takes its own time.
///
/// # Errors
/// Why the last address that was tried took no connection, or that the name has none.
pub(crate) fn connect(place: impl ToSocketAddrs, patience: Duration) -> io::Result<TcpStream> {
    let mut why = io::Error::other("the name has no address");
    let addresses = place.to_socket_addrs()?;
    let until = Instant::now() + patience;
    for address in addresses {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        match TcpStream::connect_timeout(&address, left) {
            Ok(stream) => return Ok(stream),
            Err(error) => why = error,
        }
    }
    Err(why)
}

#[cfg(test)]
mod tests {
    use std::net::{SocketAddr, TcpListener};

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(5);

    /// Of `localhost`, `::1` is often the first, where a server listens on 127.0.0.1 alone.
    #[test]
    fn an_address_that_refuses_is_followed_by_the_next() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let listens = listener.local_addr().unwrap();
        let refuses = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let stream = connect(&[refuses, listens][..], PATIENCE).unwrap();
        assert_eq!(stream.peer_addr().unwrap(), listens);
        let why = connect(&[refuses][..], PATIENCE).unwrap_err();
        assert_eq!(why.kind(), io::ErrorKind::ConnectionRefused);
        let none: &[SocketAddr] = &[];
        assert_eq!(connect(none, PATIENCE).unwrap_err().to_string(), "the name has no address");
    }
}
