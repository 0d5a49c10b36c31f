//! Bodies: what a text and its media type make of each other.

use model::workload::{Body, Fields};

use super::draft::Draft;
use super::json::{LONGEST_NAME, structure};
use super::note::Kind;
use super::template::{Piece, literal, pieces, unescaped};

/// Bytes of a body carried over at most.
const MOST_BODY: usize = 1 << 20;

/// Media types that bodies set by themselves.
pub(super) const JSON: &str = "application/json";
pub(super) const FORM: &str = "application/x-www-form-urlencoded";
const TEXT: &str = "text/plain";

/// Gives the draft a body of template text, in the form that its `Content-Type` field says, and
/// leaves the field out where the body sets the same.
pub(super) fn put_text(draft: &mut Draft, text: &str) {
    if text.len() > MOST_BODY {
        let bytes = text.len();
        let what =
            format!("the body of {bytes} bytes; put it into a file and name it with `file:`");
        draft.note(Kind::NotCarriedOver, what);
        return;
    }
    let written = draft.header("content-type").map(str::to_owned);
    let media = written.as_deref().map(essence).unwrap_or_default();
    let body = if media == JSON || media.ends_with("+json") {
        Body::Json(structure(text).unwrap_or_else(|| model::workload::Literal::Text(text.into())))
    } else if media == FORM {
        form(text).map_or_else(|| Body::Text(text.into()), Body::Form)
    } else {
        Body::Text(text.to_owned())
    };
    if written.is_none() {
        draft.note(Kind::Assumed, "the body has no Content-Type; text/plain is sent");
    }
    let own = match body {
        Body::Json(_) => JSON,
        Body::Form(_) => FORM,
        _ => TEXT,
    };
    if written.is_some_and(|written| written.trim().eq_ignore_ascii_case(own)) {
        draft.remove_header("content-type");
    }
    draft.body = Some(body);
}

/// A media type without its parameters, in lower case.
pub(super) fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// The fields of a form, if that is what the text is: every part has a name and a value, and the name is
/// written as forms write them. Fields are escaped anew when they are sent, which would change text of another
/// form, such as `cpu,host=a` or base64.
fn form(text: &str) -> Option<Fields> {
    let mut fields = Fields::default();
    // An encoded form has none of these; other text that has an = may.
    let odd = |c: char| c.is_control() || matches!(c, '<' | '>' | '"' | '{' | ' ');
    if pieces(text).iter().any(|piece| matches!(piece, Piece::Text(text) if text.contains(odd))) {
        return None;
    }
    let of_name = |c: char| c.is_ascii_alphanumeric() || "-._~*!'()[]%+".contains(c);
    for part in text.split('&').filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once('=')?;
        let is_name = !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(of_name);
        if !is_name || value.contains('=') || !is_escaped(part) {
            return None;
        }
        let name = decode(name).filter(|name| !name.contains("${"))?;
        fields.push(name, decode(value)?);
    }
    (!fields.is_empty()).then_some(fields)
}

/// Whether every percent sign begins an escape.
fn is_escaped(text: &str) -> bool {
    let is_hex = |part: &str| {
        part.as_bytes().get(..2).is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit))
    };
    text.split('%').skip(1).all(is_hex)
}

/// Template text without its percent and plus signs; `None` when they make no text.
pub(super) fn decode(template: &str) -> Option<String> {
    let (mut out, template) = (String::new(), unescaped(template));
    for piece in pieces(&template) {
        match piece {
            Piece::Hole(hole) => out.push_str(hole),
            Piece::Text(text) => {
                let text = text.replace('+', " ");
                let decoded = percent_encoding::percent_decode_str(&text).decode_utf8().ok()?;
                out.push_str(&literal(&decoded));
            }
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_distinguished_from_other_text() {
        let fields = form("a=1&b=x%20y+z&a=%24%7Bq%7D&c=${env.T}").unwrap();
        let pairs: Vec<_> = fields.iter().collect();
        assert_eq!(pairs, [("a", "1"), ("b", "x y z"), ("a", "$${q}"), ("c", "${env.T}")]);
        for text in [
            "hello",
            "",
            "=1",
            "a=%ff",
            "a=5%",
            "<a b=\"1\"/>&",
            "cpu,host=a",
            "aGVs/bG8=",
            "aGVsbG8==",
            "a=1\t",
            &format!("{}=1", "a".repeat(600)),
        ] {
            assert_eq!(form(text), None, "{text}");
        }
    }
}
