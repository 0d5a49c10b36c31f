//! How an upstream failed a request: what the response's detail, the log and its counts say.

use std::io;

use model::quote::plain;
use rustix::io::Errno;
use rustls::CertificateError;
use wire::WireError;

use super::upstream::UpstreamConn;
use crate::limits::date;

/// Characters of a certificate's names, or of words that are not the gateway's, that are repeated.
const WORDS: usize = 200;

/// Why an upstream gave no usable response.
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
    /// It closed the connection while it was still sent the request, and no response was found on it.
    Unread,
    /// It did not begin to answer in time.
    Late,
    /// Its response is not HTTP/1.
    NotHttp,
    /// The head of its response is longer than is read.
    HeadTooLong,
    /// Its response's head or framing breaks a rule of HTTP/1.1.
    Framing,
    /// Its response ended before it was complete, or stopped.
    Cut,
    /// Nothing local was left for a connection to it: ports, files or memory. That says nothing of the server.
    Local,
    /// Its certificate has expired.
    Expired,
    /// Its certificate is for another name.
    OtherName,
    /// Its certificate is of no authority that is trusted.
    Untrusted,
    /// Its response was not complete within the time that the route gives all of it.
    TooLong,
    /// This machine has no address to reach it from: none of its family.
    NoAddress,
}

impl Failure {
    /// All of them, in order of their numbers.
    pub const ALL: [Self; 16] = [
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
        Self::TooLong,
        Self::NoAddress,
    ];

    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();

    /// The failure that a response which cannot be read is.
    pub(super) fn of(error: &WireError) -> Self {
        match error {
            WireError::HeadTooLong { .. } | WireError::TooManyHeaders { .. } => Self::HeadTooLong,
            WireError::NotHttp(_) | WireError::Version(_) | WireError::StatusLine(_) => {
                Self::NotHttp
            }
            _ => Self::Framing,
        }
    }

    /// The failure that an error of TLS is.
    pub(super) fn of_tls(error: &io::Error) -> Self {
        let Some(rustls::Error::InvalidCertificate(why)) = of_rustls(error) else {
            return Self::Tls;
        };
        match why {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => Self::Expired,
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                Self::OtherName
            }
            CertificateError::UnknownIssuer => Self::Untrusted,
            CertificateError::Other(other) if tls::is_of_authority(other) => Self::Untrusted,
            _ => Self::Tls,
        }
    }

    /// What is known of TLS that failed beside its kind: the certificate's end, its names, or the library's words.
    pub(super) fn about_tls(error: &io::Error) -> Option<String> {
        let error = of_rustls(error)?;
        match error {
            rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => None,
            rustls::Error::InvalidCertificate(CertificateError::Other(other))
                if tls::is_of_authority(other) =>
            {
                Some("it is its own authority: name it there".to_owned())
            }
            rustls::Error::InvalidCertificate(CertificateError::ExpiredContext {
                not_after,
                ..
            }) => {
                let ends_s = i64::try_from(not_after.as_secs()).unwrap_or(i64::MAX);
                let (year, month, day) = date(ends_s);
                Some(format!("it was valid until {year}-{month:02}-{day:02}"))
            }
            rustls::Error::InvalidCertificate(CertificateError::NotValidForNameContext {
                expected,
                presented,
            }) => {
                let names: Vec<&str> = presented.iter().map(|name| bare(name)).collect();
                let names = if names.is_empty() { "no name".to_owned() } else { names.join(", ") };
                Some(format!(
                    "`{}` was asked for, and it is for {}",
                    plain(&expected.to_str(), WORDS),
                    plain(&names, WORDS)
                ))
            }
            _ => Some(plain(&error.to_string(), WORDS)),
        }
    }

    /// Of a connection that is gone, by what the net says of it.
    pub(super) fn of_gone(up: &UpstreamConn, gone: net::Failure) -> Self {
        let wants = [Errno::ADDRNOTAVAIL, Errno::NOBUFS, Errno::NOMEM];
        let is_want = wants.iter().any(|errno| errno.raw_os_error() == gone.errno);
        match gone.during {
            net::Operation::Connect if is_want => Self::Local,
            _ => Self::of_lost(up),
        }
    }

    /// Of a connection that ended or failed before a response.
    pub(super) fn of_lost(up: &UpstreamConn) -> Self {
        match (up.connected, up.open) {
            (_, true) => Self::Closed,
            (true, false) => Self::Tls,
            (false, false) => Self::Refused,
        }
    }

    /// The sentence in the response to the client.
    pub const fn detail(self) -> &'static str {
        match self {
            Self::Refused => "The API could not be reached: it took no connection.",
            Self::NotConnected => "The API took no connection in time.",
            Self::Tls => "The API could not be reached: TLS with it failed.",
            Self::Closed => "The API closed the connection before it answered.",
            Self::Unread => "The API closed the connection while the request was still being sent.",
            Self::Late => "The API took too long to answer.",
            Self::NotHttp => "The API's response is not HTTP/1.",
            Self::HeadTooLong => "The head of the API's response is too long.",
            Self::Framing => "The API's response breaks a rule of HTTP/1.1.",
            Self::Cut => "The API's response ended too early.",
            Self::Expired => "The API could not be reached: its certificate has expired.",
            Self::OtherName => "The API could not be reached: its certificate is for another name.",
            Self::Untrusted => "The API could not be reached: its certificate is not trusted.",
            Self::TooLong => "The API took too long to end its response.",
            Self::Local => "The gateway has no port, file or memory left to reach the API.",
            Self::NoAddress => "The gateway has no address to reach the API from.",
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
            Self::Cut => "ends responses too early, or stops within them",
            Self::Expired => "shows a certificate that has expired",
            Self::OtherName => "shows a certificate that is for another name than the server's",
            Self::Untrusted => {
                "shows a certificate of an authority that is not trusted (see `authorities`)"
            }
            Self::TooLong => "does not end responses in time (`whole` of the route's `timeouts`)",
            Self::Local => {
                "cannot be reached for want of local ports, files or memory (see `ulimit -Hn`)"
            }
            Self::NoAddress => "cannot be reached: this machine has no address of its family",
        }
    }
}

