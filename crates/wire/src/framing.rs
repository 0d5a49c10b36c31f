//! What the header fields say about the end of a message and about its connection.
//!
//! Owns the rules of RFC 9112 sections 6 and 9.3 and RFC 9110 section 7.2 as far as single fields
//! and their combinations go; `head` feeds it line by line, `response` and `request` conclude the
//! [`Framing`] from it.

use crate::bytes::{is_authority, trim};
use crate::error::{Excerpt, WireError};

/// How the end of a message's body is known (RFC 9112 section 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// There is no body.
    None,
    /// So many bytes, from `Content-Length`.
    Length(u64),
    /// Chunks, from `Transfer-Encoding: chunked`.
    Chunked,
    /// Everything until the peer closes: a response without either header.
    UntilClose,
}

/// The kind of lines that a walk goes over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    /// A status line and headers.
    Response,
    /// A request line and headers.
    Request,
    /// Fields only.
    Trailers,
}

/// What has been learnt so far from the fields that matter to the framing.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Facts {
    pub(crate) length: Option<u64>,
    pub(crate) chunked: bool,
    pub(crate) expects: bool,
    pub(crate) expect_continue: bool,
    close: bool,
    keep_alive: bool,
    pub(crate) host: bool,
    /// See [`media_type`].
    pub(crate) media_type: u32,
}

impl Facts {
    /// Takes one field in. `value` may still have white space around it.
    ///
    /// Names are distinguished by length first: four of five fields of a usual head end here.
    #[inline]
    pub(crate) fn field(
        &mut self,
        section: Section,
        name: &[u8],
        value: &[u8],
    ) -> Result<(), WireError> {
        match name.len() {
            4 | 6 | 10 | 12 | 14 | 17 => self.framing_field(section, name, value),
            _ => Ok(()),
        }
    }

    fn framing_field(
        &mut self,
        section: Section,
        name: &[u8],
        value: &[u8],
    ) -> Result<(), WireError> {
        let is = |known: &[u8]| is_name(name, known);
        match name.len() {
            4 if is(b"host") => self.host(section, name, trim(value)),
            6 if is(b"expect") => {
                self.expects = true;
                self.expect_continue |= trim(value).eq_ignore_ascii_case(b"100-continue");
                Ok(())
            }
            10 if is(b"connection") => {
                self.connection(value);
                Ok(())
            }
            12 if is(b"content-type") => {
                self.media_type = media_type(value);
                Ok(())
            }
            14 if is(b"content-length") => self.content_length(section, name, trim(value)),
            17 if is(b"transfer-encoding") => self.transfer_encoding(section, name, trim(value)),
            _ => Ok(()),
        }
    }

    fn host(&mut self, section: Section, name: &[u8], value: &[u8]) -> Result<(), WireError> {
        match section {
            Section::Response => Ok(()),
            Section::Trailers => Err(WireError::TrailerForbidden(Excerpt::of(name))),
            Section::Request if self.host => Err(WireError::HostRepeated),
            Section::Request if !is_authority(value) => {
                Err(WireError::HostInvalid(Excerpt::of_start_line(value)))
            }
            Section::Request => {
                self.host = true;
                Ok(())
            }
        }
    }

