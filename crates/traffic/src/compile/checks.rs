//! Checks: what is compared is looked up, and what is the same for every request is made ready.

use model::workload::{self, Literal};
use regex::bytes::RegexBuilder;

use crate::check::{Check, Pointer, Wanted};
use crate::finding::{Findings, inside};
use crate::value::Value;
use model::quote::quote;

use super::request::Asked;
use super::resolver::{Resolver, TemplatePiece};
use super::variables::joined;

/// Memory that a compiled regular expression may take.
pub(crate) const LARGEST_REGEX: usize = 1 << 20;

impl Resolver<'_> {
    /// The checks, and the values that some of them compare with.
    pub(super) fn checks(
        &self,
        asked: &Asked<'_>,
        findings: &mut Findings,
    ) -> (Vec<Check>, Vec<Value>) {
        let (mut checks, mut wanted) = (Vec::new(), Vec::new());
        for (at, check) in asked.checks.iter().enumerate() {
            let path = inside(&inside(&asked.place, "checks"), &at.to_string());
            if let Some(check) = self.check(check, &path, asked, &mut wanted, findings) {
                checks.push(check);
            }
        }
        (checks, wanted)
    }

    fn check(
        &self,
        check: &workload::Check,
        path: &str,
        asked: &Asked<'_>,
        wanted: &mut Vec<Value>,
        findings: &mut Findings,
    ) -> Option<Check> {
        let mut text = |text: &str, path: &str, findings: &mut Findings| {
            self.wanted(text, path, asked, wanted, findings)
        };
        match check {
            workload::Check::Status(ranges) => Some(Check::Status(ranges.clone())),
            workload::Check::Header { name, equals } => {
                let path = inside(&inside(path, "header"), "equals");
                let equals = match equals {
                    Some(equals) => Some(text(equals, &path, findings)?),
                    None => None,
                };
                Some(Check::Header { name: name.clone(), equals })
            }
            workload::Check::Json { pointer, equals } => {
                let path = inside(path, "json");
                let pointer = pointer_at(pointer, &inside(&path, "pointer"), findings)?;
                let equals = match equals {
                    None => None,
                    Some(Literal::Text(equals)) => {
                        Some(text(equals, &inside(&path, "equals"), findings)?)
                    }
                    Some(other) => {
                        Some(Wanted::Json(serde_json::from_str(&other.to_string()).ok()?))
                    }
                };
                Some(Check::Json { pointer, equals })
            }
            workload::Check::Contains(part) => {
                Some(Check::Contains(text(part, &inside(path, "contains"), findings)?))
            }
            workload::Check::Regex(pattern) => {
                let built = RegexBuilder::new(pattern).size_limit(LARGEST_REGEX).build();
                match built {
                    Ok(regex) => Some(Check::Regex(Box::new(regex))),
                    Err(why) => {
                        let why = why.to_string();
                        let why = why.lines().last().unwrap_or_default().to_owned();
                        findings.add(
                            &inside(path, "regex"),
                            format!("is no regular expression: {why}"),
                        );
                        None
                    }
                }
            }
        }
    }

    fn wanted(
        &self,
        text: &str,
        path: &str,
        asked: &Asked<'_>,
        wanted: &mut Vec<Value>,
        findings: &mut Findings,
    ) -> Option<Wanted> {
        let stretches: Vec<TemplatePiece> = self.template(text, path, asked.extracted, findings)?;
        Some(match joined(stretches) {
            Value::Const { bytes, .. } => Wanted::Text(bytes),
            value => {
                wanted.push(value);
                Wanted::Asked(wanted.len() as u16 - 1)
            }
        })
    }
}

/// A JSON pointer.
pub(super) fn pointer_at(text: &str, path: &str, findings: &mut Findings) -> Option<Pointer> {
    let pointer = Pointer::parse(text);
    if pointer.is_none() {
        let what =
            format!("{} is no JSON pointer: write {}", quote(text), quote(&format!("/{text}")));
        findings.add(path, what);
    }
    pointer
}

/// A check in words.
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
