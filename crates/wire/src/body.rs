//! Bodies: how much of the input belongs to the message, and when it has ended.
//!
//! Owns the counting for all framings, for responses and requests alike. Data is lent from the input;
//! nothing is copied.

use crate::chunked::{Chunked, Part};
use crate::error::WireError;
use crate::framing::Framing;
use crate::head::PartialHead;
use crate::walk::Bounds;

/// What is still to come of a body.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Body {
    Length(u64),
    UntilClose,
    Chunked(Chunked),
}

impl From<Framing> for Body {
    #[inline]
    fn from(framing: Framing) -> Self {
        match framing {
            Framing::None => Self::Length(0),
            Framing::Length(bytes) => Self::Length(bytes),
            Framing::Chunked => Self::Chunked(Chunked::new()),
            Framing::UntilClose => Self::UntilClose,
        }
    }
}

impl Body {
    /// Takes the next part from `input`. `None`: all of it is consumed, and more is expected.
    ///
    /// Releases a head in `held`; a trailer section may take its place.
    #[inline]
    pub(crate) fn next<'i>(
        &mut self,
        held: &mut PartialHead,
        bounds: Bounds,
        input: &mut &'i [u8],
    ) -> Result<Option<Part<'i>>, WireError> {
        if !matches!(self, Self::Chunked(chunked) if chunked.in_trailers()) {
            held.release();
        }
        match self {
            Self::Length(0) => Ok(Some(Part::End)),
            Self::Length(left) => {
                let len = usize::try_from(*left).unwrap_or(usize::MAX).min(input.len());
                *left -= len as u64;
                Ok(take(input, len).map(Part::Data))
            }
            Self::UntilClose => Ok(take(input, input.len()).map(Part::Data)),
            Self::Chunked(chunked) => chunked.next(held, bounds, input),
        }
    }
}

#[inline]
fn take<'i>(input: &mut &'i [u8], len: usize) -> Option<&'i [u8]> {
    let (data, rest) = input.split_at(len);
    *input = rest;
    (!data.is_empty()).then_some(data)
}
