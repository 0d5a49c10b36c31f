//! A workload printed as YAML 1.2, with notes as comments above what they are about.
//!
//! The printer is our own: the libraries that write YAML take no comments at chosen places. It writes
//! block style, and text that could be taken for anything else in quotes; reading the result gives
//! the workload again (tests hold it to that).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use model::workload::{Literal, Workload};

use super::Imported;
use super::note::Anchor;

/// Comments on the whole file at most; the caller prints all notes.
const MOST_COMMENTS: usize = 200;

/// The file's text.
pub fn yaml(imported: &Imported) -> String {
    let tree = tree(&imported.workload);
    let mut out = String::new();
    for note in top(imported) {
        let _ = writeln!(out, "# {}", comment(&note));
    }
    let mut printer = Printer { out, comments: comments(imported), path: String::new() };
    printer.object(members(&tree), 0);
    printer.out
}

fn tree(workload: &Workload) -> Literal {
    let json = serde_json::to_string(workload).unwrap_or_default();
    serde_json::from_str(&json).unwrap_or(Literal::Null)
}

fn top(imported: &Imported) -> Vec<String> {
    let about = imported.notes.iter().filter(|note| note.anchor == Anchor::Workload);
    let mut lines: Vec<String> = about.map(ToString::to_string).collect();
    let further = imported.further_notes + lines.len().saturating_sub(MOST_COMMENTS);
    lines.truncate(MOST_COMMENTS);
    if further > 0 {
        lines.push(format!("... and {further} more"));
    }
    lines
}

/// Comments by the JSON pointer of what they are about.
fn comments(imported: &Imported) -> BTreeMap<String, Vec<String>> {
    let mut comments: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for note in &imported.notes {
        let pointer = match note.anchor {
            Anchor::Workload => continue,
            Anchor::Endpoint(at) => format!("/endpoints/{at}"),
            Anchor::Flow(at) => format!("/flows/{at}"),
            Anchor::Step(at, step) => format!("/flows/{at}/steps/{step}"),
        };
        comments.entry(pointer).or_default().push(note.to_string());
    }
    comments
}

/// A note as a comment's text.
fn comment(note: &str) -> String {
    note.chars().map(|c| if is_printable(c) { c } else { '\u{fffd}' }).collect()
}

struct Printer {
    out: String,
    comments: BTreeMap<String, Vec<String>>,
    /// The JSON pointer of what is being printed.
    path: String,
}

impl Printer {
    fn object(&mut self, members: &[(String, Literal)], indent: usize) {
        for (at, (name, value)) in members.iter().enumerate() {
            // The first member of a list's item stands behind its dash.
            if at > 0 || !self.out.ends_with("- ") {
                self.indent(indent);
            }
            self.out += &scalar(name);
            self.out.push(':');
            let length = self.path.len();
            let _ = write!(self.path, "/{name}");
            self.value(value, indent);
            self.path.truncate(length);
        }
    }

    /// What follows a member's colon.
    fn value(&mut self, value: &Literal, indent: usize) {
        match value {
            Literal::Object(members) if !members.is_empty() => {
                self.out.push('\n');
                self.object(members, indent + 2);
            }
            Literal::List(items) if !items.is_empty() => {
                self.out.push('\n');
                self.list(items, indent + 2);
            }
            Literal::Text(text) if is_block(text) => self.block(text, indent + 2),
            other => {
                let _ = writeln!(self.out, " {}", flat(other));
            }
        }
    }

    fn list(&mut self, items: &[Literal], indent: usize) {
        for (at, item) in items.iter().enumerate() {
            let length = self.path.len();
            let _ = write!(self.path, "/{at}");
            for note in self.comments.remove(&self.path).unwrap_or_default() {
                self.indent(indent);
                let _ = writeln!(self.out, "# {}", comment(&note));
            }
            self.indent(indent);
            self.out += "- ";
            match item {
                Literal::Object(members) if !members.is_empty() => self.object(members, indent + 2),
                Literal::List(items) if !items.is_empty() => {
                    self.out.truncate(self.out.len() - 1);
                    self.out.push('\n');
                    self.list(items, indent + 2);
                }
                other => {
                    let _ = writeln!(self.out, "{}", flat(other));
                }
            }
            self.path.truncate(length);
        }
    }

    /// Lines of text as they are, behind `|`.
    fn block(&mut self, text: &str, indent: usize) {
        self.out += if text.ends_with('\n') { " |\n" } else { " |-\n" };
        for line in text.lines() {
            if !line.is_empty() {
                self.indent(indent);
                self.out += line;
            }
            self.out.push('\n');
        }
    }

