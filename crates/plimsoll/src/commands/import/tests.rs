//! Files of every format, with text in them that means something to some reader on the way: what is
//! carried over is accepted, and what is not is refused with a reason.

use import::requests::Format;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::*;

/// Pieces of text that one of the formats, YAML, templates or HTTP read as more than text.
const PIECES: [&str; 44] = [
    "",
    " ",
    "a",
    "b",
    "7",
    "env",
    "{{v}}",
    "{{e}}",
    "{{$guid}}",
    "{{",
    "}}",
    "${x}",
    "${",
    "$",
    "{",
    "}",
    "'",
    "\"",
    "\\",
    "#",
    "?",
    "&",
    "=",
    "/",
    ":id",
    ":",
    "%",
    "%zz",
    "+",
    "é",
    "\n",
    "\r",
    "\t",
    "\0",
    "- ",
    "|",
    "{p}",
    "true",
    "null",
    "Host",
    "Content-Length",
    "Content-Type",
    "application/json",
    "@f",
];

fn word() -> impl Strategy<Value = String> {
    prop::collection::vec(select(&PIECES[..]), 0..4).prop_map(|pieces| pieces.concat())
}

fn method() -> impl Strategy<Value = &'static str> {
    select(&["GET", "POST", "PUT", "get", "PURGE", "CONNECT", "A B", ""][..])
}

fn pairs() -> impl Strategy<Value = Vec<(String, String)>> {
    prop::collection::vec((word(), word()), 0..4)
}

fn members(pairs: &[(String, String)], name: &str) -> Vec<Value> {
    pairs.iter().map(|(key, value)| json!({name: key, "value": value})).collect()
}

