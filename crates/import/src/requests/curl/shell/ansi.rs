//! bash's `$'...'` (its manual, section ANSI-C Quoting).

use super::{Shell, unended};
use crate::BadFile;
use crate::requests::template::{literal, push};

impl Shell<'_> {
    /// A quoted text, the opening of which has been read.
    pub(super) fn ansi_quoted(&mut self, word: &mut String) -> Result<(), BadFile> {
        let begin = self.line;
        let mut bytes: Vec<u8> = Vec::new();
        loop {
            match self.next() {
                None => return Err(unended("$'", begin)),
                Some('\'') => break,
                Some('\\') => self.escape(&mut bytes, begin)?,
                Some(c) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| BadFile::at(begin, "what $'...' spells is not text in UTF-8"))?;
        push(word, &literal(&text));
        Ok(())
    }

    fn escape(&mut self, bytes: &mut Vec<u8>, begin: usize) -> Result<(), BadFile> {
        let Some(c) = self.next() else { return Err(unended("$'", begin)) };
        match c {
            'n' => bytes.push(b'\n'),
            't' => bytes.push(b'\t'),
            'r' => bytes.push(b'\r'),
            'a' => bytes.push(7),
            'b' => bytes.push(8),
            'e' | 'E' => bytes.push(27),
            'f' => bytes.push(12),
            'v' => bytes.push(11),
            'x' => match self.digits(16, 2) {
                Some(value) => bytes.push(value as u8),
                None => bytes.extend_from_slice(b"\\x"),
            },
            'u' | 'U' => {
                let value = self.digits(16, if c == 'u' { 4 } else { 8 });
                let value = value.map(|value| self.joined_half(value));
                let c = value.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER);
                bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            '0'..='7' => {
                self.at -= 1;
                bytes.push(self.digits(8, 3).unwrap_or_default() as u8);
            }
            'c' => {
                let control = self.next().unwrap_or('@');
                bytes.push(control.to_ascii_uppercase() as u8 & 0x1f);
            }
            '\\' | '\'' | '"' | '?' => bytes.push(c as u8),
            other => {
                bytes.push(b'\\');
                bytes.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        Ok(())
    }

    /// A character beyond 16 bits, which browsers write in two halves (UTF-16), or the value itself.
    fn joined_half(&mut self, value: u32) -> u32 {
        let begin = self.at;
        if (0xd800..0xdc00).contains(&value)
            && self.skip("\\u")
            && let Some(low @ 0xdc00..0xe000) = self.digits(16, 4)
        {
            return 0x1_0000 + ((value - 0xd800) << 10) + (low - 0xdc00);
        }
        self.at = begin;
        value
    }

    /// The number that the next digits spell, `most` of them at most.
    fn digits(&mut self, radix: u32, most: usize) -> Option<u32> {
        let mut value = None;
        for _ in 0..most {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(radix)) else { break };
            self.next();
            value = Some(value.unwrap_or(0_u32).wrapping_mul(radix) + digit);
        }
        value
    }
}
