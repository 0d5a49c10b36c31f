//! Functions of values: encodings, hashes and signatures.

use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::GeneralPurpose;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use ring::{digest, hmac};
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject;

use crate::escape::{json_byte, url_byte};

/// A function. Keys that never change are prepared once.
#[derive(Debug, Clone)]
pub(crate) enum Function {
    /// RFC 4648 section 4.
    Base64,
    /// RFC 4648 section 5, without padding.
    Base64Url,
    /// Two digits a byte, in lower case.
    Hex,
    /// FIPS 180-4.
    Sha256,
    /// RFC 2104 with SHA-256: a key and a text, or the text alone where the key never changes.
    HmacSha256(Option<HmacKey>),
    /// RFC 7515 with claims and a key, or the claims alone where the key never changes.
    Jwt(Signer),
    /// All but RFC 3986's unreserved characters escaped.
    UrlEncode,
    /// A JSON text, with its quotes.
    Json,
    /// In lower case, if it is ASCII.
    Lower,
    /// In upper case, if it is ASCII.
    Upper,
}

/// How a token is signed.
#[derive(Debug, Clone)]
pub(crate) enum Signer {
    /// HMAC with SHA-256.
    Hs256(Option<HmacKey>),
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256(RsaKey),
}

/// A key that is not shown.
#[derive(Clone)]
pub(crate) struct HmacKey(hmac::Key);

impl HmacKey {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, bytes))
    }
}

impl fmt::Debug for HmacKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HmacKey(***)")
    }
}

/// A private key that is not shown.
#[derive(Clone)]
pub(crate) struct RsaKey(Arc<RsaKeyPair>);

impl fmt::Debug for RsaKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RsaKey(***)")
    }
}

/// Why a key cannot be used; the message does not contain it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BadKey(pub(crate) String);

impl Signer {
    /// An RSA key in PEM form: PKCS #8 (`BEGIN PRIVATE KEY`) or PKCS #1 (`BEGIN RSA PRIVATE KEY`).
    pub(crate) fn rs256(pem: &[u8]) -> Result<Self, BadKey> {
        let key = PrivateKeyDer::from_pem_slice(pem)
            .map_err(|_| BadKey("the key is not a private key in PEM form".into()))?;
        let pair = match &key {
            PrivateKeyDer::Pkcs8(der) => RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()),
            PrivateKeyDer::Pkcs1(der) => RsaKeyPair::from_der(der.secret_pkcs1_der()),
            _ => return Err(BadKey("the key is not an RSA key".into())),
        };
        let bad = |why| BadKey(format!("the key is not an RSA key of 2048 bits or more ({why})"));
        let pair = pair.map_err(bad)?;
        Ok(Self::Rs256(RsaKey(Arc::new(pair))))
    }

    /// The token's first part: base64url of `{"alg":"...","typ":"JWT"}` and a dot.
    const fn head(&self) -> &'static [u8] {
        match self {
            Self::Hs256(_) => b"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.",
            Self::Rs256(_) => b"eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.",
        }
    }
}

impl Function {
    /// Whether it gives raw bytes, which stand as hexadecimal digits in text.
    pub(crate) const fn is_digest(&self) -> bool {
        matches!(self, Self::Sha256 | Self::HmacSha256(_))
    }

    /// Whether its result is a credential of the user.
    pub(crate) const fn is_signature(&self) -> bool {
        matches!(self, Self::HmacSha256(_) | Self::Jwt(_))
    }

    /// Appends the result to the stack, on which the arguments lie: the first up to `first`, the second
    /// from there to `end`. With a prepared key there is one argument.
    pub(super) fn apply(&self, base: usize, first: usize, end: usize, stack: &mut Vec<u8>) {
        match self {
            Self::Base64 => encode(&BASE64_STANDARD, base, end, stack),
            Self::Base64Url => encode(&BASE64_URL_SAFE_NO_PAD, base, end, stack),
            Self::Hex => {
                for at in base..end {
                    hex(&[stack[at]], stack);
                }
            }
            Self::Sha256 => {
                let hash = digest::digest(&digest::SHA256, &stack[base..end]);
                stack.extend_from_slice(hash.as_ref());
            }
            Self::HmacSha256(Some(key)) => {
                let tag = hmac::sign(&key.0, &stack[base..end]);
                stack.extend_from_slice(tag.as_ref());
            }
            Self::HmacSha256(None) => {
                let key = HmacKey::new(&stack[base..first]);
                let tag = hmac::sign(&key.0, &stack[first..end]);
                stack.extend_from_slice(tag.as_ref());
            }
            Self::Jwt(signer) => token(signer, base, first, end, stack),
            Self::UrlEncode => {
                for at in base..end {
                    url_byte(stack[at], stack);
                }
            }
            Self::Json => {
                stack.push(b'"');
                for at in base..end {
                    json_byte(stack[at], stack);
                }
                stack.push(b'"');
            }
            Self::Lower => {
                stack.extend_from_within(base..end);
                stack[end..].make_ascii_lowercase();
            }
            Self::Upper => {
                stack.extend_from_within(base..end);
                stack[end..].make_ascii_uppercase();
            }
        }
    }
}

/// Appends hexadecimal digits.
pub(crate) fn hex(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for &byte in bytes {
        out.push(DIGITS[usize::from(byte >> 4)]);
        out.push(DIGITS[usize::from(byte & 0xf)]);
    }
}

fn encode(engine: &GeneralPurpose, base: usize, end: usize, stack: &mut Vec<u8>) {
    let from = stack.len();
    let most = base64::encoded_len(end - base, true).unwrap_or(0);
    stack.resize(from + most, 0);
    let (arguments, result) = stack.split_at_mut(from);
    let length = engine.encode_slice(&arguments[base..end], result).expect("there is room for it");
    stack.truncate(from + length);
}

/// Header, claims and signature (RFC 7515 section 7.1).
fn token(signer: &Signer, base: usize, first: usize, end: usize, stack: &mut Vec<u8>) {
    let from = stack.len();
    stack.extend_from_slice(signer.head());
    encode(&BASE64_URL_SAFE_NO_PAD, base, first, stack);
    let signed = stack.len();
    match signer {
        Signer::Hs256(key) => {
            let given;
            let key = match key {
                Some(key) => key,
                None => {
                    given = HmacKey::new(&stack[first..end]);
                    &given
                }
            };
            let tag = hmac::sign(&key.0, &stack[from..signed]);
            stack.extend_from_slice(tag.as_ref());
        }
        Signer::Rs256(RsaKey(pair)) => {
            stack.resize(signed + pair.public().modulus_len(), 0);
            let (message, signature) = stack.split_at_mut(signed);
            let (random, message) = (SystemRandom::new(), &message[from..]);
            pair.sign(&RSA_PKCS1_SHA256, &random, message, signature)
                .expect("room for a signature");
        }
    }
    // The signature's bytes are replaced by a dot and their encoding.
    let raw = stack.len();
    stack.push(b'.');
    encode(&BASE64_URL_SAFE_NO_PAD, signed, raw, stack);
    stack.copy_within(raw.., signed);
    stack.truncate(stack.len() - (raw - signed));
}
