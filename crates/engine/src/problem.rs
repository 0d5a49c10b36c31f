//! Failures of a connection that a user can fix.
//!
//! Owns the classification of these failures, and what a server is taken to speak by its first bytes. The advice about
//! them comes from the caller, who knows the flags: [`Launch::advice`](crate::Launch::advice).

use rustls::{
    AlertDescription as Alert, CertificateError, Error, InvalidMessage, PeerIncompatible,
};

use crate::tls::is_of_authority;

/// The failure of a handshake with a server that responds in the clear.
const SPEAKS_NO_TLS: &str = "the server does not speak TLS on this port: use http://";
/// The failure of a request in the clear to a server that expects TLS.
pub const SPEAKS_TLS: &str = "the server speaks TLS on this port: use https://";
/// The failure of a request in the clear to a server whose response asks for TLS. It may come of another server behind it.
pub const ASKS_FOR_TLS: &str =
    "the server responds with 400 and says that it expects TLS on this port: use https://";
/// The failure of a request to a server that takes nothing but HTTP/2.
const SPEAKS_HTTP2: &str = "the server speaks HTTP/2 on this port, as for gRPC, and Plimsoll speaks only HTTP/1.1: \
                            use a port that takes HTTP/1.1";
/// How an alert record of TLS begins, whatever its version.
const TLS_ALERT: [u8; 2] = [0x15, 0x03];
/// What servers say, with 400, to a request in the clear on a port of TLS: nginx, Go's, Apache, Tomcat.
const ASKING_FOR_TLS: [&[u8]; 4] = [
    b"The plain HTTP request was sent to HTTPS port",
    b"Client sent an HTTP request to an HTTPS server",
    b"speaking plain HTTP to an SSL-enabled server port",
    b"This combination of host and port requires TLS",
];
/// Bytes of a response in which they say it.
const SAID_WITHIN: usize = 1 << 10;
/// Types of HTTP/2's frames that a server begins or refuses a connection with: SETTINGS and GOAWAY (RFC 9113, section 6).
const FIRST_FRAMES: [u8; 2] = [4, 7];

/// A failure that the user can fix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Problem {
    /// The two ends have no TLS version in common.
    NoCommonVersion,
    /// The server does not take HTTP/1.1 on this port.
    NoCommonProtocol,
    /// The server wants a client certificate.
    ClientCertificateWanted,
    /// The server ended the handshake and did not say why.
    HandshakeRefused,
    /// The server does not know the requested name.
    UnknownName,
    /// The server's certificate is not signed by a trusted authority.
    UntrustedSigner,
    /// The server's certificate is an authority's own, and is not trusted.
    AuthoritysOwn,
    /// The server's certificate is for another name.
    OtherName,
    /// The server's certificate is not valid yet, or not any more.
    OutOfDate,
    /// The server's certificate was refused for another reason.
    CertificateRefused,
    /// A response is not like the first one of its endpoint, as it should be.
    UnlikeFirst,
}

/// What to do about a problem.
pub type Advice = fn(Problem) -> &'static str;

/// What went wrong in TLS.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TlsFailure {
    /// A message, with advice where there is some.
    pub(crate) text: String,
    /// Whether server and settings do not fit together, so that trying again changes nothing.
    pub(crate) is_mismatch: bool,
}

pub(crate) fn describe(error: &Error, advice: Advice) -> TlsFailure {
    let text = match error {
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => SPEAKS_NO_TLS.to_owned(),
        Error::InvalidCertificate(why) => match of_certificate(why) {
            // What the library calls these tells users nothing.
            problem @ (Problem::AuthoritysOwn | Problem::UntrustedSigner) => {
                advice(problem).to_owned()
            }
            problem => format!("{}: {why}", advice(problem)),
        },
        other => match of_handshake(other) {
            Some(problem) => format!("{}: {other}", advice(problem)),
            None => return TlsFailure { text: other.to_string(), is_mismatch: false },
        },
    };
    TlsFailure { text, is_mismatch: true }
}

/// The protocol that a server uses instead of HTTP/1.1 with or without TLS, judging by the first bytes that it sent.
pub(crate) fn other_protocol(came: &[u8], in_the_clear: bool) -> Option<&'static str> {
    match came {
        _ if in_the_clear && came.starts_with(&TLS_ALERT) => Some(SPEAKS_TLS),
        _ if in_the_clear && asks_for_tls(came) => Some(ASKS_FOR_TLS),
        // A short frame without flags, of the connection and no stream of it (RFC 9113, section 4.1).
        [0, 0, _, kind, 0, 0, 0, 0, 0, ..] if FIRST_FRAMES.contains(kind) => Some(SPEAKS_HTTP2),
        _ => None,
    }
}

