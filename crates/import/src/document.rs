//! YAML or JSON read as a tree whose every key and value knows where in the text it stands.
//!
//! Owns reading both ([`yaml`], [`json`]), their bounds, and filling types from a tree ([`fill`]) so that
//! an error names the place of the value. Does not own what a document means: workloads go on
//! to [`crate::workload`], descriptions to `requests::openapi`.

pub(crate) mod fill;
mod json;
mod yaml;

use model::workload::Literal;

/// Values of one document at most, aliases counting as what they stand for: several times the largest
/// public descriptions.
const MOST_VALUES: usize = 2_000_000;
/// Memory that the copies of aliases take at most, with those kept for them: 32 MiB. What no alias copies is
/// bounded by its text.
const MOST_COPIED: usize = 32 << 20;
/// Bytes of a text at most: 64 MiB, beyond the largest public descriptions.
const MOST_TEXT: usize = 64 << 20;
/// Memory of a tree at most, without the copies of aliases: 160 MiB.
const MOST_MEMORY: usize = 160 << 20;
/// Memory of the shortest text on the heap.
const LEAST_ALLOCATED: usize = 32;
/// Lists and maps inside one another at most.
const DEEPEST: usize = 100;

/// A document.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    pub(crate) root: Node,
    /// Where a second document begins, if the text holds one.
    pub(crate) further: Option<usize>,
}

/// What stands where: a key or a value. A copy that an alias made keeps the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) number: u32,
    /// First byte.
    pub(crate) start: u32,
    /// Byte after the last.
    pub(crate) end: u32,
}

/// A value.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) mark: Mark,
    pub(crate) value: Value,
}

#[derive(Debug, Clone)]
pub(crate) enum Value {
    /// A word. A plain one stands without quotes and may be a number, a truth value or nothing.
    Scalar {
        text: String,
        plain: bool,
    },
    List(Vec<Node>),
    Map(Vec<Entry>),
}

#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) mark: Mark,
    pub(crate) key: String,
    pub(crate) value: Node,
}

/// Why a text is no document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The byte it is about.
    pub(crate) at: usize,
    pub(crate) what: String,
}

impl Fault {
    fn new(at: usize, what: impl Into<String>) -> Self {
        Self { at, what: what.into() }
    }
}

/// The memory that a tree takes, counted as it grows.
#[derive(Debug, Default)]
struct Memory(usize);

impl Memory {
    /// Counts a value or key, with its text if it has one.
    fn add(&mut self, size: usize, text: Option<&String>, at: usize) -> Result<(), Fault> {
        let heap = text.map_or(0, |text| LEAST_ALLOCATED.max(text.capacity()));
        self.0 += size + heap;
        if self.0 > MOST_MEMORY {
            let most = MOST_MEMORY >> 20;
            let what = format!("more than {most} MiB of memory are needed: cut it into parts");
            return Err(Fault::new(at, what));
        }
        Ok(())
    }
}

impl Value {
    const fn text(&self) -> Option<&String> {
        match self {
            Self::Scalar { text, .. } => Some(text),
            Self::List(_) | Self::Map(_) => None,
        }
    }

    /// The same in no more room than it needs: a list that grew by one has room for four.
    fn fitted(mut self) -> Self {
        match &mut self {
            Self::List(items) => items.shrink_to_fit(),
            Self::Map(entries) => entries.shrink_to_fit(),
            Self::Scalar { .. } => {}
        }
        self
    }
}

/// What a key takes beside its value.
const KEY: usize = size_of::<Entry>() - size_of::<Node>();

/// Reads JSON where the text begins as JSON does, YAML otherwise.
pub(crate) fn parse(text: &str) -> Result<Tree, Fault> {
    if text.len() > MOST_TEXT {
        let most = MOST_TEXT >> 20;
        return Err(Fault::new(0, format!("is larger than {most} MiB: cut it into parts")));
    }
    if text.trim_start().starts_with(['{', '[']) { json::parse(text) } else { yaml::parse(text) }
}

/// Line and column, both from 1, of a byte. Columns count characters.
pub(crate) fn place(text: &str, at: usize) -> (usize, usize) {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let before = &text[..at];
    let line = 1 + before.bytes().filter(|&byte| byte == b'\n').count();
    let begin = before.rfind('\n').map_or(0, |newline| newline + 1);
    (line, 1 + before[begin..].chars().count())
}

/// What a word without quotes is (YAML 1.2.2 section 10.3.2, of which JSON's words are a part).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Plain<'a> {
    Nothing,
    Bool(bool),
    Int(i64),
    /// A whole number beyond `i64`.
    Large(f64),
    Float(f64),
    Text(&'a str),
}

