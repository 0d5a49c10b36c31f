//! One operation made a request: parameters, body, credentials.

use model::workload::{Body, Fields, Literal, Part, Pool};

use super::super::assembly::Assembly;
use super::super::body::{FORM, JSON, essence, put_text};
use super::super::draft::{Draft, encode_path};
use super::super::note::Kind;
use super::super::template::{hole, identifier, literal, push};
use super::document::Document;
use super::sample::{Sample, example, sample, whole};
use super::{Place, members};
use model::quote::quote;

/// Pools of one name looked through for one of the same value.
const LIKENESSES: usize = 100;
/// Security schemes of one request at most.
const MOST_SCHEMES: usize = 20;

/// Reads an operation's path, parameters and body into the draft.
pub(super) fn read(document: &Document, place: &Place, draft: &mut Draft, assembly: &mut Assembly) {
    if place.of.member("deprecated") == Some(&Literal::Bool(true)) {
        draft.note(Kind::Assumed, "the operation is deprecated");
    }
    for (name, _) in members(place.of.member("callbacks")) {
        let what = format!("the callback {}: a request that the server makes", quote(name));
        draft.note(Kind::NotCarriedOver, what);
    }
    let parameters = parameters(document, place, draft);
    draft.path = path(document, place.path, &parameters, draft, assembly);
    let mut optional = Vec::new();
    for parameter in &parameters {
        if !put_parameter(document, parameter, draft) {
            optional.push(text_of(parameter, "name"));
        }
    }
    if !optional.is_empty() {
        let what = format!("optional parameters without an example: {}", optional.join(", "));
        draft.note(Kind::NotCarriedOver, what);
    }
    if let Some(body) = place.of.member("requestBody") {
        put_body(document, body, draft);
    }
}

/// The operation's parameters and those of its path that it does not replace.
fn parameters<'a>(
    document: &Document<'a>,
    place: &Place<'a>,
    draft: &mut Draft,
) -> Vec<&'a Literal> {
    let mut all: Vec<&Literal> = Vec::new();
    for holder in [place.of, place.item] {
        let Some(Literal::List(own)) = holder.member("parameters") else { continue };
        for parameter in own.iter().take(500) {
            let Some(parameter) = document.resolve(parameter) else {
                let what = format!("the parameter {}", document.reference(parameter));
                draft.note(Kind::NotCarriedOver, what);
                continue;
            };
            let key = |parameter: &Literal| (text_of(parameter, "in"), text_of(parameter, "name"));
            if !all.iter().any(|other| key(other) == key(parameter)) {
                all.push(parameter);
            }
        }
    }
    all
}

fn text_of(object: &Literal, name: &str) -> String {
    object.member(name).map(|value| value.plain().into_owned()).unwrap_or_default()
}

/// The path with each `{name}` drawn from a pool of its example values, for whoever runs it to
/// fill up.
fn path(
    document: &Document,
    template: &str,
    parameters: &[&Literal],
    draft: &mut Draft,
    assembly: &mut Assembly,
) -> String {
    let mut path = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else { break };
        path += &encode_path(&literal(before));
        let of = |p: &&&Literal| text_of(p, "in") == "path" && text_of(p, "name") == name;
        let parameter = parameters.iter().find(of);
        if let Some((least, most)) = parameter.and_then(|parameter| range(document, parameter)) {
            let what =
                format!("{{{name}}} is drawn from {least} to {most}, the bounds of its schema");
            draft.note(Kind::Assumed, what);
            push(&mut path, &hole(&format!("int({least}, {most})")));
            rest = after;
            continue;
        }
        let value = match parameter {
            Some(parameter) => value(document, parameter, draft),
            None => {
                draft.note(Kind::Assumed, format!("{{{name}}} is not described; it is set to 1"));
                Literal::Int(1)
            }
        };
        push(&mut path, &hole(&pool(name, value, assembly)));
        rest = after;
    }
    let path = path + &encode_path(&literal(rest));
    if path.starts_with('/') { path } else { format!("/{path}") }
}

/// The range of a whole number without an example, where its schema bounds it on both sides.
fn range(document: &Document, parameter: &Literal) -> Option<(i64, i64)> {
    let schema = document.resolve(parameter.member("schema")?)?;
    let says = |name: &str| schema.member(name).is_some();
    let is_given =
        ["example", "examples", "const", "default", "enum", "multipleOf"].into_iter().any(says);
    if text_of(schema, "type") != "integer" || is_given || example(document, parameter).is_some() {
        return None;
    }
    let whole_number = |name: &str| match schema.member(name) {
        Some(Literal::Int(number)) => Some(*number),
        _ => None,
    };
    let is_set = |name: &str| schema.member(name) == Some(&Literal::Bool(true));
    // OpenAPI 3.1 writes the number itself there, 3.0 that the bound does not belong to it.
    let above = whole_number("exclusiveMinimum").map(|bound| bound.saturating_add(1));
    let below = whole_number("exclusiveMaximum").map(|bound| bound.saturating_sub(1));
    let least = above.or_else(|| {
        Some(whole_number("minimum")?.saturating_add(i64::from(is_set("exclusiveMinimum"))))
    })?;
    let most = below.or_else(|| {
        Some(whole_number("maximum")?.saturating_sub(i64::from(is_set("exclusiveMaximum"))))
    })?;
    (least < most).then_some((least, most))
}

