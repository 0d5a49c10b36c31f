//! Template text as importers write it: text out of other tools' files by [`literal`], so that nothing
//! in it is taken for a placeholder, and placeholders of names. The syntax is `model`'s.

use std::collections::HashMap;

pub(super) use model::workload::template::{hole, literal};

/// The placeholder of an environment variable.
pub(super) fn env(name: &str) -> String {
    hole(&format!("env.{name}"))
}

/// A piece of template text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// Plain text, unescaped.
    Text(String),
    /// A placeholder with its brackets.
    Hole(&'a str),
}

/// Cuts template text at its placeholders.
pub(super) fn pieces(template: &str) -> Vec<Piece<'_>> {
    use model::workload::template::Piece as Cut;
    let piece = |(_, cut)| match cut {
        Cut::Text(text) => Piece::Text(text),
        Cut::Hole(hole) => Piece::Hole(hole),
        Cut::Unclosed(text) => Piece::Text(text.to_owned()),
    };
    model::workload::template::pieces(template).into_iter().map(piece).collect()
}

/// Appends template text to template text, so that a `$` at the joint changes neither: before a
/// placeholder it becomes one too, before a `{` it is doubled.
pub(super) fn push(out: &mut String, more: &str) {
    let text = out.trim_end_matches('$').len();
    if more.starts_with("${") && text < out.len() {
        let signs = out.split_off(text);
        out.push_str(&hole(&format!("'{signs}'")));
    } else if more.starts_with('{') && text < out.len() {
        out.push('$');
    }
    out.push_str(more);
}

/// The text that template text without a placeholder stands for.
pub(super) fn plain(template: &str) -> Option<String> {
    let text = |piece| match piece {
        Piece::Text(text) => Some(text),
        Piece::Hole(_) => None,
    };
    pieces(template).into_iter().map(text).collect()
}

/// Whether the text has a placeholder.
pub(super) fn has_hole(template: &str) -> bool {
    pieces(template).iter().any(|piece| matches!(piece, Piece::Hole(_)))
}

/// Template text with its plain pieces changed; `None` where one of them cannot be.
pub(super) fn map_text(template: &str, change: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut out = String::with_capacity(template.len());
    for piece in pieces(template) {
        match piece {
            Piece::Text(text) => out.push_str(&literal(&change(&text)?)),
            Piece::Hole(hole) => push(&mut out, hole),
        }
    }
    Some(out)
}

/// Template text whose placeholders are not escaped yet, for a place that escapes them itself.
pub(super) fn unescaped(template: &str) -> String {
    let mut out = String::with_capacity(template.len());
    for piece in pieces(template) {
        match piece {
            Piece::Text(text) => push(&mut out, &literal(&text)),
            Piece::Hole(of) => {
                let inside =
                    of.strip_prefix("${urlencode(").and_then(|rest| rest.strip_suffix(")}"));
                push(&mut out, &inside.map_or_else(|| of.to_owned(), hole));
            }
        }
    }
    out
}

/// Text made a name that a placeholder can hold: letters, digits and `_`, not a digit first, 40
/// characters at most, and not `env`, which is the environment's.
pub(super) fn identifier(text: &str) -> String {
    let name = word(text);
    if name == "env" { "env_value".to_owned() } else { name }
}

fn word(text: &str) -> String {
    let mut name = String::new();
    for c in text.chars() {
        if name.len() >= 40 {
            break;
        }
        if c.is_ascii_alphanumeric() {
            name.push(c);
        } else if !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
    }
    let name = name.trim_end_matches('_');
    match name.chars().next() {
        None => "value".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("n{name}"),
        Some(_) => name.to_owned(),
    }
}

/// Names given so far, with the number that the next of a base gets: counting from 2 each time would take a
/// hostile file's thousands of equal names squared.
#[derive(Debug, Default)]
pub(super) struct Numbered {
    next: HashMap<String, usize>,
}

impl Numbered {
    /// The base, or the base with a number behind it, that is not taken.
    pub(super) fn free(&mut self, base: &str, taken: impl Fn(&str) -> bool) -> String {
        if !taken(base) {
            return base.to_owned();
        }
        let next = self.next.entry(base.to_owned()).or_insert(2);
        loop {
            let name = format!("{base}_{next}");
            *next += 1;
            if !taken(&name) {
                return name;
            }
        }
    }
}

/// A name as environment variables have it: `petstoreAuth` becomes `PETSTORE_AUTH`.
pub(super) fn environment_name(text: &str) -> String {
    let mut name = String::new();
    let mut before = ' ';
    for c in word(text).chars() {
        if c.is_ascii_uppercase() && before.is_ascii_lowercase() {
            name.push('_');
        }
        name.push(c.to_ascii_uppercase());
        before = c;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_fit_for_placeholders() {
        for (text, name) in [
            ("user id", "user_id"),
            ("", "value"),
            ("7th", "n7th"),
            ("--é--", "value"),
            ("a-b!", "a_b"),
            ("env", "env_value"),
        ] {
            assert_eq!(identifier(text), name);
        }
        assert_eq!(environment_name("env"), "ENV");
        assert_eq!(environment_name("petstoreAuth"), "PETSTORE_AUTH");
        assert_eq!(environment_name("X-API-Key"), "X_API_KEY");
    }

    #[test]
    fn a_dollar_at_a_joint_stays_one() {
        for (text, more, joined) in [
            ("a", "${b}", "a${b}"),
            ("a$", "${b}", "a${'$'}${b}"),
            ("$$", "${b}", "${'$$'}${b}"),
            ("$", "{b}", "$${b}"),
            ("$", "$${b}", "$$${b}"),
            ("$", "b", "$b"),
        ] {
            let mut out = text.to_owned();
            push(&mut out, more);
            assert_eq!(out, joined);
        }
    }
}
