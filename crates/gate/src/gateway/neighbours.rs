//! Other running gateways of the same store, found by the sockets at which they wait to be taken over (see `takeover`).
//!
//! They are found without sending them anything. `troubles` says what follows from one.

use std::fs;
use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::Errno;

use super::GatewayError;
use super::takeover::place;
use super::troubles::file_at;
use crate::path::StartError;

/// What distinguishes other gateways from this one.
#[derive(Debug)]
pub(super) struct Neighbours {
    /// Where this gateway waits.
    own: PathBuf,
    /// The file that it made there.
    made: Option<(u64, u64)>,
    /// Another gateway has taken this one over: what is there is that one's.
    replaced: Arc<AtomicBool>,
}

impl Neighbours {
    /// For a gateway that waits at this place already.
    pub(super) fn of(own: PathBuf, replaced: Arc<AtomicBool>) -> Self {
        let made = file_at(&own);
        Self { own, made, replaced }
    }

    /// The place of another gateway of the store, if there is one. A later gateway that listens at the same port, as in another
    /// container, has replaced this one's place.
    pub(super) fn look(&self, store: &Path) -> Option<PathBuf> {
        if self.replaced.load(Ordering::SeqCst) {
            return None;
        }
        let folder = store.parent().filter(|folder| !folder.as_os_str().is_empty());
        let begin = store.file_name()?.to_str()?;
        let is_place = |place: &PathBuf| {
            let name = place.file_name().and_then(|name| name.to_str());
            let rest = name.and_then(|name| name.strip_prefix(begin)?.strip_prefix('.'));
            let port = rest.and_then(|rest| rest.strip_suffix(".sock"));
            port.is_some_and(|port| port.parse::<u16>().is_ok())
        };
        let found = fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
        let mut places = found.filter_map(|found| Some(found.ok()?.path())).filter(is_place);
        places.find(|place| {
            let is_own = place.file_name() == self.own.file_name() && file_at(place) == self.made;
            !is_own && is_alive(place)
        })
    }
}

/// Whether a gateway waits at a place. What waits there takes streams, so a datagram socket is refused for its type; where
/// nobody waits it is refused for that.
pub(super) fn is_alive(place: &Path) -> bool {
    let asked = UnixDatagram::unbound().and_then(|socket| socket.connect(place));
    asked.is_err_and(|error| Errno::from_io_error(&error) == Some(Errno::PROTOTYPE))
}

/// Why the data path did not start. A gateway that was to run beside one of the same store and port may have been meant to
/// replace it.
pub(super) fn not_started(error: StartError, store: &Path, takes_over: bool) -> GatewayError {
    if !takes_over
        && let StartError::Listen { address, cause } = &error
        && cause.kind() == io::ErrorKind::AddrInUse
        && is_alive(&place(store, address.port()))
    {
        return GatewayError::File(format!(
            "{error}, or take the place of the gateway that runs with this port and store: --take-over"
        ));
    }
    GatewayError::Path(error)
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn who_meets_a_gateway_of_the_store_is_told_how_to_replace_it() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("gate.db");
        let said = |port: u16, errno: Errno, takes_over: bool| {
            let address = SocketAddr::from(([127, 0, 0, 1], port));
            let error = StartError::Listen { address, cause: errno.into() };
            not_started(error, &store, takes_over).to_string()
        };
        assert!(said(1, Errno::ADDRINUSE, false).ends_with("choose another with --listen"));
        let _running = UnixListener::bind(place(&store, 1)).unwrap();
        let replaces = |said: String| said.contains("another with --listen, or take the place");
        assert!(replaces(said(1, Errno::ADDRINUSE, false)));
        let others =
            [(1, Errno::ADDRINUSE, true), (1, Errno::ACCESS, false), (2, Errno::ADDRINUSE, false)];
        for (port, errno, takes_over) in others {
            assert!(!replaces(said(port, errno, takes_over)), "{port} {errno} {takes_over}");
        }
    }

    #[test]
    fn who_waits_at_another_place_of_the_store_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("gate.db");
        let own = UnixListener::bind(place(&store, 1)).unwrap();
        let neighbours = Neighbours::of(place(&store, 1), Arc::default());
        // Of another store, and no place of a gateway.
        let _others = ["gate.db2.7.sock", "gate.db.x.sock"]
            .map(|name| UnixListener::bind(folder.path().join(name)).unwrap());
        assert_eq!(neighbours.look(&store), None);
        let other = UnixListener::bind(place(&store, 2)).unwrap();
        assert_eq!(neighbours.look(&store), Some(place(&store, 2)));
        other.set_nonblocking(true).unwrap();
        assert!(other.accept().is_err(), "it was not spoken to");
        drop(other);
        assert_eq!(neighbours.look(&store), None, "it was left behind");
        // The own place is another gateway's now; or the one's that has taken this one over.
        drop(own);
        fs::rename(place(&store, 1), folder.path().join("kept")).unwrap();
        let _later = UnixListener::bind(place(&store, 1)).unwrap();
        assert_eq!(neighbours.look(&store), Some(place(&store, 1)));
        neighbours.replaced.store(true, Ordering::SeqCst);
        assert_eq!(neighbours.look(&store), None);
    }
}
