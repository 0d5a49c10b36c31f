//! Workload files, YAML or JSON, to [`Workload`], with every value's place kept.
//!
//! Owns reading and what is wrong with the form. What templates, pools and loads mean is worked out by
//! `traffic`, which names a value by its path into the file; [`Document::locate`] turns that into line
//! and column.
//!
//! Bounds: [`MOST_BYTES`] of text, 2 million values (aliases count as what they stand for), 100 levels.

use std::fmt;
use std::ops::Range;

use model::Workload;
use serde::Deserialize;

use crate::document::fill::Wrong;
use crate::document::{self, Node, Tree, Value};

/// Bytes of a workload file at most: 16 MiB. Longer lists of values belong into files of their own.
pub const MOST_BYTES: usize = 16 << 20;
/// Faults reported for one file at most.
const MOST_FAULTS: usize = 20;

/// A workload file.
#[derive(Debug, Clone)]
pub struct Document {
    text: String,
    tree: Tree,
    workload: Workload,
}

/// What is wrong with a file, and where. The caller names the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where.
    pub place: Place,
    /// What, on one line.
    pub what: String,
}

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line, from 1.
    pub line: usize,
    /// The character in it, from 1.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

impl fmt::Display for Fault {
    /// `7:3: unknown key ...`; with the file's name and a colon before it, editors find the place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

impl std::error::Error for Fault {}

impl Document {
    /// Reads a file.
    ///
    /// # Errors
    /// All that is wrong with the form of the file, 20 faults at most, in the file's order.
    pub fn read(bytes: &[u8]) -> Result<Self, Vec<Fault>> {
        let text = text(bytes).map_err(|fault| vec![fault])?;
        let alone = |at, what: String| vec![Fault { place: place(text, at), what }];
        let tree = document::parse(text).map_err(|fault| alone(fault.at, fault.what))?;
        if let Some(at) = tree.further {
            return Err(alone(at, "a second document begins here: one file, one workload".into()));
        }
        match Workload::deserialize(&tree.root) {
            Ok(workload) => Ok(Self { text: text.to_owned(), tree, workload }),
            Err(first) => Err(faults(text, tree, first)),
        }
    }

    /// What the file says.
    pub const fn workload(&self) -> &Workload {
        &self.workload
    }

    /// Where a value stands: `path` are names and, in lists, positions from 0 (`endpoints/2/path`), with
    /// `~1` for `/` and `~0` for `~` in a name. Of a path that leads further than the file, the last
    /// value on the way is taken. `part` is a range of bytes in a text value; its place is found as long
    /// as the file has that part without escapes; otherwise the place of the value's beginning is returned.
    pub fn locate(&self, path: &str, part: Option<Range<usize>>) -> Place {
        let mut node = &self.tree.root;
        let mut at = node.mark;
        for name in path.split('/').filter(|name| !name.is_empty()) {
            let name = name.replace("~1", "/").replace("~0", "~");
            let next = match &node.value {
                Value::Map(entries) => entries.iter().find(|e| e.key == name).map(|e| &e.value),
                Value::List(items) => name.parse().ok().and_then(|index: usize| items.get(index)),
                Value::Scalar { .. } => None,
            };
            let Some(next) = next else { break };
            (node, at) = (next, next.mark);
        }
        let offset = part.and_then(|part| self.offset_in(node, part)).unwrap_or(0);
        place(&self.text, at.start as usize + offset)
    }

