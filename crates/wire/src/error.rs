//! What a peer can get wrong on the wire, one variant for each cause.
//!
//! Owns the names, codes and words of the errors; the parsers raise them. An error shows bytes of the
//! message only where these are bounded and no secret can be among them: never a header's value other
//! than those that frame a message, never a query or the user of a URL.

use std::fmt;

/// The first bytes of something a peer sent, for showing to people: escaped, at most 38 bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Excerpt {
    bytes: [u8; Self::MAX],
    len: u8,
    cut: bool,
}

impl Excerpt {
    const MAX: usize = 38;

    #[cold]
    pub(crate) fn of(seen: &[u8]) -> Self {
        let len = seen.len().min(Self::MAX);
        let mut bytes = [0; Self::MAX];
        bytes[..len].copy_from_slice(&seen[..len]);
        Self { bytes, len: len as u8, cut: seen.len() > len }
    }

    /// Of a start line, a target or a `Host`: up to the query, which may hold a key, and up to a user with a password.
    #[cold]
    pub(crate) fn of_start_line(line: &[u8]) -> Self {
        let query = line.iter().position(|&byte| byte == b'?');
        let shown = match (query, user(line)) {
            (Some(query), Some(user)) => query.min(user),
            (query, user) => query.or(user).unwrap_or(line.len()),
        };
        Self { cut: shown < line.len() || shown > Self::MAX, ..Self::of(&line[..shown]) }
    }

    /// The bytes as they came.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

/// Where what stands before an `@` begins, unless that is in a path.
fn user(line: &[u8]) -> Option<usize> {
    let before = &line[..line.iter().position(|&byte| byte == b'@')?];
    match before.windows(3).position(|three| three == b"://") {
        Some(scheme) => Some(scheme + 3),
        None if before.contains(&b'/') => None,
        None => Some(before.iter().rposition(|&byte| byte == b' ').map_or(0, |blank| blank + 1)),
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.as_bytes().escape_ascii())?;
        if self.cut { f.write_str("...") } else { Ok(()) }
    }
}

impl fmt::Debug for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Why bytes from a peer are not a message that we accept.
///
/// The peer is to blame in every case but [`WireError::AfterError`]. No error can be recovered from
/// on the same connection: where the next message begins is not known any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WireError {
    /// Bytes came although no response was awaited. Servers do this when they time a connection out.
    /// What came first.
    Unsolicited(Excerpt),
    /// The response does not begin with `HTTP/`: its bytes up to the first that differs.
    NotHttp(Excerpt),
    /// The start line with a version other than `HTTP/1.0` and `HTTP/1.1`.
    Version(Excerpt),
    /// A status line that is not `HTTP/1.x code reason` with a code of three digits from 100 up.
    StatusLine(Excerpt),
    /// A request line that is not `method target HTTP/1.x` with single spaces, up to its query.
    RequestLine(Excerpt),
    /// A request target that has none of the four forms of RFC 9112 section 3.2, or not the one that
    /// belongs to the method, up to its query.
    Target(Excerpt),
    /// A CR that no LF follows: in the header of this name, or in the start line up to there.
    BareCr(Excerpt),
    /// An LF that no CR precedes: in the header of this name, or in the start line up to there.
    BareLf(Excerpt),
    /// NUL or another control byte.
    ControlByte {
        /// The byte.
        byte: u8,
        /// The header's name, or the start line up to there.
        place: Excerpt,
    },
    /// A line that begins with a space or tab (a folded header, or one put after the start line).
    ObsFold,
    /// A space or tab between a header's name, which is this, and its colon.
    SpaceBeforeColon(Excerpt),
    /// A header line whose name is empty or holds a byte that no token has: the name up to the byte.
    HeaderName(Excerpt),
    /// The head or the trailer section is not complete at [`Limits::head_bytes`](crate::Limits).
    HeadTooLong {
        /// The limit, bytes.
        limit: u32,
    },
    /// More header or trailer lines than [`Limits::headers`](crate::Limits).
    TooManyHeaders {
        /// The limit, lines.
        limit: u16,
    },
    /// The value of a `Content-Length` that is not a decimal number.
    ContentLength(Excerpt),
    /// The value of a `Content-Length` of 2^64 or more.
    ContentLengthOverflow(Excerpt),
    /// Two different `Content-Length` values, or in a request any two.
    ContentLengthRepeated {
        /// The first.
        first: u64,
        /// The other.
        second: u64,
    },
    /// The value of a `Transfer-Encoding` other than `chunked`.
    TransferEncoding(Excerpt),
    /// More than one `Transfer-Encoding`.
    TransferEncodingRepeated,
    /// `Transfer-Encoding` in an HTTP/1.0 message.
    ChunkedOnHttp10,
    /// Both `Transfer-Encoding` and `Content-Length`.
    LengthAndChunked,
    /// An HTTP/1.1 request without `Host`.
    HostMissing,
    /// A request with more than one `Host`.
    HostRepeated,
    /// The value of a `Host` that is not `host` or `host:port`.
    HostInvalid(Excerpt),
    /// The byte in a chunk size that is neither a hexadecimal digit nor begins an extension or the
    /// line's end.
    ChunkSize(u8),
    /// A chunk size of more than 16 hexadecimal digits.
    ChunkSizeOverflow,
    /// A chunk extension of more than 256 bytes.
    ChunkExtensionTooLong,
    /// The byte found where CR LF should follow a chunk: it is longer than its size says.
    ChunkEnd(u8),
    /// The name of a trailer that would frame or route the message (`Content-Length`,
    /// `Transfer-Encoding`, `Host`).
    TrailerForbidden(Excerpt),
    /// More than 32 interim (1xx) responses to one request.
    TooManyInterim,
    /// A parser was called again after it had failed: a bug of the caller, not the peer.
    AfterError,
}

