//! Escapes a value for its place in a request.

/// A place in a request, by what has to be escaped there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escape {
    /// Nothing: a body's text.
    Raw,
    /// All but what RFC 3986 calls unreserved: a path's segment, a query's name or value.
    Url,
    /// The same with `+` for blanks: a form's field (WHATWG URL, urlencoded serializing).
    Form,
    /// Inside of a JSON string.
    JsonText,
    /// In the place of a JSON value: a number as it is, text in quotes.
    JsonValue,
    /// A header field's value: control characters are not let through.
    Header,
}

const DIGITS: &[u8; 16] = b"0123456789ABCDEF";

/// A control character where none is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Control(pub(crate) u8);

/// Appends `value` as it has to stand there. `json` says that it is a JSON value other than text.
///
/// # Errors
/// When a header field's value would hold a control character; nothing is appended then.
#[inline]
pub(crate) fn escape(
    value: &[u8],
    json: bool,
    escape: Escape,
    out: &mut Vec<u8>,
) -> Result<(), Control> {
    match escape {
        Escape::Raw => out.extend_from_slice(value),
        Escape::Url => percent(value, false, out),
        Escape::Form => percent(value, true, out),
        Escape::JsonText => json_text(value, out),
        Escape::JsonValue if json => out.extend_from_slice(value),
        Escape::JsonValue => {
            out.push(b'"');
            json_text(value, out);
            out.push(b'"');
        }
        Escape::Header => {
            let control = |byte: &&u8| (**byte < 0x20 && **byte != b'\t') || **byte == 0x7f;
            if let Some(byte) = value.iter().find(control) {
                return Err(Control(*byte));
            }
            out.extend_from_slice(value);
        }
    }
    Ok(())
}

fn percent(value: &[u8], form: bool, out: &mut Vec<u8>) {
    for &byte in value {
        match byte {
            b' ' if form => out.push(b'+'),
            b'*' if form => out.push(byte),
            b'~' if form => out.extend_from_slice(b"%7E"),
            _ => url_byte(byte, out),
        }
    }
}

/// Appends a byte as a URL has it: escaped unless it is unreserved.
pub(crate) fn url_byte(byte: u8, out: &mut Vec<u8>) {
    match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(byte),
        _ => {
            let digit = |part: u8| DIGITS[usize::from(part)];
            out.extend_from_slice(&[b'%', digit(byte >> 4), digit(byte & 0xf)]);
        }
    }
}

fn json_text(value: &[u8], out: &mut Vec<u8>) {
    value.iter().for_each(|byte| json_byte(*byte, out));
}

/// Appends a byte as a JSON text has it (RFC 8259 section 7).
pub(crate) fn json_byte(byte: u8, out: &mut Vec<u8>) {
    match byte {
        b'"' => out.extend_from_slice(b"\\\""),
        b'\\' => out.extend_from_slice(b"\\\\"),
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b'\t' => out.extend_from_slice(b"\\t"),
        0..0x20 => {
            let digit = |part: u8| DIGITS[usize::from(part)];
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 0xf)]);
        }
        _ => out.push(byte),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn escaped(value: &str, place: Escape) -> String {
        let mut out = Vec::new();
        escape(value.as_bytes(), false, place, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    proptest! {
        /// Oracles: the `url` crate takes URLs and forms apart, `serde_json` reads JSON.
        #[test]
        fn what_was_escaped_is_read_as_it_was(value in "\\PC*|[\\x00-\\x7f]{0,20}") {
            let url = format!("http://h/{}?a={}", escaped(&value, Escape::Url), escaped(&value, Escape::Url));
            let url = url::Url::parse(&url).unwrap();
            prop_assert!(url.query_pairs().eq([("a".into(), value.as_str().into())]));
            let form = format!("a={}", escaped(&value, Escape::Form));
            prop_assert!(url::form_urlencoded::parse(form.as_bytes()).eq([("a".into(), value.as_str().into())]));
            let again: String = serde_json::from_str(&escaped(&value, Escape::JsonValue)).unwrap();
            prop_assert_eq!(&again, &value);
            let mut header = Vec::new();
            if escape(value.as_bytes(), false, Escape::Header, &mut header).is_ok() {
                prop_assert!(!header.iter().any(|byte| b"\r\n\0".contains(byte)));
            }
        }
    }
}
