//! Writes messages as bytes: exactly what the caller specified, or an error.
//!
//! Owns the guarantee that no byte a user typed can end a line, a head or a body early, whatever it
//! came from; what was written is read back equal by the parsers of this crate. `engine` and `target`
//! send the bytes.

use std::fmt;

use crate::bytes::{is_authority, is_token, text_run, trim};
use crate::error::WireError;
use crate::framing::{Facts, Framing, Section};
use crate::reason::reason;
use crate::start_line::check_target;

/// A request to be written.
#[derive(Debug, Clone, Copy)]
pub struct RequestParts<'a, N, V> {
    /// The method, a token; case matters.
    pub method: &'a str,
    /// The request target, in the form that belongs to the method (RFC 9112 section 3.2), escaped
    /// as far as it needs to be and without a fragment.
    pub target: &'a str,
    /// `host` or `host:port`, for the `Host` header; not looked at when `headers` has one.
    pub host: &'a str,
    /// Header fields in order. `Host`, `Content-Length` and `Connection` replace the computed ones, and with
    /// `Transfer-Encoding: chunked` the body is sent as one chunk.
    pub headers: &'a [(N, V)],
    /// The body. `None` for a method that usually has one (POST, PUT, PATCH) says
    /// `Content-Length: 0`.
    pub body: Option<&'a [u8]>,
    /// Whether another request is to follow on the connection.
    pub keep_alive: bool,
}

/// Why a message cannot be written: what the caller (usually the user) specified is not valid HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeError {
    /// The method is not a token.
    Method {
        /// It.
        method: String,
    },
    /// The target is empty, holds a space, control byte, `#` or non-ASCII, or does not begin with
    /// `/`, `http://` or `https://` (`*` goes with OPTIONS, `host:port` with CONNECT).
    Target {
        /// It.
        target: String,
    },
    /// The host is not `host` or `host:port`.
    Host {
        /// It.
        host: String,
    },
    /// A header's name is not a token.
    HeaderName {
        /// It.
        name: String,
    },
    /// A header's value holds a control byte.
    HeaderValue {
        /// The header's name; the value may be a secret and is not kept.
        name: String,
        /// The byte.
        byte: u8,
    },
    /// The headers contradict one another as to the framing.
    Framing(WireError),
    /// A `Content-Length` given by the user differs from the body's length.
    Length {
        /// The header's value.
        declared: u64,
        /// The body's length, bytes.
        body: u64,
    },
    /// A status outside 100 to 999.
    Status {
        /// It.
        status: u16,
    },
    /// A length or chunks for a response that can have no body (1xx, 204).
    BodyForbidden {
        /// Its status.
        status: u16,
    },
    /// `Content-Length` or `Transfer-Encoding` among a response's headers; [`Framing`] says these.
    FramingHeader {
        /// The header's name.
        name: String,
    },
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Method { method } => write!(f, "{method:?} is not an HTTP method"),
            Self::Target { target } => write!(f, "{target:?} is not a request target"),
            Self::Host { host } => write!(f, "{host:?} is neither `host` nor `host:port`"),
            Self::HeaderName { name } => write!(f, "{name:?} is not a header name"),
            Self::HeaderValue { name, byte } => {
                write!(f, "byte `{}` in the value of header {name}", byte.escape_ascii())
            }
            Self::Framing(cause) => write!(f, "headers contradict: {cause}"),
            Self::Length { declared, body } => {
                write!(f, "Content-Length says {declared} bytes, the body has {body}")
            }
            Self::Status { status } => write!(f, "{status} is not a status code"),
            Self::BodyForbidden { status } => write!(f, "a response {status} has no body"),
            Self::FramingHeader { name } => write!(f, "{name} follows from the framing"),
        }
    }
}

impl std::error::Error for EncodeError {}

/// Appends a whole request to `out`, head and body.
///
/// `Host` comes first unless the user gave one, then the user's headers in order, then `Content-Length`
/// when there is a body (or the method is POST, PUT or PATCH) and `Connection: close` when the
/// connection is not kept. No other header is added.
///
/// # Errors
///
/// [`EncodeError`], `out` being left as it was.
pub fn encode_request<N: AsRef<str>, V: AsRef<[u8]>>(
    out: &mut Vec<u8>,
    request: &RequestParts<'_, N, V>,
) -> Result<(), EncodeError> {
    let facts = check_request(request)?;
    let RequestParts { method, target, host, headers, body, keep_alive } = *request;
    push(out, &[method, " ", target, " HTTP/1.1\r\n"]);
    if !facts.host {
        push(out, &["Host: ", host, "\r\n"]);
    }
    push_fields(out, headers);
    let body_bytes = body.unwrap_or_default();
    let expects_body = body.is_some() || matches!(method, "POST" | "PUT" | "PATCH");
    if expects_body && facts.length.is_none() && !facts.chunked {
        push_length(out, body_bytes.len() as u64);
    }
    if !keep_alive && !has(headers, "connection") {
        push(out, &["Connection: close\r\n"]);
    }
    push(out, &["\r\n"]);
    if facts.chunked {
        encode_chunk(out, body_bytes);
        encode_last_chunk(out);
    } else {
        out.extend_from_slice(body_bytes);
    }
    Ok(())
}