impl WireError {
    #[cold]
    pub(crate) fn unsolicited(input: &[u8]) -> Self {
        Self::Unsolicited(Excerpt::of(input))
    }

    /// A short stable name in kebab case, for counting and for JSON.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unsolicited(_) => "unsolicited",
            Self::NotHttp(_) => "not-http",
            Self::Version(_) => "version",
            Self::StatusLine(_) => "status-line",
            Self::RequestLine(_) => "request-line",
            Self::Target(_) => "target",
            Self::BareCr(_) => "bare-cr",
            Self::BareLf(_) => "bare-lf",
            Self::ControlByte { .. } => "control-byte",
            Self::ObsFold => "obs-fold",
            Self::SpaceBeforeColon(_) => "space-before-colon",
            Self::HeaderName(_) => "header-name",
            Self::HeadTooLong { .. } => "head-too-long",
            Self::TooManyHeaders { .. } => "too-many-headers",
            Self::ContentLength(_) => "content-length",
            Self::ContentLengthOverflow(_) => "content-length-overflow",
            Self::ContentLengthRepeated { .. } => "content-length-repeated",
            Self::TransferEncoding(_) => "transfer-encoding",
            Self::TransferEncodingRepeated => "transfer-encoding-repeated",
            Self::ChunkedOnHttp10 => "chunked-on-http10",
            Self::LengthAndChunked => "length-and-chunked",
            Self::HostMissing => "host-missing",
            Self::HostRepeated => "host-repeated",
            Self::HostInvalid(_) => "host-invalid",
            Self::ChunkSize(_) => "chunk-size",
            Self::ChunkSizeOverflow => "chunk-size-overflow",
            Self::ChunkExtensionTooLong => "chunk-extension-too-long",
            Self::ChunkEnd(_) => "chunk-end",
            Self::TrailerForbidden(_) => "trailer-forbidden",
            Self::TooManyInterim => "too-many-interim",
            Self::AfterError => "after-error",
        }
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let byte = |byte: &u8| byte.escape_ascii();
        match self {
            Self::Unsolicited(seen) => write!(f, "unsolicited bytes: {seen}"),
            Self::NotHttp(seen) => write!(f, "not an HTTP/1 response: it begins with {seen}"),
            Self::Version(line) => write!(f, "neither HTTP/1.0 nor HTTP/1.1: {line}"),
            Self::StatusLine(line) => write!(f, "malformed status line: {line}"),
            Self::RequestLine(line) => write!(f, "malformed request line: {line}"),
            Self::Target(target) => write!(f, "request target not allowed here: {target}"),
            Self::BareCr(place) => write!(f, "CR without LF {}", At(place)),
            Self::BareLf(place) => write!(f, "LF without CR {}", At(place)),
            Self::ControlByte { byte: b, place } => {
                write!(f, "control byte `{}` {}", byte(b), At(place))
            }
            Self::ObsFold => f.write_str("a header line begins with a space or tab"),
            Self::SpaceBeforeColon(name) => write!(f, "space before the colon after {name}"),
            Self::HeaderName(name) => write!(f, "malformed header name: {name}"),
            Self::HeadTooLong { limit } => write!(f, "head longer than {limit} bytes"),
            Self::TooManyHeaders { limit } => write!(f, "more than {limit} headers"),
            Self::ContentLength(value) => write!(f, "Content-Length is not a number: {value}"),
            Self::ContentLengthOverflow(value) => {
                write!(f, "Content-Length exceeds 64 bits: {value}")
            }
            Self::ContentLengthRepeated { first, second } => {
                write!(f, "Content-Length given twice: {first} and {second}")
            }
            Self::TransferEncoding(value) => {
                write!(f, "Transfer-Encoding other than chunked: {value}")
            }
            Self::TransferEncodingRepeated => f.write_str("Transfer-Encoding given twice"),
            Self::ChunkedOnHttp10 => f.write_str("Transfer-Encoding in an HTTP/1.0 message"),
            Self::LengthAndChunked => f.write_str("both Transfer-Encoding and Content-Length"),
            Self::HostMissing => f.write_str("HTTP/1.1 request without Host"),
            Self::HostRepeated => f.write_str("Host given twice"),
            Self::HostInvalid(value) => write!(f, "malformed Host: {value}"),
            Self::ChunkSize(b) => write!(f, "`{}` in a chunk size", byte(b)),
            Self::ChunkSizeOverflow => f.write_str("chunk size of more than 16 digits"),
            Self::ChunkExtensionTooLong => f.write_str("chunk extension longer than 256 bytes"),
            Self::ChunkEnd(b) => {
                write!(f, "`{}` where a chunk should have ended", byte(b))
            }
            Self::TrailerForbidden(name) => write!(f, "{name} not allowed as a trailer"),
            Self::TooManyInterim => f.write_str("more than 32 interim (1xx) responses"),
            Self::AfterError => f.write_str("the connection had already failed"),
        }
    }
}

