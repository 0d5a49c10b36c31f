//! Whether a server's certificate is trusted, where the user said which are.
//!
//! As OpenSSL and curl do, a certificate that was named is trusted itself, and not only those that it signed: those that
//! `openssl req -x509` makes are marked as authorities, which rustls takes for no server's, and may have their name in
//! the subject alone. Its dates and its name are checked all the same.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme,
};

/// The object identifier of a common name (2.5.4.3) in DER.
const COMMON_NAME: [u8; 5] = [0x06, 0x03, 0x55, 0x04, 0x03];
/// The kinds of text in DER that a name is written in: UTF-8, printable, ASCII.
const TEXTS: [u8; 3] = [0x0c, 0x13, 0x16];

/// Trusts certificates of the user's, and what they signed.
#[derive(Debug)]
pub struct Trusted {
    /// Looks for a chain to one of them.
    chains: Arc<WebPkiServerVerifier>,
    /// Each, with its subject in DER.
    named: Vec<(CertificateDer<'static>, Vec<u8>)>,
}

impl Trusted {
    /// Trusts these, of which there is at least one.
    ///
    /// # Errors
    /// When one of them cannot be used.
    pub fn new(
        certificates: Vec<CertificateDer<'static>>,
        provider: Arc<CryptoProvider>,
    ) -> Result<Self, Error> {
        let mut store = RootCertStore::empty();
        for certificate in &certificates {
            store.add(certificate.clone())?;
        }
        let subjects: Vec<Vec<u8>> = store.roots.iter().map(|root| root.subject.to_vec()).collect();
        let builder = WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider);
        let chains = builder.build().map_err(|error| Error::General(error.to_string()))?;
        Ok(Self { chains, named: certificates.into_iter().zip(subjects).collect() })
    }
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
        let judged = self.chains.verify_server_cert(own, between, host, status, now);
        let named = self.named.iter().find(|(named, _)| named == own);
        match (judged, named) {
            (Err(Error::InvalidCertificate(why)), Some((_, subject))) if is_borne(&why) => {
                is_for(own, subject, host).map(|()| ServerCertVerified::assertion())
            }
            (judged, _) => judged,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls12_signature(message, own, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls13_signature(message, own, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chains.supported_verify_schemes()
    }
}

/// What does not count against a certificate that was named itself, as far as its name holds: that it is marked as an
/// authority's, which is found behind the check of its dates.
fn is_borne(why: &CertificateError) -> bool {
    match why {
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => true,
        CertificateError::Other(other) => is_of_authority(other),
        _ => false,
    }
}

/// Whether a certificate was refused for being marked as an authority's.
pub fn is_of_authority(other: &OtherError) -> bool {
    other.to_string() == "CaUsedAsEndEntity"
}

/// Whether a certificate is for this host: by its names, or by the subject's where it has none.
fn is_for(own: &CertificateDer<'_>, subject: &[u8], host: &ServerName<'_>) -> Result<(), Error> {
    match verify_server_name(&ParsedCertificate::try_from(own)?, host) {
        Err(Error::InvalidCertificate(CertificateError::NotValidForNameContext {
            presented,
            ..
        })) if presented.is_empty()
            && common_name(subject)
                .is_some_and(|name| name.eq_ignore_ascii_case(host.to_str().as_bytes())) =>
        {
            Ok(())
        }
        judged => judged,
    }
}

/// The last common name of a subject, which is the one that counts.
fn common_name(subject: &[u8]) -> Option<&[u8]> {
    let at = subject.windows(COMMON_NAME.len()).rposition(|part| part == COMMON_NAME)?;
    let (head, rest) = subject.get(at + COMMON_NAME.len()..)?.split_first_chunk::<2>()?;
    // Longer lengths take several bytes, and no host's name is as long.
    let is_text = TEXTS.contains(&head[0]) && head[1] < 0x80;
    rest.get(..head[1].into()).filter(|_| is_text)
}

#[cfg(test)]
mod tests {
    use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, KeyPair, date_time_ymd};

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

    fn judge(trusted: &CertificateDer<'static>, own: &CertificateDer<'_>, host: &str) -> String {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let trusted = Trusted::new(vec![trusted.clone()], provider).unwrap();
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
        let late = made(|params| {
            params.distinguished_name.push(DnType::CommonName, "localhost");
            params.not_after = date_time_ymd(2001, 1, 1);
        });
        assert!(judge(&late, &late, "localhost").contains("Expired"));
        let plain = of_subject("localhost");
        assert_eq!(judge(&plain, &plain, "LOCALHOST"), "trusted");
        assert!(judge(&plain, &plain, "localhost.test").contains("NotValidForName"));
        let address = of_subject("127.0.0.1");
        assert_eq!(judge(&address, &address, "127.0.0.1"), "trusted");
        // Where there are names, the subject's is none.
        let both = made(|params| {
            params.distinguished_name.push(DnType::CommonName, "localhost");
            let named = CertificateParams::new(["api.test".to_owned()]).unwrap();
            params.subject_alt_names = named.subject_alt_names;
        });
        assert!(judge(&both, &both, "localhost").contains("NotValidForName"));
    }
}
