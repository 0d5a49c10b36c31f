//! Postman collections, format 2.1 (2.0 reads alike): an endpoint for every request, named after its
//! folders.
//!
//! `{{name}}` becomes `${name}` where the collection defines it, and `${env.NAME}` where an
//! environment of Postman's would. [`variables`] holds them; scripts are never run; each becomes a note.

mod request;
mod variables;

use serde_json::Value;

use super::assembly::Assembly;
use super::draft::Draft;
use super::note::Kind;
use super::{BadFile, json, text};
use model::quote::plain;
use model::secret::mask_text;

use variables::Variables;

/// Folders inside one another at most.
const DEEPEST: usize = 30;

/// Reads every request of a collection.
pub(super) fn read(bytes: &[u8], assembly: &mut Assembly) -> Result<(), BadFile> {
    let root: Value = json::parse_tree(text(bytes)?)?;
    // Exports through Postman's API wrap the collection once more.
    let root = root.get("collection").unwrap_or(&root);
    check(root)?;
    let name = root["info"]["name"].as_str().map(|name| plain(name, 80));
    assembly.name = name.filter(|name| !name.is_empty());
    let mut variables = Variables::default();
    variables.define(&root["variable"], "the collection", assembly);
    note_scripts(root, "the collection", assembly);
    let folder = Folder { path: Vec::new(), auth: root.get("auth") };
    read_items(&root["item"], &folder, &mut variables, assembly);
    variables.write(assembly);
    Ok(())
}

/// A folder on the way to a request.
struct Folder<'a> {
    path: Vec<&'a str>,
    /// The credentials that hold inside it.
    auth: Option<&'a Value>,
}

fn check(root: &Value) -> Result<(), BadFile> {
    let schema = root["info"]["schema"].as_str().unwrap_or_default();
    if !root["item"].is_array() {
        return Err(BadFile::whole(
            "is not a Postman collection: it has no list `item`; export it as Collection v2.1",
        ));
    }
    if schema.contains("/v1") {
        return Err(BadFile::whole("is a collection of format 1: export it as Collection v2.1"));
    }
    Ok(())
}

fn read_items(items: &Value, folder: &Folder, variables: &mut Variables, assembly: &mut Assembly) {
    for item in items.as_array().into_iter().flatten() {
        let name = item["name"].as_str().unwrap_or_default();
        let mut path = folder.path.clone();
        path.push(name);
        let place = joined(&path);
        if item["disabled"].as_bool() == Some(true) {
            assembly.note(Kind::NotCarriedOver, place, "it is disabled");
            continue;
        }
        note_scripts(item, &place, assembly);
        let own = item.get("auth").or_else(|| item["request"].get("auth"));
        let auth = own.filter(|auth| !auth.is_null()).or(folder.auth);
        if item["item"].is_array() {
            if path.len() > DEEPEST {
                assembly.note(Kind::NotCarriedOver, place, "folders that deep");
                continue;
            }
            variables.define(&item["variable"], &place, assembly);
            read_items(&item["item"], &Folder { path, auth }, variables, assembly);
        } else if item.get("request").is_some_and(|request| !request.is_null()) {
            read_request(item, &place, auth, variables, assembly);
        } else {
            assembly.note(Kind::NotCarriedOver, place, "neither a folder nor a request");
        }
    }
}

/// Names of folders and what is in them, those that are empty left out. Postman calls a request that nobody named as its
/// URL, with the credentials in it.
fn joined(path: &[&str]) -> String {
    const LOOKED_AT: usize = 400;
    let names = path.iter().filter(|name| !name.trim().is_empty());
    let shown = |name: &&str| {
        let begin: String = name.chars().take(LOOKED_AT).collect();
        plain(&mask_text(&begin), 60)
    };
    names.map(shown).collect::<Vec<_>>().join(" / ")
}

fn read_request(
    item: &Value,
    place: &str,
    auth: Option<&Value>,
    variables: &mut Variables,
    assembly: &mut Assembly,
) {
    let request = &item["request"];
    let method = request["method"].as_str().unwrap_or("GET").to_ascii_uppercase();
    let mut draft = Draft::new(place, &method);
    let url = if request.is_string() { request } else { &request["url"] };
    if let Err(what) = request::put_url(url, variables, &mut draft, assembly) {
        return assembly.note(Kind::NotCarriedOver, place, what);
    }
    draft.name = match item["name"].as_str().is_some_and(|name| !name.trim().is_empty()) {
        true => Some(place.to_owned()),
        false if place.is_empty() => None,
        false => Some(format!("{place} / {}", mask_text(&draft.title()))),
    };
    request::put_headers(&request["header"], variables, &mut draft, assembly);
    request::put_body(&request["body"], variables, &mut draft, assembly);
    if let Some(auth) = auth {
        request::put_auth(auth, variables, &mut draft, assembly);
    }
    for lost in ["proxy", "certificate"] {
        if request.get(lost).is_some_and(|value| !value.is_null()) {
            draft.note(Kind::NotCarriedOver, format!("its {lost}"));
        }
    }
    if let Some(behaviour) = item["protocolProfileBehavior"].as_object() {
        let names: Vec<&str> = behaviour.keys().map(String::as_str).collect();
        draft.note(Kind::NotCarriedOver, format!("protocolProfileBehavior: {}", names.join(", ")));
    }
    assembly.add(draft);
}

fn note_scripts(holder: &Value, place: &str, assembly: &mut Assembly) {
    for event in holder["event"].as_array().into_iter().flatten() {
        let when = match event["listen"].as_str() {
            Some("prerequest") => "the script before a request",
            Some("test") => "the script after a response",
            _ => "a script",
        };
        let code = &event["script"]["exec"];
        let lines = code.as_array().map(|lines| lines.iter().filter_map(Value::as_str).collect());
        let lines: Vec<&str> =
            lines.or_else(|| Some(code.as_str()?.lines().collect())).unwrap_or_default();
        let lines = lines.iter().filter(|line| !line.trim().is_empty()).count();
        if lines > 0 {
            let what = format!("{when}, {lines} lines: extract and check in the workload instead");
            assembly.note(Kind::NotCarriedOver, place, what);
        }
    }
}
