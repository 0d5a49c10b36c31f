//! Connections outside of the data path: to the first address of a host name that accepts one.

use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// Connects within `patience` in total, not counting the lookup of the name. Each address gets an equal part of the time that
/// is left, since one may not answer at all.
///
/// # Errors
/// Why the last address failed, or that the name has no address.
pub(crate) fn connect(place: impl ToSocketAddrs, patience: Duration) -> io::Result<TcpStream> {
    let mut why = io::Error::other("the name has no address");
    let addresses: Vec<SocketAddr> = place.to_socket_addrs()?.collect();
    let until = Instant::now() + patience;
    for (tried, address) in addresses.iter().enumerate() {
        let left = until.saturating_duration_since(Instant::now());
        let part = left / (addresses.len() - tried) as u32;
        if part.is_zero() {
            break;
        }
        match TcpStream::connect_timeout(address, part) {
            Ok(stream) => return Ok(stream),
            Err(error) => why = error,
        }
    }
    Err(why)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    /// Of `localhost`, `::1` is often the first, where a server listens on 127.0.0.1 alone.
    #[test]
    fn an_address_that_refuses_is_followed_by_the_next() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let listens = listener.local_addr().unwrap();
        let refuses = testkit::ports::reserved();
        let stream = connect(&[refuses, listens][..], PATIENCE).unwrap();
        assert_eq!(stream.peer_addr().unwrap(), listens);
        let why = connect(&[refuses][..], PATIENCE).unwrap_err();
        assert_eq!(why.kind(), io::ErrorKind::ConnectionRefused);
        let none: &[SocketAddr] = &[];
        assert_eq!(connect(none, PATIENCE).unwrap_err().to_string(), "the name has no address");
    }

    /// It was waited for until no time was left for the next.
    #[test]
    fn an_address_that_does_not_answer_is_followed_by_the_next() {
        let [silent, listener] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let [is_silent, listens] = [&silent, &listener].map(|it| it.local_addr().unwrap());
        // A queue that is full takes nobody else.
        let fill = || TcpStream::connect_timeout(&is_silent, Duration::from_millis(200)).ok();
        let queued: Vec<TcpStream> = std::iter::from_fn(fill).collect();
        let stream = connect(&[is_silent, listens][..], Duration::from_secs(2)).unwrap();
        assert_eq!(stream.peer_addr().unwrap(), listens);
        drop(queued);
    }
}
