//! URL, header fields, body and credentials of one request.

use model::workload::{Body, Fields, Literal, Part};
use serde_json::Value;

use super::super::assembly::Assembly;
use super::super::body::{JSON, put_text};
use super::super::draft::{Draft, encode_path, encode_value, put_basic};
use super::super::json::structure;
use super::super::note::Kind;
use super::super::template::{literal, map_text};
use super::variables::{Variables, text_of};
use model::quote::quote;
use model::secret::mask_text;

/// Sets server, path and query.
///
/// # Errors
/// In words, when the URL is invalid.
pub(super) fn put_url(
    url: &Value,
    variables: &mut Variables,
    draft: &mut Draft,
    assembly: &mut Assembly,
) -> Result<(), String> {
    let raw = url.as_str().or(url["raw"].as_str()).map_or_else(|| joined(url), str::to_owned);
    let raw = raw.trim();
    if raw.is_empty() {
        return Err("the request has no URL".to_owned());
    }
    let before_query = raw.split('?').next().unwrap_or_default();
    let listed = url["query"].is_array();
    let whole = if listed { before_query } else { raw };
    let (server, path) = cut(whole, variables);
    if server.contains("{{") {
        // A variable of Postman's environment: only --target can say what it is.
        let server = quote(&mask_text(&server));
        let what = format!("the server {server} is the workload's target");
        draft.note(Kind::Assumed, what);
    } else {
        draft.put_url(&literal(&server))?;
    }
    let base = draft.path.trim_end_matches('/').to_owned();
    let path = path_variables(&path, &url["variable"]);
    let path = encode_path(&variables.template(&path, assembly));
    let path =
        if path.is_empty() || path.starts_with(['/', '?']) { path } else { format!("/{path}") };
    draft.path = format!("{base}{path}");
    if !draft.path.starts_with('/') {
        draft.path.insert(0, '/');
    }
    if listed {
        put_query(&url["query"], variables, draft, assembly);
    }
    Ok(())
}

/// Adds listed parameters, which are escaped as far as they would not be taken for what they are: what is escaped
/// already is sent so, and a name without a value alone.
fn put_query(list: &Value, variables: &mut Variables, draft: &mut Draft, assembly: &mut Assembly) {
    let is_plain = |part: &Value| part.as_str().is_some_and(|text| !text.contains(['%', '+']));
    let sent = |pair: &&Value| pair["disabled"].as_bool() != Some(true);
    let mut all = list.as_array().into_iter().flatten().filter(sent);
    let fields = pairs(list, "the query parameter", variables, draft, assembly);
    if all.clone().all(|pair| is_plain(&pair["key"]) && is_plain(&pair["value"])) {
        draft.query = fields;
        return;
    }
    let escaped = |text: &str, marks: &str| {
        let escape = |text: &str| {
            let text = encode_path(&literal(text));
            Some(marks.chars().fold(text, |text, c| text.replace(c, &encode_value(&c.to_string()))))
        };
        map_text(text, escape).unwrap_or_default()
    };
    for (name, value) in fields.iter() {
        let is_alone = all.next().is_some_and(|pair| pair["value"].is_null());
        draft.path.push(if draft.path.contains('?') { '&' } else { '?' });
        draft.path += &escaped(name, "#&=");
        if !is_alone {
            draft.path += &format!("={}", escaped(value, "#&"));
        }
    }
}

/// Cuts a URL behind its server, whose variables are filled in.
fn cut(raw: &str, variables: &Variables) -> (String, String) {
    let start = raw.find("://").map_or(0, |at| at + 3);
    let mut inside = false;
    let mut end = raw.len();
    for (at, c) in raw.char_indices().skip_while(|(at, _)| *at < start) {
        match c {
            '{' => inside = true,
            '}' => inside = false,
            '/' | '?' if !inside => {
                end = at;
                break;
            }
            _ => {}
        }
    }
    (variables.filled(&raw[..end]), raw[end..].to_owned())
}

/// A URL that is only there in parts.
fn joined(url: &Value) -> String {
    let list = |name: &str, between: &str| match &url[name] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(between)
        }
        _ => String::new(),
    };
    let host = list("host", ".");
    if host.is_empty() {
        return String::new();
    }
    let scheme = url["protocol"].as_str().map_or(String::new(), |scheme| format!("{scheme}://"));
    let port = url["port"].as_str().map_or(String::new(), |port| format!(":{port}"));
    format!("{scheme}{host}{port}/{}", list("path", "/"))
}

