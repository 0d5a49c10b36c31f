//! The shape of an SQL statement: without its values, comments and blanks, so that all calls of one statement are one
//! name, and nothing of what users store is shown.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// Characters of a shape at most, of those that are looked at, and bytes: names of values hold 200 with what is before it.
const MOST_CHARS: usize = 140;
const MOST_BYTES: usize = 180;
/// Bytes of a shape beside the session that it is of, and its state.
pub const BESIDE_SESSION: usize = 120;
const MOST_READ: usize = 800;
/// Characters of a list of columns that are shown: what follows it is of more use.
const MOST_OF_LIST: usize = 40;
/// Shapes that are counted of one source.
const MOST_SHAPES: usize = 200;

/// What double quotes hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quotes {
    /// Names, as in PostgreSQL.
    Names,
    /// Strings, as in MySQL.
    Strings,
}

/// The shape of a statement; it may be cut anywhere.
pub fn shape(sql: &str, quotes: Quotes) -> String {
    let mut shape = Shape::default();
    for (token, text) in Tokens::of(sql, quotes) {
        if !shape.add(token, text) {
            break;
        }
    }
    shape.finish()
}

/// Whether a text is one SELECT, which changes nothing by itself.
pub fn is_one_select(sql: &str, quotes: Quotes) -> bool {
    // MySQL carries out what is in such comments, and where a string ends behind a backslash its mode decides.
    let by_mode = quotes == Quotes::Strings && has_escaped_quote(sql);
    let hidden = sql.contains("/*!") || sql.contains("/*M!") || by_mode;
    let mut words = Tokens::of(sql, quotes).filter(|(token, _)| *token != Token::Blank);
    let selects = words.next().is_some_and(|(_, word)| word.eq_ignore_ascii_case("select"));
    let ends = words.any(|(_, text)| text == ";");
    selects && !hidden && (!ends || words.next().is_none())
}

/// Whether a quote stands behind a backslash that is not escaped itself.
fn has_escaped_quote(sql: &str) -> bool {
    let mut chars = sql.chars();
    while let Some(c) = chars.next() {
        if c == '\\' && matches!(chars.next(), Some('\'' | '"')) {
            return true;
        }
    }
    false
}

/// The words of a statement.
#[derive(Debug)]
struct Tokens<'a> {
    rest: &'a str,
    quotes: Quotes,
    /// What came last.
    before: &'a str,
}

impl<'a> Tokens<'a> {
    fn of(sql: &'a str, quotes: Quotes) -> Self {
        Self { rest: sql, quotes, before: "" }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = (Token, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let (rest, quotes) = (self.rest, self.quotes);
        let c = rest.chars().next()?;
        // PostgreSQL's strings know no escapes, but those that begin with E.
        let escapes = match quotes {
            Quotes::Strings => Escapes::ByMode,
            Quotes::Names if matches!(self.before, "e" | "E") => Escapes::Backslash,
            Quotes::Names => Escapes::None,
        };
        let (token, length) = match c {
            '\'' => (Token::Value, quoted(rest, '\'', escapes)),
            '"' if quotes == Quotes::Strings => (Token::Value, quoted(rest, '"', escapes)),
            '"' => (Token::Word, quoted(rest, '"', Escapes::None)),
            '`' => (Token::Word, quoted(rest, '`', Escapes::None)),
            '-' if rest.starts_with("--") => (Token::Blank, to(rest, "\n")),
            '#' if quotes == Quotes::Strings => (Token::Blank, to(rest, "\n")),
            '/' if rest.starts_with("/*") => (Token::Blank, 2 + to(&rest[2..], "*/")),
            '$' if dollar_tag(rest).is_some() => {
                let tag = dollar_tag(rest).unwrap_or("$$");
                (Token::Value, tag.len() + to(&rest[tag.len()..], tag))
            }
            c if c.is_whitespace() || c.is_control() => (Token::Blank, c.len_utf8()),
            c if c.is_ascii_digit() => (Token::Value, word(rest)),
            c if is_of_word(c) => (Token::Word, word(rest)),
            c => (Token::Mark, c.len_utf8()),
        };
        let (text, rest) = rest.split_at(length.clamp(c.len_utf8(), rest.len()));
        (self.before, self.rest) = (text, rest);
        Some((token, text))
    }
}

/// What a backslash is in a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Escapes {
    None,
    Backslash,
    /// An escape, but for a MySQL with NO_BACKSLASH_ESCAPES.
    ByMode,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    Blank,
    Value,
    Word,
    Mark,
}

