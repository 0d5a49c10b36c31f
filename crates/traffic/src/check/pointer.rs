//! Extracts one value from a JSON text without building the rest.

use super::json::{Begins, Scan, unescape};

/// A JSON pointer (RFC 6901).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pointer(Vec<String>);

/// The value found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found<'a> {
    /// Text without its quotes, anything else as it was written.
    pub(crate) bytes: &'a [u8],
    /// Whether it is a JSON value other than text.
    pub(crate) json: bool,
}

impl Pointer {
    /// `None` if the text is not a pointer: a pointer is empty or begins with `/`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self(Vec::new()));
        }
        let tokens = text.strip_prefix('/')?.split('/');
        Some(Self(tokens.map(|token| token.replace("~1", "/").replace("~0", "~")).collect()))
    }

    /// The value at the pointer; `None` if there is none or the body is not JSON. If members share a
    /// name, the first counts. `scratch` is kept for texts with escapes.
    pub(crate) fn find<'a>(&self, body: &'a [u8], scratch: &'a mut Vec<u8>) -> Option<Found<'a>> {
        let mut scan = Scan::new(body);
        let value = seek(&mut scan, &self.0, scratch)??;
        if !scan.over() {
            return None;
        }
        let inside = value.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\""));
        let Some(inside) = inside else { return Some(Found { bytes: value, json: true }) };
        if !inside.contains(&b'\\') {
            return str::from_utf8(inside).ok().map(|_| Found { bytes: inside, json: false });
        }
        scratch.clear();
        unescape(inside, scratch)?;
        Some(Found { bytes: scratch, json: false })
    }
}

/// Skips the value here. Returns the value inside it that the tokens lead to, if there is one; `None`
/// if the text is not JSON.
fn seek<'a>(
    scan: &mut Scan<'a>,
    tokens: &[String],
    scratch: &mut Vec<u8>,
) -> Option<Option<&'a [u8]>> {
    let [token, further @ ..] = tokens else { return scan.value().map(Some) };
    let mut found = None;
    let mut first = true;
    match scan.enter()? {
        Begins::Other => return scan.value().map(|_| None),
        Begins::Object => {
            while let Some(name) = scan.member(std::mem::take(&mut first))? {
                if found.is_none() && is(name, token, scratch) {
                    found = seek(scan, further, scratch)?;
                } else {
                    scan.value()?;
                }
            }
        }
        Begins::Array => {
            // RFC 6901 allows no leading zeros.
            let index = token.parse::<u64>().ok();
            let index = index.filter(|_| token == "0" || !token.starts_with(['0', '+']));
            let mut at = 0;
            while scan.element(std::mem::take(&mut first))? {
                if Some(at) == index {
                    found = seek(scan, further, scratch)?;
                } else {
                    scan.value()?;
                }
                at += 1;
            }
        }
    }
    Some(found)
}

/// Whether a name as it is written decodes to `token`.
fn is(name: &[u8], token: &str, scratch: &mut Vec<u8>) -> bool {
    if !name.contains(&b'\\') {
        return name == token.as_bytes();
    }
    scratch.clear();
    unescape(name, scratch).is_some() && scratch == token.as_bytes()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
            let mut scratch = Vec::new();
            let value = Pointer::parse(pointer).unwrap().find(body, &mut scratch);
            let value = value.map(|found| String::from_utf8(found.bytes.to_vec()).unwrap());
            assert_eq!(value.as_deref(), found, "{pointer}");
        }
        assert_eq!(Pointer::parse("foo"), None);
        let whole = Pointer::parse("").unwrap();
        assert_eq!(whole.find(b" 7 ", &mut Vec::new()).unwrap().bytes, b"7");
        for broken in [&b"{\"foo\": 1"[..], b"{\"foo\": 1} x", b"", b"\xff"] {
            assert_eq!(Pointer::parse("/foo").unwrap().find(broken, &mut Vec::new()), None);
        }
    }

    /// What `serde_json` makes of the whole text, and then of the pointer.
    fn by_serde(pointer: &str, body: &[u8]) -> Option<serde_json::Value> {
        let whole: serde_json::Value = serde_json::from_slice(body).ok()?;
        whole.pointer(pointer).cloned()
    }

    fn as_value(found: Option<Found<'_>>) -> Option<serde_json::Value> {
        let Found { bytes, json } = found?;
        let text = str::from_utf8(bytes).unwrap();
        Some(if json { serde_json::from_str(text).unwrap() } else { text.into() })
    }

    #[test]
    fn what_is_no_json_has_no_values() {
        for broken in [
            "",
            " ",
            "{",
            "[",
            "{]",
            "[1,]",
            "[,1]",
            "[1 2]",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{a:1}",
            "01",
            "-",
            "+1",
            "1.",
            ".5",
            "1e",
            "1e+",
            "0x1",
            "tru",
            "nul",
            "truex",
            "\"",
            "\"\\\"",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\u12g4\"",
            "\"\n\"",
            "[1]]",
            "{} {}",
            "'a'",
            "\u{feff}1",
            "NaN",
            "/**/1",
            "\"\\ud800\"",
            "\"\\ud800\\u0041\"",
            "\"\\udc00\"",
        ] {
            assert_eq!(by_serde("", broken.as_bytes()), None, "{broken}");
            let whole = Pointer::parse("").unwrap();
            assert_eq!(whole.find(broken.as_bytes(), &mut Vec::new()), None, "{broken}");
        }
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        for (depth, is_json) in [(127, true), (128, false), (100_000, false)] {
            let found = Pointer::parse("").unwrap();
            let text = nested(depth);
            assert_eq!(found.find(text.as_bytes(), &mut Vec::new()).is_some(), is_json, "{depth}");
        }
    }

    fn any_json() -> impl Strategy<Value = serde_json::Value> {
        let name =
            prop_oneof![Just("a".to_owned()), Just("b/~".into()), "\\PC{0,3}", any::<String>()];
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            (-1e9..1e9f64).prop_map(Into::into),
            name.clone().prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 24, 4, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                proptest::collection::btree_map(name.clone(), inner, 0..4)
                    .prop_map(|all| serde_json::Value::Object(all.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// Every value that is there is found, in the text as it is and in one that is damaged.
        #[test]
        fn values_are_found_as_serde_json_finds_them(
            value in any_json(), pretty in any::<bool>(), harm in any::<Option<(usize, u8)>>(),
            pointer in "(/(a|b~1~0|[0-3]|\\PC?)){0,3}",
        ) {
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
            let mut text = text.unwrap().into_bytes();
            if let Some((at, byte)) = harm {
                let at = at % text.len();
                text[at] = byte;
            }
            let Some(parsed) = Pointer::parse(&pointer) else { return Ok(()) };
            let mut scratch = Vec::new();
            let found = parsed.find(&text, &mut scratch);
            if harm.is_none() {
                prop_assert_eq!(as_value(found), by_serde(&pointer, &text));
                return Ok(());
            }
            // A string that is skipped need not be UTF-8.
            let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(&text).is_ok();
            prop_assert!(found.is_none() || is_json);
            let whole = Pointer::parse("").unwrap();
            let plain = str::from_utf8(&text).is_ok() && !text.contains(&b'\\');
            prop_assert!(!plain || whole.find(&text, &mut Vec::new()).is_some() == is_json);
        }
    }
}
