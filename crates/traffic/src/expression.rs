//! The content of a placeholder: `name`, `pool.column`, `env.NAME`, `call(argument, ...)`, `'text'` or
//! a number.
//!
//! Owns the syntax. `compile::resolver` decides what names and calls mean.

use std::ops::Range;

/// Calls inside one another at most.
const DEEPEST: usize = 20;

/// An expression as written. Ranges are bytes of the template that it stands in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expression {
    Text(String),
    Number { text: String, at: Range<usize> },
    Name { parts: Vec<String>, at: Range<usize> },
    Call { name: String, at: Range<usize>, arguments: Vec<Expression> },
}

/// An error in an expression, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BadExpression {
    pub(crate) at: Range<usize>,
    pub(crate) what: String,
}

/// Reads a placeholder, brackets included, that begins at byte `offset` of its template.
pub(crate) fn parse(hole: &str, offset: usize) -> Result<Expression, BadExpression> {
    let inside = &hole[2..hole.len() - 1];
    let mut reader = Reader { text: inside, at: 0, offset: offset + 2, depth: 0 };
    reader.blank();
    if reader.rest().is_empty() {
        let what = "the placeholder is empty; a plain `${` is written `$${`".into();
        return Err(BadExpression { at: offset..offset + hole.len(), what });
    }
    let expression = reader.expression()?;
    reader.blank();
    if !reader.rest().is_empty() {
        return Err(reader.wrong("unexpected text here; a plain `${` is written `$${`"));
    }
    Ok(expression)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    offset: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn blank(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn take(&mut self, c: char) -> bool {
        self.blank();
        let there = self.rest().starts_with(c);
        self.at += if there { c.len_utf8() } else { 0 };
        there
    }

    fn wrong(&self, what: impl Into<String>) -> BadExpression {
        let length = self.rest().chars().next().map_or(0, char::len_utf8);
        let at = self.offset + self.at;
        BadExpression { at: at..at + length, what: what.into() }
    }

    fn expression(&mut self) -> Result<Expression, BadExpression> {
        self.blank();
        let start = self.at;
        match self.rest().chars().next() {
            Some('\'' | '"') => self.quoted().map(Expression::Text),
            Some(c) if c.is_ascii_digit() || c == '-' || c == '.' => {
                let of_number = |c: char| c.is_ascii_alphanumeric() || "+-._".contains(c);
                let length = self.rest().find(|c| !of_number(c)).unwrap_or(self.rest().len());
                let text = self.rest()[..length].to_owned();
                self.at += length;
                Ok(Expression::Number { text, at: self.range(start) })
            }
            Some(c) if is_first(c) => {
                let name = self.word();
                if self.take('(') {
                    let at = self.offset + start..self.offset + start + name.len();
                    return Ok(Expression::Call { name, at, arguments: self.arguments()? });
                }
                let mut parts = vec![name];
                while self.rest().starts_with('.') {
                    self.at += 1;
                    parts.push(self.part()?);
                }
                Ok(Expression::Name { parts, at: self.range(start) })
            }
            _ => Err(self.wrong("expected a name, a call, a number or a quoted string here")),
        }
    }

    fn range(&self, start: usize) -> Range<usize> {
        self.offset + start..self.offset + self.at
    }

    fn word(&mut self) -> String {
        let length = self.rest().find(|c| !is_further(c)).unwrap_or(self.rest().len());
        let word = self.rest()[..length].to_owned();
        self.at += length;
        word
    }

    /// A column's name: a word, or anything in quotes.
    fn part(&mut self) -> Result<String, BadExpression> {
        match self.rest().chars().next() {
            Some('\'' | '"') => self.quoted(),
            Some(c) if is_further(c) => Ok(self.word()),
            _ => Err(self.wrong("expected a name after the dot")),
        }
    }

    fn quoted(&mut self) -> Result<String, BadExpression> {
        let mut text = String::new();
        let mut letters = self.rest().char_indices();
        let open = letters.next().map(|(_, c)| c);
        while let Some((at, c)) = letters.next() {
            match c {
                c if Some(c) == open => {
                    self.at += at + 1;
                    return Ok(text);
                }
                '\\' => match letters.next().map(|(_, c)| c) {
                    Some('n') => text.push('\n'),
                    Some('r') => text.push('\r'),
                    Some('t') => text.push('\t'),
                    Some(c @ ('\\' | '\'' | '"')) => text.push(c),
                    _ => return Err(self.wrong("after `\\` only n r t \\ ' \" are allowed")),
                },
                c => text.push(c),
            }
        }
        Err(self.wrong("this string is not closed"))
    }

    fn arguments(&mut self) -> Result<Vec<Expression>, BadExpression> {
        if self.depth >= DEEPEST {
            return Err(self.wrong(format!("calls are nested more than {DEEPEST} deep")));
        }
        self.depth += 1;
        let mut arguments = Vec::new();
        if !self.take(')') {
            loop {
                arguments.push(self.expression()?);
                if self.take(')') {
                    break;
                }
                if !self.take(',') {
                    return Err(self.wrong("expected `,` or `)` here"));
                }
            }
        }
        self.depth -= 1;
        Ok(arguments)
    }
}

fn is_first(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn is_further(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_taken_apart() {
        let name = |parts: &[&str], at| Expression::Name {
            parts: parts.iter().map(|&part| part.to_owned()).collect(),
            at,
        };
        assert_eq!(parse("${a.b-c}", 5), Ok(name(&["a", "b-c"], 7..12)));
        assert_eq!(parse("${ a.'x y' }", 0), Ok(name(&["a", "x y"], 3..10)));
        assert_eq!(
            parse(r#"${hmac("k\"", base64(x), -1.5)}"#, 0),
            Ok(Expression::Call {
                name: "hmac".into(),
                at: 2..6,
                arguments: vec![
                    Expression::Text("k\"".into()),
                    Expression::Call {
                        name: "base64".into(),
                        at: 14..20,
                        arguments: vec![name(&["x"], 21..22)]
                    },
                    Expression::Number { text: "-1.5".into(), at: 25..29 },
                ]
            })
        );
    }

    #[test]
    fn errors_are_reported_with_their_place() {
        for (hole, at, needle) in [
            ("${}", 0..3, "empty"),
            ("${a b}", 4..5, "unexpected text"),
            ("${f(a}", 5..5, "`,` or `)`"),
            ("${a.}", 4..4, "after the dot"),
            ("${'a}", 2..3, "not closed"),
            ("${%}", 2..3, "expected a name"),
            ("${'\\x'}", 2..3, "after `\\`"),
        ] {
            let error = parse(hole, 0).unwrap_err();
            assert!(error.what.contains(needle), "{hole}: {error:?}");
            assert_eq!(error.at, at, "{hole}: {error:?}");
        }
        let deep = format!("${{{}}}", "f(".repeat(1_000));
        assert!(parse(&deep, 0).unwrap_err().what.contains("deep"));
    }
}
