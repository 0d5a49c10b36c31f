//! Variables of a collection: `{{name}}` to `${name}`.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde_json::Value;

use super::super::assembly::Assembly;
use super::super::note::Kind;
use super::super::template::{Numbered, hole, identifier, literal, push};
use model::quote::quote;
use model::secret::{is_secret_name, is_secret_value};

/// Values filled into one another at most; more go in a circle.
const DEEPEST: usize = 10;
/// Bytes of a value filled in at most.
const LONGEST: usize = 64 << 10;

/// Variables read at most, as many as a workload may have.
const MOST: usize = 10_000;
/// Bytes of values looked through for circles at most, all variables together, and what each look counts at
/// least.
const MOST_LOOKED: usize = 256 << 20;
const LOOK: usize = 256;

/// What a variable is.
#[derive(Debug, Clone)]
struct Variable {
    /// As the collection has it, `{{...}}` included.
    value: String,
    /// Its name in the workload.
    name: String,
    used: bool,
    /// Whether a URL's server has it, where its value was put in its place.
    filled_in: Cell<bool>,
}

/// The variables of a collection and its folders.
#[derive(Debug, Default)]
pub(super) struct Variables {
    by_name: BTreeMap<String, Variable>,
    /// Names in the workload.
    taken: HashSet<String>,
    numbered: Numbered,
    /// Those that are used and not written yet.
    pending: BTreeSet<String>,
    /// Bytes looked through for circles.
    looked: usize,
}

impl Variables {
    /// Reads a list of variables. A folder's variable holds from there on where its name is new.
    pub(super) fn define(&mut self, list: &Value, place: &str, assembly: &mut Assembly) {
        for variable in list.as_array().into_iter().flatten() {
            let name = variable["key"].as_str().or(variable["id"].as_str()).unwrap_or_default();
            if name.is_empty() {
                continue;
            }
            if variable["disabled"].as_bool() == Some(true) {
                let what = format!("the variable {}: it is disabled", quote(name));
                assembly.note(Kind::NotCarriedOver, place, what);
                continue;
            }
            let value = text_of(&variable["value"]);
            if self.by_name.get(name).is_some_and(|earlier| earlier.value != value) {
                let what = format!("the variable {}: it has another value elsewhere", quote(name));
                assembly.note(Kind::NotCarriedOver, place, what);
                continue;
            }
            if self.by_name.len() >= MOST && !self.by_name.contains_key(name) {
                let what = format!("variables beyond {MOST}");
                assembly.note_once(Kind::NotCarriedOver, "", what);
                continue;
            }
            self.add(name, value);
        }
    }

    fn add(&mut self, name: &str, value: String) {
        if self.by_name.contains_key(name) {
            return;
        }
        let taken = |name: &str| self.taken.contains(name);
        let free = self.numbered.free(&identifier(name), taken);
        self.taken.insert(free.clone());
        let variable = Variable { value, name: free, used: false, filled_in: Cell::default() };
        self.by_name.insert(name.to_owned(), variable);
    }

    /// A name as template text: a workload takes no placeholder in most names, so that what the collection
    /// defines is filled in.
    pub(super) fn name(&mut self, text: &str, assembly: &mut Assembly) -> String {
        let text = self.filled(text);
        self.template(&text, assembly)
    }