impl std::error::Error for WireError {}

/// Where in a head: in the header so named, or before a name began.
struct At<'a>(&'a Excerpt);

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.len {
            0 => f.write_str("at the start of a line"),
            _ => write!(f, "in {}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_are_escaped_and_bounded() {
        assert_eq!(Excerpt::of(b"a\r\n\0").to_string(), r"`a\r\n\x00`");
        assert_eq!(Excerpt::of(&[b'x'; 99]).to_string(), format!("`{}`...", "x".repeat(38)));
        assert_eq!(Excerpt::of(b"").to_string(), "``");
    }

    #[test]
    fn a_query_is_never_shown() {
        let excerpt = Excerpt::of_start_line(b"GET /a?user_key=secret HTTP/9");
        assert_eq!(excerpt.to_string(), "`GET /a`...");
    }

    #[test]
    fn a_user_with_a_password_is_never_shown() {
        for (line, shown) in [
            ("GET http://ann:secret@h/a?b HTTP/1.1", "`GET http://`..."),
            ("http://ann:secret@h/", "`http://`..."),
            ("CONNECT ann:secret@h:80 HTTP/1.1", "`CONNECT `..."),
            ("ann:secret@h", "``..."),
            ("GET /users/@me HTTP/1.1", "`GET /users/@me HTTP/1.1`"),
            ("GET http://h/a b@c?d", "`GET http://`..."),
            ("a b", "`a b`"),
        ] {
            assert_eq!(Excerpt::of_start_line(line.as_bytes()).to_string(), shown);
        }
    }

    #[test]
    fn an_error_stays_small_enough_to_return() {
        assert!(size_of::<WireError>() <= 48, "{}", size_of::<WireError>());
    }
}
