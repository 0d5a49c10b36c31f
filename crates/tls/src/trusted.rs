//! Which server certificates a client accepts: those that the user named, and what authorities among them signed
//! ([`Trusted`]), or any ([`Unchecked`]).
//!
//! As with curl, a named certificate is trusted itself, and not only what it signed. rustls alone refuses it as a server's
//! certificate if it is marked as an authority's, as `openssl req -x509` marks it, if its host name is in the subject only, or
//! if it was signed by an authority that was not named. Its dates and its name are checked all the same. Nor does a named
//! certificate that is not an authority's vouch for others, which rustls alone would accept.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme,
};
use x509_parser::parse_x509_certificate;
use x509_parser::x509::X509Version;

/// Accepts the certificates that the user named, and certificates that were signed by the authorities among these.
#[derive(Debug)]
pub struct Trusted {
    /// Checks dates and names of a named certificate.
    own: Arc<WebPkiServerVerifier>,
    /// Looks for a chain to a named certificate of an authority, and checks dates and names. None if no authority was
    /// named.
    chains: Option<Arc<WebPkiServerVerifier>>,
    named: Vec<CertificateDer<'static>>,
    /// Whether a certificate must be for the host that was connected to.
    checks_name: bool,
}

impl Trusted {
    /// Trusts these certificates, of which there must be at least one. A server's certificate must be for its host.
    ///
    /// # Errors
    /// When one of them cannot be used.
    pub fn new(
        certificates: Vec<CertificateDer<'static>>,
        provider: Arc<CryptoProvider>,
    ) -> Result<Self, Error> {
        let (mut all, mut authorities) = (RootCertStore::empty(), RootCertStore::empty());
        for certificate in &certificates {
            all.add(certificate.clone())?;
            if may_sign(certificate) {
                authorities.add(certificate.clone())?;
            }
        }
        let chains = match authorities.is_empty() {
            true => None,
            false => Some(verifier(authorities, Arc::clone(&provider))?),
        };
        let own = verifier(all, provider)?;
        Ok(Self { own, chains, named: certificates, checks_name: true })
    }

    /// The same, but accepts a certificate for any host.
    #[must_use]
    pub fn for_any_name(self) -> Self {
        Self { checks_name: false, ..self }
    }
}

