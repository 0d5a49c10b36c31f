//! The commonest response of a run, which shows whether two runs measured the same thing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Different responses counted separately; any further ones are counted together.
const KEPT: usize = 8;

/// One kind of response and how often it was seen among the responses sampled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommonestResponse {
    /// HTTP status.
    pub status: u16,
    /// Length of the body in bytes, after transfer decoding.
    pub bytes: u64,
    /// SHA-256 of the body in hexadecimal, as `sha256sum` prints it.
    pub body_sha256: String,
    /// Responses like this one among those sampled.
    pub seen: u64,
    /// Responses whose body was hashed: every one at first, then one in 64.
    pub sampled: u64,
}

/// Counts sampled responses by status, length and hash. Bounded: eight kinds, then `others`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResponseTally {
    kinds: Vec<(u16, u64, [u8; 32], u64)>,
    others: u64,
}

impl ResponseTally {
    /// Counts one sampled response.
    pub fn record(&mut self, status: u16, bytes: u64, sha256: [u8; 32]) {
        self.add((status, bytes, sha256), 1);
    }

    fn add(&mut self, key: (u16, u64, [u8; 32]), n: u64) {
        match self.kinds.iter().position(|&(s, b, h, _)| (s, b, h) == key) {
            Some(at) => self.kinds[at].3 = self.kinds[at].3.saturating_add(n),
            None if self.kinds.len() < KEPT => self.kinds.push((key.0, key.1, key.2, n)),
            None => self.others = self.others.saturating_add(n),
        }
    }

    /// Adds the counts of another tally.
    pub fn merge(&mut self, other: &Self) {
        for &(status, bytes, hash, n) in &other.kinds {
            self.add((status, bytes, hash), n);
        }
        self.others = self.others.saturating_add(other.others);
    }

    /// Empties it, keeping its memory.
    pub fn clear(&mut self) {
        self.kinds.clear();
        self.others = 0;
    }

    /// Responses sampled.
    pub fn sampled(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.3).fold(self.others, u64::saturating_add)
    }

    /// The kind seen most often; the first seen of equals.
    pub fn commonest(&self) -> Option<CommonestResponse> {
        let &(status, bytes, hash, seen) = self.kinds.iter().rev().max_by_key(|kind| kind.3)?;
        let body_sha256 = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        Some(CommonestResponse { status, bytes, body_sha256, seen, sampled: self.sampled() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commonest_wins_and_kinds_are_bounded() {
        let mut tally = ResponseTally::default();
        for i in 0..20u8 {
            tally.record(200, u64::from(i), [i; 32]);
        }
        tally.record(200, 3, [3; 32]);
        let response = tally.commonest().unwrap();
        assert_eq!((response.bytes, response.seen, response.sampled), (3, 2, 21));
        assert!(response.body_sha256.starts_with("0303"));
        assert_eq!(tally.kinds.len(), KEPT);
    }

    #[test]
    fn nothing_sampled_is_no_response() {
        assert_eq!(ResponseTally::default().commonest(), None);
    }
}