fn of_rustls(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref().and_then(|error| error.downcast_ref())
}

/// A name of a certificate, of what the library writes: `DnsName("localhost")`.
fn bare(name: &str) -> &str {
    let inner = name.split_once('(').and_then(|(_, inner)| inner.strip_suffix(')'));
    inner.unwrap_or(name).trim_matches('"')
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustls::pki_types::{ServerName, UnixTime};

    use super::*;

    #[test]
    fn what_is_wrong_with_a_certificate_is_reported_with_its_end_and_its_names() {
        let at = |unix_s| UnixTime::since_unix_epoch(Duration::from_secs(unix_s));
        let expected = ServerName::try_from("api.test").unwrap();
        let named = |presented: &[&str]| CertificateError::NotValidForNameContext {
            expected: expected.clone(),
            presented: presented.iter().map(|name| (*name).to_owned()).collect(),
        };
        let of_names = [r#"DnsName("localhost")"#, "IpAddress(10.0.0.7)"];
        let expired =
            CertificateError::ExpiredContext { time: at(1_700_000_000), not_after: at(86_400) };
        for (why, kind, about) in [
            (expired, Failure::Expired, Some("it was valid until 1970-01-02")),
            (
                named(&of_names),
                Failure::OtherName,
                Some("`api.test` was asked for, and it is for localhost, 10.0.0.7"),
            ),
            (
                named(&[]),
                Failure::OtherName,
                Some("`api.test` was asked for, and it is for no name"),
            ),
            (CertificateError::UnknownIssuer, Failure::Untrusted, None),
        ] {
            let error = io::Error::other(rustls::Error::InvalidCertificate(why));
            assert_eq!(Failure::of_tls(&error), kind);
            assert_eq!(Failure::about_tls(&error).as_deref(), about);
        }
        let alert = rustls::Error::AlertReceived(rustls::AlertDescription::HandshakeFailure);
        let said = Failure::about_tls(&io::Error::other(alert)).unwrap();
        assert!(said.contains("HandshakeFailure"), "{said}");
        assert_eq!(Failure::about_tls(&io::ErrorKind::InvalidData.into()), None);
    }
}