    fn indent(&mut self, columns: usize) {
        self.out.extend(std::iter::repeat_n(' ', columns));
    }
}

fn members(tree: &Literal) -> &[(String, Literal)] {
    match tree {
        Literal::Object(members) => members,
        _ => &[],
    }
}

/// A value on one line.
fn flat(value: &Literal) -> String {
    match value {
        Literal::Text(text) => scalar(text),
        Literal::Float(number) => float(*number),
        Literal::List(_) => "[]".to_owned(),
        Literal::Object(_) => "{}".to_owned(),
        other => other.to_string(),
    }
}

/// A number that is read as one that is not whole, too.
fn float(number: f64) -> String {
    let text = number.to_string();
    if text.contains('.') { text } else { format!("{text}.0") }
}

/// Whether text is lines that can stand as they are: no trailing blanks, nothing unprintable, and a
/// first line that shows how far the block is indented.
fn is_block(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    body.contains('\n')
        && !body.ends_with('\n')
        && !body.starts_with([' ', '\n', '\t'])
        && body.lines().all(|line| !line.ends_with([' ', '\t']) && line.chars().all(is_printable))
        && !body.contains('\r')
}

fn is_printable(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{feff}' | '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}')
}

/// Text as it is where nothing could take it for something else, else in quotes.
fn scalar(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    if text.contains(['"', '\\']) && text.chars().all(is_printable) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted += "\\n",
            '\t' => quoted += "\\t",
            '\r' => quoted += "\\r",
            c if !is_printable(c) => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// Words of letters, digits and the signs that URLs, templates and media types are made of, which do
/// not read as a number, a truth value or null; and figures with a unit, such as `10s` and `45/s`.
fn is_plain(text: &str) -> bool {
    const WORDS: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let inside = |c: char| c.is_ascii_alphanumeric() || " _./$(){}*;=+-@:?&%".contains(c);
    let first = |c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '$');
    let word = text.starts_with(first)
        && text.chars().all(inside)
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !WORDS.contains(&text.to_ascii_lowercase().as_str());
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    word || unit.len() < text.len() && ["ns", "us", "ms", "s", "m", "h", "/s"].contains(&unit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn printed(value: &Literal) -> Literal {
        let mut printer =
            Printer { out: String::new(), comments: BTreeMap::new(), path: String::new() };
        printer.object(&[("v".to_owned(), value.clone())], 0);
        let read: Literal = serde_saphyr::from_str(&printer.out)
            .unwrap_or_else(|error| panic!("{error}\n{}", printer.out));
        read.member("v").unwrap().clone()
    }

    #[test]
    fn text_is_read_back_as_it_was() {
        for text in [
            "",
            " ",
            "a",
            "a: b",
            "a #b",
            "- a",
            "true",
            "No",
            "1",
            "1e3",
            ".5",
            "0x1f",
            "~",
            "null",
            "2024-01-01",
            "12:30",
            "a\nb",
            "a\nb\n",
            "a\n\nb\n\n",
            " a\nb",
            "a \nb",
            "a\tb",
            "\"",
            "'",
            "\\",
            "a'b\"c",
            "\u{7f}\u{85}\u{2028}\u{feff}",
            "é𝄞",
            "${x}",
            "{a}",
            "[a]",
            "*a",
            "&a",
            "!a",
            "%a",
            "@a",
            "`a",
            "? a",
            "|",
            ">",
            "a:",
            ":a",
            "=",
            "<<",
            "\r\n",
            "a\r\nb",
            "#",
            "---",
            "...",
            "--- a\nb",
            "a\n---\nb",
            "\u{0}",
        ] {
            let text = Literal::Text(text.to_owned());
            assert_eq!(printed(&text), text);
            let key = Literal::Object(vec![(text.plain().into_owned(), Literal::Int(1))]);
            assert_eq!(printed(&key), key);
            let list = Literal::List(vec![text.clone(), Literal::List(vec![text, key])]);
            assert_eq!(printed(&list), list);
        }
    }

    fn literals() -> impl Strategy<Value = Literal> {
        let leaf = prop_oneof![
            Just(Literal::Null),
            any::<bool>().prop_map(Literal::Bool),
            any::<i64>().prop_map(Literal::Int),
            "[ -~\n\t]{0,12}".prop_map(Literal::Text),
            "\\PC{0,8}".prop_map(Literal::Text),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Literal::List),
                prop::collection::btree_map("[ -~]{0,8}", inner, 0..4)
                    .prop_map(|members| Literal::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_again(literal in literals()) {
            prop_assert_eq!(printed(&literal), literal);
        }
    }
}
