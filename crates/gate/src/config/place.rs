//! Errors in a configuration, with their place and a suggestion.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use model::names::nearest;
use model::secret::mask_address;

/// Characters of a sentence at most: it may repeat a name or a value that is as long as a configuration.
const SENTENCE: usize = 1000;

/// What comes before the kind of value that was expected.
const EXPECTED: &str = ", expected ";

/// What is wrong with a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// Line and column from 1; absent where it is about flags or the whole file.
    pub place: Option<(usize, usize)>,
    /// What is wrong, and what to do.
    pub what: String,
}

impl ConfigError {
    /// An error about the whole configuration.
    pub fn whole(what: impl Into<String>) -> Self {
        Self { place: None, what: what.into() }
    }

    /// An error about a part of `text`.
    pub(super) fn at(text: &str, span: Option<Range<usize>>, what: impl Into<String>) -> Self {
        // Configurations made of flags have no text, and all their spans are empty.
        let place = span.filter(|_| !text.is_empty()).map(|span| place(text, span.start));
        Self { place, what: what.into() }
    }

    /// An error of the TOML parser. For an unknown name, suggests the nearest.
    pub(super) fn of_toml(text: &str, error: &toml::de::Error) -> Self {
        let message = error.message();
        let mut what = in_words(&masked(message.trim()), "a table").replace('\n', ": ");
        let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
        if message.starts_with("unknown field")
            && let Some(name) = quoted.first()
            && let Some(place) = belongs(name)
        {
            what = format!("`{name}` belongs {place}");
        } else if let (true, Some((wrong, known))) = (is_name(message), quoted.split_first())
            && let Some(near) = nearest(wrong, known.iter().copied())
        {
            let kind = message.split('`').next().unwrap_or("unknown field ");
            what = format!("{kind}`{wrong}`: did you mean `{near}`?");
        } else if let Some(meant) = brackets(text, error.span(), message) {
            what = meant;
        }
        Self::at(text, error.span(), what)
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = shortened(&self.what);
        let what = model::quote::visible(&what, &[]);
        match self.place {
            Some((line, column)) => write!(f, "line {line}, column {column}: {what}"),
            None => f.write_str(&what),
        }
    }
}

impl std::error::Error for ConfigError {}

/// A sentence without its middle, where it is long: what is wrong is said at its beginning, what is right at its end.
fn shortened(sentence: &str) -> Cow<'_, str> {
    let count = sentence.chars().count();
    if count <= SENTENCE {
        return sentence.into();
    }
    let begin: String = sentence.chars().take(SENTENCE / 2).collect();
    let end: String = sentence.chars().skip(count - SENTENCE / 2).collect();
    format!("{begin}…{end}").into()
}

/// Where a setting has its place that is often written elsewhere.
fn belongs(name: &str) -> Option<&'static str> {
    match name {
        // Settings of the whole: TOML takes them for one of a table where they stand below its name.
        "loadline" | "gateways" | "authorities" | "workers" | "busy_poll" => {
            Some("above the first [table] of the file")
        }
        // A flag has the same name.
        "store" => Some("below [keys]"),
        _ => None,
    }
}

/// Whether a message of the TOML parser is about a name, and quotes those that there are.
fn is_name(message: &str) -> bool {
    ["unknown field", "unknown variant"].iter().any(|begin| message.starts_with(begin))
}

/// A message of the TOML parser, without the password of a URL that stands where something else is expected.
fn masked(message: &str) -> Cow<'_, str> {
    let quoted = message.strip_prefix("invalid type: string \"");
    match quoted.and_then(|quoted| quoted.split_once("\", expected ")) {
        Some((url, expected)) if url.contains("://") => {
            let url = mask_address(url);
            format!("invalid type: string \"{url}\", expected {expected}").into()
        }
        _ => message.into(),
    }
}

/// What was meant by `[name]` where there may be several, or by `[[name]]` where there is one.
fn brackets(text: &str, span: Option<Range<usize>>, message: &str) -> Option<String> {
    if !message.starts_with("invalid type: map") {
        return None;
    }
    let before = text.get(..span?.start)?;
    let line = &text[before.rfind('\n').map_or(0, |at| at + 1)..];
    let header = line.trim_start().strip_prefix('[')?;
    let (name, _) = header.trim_start_matches('[').split_once(']')?;
    match header.starts_with('[') {
        true => Some(format!("there is one of it: write [{name}]")),
        false if message.ends_with("expected a sequence") => Some(match name.split_once('.') {
            None => format!("there may be several of it: write [[{name}]]"),
            Some((name, own)) => {
                format!("there may be several of it: write [[{name}]], and name = \"{own}\" below")
            }
        }),
        false => None,
    }
}