/// A request's parts, of which each format makes what it can.
type Parts =
    (String, &'static str, String, Vec<(String, String)>, Vec<(String, String)>, u8, String);

fn parts() -> impl Strategy<Value = Parts> {
    (word(), method(), word(), pairs(), pairs(), 0..7_u8, word())
}

fn postman(requests: &[Parts]) -> String {
    let item = |(name, method, path, fields, more, kind, text): &Parts| {
        let server = ["http://h", "{{base}}", "{{e}}", "https://h:1/{{v}}"][usize::from(*kind) % 4];
        let raw = format!("{server}/{path}");
        let url = if kind % 2 == 0 {
            json!({"raw": raw, "query": members(fields, "key"), "variable": members(more, "key")})
        } else {
            json!(raw)
        };
        let body = match kind {
            0 => json!({"mode": "raw", "raw": text, "options": {"raw": {"language": "json"}}}),
            1 => json!({"mode": "raw", "raw": text}),
            2 => json!({"mode": "urlencoded", "urlencoded": members(more, "key")}),
            3 => json!({"mode": "formdata", "formdata": members(more, "key")}),
            4 => json!({"mode": "formdata", "formdata":
                [{"key": text, "type": "file", "src": path, "contentType": text}]}),
            5 => json!({"mode": "file", "file": {"src": text}}),
            _ => json!({"mode": "graphql", "graphql": {"query": text, "variables": text}}),
        };
        let auth = json!({"type": "apikey", "apikey": [{"key": "key", "value": text},
            {"key": "value", "value": path}, {"key": "in", "value": "query"}]});
        json!({"name": name, "item": [{"name": text, "request": {"method": method, "url": url,
            "header": members(fields, "key"), "body": body, "auth": auth}}]})
    };
    let variable = json!([{"key": "base", "value": "http://h/{{v}}"}, {"key": "v", "value": "$v #"},
        {"key": "env", "value": "{{v}}"}]);
    let items: Vec<Value> = requests.iter().map(item).collect();
    json!({"info": {"name": " ", "schema": "v2.1.0"}, "variable": variable, "item": items})
        .to_string()
}

fn har(requests: &[Parts]) -> String {
    let entry = |(name, method, path, fields, more, kind, text): &Parts| {
        let params: Vec<Value> = more
            .iter()
            .map(|(name, value)| match kind {
                0 => json!({"name": name, "fileName": value, "contentType": text}),
                _ => json!({"name": name, "value": value}),
            })
            .collect();
        let text = if kind % 2 == 0 { "" } else { text.as_str() };
        let media =
            ["multipart/form-data", "application/json", "text/plain"][usize::from(*kind) % 3];
        let learnt = json!({"env": path, "id": text, "token": name}).to_string();
        json!({"request": {"method": method, "url": format!("http://h/{path}"),
                "headers": members(fields, "name"),
                "postData": {"mimeType": media, "text": text, "params": params}},
            "response": {"status": 200, "headers": members(more, "name"),
                "content": {"mimeType": "application/json", "text": learnt}}})
    };
    json!({"log": {"entries": requests.iter().map(entry).collect::<Vec<_>>()}}).to_string()
}

fn openapi(requests: &[Parts]) -> String {
    let mut paths = serde_json::Map::new();
    for (name, _, path, fields, more, kind, text) in requests {
        let place = ["query", "path", "header", "cookie"][usize::from(*kind) % 4];
        let parameter = |(name, value): &(String, String)| json!({"name": name, "in": place, "required": true, "example": value});
        let parameters: Vec<Value> = fields.iter().map(parameter).collect();
        let example: serde_json::Map<String, Value> =
            more.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        let media = [
            "application/json",
            "application/x-www-form-urlencoded",
            "multipart/form-data",
            text.as_str(),
        ][usize::from(*kind) % 4];
        let of = json!({"parameters": parameters,
            "requestBody": {"content": {media: {"example": example}}},
            "security": [{"s": []}], "summary": name});
        paths.insert(format!("/{path}"), json!({"post": of, "get": {"parameters": parameters}}));
    }
    let scheme = json!({"type": "apiKey", "in": "query", "name": requests[0].0});
    json!({"openapi": "3.1.0", "info": {"title": ""}, "servers": [{"url": "http://h/v1"}],
        "components": {"securitySchemes": {"s": scheme}}, "paths": paths})
    .to_string()
}

fn curl(requests: &[Parts]) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    let mut text = String::new();
    for (name, method, path, fields, more, kind, body) in requests {
        // Without quotes shell variables and the shell's own signs come in.
        let url = format!("http://h/{path}");
        let url = if kind % 2 == 0 { quoted(&url) } else { url.replace(['\n', '\r', '\0'], "") };
        text += &format!("curl {url} -X {}", quoted(method));
        for (name, value) in fields {
            text += &format!(" -H {}", quoted(&format!("{name}: {value}")));
        }
        for (name, value) in more {
            let flag = ["-F", "-d", "--data-urlencode", "-G -d"][usize::from(*kind) % 4];
            text += &format!(" {flag} {}", quoted(&format!("{name}={value}")));
        }
        if *kind == 5 {
            text += &format!(" --json {} --cacert {}", quoted(body), quoted(name));
        }
        text += "\n";
    }
    text
}

fn vegeta(requests: &[Parts]) -> String {
    use base64::prelude::{BASE64_STANDARD, Engine as _};
    let mut text = String::new();
    for (_, method, path, fields, _, _, body) in requests {
        let header: serde_json::Map<String, Value> =
            fields.iter().map(|(name, value)| (name.clone(), json!([value]))).collect();
        let body = BASE64_STANDARD.encode(body);
        let url = format!("http://h/{path}");
        text += &json!({"method": method, "url": url, "header": header, "body": body}).to_string();
        text += "\n";
    }
    text
}

type Writer = fn(&[Parts]) -> String;

