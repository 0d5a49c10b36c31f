//! Hashing some responses' bodies, so that a run records which response it measured. Every response is hashed at
//! first, then one in 64; at most one at a time a worker.

use model::ResponseTally;
use sha2::{Digest, Sha256};

const ALL_OF_THE_FIRST: u64 = 64;
const THEN_ONE_IN: u64 = 64;

/// The response being hashed.
#[derive(Debug, Default)]
pub(crate) struct BodyHasher {
    responses: u64,
    current: Option<(u32, Sha256)>,
}

impl BodyHasher {
    /// A response begins on connection `conn`: decides whether to hash it.
    #[inline]
    pub(crate) fn begin(&mut self, conn: u32) {
        self.responses += 1;
        let chosen =
            self.responses <= ALL_OF_THE_FIRST || self.responses.is_multiple_of(THEN_ONE_IN);
        if chosen && self.current.is_none() {
            self.current = Some((conn, Sha256::new()));
        }
    }

    /// Whether the response on `conn` is being hashed.
    pub(crate) fn looks_at(&self, conn: u32) -> bool {
        self.current.as_ref().is_some_and(|(sampled, _)| *sampled == conn)
    }

    /// A part of the body of the response on `conn`.
    #[inline]
    pub(crate) fn body(&mut self, conn: u32, bytes: &[u8]) {
        if let Some((sampled, hash)) = &mut self.current
            && *sampled == conn
        {
            hash.update(bytes);
        }
    }

    /// The response on `conn` is whole.
    #[inline]
    pub(crate) fn end(&mut self, conn: u32, status: u16, bytes: u64, tally: &mut ResponseTally) {
        if let Some((_, hash)) = self.current.take_if(|(sampled, _)| *sampled == conn) {
            tally.record(status, bytes, hash.finalize().into());
        }
    }

    /// The response on `conn` will never be whole.
    pub(crate) fn abandon(&mut self, conn: u32) {
        self.current.take_if(|(sampled, _)| *sampled == conn);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_as_sha256sum_does() {
        let mut body_hasher = BodyHasher::default();
        let mut tally = ResponseTally::default();
        body_hasher.begin(3);
        body_hasher.body(3, b"{\"status\":");
        body_hasher.body(9, b"another connection's");
        body_hasher.body(3, b"\"ok\"}");
        body_hasher.end(3, 200, 15, &mut tally);
        let response = tally.commonest().unwrap();
        assert_eq!(
            response.body_sha256,
            "a29ee2b15c494311c52521766e44af56a3ad2248e7a8ab465e5206463c13d288"
        );
        assert_eq!((response.status, response.bytes, response.sampled), (200, 15, 1));
    }
}
