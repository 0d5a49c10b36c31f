//! Values made from schemas (JSON Schema as OpenAPI 3.0 and 3.1 have it): an example if there is
//! one, else the default, else the first of an enumeration, else what type and format ask for.
//!
//! The same schema gives the same value. A reference that is open already gives nothing, so circles
//! end; a value has at most [`MOST_NODES`] parts, so schemas that fan out end too. How much is made of one
//! description is bounded by [`Document::may_make`].

use model::workload::Literal;

use super::document::Document;
use super::members;

/// Parts of one made value at most.
const MOST_NODES: usize = 5_000;
/// Levels of a made value at most.
const DEEPEST: usize = 24;
/// Characters of a made text and items of a made list at most.
const LONGEST: usize = 1_000;
const MOST_ITEMS: usize = 10;

/// A value made from a schema, and what a note says about it.
pub(super) struct Sample {
    pub(super) value: Literal,
    /// Whether any of it was made up instead of taken from an example.
    pub(super) made_up: bool,
    /// What the schema asks for and the value does not hold to, in words.
    pub(super) lost: Vec<String>,
}

/// Makes a value of a schema.
pub(super) fn sample(document: &Document, schema: &Literal) -> Sample {
    let mut maker =
        Maker { document, open: Vec::new(), nodes: 0, spent: false, made_up: false, lost: vec![] };
    let value = maker.make(schema).unwrap_or(Literal::Null);
    if maker.spent {
        maker.lose("an example or a part of the value: it would be too large".to_owned());
    }
    if maker.nodes >= MOST_NODES {
        maker.lose(format!("parts of the value beyond {MOST_NODES}"));
    }
    Sample { value, made_up: maker.made_up, lost: maker.lost }
}

/// The example that a media type, parameter or schema gives.
pub(super) fn example<'a>(document: &Document<'a>, holder: &'a Literal) -> Option<&'a Literal> {
    if let Some(value) = holder.member("example") {
        return Some(value);
    }
    match holder.member("examples")? {
        Literal::List(values) => values.first(),
        named => {
            let (_, first) = members(Some(named)).first()?;
            document.resolve(first)?.member("value")
        }
    }
}

struct Maker<'d, 'a> {
    document: &'d Document<'a>,
    /// Schemas being made, by their place in memory.
    open: Vec<*const Literal>,
    nodes: usize,
    /// Whether something was left out because too much was made.
    spent: bool,
    made_up: bool,
    lost: Vec<String>,
}

