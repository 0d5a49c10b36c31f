//! Resolves what names and templates refer to.

use std::collections::BTreeMap;
use std::ops::Range;

use model::Workload;
use model::workload::template::{Piece, pieces};

use crate::expression::{Expression, parse};
use crate::finding::Findings;
use crate::pool::{Drawn, Pool};
use crate::value::{Function, Value};
use model::names::nearest;
use model::quote::quote;

use super::Inputs;

/// The names of a workload.
pub(super) struct Resolver<'a> {
    pub(super) workload: &'a Workload,
    pub(super) inputs: &'a Inputs<'a>,
    /// Pools by name. Those whose rows could not be read have nothing to look into.
    pub(super) pools: &'a BTreeMap<String, Option<u16>>,
    pub(super) stock: &'a [Pool],
    /// Variables that are defined by now, in the order of their definition.
    pub(super) variables: Vec<(String, Value)>,
    /// The number of values each is made of.
    pub(super) variable_parts: Vec<u64>,
    /// Write `***` instead of secrets.
    pub(super) masking: bool,
    /// Where errors are reported.
    pub(super) findings: &'a Findings,
}

/// A piece of a template, with its place in it.
#[derive(Debug, Clone)]
pub(super) enum TemplatePiece {
    Text(String, usize),
    Value(Value, Range<usize>),
}

impl<'a> Resolver<'a> {
    pub(super) fn new(
        workload: &'a Workload,
        inputs: &'a Inputs<'a>,
        pools: &'a BTreeMap<String, Option<u16>>,
        stock: &'a [Pool],
        masking: bool,
        findings: &'a Findings,
    ) -> Self {
        Self {
            workload,
            inputs,
            pools,
            stock,
            variables: Vec::new(),
            variable_parts: Vec::new(),
            masking,
            findings,
        }
    }

    /// The values of the variables, by number.
    pub(super) fn variable_values(&self) -> Vec<Value> {
        self.variables.iter().map(|(_, value)| value.clone()).collect()
    }

    /// Parses a template and resolves its placeholders. `extracted` are the names that earlier steps
    /// extracted from their responses. `None` when something is wrong, which is reported.
    pub(super) fn template(
        &self,
        text: &str,
        path: &str,
        extracted: &[String],
    ) -> Option<Vec<TemplatePiece>> {
        let mut compiled = Vec::new();
        let mut sound = true;
        for (at, piece) in pieces(text) {
            match piece {
                Piece::Text(text) => compiled.push(TemplatePiece::Text(text, at)),
                Piece::Unclosed(rest) => {
                    let what = "this placeholder is not closed; a plain `${` is written `$${`";
                    let shown = rest.chars().take(20).map(char::len_utf8).sum::<usize>();
                    self.findings.add_at(path, Some(at..at + shown), what);
                    sound = false;
                }
                Piece::Hole(hole) => match self.hole(hole, at, extracted) {
                    Ok(value) => {
                        let value = self.as_text(value);
                        compiled.push(TemplatePiece::Value(value, at..at + hole.len()));
                    }
                    Err(wrong) => {
                        self.findings.add_at(path, Some(wrong.at), wrong.what);
                        sound = false;
                    }
                },
            }
        }
        sound.then_some(compiled)
    }

    fn hole(&self, hole: &str, at: usize, extracted: &[String]) -> Result<Value, Wrong> {
        let expression = parse(hole, at).map_err(|bad| Wrong { at: bad.at, what: bad.what })?;
        self.value(&expression, extracted)
    }

    /// A value in text: a digest in hexadecimal digits, a secret masked if secrets are masked.
    fn as_text(&self, value: Value) -> Value {
        if self.masking && value.is_secret(&self.variable_values()) {
            return Value::text(*b"***");
        }
        if value.is_digest() { folded(Function::Hex, vec![value]) } else { value }
    }

