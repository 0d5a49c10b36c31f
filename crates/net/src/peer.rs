//! Whom to connect to: an address of TCP, or a Unix socket.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use socket2::SockAddr;

/// Bytes of a Unix socket's path at most: the kernel's `sun_path`, less the byte 0 at its end.
const LONGEST: usize = 107;

/// What [`Peer`]s are called that are Unix sockets, before their path.
const UNIX: &str = "unix:";

/// The other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// An address and port.
    Tcp(SocketAddr),
    /// A socket in the file system.
    Unix(UnixPath),
}

/// The path of a Unix socket, short enough for the kernel.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct UnixPath {
    /// The path, then zeros.
    bytes: [u8; LONGEST],
    length: u8,
}

impl UnixPath {
    /// Takes a path.
    ///
    /// # Errors
    /// When it is empty, too long, or holds a byte 0.
    pub fn new(path: &Path) -> io::Result<Self> {
        let given = path.as_os_str().as_bytes();
        let wrong = |what: String| Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        if given.is_empty() || given.contains(&0) {
            return wrong("is not the path of a socket".to_owned());
        }
        if given.len() > LONGEST {
            return wrong(format!("is longer than the {LONGEST} bytes that the kernel takes"));
        }
        let mut bytes = [0; LONGEST];
        bytes[..given.len()].copy_from_slice(given);
        Ok(Self { bytes, length: given.len() as u8 })
    }

    /// The path.
    pub fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.bytes[..usize::from(self.length)]))
    }
}

impl Peer {
    /// Reads what [`Peer`] prints.
    pub fn parse(text: &str) -> Option<Self> {
        match text.strip_prefix(UNIX) {
            Some(path) => UnixPath::new(Path::new(path)).map(Self::Unix).ok(),
            None => text.parse().map(Self::Tcp).ok(),
        }
    }

    /// The address and port, if it has one.
    pub const fn tcp(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(address) => Some(*address),
            Self::Unix(_) => None,
        }
    }

    /// As the kernel takes it.
    pub(crate) fn address(&self) -> io::Result<SockAddr> {
        match self {
            Self::Tcp(address) => Ok(SockAddr::from(*address)),
            Self::Unix(unix) => SockAddr::unix(unix.path()),
        }
    }
}

impl From<SocketAddr> for Peer {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp(address)
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "{address}"),
            Self::Unix(unix) => write!(f, "{UNIX}{}", unix.path().display()),
        }
    }
}

impl fmt::Debug for UnixPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.path())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_read_as_they_are_printed() {
        for text in ["127.0.0.1:80", "[::1]:8080", "unix:/run/api.sock", "unix:a b"] {
            assert_eq!(Peer::parse(text).unwrap().to_string(), text);
        }
        for text in ["unix:", "localhost:80", ""] {
            assert_eq!(Peer::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_path_has_107_bytes_at_most() {
        assert!(UnixPath::new(Path::new(&"a".repeat(107))).is_ok());
        for path in [String::new(), "a".repeat(108), "a\0b".to_owned()] {
            assert!(UnixPath::new(Path::new(&path)).is_err(), "{path:?}");
        }
    }
}