/// A shape as far as it is known.
#[derive(Debug, Default)]
struct Shape {
    text: String,
    chars: usize,
    blank: bool,
    /// Whether what comes next in a list of values is left out.
    listed: bool,
    /// Parameters that were left out: those behind count from what is shown, however long a list was.
    left_out: u32,
}

impl Shape {
    /// Adds a token; whether there is room for more.
    fn add(&mut self, token: Token, text: &str) -> bool {
        if self.chars >= MOST_READ {
            return false;
        }
        if token == Token::Blank {
            self.blank = !self.text.is_empty();
            return true;
        }
        let number = text.strip_prefix('$').and_then(|number| number.parse::<u32>().ok());
        if self.listed && (token == Token::Value || number.is_some() || text == ",") {
            self.left_out += u32::from(number.is_some());
            self.blank = false;
            return true;
        }
        if token == Token::Value && self.text.ends_with("?,")
            || number.is_some() && self.ends_with_parameter()
        {
            self.text.push('…');
            self.chars += 1;
            self.left_out += u32::from(number.is_some());
            (self.listed, self.blank) = (true, false);
            return true;
        }
        self.listed = false;
        if self.blank {
            self.text.push(' ');
            self.chars += 1;
        }
        self.blank = false;
        let text = match number {
            Some(number) => Cow::Owned(format!("${}", number.saturating_sub(self.left_out))),
            None if token == Token::Value => Cow::Borrowed("?"),
            None => Cow::Borrowed(text),
        };
        let plain = text.chars().filter(|c| !c.is_control());
        let room = MOST_READ.saturating_sub(self.chars);
        let before = self.text.len();
        self.text.extend(plain.take(room));
        self.chars += self.text[before..].chars().count();
        self.chars < MOST_READ
    }

    /// Whether a parameter (`$1`) and a comma came last.
    fn ends_with_parameter(&self) -> bool {
        let before = self.text.strip_suffix(',').and_then(|text| text.rsplit_once('$'));
        before.is_some_and(|(_, number)| number.parse::<u32>().is_ok())
    }

    fn finish(self) -> String {
        let text = without_list(self.text.trim_end_matches([' ', ';']));
        cut(&text, MOST_BYTES)
    }
}

/// A shape of this many bytes at most, with a mark where it is cut.
pub fn cut(shape: &str, most_bytes: usize) -> String {
    if shape.len() <= most_bytes && shape.chars().nth(MOST_CHARS).is_none() {
        return shape.to_owned();
    }
    let ends = shape.char_indices().take(MOST_CHARS).map(|(at, _)| at);
    let end = ends.take_while(|at| at + '…'.len_utf8() <= most_bytes).last().unwrap_or(0);
    format!("{}…", &shape[..end])
}

/// A SELECT without its list of columns, where that is long: the tables and the conditions say more.
fn without_list(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let from = lower.find(" from ").filter(|_| lower.starts_with("select "));
    match from {
        Some(at) if text[..at].chars().count() > MOST_OF_LIST => {
            format!("{} …{}", &text[.."select".len()], &text[at..])
        }
        _ => text.to_owned(),
    }
}

/// The length of what is quoted, quotes included; all of it where it does not end, or where only the server knows.
fn quoted(text: &str, quote: char, escapes: Escapes) -> usize {
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c == '\\' && escapes != Escapes::None {
            let escaped = chars.next();
            if escapes == Escapes::ByMode && escaped.is_some_and(|(_, next)| next == quote) {
                return text.len();
            }
        } else if c == quote {
            // Twice is once inside.
            match chars.peek() {
                Some((_, next)) if *next == quote => drop(chars.next()),
                _ => return at + c.len_utf8(),
            }
        }
    }
    text.len()
}

/// The length up to and with `end`, behind the first character; all of it where it does not come.
fn to(text: &str, end: &str) -> usize {
    text.find(end).map_or(text.len(), |at| at + end.len())
}

/// The tag of a dollar-quoted string (`$$`, `$tag$`) that begins here. `$1` is a parameter.
fn dollar_tag(text: &str) -> Option<&str> {
    let end = text[1..].find('$')? + 1;
    let name = &text[1..end];
    let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    (plain && !name.starts_with(|c: char| c.is_ascii_digit())).then(|| &text[..=end])
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '@')
}