/// Segments `:name` of the path with their values; what comes behind it stays as it is.
fn path_variables(path: &str, list: &Value) -> String {
    let value = |name: &str| {
        let variables = list.as_array()?;
        let found = variables.iter().find(|variable| variable["key"].as_str() == Some(name))?;
        found["value"].as_str().map(str::to_owned)
    };
    let segment = |segment: &str| match segment.strip_prefix(':').filter(|name| !name.is_empty()) {
        Some(name) => {
            let given = value(name).filter(|value| !value.is_empty());
            given.unwrap_or_else(|| format!("{{{{{name}}}}}"))
        }
        None => segment.to_owned(),
    };
    let (path, behind) = path.split_at(path.find(['?', '#']).unwrap_or(path.len()));
    path.split('/').map(segment).collect::<Vec<_>>().join("/") + behind
}

/// Enabled pairs of a list; a disabled one becomes a note.
fn pairs(
    list: &Value,
    of: &str,
    variables: &mut Variables,
    draft: &mut Draft,
    assembly: &mut Assembly,
) -> Fields {
    let mut fields = Fields::default();
    for pair in list.as_array().into_iter().flatten() {
        let name = text_of(&pair["key"]);
        if pair["disabled"].as_bool() == Some(true) {
            draft.note(Kind::NotCarriedOver, format!("{of} {}: it is disabled", quote(&name)));
            continue;
        }
        let value = variables.template(&text_of(&pair["value"]), assembly);
        fields.push(variables.name(&name, assembly), value);
    }
    fields
}

/// Sets header fields, of a list or of lines.
pub(super) fn put_headers(
    headers: &Value,
    variables: &mut Variables,
    draft: &mut Draft,
    assembly: &mut Assembly,
) {
    let fields = match headers {
        Value::String(lines) => {
            let split = lines.lines().filter_map(|line| line.split_once(':'));
            split
                .map(|(name, value)| {
                    (variables.name(name, assembly), variables.template(value, assembly))
                })
                .collect()
        }
        list => pairs(list, "the header field", variables, draft, assembly),
    };
    fields.iter().for_each(|(name, value)| draft.put_header(name, value));
}

/// Sets the body.
pub(super) fn put_body(
    body: &Value,
    variables: &mut Variables,
    draft: &mut Draft,
    assembly: &mut Assembly,
) {
    if body["disabled"].as_bool() == Some(true) {
        return draft.note(Kind::NotCarriedOver, "the body: it is disabled");
    }
    match body["mode"].as_str() {
        Some("raw") => {
            let text = body["raw"].as_str().unwrap_or_default();
            if !text.is_empty() {
                let language = body["options"]["raw"]["language"].as_str().unwrap_or("text");
                put_media_type(draft, language);
                put_text(draft, &variables.template(text, assembly));
            }
        }
        Some("urlencoded") => {
            let fields = pairs(&body["urlencoded"], "the field", variables, draft, assembly);
            draft.body = (!fields.is_empty()).then_some(Body::Form(fields));
        }
        Some("formdata") => put_parts(&body["formdata"], variables, draft, assembly),
        Some("graphql") => put_graphql(&body["graphql"], variables, draft, assembly),
        Some("file") => match body["file"]["src"].as_str() {
            Some(name) => put_file(draft, name),
            None => draft.note(Kind::NotCarriedOver, "the body: a file without a name"),
        },
        Some(other) => {
            draft.note(Kind::NotCarriedOver, format!("the body of mode {}", quote(other)))
        }
        None => {}
    }
}

fn put_media_type(draft: &mut Draft, language: &str) {
    let media = match language {
        "json" => JSON,
        "xml" => "application/xml",
        "html" => "text/html",
        "javascript" => "application/javascript",
        _ => "text/plain",
    };
    if draft.header("content-type").is_none() {
        draft.put_header("Content-Type", media);
    }
}

fn put_file(draft: &mut Draft, name: &str) {
    if !draft.may_read("the body", name) {
        return;
    }
    let what = format!("the body is the file {}; put it where the workload is", quote(name));
    draft.note(Kind::Assumed, what);
    draft.body = Some(Body::File(literal(name)));
}