const WRITERS: [(Format, Writer); 5] = [
    (Format::Curl, curl),
    (Format::Vegeta, vegeta),
    (Format::Har, har),
    (Format::OpenApi, openapi),
    (Format::Postman, postman),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn what_is_imported_is_accepted(
        (format, write) in select(&WRITERS[..]),
        requests in prop::collection::vec(parts(), 1..4),
        keep_secrets in any::<bool>(),
        targeted in any::<bool>(),
    ) {
        let target = targeted.then(|| "http://127.0.0.1:8080/base".to_owned());
        let options = Options { target, keep_secrets };
        let text = write(&requests);
        let Ok(imported) = requests::import(format, text.as_bytes(), &options) else {
            return Ok(());
        };
        let before = imported.notes.len();
        let first = requests::yaml(&imported);
        // Left out by the compiler's word: only what no reader of a file can see, and what needs a value that one of
        // these would have given.
        let known = |why: &str| why.contains("is not JSON") || why.contains("is not defined");
        match accepted(imported) {
            Ok(Accepted { imported, .. }) => {
                for note in imported.notes.iter().skip(before) {
                    prop_assert!(known(&note.what), "{note}\n{first}");
                }
            }
            Err(why) => prop_assert!(known(&why), "{why}\n{first}"),
        }
    }
}

#[test]
fn requests_that_would_be_refused_are_left_out_and_named() {
    let text = "curl http://h/a --json '{\"a\": 1,}'\ncurl http://h/b --json '{}'\n";
    let imported = requests::import(Format::Curl, text.as_bytes(), &Options::default()).unwrap();
    let Accepted { imported, yaml, .. } = accepted(imported).unwrap();
    assert_eq!(imported.workload.endpoints.len(), 1);
    let note = "not converted: POST /a: its body: is not JSON: key must be a string";
    assert!(yaml.contains(note), "{yaml}");
    let text = "curl http://h/a --json '{\"a\": 1,}'\n";
    let imported = requests::import(Format::Curl, text.as_bytes(), &Options::default()).unwrap();
    let why = accepted(imported).unwrap_err();
    assert!(why.contains("no request") && why.contains("is not JSON"), "{why}");
}

#[test]
fn the_command_that_comes_next_can_be_typed() {
    let text = "curl http://h/a\n";
    let imported = requests::import(Format::Curl, text.as_bytes(), &Options::default()).unwrap();
    let made = accepted(imported).unwrap();
    let told = account(&made, Format::Curl, Some(Path::new("my files/a.yaml")));
    assert!(told.ends_with("plimsoll plan 'my files/a.yaml'\n"), "{told}");
}

#[test]
fn how_requests_become_a_session_is_reported_where_there_are_several() {
    let told = |format, text: &str| {
        let imported = requests::import(format, text.as_bytes(), &Options::default()).unwrap();
        account(&accepted(imported).unwrap(), format, None)
    };
    let items: Vec<String> = ["a", "b"]
        .map(|name| {
            format!(r#"{{"name":"{name}","request":{{"method":"GET","url":"http://h/{name}"}}}}"#)
        })
        .into();
    let schema = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";
    let collection = |items: &[String]| {
        format!(r#"{{"info":{{"name":"c","schema":"{schema}"}},"item":[{}]}}"#, items.join(","))
    };
    for (format, text, several) in [
        (Format::Curl, "curl http://h/a\ncurl http://h/b\n".to_owned(), true),
        (Format::Curl, "curl http://h/a\n".to_owned(), false),
        (Format::Postman, collection(&items), true),
        (Format::Postman, collection(&items[..1]), false),
    ] {
        let told = told(format, &text);
        assert_eq!(told.contains("make them steps of one of `flows`"), several, "{told}");
        assert!(!told.contains("not converted"), "nothing was lost: {told}");
    }
}

#[test]
fn parts_of_a_body_do_not_join_to_a_placeholder() {
    let text = "curl http://h/a --json '[\"$' --json '{{v}}\"]'\n";
    let imported = requests::import(Format::Curl, text.as_bytes(), &Options::default()).unwrap();
    let Accepted { yaml, .. } = accepted(imported).unwrap();
    assert!(yaml.contains("$${{v}}"), "{yaml}");
}

#[test]
fn targets_may_come_from_the_environment() {
    for url in ["$BASE/a", "http://$HOST/a", "https://$HOST:$PORT/a", "http://h:$PORT"] {
        let text = format!("curl {url}\n");
        let imported =
            requests::import(Format::Curl, text.as_bytes(), &Options::default()).unwrap();
        accepted(imported).unwrap_or_else(|why| panic!("{url}: {why}"));
    }
}