    /// The byte behind a value's beginning in the file at which a part of its text stands.
    fn offset_in(&self, node: &Node, part: Range<usize>) -> Option<usize> {
        let Value::Scalar { text, .. } = &node.value else { return None };
        let written = self.text.get(node.mark.start as usize..node.mark.end as usize)?;
        let wanted = text.get(part.clone())?;
        if wanted.is_empty() {
            return None;
        }
        let earlier = text[..part.start].matches(wanted).count();
        written.match_indices(wanted).nth(earlier).map(|(at, _)| at)
    }
}

/// The bytes as text, without a byte order mark.
fn text(bytes: &[u8]) -> Result<&str, Fault> {
    let whole = |what: String| Fault { place: Place { line: 1, column: 1 }, what };
    if bytes.len() > MOST_BYTES {
        let most = MOST_BYTES >> 20;
        return Err(whole(format!(
            "is larger than {most} MiB: put values into files of their own"
        )));
    }
    match str::from_utf8(bytes) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(error) => {
            let (before, rest) = bytes.split_at(error.valid_up_to());
            let before = str::from_utf8(before).unwrap_or_default();
            let what = match (before.is_empty(), rest) {
                (true, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]) => "is UTF-16: save it as UTF-8".into(),
                (_, rest) => format!("byte 0x{:02x} is not UTF-8", rest.first().unwrap_or(&0)),
            };
            let before = before.strip_prefix('\u{feff}').unwrap_or(before);
            Err(Fault { place: place(before, before.len()), what })
        }
    }
}

fn place(text: &str, at: usize) -> Place {
    let (line, column) = document::place(text, at);
    Place { line, column }
}

