//! One value out of a JSON text, without building the rest of it.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A JSON pointer (RFC 6901).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pointer(Vec<String>);

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found<'a> {
    /// Text without its quotes, anything else as it was written.
    pub(crate) bytes: Cow<'a, [u8]>,
    /// Whether it is a JSON value other than text.
    pub(crate) json: bool,
}

impl Pointer {
    /// `None` when the text is no pointer: it is empty or begins with `/`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self(Vec::new()));
        }
        let tokens = text.strip_prefix('/')?.split('/');
        Some(Self(tokens.map(|token| token.replace("~1", "/").replace("~0", "~")).collect()))
    }

    /// The value there; `None` when there is none, or the body is no JSON. Of members of one name the
    /// first counts.
    pub(crate) fn find<'a>(&self, body: &'a [u8]) -> Option<Found<'a>> {
        let mut reader = serde_json::Deserializer::from_slice(body);
        let raw = Seek(&self.0).deserialize(&mut reader).ok()??;
        reader.end().ok()?;
        let text = raw.get();
        if !text.starts_with('"') {
            return Some(Found { bytes: Cow::Borrowed(text.as_bytes()), json: true });
        }
        let inside = &text[1..text.len() - 1];
        let bytes = if inside.contains('\\') {
            Cow::Owned(serde_json::from_str::<String>(text).ok()?.into_bytes())
        } else {
            Cow::Borrowed(inside.as_bytes())
        };
        Some(Found { bytes, json: false })
    }
}

/// Goes down the tokens and passes over everything else.
struct Seek<'p>(&'p [String]);

impl<'de> DeserializeSeed<'de> for Seek<'_> {
    type Value = Option<&'de RawValue>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        if self.0.is_empty() {
            return <&RawValue>::deserialize(deserializer).map(Some);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seek<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(Name(name)) = map.next_key()? {
            if found.is_none() && name == self.0[0] {
                found = map.next_value_seed(Seek(&self.0[1..]))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        // RFC 6901 allows no leading zeros.
        let token = &self.0[0];
        let index: Option<u64> =
            token.parse().ok().filter(|_| token == "0" || !token.starts_with(['0', '+']));
        let mut found = None;
        let mut at = 0;
        loop {
            if Some(at) == index {
                match list.next_element_seed(Seek(&self.0[1..]))? {
                    Some(value) => found = value,
                    None => return Ok(found),
                }
            } else if list.next_element::<IgnoredAny>()?.is_none() {
                return Ok(found);
            }
            at += 1;
        }
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

/// A member's name, lent where it has no escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6901 section 5, and what it leaves open.
    #[test]
    fn pointers_lead_where_the_rfc_says() {
        let body = br#"{"foo": ["bar", "b\"z"], "": 0, "a/b": 1, "m~n": 8, "k\"l": 1.10, "o": {"p": null}}"#;
        for (pointer, found) in [
            ("/foo", Some(r#"["bar", "b\"z"]"#)),
            ("/foo/0", Some("bar")),
            ("/foo/1", Some("b\"z")),
            ("/foo/01", None),
            ("/foo/2", None),
            ("/foo/-", None),
            ("/", Some("0")),
            ("/a~1b", Some("1")),
            ("/m~0n", Some("8")),
            ("/k\"l", Some("1.10")),
            ("/o/p", Some("null")),
            ("/o/p/q", None),
            ("/x", None),
        ] {
            let value = Pointer::parse(pointer).unwrap().find(body);
            let value = value.map(|found| String::from_utf8(found.bytes.into_owned()).unwrap());
            assert_eq!(value.as_deref(), found, "{pointer}");
        }
        assert_eq!(Pointer::parse("foo"), None);
        assert_eq!(Pointer::parse("").unwrap().find(b" 7 ").unwrap().bytes, &b"7"[..]);
        for broken in [&b"{\"foo\": 1"[..], b"{\"foo\": 1} x", b"", b"\xff"] {
            assert_eq!(Pointer::parse("/foo").unwrap().find(broken), None);
        }
    }
}
