//! Compiles flows: steps in order, with their extractions and conditions.

use model::workload::{Condition, Extractor, Step};

use crate::finding::{Findings, inside};
use crate::program::{Extract, Flow, From, Request, StepOf, When};
use crate::source::{Fixed, Wants};
use crate::value::Value;
use model::quote::quote;

use super::checks::{pointer_at, regex_at};
use super::request::RequestSpec;
use super::resolver::{Resolver, suggestion};
use super::server::Server;
use super::variables::joined;

/// Steps of a flow at most.
const MOST_STEPS: usize = 1_000;
/// Values that a flow extracts at most.
const MOST_EXTRACTED: usize = 100;

impl Resolver<'_> {
    /// Compiles the flow with this index, and appends its requests.
    pub(super) fn flow(
        &self,
        index: usize,
        server: &Server,
        requests: &mut Vec<Request>,
        fixed: &mut Vec<Fixed>,
    ) -> Flow {
        let flow = &self.workload.flows[index];
        let place = format!("flows/{index}");
        let mut names: Vec<String> = Vec::new();
        let (mut steps, mut pools) = (Vec::new(), Vec::new());
        if flow.steps.is_empty() {
            self.findings.add(&inside(&place, "steps"), "the flow has no step");
        }
        if flow.steps.len() > MOST_STEPS {
            self.findings.add(&inside(&place, "steps"), format!("more than {MOST_STEPS} steps"));
        }
        for (number, step) in flow.steps.iter().enumerate().take(MOST_STEPS) {
            let at = format!("{place}/steps/{number}");
            let spec = RequestSpec::step(flow, step, &at, &names);
            let mut request = self.compiled_request(&spec, server, fixed);
            let when = step.when.as_ref().and_then(|when| {
                let at = inside(&at, "when");
                if number == 0 {
                    let what = "the first step is always taken: give flows weights instead";
                    self.findings.add(&at, what);
                }
                self.when(when, &at, &names)
            });
            let extract = self.extract(step, &at, &mut names);
            let needs_body =
                extract.iter().any(|e| matches!(e.from, From::Json(_) | From::Regex(_)));
            request.wants = request.wants.max(if needs_body { Wants::Whole } else { Wants::Head });
            pools.extend(&request.pools);
            if let Some(When::Equal(values)) = &when {
                values.iter().for_each(|value| {
                    value.walk(&mut |value| {
                        if let Value::Cell { pool, .. } = value {
                            pools.push(*pool);
                        }
                    });
                });
            }
            let think_ns = step.think.unwrap_or_default().0;
            steps.push(StepOf { request: requests.len() as u32, when, think_ns, extract });
            requests.push(request);
        }
        pools.sort_unstable();
        pools.dedup();
        Flow { steps, pools, extracted: names }
    }

    fn extract(&self, step: &Step, at: &str, names: &mut Vec<String>) -> Vec<Extract> {
        let mut extract = Vec::new();
        for (name, extractor) in &step.extract {
            // That there are too many is reported once.
            if names.len() > MOST_EXTRACTED && !names.contains(name) {
                continue;
            }
            let path = inside(&inside(at, "extract"), name);
            let taken = if name == "env" {
                Some("the environment")
            } else if self.workload.variables.contains_key(name) {
                Some("a variable")
            } else if self.workload.pools.contains_key(name) {
                Some("a pool")
            } else {
                None
            };
            if let Some(taken) = taken {
                self.findings.add(&path, format!("{} is also the name of {taken}", quote(name)));
            }
            let Some(from) = from(extractor, &path, self.findings) else { continue };
            let index = names.iter().position(|known| known == name).unwrap_or(names.len());
            if index == names.len() {
                names.push(name.clone());
                if names.len() > MOST_EXTRACTED {
                    let what = format!("the flow extracts more than {MOST_EXTRACTED} values");
                    self.findings.add(at, what);
                }
            }
            extract.push(Extract { index: index as u16, from });
        }
        extract
    }

    fn when(&self, when: &Condition, at: &str, names: &[String]) -> Option<When> {
        let index = |name: &String, key: &str| {
            let index = names.iter().position(|known| known == name);
            if index.is_none() {
                let near = suggestion(name, names.iter().map(String::as_str));
                let what = format!("no step before extracts {}{near}", quote(name));
                self.findings.add(&inside(at, key), what);
            }
            index.map(|index| index as u16)
        };
        match when {
            Condition::Has(name) => index(name, "has").map(When::Has),
            Condition::Lacks(name) => index(name, "lacks").map(When::Lacks),
            Condition::Chance(share) if (0.0..=1.0).contains(share) => Some(When::Chance(*share)),
            Condition::Chance(share) => {
                self.findings.add(&inside(at, "chance"), format!("{share} is not from 0 to 1"));
                None
            }
            Condition::Equal(sides) => {
                let side = |number: usize| {
                    let path = inside(&inside(at, "equal"), &number.to_string());
                    let pieces = self.template(&sides[number], &path, names)?;
                    Some(self.inlined(&joined(pieces)))
                };
                let (first, second) = (side(0), side(1));
                Some(When::Equal([first?, second?]))
            }
        }
    }

    /// A value with those of its variables in their places.
    fn inlined(&self, value: &Value) -> Value {
        let all = |of: &[Value]| of.iter().map(|value| self.inlined(value)).collect();
        match value {
            Value::Variable(index) => self.inlined(&self.variables[usize::from(*index)].1),
            Value::Call(function, of) => Value::Call(function.clone(), all(of)),
            Value::Joined(of) => Value::Joined(all(of)),
            other => other.clone(),
        }
    }
}

fn from(extractor: &Extractor, path: &str, findings: &Findings) -> Option<From> {
    match extractor {
        Extractor::Json(pointer) => {
            pointer_at(pointer, &inside(path, "json"), findings).map(From::Json)
        }
        Extractor::Header(name) => Some(From::Header(name.clone())),
        Extractor::Cookie(name) => Some(From::Cookie(name.clone())),
        Extractor::Regex(pattern) => {
            regex_at(pattern, &inside(path, "regex"), findings).map(From::Regex)
        }
    }
}

/// A description of an extraction, as the check that it implies.
pub(super) fn in_words(name: &str, extractor: &Extractor) -> String {
    match extractor {
        Extractor::Json(pointer) => format!("{name} is found at {pointer}"),
        Extractor::Header(header) => format!("{name} is found in header {header}"),
        Extractor::Regex(pattern) => format!("{name} is found by {pattern}"),
        Extractor::Cookie(cookie) => format!("{name} is found in cookie {cookie}"),
    }
}