impl<'a> Maker<'_, 'a> {
    fn lose(&mut self, what: String) {
        if self.lost.len() < 5 && !self.lost.contains(&what) {
            self.lost.push(what);
        }
    }

    /// The schema's value; `None` where it would go in a circle, too deep or too far.
    fn make(&mut self, schema: &'a Literal) -> Option<Literal>
    where
        'a: 'a,
    {
        self.nodes += 1;
        if self.nodes >= MOST_NODES || self.open.len() >= DEEPEST {
            return None;
        }
        // What it takes, its texts and the names before it aside.
        if !self.document.may_make(size_of::<(String, Literal)>()) {
            self.spent = true;
            return None;
        }
        let Some(target) = self.document.resolve(schema) else {
            self.lose(format!("the reference {}", self.document.reference(schema)));
            return None;
        };
        let place = std::ptr::from_ref(target);
        if self.open.contains(&place) {
            return None;
        }
        self.open.push(place);
        let value = self.given(target).or_else(|| self.made(target));
        self.open.pop();
        value
    }

    /// What the schema itself offers as a value.
    fn given(&mut self, schema: &'a Literal) -> Option<Literal> {
        let offered = example(self.document, schema)
            .or_else(|| schema.member("const"))
            .or_else(|| schema.member("default"));
        if let Some(value) = offered {
            return self.within_bounds(value);
        }
        match schema.member("enum") {
            Some(Literal::List(values)) => self.within_bounds(values.first()?),
            _ => None,
        }
    }

    /// Examples count as parts too: many references to a large one would fan out.
    fn within_bounds(&mut self, value: &Literal) -> Option<Literal> {
        self.nodes = self.nodes.saturating_add(nodes(value, MOST_NODES));
        if self.nodes >= MOST_NODES {
            return None;
        }
        let copy = self.document.copy(value);
        self.spent |= copy.is_none();
        copy
    }

    fn made(&mut self, schema: &'a Literal) -> Option<Literal> {
        for choice in ["oneOf", "anyOf"] {
            if let Some(Literal::List(schemas)) = schema.member(choice) {
                let value = schemas.iter().find_map(|schema| self.make(schema));
                return self.with_own(schema, value);
            }
        }
        if let Some(Literal::List(schemas)) = schema.member("allOf") {
            let mut whole = None;
            for part in schemas {
                let value = self.make(part);
                whole = merged(whole, value);
            }
            return self.with_own(schema, whole);
        }
        match kind(schema) {
            "object" => Some(self.object(schema)),
            "array" => Some(self.list(schema)),
            "string" => Some(self.text(schema)),
            "integer" => Some(Literal::Int(self.integer(schema))),
            "number" => Some(whole(Literal::Float(self.number(schema, 1.5)))),
            "boolean" => Some(Literal::Bool(true)),
            _ => Some(Literal::Null),
        }
    }

    /// Adds the schema's own properties to what its choices made.
    fn with_own(&mut self, schema: &'a Literal, value: Option<Literal>) -> Option<Literal> {
        let own = schema.member("properties").map(|_| self.object(schema));
        merged(value, own)
    }

    fn object(&mut self, schema: &'a Literal) -> Literal {
        let mut made = Vec::new();
        for (name, property) in members(schema.member("properties")) {
            let target = self.document.resolve(property);
            let read_only =
                |schema: &Literal| schema.member("readOnly") == Some(&Literal::Bool(true));
            if target.is_some_and(read_only) || read_only(property) {
                continue;
            }
            let named = self.document.may_make(name.len());
            self.spent |= !named;
            if let Some(value) = self.make(property).filter(|_| named) {
                made.push((name.clone(), value));
            } else if required(schema, name) {
                self.lose(format!("the required member `{name}`"));
            }
        }
        Literal::Object(made)
    }

    fn list(&mut self, schema: &'a Literal) -> Literal {
        let least = schema.member("minItems").and_then(number_of).unwrap_or(1.0);
        let count = (least.max(1.0) as usize).min(MOST_ITEMS);
        if least > MOST_ITEMS as f64 {
            self.lose(format!("items of a list beyond {MOST_ITEMS}"));
        }
        let Some(items) = schema.member("items") else { return Literal::List(Vec::new()) };
        Literal::List((0..count).map_while(|_| self.make(items)).collect())
    }

    fn text(&mut self, schema: &Literal) -> Literal {
        self.made_up = true;
        if schema.member("pattern").is_some() {
            self.lose("a pattern, which the made text does not follow".to_owned());
        }
        let format = schema.member("format").map(Literal::plain);
        let text = match format.as_deref() {
            Some("date-time") => "2024-01-15T12:00:00Z",
            Some("date") => "2024-01-15",
            Some("time") => "12:00:00Z",
            Some("duration") => "PT1H",
            Some("uuid") => "123e4567-e89b-42d3-a456-426614174000",
            Some("email" | "idn-email") => "user@example.com",
            Some("uri" | "url" | "iri" | "uri-reference") => "https://example.com/",
            Some("hostname" | "idn-hostname") => "example.com",
            Some("ipv4") => "192.0.2.1",
            Some("ipv6") => "2001:db8::1",
            Some("byte") => "cGxpbXNvbGw=",
            _ => "text",
        };
        let length = |name| schema.member(name).and_then(number_of).map(|n| n.max(0.0) as usize);
        let least = length("minLength").unwrap_or(0).min(LONGEST);
        let most = length("maxLength").unwrap_or(LONGEST);
        if !self.document.may_make(least) {
            self.spent = true;
            return Literal::Text(String::new());
        }
        let padded = text.chars().chain(std::iter::repeat('x'));
        Literal::Text(padded.take(text.len().max(least).min(most)).collect())
    }

    fn integer(&mut self, schema: &Literal) -> i64 {
        let number = self.number(schema, 1.0);
        let above = bounds(schema).0.is_some_and(|least| number.floor() < least);
        (if above { number.ceil() } else { number.floor() }) as i64
    }

    fn number(&mut self, schema: &Literal, otherwise: f64) -> f64 {
        self.made_up = true;
        let (least, most) = bounds(schema);
        let value = least.map_or(otherwise, |least| otherwise.max(least));
        let value = most.map_or(value, |most| value.min(most));
        match schema.member("multipleOf").and_then(number_of) {
            Some(step) if step > 0.0 => {
                let up = (value / step).ceil() * step;
                if most.is_some_and(|most| up > most) { (value / step).floor() * step } else { up }
            }
            _ => value,
        }
    }
}