    /// The value of an expression.
    pub(super) fn value(
        &self,
        expression: &Expression,
        extracted: &[String],
    ) -> Result<Value, Wrong> {
        match expression {
            Expression::Text(text) => Ok(Value::text(text.as_bytes())),
            Expression::Number { text, at } => match text.parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(Value::text(text.as_bytes())),
                _ => Err(Wrong::new(at, format!("{} is not a number", quote(text)))),
            },
            Expression::Name { parts, at } => self.name(parts, at, extracted),
            Expression::Call { name, at, arguments } => self.call(name, at, arguments, extracted),
        }
    }

    fn name(
        &self,
        parts: &[String],
        at: &Range<usize>,
        extracted: &[String],
    ) -> Result<Value, Wrong> {
        match parts {
            [env, name] if env == "env" => match (self.inputs.env)(name) {
                Some(value) => Ok(Value::Const { bytes: value.into_bytes().into(), secret: true }),
                None => Err(Wrong::new(
                    at,
                    format!("the environment variable {} is not set", quote(name)),
                )),
            },
            [name] => {
                if let Some(index) = extracted.iter().position(|known| known == name) {
                    return Ok(Value::Extracted(index as u16));
                }
                if let Some(index) = self.variables.iter().position(|(known, _)| known == name) {
                    let value = &self.variables[index].1;
                    let constant = value.constant().is_some();
                    return Ok(if constant {
                        value.clone()
                    } else {
                        Value::Variable(index as u16)
                    });
                }
                match self.pools.get(name) {
                    Some(&pool) => self.only_column(name, pool, at),
                    None => Err(Wrong::new(at, self.unknown(name, extracted))),
                }
            }
            [name, column] => match self.pools.get(name) {
                Some(&pool) => self.column(name, pool, column, at),
                None if self.workload.variables.contains_key(name) => {
                    Err(Wrong::new(at, format!("the variable {} has no columns", quote(name))))
                }
                None => Err(Wrong::new(at, self.unknown(name, extracted))),
            },
            _ => Err(Wrong::new(at, "a name has two parts at most: `pool.column`")),
        }
    }

    fn only_column(
        &self,
        name: &str,
        pool: Option<u16>,
        at: &Range<usize>,
    ) -> Result<Value, Wrong> {
        let Some(index) = pool else { return Ok(Value::text(*b"")) };
        match self.stock[usize::from(index)].columns() {
            [_] => self.cell(name, index, 0, at),
            columns => Err(Wrong::new(
                at,
                format!(
                    "the pool {} has several columns: name one, as in `{name}.{}`",
                    quote(name),
                    columns.first().map_or("", String::as_str)
                ),
            )),
        }
    }

    fn column(
        &self,
        name: &str,
        pool: Option<u16>,
        column: &str,
        at: &Range<usize>,
    ) -> Result<Value, Wrong> {
        let Some(index) = pool else { return Ok(Value::text(*b"")) };
        let columns = self.stock[usize::from(index)].columns();
        match columns.iter().position(|known| known == column) {
            Some(column) => self.cell(name, index, column as u16, at),
            None => Err(Wrong::new(
                at,
                format!(
                    "the pool {} has no column {}{}",
                    quote(name),
                    quote(column),
                    suggestion(column, columns.iter().map(String::as_str))
                ),
            )),
        }
    }

    fn cell(&self, name: &str, pool: u16, column: u16, at: &Range<usize>) -> Result<Value, Wrong> {
        let table = &self.stock[usize::from(pool)];
        let title = &table.columns()[usize::from(column)];
        if let Some(row) = table.lacks(column) {
            let (name, title) = (quote(name), quote(title));
            return Err(Wrong::new(at, format!("row {row} of the pool {name} has no {title}")));
        }
        if self.masking && model::secret::is_secret_name(title) {
            return Ok(Value::Const { bytes: (*b"***").into(), secret: true });
        }
        Ok(Value::Cell { pool, column })
    }

    fn unknown(&self, name: &str, extracted: &[String]) -> String {
        let own = self.workload.variables.keys().chain(self.workload.pools.keys());
        let known = own.chain(extracted).map(String::as_str);
        format!("{} is not defined{}", quote(name), suggestion(name, known))
    }
}

/// What is wrong with a placeholder, and at which bytes of its template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) at: Range<usize>,
    pub(super) what: String,
}

impl Wrong {
    pub(super) fn new(at: &Range<usize>, what: impl Into<String>) -> Self {
        Self { at: at.clone(), what: what.into() }
    }
}

/// What a message about an unknown name ends with: the name that was likely meant, or all known names if none is near and
/// there are few.
pub(super) fn suggestion<'n>(written: &str, known: impl Iterator<Item = &'n str>) -> String {
    let known: Vec<&str> = known.collect();
    match nearest(written, known.iter().copied()) {
        Some(name) => format!("; did you mean {}?", quote(name)),
        None if known.is_empty() || known.len() > 12 => String::new(),
        None => {
            let names: Vec<String> = known.iter().map(|name| quote(name)).collect();
            format!("; known are {}", names.join(", "))
        }
    }
}

/// A function of values, computed at once if they never change.
pub(super) fn folded(function: Function, of: Vec<Value>) -> Value {
    let secret = of.iter().any(|value| matches!(value, Value::Const { secret: true, .. }));
    let constant = of.iter().all(|value| value.constant().is_some());
    let signature = function.is_signature();
    let value = Value::Call(Box::new(function), of);
    if !constant {
        return value;
    }
    let is_digest = value.is_digest();
    let bytes = worked_out(&value);
    if is_digest {
        // It stays a digest for the functions around it; text takes its digits.
        return value;
    }
    Value::Const { bytes: bytes.into(), secret: secret || signature }
}

/// A value that depends on no other.
pub(super) fn worked_out(value: &Value) -> Vec<u8> {
    let mut stack = Vec::new();
    let texts = crate::value::Texts::default();
    let place = model::Draw::default();
    let mut draws = crate::draw::stream(0, place, crate::draw::Purpose::Step(0));
    let drawn = Drawn::default();
    let mut scene = crate::value::Scene {
        pools: &[],
        drawn: &drawn,
        variables: &texts,
        extracted: &texts,
        draws: &mut draws,
        unix_ns: 0,
    };
    value.push(&mut scene, &mut stack);
    stack
}