/// What serde says of a value, with words for types; `table` is what values with names are called together.
pub(crate) fn in_words(message: &str, table: &str) -> String {
    let kinds = [
        ("i32", "a whole number from -2147483648 to 2147483647"),
        ("u32", "a whole number from 0 to 4294967295"),
        ("u64", "a whole number of 0 or more"),
        ("usize", "a whole number of 0 or more"),
        ("i64", "a whole number"),
        ("f64", "a number"),
        ("a sequence", "a list"),
        ("path string", "the path of a file, in quotes"),
    ];
    let worded = message.rsplit_once(EXPECTED).and_then(|(before, expected)| {
        let is_of_name = |next: char| next.is_alphanumeric();
        let of_kind = kinds.into_iter().find_map(|(kind, words)| {
            let rest = expected.strip_prefix(kind)?;
            (!rest.starts_with(is_of_name)).then_some((words, rest))
        });
        let of_table = || {
            let name = expected.strip_prefix("struct ")?;
            Some((table, name.trim_start_matches(is_of_name)))
        };
        let (words, rest) = of_kind.or_else(of_table)?;
        Some(format!("{before}{EXPECTED}{words}{rest}"))
    });
    worded.unwrap_or_else(|| message.to_owned())
}

/// Line and column, from 1, of what was read from a text; none of what flags say.
pub(crate) fn place_of<T>(text: &str, written: &toml::Spanned<T>) -> Option<(usize, usize)> {
    let span = written.span();
    (!span.is_empty()).then(|| place(text, span.start))
}

/// Line and column, from 1, of a byte. Columns count characters.
fn place(text: &str, at: usize) -> (usize, usize) {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let before = &text[..at];
    let line = before.matches('\n').count() + 1;
    let begin = before.rfind('\n').map_or(0, |at| at + 1);
    (line, before[begin..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_not_repeated_whole() {
        let text = format!("{} = 1\n", "b".repeat(100_000));
        let error = toml::from_str::<crate::config::Config>(&text).unwrap_err();
        let said = ConfigError::of_toml(&text, &error).to_string();
        assert!(said.len() < 2 * SENTENCE, "{}", said.len());
        assert!(said.starts_with("line 1, column 1: unknown field `bbb"), "{said}");
        assert!(said.contains("`listen`"), "{said}");
    }

    #[test]
    fn a_setting_out_of_its_place_and_a_name_are_told_apart() {
        for (text, words) in [
            ("store = \"gate.db\"", "`store` belongs below [keys]"),
            ("[admin]\nstore = \"gate.db\"", "`store` belongs below [keys]"),
            (
                "[keys]\nbusy_poll = \"9us\"",
                "`busy_poll` belongs above the first [table] of the file",
            ),
            ("tiers = []", "unknown field `tiers`: did you mean `tier`?"),
            // Half the letters of `shared` differ.
            ("stores = 1", "unknown field `stores`, expected one of `listen`"),
        ] {
            let error = toml::from_str::<crate::config::Config>(text).unwrap_err();
            let said = ConfigError::of_toml(text, &error).what;
            assert!(said.starts_with(words), "{said}");
        }
    }

    #[test]
    fn types_are_said_in_words() {
        for (message, words) in [
            (
                "invalid type: string \"x\", expected u64",
                "invalid type: string \"x\", expected a whole number of 0 or more",
            ),
            (
                "invalid value: integer `-1`, expected u32 at line 1 column 12",
                "invalid value: integer `-1`, expected a whole number from 0 to 4294967295 at line 1 column 12",
            ),
            (
                "invalid type: boolean `true`, expected f64",
                "invalid type: boolean `true`, expected a number",
            ),
            (
                "invalid type: null, expected struct Summary at line 5 column 4",
                "invalid type: null, expected a table at line 5 column 4",
            ),
        ] {
            assert_eq!(in_words(message, "a table"), words);
        }
        for message in ["invalid type: map, expected u64s", "expected `=`", ""] {
            assert_eq!(in_words(message, "a table"), message);
        }
    }
}
