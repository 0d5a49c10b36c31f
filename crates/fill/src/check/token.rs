//! Tokens of an SQL expression.

/// A word.
#[derive(Debug, Clone, PartialEq)]
pub enum Token {
    /// A name or keyword, as written; whether it was quoted.
    Name(String, bool),
    /// A text in single quotes.
    Text(String),
    /// A number.
    Number(f64),
    /// An operator or bracket.
    Mark(&'static str),
}

/// Longest first.
const MARKS: [&str; 31] = [
    "!~~*", "!~*", "!~~", "~~*", "::", "<=", ">=", "<>", "!=", "==", "~~", "~*", "!~", "||", "&&",
    "->", "=", "<", ">", "~", "+", "-", "*", "/", "%", "(", ")", ",", "[", "]", ".",
];

/// The words of an expression; none where a character is unknown or a quote does not end. `escapes` says that a
/// backslash in a text is one (MySQL).
pub fn tokens(text: &str, escapes: bool) -> Option<Vec<Token>> {
    let mut rest = text;
    let mut tokens = Vec::new();
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return Some(tokens) };
        // MySQL 8 prints texts as `_utf8mb4\'a\'`.
        let bare = rest.strip_prefix('\\').unwrap_or(rest);
        let (token, after) = match first {
            '\'' | '\\' if bare.starts_with('\'') => {
                let backslashed = rest.len() != bare.len();
                let (text, after) = match escapes && !backslashed {
                    true => escaped(bare)?,
                    false => quoted(bare, '\'', backslashed)?,
                };
                (Token::Text(text), after)
            }
            '"' | '`' => {
                let (name, after) = quoted(rest, first, false)?;
                (Token::Name(name, true), after)
            }
            '0'..='9' => number(rest)?,
            _ if first == '_' || first.is_alphabetic() => name(rest),
            _ => mark(rest)?,
        };
        rest = after;
        // The mark of a character set or of an escaped text.
        let marked = matches!(&token, Token::Name(name, false)
            if (name.starts_with('_') || name.eq_ignore_ascii_case("e"))
                && (rest.starts_with('\'') || rest.starts_with("\\'")));
        if !marked {
            tokens.push(token);
        }
    }
}

fn quoted(text: &str, quote: char, backslashed: bool) -> Option<(String, &str)> {
    let mut inner = String::new();
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((_, c)) = chars.next() {
        if backslashed && c == '\\' && chars.peek().is_some_and(|(_, next)| *next == quote) {
            let (at, _) = chars.next()?;
            return Some((inner, &text[at + quote.len_utf8()..]));
        }
        if c != quote {
            inner.push(c);
            continue;
        }
        match chars.peek() {
            Some((_, next)) if *next == quote => {
                chars.next();
                inner.push(quote);
            }
            Some((at, _)) => return Some((inner, &text[*at..])),
            None => return Some((inner, "")),
        }
    }
    None
}

/// A text in single quotes with escapes, as MariaDB prints it. `\%` and `\_` stay as they are, for LIKE.
fn escaped(text: &str) -> Option<(String, &str)> {
    let mut inner = String::new();
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' if chars.peek().is_some_and(|(_, next)| *next == '\'') => {
                chars.next();
                inner.push('\'');
            }
            '\'' => return Some((inner, &text[at + 1..])),
            '\\' => match chars.next()?.1 {
                'n' => inner.push('\n'),
                't' => inner.push('\t'),
                'r' => inner.push('\r'),
                '0' => inner.push('\0'),
                'Z' => inner.push('\u{1a}'),
                c @ ('%' | '_') => inner.extend(['\\', c]),
                c => inner.push(c),
            },
            c => inner.push(c),
        }
    }
    None
}

fn number(text: &str) -> Option<(Token, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    Some((Token::Number(text[..end].parse().ok()?), &text[end..]))
}

fn name(text: &str) -> (Token, &str) {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$');
    let end = end.unwrap_or(text.len());
    (Token::Name(text[..end].to_owned(), false), &text[end..])
}

fn mark(text: &str) -> Option<(Token, &str)> {
    let mark = MARKS.into_iter().find(|mark| text.starts_with(mark))?;
    Some((Token::Mark(mark), &text[mark.len()..]))
}