fn asks_for_tls(came: &[u8]) -> bool {
    let refuses = came.starts_with(b"HTTP/1.") && came.get(8..13) == Some(&b" 400 "[..]);
    let came = &came[..came.len().min(SAID_WITHIN)];
    let mut words = ASKING_FOR_TLS.iter();
    refuses && words.any(|words| came.windows(words.len()).any(|window| window == *words))
}

/// Why the server ended the handshake, where that is known.
fn of_handshake(error: &Error) -> Option<Problem> {
    Some(match error {
        Error::AlertReceived(Alert::ProtocolVersion)
        | Error::PeerIncompatible(
            PeerIncompatible::ServerDoesNotSupportTls12Or13
            | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig,
        ) => Problem::NoCommonVersion,
        Error::AlertReceived(Alert::NoApplicationProtocol) => Problem::NoCommonProtocol,
        Error::AlertReceived(Alert::CertificateRequired) => Problem::ClientCertificateWanted,
        Error::AlertReceived(Alert::HandshakeFailure) => Problem::HandshakeRefused,
        Error::AlertReceived(Alert::UnrecognisedName) => Problem::UnknownName,
        _ => return None,
    })
}

/// Why a certificate was refused.
fn of_certificate(why: &CertificateError) -> Problem {
    match why {
        CertificateError::UnknownIssuer => Problem::UntrustedSigner,
        CertificateError::Other(other) if is_of_authority(other) => Problem::AuthoritysOwn,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            Problem::OtherName
        }
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => Problem::OutOfDate,
        _ => Problem::CertificateRefused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handshake_that_the_server_ends_is_reported_with_its_cause() {
        let disabled = PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig;
        for (error, problem) in [
            (Error::AlertReceived(Alert::ProtocolVersion), Problem::NoCommonVersion),
            (Error::PeerIncompatible(disabled), Problem::NoCommonVersion),
            (Error::AlertReceived(Alert::NoApplicationProtocol), Problem::NoCommonProtocol),
            (Error::AlertReceived(Alert::CertificateRequired), Problem::ClientCertificateWanted),
            (Error::AlertReceived(Alert::HandshakeFailure), Problem::HandshakeRefused),
            (Error::AlertReceived(Alert::UnrecognisedName), Problem::UnknownName),
        ] {
            assert_eq!(of_handshake(&error), Some(problem));
            let failure = describe(&error, |_| "do this");
            assert_eq!(failure.text, format!("do this: {error}"));
            assert!(failure.is_mismatch);
        }
    }

    #[test]
    fn a_failure_that_may_pass_is_no_mismatch() {
        let failure = describe(&Error::AlertReceived(Alert::InternalError), |_| "do this");
        assert!(!failure.is_mismatch && !failure.text.contains("do this"), "{failure:?}");
        let unknown = Error::InvalidCertificate(CertificateError::UnknownIssuer);
        let text = "do this".to_owned();
        assert_eq!(describe(&unknown, |_| "do this"), TlsFailure { text, is_mismatch: true });
    }

    #[test]
    fn what_a_server_speaks_is_known_by_its_first_bytes() {
        let settings = *b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x64";
        let goaway = *b"\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0\x01";
        let alert = [0x15, 3, 3, 0, 2, 2, 40];
        let go =
            b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";
        let nginx =
            b"HTTP/1.1 400 Bad Request\r\nServer: nginx\r\nContent-Length: 255\r\n\r\n<html>\r\n\
            <head><title>400 The plain HTTP request was sent to HTTPS port</title></head>";
        for (came, in_the_clear, wanted) in [
            (&settings[..], true, Some(SPEAKS_HTTP2)),
            (&settings[..], false, Some(SPEAKS_HTTP2)),
            (&goaway[..], true, Some(SPEAKS_HTTP2)),
            (&settings[..8], true, None),
            (&alert[..], true, Some(SPEAKS_TLS)),
            (&alert[..], false, None),
            (&b"\0\0\x06\x01\0\0\0\0\x01 a stream's"[..], true, None),
            (&b"HTTP/1.1 200 OK\r\n"[..], true, None),
            (&go[..], true, Some(ASKS_FOR_TLS)),
            (&go[..], false, None),
            (&nginx[..], true, Some(ASKS_FOR_TLS)),
            (&b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"[..], true, None),
            (
                &b"HTTP/1.1 200 OK\r\n\r\nThe plain HTTP request was sent to HTTPS port"[..],
                true,
                None,
            ),
        ] {
            assert_eq!(other_protocol(came, in_the_clear), wanted, "{came:?}");
        }
    }
}
