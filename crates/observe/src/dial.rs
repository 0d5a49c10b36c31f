//! Connects to the host of a URL. A name may have several addresses, and a server may listen on one of them only:
//! `localhost` is `::1` first on most machines, and many servers listen on `127.0.0.1` alone.

use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use url::Url;

/// Addresses of a name that are tried.
const MOST_ADDRESSES: usize = 8;

/// Connects to the first address of a URL's host that takes it, within `timeout` for all of them.
///
/// # Errors
/// In words, of the first address, when none takes it or the host has none.
pub(crate) fn connect(url: &Url, usual_port: u16, timeout: Duration) -> Result<TcpStream, String> {
    let deadline = Instant::now() + timeout;
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let addresses = (bare, url.port().unwrap_or(usual_port))
        .to_socket_addrs()
        .map_err(|error| format!("{host}: {error}"))?;
    let addresses: Vec<_> = addresses.take(MOST_ADDRESSES).collect();
    let mut refused = None;
    for (tried, address) in addresses.iter().enumerate() {
        // One that says nothing leaves time for the others.
        let left = deadline.saturating_duration_since(Instant::now());
        let share = left / u32::try_from(addresses.len() - tried).unwrap_or(1);
        match TcpStream::connect_timeout(address, share.max(Duration::from_millis(1))) {
            Ok(stream) => return Ok(stream),
            Err(error) => {
                refused.get_or_insert_with(|| format!("cannot connect to {address}: {error}"));
            }
        }
    }
    Err(refused.unwrap_or_else(|| format!("{host} has no address")))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_name_is_connected_to_by_whichever_address_listens() {
        for at in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(at) else { continue };
            let port = listener.local_addr().expect("an address").port();
            let addresses = ("localhost", port).to_socket_addrs().expect("every machine has it");
            if addresses.map(|address| address.is_ipv6()).all(|ipv6| ipv6 != at.starts_with('[')) {
                // The name has no such address here.
                continue;
            }
            let url = Url::parse(&format!("http://localhost:{port}/")).expect("a URL");
            let stream = connect(&url, 80, Duration::from_secs(60)).expect("it listens");
            assert_eq!(stream.peer_addr().expect("an address").port(), port);
        }
    }

    #[test]
    fn who_refuses_is_named() {
        let address = testkit::ports::reserved();
        let url = Url::parse(&format!("http://{address}/")).expect("a URL");
        let error = connect(&url, 80, Duration::from_secs(60)).expect_err("nobody listens");
        assert!(error.contains(&format!("cannot connect to {address}")), "{error}");
    }
}
