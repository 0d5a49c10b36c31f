//! How an upstream failed a request: what the answer's detail, the log and its counts say.

use std::io;

use rustls::CertificateError;
use wire::WireError;

use super::up::Up;

/// Why an upstream gave no usable answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Failure {
    /// It takes no connection: refused, or unreachable.
    Refused,
    /// No connection stood in time.
    NotConnected,
    /// TLS with it failed.
    Tls,
    /// It closed the connection before it answered.
    Closed,
    /// It closed the connection while it was still sent the request, and no answer was found on it.
    Unread,
    /// It did not begin to answer in time.
    Late,
    /// Its answer is not HTTP/1.
    NotHttp,
    /// The head of its answer is longer than is read.
    HeadTooLong,
    /// Its answer's head or framing breaks a rule of HTTP/1.1.
    Framing,
    /// Its answer ended before it was complete, or stopped.
    Cut,
    /// Nothing local was left for a connection to it: ports or files.
    Local,
    /// Its certificate has expired.
    Expired,
    /// Its certificate is for another name.
    OtherName,
    /// Its certificate is of no authority that is trusted.
    Untrusted,
}

impl Failure {
    /// All of them, in order of their numbers.
    pub const ALL: [Self; 14] = [
        Self::Refused,
        Self::NotConnected,
        Self::Tls,
        Self::Closed,
        Self::Unread,
        Self::Late,
        Self::NotHttp,
        Self::HeadTooLong,
        Self::Framing,
        Self::Cut,
        Self::Local,
        Self::Expired,
        Self::OtherName,
        Self::Untrusted,
    ];

    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();

    /// Of an answer that cannot be read.
    pub(super) fn of(error: &WireError) -> Self {
        match error {
            WireError::HeadTooLong { .. } | WireError::TooManyHeaders { .. } => Self::HeadTooLong,
            WireError::NotHttp(_) | WireError::Version(_) | WireError::StatusLine(_) => {
                Self::NotHttp
            }
            _ => Self::Framing,
        }
    }

    /// Of TLS that failed.
    pub(super) fn of_tls(error: &io::Error) -> Self {
        let error = error.get_ref().and_then(|error| error.downcast_ref::<rustls::Error>());
        let Some(rustls::Error::InvalidCertificate(why)) = error else { return Self::Tls };
        match why {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => Self::Expired,
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                Self::OtherName
            }
            CertificateError::UnknownIssuer => Self::Untrusted,
            _ => Self::Tls,
        }
    }

    /// Of a connection that ended or failed before an answer.
    pub(super) fn of_lost(up: &Up) -> Self {
        match (up.connected, up.open) {
            (_, true) => Self::Closed,
            (true, false) => Self::Tls,
            (false, false) => Self::Refused,
        }
    }

    /// The sentence that a client is told.
    pub const fn detail(self) -> &'static str {
        match self {
            Self::Refused => "The API could not be reached: it took no connection.",
            Self::NotConnected => "The API took no connection in time.",
            Self::Tls => "The API could not be reached: TLS with it failed.",
            Self::Closed => "The API closed the connection before it answered.",
            Self::Unread => "The API closed the connection while the request was still being sent.",
            Self::Late => "The API took too long to answer.",
            Self::NotHttp => "The API's answer is not HTTP/1.",
            Self::HeadTooLong => "The head of the API's answer is too long.",
            Self::Framing => "The API's answer breaks a rule of HTTP/1.1.",
            Self::Cut => "The API's answer ended too early.",
            Self::Expired => "The API could not be reached: its certificate has expired.",
            Self::OtherName => "The API could not be reached: its certificate is for another name.",
            Self::Untrusted => "The API could not be reached: its certificate is not trusted.",
            Self::Local => "The gateway has no ports or files left to reach the API.",
        }
    }

    /// What a server does, for the log: `server 127.0.0.1:80 ...`.
    pub const fn does(self) -> &'static str {
        match self {
            Self::Refused => "takes no connections (refused or unreachable)",
            Self::NotConnected => "takes no connections in time",
            Self::Tls => "fails in TLS (see its certificate, its name and `authorities`)",
            Self::Closed => "closes connections before it answers",
            Self::Unread => "closes connections before it has read the request",
            Self::Late => "does not begin to answer in time",
            Self::NotHttp => "answers with something that is not HTTP/1",
            Self::HeadTooLong => "answers with a head that is too long or never ends",
            Self::Framing => "answers against the rules of HTTP/1.1 (headers or framing)",
            Self::Cut => "ends answers too early, or stops within them",
            Self::Expired => "shows a certificate that has expired",
            Self::OtherName => "shows a certificate that is for another name than the server's",
            Self::Untrusted => {
                "shows a certificate of an authority that is not trusted (see `authorities`)"
            }
            Self::Local => "cannot be reached for want of local ports or files",
        }
    }
}
