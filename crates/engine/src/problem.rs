//! Failures of a connection that a user can fix.
//!
//! Owns the classification of these failures. The advice about them comes from the caller, who knows the
//! flags: [`Launch::advice`](crate::Launch::advice).

use rustls::{
    AlertDescription as Alert, CertificateError, Error, InvalidMessage, PeerIncompatible,
};

use crate::tls::is_of_authority;

/// The failure of a handshake with a server that responds in the clear.
pub const SPEAKS_NO_TLS: &str = "the server does not speak TLS on this port: use http://";
/// The failure of a request in the clear to a server that expects TLS.
pub const SPEAKS_TLS: &str = "the server speaks TLS on this port: use https://";

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
    /// Whether the server responded in the clear.
    pub(crate) in_the_clear: bool,
}

pub(crate) fn describe(error: &Error, advice: Advice) -> TlsFailure {
    let in_the_clear = matches!(error, Error::InvalidMessage(InvalidMessage::InvalidContentType));
    let text = match error {
        _ if in_the_clear => SPEAKS_NO_TLS.to_owned(),
        // What the library calls it tells users nothing.
        Error::InvalidCertificate(why) if of_certificate(why) == Problem::AuthoritysOwn => {
            advice(Problem::AuthoritysOwn).to_owned()
        }
        Error::InvalidCertificate(why) => format!("{}: {why}", advice(of_certificate(why))),
        other => match of_handshake(other) {
            Some(problem) => format!("{}: {other}", advice(problem)),
            None => other.to_string(),
        },
    };
    TlsFailure { text, in_the_clear }
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
            assert_eq!(describe(&error, |_| "do this").text, format!("do this: {error}"));
        }
    }
}