impl<'a> Plain<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        match text {
            "" | "~" | "null" | "Null" | "NULL" => return Self::Nothing,
            "true" | "True" | "TRUE" => return Self::Bool(true),
            "false" | "False" | "FALSE" => return Self::Bool(false),
            _ => {}
        }
        let digits = text.trim_start_matches(['-', '+']);
        let number = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
            && digits.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
        if !number {
            return Self::Text(text);
        }
        if let Ok(whole) = text.parse::<i64>() {
            return Self::Int(whole);
        }
        let whole = digits.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() && whole => Self::Large(number),
            Ok(number) if number.is_finite() => Self::Float(number),
            _ => Self::Text(text),
        }
    }
}

impl Node {
    /// The value without its places. Of members of one name all are kept.
    pub(crate) fn into_literal(self) -> Literal {
        match self.value {
            Value::Scalar { text, plain: false } => Literal::Text(text),
            Value::Scalar { text, plain: true } => match Plain::of(&text) {
                Plain::Nothing => Literal::Null,
                Plain::Bool(value) => Literal::Bool(value),
                Plain::Int(number) => Literal::Int(number),
                Plain::Large(number) | Plain::Float(number) => Literal::Float(number),
                Plain::Text(_) => Literal::Text(text),
            },
            Value::List(items) => {
                Literal::List(items.into_iter().map(Self::into_literal).collect())
            }
            Value::Map(entries) => {
                let member = |entry: Entry| (entry.key, entry.value.into_literal());
                Literal::Object(entries.into_iter().map(member).collect())
            }
        }
    }