/// The least and the greatest value that a number may have. A bound that does not belong to it is moved by one, or
/// by half of what is between the bounds.
fn bounds(schema: &Literal) -> (Option<f64>, Option<f64>) {
    let number = |name: &str| schema.member(name).and_then(number_of);
    // OpenAPI 3.1 writes the bound itself there, 3.0 that it does not belong.
    let bound = |name: &str, exclusive: &str| match schema.member(exclusive) {
        Some(Literal::Bool(true)) => (number(name), true),
        _ => number(exclusive).map_or((number(name), false), |bound| (Some(bound), true)),
    };
    let (least, above) = bound("minimum", "exclusiveMinimum");
    let (most, below) = bound("maximum", "exclusiveMaximum");
    let half = least.zip(most).map_or(1.0, |(least, most)| ((most - least) / 2.0).clamp(0.0, 1.0));
    let moved = |is_exclusive: bool| if is_exclusive { half } else { 0.0 };
    (least.map(|least| least + moved(above)), most.map(|most| most - moved(below)))
}

/// The schema's type; of several (3.1) the first that is not null, and by its members where it has
/// none.
fn kind(schema: &Literal) -> &str {
    match schema.member("type") {
        Some(Literal::Text(kind)) => kind,
        Some(Literal::List(kinds)) => {
            let mut texts = kinds.iter().filter_map(|kind| match kind {
                Literal::Text(kind) if kind != "null" => Some(kind.as_str()),
                _ => None,
            });
            texts.next().unwrap_or("null")
        }
        _ if schema.member("properties").is_some() => "object",
        _ if schema.member("items").is_some() => "array",
        _ if schema.member("additionalProperties").is_some() => "object",
        _ => "string",
    }
}

fn required(schema: &Literal, name: &str) -> bool {
    match schema.member("required") {
        Some(Literal::List(names)) => names.iter().any(|other| other.plain() == name),
        _ => false,
    }
}

fn number_of(literal: &Literal) -> Option<f64> {
    match literal {
        Literal::Int(number) => Some(*number as f64),
        Literal::Float(number) => Some(*number),
        _ => None,
    }
}

/// Two values in one: members of both where both are objects, else the later one.
fn merged(earlier: Option<Literal>, later: Option<Literal>) -> Option<Literal> {
    match (earlier, later) {
        (Some(Literal::Object(mut members)), Some(Literal::Object(more))) => {
            for (name, value) in more {
                match members.iter_mut().find(|(other, _)| *other == name) {
                    Some((_, old)) => *old = value,
                    None => members.push((name, value)),
                }
            }
            Some(Literal::Object(members))
        }
        (earlier, None) => earlier,
        (_, later) => later,
    }
}

/// A number without a fraction as a whole one: both are written alike.
pub(super) fn whole(value: Literal) -> Literal {
    match value {
        Literal::Float(float) if float.fract() == 0.0 && float.abs() < 9e15 => {
            Literal::Int(float as i64)
        }
        other => other,
    }
}