/// The pool of this value: parameters of one name and value share it.
fn pool(name: &str, value: Literal, assembly: &mut Assembly) -> String {
    let value = match value {
        Literal::List(items) => Literal::Text(joined(&items)),
        Literal::Object(_) | Literal::Null => Literal::Text(value.to_string()),
        simple => whole(simple),
    };
    let values = Some(vec![value]);
    let base = identifier(name);
    let first = (1..LIKENESSES).map(|number| match number {
        1 => base.clone(),
        number => format!("{base}_{number}"),
    });
    let is_same =
        |name: &String| assembly.pools.get(name).is_some_and(|pool| pool.values == values);
    if let Some(name) = first.take_while(|name| assembly.pools.contains_key(name)).find(is_same) {
        return name;
    }
    let pools = &assembly.pools;
    let name = assembly.pool_names.free(&base, |name| pools.contains_key(name));
    assembly.pools.insert(name.clone(), Pool { values, ..Pool::default() });
    name
}

/// A parameter's value, in the media type that it may have instead of a style.
fn value(document: &Document, parameter: &Literal, draft: &mut Draft) -> Literal {
    let value = plain_value(document, parameter, draft);
    match content(parameter) {
        Some((media_type, _)) if is_json(media_type) => Literal::Text(json_text(value)),
        _ => value,
    }
}

/// The media type of a parameter that has one.
fn content(parameter: &Literal) -> Option<(&str, &Literal)> {
    members(parameter.member("content")).first().map(|(name, media)| (name.as_str(), media))
}

fn is_json(media_type: &str) -> bool {
    let essence = essence(media_type);
    essence == JSON || essence.ends_with("+json")
}

/// A value as JSON; an example may be written as the text that is sent.
fn json_text(value: Literal) -> String {
    match value {
        Literal::Text(text) if text.trim_start().starts_with(['{', '[']) => text,
        value => value.to_string(),
    }
}

/// A parameter's example, or a value made of its schema.
fn plain_value(document: &Document, parameter: &Literal, draft: &mut Draft) -> Literal {
    let content = content(parameter).map(|(_, media)| media);
    let given = example(document, parameter).or_else(|| example(document, content?));
    if let Some(value) = given.and_then(|value| document.copy(value)) {
        return value;
    }
    let schema = parameter.member("schema").or_else(|| content?.member("schema"));
    let name = text_of(parameter, "name");
    let made = schema.map(|schema| sample(document, schema));
    let Some(made) = made else {
        draft.note(Kind::Assumed, format!("{} has no schema; it is set to 1", quote(&name)));
        return Literal::Int(1);
    };
    add_notes(&made, &format!("the parameter {}", quote(&name)), draft);
    made.value
}

fn add_notes(made: &Sample, of: &str, draft: &mut Draft) {
    if made.made_up {
        draft
            .note(Kind::Assumed, format!("{of} has no example; its value is made from the schema"));
    }
    for lost in &made.lost {
        draft.note(Kind::NotCarriedOver, format!("{of}: {lost}"));
    }
}

/// Puts a query, header or cookie parameter into the draft; whether it is there.
fn put_parameter(document: &Document, parameter: &Literal, draft: &mut Draft) -> bool {
    let place = text_of(parameter, "in");
    if place == "path" {
        return true;
    }
    let required = parameter.member("required") == Some(&Literal::Bool(true));
    let media = content(parameter).map(|(_, media)| media);
    let holders = [Some(parameter), media].into_iter().flatten();
    let exampled = holders.into_iter().any(|holder| {
        let schema = holder.member("schema").and_then(|schema| document.resolve(schema));
        example(document, holder).is_some()
            || schema.is_some_and(|schema| {
                example(document, schema).is_some() || schema.member("default").is_some()
            })
    });
    if !required && !exampled {
        return false;
    }
    let name = text_of(parameter, "name");
    let value = value(document, parameter, draft);
    match place.as_str() {
        "query" => put_query(parameter, &name, &value, draft),
        // OpenAPI has other members for these three.
        "header"
            if !matches!(
                name.to_ascii_lowercase().as_str(),
                "accept" | "content-type" | "authorization"
            ) =>
        {
            draft.put_header(&name, &literal(&flat(&value)));
        }
        "header" => {}
        "cookie" => put_cookie(draft, &name, &literal(&flat(&value))),
        other => {
            let what = format!("the parameter {} in {}", quote(&name), quote(other));
            draft.note(Kind::NotCarriedOver, what);
        }
    }
    true
}