fn put_parts(list: &Value, variables: &mut Variables, draft: &mut Draft, assembly: &mut Assembly) {
    let mut parts = Vec::new();
    for part in list.as_array().into_iter().flatten() {
        let name = text_of(&part["key"]);
        if part["disabled"].as_bool() == Some(true) {
            draft.note(Kind::NotCarriedOver, format!("the part {}: it is disabled", quote(&name)));
            continue;
        }
        let named = Part {
            name: variables.name(&name, assembly),
            content_type: part["contentType"].as_str().map(literal),
            ..Part::default()
        };
        if part["type"].as_str() == Some("file") {
            let files: Vec<&str> = match &part["src"] {
                Value::String(file) => vec![file],
                Value::Array(files) => files.iter().filter_map(Value::as_str).collect(),
                _ => Vec::new(),
            };
            if files.is_empty() {
                let what = format!("the part {}: a file without a name", quote(&name));
                draft.note(Kind::NotCarriedOver, what);
            }
            let of = format!("the part {}", quote(&name));
            let files = files.into_iter().filter(|file| draft.may_read(&of, file));
            parts.extend(files.map(|file| Part { file: Some(literal(file)), ..named.clone() }));
        } else {
            let text = variables.template(&text_of(&part["value"]), assembly);
            parts.push(Part { text: Some(text), ..named });
        }
    }
    draft.remove_header("content-type");
    draft.body = (!parts.is_empty()).then_some(Body::Multipart(parts));
}

fn put_graphql(
    graphql: &Value,
    variables: &mut Variables,
    draft: &mut Draft,
    assembly: &mut Assembly,
) {
    let query = variables.template(graphql["query"].as_str().unwrap_or_default(), assembly);
    let mut members = vec![("query".to_owned(), Literal::Text(query))];
    if let Some(operation) = graphql["operationName"].as_str().filter(|name| !name.is_empty()) {
        let operation = variables.template(operation, assembly);
        members.push(("operationName".to_owned(), Literal::Text(operation)));
    }
    // Most write them as text, some as what it says.
    let written = text_of(&graphql["variables"]);
    let written = variables.template(&written, assembly);
    draft.body = Some(Body::Json(match structure(&written) {
        _ if written.trim().is_empty() => Literal::Object(members),
        Some(literal) => {
            members.push(("variables".to_owned(), literal));
            Literal::Object(members)
        }
        // What a structure would not keep as it is stays text.
        None => {
            let before = Literal::Object(members).to_string();
            let before = before.trim_end_matches('}');
            Literal::Text(format!("{before},\"variables\":{written}}}"))
        }
    }));
}

/// Sets the credentials that hold for the request.
pub(super) fn put_auth(
    auth: &Value,
    variables: &mut Variables,
    draft: &mut Draft,
    assembly: &mut Assembly,
) {
    let kind = auth["type"].as_str().unwrap_or("noauth");
    let mut value = |name: &str| {
        let found = setting(&auth[kind], name).unwrap_or_default();
        variables.template(&found, assembly)
    };
    match kind {
        "noauth" => {}
        "bearer" => draft.set_header("Authorization", &format!("Bearer {}", value("token"))),
        "basic" => {
            let user = format!("{}:{}", value("username"), value("password"));
            put_basic(draft, &user);
        }
        "oauth2" if setting(&auth[kind], "accessToken").is_some() => {
            draft.set_header("Authorization", &format!("Bearer {}", value("accessToken")));
        }
        "apikey" => {
            let (name, key) = (value("key"), value("value"));
            if setting(&auth[kind], "in").as_deref() == Some("query") {
                let hidden = assembly.vault.hidden(&key, &name, "the API key");
                draft.query.push(name, hidden);
            } else {
                let hidden = assembly.vault.hidden(&key, &name, "the API key");
                draft.set_header(&name, &hidden);
            }
        }
        other => {
            let what = format!("the credentials of type {}", quote(other));
            draft.note(Kind::NotCarriedOver, what);
        }
    }
}

/// A setting of a list of pairs (2.1) or of an object (2.0).
fn setting(settings: &Value, name: &str) -> Option<String> {
    let value = match settings {
        Value::Array(list) => {
            &list.iter().find(|setting| setting["key"].as_str() == Some(name))?["value"]
        }
        object => object.get(name)?,
    };
    (!value.is_null()).then(|| text_of(value))
}
