//! Rules about one Rust file: unsafe, printing, its length, the module's comment.

use std::ops::Range;
use std::path::Path;

use super::Complaint;
use super::mask::code_only;

const FILE_LINES: usize = 500;
/// Sockets, and the one line that makes a LuaJIT state with all its libraries.
const MAY_BE_UNSAFE: [&str; 2] = ["crates/net", "crates/script/src/lua_state.rs"];
/// The module through which everything is printed.
const SCREEN: &str = "crates/plimsoll/src/terminal/screen.rs";
/// Crates whose output is read by developers alone.
const MAY_PRINT: [&str; 2] = ["crates/testkit", "xtask"];

pub fn check(path: &Path, text: &str) -> Vec<Complaint> {
    let file = File::new(path, text);
    let mut complaints = file.unsafe_code();
    if !is_test(path) {
        complaints.extend(file.printing());
        complaints.extend(file.module_comment(text));
        complaints.extend(file.length());
    }
    complaints
}

/// Tests may be as long as their tables.
fn is_test(path: &Path) -> bool {
    let test_folder = path.iter().any(|part| part == "tests" || part == "benches");
    test_folder || path.file_name().is_some_and(|name| name == "tests.rs")
}

struct File<'a> {
    path: &'a Path,
    /// The file with comments and literals blanked.
    code: String,
    /// Ranges of the items under `#[cfg(test)]`.
    tests: Vec<Range<usize>>,
}

impl<'a> File<'a> {
    fn new(path: &'a Path, text: &str) -> File<'a> {
        let code = code_only(text);
        let tests = test_items(&code);
        File { path, code, tests }
    }

    fn complaint(&self, rule: &'static str, offset: usize, what: String) -> Complaint {
        let line = lines_in(&self.code[..offset]) + 1;
        let place = format!("{}:{line}", self.path.display());
        Complaint { rule, place, what }
    }

    fn unsafe_code(&self) -> Vec<Complaint> {
        if MAY_BE_UNSAFE.iter().any(|place| self.path.starts_with(place)) {
            return Vec::new();
        }
        let what = "outside crates/net and the making of Lua states";
        let found = words(&self.code).filter(|(_, word)| *word == "unsafe");
        found.map(|(at, _)| self.complaint("unsafe", at, what.into())).collect()
    }

    /// `eprintln!` and `eprint!` are the program's own macros in crates/plimsoll, by way of [`SCREEN`].
    fn printing(&self) -> Vec<Complaint> {
        let product = self.path.starts_with("crates") && self.path.iter().any(|part| part == "src");
        let may = MAY_PRINT.iter().any(|place| self.path.starts_with(place));
        if !product || may || self.path == Path::new(SCREEN) {
            return Vec::new();
        }
        let in_binary = self.path.starts_with("crates/plimsoll");
        let judge = |(at, word): (usize, &str)| {
            let (before, after) = (self.code[..at].trim_end(), &self.code[at + word.len()..]);
            let printed = match word {
                "println" | "print" => after.starts_with('!'),
                "eprintln" | "eprint" => {
                    after.starts_with('!') && (!in_binary || before.ends_with("::"))
                }
                "stdout" | "stderr" => after.starts_with("()") && before.ends_with("::"),
                _ => false,
            };
            let tested = self.tests.iter().any(|item| item.contains(&at));
            (printed && !tested).then(|| {
                self.complaint("printing", at, format!("{word}: {SCREEN} is the one way out"))
            })
        };
        words(&self.code).filter_map(judge).collect()
    }

    fn module_comment(&self, text: &str) -> Option<Complaint> {
        let module = self.path.iter().any(|part| part == "src");
        (module && !text.starts_with("//!")).then(|| {
            self.complaint("module comment", 0, "the file does not open with `//!`".into())
        })
    }

    fn length(&self) -> Option<Complaint> {
        let in_tests: usize =
            self.tests.iter().map(|item| lines_in(&self.code[item.clone()]) + 1).sum();
        let lines = self.code.lines().count() - in_tests;
        (lines > FILE_LINES)
            .then(|| self.complaint("long file", 0, format!("{lines} lines besides tests")))
    }
}

fn lines_in(code: &str) -> usize {
    code.bytes().filter(|&byte| byte == b'\n').count()
}

/// Identifiers, keywords and numbers with their offsets.
fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    code.split(move |c| !inside(c))
        .filter(|word| !word.is_empty())
        .map(|word| (word.as_ptr() as usize - code.as_ptr() as usize, word))
}

