//! Heads as they arrive: whole, in parts, or recognised as the last one.
//!
//! Owns the buffer for a head that has not arrived whole. `walk` reads its lines; `last_head`
//! recognises a head that was read before.

use crate::error::WireError;
use crate::framing::Section;
use crate::last_head::LastHead;
use crate::walk::{Bounds, Head, Walk};

/// The part of a head that has arrived so far, on the heap only while there is one.
#[derive(Debug, Default)]
pub(crate) struct PartialHead {
    partial: Option<Box<Partial>>,
}

#[derive(Debug)]
struct Partial {
    bytes: Vec<u8>,
    walk: Walk,
}

/// Where the bytes of a complete head are.
pub(crate) enum Place<'i> {
    Input(&'i [u8]),
    Held,
}

/// How much of the input is copied at a time, so that a body behind a head's end is not.
const PIECE_BYTES: usize = 1024;

impl PartialHead {
    /// Whether no part of a head is held.
    pub(crate) fn is_empty(&self) -> bool {
        self.partial.is_none()
    }

    /// Bytes on the heap.
    pub(crate) fn capacity(&self) -> usize {
        self.partial.as_ref().map_or(0, |partial| partial.bytes.capacity() + size_of::<Partial>())
    }

    /// The bytes of the head that was found [`Place::Held`].
    pub(crate) fn bytes(&self) -> &[u8] {
        self.partial.as_ref().map_or(&[], |partial| &partial.bytes)
    }

    /// Releases what is held.
    #[inline]
    pub(crate) fn release(&mut self) {
        if self.partial.is_some() {
            self.partial = None;
        }
    }

    /// The field lines of the trailer section that was read last, until it is released.
    pub(crate) fn trailers(&self) -> &[u8] {
        let bytes = self.bytes();
        &bytes[..bytes.len().saturating_sub(2)]
    }

    /// Holds a complete trailer section that was found in the input.
    #[cold]
    pub(crate) fn hold_trailers(&mut self, bytes: &[u8]) {
        let walk = Walk::new(Section::Trailers);
        self.partial = Some(Box::new(Partial { bytes: bytes.to_vec(), walk }));
    }

    /// Reads a head from what is held and from `input`, consuming of it what belongs to the head;
    /// all of it when the head does not end there.
    #[inline]
    pub(crate) fn read<'i>(
        &mut self,
        section: Section,
        bounds: Bounds,
        input: &mut &'i [u8],
        seen: Option<&mut LastHead>,
    ) -> Result<Option<(Head, Place<'i>)>, WireError> {
        if !self.is_empty() {
            return self.resume(bounds, input);
        }
        if input.is_empty() {
            return Ok(None);
        }
        let head = match seen.as_ref().and_then(|seen| seen.known(section, bounds, input)) {
            Some(head) => head,
            None => {
                let mut walk = Walk::new(section);
                let bytes = &input[..input.len().min(bounds.head_bytes as usize)];
                let Some(head) = walk.advance(bytes, bounds)? else {
                    return self.hold(walk, bounds, input);
                };
                if let Some(seen) = seen {
                    seen.keep(section, bounds, head, &input[..head.len]);
                }
                head
            }
        };
        let (bytes, rest) = input.split_at(head.len);
        *input = rest;
        Ok(Some((head, Place::Input(bytes))))
    }

    #[cold]
    fn hold<'i>(
        &mut self,
        walk: Walk,
        bounds: Bounds,
        input: &mut &'i [u8],
    ) -> Result<Option<(Head, Place<'i>)>, WireError> {
        if input.len() >= bounds.head_bytes as usize {
            return Err(WireError::HeadTooLong { limit: bounds.head_bytes });
        }
        self.partial = Some(Box::new(Partial { bytes: input.to_vec(), walk }));
        *input = &[];
        Ok(None)
    }

    #[cold]
    fn resume<'i>(
        &mut self,
        bounds: Bounds,
        input: &mut &'i [u8],
    ) -> Result<Option<(Head, Place<'i>)>, WireError> {
        let Some(partial) = self.partial.as_deref_mut() else { return Ok(None) };
        let limit = bounds.head_bytes as usize;
        while !input.is_empty() {
            let before = partial.bytes.len();
            let room = PIECE_BYTES.min(limit - before);
            let piece = &input[..input.len().min(room)];
            partial.bytes.extend_from_slice(piece);
            if let Some(head) = partial.walk.advance(&partial.bytes, bounds)? {
                partial.bytes.truncate(head.len);
                *input = &input[head.len - before..];
                return Ok(Some((head, Place::Held)));
            }
            *input = &input[piece.len()..];
            if partial.bytes.len() == limit {
                return Err(WireError::HeadTooLong { limit: bounds.head_bytes });
            }
        }
        Ok(None)
    }
}
