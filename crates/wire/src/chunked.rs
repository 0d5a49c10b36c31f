//! The chunked coding (RFC 9112 section 7.1), decoded in place.
//!
//! Owns what stands between the data of one chunk and the next. `head` reads the trailer section at the
//! end, and drops it unless the parser was asked to keep it: no trailer may change how its message is read.

use crate::error::WireError;
use crate::framing::Section;
use crate::head::{PartialHead, Place};
use crate::walk::Bounds;

/// Bytes of one chunk's extension, its semicolon and white space included.
const EXTENSION_BYTES: u16 = 256;

/// Hexadecimal digits of a chunk size, leading zeros included.
const SIZE_DIGITS: u16 = 16;

/// Bytes of the line that ends a trailer section.
const EMPTY_LINE: usize = 2;

/// A step in a body.
pub(crate) enum Part<'i> {
    Data(&'i [u8]),
    End,
}

/// Where in a chunked body the next byte is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chunked {
    state: ChunkState,
    /// Bytes of the chunk still to come; while its size is being read, the size so far.
    left: u64,
    /// Digits or extension bytes read of the current line.
    count: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChunkState {
    Size,
    /// White space that only an extension may follow.
    Blank,
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    Trailers,
}

impl Chunked {
    pub(crate) fn new() -> Self {
        Self { state: ChunkState::Size, left: 0, count: 0 }
    }

    /// Whether the data is over.
    #[inline]
    pub(crate) fn in_trailers(&self) -> bool {
        self.state == ChunkState::Trailers
    }

    /// Goes on over `input` to the next data, or to the end of the body.
    pub(crate) fn next<'i>(
        &mut self,
        held: &mut PartialHead,
        bounds: Bounds,
        input: &mut &'i [u8],
    ) -> Result<Option<Part<'i>>, WireError> {
        loop {
            match self.state {
                ChunkState::Data if input.is_empty() => return Ok(None),
                ChunkState::Data => return Ok(Some(Part::Data(self.data(input)))),
                ChunkState::Trailers => {
                    let end = held.read(Section::Trailers, bounds, input, None)?;
                    if let Some((_, Place::Input(bytes))) = &end
                        && bounds.keeps_trailers
                        && bytes.len() > EMPTY_LINE
                    {
                        held.hold_trailers(bytes);
                    }
                    return Ok(end.map(|_| Part::End));
                }
                _ => {
                    let Some((&byte, rest)) = input.split_first() else { return Ok(None) };
                    *input = rest;
                    self.step(byte)?;
                }
            }
        }
    }

    fn data<'i>(&mut self, input: &mut &'i [u8]) -> &'i [u8] {
        let len = usize::try_from(self.left).unwrap_or(usize::MAX).min(input.len());
        let (data, rest) = input.split_at(len);
        *input = rest;
        self.left -= len as u64;
        if self.left == 0 {
            self.state = ChunkState::DataCr;
        }
        data
    }

    /// Takes one byte between two chunks' data.
    #[inline]
    fn step(&mut self, byte: u8) -> Result<(), WireError> {
        self.state = match (self.state, byte) {
            (ChunkState::Size, _) => return self.size(byte),
            (ChunkState::Blank | ChunkState::Extension, _) => return self.extension(byte),
            (ChunkState::SizeLf, b'\n') if self.left == 0 => ChunkState::Trailers,
            (ChunkState::SizeLf, b'\n') => ChunkState::Data,
            (ChunkState::SizeLf, _) => return Err(WireError::ChunkSize(byte)),
            (ChunkState::DataCr, b'\r') => ChunkState::DataLf,
            (ChunkState::DataLf, b'\n') => {
                *self = Self::new();
                ChunkState::Size
            }
            (
                ChunkState::DataCr | ChunkState::DataLf | ChunkState::Data | ChunkState::Trailers,
                _,
            ) => {
                return Err(WireError::ChunkEnd(byte));
            }
        };
        Ok(())
    }

    #[inline]
    fn size(&mut self, byte: u8) -> Result<(), WireError> {
        let Some(digit) = (byte as char).to_digit(16) else { return self.after_size(byte) };
        if self.count == SIZE_DIGITS {
            return Err(WireError::ChunkSizeOverflow);
        }
        self.count += 1;
        self.left = self.left << 4 | u64::from(digit);
        Ok(())
    }

    fn after_size(&mut self, byte: u8) -> Result<(), WireError> {
        self.state = match byte {
            _ if self.count == 0 => return Err(WireError::ChunkSize(byte)),
            b'\r' => ChunkState::SizeLf,
            b';' => ChunkState::Extension,
            b' ' | b'\t' => ChunkState::Blank,
            _ => return Err(WireError::ChunkSize(byte)),
        };
        self.count = 1;
        Ok(())
    }

    /// Extensions are skipped, but only up to a limit, and never past a byte that another recipient
    /// could take for the end of the line.
    fn extension(&mut self, byte: u8) -> Result<(), WireError> {
        self.state = match (self.state, byte) {
            (ChunkState::Blank, b' ' | b'\t') => ChunkState::Blank,
            (ChunkState::Blank, b';') => ChunkState::Extension,
            (ChunkState::Extension, b'\r') => ChunkState::SizeLf,
            (ChunkState::Extension, _) if crate::bytes::is_text(byte) => ChunkState::Extension,
            _ => return Err(WireError::ChunkSize(byte)),
        };
        if self.state != ChunkState::SizeLf && self.count == EXTENSION_BYTES {
            return Err(WireError::ChunkExtensionTooLong);
        }
        self.count += 1;
        Ok(())
    }
}