fn check_request<N: AsRef<str>, V: AsRef<[u8]>>(
    request: &RequestParts<'_, N, V>,
) -> Result<Facts, EncodeError> {
    let (method, target) = (request.method, request.target);
    if !is_token(method.as_bytes()) {
        return Err(EncodeError::Method { method: method.to_owned() });
    }
    if check_target(method.as_bytes(), target.as_bytes()).is_err() {
        return Err(EncodeError::Target { target: target.to_owned() });
    }
    let mut facts = Facts::default();
    for (name, value) in request.headers {
        let (name, value) = (name.as_ref(), value.as_ref());
        check_field(name, value)?;
        facts.field(Section::Request, name.as_bytes(), value).map_err(EncodeError::Framing)?;
    }
    let host = request.host;
    if !facts.host && (host.is_empty() || !is_authority(host.as_bytes())) {
        return Err(EncodeError::Host { host: host.to_owned() });
    }
    if facts.chunked && facts.length.is_some() {
        return Err(EncodeError::Framing(WireError::LengthAndChunked));
    }
    let body = request.body.unwrap_or_default().len() as u64;
    match facts.length {
        Some(declared) if declared != body => Err(EncodeError::Length { declared, body }),
        _ => Ok(facts),
    }
}

/// Appends the head of a response in HTTP/1.1 to `out`.
///
/// `headers` come first, then the header that `framing` needs, then `Connection: close` if `keep_alive`
/// is false or the body lasts until the close. [`Framing::None`] writes no framing header: it is for
/// 1xx, 204 and 304. A response to `HEAD` carries the headers of the response to `GET` and no body. A
/// client of HTTP/1.0 keeps its connection only if `headers` holds `Connection: keep-alive`.
///
/// # Errors
///
/// [`EncodeError`], `out` being left as it was.
pub fn encode_response_head(
    out: &mut Vec<u8>,
    status: u16,
    headers: &[(&str, &str)],
    framing: Framing,
    keep_alive: bool,
) -> Result<(), EncodeError> {
    check_response(status, headers, framing)?;
    push(out, &["HTTP/1.1 "]);
    push_decimal(out, u64::from(status));
    push(out, &[" ", reason(status), "\r\n"]);
    push_fields(out, headers);
    match framing {
        Framing::Length(bytes) => push_length(out, bytes),
        Framing::Chunked => push(out, &["Transfer-Encoding: chunked\r\n"]),
        Framing::None | Framing::UntilClose => {}
    }
    if !keep_alive || framing == Framing::UntilClose {
        push(out, &["Connection: close\r\n"]);
    }
    push(out, &["\r\n"]);
    Ok(())
}

fn check_response(
    status: u16,
    headers: &[(&str, &str)],
    framing: Framing,
) -> Result<(), EncodeError> {
    if !(100..=999).contains(&status) {
        return Err(EncodeError::Status { status });
    }
    if framing != Framing::None && matches!(status, 100..=199 | 204) {
        return Err(EncodeError::BodyForbidden { status });
    }
    for (name, value) in headers {
        check_field(name, value.as_bytes())?;
        let framing_names = ["content-length", "transfer-encoding"];
        if framing_names.iter().any(|known| name.eq_ignore_ascii_case(known)) {
            return Err(EncodeError::FramingHeader { name: (*name).to_owned() });
        }
    }
    Ok(())
}

/// Appends `bytes` to `out` as one chunk; nothing if there are none, since an empty chunk would end
/// the body.
pub fn encode_chunk(out: &mut Vec<u8>, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    let digits = bytes.len().ilog2() / 4;
    for digit in (0..=digits).rev() {
        out.push(b"0123456789abcdef"[bytes.len() >> (4 * digit) & 0xf]);
    }
    push(out, &["\r\n"]);
    out.extend_from_slice(bytes);
    push(out, &["\r\n"]);
}

/// Appends the end of a chunked body to `out`, without trailers.
pub fn encode_last_chunk(out: &mut Vec<u8>) {
    push(out, &["0\r\n\r\n"]);
}

fn check_field(name: &str, value: &[u8]) -> Result<(), EncodeError> {
    if !is_token(name.as_bytes()) {
        return Err(EncodeError::HeaderName { name: name.to_owned() });
    }
    match value.get(text_run(value, 0)) {
        Some(&byte) => Err(EncodeError::HeaderValue { name: name.to_owned(), byte }),
        None => Ok(()),
    }
}

fn has<N: AsRef<str>, V>(headers: &[(N, V)], wanted: &str) -> bool {
    headers.iter().any(|(name, _)| name.as_ref().eq_ignore_ascii_case(wanted))
}

fn push(out: &mut Vec<u8>, parts: &[&str]) {
    for part in parts {
        out.extend_from_slice(part.as_bytes());
    }
}

fn push_fields<N: AsRef<str>, V: AsRef<[u8]>>(out: &mut Vec<u8>, headers: &[(N, V)]) {
    for (name, value) in headers {
        push(out, &[name.as_ref(), ": "]);
        out.extend_from_slice(trim(value.as_ref()));
        push(out, &["\r\n"]);
    }
}

fn push_length(out: &mut Vec<u8>, bytes: u64) {
    push(out, &["Content-Length: "]);
    push_decimal(out, bytes);
    push(out, &["\r\n"]);
}

/// Appends a number in decimal digits; allocates nothing where there is room.
pub fn push_decimal(out: &mut Vec<u8>, number: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = number;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}