fn word(text: &str) -> usize {
    // A number may have a point or an exponent; a name has none of ours.
    let number = text.starts_with(|c: char| c.is_ascii_digit());
    let end = text.find(|c| !(is_of_word(c) || number && c == '.'));
    end.unwrap_or(text.len())
}

/// The shape of a statement, unless it is one by which databases are watched, ours or another's.
pub fn of_others(shape: &str) -> Option<String> {
    const WATCHING: [&str; 7] = [
        "pg_stat_",
        "pg_extension",
        "performance_schema",
        "information_schema",
        "SHOW GLOBAL STATUS",
        "@@GLOBAL",
        "@@`performance",
    ];
    let settings = ["SET application_name", "SET APPLICATION_NAME", "set application_name"];
    let watches = WATCHING.iter().any(|word| shape.contains(word))
        || settings.iter().any(|begin| shape.starts_with(begin));
    (!watches).then(|| shape.to_owned())
}

/// How often statements were seen running, by shape: a counter that goes on while a source is watched.
#[derive(Debug, Default)]
pub struct Seen {
    times: BTreeMap<String, u64>,
}

impl Seen {
    /// Counts one; of new shapes only as many as there is room for.
    pub fn see(&mut self, shape: &str) {
        if let Some(times) = self.times.get_mut(shape) {
            *times += 1;
        } else if self.times.len() < MOST_SHAPES {
            self.times.insert(shape.to_owned(), 1);
        }
    }

    /// Every shape with its count.
    pub fn counts(&self) -> impl Iterator<Item = (&str, u64)> {
        self.times.iter().map(|(shape, times)| (shape.as_str(), *times))
    }
}

/// What a statement came to: how often it was called, how long that took, and the rows that it gave.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Total {
    /// Calls.
    pub calls: u64,
    /// Time in all calls.
    pub ns: u64,
    /// Rows in all answers.
    pub rows: u64,
}

impl Total {
    /// Adds what another statement of the same shape came to.
    pub fn add(&mut self, calls: u64, ns: u64, rows: u64) {
        self.calls = self.calls.saturating_add(calls);
        self.ns = self.ns.saturating_add(ns);
        self.rows = self.rows.saturating_add(rows);
    }
}

/// Calls of statements since the watching began; those that took the most time since then are reported. The server's own
/// list counts from its start.
#[derive(Debug, Default)]
pub struct Calls {
    first: Option<BTreeMap<String, Total>>,
}

/// Statements reported in one sample.
const MOST_STATEMENTS: usize = 12;

