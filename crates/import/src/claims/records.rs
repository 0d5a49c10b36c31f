//! CSV record by record, none longer than a MiB: what is kept of a record's cells takes several times its text.

use std::io::{self, Read};

use model::quote::plain;

use crate::BadFile;

/// Bytes of one record at most.
const LONGEST_RECORD: usize = 1 << 20;

/// The records of a text, the first of them its header.
pub(super) struct Records<'a> {
    reader: csv::Reader<Rationed<'a>>,
}

impl<'a> Records<'a> {
    pub(super) fn new(bytes: &'a [u8], separator: u8) -> Self {
        let mut builder = csv::ReaderBuilder::new();
        let text = Rationed { rest: bytes, left: 0 };
        Self { reader: builder.delimiter(separator).flexible(true).from_reader(text) }
    }

    /// The header as text.
    ///
    /// # Errors
    /// As [`Self::each`].
    pub(super) fn header(&mut self) -> Result<csv::StringRecord, BadFile> {
        self.read(|reader| reader.headers().cloned())
    }

    /// The header as bytes.
    ///
    /// # Errors
    /// As [`Self::each`].
    pub(super) fn byte_header(&mut self) -> Result<csv::ByteRecord, BadFile> {
        self.read(|reader| reader.byte_headers().cloned())
    }

    /// Takes each further record, with its line.
    ///
    /// # Errors
    /// What `take` says, and where a record is too long or not in UTF-8.
    pub(super) fn each(
        mut self,
        mut take: impl FnMut(usize, &csv::StringRecord) -> Result<(), BadFile>,
    ) -> Result<(), BadFile> {
        let mut record = csv::StringRecord::new();
        while self.read(|reader| reader.read_record(&mut record))? {
            take(line(record.position()), &record)?;
        }
        Ok(())
    }

    /// As [`Self::each`], of text in any encoding.
    ///
    /// # Errors
    /// As [`Self::each`].
    pub(super) fn each_of_bytes(
        mut self,
        mut take: impl FnMut(usize, &csv::ByteRecord) -> Result<(), BadFile>,
    ) -> Result<(), BadFile> {
        let mut record = csv::ByteRecord::new();
        while self.read(|reader| reader.read_byte_record(&mut record))? {
            take(line(record.position()), &record)?;
        }
        Ok(())
    }

    fn read<T>(
        &mut self,
        read: impl FnOnce(&mut csv::Reader<Rationed<'a>>) -> csv::Result<T>,
    ) -> Result<T, BadFile> {
        self.reader.get_mut().left = LONGEST_RECORD;
        let at = line(Some(self.reader.position()));
        read(&mut self.reader).map_err(|error| BadFile::at(at, plain(&error.to_string(), 200)))
    }
}

fn line(position: Option<&csv::Position>) -> usize {
    position.map_or(0, |position| position.line() as usize)
}

/// A text of which no more is handed out than is left of a ration.
struct Rationed<'a> {
    rest: &'a [u8],
    left: usize,
}

impl Read for Rationed<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 && !self.rest.is_empty() {
            return Err(io::Error::other("more than 1 MiB without the end of a line"));
        }
        let most = into.len().min(self.left);
        let read = self.rest.read(&mut into[..most])?;
        self.left -= read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_without_end_is_refused_and_long_texts_are_read() {
        let short = "a,b\n".repeat(LONGEST_RECORD / 2);
        let mut rows = 0;
        let count = |_: usize, _: &csv::StringRecord| {
            rows += 1;
            Ok(())
        };
        let mut records = Records::new(short.as_bytes(), b',');
        records.header().unwrap();
        records.each(count).unwrap();
        assert_eq!(rows, LONGEST_RECORD / 2 - 1);
        for cells in [",", "\"\n\","] {
            let long = format!("a,b\nc,d\n{}", cells.repeat(2 * LONGEST_RECORD));
            let mut records = Records::new(long.as_bytes(), b',');
            records.header().unwrap();
            let refused = records.each_of_bytes(|_, _| Ok(())).unwrap_err();
            assert_eq!(refused.line, Some(3));
            assert!(refused.what.contains("more than 1 MiB"), "{refused}");
        }
    }
}