    /// Takes the value or entry of a number out, wherever it stands. Says whether it was there, and
    /// puts the numbers of what it was taken out of into `damaged`.
    pub(crate) fn prune(&mut self, number: u32, damaged: &mut Vec<u32>) -> bool {
        let inside = match &mut self.value {
            Value::Scalar { .. } => return false,
            Value::List(items) => {
                let before = items.len();
                items.retain(|item| item.mark.number != number);
                let deeper = items.iter_mut().any(|item| item.prune(number, damaged));
                (items.len() < before, deeper)
            }
            Value::Map(entries) => {
                let before = entries.len();
                let is = |entry: &Entry| [entry.mark, entry.value.mark].map(|m| m.number);
                entries.retain(|entry| !is(entry).contains(&number));
                let mut deeper = false;
                for entry in entries.iter_mut() {
                    deeper |= entry.value.prune(number, damaged);
                }
                (entries.len() < before, deeper)
            }
        };
        if inside.0 {
            damaged.push(self.mark.number);
        }
        inside.0 || inside.1
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn literal(text: &str) -> String {
        parse(text)
            .unwrap_or_else(|fault| panic!("{text}: {fault:?}"))
            .root
            .into_literal()
            .to_string()
    }

    #[test]
    fn yaml_is_read_as_json_would_be() {
        let text = "a: &x [1, -2, 2.5, .5, 07x, 1.2.3, '3', ~, true, yes, 2024-01-01]\n200: *x\n\
                    b:\n  c: |\n    l1\n    l2\n";
        let list = r#"[1,-2,2.5,0.5,"07x","1.2.3","3",null,true,"yes","2024-01-01"]"#;
        let expected = format!(r#"{{"a":{list},"200":{list},"b":{{"c":"l1\nl2\n"}}}}"#);
        assert_eq!(literal(text), expected);
    }

    #[test]
    fn errors_are_reported_where_they_stand() {
        for (text, at, needle) in [
            ("a: 1\nb: [", (2, 5), "not YAML"),
            ("a: 1\n? [x]\n: 2", (2, 3), "a key must"),
            ("a: &x\n  - *x", (2, 5), "alias"),
            ("{\"a\": 1,\n \"b\" 2}", (2, 6), "`:`"),
            ("{\"a\": 1,\n \"b\": }", (2, 7), "a value"),
            ("{\"é\": nul}", (1, 7), "`nul`"),
            ("[1, 2", (1, 6), "ends"),
            ("[1, 2]\n x", (2, 2), "after"),
            ("{\"a\": \"\\x\"}", (1, 7), "escape"),
        ] {
            let fault = parse(text).unwrap_err();
            assert!(fault.what.contains(needle), "{text}: {fault:?}");
            assert_eq!(place(text, fault.at), at, "{text}: {fault:?}");
        }
    }

    #[test]
    fn nesting_and_copies_are_bounded() {
        for text in ["[".repeat(1_000), "{\"a\":".repeat(1_000), "- ".repeat(1_000)] {
            assert!(parse(&text).unwrap_err().what.contains("deep"), "{}", &text[..4]);
        }
        // Each anchor holds the one before it, 90 levels deeper.
        let chain = |of: usize| {
            let link = |at: usize| {
                let inside = if at == 0 { "x".to_owned() } else { format!("*a{}", at - 1) };
                format!("a{at}: &a{at} {}{inside}{}\n", "[".repeat(90), "]".repeat(90))
            };
            (0..of).map(link).collect::<String>()
        };
        assert!(parse(&chain(1)).is_ok());
        assert!(parse(&chain(60)).unwrap_err().what.contains("deep"));
        let mut bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for (name, of) in "bcdefghi".chars().zip("abcdefgh".chars()) {
            bomb += &format!("{name}: &{name} [{}]\n", vec![format!("*{of}"); 9].join(", "));
        }
        assert!(parse(&bomb).unwrap_err().what.contains("aliases"));
    }

    #[test]
    fn copies_of_long_texts_and_keys_are_bounded() {
        let long = "x".repeat(300_000);
        for holder in [long.clone(), format!("{{{long}: 1}}"), format!("[[{long}]]")] {
            let bomb = format!("a: &a {holder}\nb: [{}]\n", ["*a"; 20_000].join(", "));
            assert!(parse(&bomb).unwrap_err().what.contains("MiB"), "{}", &holder[..4]);
        }
        // Anchors inside one another keep a copy each.
        let nested = (0..90).map(|at| format!("&a{at} [")).collect::<String>();
        let bomb = format!("a: {nested}{}{}\n", long.repeat(2), "]".repeat(90));
        assert!(parse(&bomb).unwrap_err().what.contains("MiB"));
        let usual = format!("a: &a {long}\nb: [{}]\n", ["*a"; 50].join(", "));
        assert!(parse(&usual).is_ok());
    }

    #[test]
    fn lists_and_maps_take_no_more_room_than_they_need() {
        for text in [r#"{"a": [1], "b": {"c": 2}}"#, "a: [1]\nb:\n  c: 2\n"] {
            let Value::Map(entries) = parse(text).unwrap().root.value else { panic!("{text}") };
            let (Value::List(a), Value::Map(b)) =
                (&entries[0].value.value, &entries[1].value.value)
            else {
                panic!("{text}")
            };
            assert_eq!((entries.capacity(), a.capacity(), b.capacity()), (2, 1, 1), "{text}");
        }
    }

    #[test]
    fn large_texts_and_many_small_values_are_refused() {
        let large = format!("[\"{}\"]", "x".repeat(MOST_TEXT));
        let values = (MOST_MEMORY - (1 << 20)) / (size_of::<Entry>() + 2 * LEAST_ALLOCATED);
        let few = format!("{{{}\"a\":1}}", "\"a\":1,".repeat(values));
        assert!(parse(&large).unwrap_err().what.contains("64 MiB"));
        assert!(parse(&few).is_ok());
        let many = format!("{{{}\"a\":1}}", "\"a\":1,".repeat(values + 20_000));
        assert!(parse(&many).unwrap_err().what.contains("160 MiB"));
        let many = "- a: 1\n".repeat(values);
        assert!(parse(&many).unwrap_err().what.contains("160 MiB"));
    }

    #[test]
    fn marks_are_bytes_of_the_text() {
        let text = "é: 'ü'\nlist:\n  - ö: plain # c\n";
        let tree = parse(text).unwrap();
        let Value::Map(entries) = &tree.root.value else { panic!("{tree:?}") };
        let of = |mark: Mark| &text[mark.start as usize..mark.end as usize];
        assert_eq!((of(entries[0].mark), of(entries[0].value.mark)), ("é", "'ü'"));
        let Value::List(items) = &entries[1].value.value else { panic!("{tree:?}") };
        let Value::Map(entries) = &items[0].value else { panic!("{tree:?}") };
        assert_eq!((of(entries[0].mark), of(entries[0].value.mark)), ("ö", "plain"));
        let json = r#"{"é": ["ü", 7]}"#;
        let tree = parse(json).unwrap();
        let Value::Map(entries) = &tree.root.value else { panic!("{tree:?}") };
        let mark = entries[0].value.mark;
        assert_eq!(&json[mark.start as usize..mark.end as usize], r#"["ü", 7]"#);
    }

    proptest! {
        #[test]
        fn json_is_read_as_serde_json_reads_it(text in r#"[\[\]{},:"a\\1.e\- tru]{0,30}"#) {
            let text = format!("[{text}");
            match serde_json::from_str::<Literal>(&text) {
                Ok(literal) => prop_assert_eq!(parse(&text).unwrap().root.into_literal(), literal),
                Err(_) => prop_assert!(parse(&text).is_err(), "{}", text),
            }
        }
    }
}
