//! From a key to its digest: HMAC-SHA-256 under a secret of the store.
//!
//! A plain hash would be enough against guessing, since keys have 128 random bits. With the secret, a leaked digest cannot be
//! matched with a list of keys either.

use std::fmt;

use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

use super::StoreError;

/// Bytes of a digest.
const DIGEST_BYTES: usize = 32;
/// The prefix of every key, so that scanners for leaked secrets recognise one.
pub(crate) const PREFIX: &str = "plk_";

/// A key's digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(pub [u8; DIGEST_BYTES]);

impl Digest {
    /// The digest as four words.
    pub fn words(&self) -> [u64; 4] {
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(self.0.chunks_exact(8)) {
            *word = u64::from_be_bytes(bytes.try_into().unwrap_or_default());
        }
        words
    }
}

/// Makes digests. Allocates nothing for one.
#[derive(Clone)]
pub struct Digester(hmac::Key);

impl Digester {
    /// A digester with this secret.
    pub fn new(secret: &[u8]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }

    /// The digest of a key, or of any other text that a request carries as its key.
    pub fn digest(&self, key: &[u8]) -> Digest {
        let tag = hmac::sign(&self.0, key);
        let mut digest = [0; DIGEST_BYTES];
        digest.copy_from_slice(tag.as_ref());
        Digest(digest)
    }
}

impl fmt::Debug for Digester {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Digester")
    }
}

/// A new key: `plk_` and 128 random bits in hexadecimal.
///
/// # Errors
/// When the system has no random numbers.
pub fn new_key() -> Result<String, StoreError> {
    let mut bits = [0; 16];
    random(&mut bits)?;
    Ok(format!("{PREFIX}{:032x}", u128::from_be_bytes(bits)))
}

/// Whether a text has the form of a key of a gateway.
pub(crate) fn is_like_key(text: &[u8]) -> bool {
    text.starts_with(PREFIX.as_bytes())
}

/// Fills `bytes` with random numbers from the system.
pub(super) fn random(bytes: &mut [u8]) -> Result<(), StoreError> {
    SystemRandom::new().fill(bytes).map_err(|_| StoreError::NoRandomNumbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_hmac_sha256() {
        // RFC 4231, test case 2.
        let digest = Digester::new(b"Jefe").digest(b"what do ya want for nothing?");
        let hex: String = digest.0.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
        assert_eq!(digest.words()[0], 0x5bdc_c146_bf60_754e);
    }

    #[test]
    fn keys_differ_and_have_128_bits() {
        let (one, other) = (new_key().unwrap(), new_key().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.len(), PREFIX.len() + 32);
        assert!(one[PREFIX.len()..].bytes().all(|byte| byte.is_ascii_hexdigit()));
    }
}
