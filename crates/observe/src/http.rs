//! One small HTTP request for a page of figures: `GET`, in the clear, within bounds of time and size. Pages are on
//! machines that the user named; redirects are not followed.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use url::Url;

use crate::dial;

/// Bytes of a page that are read: an exporter may have 100,000 series.
const MOST_BYTES: usize = 8 << 20;

/// The body of a page.
///
/// # Errors
/// In words, without the URL's secrets: when it does not come within `timeout`, is too long, or is no success.
pub fn get(url: &Url, timeout: Duration) -> Result<Vec<u8>, String> {
    let deadline = Instant::now() + timeout;
    let host = url.host_str().ok_or("the URL has no host")?;
    let port = url.port_or_known_default().unwrap_or(80);
    let mut stream = dial::connect(url, port, timeout)?;
    let address = stream.peer_addr().map_err(|error| error.to_string())?;
    let path = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    let request = format!(
        "GET {path} HTTP/1.0\r\nHost: {host}:{port}\r\nAccept: text/plain, */*\r\nConnection: close\r\n\r\n"
    );
    stream.set_write_timeout(Some(timeout)).map_err(|error| error.to_string())?;
    stream.write_all(request.as_bytes()).map_err(|error| format!("{address}: {error}"))?;
    let bytes = read(&mut stream, deadline).map_err(|error| format!("{address}: {error}"))?;
    body(&bytes).map(<[u8]>::to_vec)
}

fn read(stream: &mut TcpStream, deadline: Instant) -> Result<Vec<u8>, String> {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 16 * 1024]);
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err("no whole page in time".to_owned());
        }
        stream.set_read_timeout(Some(left)).map_err(|error| error.to_string())?;
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(bytes),
            Ok(n) if bytes.len() + n > MOST_BYTES => {
                return Err("the page exceeds 8 MiB".to_owned());
            }
            Ok(n) => bytes.extend_from_slice(&buffer[..n]),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                return Err("no whole page in time".to_owned());
            }
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// The body of a response, whose connection ends with it: all of it, for a number that is cut in two is another one.
fn body(response: &[u8]) -> Result<&[u8], String> {
    let head = response.windows(4).position(|four| four == b"\r\n\r\n");
    let Some(end) = head else { return Err("no HTTP response came".to_owned()) };
    let head = String::from_utf8_lossy(&response[..end]);
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (version, status) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    if !version.starts_with("HTTP/1.") {
        return Err("no HTTP response came".to_owned());
    }
    if status != "200" {
        return Err(format!("the page answers with status {}", status.escape_default()));
    }
    let body = &response[end + 4..];
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        if name.eq_ignore_ascii_case("transfer-encoding") {
            return Err("the page comes in pieces, which HTTP/1.0 has none of".to_owned());
        }
        if name.eq_ignore_ascii_case("content-length") {
            let length: usize =
                value.trim().parse().map_err(|_| "the page has no proper length".to_owned())?;
            let cut = || format!("the page was cut off: {} of {length} bytes came", body.len());
            return body.get(..length).ok_or_else(cut);
        }
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses() {
        for (response, found) in [
            (&b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nActive"[..], Ok(&b"Active"[..])),
            (b"HTTP/1.1 404 Not Found\r\n\r\n", Err("the page answers with status 404".to_owned())),
            (b"HTTP/1.0 200 OK\r\nContent-Length: 6\r\n\r\nActive and more", Ok(b"Active")),
            (
                b"HTTP/1.0 200 OK\r\ncontent-length: 60\r\n\r\nActive",
                Err("the page was cut off: 6 of 60 bytes came".to_owned()),
            ),
            (
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nA\r\n0\r\n\r\n",
                Err("the page comes in pieces, which HTTP/1.0 has none of".to_owned()),
            ),
            (b"SSH-2.0\r\n\r\n", Err("no HTTP response came".to_owned())),
            (b"", Err("no HTTP response came".to_owned())),
        ] {
            assert_eq!(body(response), found);
        }
    }
}
