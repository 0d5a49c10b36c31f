//! Recognises a head that came before, by its bytes.
//!
//! Servers send most responses with the same head to the byte, or with one that changes once a second.
//! A response whose head is compared is read in three to five tenths of the time that walking over it
//! takes; where heads change with every response, remembering the last one costs a twentieth
//! (`parse_cost`). The bytes decide everything that a head means, so the same bytes under the same
//! limits have the same result; nothing is guessed.

use crate::framing::Section;
use crate::walk::{Bounds, Head};

/// Heads longer than this are not kept: nearly all are shorter, and copying them for nothing should cost little.
const LONGEST: usize = 1024;

/// The last head that was read in one piece. One serves all the parsers of a thread.
#[derive(Debug, Default)]
pub struct LastHead {
    bytes: Vec<u8>,
    learnt: Option<(Section, Bounds, Head)>,
}

impl LastHead {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self { bytes: Vec::with_capacity(LONGEST), learnt: None }
    }

    /// The result for the head that `input` begins with, if it is the one that was seen last.
    #[inline]
    pub(crate) fn known(&self, section: Section, bounds: Bounds, input: &[u8]) -> Option<Head> {
        let (seen, under, head) = self.learnt.as_ref()?;
        let same = *seen == section && *under == bounds && input.starts_with(&self.bytes);
        same.then_some(*head)
    }

    #[inline]
    pub(crate) fn keep(&mut self, section: Section, bounds: Bounds, head: Head, bytes: &[u8]) {
        if bytes.len() <= LONGEST {
            self.bytes.clear();
            self.bytes.extend_from_slice(bytes);
            self.learnt = Some((section, bounds, head));
        }
    }
}