/// The styles of query parameters (OpenAPI 3.1, Style Values).
fn put_query(parameter: &Literal, name: &str, value: &Literal, draft: &mut Draft) {
    let style = text_of(parameter, "style");
    // Unless it is said, only the style `form` sends each value by itself.
    let explode = match parameter.member("explode") {
        Some(Literal::Bool(explode)) => *explode,
        _ => matches!(style.as_str(), "" | "form"),
    };
    let name = literal(name);
    match value {
        Literal::List(items) if explode => {
            items.iter().for_each(|item| draft.query.push(name.clone(), literal(&flat(item))));
        }
        Literal::List(items) => {
            let between = match style.as_str() {
                "spaceDelimited" => " ",
                "pipeDelimited" => "|",
                _ => ",",
            };
            let each: Vec<String> = items.iter().map(flat).collect();
            draft.query.push(name, literal(&each.join(between)));
        }
        Literal::Object(members) if style == "deepObject" => {
            for (member, value) in members {
                draft.query.push(format!("{name}[{}]", literal(member)), literal(&flat(value)));
            }
        }
        Literal::Object(members) if explode => {
            for (member, value) in members {
                draft.query.push(literal(member), literal(&flat(value)));
            }
        }
        other => draft.query.push(name, literal(&flat(other))),
    }
}

/// A value on one line: text and numbers as they are, members and items between commas.
fn flat(value: &Literal) -> String {
    match value {
        Literal::List(items) => joined(items),
        Literal::Object(members) => {
            let each = members.iter().map(|(name, value)| format!("{name},{}", value.plain()));
            each.collect::<Vec<_>>().join(",")
        }
        other => other.plain().into_owned(),
    }
}

fn joined(items: &[Literal]) -> String {
    items.iter().map(|item| item.plain().into_owned()).collect::<Vec<_>>().join(",")
}

fn put_cookie(draft: &mut Draft, name: &str, value: &str) {
    let pair = format!("{}={value}", literal(name));
    let earlier = draft.header("cookie").map(|earlier| format!("{earlier}; {pair}"));
    draft.remove_header("cookie");
    draft.put_header("Cookie", &earlier.unwrap_or(pair));
}

/// Puts the body of the first media type that one can be made for.
fn put_body(document: &Document, body: &Literal, draft: &mut Draft) {
    let Some(target) = document.resolve(body) else {
        let what = format!("the body {}", document.reference(body));
        return draft.note(Kind::NotCarriedOver, what);
    };
    let media = members(target.member("content"));
    let rank = |name: &str| match essence(name).as_str() {
        JSON => 0,
        other if is_json(other) => 1,
        FORM => 2,
        "multipart/form-data" => 3,
        other if other.starts_with("text/") => 4,
        _ => 5,
    };
    let Some((name, of)) = media.iter().min_by_key(|(name, _)| rank(name)) else { return };
    let given = example(document, of);
    if rank(name) == 5 && given.is_none_or(|value| !matches!(value, Literal::Text(_))) {
        let what = format!("the body: none can be made from {}", quote(name));
        return draft.note(Kind::NotCarriedOver, what);
    }
    let copied = given.and_then(|value| document.copy(value));
    if given.is_some() && copied.is_none() {
        let what =
            "the body: its example is too large; put it into a file and name it with `file:`";
        return draft.note(Kind::NotCarriedOver, what);
    }
    let value = copied.unwrap_or_else(|| {
        let made = of.member("schema").map(|schema| sample(document, schema));
        made.map_or(Literal::Object(Vec::new()), |made| {
            add_notes(&made, "the body", draft);
            made.value
        })
    });
    match rank(name) {
        0 | 1 => {
            draft.put_header("Content-Type", &literal(&essence(name)));
            put_text(draft, &literal(&json_text(value)));
        }
        2 => draft.body = Some(Body::Form(form(&value))),
        3 => {
            draft.body = Some(Body::Multipart(parts(document, &value, of.member("schema"), draft)))
        }
        _ => {
            draft.put_header("Content-Type", &literal(name));
            put_text(draft, &literal(&value.plain()));
        }
    }
}

fn form(value: &Literal) -> Fields {
    let mut fields = Fields::default();
    for (name, value) in members(Some(value)) {
        match value {
            Literal::List(items) => {
                items.iter().for_each(|item| fields.push(literal(name), literal(&item.plain())));
            }
            other => fields.push(literal(name), literal(&other.plain())),
        }
    }
    fields
}

