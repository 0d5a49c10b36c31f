//! Credentials in requests: found by their name or their form, and replaced by `${env.NAME}`.
//!
//! What counts as one: `Authorization` and `Cookie` fields, fields, parameters and members whose name
//! says so, and what has the shape of one ([`model::secret`]) wherever it is a whole value.

use std::collections::{BTreeMap, HashMap};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use model::workload::{Body, Fields, Literal};

pub(super) use model::secret::is_secret_name;
use model::secret::is_secret_value;

use super::draft::{Draft, PLAIN_BASIC};
use super::json::string_length;
use super::template::{Numbered, Piece, env, environment_name, has_hole, pieces};

/// The environment variables that stand for credentials.
#[derive(Debug, Default)]
pub(super) struct Vault {
    /// By the value that they stand for.
    names: HashMap<String, String>,
    /// What each holds, by name.
    pub(super) purposes: BTreeMap<String, String>,
    numbered: Numbered,
    keep: bool,
}

impl Vault {
    /// With `keep`, credentials stay where they are.
    pub(super) fn new(keep: bool) -> Self {
        Self { keep, ..Self::default() }
    }

    /// The placeholder of an environment variable that the file asks for without telling its value.
    pub(super) fn wanted(&mut self, name: &str, purpose: &str) -> String {
        let name = environment_name(name);
        self.purposes.entry(name.clone()).or_insert_with(|| purpose.to_owned());
        env(&name)
    }

    /// A credential's place: its placeholder, or itself where credentials are kept or it is made of
    /// placeholders only.
    pub(super) fn hidden(&mut self, value: &str, name: &str, purpose: &str) -> String {
        if self.keep || value.is_empty() || only_holes(value) {
            return value.to_owned();
        }
        self.hide(value, name, purpose)
    }

    /// The placeholder for a credential: the same value, the same name.
    fn hide(&mut self, value: &str, name: &str, purpose: &str) -> String {
        if let Some(name) = self.names.get(value) {
            return env(name);
        }
        let base = environment_name(name);
        let purposes = &self.purposes;
        let name = self.numbered.free(&base, |name| purposes.contains_key(name));
        self.names.insert(value.to_owned(), name.clone());
        self.purposes.insert(name.clone(), purpose.to_owned());
        env(&name)
    }

    /// Replaces the credentials of a request.
    pub(super) fn mask(&mut self, draft: &mut Draft) {
        let place = draft.place.clone();
        let at = |what: &str| {
            if place.is_empty() { what.to_owned() } else { format!("{what}, {place}") }
        };
        for (name, value) in &mut draft.headers.0 {
            *value = self.header(name, value, &at(name));
        }
        if self.keep {
            return;
        }
        draft.path = self.path(&draft.path, &at("query"));
        self.fields(&mut draft.query, true, &at("query"));
        match &mut draft.body {
            Some(Body::Form(fields)) => self.fields(fields, false, &at("form")),
            Some(Body::Json(Literal::Text(text))) => *text = self.json_text(text, &at("body")),
            Some(Body::Json(literal)) => self.literal(literal, "", &at("body")),
            Some(Body::Multipart(parts)) => {
                for part in parts {
                    if let Some(text) = &mut part.text {
                        self.value(text, &part.name, false, &at("form"));
                    }
                }
            }
            // A form's text that is JSON nonetheless; other text has no names to go by.
            Some(Body::Text(text)) => *text = self.json_text(text, &at("body")),
            Some(Body::File(_)) | None => {}
        }
    }

    fn header(&mut self, name: &str, value: &str, purpose: &str) -> String {
        let lower = name.to_ascii_lowercase();
        if let Some(user) = value.strip_prefix(PLAIN_BASIC) {
            if self.keep && !has_hole(user) {
                return format!("Basic {}", BASE64_STANDARD.encode(plain(user)));
            }
            let purpose = format!("base64 of user:password, {purpose}");
            return format!("Basic {}", self.hide(value, "BASIC_CREDENTIALS", &purpose));
        }
        if self.keep {
            return value.to_owned();
        }
        match lower.as_str() {
            "authorization" | "proxy-authorization" => self.authorization(value, purpose),
            "cookie" => {
                let each = value.split(';').map(|pair| self.cookie(pair.trim(), purpose));
                each.collect::<Vec<_>>().join("; ")
            }
            _ => {
                let mut value = value.to_owned();
                self.value(&mut value, name, false, purpose);
                value
            }
        }
    }

