//! Whether an expression is injective: a different value for every value of a column.

use super::token::{Token, tokens};

/// Functions that give different results of texts that differ in more than the case of letters and blanks at their ends,
/// as made-up ones do. That two digests are the same is not expected.
const KEEPING: [&str; 13] = [
    "lower", "upper", "lcase", "ucase", "trim", "btrim", "ltrim", "rtrim", "concat", "md5", "sha1",
    "sha2", "sha256",
];

/// Which column this is.
type Column<'a> = dyn Fn(&str) -> Option<usize> + 'a;

/// The column of which an expression has another value for each other value; none where that is not known.
pub fn kept_apart(text: &str, column: &Column<'_>) -> Option<usize> {
    keeps(&tokens(text, false)?, column)
}

fn keeps(tokens: &[Token], column: &Column<'_>) -> Option<usize> {
    match bare(tokens) {
        [Token::Name(name, _)] => column(name),
        [Token::Name(name, false), arguments @ ..] if !inner(arguments).is_empty() => {
            let known = KEEPING.contains(&name.to_ascii_lowercase().as_str());
            known.then(|| only(&split(inner(arguments), &[","]), column))?
        }
        sum => match split(sum, &["||", "+", "-"]) {
            parts if parts.len() > 1 => only(&parts, column),
            _ => None,
        },
    }
}

/// The column that the only part keeps apart that is no literal.
fn only(parts: &[&[Token]], column: &Column<'_>) -> Option<usize> {
    let is_literal =
        |part: &&&[Token]| matches!(bare(part), [] | [Token::Text(_) | Token::Number(_)]);
    let mut others = parts.iter().filter(|part| !is_literal(part));
    let first = others.next()?;
    if others.next().is_some() { None } else { keeps(first, column) }
}

/// Without brackets around all of it, and without casts to text that cut nothing off.
fn bare(mut tokens: &[Token]) -> &[Token] {
    let is = |token: &Token, word: &str| matches!(token, Token::Name(name, false) if name.eq_ignore_ascii_case(word));
    loop {
        tokens = match tokens {
            [rest @ .., Token::Mark("::"), name] if is(name, "text") => rest,
            [rest @ .., Token::Mark("::"), name, more]
                if is(name, "character") && is(more, "varying") =>
            {
                rest
            }
            _ => match inner(tokens) {
                [] => return tokens,
                inside => inside,
            },
        };
    }
}

/// What is between the first bracket and the one that closes it, if that is the last; else nothing.
fn inner(tokens: &[Token]) -> &[Token] {
    let [Token::Mark("("), inside @ .., Token::Mark(")")] = tokens else { return &[] };
    let mut depth = 0_i32;
    let closes = inside.iter().any(|token| {
        depth += step(token);
        depth < 0
    });
    if closes { &[] } else { inside }
}

/// The parts between these marks, outside of brackets.
fn split<'a>(tokens: &'a [Token], marks: &[&str]) -> Vec<&'a [Token]> {
    let mut depth = 0_i32;
    let parts = tokens.split(|token| {
        depth += step(token);
        depth == 0 && matches!(token, Token::Mark(mark) if marks.contains(mark))
    });
    parts.collect()
}

fn step(token: &Token) -> i32 {
    match token {
        Token::Mark("(" | "[") => 1,
        Token::Mark(")" | "]") => -1,
        _ => 0,
    }
}
