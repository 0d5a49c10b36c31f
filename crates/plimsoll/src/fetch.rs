//! One request for a profile, as `curl` would make it. Owns connecting, TLS, the bounds on time and bytes, and the errors.
//! Not used for loads.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use engine::TlsSettings;
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};
use wire::{Eof, Limits, RequestParts, ResponseEvent, ResponseParser, ResponseTo, encode_request};

use crate::load::address::Destination;

/// Bytes of a response at most: profiles are packed, and take less than 10 MiB.
const LARGEST: usize = 256 << 20;
/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(5);

/// A response.
#[derive(Debug)]
pub struct Fetched {
    /// Its status.
    pub status: u16,
    /// Where it sends the client instead; empty where it says nothing.
    pub location: String,
    /// Its body.
    pub body: Vec<u8>,
    /// When the request was sent.
    pub sent: Instant,
}

/// Sends a GET and reads the response, within `patience`.
///
/// # Errors
/// A sentence, when nobody can be reached, time runs out, or what comes is no response of HTTP or too large.
pub fn get(
    to: &Destination,
    headers: &[(String, String)],
    patience: Duration,
) -> Result<Fetched, String> {
    let deadline = Instant::now() + patience;
    let words = |error: io::Error| match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            format!("no whole response within {} s", patience.as_secs())
        }
        _ => error.to_string(),
    };
    let mut stream = connect(to).map_err(|error| format!("cannot connect: {error}"))?;
    stream.set_read_timeout(Some(patience)).map_err(words)?;
    stream.set_write_timeout(Some(CONNECT)).map_err(words)?;
    let mut request = Vec::new();
    let parts = RequestParts {
        method: "GET",
        target: &to.target,
        host: &to.authority,
        headers,
        body: None,
        keep_alive: false,
    };
    encode_request(&mut request, &parts).map_err(|error| error.to_string())?;
    if to.tls {
        let mut stream = tls(to, stream)?;
        exchange(&mut stream, &request, deadline).map_err(words)
    } else {
        exchange(&mut stream, &request, deadline).map_err(words)
    }
}

fn connect(to: &Destination) -> io::Result<TcpStream> {
    let mut last = io::Error::other("its name has no address");
    for address in (to.host.as_str(), to.port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn tls(
    to: &Destination,
    stream: TcpStream,
) -> Result<StreamOwned<ClientConnection, TcpStream>, String> {
    let settings = TlsSettings {
        system_roots: crate::load::tls::system_roots(),
        tls12: true,
        tls13: true,
        ..TlsSettings::default()
    };
    let config = engine::client_config(&settings)
        .map_err(|_| "no trusted certificates are installed".to_owned())?;
    let name = ServerName::try_from(to.host.clone())
        .map_err(|_| format!("`{}` is not a valid TLS server name", to.host))?;
    let client = ClientConnection::new(config, name).map_err(|error| error.to_string())?;
    Ok(StreamOwned::new(client, stream))
}

fn exchange(
    stream: &mut (impl Read + Write),
    request: &[u8],
    deadline: Instant,
) -> io::Result<Fetched> {
    stream.write_all(request)?;
    stream.flush()?;
    let mut fetched =
        Fetched { status: 0, location: String::new(), body: Vec::new(), sent: Instant::now() };
    let mut parser = ResponseParser::new(Limits::default());
    parser.begin(ResponseTo::Other);
    let mut buffer = vec![0; 64 << 10];
    loop {
        if Instant::now() > deadline {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let read = match stream.read(&mut buffer) {
            Ok(0) => {
                return match parser.eof() {
                    Eof::Complete => Ok(fetched),
                    _ => {
                        Err(io::Error::other("the connection was closed before the response ended"))
                    }
                };
            }
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            // Many servers of TLS close without saying so.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return match parser.eof() {
                    Eof::Complete => Ok(fetched),
                    _ => Err(error),
                };
            }
            Err(error) => return Err(error),
        };
        let mut input = &buffer[..read];
        while let Some(event) = parser.next(&mut input).map_err(io::Error::other)? {
            match event {
                ResponseEvent::Head(head) => {
                    let location = head.headers.get("location").unwrap_or_default();
                    fetched.location = String::from_utf8_lossy(location).into_owned();
                    fetched.status = head.status;
                }
                ResponseEvent::Body(bytes) if fetched.body.len() + bytes.len() <= LARGEST => {
                    fetched.body.extend_from_slice(bytes);
                }
                ResponseEvent::Body(_) => {
                    return Err(io::Error::other("the response has more than 256 MiB"));
                }
                ResponseEvent::End { .. } => return Ok(fetched),
            }
        }
    }
}