    /// Text of the collection as template text.
    pub(super) fn template(&mut self, text: &str, assembly: &mut Assembly) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, name, after)) = next_variable(rest) {
            out += &literal(before);
            push(&mut out, &self.placeholder(name, assembly));
            rest = after;
        }
        out + &literal(rest)
    }

    fn placeholder(&mut self, name: &str, assembly: &mut Assembly) -> String {
        if let Some(made) = name.strip_prefix('$').and_then(generator) {
            return hole(made);
        }
        match self.by_name.get_mut(name) {
            Some(variable) if !variable.value.is_empty() => {
                if !variable.used {
                    self.pending.insert(name.to_owned());
                }
                variable.used = true;
                hole(&variable.name)
            }
            _ => {
                let purpose = format!("the variable {} of a Postman environment", quote(name));
                assembly.vault.wanted(name, &purpose)
            }
        }
    }

    /// Text with variables filled in, as far as the collection defines them: where a URL's server has
    /// to be known.
    pub(super) fn filled(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for _ in 0..DEEPEST {
            let mut out = String::new();
            let (mut rest, mut changed) = (text.as_str(), false);
            while let Some((before, name, after)) = next_variable(rest) {
                out += before;
                match self.by_name.get(name).filter(|variable| !variable.value.is_empty()) {
                    Some(variable) => {
                        variable.filled_in.set(true);
                        out += &variable.value;
                        changed = true;
                    }
                    None => out += &format!("{{{{{name}}}}}"),
                }
                rest = after;
                if out.len() > LONGEST {
                    return text;
                }
            }
            out += rest;
            text = out;
            if !changed {
                break;
            }
        }
        text
    }

    /// Writes the variables that requests use, and those that these use, into the workload.
    pub(super) fn write(mut self, assembly: &mut Assembly) {
        let mut written: BTreeMap<String, String> = BTreeMap::new();
        while let Some(name) = self.pending.pop_first() {
            let variable = self.by_name[&name].clone();
            let template = if self.circles(&name) {
                let what = format!("the variable {}: it refers to itself", quote(&name));
                assembly.note(Kind::NotCarriedOver, "", what);
                assembly.vault.wanted(&name, "a variable that refers to itself")
            } else {
                let template = self.template(&variable.value, assembly);
                let purpose = "a variable of the collection";
                match is_secret_name(&name) || is_secret_value(&variable.value) {
                    true => assembly.vault.hidden(&template, &name, purpose),
                    false => assembly.vault.masked(&template, purpose),
                }
            };
            written.insert(variable.name, template);
        }
        for (name, _) in self.by_name.iter().filter(|(_, v)| !v.used && !v.filled_in.get()) {
            let what = format!("the variable {}: no request has it", quote(name));
            assembly.note(Kind::NotCarriedOver, "", what);
        }
        assembly.variables = written;
    }

    /// Whether filling in the variable comes back to it.
    ///
    /// One that could not be followed to its end is taken for a circle: it is asked for, never filled in.
    fn circles(&mut self, name: &str) -> bool {
        let mut open = vec![name.to_owned()];
        let mut seen = HashSet::new();
        while let Some(at) = open.pop() {
            let Some(variable) = self.by_name.get(&at) else { continue };
            self.looked = self.looked.saturating_add(variable.value.len() + LOOK);
            if self.looked > MOST_LOOKED {
                return true;
            }
            let mut rest = variable.value.as_str();
            while let Some((_, inner, after)) = next_variable(rest) {
                if inner == name {
                    return true;
                }
                if seen.insert(inner.to_owned()) {
                    open.push(inner.to_owned());
                }
                rest = after;
            }
        }
        false
    }
}

/// The text of a value, which may be written as a number or a truth value.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// What stands before the first `{{name}}`, the name, and what stands behind.
fn next_variable(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("{{")?;
    let (name, after) = rest.split_once("}}")?;
    Some((before, name.trim(), after))
}

/// The generators that Postman's dynamic variables have an equal of here.
fn generator(name: &str) -> Option<&'static str> {
    match name {
        "guid" | "randomUUID" => Some("uuid()"),
        "timestamp" => Some("unix()"),
        "isoTimestamp" => Some("rfc3339()"),
        "randomInt" => Some("int(0, 1000)"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn variables_become_placeholders() {
        let mut assembly = Assembly::new(None, false);
        let mut variables = Variables::default();
        let list = json!([
            {"key": "base url", "value": "http://{{host}}"}, {"key": "host", "value": "h"},
            {"key": "a", "value": "{{b}}"}, {"key": "b", "value": "{{a}}"},
            {"key": "unused", "value": "1"}, {"key": "server", "value": "s"}, {"key": "apiToken", "value": "CLEAR"},
            {"key": "login", "value": "https://h/in?token=CLEAR2&to={{host}}"}]);
        variables.define(&list, "", &mut assembly);
        assert_eq!(variables.filled("{{base url}}/{{x}}{{server}}"), "http://h/{{x}}s");
        let template = variables
            .template("{{base url}}/{{other}}/${y}/{{a}}/{{apiToken}}{{login}}", &mut assembly);
        assert_eq!(template, "${base_url}/${env.OTHER}/$${y}/${a}/${apiToken}${login}");
        assert_eq!(variables.template("${{host}}", &mut assembly), "${'$'}${host}");
        assert_eq!(variables.name("x-{{base url}}-{{y}}", &mut assembly), "x-http://h-${env.Y}");
        variables.write(&mut assembly);
        let found: Vec<(&str, &str)> = assembly
            .variables
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let expected = [
            ("a", "${env.A}"),
            ("apiToken", "${env.API_TOKEN}"),
            ("base_url", "http://${host}"),
            ("host", "h"),
            ("login", "https://h/in?token=${env.TOKEN}&to=${host}"),
        ];
        assert_eq!(found, expected);
    }
}