    /// A list of tokens without regard to case (RFC 9110 section 7.6.1); others than these two name
    /// hop-by-hop fields.
    fn connection(&mut self, value: &[u8]) {
        for option in value.split(|&byte| byte == b',').map(trim) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    /// A response may repeat the same length (RFC 9110 section 8.6 lets a recipient accept that); a
    /// request may not, and a list in one field is refused in both.
    fn content_length(
        &mut self,
        section: Section,
        name: &[u8],
        value: &[u8],
    ) -> Result<(), WireError> {
        if section == Section::Trailers {
            return Err(WireError::TrailerForbidden(Excerpt::of(name)));
        }
        let second = decimal(value)?;
        match self.length {
            Some(first) if first != second || section == Section::Request => {
                Err(WireError::ContentLengthRepeated { first, second })
            }
            _ => {
                self.length = Some(second);
                Ok(())
            }
        }
    }

    fn transfer_encoding(
        &mut self,
        section: Section,
        name: &[u8],
        value: &[u8],
    ) -> Result<(), WireError> {
        if section == Section::Trailers {
            return Err(WireError::TrailerForbidden(Excerpt::of(name)));
        }
        if !value.eq_ignore_ascii_case(b"chunked") {
            return Err(WireError::TransferEncoding(Excerpt::of(value)));
        }
        if self.chunked {
            return Err(WireError::TransferEncodingRepeated);
        }
        self.chunked = true;
        Ok(())
    }

    /// Checks the fields together, once the head is complete.
    pub(crate) fn conclude(&self, section: Section, version_minor: u8) -> Result<(), WireError> {
        if self.chunked && self.length.is_some() {
            return Err(WireError::LengthAndChunked);
        }
        if self.chunked && version_minor == 0 {
            return Err(WireError::ChunkedOnHttp10);
        }
        if section == Section::Request && version_minor == 1 && !self.host {
            return Err(WireError::HostMissing);
        }
        Ok(())
    }

    /// Whether the connection outlives the message (RFC 9112 section 9.3).
    pub(crate) fn keep_alive(&self, version_minor: u8) -> bool {
        !self.close && (version_minor == 1 || self.keep_alive)
    }
}

/// Whether `name`, a token, is `known`, written in lower case and as long.
///
/// Setting bit 5 makes an upper case letter a lower case one and no other token byte a letter or a
/// dash. Two words that may overlap cover 8 to 16 bytes; this saves a tenth of a small response's cost.
#[inline]
fn is_name(name: &[u8], known: &[u8]) -> bool {
    const BIT_5: u64 = 0x2020_2020_2020_2020;
    match (ends(name), ends(known)) {
        (Some([first, last]), Some(known)) if name.len() <= 16 => {
            [first | BIT_5, last | BIT_5] == known
        }
        _ => name.eq_ignore_ascii_case(known),
    }
}

/// The first and the last eight bytes.
#[inline]
fn ends(bytes: &[u8]) -> Option<[u64; 2]> {
    Some([bytes.first_chunk()?, bytes.last_chunk()?].map(|word| u64::from_le_bytes(*word)))
}

/// A number for a media type without its parameters, never 0: its length, and its first and last eight
/// bytes without regard to case, mixed.
fn media_type(value: &[u8]) -> u32 {
    const BIT_5: u64 = 0x2020_2020_2020_2020;
    let named = value.split(|&byte| byte == b';').next().unwrap_or_default();
    let named = trim(named);
    let [first, last] = ends(named).unwrap_or_else(|| {
        let mut word = [0; 8];
        word[..named.len()].copy_from_slice(named);
        [u64::from_le_bytes(word); 2]
    });
    let mixed = ((first | BIT_5) ^ (last | BIT_5).rotate_left(23) ^ named.len() as u64)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed >> 32) as u32).max(1)
}

fn decimal(value: &[u8]) -> Result<u64, WireError> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return Err(WireError::ContentLength(Excerpt::of(value)));
    }
    value
        .iter()
        .try_fold(0u64, |sum, &digit| sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
        .ok_or(WireError::ContentLengthOverflow(Excerpt::of(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_have_numbers() {
        let number = |text: &str| media_type(text.as_bytes());
        assert_eq!(number(" application/json"), number("Application/JSON; charset=utf-8"));
        let names = ["", "text", "text/css", "text/html", "text/plain", "application/json"];
        for (at, name) in names.iter().enumerate() {
            assert!(number(name) > 0);
            assert!(names[..at].iter().all(|other| number(other) != number(name)), "{name}");
        }
    }

    #[test]
    fn decimals() {
        assert_eq!(decimal(b"0"), Ok(0));
        assert_eq!(decimal(b"007"), Ok(7));
        assert_eq!(decimal(b"18446744073709551615"), Ok(u64::MAX));
        for overflow in ["18446744073709551616", "99999999999999999999", "1".repeat(400).as_str()] {
            let value = Excerpt::of(overflow.as_bytes());
            let expected = Err(WireError::ContentLengthOverflow(value));
            assert_eq!(decimal(overflow.as_bytes()), expected);
        }
        for bad in ["", "+1", "-1", "1 2", "1,1", "0x1", "1.0", "\u{0661}"] {
            assert!(decimal(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_expectation_is_noticed_whatever_it_asks_for() {
        let seen = |fields: [(&[u8], &[u8]); 2]| {
            let mut facts = Facts::default();
            for (name, value) in fields {
                facts.field(Section::Request, name, value).unwrap();
            }
            (facts.expects, facts.expect_continue)
        };
        assert_eq!(seen([(b"Accept", b"100-continue"), (b"Expected", b"a")]), (false, false));
        assert_eq!(seen([(b"EXPECT", b" 200-ok"), (b"Host", b"a")]), (true, false));
        assert_eq!(seen([(b"Expect", b"a"), (b"Expect", b"100-Continue ")]), (true, true));
    }

    #[test]
    fn connection_options_are_a_list_without_regard_to_case() {
        let table: [(&[&str], u8, bool); 10] = [
            (&[], 1, true),
            (&[], 0, false),
            (&["close"], 1, false),
            (&["Keep-Alive"], 0, true),
            (&["foo ,\tCLOSE"], 1, false),
            (&["keep-alive", "close"], 1, false),
            (&["close, keep-alive"], 0, false),
            (&["closed"], 1, true),
            (&["x-close,,"], 1, true),
            (&["upgrade, keep-alive"], 0, true),
        ];
        for (values, minor, expected) in table {
            let mut facts = Facts::default();
            for value in values {
                facts.field(Section::Response, b"Connection", value.as_bytes()).unwrap();
            }
            assert_eq!(facts.keep_alive(minor), expected, "{values:?} 1.{minor}");
        }
    }
}