    fn authorization(&mut self, value: &str, purpose: &str) -> String {
        let (scheme, credential) = value.split_once(' ').unwrap_or(("", value));
        if credential.is_empty() || only_holes(credential) {
            return value.to_owned();
        }
        let (name, what) = match scheme.to_ascii_lowercase().as_str() {
            "bearer" => ("API_TOKEN", "the token"),
            "basic" => ("BASIC_CREDENTIALS", "base64 of user:password"),
            _ => ("AUTHORIZATION", "what follows the scheme"),
        };
        let hidden = self.hide(credential.trim(), name, &format!("{what}, {purpose}"));
        if scheme.is_empty() { hidden } else { format!("{scheme} {hidden}") }
    }

    fn cookie(&mut self, pair: &str, purpose: &str) -> String {
        match pair.split_once('=') {
            Some((name, value)) if !value.is_empty() && !only_holes(value) => {
                let hidden = self.hide(value, &format!("COOKIE_{name}"), purpose);
                format!("{name}={hidden}")
            }
            _ => pair.to_owned(),
        }
    }

    /// The query of a path, and tokens among its segments.
    fn path(&mut self, path: &str, purpose: &str) -> String {
        let (path, query) = path.split_once('?').map_or((path, None), |(p, q)| (p, Some(q)));
        let segment = |segment: &str| {
            let mut segment = segment.to_owned();
            self.value(&mut segment, "", false, purpose);
            segment
        };
        let path = path.split('/').map(segment).collect::<Vec<_>>().join("/");
        let Some(query) = query else { return path };
        let pair = |pair: &str| match pair.split_once('=') {
            Some((name, value)) => {
                let mut value = value.to_owned();
                self.value(&mut value, name, true, purpose);
                format!("{name}={value}")
            }
            None => pair.to_owned(),
        };
        format!("{path}?{}", query.split('&').map(pair).collect::<Vec<_>>().join("&"))
    }

    fn fields(&mut self, fields: &mut Fields, query: bool, purpose: &str) {
        for (name, value) in &mut fields.0 {
            self.value(value, name, query, purpose);
        }
    }

    fn literal(&mut self, literal: &mut Literal, name: &str, purpose: &str) {
        match literal {
            Literal::Text(text) => self.value(text, name, false, purpose),
            Literal::List(items) => {
                items.iter_mut().for_each(|item| self.literal(item, name, purpose));
            }
            Literal::Object(members) => {
                members.iter_mut().for_each(|(name, value)| self.literal(value, name, purpose));
            }
            _ => {}
        }
    }

    /// JSON that had to stay text: its credentials are found in its structure and replaced in the
    /// text.
    fn json_text(&mut self, text: &str, purpose: &str) -> String {
        let Ok(literal) = serde_json::from_str::<Literal>(text) else { return text.to_owned() };
        let mut found = Vec::new();
        secrets_of(&literal, "", &mut found);
        if found.is_empty() {
            return text.to_owned();
        }
        let mut hidden = HashMap::new();
        for (name, value) in found {
            let purpose = format!("{name}, {purpose}");
            hidden.insert(value, self.hide(value, name_or(name, "TOKEN"), &purpose));
        }
        // Once through the text, whatever it holds: each of its strings is a credential or is not.
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('"') {
            let (before, from) = rest.split_at(at);
            let (string, after) = from.split_at(string_length(from));
            let value = serde_json::from_str::<String>(string).ok();
            out.push_str(before);
            match value.and_then(|value| hidden.get(value.as_str())) {
                Some(placeholder) => out.extend(["\"", placeholder, "\""]),
                None => out.push_str(string),
            }
            rest = after;
        }
        out + rest
    }

    fn value(&mut self, value: &mut String, name: &str, query: bool, purpose: &str) {
        if is_secret(name, value, query) {
            let purpose =
                if name.is_empty() { purpose.into() } else { format!("{name}, {purpose}") };
            *value = self.hide(value, name_or(name, "TOKEN"), &purpose);
        }
    }
}

