//! Compiles checks: names are resolved, and values that are the same for every request are computed
//! once.

use model::workload::{self, Literal};
use regex::bytes::{Regex, RegexBuilder};

use crate::check::{Check, Pointer, Wanted};
use crate::finding::{Findings, inside};
use crate::value::Value;
use model::quote::quote;

use super::request::RequestSpec;
use super::resolver::{Resolver, TemplatePiece};
use super::variables::joined;

/// Memory that a compiled regular expression may take.
const LARGEST_REGEX: usize = 1 << 20;

impl Resolver<'_> {
    /// The checks, and the values that some of them compare with.
    pub(super) fn checks(&self, spec: &RequestSpec<'_>) -> (Vec<Check>, Vec<Value>) {
        let (mut checks, mut wanted) = (Vec::new(), Vec::new());
        for (at, check) in spec.checks.iter().enumerate() {
            let path = inside(&inside(&spec.place, "checks"), &at.to_string());
            if let Some(check) = self.check(check, &path, spec, &mut wanted) {
                checks.push(check);
            }
        }
        (checks, wanted)
    }

    fn check(
        &self,
        check: &workload::Check,
        path: &str,
        spec: &RequestSpec<'_>,
        wanted: &mut Vec<Value>,
    ) -> Option<Check> {
        let mut text = |text: &str, path: &str| self.wanted(text, path, spec, wanted);
        match check {
            workload::Check::Status(ranges) => Some(Check::Status(ranges.clone())),
            workload::Check::Header { name, equals } => {
                let path = inside(&inside(path, "header"), "equals");
                let equals = match equals {
                    Some(equals) => Some(text(equals, &path)?),
                    None => None,
                };
                Some(Check::Header { name: name.clone(), equals })
            }
            workload::Check::Json { pointer, equals } => {
                let path = inside(path, "json");
                let pointer = pointer_at(pointer, &inside(&path, "pointer"), self.findings)?;
                let equals = match equals {
                    None => None,
                    Some(Literal::Text(equals)) => Some(text(equals, &inside(&path, "equals"))?),
                    Some(other) => {
                        Some(Wanted::Json(serde_json::from_str(&other.to_string()).ok()?))
                    }
                };
                Some(Check::Json { pointer, equals })
            }
            workload::Check::Contains(part) => {
                Some(Check::Contains(text(part, &inside(path, "contains"))?))
            }
            workload::Check::Regex(pattern) => {
                regex_at(pattern, &inside(path, "regex"), self.findings).map(Check::Regex)
            }
        }
    }

    fn wanted(
        &self,
        text: &str,
        path: &str,
        spec: &RequestSpec<'_>,
        wanted: &mut Vec<Value>,
    ) -> Option<Wanted> {
        let pieces: Vec<TemplatePiece> = self.template(text, path, spec.extracted)?;
        Some(match joined(pieces) {
            Value::Const { bytes, .. } => Wanted::Text(bytes),
            value => {
                wanted.push(value);
                Wanted::Computed(wanted.len() as u16 - 1)
            }
        })
    }
}

/// A JSON pointer.
pub(super) fn pointer_at(text: &str, path: &str, findings: &Findings) -> Option<Pointer> {
    let pointer = Pointer::parse(text);
    if pointer.is_none() {
        let what =
            format!("{} is not a JSON pointer: write {}", quote(text), quote(&format!("/{text}")));
        findings.add(path, what);
    }
    pointer
}

/// A regular expression.
pub(super) fn regex_at(pattern: &str, path: &str, findings: &Findings) -> Option<Box<Regex>> {
    let regex = regex(pattern);
    regex.map_err(|why| findings.add(path, format!("is not a regular expression: {why}"))).ok()
}

/// A regular expression of bounded size, or why `pattern` is not one.
pub(crate) fn regex(pattern: &str) -> Result<Box<Regex>, String> {
    let built = RegexBuilder::new(pattern).size_limit(LARGEST_REGEX).build();
    built.map(Box::new).map_err(|why| why.to_string().lines().last().unwrap_or_default().to_owned())
}

/// A description of a check.
pub(super) fn in_words(check: &workload::Check) -> String {
    match check {
        workload::Check::Status(ranges) => format!("status {ranges}"),
        workload::Check::Header { name, equals: None } => format!("header {name}"),
        workload::Check::Header { name, equals: Some(value) } => {
            format!("header {name} is {value}")
        }
        workload::Check::Json { pointer, equals: None } => format!("JSON has {pointer}"),
        workload::Check::Json { pointer, equals: Some(value) } => {
            format!("JSON {pointer} is {value}")
        }
        workload::Check::Contains(text) => format!("body contains {text}"),
        workload::Check::Regex(pattern) => format!("body matches {pattern}"),
    }
}
