//! Heads and trailer sections: finding their end, checking every byte, once.
//!
//! Owns the limits and the walk over the lines. A walk can be left at any byte and taken up again, so
//! the cost of a dripped head is linear. `start_line` and `framing` interpret lines, `response` and
//! `request` heads; `head` keeps bytes that arrived in parts.

use crate::bytes::{text_run, token_run};
use crate::error::{Excerpt, WireError};
use crate::framing::{Facts, Section};
use crate::start_line::{StartLine, check_protocol, request_line, status_line};

/// How much of a peer's message is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a head, from the start line to the empty line, and of a trailer section; 64 KiB.
    /// More than 2^32 - 1 means that.
    pub head_bytes: usize,
    /// Header lines of a head, and of a trailer section; 128. More than 2^16 - 1 means that.
    pub headers: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { head_bytes: 64 * 1024, headers: 128 }
    }
}

/// [`Limits`] as a parser keeps them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) head_bytes: u32,
    headers: u16,
    /// Trailer sections are held when they are complete. Here, since each connection of a generator has a parser,
    /// which fits into its cache lines only so.
    pub(crate) keeps_trailers: bool,
    /// Interim responses are events too.
    pub(crate) reports_interim: bool,
}

impl From<Limits> for Bounds {
    fn from(limits: Limits) -> Self {
        Self {
            head_bytes: u32::try_from(limits.head_bytes).unwrap_or(u32::MAX),
            headers: u16::try_from(limits.headers).unwrap_or(u16::MAX),
            keeps_trailers: false,
            reports_interim: false,
        }
    }
}

/// A walk over a head: its position and what it has found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Walk {
    section: Section,
    /// The next byte to look at; all before are well formed.
    at: usize,
    /// Where the current line begins.
    line: usize,
    /// Where its name ended; 0 while still in the name (no name ends at 0).
    colon: usize,
    /// Where the first field line begins; 0 while still in the start line.
    fields: usize,
    count: u16,
    start: StartLine,
    facts: Facts,
}

/// A complete head, without its bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head {
    pub(crate) start: StartLine,
    pub(crate) facts: Facts,
    /// Where the first field line begins.
    pub(crate) fields: usize,
    /// Bytes in all, the empty line included.
    pub(crate) len: usize,
}

impl Walk {
    #[inline]
    pub(crate) fn new(section: Section) -> Self {
        Self {
            section,
            at: 0,
            line: 0,
            colon: 0,
            fields: 0,
            count: 0,
            start: StartLine::default(),
            facts: Facts::default(),
        }
    }

    /// Goes on over `bytes`, which begin where the head does. `None`: it does not end in them.
    #[inline]
    pub(crate) fn advance(
        &mut self,
        bytes: &[u8],
        bounds: Bounds,
    ) -> Result<Option<Head>, WireError> {
        if self.fields == 0 && self.section != Section::Trailers && !self.start_line(bytes)? {
            return Ok(None);
        }
        loop {
            if self.colon == 0 {
                match self.name(bytes)? {
                    Next::Value => {}
                    Next::More => return Ok(None),
                    Next::End => break,
                }
            }
            let Some(end) = self.text(bytes)? else { return Ok(None) };
            if self.count == bounds.headers {
                return Err(WireError::TooManyHeaders { limit: bounds.headers });
            }
            self.count += 1;
            let (name, value) = (&bytes[self.line..self.colon], &bytes[self.colon + 1..end]);
            self.facts.field(self.section, name, value)?;
            self.colon = 0;
            self.line = self.at;
        }
        self.facts.conclude(self.section, self.start.version_minor)?;
        Ok(Some(Head { start: self.start, facts: self.facts, fields: self.fields, len: self.at }))
    }

    /// Whether the start line is complete.
    #[inline]
    fn start_line(&mut self, bytes: &[u8]) -> Result<bool, WireError> {
        if self.section == Section::Response {
            check_protocol(bytes)?;
        }
        let Some(end) = self.text(bytes)? else { return Ok(false) };
        self.start = match self.section {
            Section::Request => request_line(&bytes[..end])?,
            _ => status_line(&bytes[..end])?,
        };
        self.fields = self.at;
        self.line = self.at;
        Ok(true)
    }

    /// Walks over a name and its colon, or over the empty line that ends the head.
    #[inline]
    fn name(&mut self, bytes: &[u8]) -> Result<Next, WireError> {
        self.at = token_run(bytes, self.at);
        let at = self.at;
        match bytes.get(at) {
            None => Ok(Next::More),
            Some(b':') if at > self.line => {
                self.colon = at;
                self.at = at + 1;
                Ok(Next::Value)
            }
            Some(b'\r') if at == self.line => match self.text(bytes)? {
                Some(_) => Ok(Next::End),
                None => Ok(Next::More),
            },
            Some(&byte) => Err(self.name_error(bytes, byte)),
        }
    }

    #[cold]
    fn name_error(&self, bytes: &[u8], byte: u8) -> WireError {
        let name = Excerpt::of(&bytes[self.line..self.at]);
        match byte {
            b' ' | b'\t' if self.at == self.line => WireError::ObsFold,
            b' ' | b'\t' => WireError::SpaceBeforeColon(name),
            b'\n' => WireError::BareLf(name),
            b'\r' | b':' | b'!'..=b'~' | 0x80.. => {
                WireError::HeaderName(Excerpt::of(&bytes[self.line..=self.at]))
            }
            _ => WireError::ControlByte { byte, place: name },
        }
    }

    /// Walks to the end of the line and over its CR LF; returns where its text ended.
    #[inline]
    fn text(&mut self, bytes: &[u8]) -> Result<Option<usize>, WireError> {
        let end = text_run(bytes, self.at);
        self.at = end;
        match (bytes.get(end), bytes.get(end + 1)) {
            (Some(b'\r'), Some(b'\n')) => {
                self.at = end + 2;
                Ok(Some(end))
            }
            (None, _) | (Some(b'\r'), None) => Ok(None),
            (Some(&byte), _) => Err(self.text_error(bytes, byte)),
        }
    }

    #[cold]
    fn text_error(&self, bytes: &[u8], byte: u8) -> WireError {
        let place = match self.colon {
            0 => Excerpt::of_start_line(&bytes[self.line..self.at]),
            colon => Excerpt::of(&bytes[self.line..colon]),
        };
        match byte {
            b'\r' => WireError::BareCr(place),
            b'\n' => WireError::BareLf(place),
            _ => WireError::ControlByte { byte, place },
        }
    }
}

/// What comes after a step over a name.
enum Next {
    Value,
    More,
    End,
}