/// From an opening bracket of any kind to the end of its partner.
fn balanced(code: &str, open: usize) -> Range<usize> {
    let mut depth = 0usize;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return open..at + 1;
        }
    }
    open..code.len()
}

/// Where the item that starts at `start` ends: at its body's closing brace, or at a semicolon before any body.
fn item_end(code: &str, start: usize) -> usize {
    let mut at = start;
    while let Some(found) = code[at..].find(['(', '[', '{', ';']) {
        at += found;
        match code.as_bytes()[at] {
            b';' => return at + 1,
            b'{' => return balanced(code, at).end,
            _ => at = balanced(code, at).end,
        }
    }
    code.len()
}

fn test_items(code: &str) -> Vec<Range<usize>> {
    let mut items = Vec::new();
    let mut from = 0;
    while let Some(found) = code[from..].find("#[cfg(test)]") {
        let start = from + found;
        from = item_end(code, start);
        items.push(start..from);
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(path: &str, text: &str) -> Vec<String> {
        check(Path::new(path), text).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn unsafe_is_for_net_only() {
        let text = "//! Doc.\nfn f() { unsafe { g() } }\n";
        assert_eq!(
            rules("crates/wire/src/a.rs", text),
            ["crates/wire/src/a.rs:2: unsafe: outside crates/net and the making of Lua states"]
        );
        assert!(rules("crates/net/src/a.rs", text).is_empty());
        assert!(rules("crates/script/src/lua_state.rs", text).is_empty());
        assert!(!rules("crates/script/src/source.rs", text).is_empty());
        assert!(rules("crates/wire/src/a.rs", "//! unsafe\n#![deny(unsafe_code)]\n").is_empty());
    }

    #[test]
    fn one_module_alone_prints() {
        let text = "//! Doc.\nfn f() { println!(); std::eprintln!(); io::stdout().lock(); self.print(); }\n\
                    #[cfg(test)]\nmod tests { fn f() { println!() } }\n";
        let complaints = rules("crates/plimsoll/src/a.rs", text);
        assert_eq!(complaints.len(), 3, "{complaints:?}");
        assert!(
            complaints[0].starts_with("crates/plimsoll/src/a.rs:2: printing: println: "),
            "{complaints:?}"
        );
        assert!(rules(SCREEN, text).is_empty() && rules("xtask/src/a.rs", text).is_empty());
        let source = "//! Doc.\nfn f() { eprintln!(\"a\"); }\n";
        assert!(rules("crates/plimsoll/src/a.rs", source).is_empty());
        assert_eq!(rules("crates/engine/src/a.rs", source).len(), 1);
    }

    #[test]
    fn a_module_opens_with_its_comment() {
        assert_eq!(
            rules("crates/wire/src/a.rs", "fn f() {}\n"),
            ["crates/wire/src/a.rs:1: module comment: the file does not open with `//!`"]
        );
        assert!(rules("crates/wire/examples/a.rs", "fn f() {}\n").is_empty());
        assert!(rules("crates/wire/src/tests.rs", "fn f() {}\n").is_empty());
    }

    #[test]
    fn tests_do_not_count_in_a_files_length() {
        let code = format!("//! Doc.\n{}", "fn f() {}\n".repeat(499));
        assert!(
            rules("xtask/src/a.rs", &format!("{code}#[cfg(test)]\nmod tests {{\n}}\n")).is_empty()
        );
        assert_eq!(
            rules("xtask/src/a.rs", &format!("{code}fn g() {{}}\n")),
            ["xtask/src/a.rs:1: long file: 501 lines besides tests"]
        );
    }
}
