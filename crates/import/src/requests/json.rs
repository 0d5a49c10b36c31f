//! JSON read as [`Literal`], which keeps the order of members.

use std::collections::HashSet;

use model::workload::Literal;

use super::BadFile;
use super::template::{Piece, hole, pieces};
use crate::document;
use model::quote::plain;

/// Levels of nesting that a body may have to be written as a structure.
const DEEPEST_BODY: usize = 40;
/// Lists, maps and commas of such a body at most: as a structure a number takes 30 times its text.
const MOST_PARTS: usize = 5_000;
/// Values of a JSON text at most.
const MOST_VALUES: usize = 3_000_000;
/// Memory of a tree at most: 192 MiB.
const MOST_MEMORY: usize = 192 << 20;
/// Memory that a map, a list and a further value take in a tree: a map has room for eleven members.
const EACH: [usize; 3] = [704, 160, 96];
/// Bytes of a member's or a field's name; YAML takes no longer ones.
pub(super) const LONGEST_NAME: usize = 500;

/// Reads JSON.
pub(super) fn parse<'a, T: serde::Deserialize<'a>>(text: &'a str) -> Result<T, BadFile> {
    serde_json::from_str(text).map_err(|error| {
        let what = error.to_string();
        let what = what.rsplit_once(" at line ").map_or(what.as_str(), |(what, _)| what);
        let column = error.column();
        BadFile::at(error.line(), format!("column {column}: {}", plain(&without_value(what), 160)))
    })
}

/// What is wrong without the text that was found, which may be a credential.
fn without_value(what: &str) -> String {
    match (what.find("string \""), what.rfind("\", expected ")) {
        (Some(from), Some(to)) if from < to => {
            format!("{}{}", &what[..from + "string".len()], &what[to + 1..])
        }
        _ => what.to_owned(),
    }
}

/// The same, with a bound on its values: some of few characters take many bytes.
pub(super) fn parse_values<'a, T: serde::Deserialize<'a>>(text: &'a str) -> Result<T, BadFile> {
    if parts(text) > MOST_VALUES {
        return Err(BadFile::whole(format!("holds more than {MOST_VALUES} values")));
    }
    parse(text)
}

/// Reads JSON as a tree, with a bound on what that takes: an empty map is two characters and some 700 bytes.
pub(super) fn parse_tree(text: &str) -> Result<serde_json::Value, BadFile> {
    let memory: usize = counted(text).iter().zip(EACH).map(|(count, each)| count * each).sum();
    if memory > MOST_MEMORY {
        let most = MOST_MEMORY >> 20;
        let what = format!("needs more than {most} MiB of memory: cut it into parts");
        return Err(BadFile::whole(what));
    }
    parse(text)
}

/// The values of a JSON text, at most: its lists, maps and commas.
pub(super) fn parts(text: &str) -> usize {
    counted(text).iter().sum()
}

/// Maps, lists and commas of a JSON text.
fn counted(text: &str) -> [usize; 3] {
    let (mut counts, mut quoted, mut escaped) = ([0; 3], false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = quoted,
            b'"' => quoted = !quoted,
            b'{' => counts[0] += usize::from(!quoted),
            b'[' => counts[1] += usize::from(!quoted),
            b',' => counts[2] += usize::from(!quoted),
            _ => {}
        }
    }
    counts
}

/// Reads a document in JSON or YAML.
pub(super) fn parse_document(text: &str) -> Result<Literal, BadFile> {
    let tree = document::parse(text).map_err(|fault| BadFile::of_document(text, fault))?;
    Ok(tree.root.into_literal())
}

/// The structure of a JSON text, if writing that structure down loses nothing: every number keeps its
/// digits, no member stands twice, no name holds a placeholder, and text stays text.
pub(super) fn structure(text: &str) -> Option<Literal> {
    // An escaped dollar could turn plain text into a placeholder.
    if text.contains("\\u0024") || parts(text) > MOST_PARTS {
        return None;
    }
    let literal: Literal = serde_json::from_str(text).ok()?;
    let structured = matches!(literal, Literal::Object(_) | Literal::List(_));
    let same_numbers = || numbers(text).eq(numbers(&literal.to_string()));
    (structured && plain_members(&literal, DEEPEST_BODY) && same_numbers()).then_some(literal)
}

