//! Gzip files: members one after the other, as `cat` and compressors that work in parallel leave them, and the zeros that
//! copies in blocks leave behind the last.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

/// The text of all members, from the beginning of a file.
pub struct Members<R> {
    /// The one at hand; none at the end.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Members<R> {
    pub fn new(source: R) -> Self {
        Self { member: Some(GzDecoder::new(source)) }
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while let Some(mut member) = self.member.take() {
            let outcome = member.read(buffer);
            if !matches!(outcome, Ok(0)) {
                self.member = Some(member);
                return outcome;
            }
            let mut source = member.into_inner();
            if !ends(&mut source)? {
                self.member = Some(GzDecoder::new(source));
            }
        }
        Ok(0)
    }
}

/// Whether nothing follows but zeros, which are passed over.
fn ends(source: &mut impl BufRead) -> io::Result<bool> {
    let mut zeros = false;
    loop {
        let bytes = match source.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            bytes => bytes?,
        };
        match bytes {
            [] => return Ok(true),
            [0, ..] if bytes.iter().all(|byte| *byte == 0) => zeros = true,
            _ if !zeros && bytes[0] != 0 => return Ok(false),
            _ => {
                let words = "other bytes follow the zeros behind its last member";
                return Err(io::Error::new(io::ErrorKind::InvalidData, words));
            }
        }
        let length = bytes.len();
        source.consume(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write as _;

    fn member(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).expect("memory");
        encoder.finish().expect("memory")
    }

    fn text(file: &[u8]) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        // A buffer that ends within members and zeros.
        let source = io::BufReader::with_capacity(7, file);
        Members::new(source).read_to_end(&mut text).map(|_| text)
    }

    #[test]
    fn all_members_are_read_and_zeros_behind_them_are_not() {
        let first = b"one line\n".repeat(100_000);
        let whole = [&first[..], b"two\n"].concat();
        let members = [member(&first), member(b""), member(b"two\n")].concat();
        for zeros in [0, 1, 7, 100_000] {
            let file = [&members[..], &vec![0; zeros]].concat();
            assert_eq!(text(&file).expect("whole members"), whole, "{zeros}");
        }
    }

    /// Each second reading is interrupted by a signal.
    struct Interrupted<'a> {
        rest: &'a [u8],
        is_next: bool,
    }

    impl Read for Interrupted<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.is_next = !self.is_next;
            if self.is_next {
                Err(io::ErrorKind::Interrupted.into())
            } else {
                self.rest.read(buffer)
            }
        }
    }

    #[test]
    fn what_is_interrupted_is_read_to_its_end() {
        let members = [member(b"one\n"), member(b"two\n"), vec![0; 20]].concat();
        // A buffer that ends where the first member does.
        for capacity in [1, 7, member(b"one\n").len()] {
            let source = Interrupted { rest: &members, is_next: false };
            let mut text = String::new();
            let source = io::BufReader::with_capacity(capacity, source);
            Members::new(source).read_to_string(&mut text).expect("whole members");
            assert_eq!(text, "one\ntwo\n", "{capacity}");
        }
    }

    #[test]
    fn a_file_that_is_damaged_or_goes_on_otherwise_is_refused() {
        let whole = [member(b"one\n"), member(&b"two\n".repeat(1000))].concat();
        let behind = |more: &[u8]| [&whole[..], more].concat();
        for file in [
            whole[..whole.len() - 3].to_vec(),
            behind(b"junk"),
            behind(b"\0\0junk"),
            behind(b"\0\0\0\0\0\0\0\0\0junk"),
            behind(b"\x1f"),
        ] {
            text(&file).expect_err("not all of it can be read");
        }
    }
}