/// All that is wrong: what the first fault is about is taken out and the rest read again, until nothing
/// more is found.
fn faults(text: &str, mut tree: Tree, first: Wrong) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut damaged = Vec::new();
    let mut wrong = first;
    loop {
        let Some(mark) = wrong.mark else {
            faults.push(Fault { place: place(text, 0), what: wrong.what });
            break;
        };
        // What was taken out of a value is not missed in it.
        if !damaged.contains(&mark.number) {
            let mut what = wrong.what;
            if let Some(first) = wrong.first {
                what += &format!("; first on line {}", place(text, first.start as usize).line);
            }
            faults.push(Fault { place: place(text, mark.start as usize), what });
        }
        let gone = tree.root.prune(mark.number, &mut damaged);
        if !gone || faults.len() >= MOST_FAULTS {
            break;
        }
        match Workload::deserialize(&tree.root) {
            Ok(_) => break,
            Err(next) => wrong = next,
        }
    }
    faults.sort_by_key(|fault| fault.place);
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults_of(text: &str) -> Vec<String> {
        Document::read(text.as_bytes()).unwrap_err().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn all_faults_are_reported_with_place_text_and_nearest_key() {
        let text = "target: http://h\n\
                    timout: 5s\n\
                    load: {rate: fast, duration: 10s, duration: 20s}\n\
                    endpoints:\n\
                    \x20 - path: /a\n\
                    \x20   wieght: 2\n\
                    \x20   body: {jsn: 1}\n\
                    \x20 - pth: /b\n\
                    \x20 - path: [1]\n\
                    \x20 - {}\n\
                    flows: [{name: x, steps: 7}]\n";
        assert_eq!(
            faults_of(text),
            [
                "2:1: unknown key `timout`; did you mean `timeout`?",
                "3:14: `fast` is not a rate per second such as 1000, 2.5 or 20k",
                "3:35: `duration` occurs twice here; first on line 3",
                "6:5: unknown key `wieght`; did you mean `weight`?",
                "7:12: `jsn` is not known here; did you mean `json`?",
                "8:5: unknown key `pth`; did you mean `path`?",
                "9:11: text is expected here, not a list",
                "10:5: `path` is missing here",
                "11:26: a list is expected here, not `7`",
            ]
        );
    }

    #[test]
    fn keys_of_other_tools_lead_to_those_that_are_known_there() {
        for (text, fault) in [
            ("target: h\nslo: []\n", "2:1: unknown key `slo`; did you mean `objectives`?"),
            ("url: h\n", "1:1: unknown key `url`; did you mean `target`?"),
            ("target: h\nload: {vus: 5}\n", "2:8: unknown key `vus`; did you mean `concurrency`?"),
            (
                "target: h\nendpoints: [{path: /, url: /}]\n",
                "2:23: unknown key `url`; did you mean `path`?",
            ),
        ] {
            assert_eq!(faults_of(text)[0], fault, "{text}");
        }
        let elsewhere = &faults_of("target: h\ntls: {slo: 1}\n")[0];
        assert!(!elsewhere.contains("objectives"), "{elsewhere}");
    }

    #[test]
    fn what_stands_where_names_belong_is_quoted_as_written() {
        for (text, fault) in [
            ("- a\n", "1:1: a mapping is expected here, not a list"),
            ("[]", "1:1: a mapping is expected here, not a list"),
            ("target: h\nload: [5]\n", "2:7: a mapping is expected here, not a list"),
            (
                "target: h\nendpoints: [{path: /, weight: .nan}]\n",
                "2:31: a number is expected here, not `.nan`",
            ),
        ] {
            assert_eq!(faults_of(text), [fault], "{text}");
        }
    }

    /// Found by fuzzing: messages about units quoted their input unescaped.
    #[test]
    fn no_fault_holds_a_control_character() {
        for value in ["4M\\nX", "5 \\u000e", "\\r1/s"] {
            let text = format!("target: h\nload: {{rate: \"{value}\", duration: \"{value}\"}}\n");
            let faults = faults_of(&text);
            assert!(!faults.is_empty(), "{text}");
            assert!(!faults.iter().any(|fault| fault.contains(char::is_control)), "{faults:?}");
        }
    }

    #[test]
    fn words_are_kept_as_written() {
        let text = "target: http://h\nheaders: {X-V: 1.10, X-B: True, X-L: [007, 1e3]}\n";
        let document = Document::read(text.as_bytes()).unwrap();
        let headers: Vec<_> = document.workload().headers.iter().collect();
        assert_eq!(headers, [("X-V", "1.10"), ("X-B", "True"), ("X-L", "007"), ("X-L", "1e3")]);
    }

    #[test]
    fn marks_line_ends_and_encodings() {
        let crlf = "\u{feff}target: http://h\r\nendpoints:\r\n  - path: /a\r\n    x: 1\r\n";
        assert!(faults_of(crlf)[0].starts_with("4:5: unknown key `x`"), "{:?}", faults_of(crlf));
        let bad = Document::read(b"target: http://h\nname: \xe9\n").unwrap_err();
        assert_eq!(bad[0].to_string(), "2:7: byte 0xe9 is not UTF-8");
        assert!(Document::read(b"\xff\xfet\0").unwrap_err()[0].what.contains("UTF-16"));
        assert!(faults_of("target: a\n---\ntarget: b\n")[0].starts_with("2:1: a second document"));
        assert!(faults_of("")[0].contains("empty"));
    }

    #[test]
    fn values_and_parts_of_them_are_located() {
        let text = "target: http://h\n\
                    variables:\n  a/b: x\n\
                    endpoints:\n\
                    \x20 - path: /${x}/${y}/${x}\n\
                    \x20   headers: {X: \"a ${z}\"}\n\
                    \x20   body:\n\
                    \x20     text: |\n\
                    \x20       one\n\
                    \x20       ${two}\n";
        let document = Document::read(text.as_bytes()).unwrap();
        let at = |path: &str, part| document.locate(path, part).to_string();
        assert_eq!(at("endpoints/0/path", None), "5:11");
        assert_eq!(at("endpoints/0/path", Some(11..15)), "5:22");
        assert_eq!(at("endpoints/0/headers/X", Some(2..6)), "6:21");
        assert_eq!(at("endpoints/0/body/text", Some(4..10)), "10:9");
        assert_eq!(at("endpoints/0/body/text/none", None), at("endpoints/0/body/text", None));
        assert_eq!(at("variables/a~1b", None), "3:8");
        assert_eq!(at("endpoints/9", None), "5:3");
    }

    #[test]
    fn json_is_read_too() {
        let text =
            "{\n  \"target\": \"http://h\",\n  \"endpoints\": [{\"path\": \"/\", \"wait\": 1}]\n}";
        assert!(
            faults_of(text)[0].starts_with("3:31: unknown key `wait`"),
            "{:?}",
            faults_of(text)
        );
    }
}
