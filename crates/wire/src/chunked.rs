//! The chunked coding (RFC 9112 section 7.1), decoded in place.
//!
//! Owns the way from one chunk's data to the next; the trailer section at the end is read by `head`
//! and put aside: nothing here needs a trailer, and none may change how its message is read.

use crate::error::WireError;
use crate::framing::Section;
use crate::head::Held;
use crate::walk::Bounds;

/// Bytes of one chunk's extension, its semicolon and white space included.
const EXTENSION_BYTES: u16 = 256;

/// Hexadecimal digits of a chunk size, leading zeros included.
const SIZE_DIGITS: u16 = 16;

/// A step in a body.
pub(crate) enum Part<'i> {
    Data(&'i [u8]),
    End,
}

/// Where in a chunked body the next byte is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chunked {
    state: State,
    /// Bytes of the chunk still to come; while its size is being read, the size so far.
    left: u64,
    /// Digits or extension bytes read of the current line.
    count: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
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
        Self { state: State::Size, left: 0, count: 0 }
    }

    /// Whether the data is over.
    #[inline]
    pub(crate) fn in_trailers(&self) -> bool {
        self.state == State::Trailers
    }

    /// Goes on over `input` to the next data, or to the end of the body.
    pub(crate) fn next<'i>(
        &mut self,
        held: &mut Held,
        bounds: Bounds,
        input: &mut &'i [u8],
    ) -> Result<Option<Part<'i>>, WireError> {
        loop {
            match self.state {
                State::Data if input.is_empty() => return Ok(None),
                State::Data => return Ok(Some(Part::Data(self.data(input)))),
                State::Trailers => {
                    let end = held.read(Section::Trailers, bounds, input, None)?;
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
            self.state = State::DataCr;
        }
        data
    }

    /// Takes one byte of what stands between two chunks' data.
    #[inline]
    fn step(&mut self, byte: u8) -> Result<(), WireError> {
        self.state = match (self.state, byte) {
            (State::Size, _) => return self.size(byte),
            (State::Blank | State::Extension, _) => return self.extension(byte),
            (State::SizeLf, b'\n') if self.left == 0 => State::Trailers,
            (State::SizeLf, b'\n') => State::Data,
            (State::SizeLf, _) => return Err(WireError::ChunkSize { byte }),
            (State::DataCr, b'\r') => State::DataLf,
            (State::DataLf, b'\n') => {
                *self = Self::new();
                State::Size
            }
            (State::DataCr | State::DataLf | State::Data | State::Trailers, _) => {
                return Err(WireError::ChunkEnd { byte });
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
            _ if self.count == 0 => return Err(WireError::ChunkSize { byte }),
            b'\r' => State::SizeLf,
            b';' => State::Extension,
            b' ' | b'\t' => State::Blank,
            _ => return Err(WireError::ChunkSize { byte }),
        };
        self.count = 1;
        Ok(())
    }

    /// Extensions mean nothing to us and are passed over, but neither without end nor over a byte
    /// that some other recipient takes for the end of the line.
    fn extension(&mut self, byte: u8) -> Result<(), WireError> {
        self.state = match (self.state, byte) {
            (State::Blank, b' ' | b'\t') => State::Blank,
            (State::Blank, b';') => State::Extension,
            (State::Extension, b'\r') => State::SizeLf,
            (State::Extension, _) if crate::bytes::is_text(byte) => State::Extension,
            _ => return Err(WireError::ChunkSize { byte }),
        };
        if self.state != State::SizeLf && self.count == EXTENSION_BYTES {
            return Err(WireError::ChunkExtensionTooLong);
        }
        self.count += 1;
        Ok(())
    }
}