fn name_or<'a>(name: &'a str, otherwise: &'a str) -> &'a str {
    if name.is_empty() { otherwise } else { name }
}

fn secrets_of<'a>(literal: &'a Literal, name: &'a str, found: &mut Vec<(&'a str, &'a str)>) {
    match literal {
        Literal::Text(text) if is_secret(name, text, false) => found.push((name, text)),
        Literal::List(items) => items.iter().for_each(|item| secrets_of(item, name, found)),
        Literal::Object(members) => {
            members.iter().for_each(|(name, value)| secrets_of(value, name, found));
        }
        _ => {}
    }
}

fn is_secret(name: &str, value: &str, query: bool) -> bool {
    let trivial = matches!(value, "" | "true" | "false" | "null");
    !trivial && !only_holes(value) && (is_secret_name(name, query) || is_secret_value(value))
}

/// Whether nothing but placeholders is there: no credential then.
fn only_holes(template: &str) -> bool {
    pieces(template).iter().all(|piece| matches!(piece, Piece::Hole(_)))
}

fn plain(template: &str) -> String {
    let text = |piece| match piece {
        Piece::Text(text) => text,
        Piece::Hole(hole) => hole.to_owned(),
    };
    pieces(template).into_iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_masked_wherever_they_stand() {
        let mut draft = Draft::new("line 1", "POST");
        draft
            .put_url("https://ann:CLEAR1@h/a/eyJhbGciOi.CLEAR2abcde.xyz?key=CLEAR3&page=2")
            .unwrap();
        draft.put_header("Cookie", "sid=CLEAR4; theme=CLEAR5");
        draft.put_header("X-Api-Key", "CLEAR6");
        draft.put_header("Accept", "text/html");
        let body = r#"{"user":"ann","password":"CLEAR7","n":[{"refresh_token":"CLEAR8"}]}"#;
        draft.body = Some(Body::Json(serde_json::from_str(body).unwrap()));
        let mut vault = Vault::new(false);
        vault.mask(&mut draft);
        let text = format!("{draft:?} {:?}", vault.purposes);
        assert!(!text.contains("CLEAR"), "{text}");
        assert!(draft.path.ends_with("?key=${env.KEY}&page=2"), "{}", draft.path);
        assert_eq!(
            draft.header("cookie"),
            Some("sid=${env.COOKIE_SID}; theme=${env.COOKIE_THEME}")
        );
        assert_eq!(draft.header("accept"), Some("text/html"));
        assert_eq!(vault.purposes.len(), 8);
    }

    #[test]
    fn one_value_has_one_name_and_another_has_another() {
        let mut vault = Vault::new(false);
        let [a, again, b] = ["Bearer x", "Bearer x", "Bearer y"].map(|value| {
            let mut draft = Draft::new("", "GET");
            draft.put_header("Authorization", value);
            vault.mask(&mut draft);
            draft.header("authorization").unwrap().to_owned()
        });
        assert_eq!([&a, &again], ["Bearer ${env.API_TOKEN}"; 2]);
        assert_eq!(b, "Bearer ${env.API_TOKEN_2}");
    }

    #[test]
    fn kept_on_demand() {
        let mut draft = Draft::new("", "GET");
        draft.put_url("http://ann:pw@h/?token=1").unwrap();
        Vault::new(true).mask(&mut draft);
        assert_eq!(draft.header("authorization"), Some("Basic YW5uOnB3"));
        assert_eq!(draft.path, "/?token=1");
    }

    #[test]
    fn json_that_stays_text_is_masked_in_place() {
        let text = r#"{"amount": 1.0, "password": "a\"b"}"#;
        let masked = Vault::new(false).json_text(text, "body");
        assert_eq!(masked, r#"{"amount": 1.0, "password": "${env.PASSWORD}"}"#);
        let escaped = Vault::new(false).json_text(r#"{"n": 1.0, "password": "\u0061b"}"#, "body");
        assert_eq!(escaped, r#"{"n": 1.0, "password": "${env.PASSWORD}"}"#);
    }
}