fn verifier(
    roots: RootCertStore,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, Error> {
    let builder = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
    builder.build().map_err(|error| Error::General(error.to_string()))
}

impl ServerCertVerifier for Trusted {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        status: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let is_named = self.named.contains(own);
        let chains = if is_named { Some(&self.own) } else { self.chains.as_ref() };
        let Some(chains) = chains else {
            return Err(Error::InvalidCertificate(CertificateError::UnknownIssuer));
        };
        let judged = chains.verify_server_cert(own, between, host, status, now);
        let Err(Error::InvalidCertificate(why)) = &judged else { return judged };
        let is_excused = if is_named {
            is_excused_if_named(why)
        } else {
            !self.checks_name && is_about_name(why)
        };
        if !is_excused {
            return judged;
        }
        if self.checks_name {
            is_for(own, host)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.own.verify_tls12_signature(message, own, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.own.verify_tls13_signature(message, own, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.own.supported_verify_schemes()
    }
}

/// Accepts any certificate, and still checks that the handshake is signed with its key.
#[derive(Debug)]
pub struct Unchecked(pub Arc<CryptoProvider>);

impl ServerCertVerifier for Unchecked {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, own, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, own, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Whether a named certificate is accepted although it was refused for this, if its name holds. rustls checks dates first, so
/// they are good here.
fn is_excused_if_named(why: &CertificateError) -> bool {
    match why {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => true,
        CertificateError::Other(other) => is_of_authority(other),
        _ => is_about_name(why),
    }
}

/// Whether a certificate was refused for its name alone: rustls checks names last.
fn is_about_name(why: &CertificateError) -> bool {
    matches!(
        why,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. }
    )
}

/// Whether a certificate may have signed others: it is marked as an authority's, or is too old to be marked at all. webpki
/// does not ask this of certificates that are trusted, so the key of any server would do for all hosts.
fn may_sign(certificate: &[u8]) -> bool {
    parse_x509_certificate(certificate).is_ok_and(|(_, certificate)| {
        certificate.is_ca() || certificate.version() != X509Version::V3
    })
}

/// Whether a certificate was refused for being marked as an authority's.
pub fn is_of_authority(other: &OtherError) -> bool {
    other.to_string() == "CaUsedAsEndEntity"
}

/// Whether a certificate is for this host: by its names, or by the subject's where it has none.
fn is_for(own: &CertificateDer<'_>, host: &ServerName<'_>) -> Result<(), Error> {
    match verify_server_name(&ParsedCertificate::try_from(own)?, host) {
        Err(Error::InvalidCertificate(CertificateError::NotValidForNameContext {
            presented,
            ..
        })) if presented.is_empty() && has_common_name(own, &host.to_str()) => Ok(()),
        judged => judged,
    }
}

/// Whether the last common name of a certificate's subject, which is the one that counts, is this one.
fn has_common_name(certificate: &[u8], wanted: &str) -> bool {
    parse_x509_certificate(certificate).is_ok_and(|(_, certificate)| {
        let last = certificate.subject().iter_common_name().last();
        last.and_then(|name| name.as_str().ok())
            .is_some_and(|name| name.eq_ignore_ascii_case(wanted))
    })
}

#[cfg(test)]
mod tests {
    use rcgen::{
        BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd,
    };

    use super::*;

    /// A certificate that signed itself.
    fn made(change: impl FnOnce(&mut CertificateParams)) -> CertificateDer<'static> {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        params.self_signed(&key).unwrap().der().clone()
    }

    fn of_subject(name: &str) -> CertificateDer<'static> {
        made(|params| params.distinguished_name.push(DnType::CommonName, name))
    }

    fn expired() -> CertificateDer<'static> {
        made(|params| {
            params.distinguished_name.push(DnType::CommonName, "localhost");
            params.not_after = date_time_ymd(2001, 1, 1);
        })
    }

    /// An authority's certificate, and one for localhost that it signed.
    fn signed() -> (CertificateDer<'static>, CertificateDer<'static>) {
        signed_as(IsCa::Ca(BasicConstraints::Unconstrained))
    }

    /// A certificate marked so, and one for localhost that it signed.
    fn signed_as(marked: IsCa) -> (CertificateDer<'static>, CertificateDer<'static>) {
        let mut params = CertificateParams::default();
        params.is_ca = marked;
        params.distinguished_name.push(DnType::CommonName, "an authority");
        let key = KeyPair::generate().unwrap();
        let authority = params.self_signed(&key).unwrap().der().clone();
        let issuer = Issuer::new(params, key);
        let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        let own = params.signed_by(&KeyPair::generate().unwrap(), &issuer).unwrap();
        (authority, own.der().clone())
    }

    fn trusting(named: &CertificateDer<'static>) -> Trusted {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        Trusted::new(vec![named.clone()], provider).unwrap()
    }

    fn judge(named: &CertificateDer<'static>, own: &CertificateDer<'_>, host: &str) -> String {
        judged_by(&trusting(named), own, host)
    }

    fn judged_by(trusted: &Trusted, own: &CertificateDer<'_>, host: &str) -> String {
        let host = ServerName::try_from(host.to_owned()).unwrap();
        let judged = trusted.verify_server_cert(own, &[], &host, &[], UnixTime::now());
        judged.map_or_else(|error| format!("{error:?}"), |_| "trusted".to_owned())
    }

    #[test]
    fn a_certificate_that_was_named_is_trusted_itself() {
        let own = made(|params| {
            params.subject_alt_names =
                CertificateParams::new(["localhost".to_owned(), "127.0.0.1".to_owned()])
                    .unwrap()
                    .subject_alt_names;
        });
        assert_eq!(judge(&own, &own, "localhost"), "trusted");
        assert_eq!(judge(&own, &own, "127.0.0.1"), "trusted");
        assert!(judge(&own, &own, "other.test").contains("NotValidForName"));
        // As authorities that were not named, it is no server's.
        let another = of_subject("localhost");
        assert!(judge(&another, &own, "localhost").contains("CaUsedAsEndEntity"));
    }

    #[test]
    fn its_dates_and_its_name_are_checked() {
        let late = expired();
        assert!(judge(&late, &late, "localhost").contains("Expired"));
        let plain = of_subject("localhost");
        assert_eq!(judge(&plain, &plain, "LOCALHOST"), "trusted");
        assert!(judge(&plain, &plain, "localhost.test").contains("NotValidForName"));
        let address = of_subject("127.0.0.1");
        assert_eq!(judge(&address, &address, "127.0.0.1"), "trusted");
        // The bytes of a common name inside of another field are not a common name.
        let disguised = made(|params| {
            params.distinguished_name.push(DnType::CommonName, "other.test");
            let inside = "\u{6}\u{3}U\u{4}\u{3}\u{c}\u{9}localhost";
            params.distinguished_name.push(DnType::OrganizationName, inside);
        });
        assert!(judge(&disguised, &disguised, "localhost").contains("NotValidForName"));
        assert_eq!(judge(&disguised, &disguised, "other.test"), "trusted");
        // A host name of the subject counts only where the certificate names no other hosts.
        let both = made(|params| {
            params.distinguished_name.push(DnType::CommonName, "localhost");
            let named = CertificateParams::new(["api.test".to_owned()]).unwrap();
            params.subject_alt_names = named.subject_alt_names;
        });
        assert!(judge(&both, &both, "localhost").contains("NotValidForName"));
    }

    #[test]
    fn a_named_certificate_is_trusted_without_its_authority() {
        let (authority, own) = signed();
        assert_eq!(judge(&authority, &own, "localhost"), "trusted");
        assert_eq!(judge(&own, &own, "localhost"), "trusted");
        assert!(judge(&own, &own, "other.test").contains("NotValidForName"));
        assert!(judge(&of_subject("localhost"), &own, "localhost").contains("UnknownIssuer"));
        // Nor is it refused for an authority of the same name with another key.
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let both = Trusted::new(vec![signed().0, own.clone()], provider).unwrap();
        assert_eq!(judged_by(&both, &own, "localhost"), "trusted");
        assert!(judged_by(&both, &own, "other.test").contains("NotValidForName"));
    }

    #[test]
    fn a_named_certificate_of_a_server_signs_no_others() {
        for marked in [IsCa::NoCa, IsCa::ExplicitNoCa] {
            let (named, other) = signed_as(marked);
            assert!(judge(&named, &other, "localhost").contains("UnknownIssuer"));
            // Nor beside one that may.
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let both = Trusted::new(vec![signed().0, named], provider).unwrap().for_any_name();
            assert_ne!(judged_by(&both, &other, "localhost"), "trusted");
        }
        let (authority, own) = signed_as(IsCa::Ca(BasicConstraints::Constrained(0)));
        assert_eq!(judge(&authority, &own, "localhost"), "trusted");
    }

    #[test]
    fn for_any_name_all_but_the_name_is_checked() {
        let (authority, own) = signed();
        for named in [&authority, &own] {
            let trusted = trusting(named).for_any_name();
            assert_eq!(judged_by(&trusted, &own, "other.test"), "trusted");
        }
        let stranger = trusting(&of_subject("localhost")).for_any_name();
        assert!(judged_by(&stranger, &own, "localhost").contains("UnknownIssuer"));
        let late = expired();
        assert!(judged_by(&trusting(&late).for_any_name(), &late, "localhost").contains("Expired"));
    }
}