/// Parts of a value, counted up to `most`.
fn nodes(value: &Literal, most: usize) -> usize {
    let mut count = 1;
    let mut add = |value: &Literal| {
        if count < most {
            count += nodes(value, most - count);
        }
    };
    match value {
        Literal::List(items) => items.iter().for_each(&mut add),
        Literal::Object(members) => members.iter().for_each(|(_, value)| add(value)),
        _ => {}
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(root: &str) -> (String, Vec<String>) {
        let root: Literal = serde_json::from_str(root).unwrap();
        let document = Document::new(&root);
        let made = sample(&document, root.member("schema").unwrap());
        (made.value.to_string(), made.lost)
    }

    #[test]
    fn schemas_make_values() {
        for (schema, value) in [
            (r#"{"type":"integer","minimum":5}"#, "5"),
            (r#"{"type":"integer","exclusiveMinimum":5}"#, "6"),
            (r#"{"type":"integer","maximum":-3}"#, "-3"),
            (r#"{"type":"integer","minimum":0,"maximum":1,"exclusiveMaximum":true}"#, "0"),
            (r#"{"type":"integer","exclusiveMinimum":0,"exclusiveMaximum":3}"#, "1"),
            (r#"{"type":"integer","minimum":1.2}"#, "2"),
            (r#"{"type":"integer","maximum":7,"minimum":2,"multipleOf":5}"#, "5"),
            (r#"{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1}"#, "0.5"),
            (r#"{"type":"number"}"#, "1.5"),
            (r#"{"type":["null","boolean"]}"#, "true"),
            (r#"{"type":"string","format":"date"}"#, "\"2024-01-15\""),
            (r#"{"type":"string","minLength":6}"#, "\"textxx\""),
            (r#"{"type":"string","maxLength":2}"#, "\"te\""),
            (r#"{"type":"string","default":"d","enum":["e"]}"#, "\"d\""),
            (r#"{"enum":["e","f"]}"#, "\"e\""),
            (r#"{"examples":[7,8]}"#, "7"),
            (r#"{"type":"array","items":{"const":3},"minItems":2}"#, "[3,3]"),
            (r#"{"properties":{"b":{"type":"integer"},"a":{"readOnly":true}}}"#, r#"{"b":1}"#),
            (
                r#"{"allOf":[{"properties":{"a":{"const":1}}},{"properties":{"b":{"const":2}}}],
                    "properties":{"c":{"const":3}}}"#,
                r#"{"a":1,"b":2,"c":3}"#,
            ),
            (r#"{"oneOf":[{"const":"x"},{"const":"y"}]}"#, "\"x\""),
            ("true", "\"text\""),
        ] {
            assert_eq!(made(&format!("{{\"schema\":{schema}}}")).0, value, "{schema}");
        }
    }

    #[test]
    fn circles_end() {
        let (value, lost) = made(
            r##"{"schema":{"$ref":"#/node"},"node":{"type":"object","required":["next"],
            "properties":{"v":{"type":"integer"},"next":{"$ref":"#/node"},
            "all":{"type":"array","items":{"$ref":"#/node"}}}}}"##,
        );
        assert_eq!(value, r#"{"v":1,"all":[]}"#);
        assert_eq!(lost, ["the required member `next`"]);
    }

    #[test]
    fn schemas_that_fan_out_end() {
        let mut root = String::from(r##"{"schema":{"$ref":"#/s0"}"##);
        for at in 0..60 {
            let next = format!(r##"{{"$ref":"#/s{}"}}"##, at + 1);
            root += &format!(r#","s{at}":{{"properties":{{"a":{next},"b":{next},"c":{next}}}}}"#);
        }
        root += r#","s60":{"type":"integer"}}"#;
        let (value, lost) = made(&root);
        assert!(value.len() < 100_000 && !lost.is_empty(), "{} {lost:?}", value.len());
    }
}
