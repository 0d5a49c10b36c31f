//! Scans a JSON text (RFC 8259) without building its values and without allocating.
//!
//! Owns the grammar and where each value ends. `pointer` decides which value is looked for. A library
//! that skips values allocates a stack for each text; this scanner keeps the stack in the bits of a
//! number, since texts nested deeper than [`DEEPEST`] are refused anyway.

/// Arrays and objects inside one another at most, as in `serde_json`.
const DEEPEST: u32 = 127;

/// A text and the position of the scan. A method that returns `None` has found that the text is not
/// JSON.
#[derive(Debug)]
pub(super) struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// What a value is, by its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begins {
    Object,
    Array,
    Other,
}

impl<'a> Scan<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// The next byte that is not white space.
    fn token(&mut self) -> Option<u8> {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
        self.peek()
    }

    fn takes(&mut self, byte: u8) -> bool {
        let takes = self.token() == Some(byte);
        self.at += usize::from(takes);
        takes
    }

    /// What the value here is; an object or array is entered.
    pub(super) fn enter(&mut self) -> Option<Begins> {
        let begins = match self.token()? {
            b'{' => Begins::Object,
            b'[' => Begins::Array,
            _ => return Some(Begins::Other),
        };
        self.at += 1;
        Some(begins)
    }

    /// Goes to the next member of an object, or past the object. Returns the member's name as it is
    /// written.
    pub(super) fn member(&mut self, first: bool) -> Option<Option<&'a [u8]>> {
        if first && self.takes(b'}') {
            return Some(None);
        }
        if !first && !self.takes(b',') {
            return self.takes(b'}').then_some(None);
        }
        (self.token()? == b'"').then_some(())?;
        let name = self.string()?;
        self.takes(b':').then_some(Some(name))
    }

    /// Goes to the next element of an array, or past the array. Returns whether there is one.
    pub(super) fn element(&mut self, first: bool) -> Option<bool> {
        if first && self.takes(b']') {
            return Some(false);
        }
        if !first && !self.takes(b',') {
            return self.takes(b']').then_some(false);
        }
        Some(true)
    }

    /// Skips the value here and returns its bytes.
    pub(super) fn value(&mut self) -> Option<&'a [u8]> {
        self.token()?;
        let start = self.at;
        // Which of the values that are open are objects, the innermost in the lowest bit.
        let (mut objects, mut depth) = (0u128, 0u32);
        loop {
            let begins = self.enter()?;
            let mut goes_in = match begins {
                Begins::Other => {
                    self.plain()?;
                    false
                }
                _ if depth == DEEPEST => return None,
                _ => {
                    (objects, depth) =
                        (objects << 1 | u128::from(begins == Begins::Object), depth + 1);
                    true
                }
            };
            // Out of all that ends here, to the next value.
            loop {
                if depth == 0 {
                    return self.bytes.get(start..self.at);
                }
                let another = match objects & 1 {
                    1 => self.member(goes_in)?.is_some(),
                    _ => self.element(goes_in)?,
                };
                if another {
                    break;
                }
                (objects, depth, goes_in) = (objects >> 1, depth - 1, false);
            }
        }
    }

    /// Whether nothing but white space is left.
    pub(super) fn over(&mut self) -> bool {
        self.token().is_none()
    }

    /// A number, `true`, `false` or `null`.
    fn plain(&mut self) -> Option<()> {
        match self.token()? {
            b'"' => self.string().map(drop),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.bytes.get(self.at..)?.starts_with(word).then(|| self.at += word.len())
    }

    /// The text here, without its quotes and with its escapes.
    fn string(&mut self) -> Option<&'a [u8]> {
        self.at += 1;
        let start = self.at;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => self.escape()?,
                0..=0x1f => return None,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        self.bytes.get(start..self.at - 1)
    }

    fn escape(&mut self) -> Option<()> {
        self.at += 1;
        match self.peek()? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 1,
            b'u' => {
                unit(self.bytes.get(self.at + 1..self.at + 5)?)?;
                self.at += 5;
            }
            _ => return None,
        }
        Some(())
    }

    fn digits(&mut self) -> Option<()> {
        let from = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        (self.at > from).then_some(())
    }

    fn number(&mut self) -> Option<()> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek()? {
            b'0' => self.at += 1,
            _ => self.digits()?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Some(())
    }
}

/// Four hexadecimal digits.
fn unit(digits: &[u8]) -> Option<u16> {
    let all = digits.iter().all(u8::is_ascii_hexdigit);
    u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok().filter(|_| all)
}

/// Appends the decoded string; `raw` is what stands between its quotes. `None` if it is not UTF-8 or
/// has half of a surrogate pair.
pub(super) fn unescape(raw: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let mut rest = str::from_utf8(raw).ok()?.as_bytes();
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        out.extend_from_slice(&rest[..at]);
        let letter = *rest.get(at + 1)?;
        rest = &rest[at + 2..];
        out.push(match letter {
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let (character, left) = code_point(rest)?;
                rest = left;
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            other => other,
        });
    }
    out.extend_from_slice(rest);
    Some(())
}

/// The character whose `\u` came just before, and what follows it.
fn code_point(rest: &[u8]) -> Option<(char, &[u8])> {
    let (first, rest) = rest.split_at_checked(4)?;
    let first = u32::from(unit(first)?);
    if !(0xd800..0xdc00).contains(&first) {
        return Some((char::from_u32(first)?, rest));
    }
    let (second, rest) = rest.strip_prefix(b"\\u")?.split_at_checked(4)?;
    let second = u32::from(unit(second)?);
    (0xdc00..0xe000).contains(&second).then_some(())?;
    let code_point = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
    Some((char::from_u32(code_point)?, rest))
}