/// A structure as text. Alone in a string, the placeholder of a variable takes its value's type in a structure, and in
/// text it is text: those of `numbers` lose their quotes.
pub(super) fn text_of(structure: &Literal, numbers: &HashSet<String>) -> String {
    let text = structure.to_string();
    if numbers.is_empty() {
        return text;
    }
    let (mut out, mut rest) = (String::with_capacity(text.len()), text.as_str());
    while let Some(at) = rest.find("\"${") {
        let (before, inside) = (&rest[..at], &rest[at + 3..]);
        let of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let name = &inside[..inside.find(|c| !of_name(c)).unwrap_or(inside.len())];
        // A quote behind a backslash is one within a string.
        let behind = inside[name.len()..].strip_prefix("}\"").filter(|_| !before.ends_with('\\'));
        out += before;
        rest = match behind.filter(|_| numbers.contains(name)) {
            Some(behind) => {
                out += &hole(name);
                behind
            }
            None => {
                out.push('"');
                &rest[at + 1..]
            }
        };
    }
    out + rest
}

fn plain_members(literal: &Literal, deepest: usize) -> bool {
    let Some(deepest) = deepest.checked_sub(1) else { return false };
    match literal {
        Literal::List(items) => items.iter().all(|item| plain_members(item, deepest)),
        Literal::Object(members) => {
            let mut names = HashSet::new();
            members.iter().all(|(name, value)| {
                names.insert(name)
                    && name.len() <= LONGEST_NAME
                    && !name.contains("${")
                    && plain_members(value, deepest)
            })
        }
        Literal::Text(text) => !takes_a_type(text),
        _ => true,
    }
}

/// Whether a string would be sent as a number in a structure: it is one placeholder, and what that stands for may
/// be one.
fn takes_a_type(text: &str) -> bool {
    let [Piece::Hole(hole)] = &pieces(text)[..] else { return false };
    let inside = &hole[2..hole.len() - 1];
    let is_name = !inside.contains(['.', '(', '\'', '"']);
    is_name || ["int(", "unix(", "unix_ms("].iter().any(|number| inside.starts_with(number))
}

/// The numbers of a JSON text as written.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let at = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit())?;
            rest = &rest[at..];
            if rest.starts_with('"') {
                rest = &rest[string_length(rest)..];
                continue;
            }
            let number = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
            let end = rest.find(|c| !number(c)).unwrap_or(rest.len());
            let (lexeme, after) = rest.split_at(end);
            rest = after;
            return Some(lexeme);
        }
    })
}

/// Bytes of the JSON string that the text begins with.
pub(super) fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_reported_without_the_text() {
        let error = parse::<Vec<Vec<u8>>>("[\"Token CLEAR\"]").unwrap_err();
        assert!(error.what.ends_with(": invalid type: string, expected a sequence"), "{error}");
    }

    #[test]
    fn parts_are_counted_outside_of_texts() {
        for (text, count) in [("7", 0), ("[1,2]", 2), (r#"{"a,[":"\",{"}"#, 1), ("[[],{}]", 4)] {
            assert_eq!(parts(text), count, "{text}");
        }
        let long = format!("[{}0]", "0,".repeat(MOST_PARTS));
        assert_eq!(structure(&long), None);
        let error = parse_tree(&format!("[{}0]", "0,".repeat(MOST_VALUES))).unwrap_err();
        assert!(error.what.contains("more than"), "{error}");
    }

    #[test]
    fn a_structure_loses_nothing_or_is_none() {
        for text in [r#"{"a": [1, -2.5, "3.50", null]}"#, r#"["\"1.0", true]"#, "[]"] {
            let whole: serde_json::Value = serde_json::from_str(text).unwrap();
            let again = structure(text).unwrap().to_string();
            assert_eq!(serde_json::from_str::<serde_json::Value>(&again).unwrap(), whole, "{text}");
        }
        for text in [
            "[1.0]",
            "[1e3]",
            "[18446744073709551615]",
            "[0.1000]",
            r#"{"a":1,"a":2}"#,
            r#"{"${x}":1}"#,
            r#"["\u0024{x}"]"#,
            r#"{"n":"${int(0, 9)}"}"#,
            r#"["${sku}"]"#,
            "7",
            "{",
        ] {
            assert_eq!(structure(text), None, "{text}");
        }
        let numbers = HashSet::from(["n".to_owned()]);
        for (structure, text) in [
            (r#"{"a":"${n}","b":["${n}","${m}"]}"#, r#"{"a":${n},"b":[${n},"${m}"]}"#),
            (r#"["${n","a\"${n}"]"#, r#"["${n","a\"${n}"]"#),
            (r#"["${n}${n}","${lower(n)}"]"#, r#"["${n}${n}","${lower(n)}"]"#),
        ] {
            assert_eq!(text_of(&serde_json::from_str(structure).unwrap(), &numbers), text);
        }
        let deep = "[".repeat(100) + &"]".repeat(100);
        assert_eq!(structure(&deep), None);
    }
}
