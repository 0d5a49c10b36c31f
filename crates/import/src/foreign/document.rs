//! YAML read as [`Literal`], for descriptions that people write in it.
//!
//! Scalars without quotes are what the core schema of YAML 1.2 says. Aliases are copied, and count as
//! what they stand for.

use std::collections::HashMap;

use model::workload::Literal;
use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use super::ForeignError;

/// Values of one document at most: several times the largest public descriptions.
const MOST_VALUES: usize = 2_000_000;
/// Lists and maps inside one another at most.
const DEEPEST: usize = 100;

/// Reads the first document of a text.
pub(super) fn parse(text: &str) -> Result<Literal, ForeignError> {
    let mut builder = Builder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            ForeignError::at(error.marker().line(), format!("is no YAML: {}", error.info()))
        })?;
        if matches!(event, Event::DocumentEnd) {
            break;
        }
        builder.take(event, &span)?;
    }
    builder.root.ok_or_else(|| ForeignError::whole("is empty"))
}

/// A list or map being read.
struct Open {
    value: Literal,
    anchor: usize,
    /// A map's key whose value comes next.
    key: Option<String>,
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    anchors: HashMap<usize, (Literal, usize)>,
    values: usize,
    root: Option<Literal>,
}

impl Builder {
    fn take(&mut self, event: Event<'_>, span: &Span) -> Result<(), ForeignError> {
        let line = span.start.line();
        match event {
            Event::Scalar(text, style, anchor, _) => {
                let plain = style == ScalarStyle::Plain;
                let value = if plain { resolved(&text) } else { Literal::Text(text.into_owned()) };
                self.finished(value, anchor, line)
            }
            Event::SequenceStart(anchor, _) => self.begin(Literal::List(Vec::new()), anchor, line),
            Event::MappingStart(anchor, _) => self.begin(Literal::Object(Vec::new()), anchor, line),
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(open) => self.finished(open.value, open.anchor, line),
                None => Ok(()),
            },
            Event::Alias(anchor) => {
                let Some((value, size)) = self.anchors.get(&anchor) else {
                    return wrong(line, "this alias stands inside of what it stands for");
                };
                self.values += size;
                if self.values > MOST_VALUES {
                    return too_many(line);
                }
                let value = value.clone();
                self.finished(value, 0, line)
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self, value: Literal, anchor: usize, line: usize) -> Result<(), ForeignError> {
        if self.open.len() >= DEEPEST {
            return wrong(line, &format!("values are nested more than {DEEPEST} deep"));
        }
        self.open.push(Open { value, anchor, key: None });
        Ok(())
    }

    /// A value is whole: it goes into the list or map that is open, or is the document.
    fn finished(&mut self, value: Literal, anchor: usize, line: usize) -> Result<(), ForeignError> {
        self.values += 1;
        if anchor > 0 {
            let size = size(&value);
            self.values += size;
            self.anchors.insert(anchor, (value.clone(), size));
        }
        if self.values > MOST_VALUES {
            return too_many(line);
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(value);
            return Ok(());
        };
        match (&mut open.value, open.key.take()) {
            (Literal::Object(members), Some(key)) => members.push((key, value)),
            (Literal::List(items), _) => items.push(value),
            _ => match value {
                Literal::List(_) | Literal::Object(_) => {
                    return wrong(line, "a key must be a word, not a list or map");
                }
                word => open.key = Some(word.plain().into_owned()),
            },
        }
        Ok(())
    }
}

fn wrong<T>(line: usize, what: &str) -> Result<T, ForeignError> {
    Err(ForeignError::at(line, what))
}

fn too_many<T>(line: usize) -> Result<T, ForeignError> {
    wrong(line, &format!("more than {MOST_VALUES} values, aliases included"))
}

fn size(value: &Literal) -> usize {
    match value {
        Literal::List(items) => 1 + items.iter().map(size).sum::<usize>(),
        Literal::Object(members) => 1 + members.iter().map(|(_, value)| size(value)).sum::<usize>(),
        _ => 1,
    }
}

/// What a scalar without quotes is (YAML 1.2.2 section 10.3.2).
fn resolved(text: &str) -> Literal {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Literal::Null,
        "true" | "True" | "TRUE" => return Literal::Bool(true),
        "false" | "False" | "FALSE" => return Literal::Bool(false),
        _ => {}
    }
    let digits = text.trim_start_matches(['-', '+']);
    let number = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    if number && let Ok(whole) = text.parse::<i64>() {
        return Literal::Int(whole);
    }
    match text.parse::<f64>() {
        Ok(float) if number && float.is_finite() => Literal::Float(float),
        _ => Literal::Text(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yaml_is_read_as_json_would_be() {
        let text = "a: &x [1, -2, 2.5, .5, 07x, 1.2.3, '3', ~, true, yes, 2024-01-01]\n200: *x\n\
                    b:\n  c: |\n    l1\n    l2\n";
        let list = r#"[1,-2,2.5,0.5,"07x","1.2.3","3",null,true,"yes","2024-01-01"]"#;
        let expected = format!(r#"{{"a":{list},"200":{list},"b":{{"c":"l1\nl2\n"}}}}"#);
        assert_eq!(parse(text).unwrap().to_string(), expected);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, line, needle) in [
            ("a: 1\nb: [", 2, "no YAML"),
            ("a: 1\n? [x]\n: 2", 2, "a key must"),
            ("a: &x\n  - *x", 2, "alias"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.what.contains(needle), "{text}: {error}");
            assert!(error.line.is_some_and(|told| told >= line), "{text}: {error}");
        }
        let deep = "[".repeat(1_000);
        assert!(parse(&deep).is_err());
    }
}