/// Parts of a form (OpenAPI 3.0, section Encoding Object): one for each item of a list, objects as JSON, and files.
fn parts(
    document: &Document,
    value: &Literal,
    schema: Option<&Literal>,
    draft: &mut Draft,
) -> Vec<Part> {
    let properties = schema.and_then(|schema| document.resolve(schema)?.member("properties"));
    let is_file = |schema: Option<&Literal>| {
        let schema = schema.and_then(|schema| document.resolve(schema));
        schema.is_some_and(|schema| {
            text_of(schema, "format") == "binary"
                || text_of(schema, "contentMediaType") == "application/octet-stream"
        })
    };
    let mut parts = Vec::new();
    for (name, value) in members(Some(value)) {
        let property = properties.and_then(|all| document.resolve(all.member(name)?));
        let (items, of_item) = match value {
            Literal::List(items) => (&items[..], property.and_then(|list| list.member("items"))),
            one => (std::slice::from_ref(one), property),
        };
        let is_file = is_file(of_item);
        if is_file {
            let what = format!("the part {}: a file with a made-up content", quote(name));
            draft.note(Kind::Assumed, what);
        }
        for item in items {
            let media_type = match item {
                _ if is_file => Some("application/octet-stream".to_owned()),
                Literal::Object(_) | Literal::List(_) => Some(JSON.to_owned()),
                _ => None,
            };
            parts.push(Part {
                name: literal(name),
                text: Some(literal(&item.plain())),
                filename: is_file.then(|| "file".to_owned()),
                content_type: media_type,
                ..Part::default()
            });
        }
    }
    parts
}

/// Puts the credentials of the first way to be let in; none where none is a way (OpenAPI 3.1, Security Requirement Object:
/// an empty requirement).
pub(super) fn secure(
    document: &Document,
    place: &Place,
    draft: &mut Draft,
    assembly: &mut Assembly,
) {
    let wanted = place.of.member("security").or_else(|| document.root.member("security"));
    let Some(Literal::List(ways)) = wanted else { return };
    let is_none = |way: &Literal| matches!(way, Literal::Object(schemes) if schemes.is_empty());
    if ways.iter().any(is_none) {
        let named: Vec<_> = ways.iter().flat_map(|way| members(Some(way))).collect();
        if !named.is_empty() {
            let schemes: Vec<String> =
                named.iter().take(MOST_SCHEMES).map(|(name, _)| quote(name)).collect();
            let what = format!("it needs no credentials, and has none: {}", schemes.join(", "));
            draft.note(Kind::Assumed, what);
        }
        return;
    }
    let schemes = document.root.member("components").and_then(|c| c.member("securitySchemes"));
    for (name, _) in members(ways.first()).iter().take(MOST_SCHEMES) {
        let scheme = schemes.and_then(|all| document.resolve(all.member(name)?));
        match scheme {
            Some(scheme) => put_credential(name, scheme, draft, assembly),
            None => {
                let what = format!("the security scheme {}: it is not described", quote(name));
                draft.note(Kind::NotCarriedOver, what);
            }
        }
    }
}

fn put_credential(name: &str, scheme: &Literal, draft: &mut Draft, assembly: &mut Assembly) {
    let kind = text_of(scheme, "type");
    let way = text_of(scheme, "scheme").to_ascii_lowercase();
    let purpose = format!("the security scheme {}", quote(name));
    match (kind.as_str(), way.as_str()) {
        ("http", "basic") => {
            let purpose = format!("base64 of user:password for {purpose}");
            let credential = assembly.vault.wanted(name, &purpose);
            draft.put_header("Authorization", &format!("Basic {credential}"));
        }
        ("http", "bearer") | ("oauth2" | "openIdConnect", _) => {
            if kind != "http" {
                let what = format!("{purpose}: no token is requested; set it in the environment");
                assembly.note_once(Kind::NotCarriedOver, "", what);
            }
            let token = assembly.vault.wanted(name, &format!("the token for {purpose}"));
            draft.put_header("Authorization", &format!("Bearer {token}"));
        }
        ("apiKey", _) => {
            let key = assembly.vault.wanted(name, &format!("the key for {purpose}"));
            let field = text_of(scheme, "name");
            match text_of(scheme, "in").as_str() {
                "query" => draft.query.push(literal(&field), key),
                "cookie" => put_cookie(draft, &field, &key),
                _ => draft.put_header(&field, &key),
            }
        }
        _ => {
            let what = format!("{purpose}: {} {}", quote(&kind), quote(&way));
            draft.note(Kind::NotCarriedOver, what);
        }
    }
}
