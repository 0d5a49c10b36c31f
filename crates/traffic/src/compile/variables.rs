//! Compiles variables, in an order in which each needs only earlier ones.

use model::workload::template::{Piece, pieces};

use crate::expression::{Expression, parse};
use crate::finding::inside;
use crate::value::Value;
use model::quote::quote;

use super::resolver::{Resolver, TemplatePiece, worked_out};

/// Variables of a workload at most.
const MOST: usize = 10_000;
/// The most values that a variable is made of, including those of its variables.
const MOST_PARTS: u64 = 10_000;
/// Bytes of a variable that never changes at most: 1 MiB.
const LONGEST: usize = 1 << 20;

impl Resolver<'_> {
    /// Defines all variables. An invalid one is defined as empty, so that its uses are not reported
    /// too; all are where there are too many.
    pub(super) fn define_variables(&mut self) {
        let names: Vec<&String> = self.workload.variables.keys().collect();
        if names.len() > MOST {
            self.findings.add("variables", format!("more than {MOST} variables"));
            names.into_iter().for_each(|name| self.add_variable(name, Value::text(*b"")));
            return;
        }
        let mut marks = vec![Mark::New; names.len()];
        for start in 0..names.len() {
            self.define(start, &names, &mut marks);
        }
    }

    /// Defines one variable after those that it needs; without recursion, since a chain may be long.
    fn define(&mut self, start: usize, names: &[&String], marks: &mut [Mark]) {
        let mut open = vec![start];
        while let Some(&at) = open.last() {
            if marks[at] == Mark::Defined {
                open.pop();
                continue;
            }
            marks[at] = Mark::Open;
            let text = &self.workload.variables[names[at]];
            let needs = needs(text).into_iter().filter_map(|n| names.binary_search(&&n).ok());
            let missing: Vec<usize> = needs.filter(|need| marks[*need] != Mark::Defined).collect();
            if let Some(&again) = missing.iter().find(|need| marks[**need] == Mark::Open) {
                let from = open.iter().position(|open| *open == again).unwrap_or(0);
                let chain: Vec<&str> =
                    open[from..].iter().chain([&again]).map(|at| names[*at].as_str()).collect();
                let what = format!("this variable refers to itself: {}", chain.join(" -> "));
                self.findings.add(&inside("variables", names[again]), what);
                for at in open.drain(from..) {
                    self.add_variable(names[at], Value::text(*b""));
                    marks[at] = Mark::Defined;
                }
                continue;
            }
            if !missing.is_empty() {
                open.extend(missing);
                continue;
            }
            let value = self.variable(names[at], text);
            self.add_variable(names[at], value);
            marks[at] = Mark::Defined;
            open.pop();
        }
    }

    fn variable(&self, name: &str, text: &str) -> Value {
        let path = inside("variables", name);
        if name == "env" {
            self.findings.add(&path, "`env` is reserved for the environment: rename the variable");
        } else if self.workload.pools.contains_key(name) {
            self.findings.add(&path, format!("{} is also the name of a pool", quote(name)));
        }
        let Some(pieces) = self.template(text, &path, &[]) else {
            return Value::text(*b"");
        };
        let value = joined(pieces);
        let long = value.constant().is_some_and(|bytes| bytes.len() > LONGEST);
        if long || self.parts(&value) > MOST_PARTS {
            self.findings
                .add(&path, "this variable refers to too many others, or is longer than 1 MiB");
            return Value::text(*b"");
        }
        value
    }

    /// The number of values a value is made of.
    fn parts(&self, value: &Value) -> u64 {
        let mut parts = 0u64;
        value.walk(&mut |value| {
            parts = parts.saturating_add(match value {
                Value::Variable(index) => self.variable_parts[usize::from(*index)],
                _ => 1,
            });
        });
        parts
    }

    fn add_variable(&mut self, name: &str, value: Value) {
        self.variable_parts.push(self.parts(&value));
        self.variables.push((name.to_owned(), value));
    }
}

/// The pieces of a template as one value.
pub(super) fn joined(pieces: Vec<TemplatePiece>) -> Value {
    let value = |piece| match piece {
        TemplatePiece::Text(text, _) => Value::text(text.into_bytes()),
        TemplatePiece::Value(value, _) => value,
    };
    let mut values: Vec<Value> = pieces.into_iter().map(value).collect();
    if values.iter().all(|value| value.constant().is_some()) {
        let secret = values.iter().any(|value| value.is_secret(&[]));
        return Value::Const { bytes: worked_out(&Value::Joined(values)).into(), secret };
    }
    match values.len() {
        1 => values.remove(0),
        _ => Value::Joined(values),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    /// It is being defined: a variable that needs it now is in a cycle.
    Open,
    Defined,
}

/// The first parts of the names in a template.
fn needs(text: &str) -> Vec<String> {
    fn names(expression: &Expression, found: &mut Vec<String>) {
        match expression {
            Expression::Name { parts, .. } if parts.len() == 1 => found.push(parts[0].clone()),
            Expression::Call { arguments, .. } => {
                arguments.iter().for_each(|argument| names(argument, found));
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    for (at, piece) in pieces(text) {
        if let Piece::Hole(hole) = piece
            && let Ok(expression) = parse(hole, at)
        {
            names(&expression, &mut found);
        }
    }
    found
}
