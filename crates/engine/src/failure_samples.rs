//! A sample of each endpoint's first failed response: its beginning, kept as it arrives, one at a time
//! per worker.

use model::interval::{SAMPLE_BYTES, tallies_needed};
use model::{ErrorClass, Mix};

use crate::attempt_log::endpoint_number;

/// Which endpoints lack a sample, and the response that is being kept.
#[derive(Debug, Default)]
pub(crate) struct FailureSamples {
    /// Endpoints that have no sample yet; empty for a load of one request.
    lacking: Vec<bool>,
    current: Option<u32>,
    body: Vec<u8>,
}

impl FailureSamples {
    pub(crate) fn of(mix: &Mix) -> Self {
        let lacking = vec![true; tallies_needed(mix.endpoints.len())];
        Self { lacking, current: None, body: Vec::new() }
    }

    /// Whether a failed response to a request for `endpoint` would be kept.
    #[inline]
    pub(crate) fn lacks(&self, endpoint: u32) -> bool {
        self.lacking.get(usize::from(endpoint_number(endpoint))).copied().unwrap_or(false)
    }

    /// A failed response begins on connection `conn`.
    pub(crate) fn begin(&mut self, conn: u32) {
        if self.current.is_none() {
            self.current = Some(conn);
            self.body.clear();
        }
    }

    /// Whether the beginning of the response on `conn` is being kept, and not all there is room for.
    pub(crate) fn looks_at(&self, conn: u32) -> bool {
        self.current == Some(conn) && self.body.len() < SAMPLE_BYTES
    }

    /// A part of the body of the response on `conn`.
    #[inline]
    pub(crate) fn body(&mut self, conn: u32, bytes: &[u8]) {
        if self.current == Some(conn) {
            let room = SAMPLE_BYTES.saturating_sub(self.body.len());
            self.body.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
    }

    /// A failed response on `conn` is whole: the endpoint's sample, if it lacks one.
    pub(crate) fn end(
        &mut self,
        conn: u32,
        endpoint: u32,
        class: ErrorClass,
        words: &str,
    ) -> Option<String> {
        let kept = self.current.take_if(|current| *current == conn).is_some();
        let lacking = self.lacking.get_mut(usize::from(endpoint_number(endpoint)))?;
        if !*lacking || class == ErrorClass::Status && !kept {
            return None;
        }
        *lacking = false;
        if class == ErrorClass::Status && !self.body.is_empty() {
            return Some(format!("{words}: {}", String::from_utf8_lossy(&self.body)));
        }
        Some(words.to_owned())
    }

    /// The response on `conn` will never be whole.
    pub(crate) fn abandon(&mut self, conn: u32) {
        self.current.take_if(|current| *current == conn);
    }
}
