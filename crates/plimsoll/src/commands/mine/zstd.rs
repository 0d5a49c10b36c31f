//! Zstandard files: frames one after the other, as `cat` and compressors that work in parallel leave them.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// The first four bytes of a frame.
const FRAME: u32 = 0xfd2f_b528;
/// The same of a frame that holds no text; the last four bits may be any.
const SKIPPED: u32 = 0x184d_2a50;

/// Whether a file that begins so holds frames.
pub fn is_meant_by(start: &[u8]) -> bool {
    let magic = start.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
    magic.is_some_and(|magic| magic == FRAME || magic & !0xf == SKIPPED)
}

/// The text of all frames, from the beginning of a file.
pub struct Frames<R> {
    source: R,
    decoder: FrameDecoder,
}

impl<R: BufRead> Frames<R> {
    pub fn new(source: R) -> Self {
        Self { source, decoder: FrameDecoder::new() }
    }

    /// Goes to the next frame that holds text; whether there is one.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    let skipped = io::copy(&mut self.source.by_ref().take(length), &mut io::sink());
                    if skipped? < length {
                        return Err(damaged());
                    }
                }
                Err(_) => return Err(damaged()),
            }
        }
        Ok(false)
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.decoder.can_collect() > 0 || buffer.is_empty() {
                return self.decoder.read(buffer);
            }
            if self.decoder.is_finished() {
                if !self.begin()? {
                    return Ok(0);
                }
                continue;
            }
            let more = BlockDecodingStrategy::UptoBytes(buffer.len());
            self.decoder.decode_blocks(&mut self.source, more).map_err(|_| damaged())?;
        }
    }
}

/// The decoder's own words are those of its types.
fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "no whole zstd frame")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    fn frame(text: &[u8]) -> Vec<u8> {
        compress_to_vec(text, CompressionLevel::Fastest)
    }

    fn text(file: &[u8]) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        Frames::new(file).read_to_end(&mut text).map(|_| text)
    }

    #[test]
    fn all_frames_are_read_and_others_are_skipped() {
        let first = b"one line\n".repeat(100_000);
        let skipped = [&0x184d_2a5b_u32.to_le_bytes()[..], &3_u32.to_le_bytes(), b"abc"].concat();
        let whole = [&first[..], b"two\n"].concat();
        let frames = [frame(&first), frame(b""), frame(b"two\n")].concat();
        assert_eq!(text(&frames).unwrap(), whole);
        let between = [&skipped[..], &frame(&first), &skipped, &frame(b"two\n"), &skipped].concat();
        assert!(is_meant_by(&between) && is_meant_by(&frames) && !is_meant_by(b"GET"));
        assert_eq!(text(&between).unwrap(), whole);
        assert_eq!(text(b"").unwrap(), b"");
    }

    #[test]
    fn a_file_that_ends_within_a_frame_is_damaged() {
        let whole = [frame(b"one\n"), frame(&b"two\n".repeat(1000))].concat();
        let skipped = [&0x184d_2a50_u32.to_le_bytes()[..], &9_u32.to_le_bytes(), b"abc"].concat();
        for file in [&whole[..whole.len() - 3], &skipped, b"\x28\xb5", b"no frame at all"] {
            let why = text(file).expect_err("no whole file");
            assert_eq!(why.kind(), io::ErrorKind::InvalidData, "{why}");
        }
    }
}
