//! The syntax of template text, which workload files hold: `${...}` is filled in, and `$${` is a plain
//! `${`.
//!
//! Owns where placeholders begin and end. What stands inside of one is an expression, which `traffic`
//! reads; importers write names and calls only.

/// A piece of template text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Plain text, unescaped.
    Text(String),
    /// A placeholder with its brackets.
    Hole(&'a str),
    /// A placeholder that never ends: all the rest of the text.
    Unclosed(&'a str),
}

/// Cuts template text at its placeholders. With each piece comes the byte at which it begins.
///
/// A placeholder ends at the first `}` that stands outside of quotes (`'` or `"`, in which `\` escapes).
pub fn pieces(template: &str) -> Vec<(usize, Piece<'_>)> {
    let mut pieces = Vec::new();
    let (mut text, mut text_at) = (String::new(), 0);
    let mut at = 0;
    while let Some(found) = template[at..].find("${") {
        let open = at + found;
        if template[at..open].ends_with('$') {
            text.push_str(&template[at..open - 1]);
            text.push_str("${");
            at = open + 2;
            continue;
        }
        text.push_str(&template[at..open]);
        if !text.is_empty() {
            pieces.push((text_at, Piece::Text(std::mem::take(&mut text))));
        }
        let Some(length) = hole_length(&template[open..]) else {
            pieces.push((open, Piece::Unclosed(&template[open..])));
            return pieces;
        };
        at = open + length;
        text_at = at;
        pieces.push((open, Piece::Hole(&template[open..at])));
    }
    text.push_str(&template[at..]);
    if !text.is_empty() {
        pieces.push((text_at, Piece::Text(text)));
    }
    pieces
}

/// Bytes of the placeholder that the text begins with, brackets included.
fn hole_length(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(2) {
        match (quote, byte) {
            _ if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(open), byte) if byte == open => quote = None,
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'}') => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Text as template text that comes out as that text.
pub fn literal(text: &str) -> String {
    text.replace("${", "$${")
}

/// A placeholder of an expression.
pub fn hole(expression: &str) -> String {
    format!("${{{expression}}}")
}

/// Whether the text has a placeholder.
pub fn has_hole(template: &str) -> bool {
    pieces(template).iter().any(|(_, piece)| !matches!(piece, Piece::Text(_)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn placeholders_are_distinguished_from_text() {
        let text = |text: &str| Piece::Text(text.to_owned());
        assert_eq!(
            pieces("a${env.X}b$${c}${d}"),
            [
                (0, text("a")),
                (1, Piece::Hole("${env.X}")),
                (9, text("b${c}")),
                (15, Piece::Hole("${d}")),
            ]
        );
        assert_eq!(pieces(r#"${f("}\"}")}"#), [(0, Piece::Hole(r#"${f("}\"}")}"#))]);
        assert_eq!(pieces("a${b"), [(0, text("a")), (1, Piece::Unclosed("${b"))]);
        assert_eq!(pieces(""), []);
    }

    proptest! {
        #[test]
        fn plain_text_stays_plain(text in "[a${}'\"\\\\]{0,20}") {
            let mut joined = String::new();
            for (_, piece) in pieces(&literal(&text)) {
                let Piece::Text(text) = piece else { panic!("{piece:?}") };
                joined += &text;
            }
            prop_assert_eq!(joined, text);
        }
    }
}