impl Calls {
    /// Puts the dearest of `all`, by their shapes, into `sample`.
    pub fn tell(&mut self, all: &BTreeMap<String, Total>, sample: &mut model::Sample) {
        let first = self.first.get_or_insert_with(|| all.clone());
        let grown = |(shape, total): &(&String, &Total)| {
            total.ns.saturating_sub(first.get(*shape).map_or(0, |before| before.ns))
        };
        let mut dearest: Vec<_> = all.iter().collect();
        dearest.sort_by_key(|each| (std::cmp::Reverse(grown(each)), std::cmp::Reverse(each.1.ns)));
        for (shape, total) in dearest.into_iter().take(MOST_STATEMENTS) {
            sample.count(format!("db.calls{{{shape}}}"), total.calls);
            sample.count(format!("db.exec_ns{{{shape}}}"), total.ns);
            sample.count(format!("db.rows{{{shape}}}"), total.rows);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shapes_have_no_values() {
        use Quotes::{Names, Strings};
        for (sql, quotes, wanted) in [
            (
                "SELECT *  FROM t\n WHERE id = 42 AND n='it''s'",
                Names,
                "SELECT * FROM t WHERE id = ? AND n=?",
            ),
            ("select $1, t2.x -- why\n from t2;", Names, "select $1, t2.x from t2"),
            (
                "/* trace=1 */ SELECT 1.5e3, E'a\\'b' FROM \"T 1\"",
                Names,
                "SELECT ?, E? FROM \"T 1\"",
            ),
            ("SELECT 'c:\\', 'secret'", Names, "SELECT ?,…"),
            ("SELECT 'a\\\\', x", Strings, "SELECT ?, x"),
            // Where the string ends depends on the server's mode, and what follows may be a value.
            ("SELECT 'a\\'b', x", Strings, "SELECT ?"),
            ("SELECT 'c:\\', secret'", Strings, "SELECT ?"),
            ("SELECT \"secret\" FROM `t` # c", Strings, "SELECT ? FROM `t`"),
            ("IN (1, 2, 3, 4)", Names, "IN (?,…)"),
            // As PostgreSQL writes them before version 18: a statement for each length of the list.
            ("a IN ($1, $2) AND b = $3", Names, "a IN ($1,…) AND b = $2"),
            ("a IN ($1, $2, $3) AND b = $4", Names, "a IN ($1,…) AND b = $2"),
            ("ALTER ROLE a PASSWORD 'hunter2", Names, "ALTER ROLE a PASSWORD ?"),
            ("DO $x$ hunter2 $x$ ; SELECT $$a$$", Names, "DO ? ; SELECT ?"),
            (
                "select o.id, o.status, sum(i.quantity * p.price) from orders o where o.user_id = $1",
                Names,
                "select … from orders o where o.user_id = $1",
            ),
            ("", Names, ""),
        ] {
            assert_eq!(shape(sql, quotes), wanted, "{sql}");
        }
        assert_eq!(shape("/*/ secret */ SELECT 1", Names), "SELECT ?");
        let wide = shape(&format!("SELECT * FROM {} WHERE a = 7", "注文".repeat(60)), Names);
        assert!(wide.len() <= MOST_BYTES && wide.ends_with('…'), "{wide}");
        let who = "db.blocks_others{session 1234567, idle in transaction (aborted): }".len();
        let beside = cut(&wide, BESIDE_SESSION);
        assert!(who + beside.len() <= model::sample::MOST_NAME_BYTES && beside.ends_with('…'));
        let long = shape(&"a ".repeat(100), Names);
        assert!(long.chars().count() == 140 && long.ends_with('…'), "{long}");
    }

    #[test]
    fn only_statements_that_watch_are_passed_over() {
        for (shape, others) in [
            ("SELECT application_name FROM apps WHERE id = $1", true),
            ("SET application_name = ?", false),
            ("SELECT a FROM pg_stat_activity", false),
        ] {
            assert_eq!(of_others(shape).is_some(), others, "{shape}");
        }
    }

    #[test]
    fn one_select_and_nothing_else() {
        use Quotes::{Names, Strings};
        for (sql, quotes, wanted) in [
            ("SELECT 1", Names, true),
            ("/* trace */ select * from t where a = $1; -- end", Names, true),
            ("SELECT ';' FROM \"a;b\"", Names, true),
            ("SELECT 1; DROP TABLE t", Names, false),
            ("SELECT 'a\\'; DROP TABLE t --'", Names, false),
            ("SELECT 'a\\'; DROP TABLE t --'", Strings, false),
            ("SELECT 'a\\\\'", Strings, true),
            ("SELECT 1 /*! ; DROP TABLE t */", Strings, false),
            ("UPDATE t SET a = 1", Names, false),
            ("WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x", Names, false),
            ("", Names, false),
        ] {
            assert_eq!(is_one_select(sql, quotes), wanted, "{sql}");
        }
    }

    #[test]
    fn the_dearest_since_the_start_are_reported() {
        let all = |extra: u64| -> BTreeMap<String, Total> {
            let old = |n: u64| (format!("old{n}"), Total { calls: 9, ns: 1_000_000 + n, rows: 0 });
            let new = Total { calls: extra, ns: extra * 10, rows: extra };
            (0..30).map(old).chain([("new".to_owned(), new)]).collect()
        };
        let mut calls = Calls::default();
        let [mut first, mut second] = [0; 2].map(model::Sample::new);
        calls.tell(&all(1), &mut first);
        assert_eq!(first.counters.len(), 3 * MOST_STATEMENTS);
        calls.tell(&all(5), &mut second);
        assert_eq!((second.counters["db.calls{new}"], second.counters["db.exec_ns{new}"]), (5, 50));
    }

    proptest! {
        #[test]
        fn any_text_has_a_bounded_shape(sql in "(\\PC|['\"$`\\-/*#;, \n\\\\0-9a]){0,300}") {
            for quotes in [Quotes::Names, Quotes::Strings] {
                let shape = shape(&sql, quotes);
                prop_assert!(shape.chars().count() <= MOST_CHARS && shape.len() <= MOST_BYTES);
                prop_assert!(!shape.chars().any(char::is_control));
            }
        }
    }
}
