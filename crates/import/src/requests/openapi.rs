//! OpenAPI 3.0 and 3.1 descriptions, in YAML or JSON: an endpoint for every operation, with the
//! description's examples as values and, where it has none, values made from its schemas.
//!
//! [`document`] follows references, [`sample`] makes values, [`operation`] makes a request; here
//! paths are walked and servers and security are read. The same description gives the same workload.

mod document;
mod operation;
mod sample;

use model::workload::Literal;

use super::assembly::Assembly;
use super::draft::{Draft, LONGEST_URL};
use super::note::Kind;
use super::template::literal;
use super::{BadFile, json, text};
use model::quote::quote;
use model::secret::mask_text;

use document::Document;

/// Members of a path that are operations (OpenAPI 3.1, Path Item Object).
const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// Reads every operation of a description.
pub(super) fn read(bytes: &[u8], assembly: &mut Assembly) -> Result<(), BadFile> {
    let root = json::parse_document(text(bytes)?)?;
    check_version(&root)?;
    let document = Document::new(&root);
    if let Some(title) = root.member("info").and_then(|info| info.member("title")) {
        assembly.name = Some(title.plain().chars().filter(|c| !c.is_control()).take(80).collect());
    }
    for (name, _) in members(root.member("webhooks")) {
        let what = "requests that the server makes to its clients";
        assembly.note(Kind::NotCarriedOver, format!("webhook {}", quote(name)), what);
    }
    for (path, item) in members(root.member("paths")) {
        if path.starts_with("x-") {
            continue;
        }
        let Some(item) = document.resolve(item) else {
            let what =
                format!("the reference {} is not found in this file", document.reference(item));
            assembly.note(Kind::NotCarriedOver, quote(path), what);
            continue;
        };
        for (method, of) in members(Some(item)) {
            if path.len() > LONGEST_URL {
                let what = format!("a path of {} bytes", path.len());
                assembly.note_once(Kind::NotCarriedOver, "", what);
            } else if METHODS.contains(&method.as_str()) && !assembly.is_full() {
                read_operation(&document, &Place { path, item, method, of }, assembly);
            }
        }
    }
    suggest_flows(&root, assembly);
    Ok(())
}

/// Parts of the path of what gives out tokens.
const LOGINS: [&str; 7] =
    ["login", "signin", "sign-in", "token", "session", "sessions", "authenticate"];

/// Says that what follows a login is not made to follow it: a description does not tell what comes after what.
fn suggest_flows(root: &Literal, assembly: &mut Assembly) {
    let paths = members(root.member("paths"));
    let is_login = |(path, item): &&(String, Literal)| {
        let mut parts = path.split('/').map(str::to_ascii_lowercase);
        item.member("post").is_some() && parts.any(|part| LOGINS.contains(&part.as_str()))
    };
    let Some((path, _)) = paths.iter().find(is_login).filter(|_| paths.len() > 1) else { return };
    let what = format!(
        "all operations are endpoints of equal share, drawn at random: for users who begin with POST {path}, put the \
         requests of a visit in order into `flows:`, and take the token by `extract:`"
    );
    assembly.note(Kind::Assumed, "", what);
}

/// An operation and where it stands.
struct Place<'a> {
    path: &'a str,
    item: &'a Literal,
    method: &'a str,
    of: &'a Literal,
}

fn check_version(root: &Literal) -> Result<(), BadFile> {
    let version = root.member("openapi").map(Literal::plain);
    match version.as_deref() {
        Some(version) if version.starts_with("3.") => Ok(()),
        Some(version) => {
            let what = format!("is OpenAPI {}; 3.0 and 3.1 are read", quote(version));
            Err(BadFile::whole(what))
        }
        None if root.member("swagger").is_some() => {
            Err(BadFile::whole("is Swagger 2, which is not read: convert it to OpenAPI 3 first"))
        }
        None => Err(BadFile::whole("is not an OpenAPI description: it has no member `openapi`")),
    }
}

fn read_operation(document: &Document, place: &Place, assembly: &mut Assembly) {
    let method = place.method.to_ascii_uppercase();
    let name: String = place.path.chars().take(200).collect();
    let mut draft = Draft::new(format!("{method} {name}"), &method);
    draft.name = Some(format!("{method} {name}"));
    let base = server(document, place, &mut draft);
    if let Some((origin, _)) = &base {
        draft.origin.clone_from(origin);
    }
    operation::read(document, place, &mut draft, assembly);
    operation::secure(document, place, &mut draft, assembly);
    let base = base.map_or(String::new(), |(_, path)| path);
    draft.path = format!("{base}{}", draft.path);
    assembly.add(draft);
}

/// Origin and path of the first server that holds for the operation.
fn server(document: &Document, place: &Place, draft: &mut Draft) -> Option<(String, String)> {
    let holders = [place.of, place.item, document.root];
    let servers = holders.iter().find_map(|holder| holder.member("servers"));
    let Some(Literal::List(servers)) = servers else { return None };
    let server = servers.first()?;
    if servers.len() > 1 && draft.method == "GET" {
        let servers = servers.len();
        draft.note(Kind::Assumed, format!("the first of {servers} servers is taken"));
    }
    let mut url = server.member("url")?.plain().into_owned();
    for (name, variable) in members(server.member("variables")) {
        let default = variable.member("default").map(Literal::plain).unwrap_or_default();
        url = url.replace(&format!("{{{name}}}"), &default);
        if url.len() > 4096 {
            draft.note(Kind::NotCarriedOver, "the server's URL: it is too long");
            return None;
        }
    }
    if !url.contains("://") {
        let path = url.trim_end_matches('/');
        let slash = if path.is_empty() || path.starts_with('/') { "" } else { "/" };
        return Some((
            String::new(),
            format!("{slash}{}", super::draft::encode_path(&literal(path))),
        ));
    }
    let mut probe = Draft::new("", "GET");
    match probe.put_url(&literal(&url)) {
        Ok(()) => {
            let path = probe.path.split('?').next().unwrap_or_default().trim_end_matches('/');
            Some((probe.origin, path.to_owned()))
        }
        Err(what) => {
            let url = quote(&mask_text(&url));
            draft.note(Kind::NotCarriedOver, format!("the server {url}: {what}"));
            None
        }
    }
}

fn members(object: Option<&Literal>) -> &[(String, Literal)] {
    match object {
        Some(Literal::Object(members)) => members,
        _ => &[],
    }
}
