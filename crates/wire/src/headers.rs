//! The header fields of a head, read where they lie.
//!
//! Owns looking fields up in bytes that `head` has found well formed. Nothing is stored for it: headers
//! of most responses in a load are never looked up, so a table of them would be wasted work.

use std::fmt;
use std::ops::Range;

use crate::bytes::{text_run, token_run, trim};

/// The header fields of one message, in the order in which they came.
///
/// Borrowed from the head's bytes; each look-up walks them.
#[derive(Clone, Copy, Default)]
pub struct Headers<'a> {
    lines: &'a [u8],
}

impl<'a> Headers<'a> {
    /// `lines` are complete field lines, each with its CR LF, that `head` has accepted.
    pub(crate) fn new(lines: &'a [u8]) -> Self {
        Self { lines }
    }

    /// All fields: name as it was written, value without the white space around it.
    pub fn iter(&self) -> HeadersIter<'a> {
        HeadersIter { rest: self.lines }
    }

    /// The value of the first field called `name`, without regard to case.
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.all(name).next()
    }

    /// The values of all fields called `name`, without regard to case.
    pub fn all<'n>(&self, name: &'n str) -> impl Iterator<Item = &'a [u8]> + use<'a, 'n> {
        let mut rest = self.lines;
        std::iter::from_fn(move || {
            while !rest.is_empty() {
                let (line, after) = rest.split_at(text_run(rest, 0));
                rest = &after[2..];
                if let Some(value) = value_of(line, name) {
                    return Some(value);
                }
            }
            None
        })
    }

    /// For each name a part of the fields: from the first field of that name to the last one, or nothing. A look-up of the name
    /// finds in its part what it would find in all fields. One walk finds all parts, so this saves time where several names are
    /// looked up that most heads do not have.
    pub fn parts<const N: usize>(&self, names: [&str; N]) -> [Self; N] {
        let mut found = [const { None::<Range<usize>> }; N];
        let mut at = 0;
        while at < self.lines.len() {
            let end = text_run(self.lines, at);
            let after = end + 2;
            for (part, name) in found.iter_mut().zip(names) {
                if value_of(&self.lines[at..end], name).is_some() {
                    part.get_or_insert(at..after).end = after;
                }
            }
            at = after;
        }
        found.map(|part| part.map(|part| Self::new(&self.lines[part])).unwrap_or_default())
    }

    /// Whether there is no field at all.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

/// The value of a field line if its name is `name`. The place of the colon is compared first: that alone rules out most lines with
/// other names.
#[inline]
fn value_of<'a>(line: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let (own, rest) = line.split_at_checked(name.len())?;
    let value = rest.strip_prefix(b":")?;
    // A name that is asked for may have a colon, the name of a field has none.
    (own.eq_ignore_ascii_case(name.as_bytes()) && !own.contains(&b':')).then(|| trim(value))
}

impl fmt::Debug for Headers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = self.iter().map(|(name, value)| (name, value.escape_ascii().to_string()));
        f.debug_map().entries(fields).finish()
    }
}

impl<'a> IntoIterator for Headers<'a> {
    type Item = (&'a str, &'a [u8]);
    type IntoIter = HeadersIter<'a>;

    fn into_iter(self) -> HeadersIter<'a> {
        self.iter()
    }
}

/// Iterator over [`Headers`].
#[derive(Debug, Clone)]
pub struct HeadersIter<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for HeadersIter<'a> {
    type Item = (&'a str, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let colon = token_run(self.rest, 0);
        let end = text_run(self.rest, colon);
        let name = str::from_utf8(&self.rest[..colon]).expect("`head` accepts token names only");
        let value = trim(&self.rest[colon + 1..end]);
        self.rest = &self.rest[end + 2..];
        Some((name, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &[u8] = b"Host: a\r\nx-empty:\r\nSet-Cookie:  a=b; c \t\r\nset-cookie: \xff\r\n";

    #[test]
    fn fields_come_in_order_and_trimmed() {
        let fields: Vec<_> = Headers::new(LINES).iter().collect();
        let expected: [(&str, &[u8]); 4] =
            [("Host", b"a"), ("x-empty", b""), ("Set-Cookie", b"a=b; c"), ("set-cookie", b"\xff")];
        assert_eq!(fields, expected);
        assert!(Headers::default().iter().next().is_none());
    }

    #[test]
    fn look_ups_disregard_case() {
        let headers = Headers::new(LINES);
        assert_eq!(headers.get("HOST"), Some(&b"a"[..]));
        for other in ["hos", "host ", "", "x-empty:", "set-cookie:  a=b; c \t"] {
            assert_eq!(headers.get(other), None, "{other}");
        }
        assert_eq!(Headers::new(b"a:b:c\r\n").get("a:b"), None);
        assert_eq!(headers.all("SET-COOKIE").count(), 2);
        assert_eq!(headers.all("x-empty").collect::<Vec<_>>(), [b""]);
    }

    #[test]
    fn a_part_has_all_fields_of_its_name() {
        let headers = Headers::new(b"Host: a\r\nB: 1\r\nC:\r\nb: 2\r\nD: 3\r\nE: 4\r\n");
        let names = ["b", "HOST", "e", "x", "", "c"];
        let parts = headers.parts(names);
        for (part, name) in parts.iter().zip(names) {
            assert_eq!(part.all(name).collect::<Vec<_>>(), headers.all(name).collect::<Vec<_>>());
        }
        let fields = |part: &Headers<'_>| part.iter().count();
        assert_eq!(parts.each_ref().map(fields), [3, 1, 1, 0, 0, 1]);
        assert!(Headers::default().parts(["a"])[0].is_empty());
    }

    #[test]
    fn debug_shows_names_and_escaped_values() {
        assert_eq!(format!("{:?}", Headers::new(b"a: \xff\r\n")), r#"{"a": "\\xff"}"#);
    }
}
