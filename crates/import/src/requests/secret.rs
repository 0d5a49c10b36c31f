//! Credentials in requests: found by their name or their form, and replaced by `${env.NAME}`.
//!
//! What counts as one: `Authorization` and `Cookie` fields, fields, parameters and members whose name
//! says so, what has the shape of one or stands where one does ([`model::secret`]), and what a longer text holds of
//! these. [`text`] goes through bodies.

mod text;

use std::collections::{BTreeMap, HashMap, HashSet};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use model::workload::{Body, Fields, Literal};

use model::secret::{
    Neighbour, is_secret_field, is_secret_name, is_secret_query_name, is_secret_value,
    parts_of_login,
};

use super::body::{FORM, essence};
use super::draft::{Draft, PLAIN_BASIC};
use super::json::text_of;
use super::template::{Numbered, Piece, env, environment_name, has_hole, pieces};
use text::has_secret_number;

/// Environment variables that have a value in most shells, whatever an imported file means by their names.
const OF_LOGINS: [&str; 20] = [
    "DISPLAY", "EDITOR", "HOME", "HOST", "HOSTNAME", "LANG", "LOGNAME", "MAIL", "OLDPWD", "PAGER",
    "PATH", "PWD", "SHELL", "SHLVL", "TERM", "TMPDIR", "TZ", "UID", "USER", "USERNAME",
];

/// The environment variables that stand for credentials.
#[derive(Debug, Default)]
pub(super) struct Vault {
    /// By the value that they stand for.
    names: HashMap<String, String>,
    /// By what the file calls what it asks for.
    asked: HashMap<String, String>,
    /// What each holds, by name.
    pub(super) purposes: BTreeMap<String, String>,
    numbered: Numbered,
    /// Variables of the workload that hold numbers of JSON.
    pub(super) numbers: HashSet<String>,
    keep: bool,
}

impl Vault {
    /// With `keep`, credentials stay where they are.
    pub(super) fn new(keep: bool) -> Self {
        Self { keep, ..Self::default() }
    }

    /// The placeholder of an environment variable that the file asks for without telling its value. Names that
    /// the environment's form makes equal stay apart.
    pub(super) fn wanted(&mut self, name: &str, purpose: &str) -> String {
        if let Some(known) = self.asked.get(name) {
            return env(known);
        }
        let free = self.free(name);
        self.asked.insert(name.to_owned(), free.clone());
        self.purposes.insert(free.clone(), purpose.to_owned());
        env(&free)
    }

    /// The same for a variable that has this name in the user's environment.
    pub(super) fn wanted_as(&mut self, name: &str, purpose: &str) {
        self.purposes.entry(name.to_owned()).or_insert_with(|| purpose.to_owned());
    }

    /// A name of an environment variable that nothing has yet, nor a login sets: that one's value would be sent.
    fn free(&mut self, name: &str) -> String {
        let purposes = &self.purposes;
        let taken = |name: &str| OF_LOGINS.contains(&name) || purposes.contains_key(name);
        self.numbered.free(&environment_name(name), taken)
    }

    /// A credential's place: its placeholder, or itself where credentials are kept or it is made of
    /// placeholders only.
    pub(super) fn hidden(&mut self, value: &str, name: &str, purpose: &str) -> String {
        if self.keep || value.is_empty() || only_holes(value) {
            return value.to_owned();
        }
        self.hide(value, name, purpose)
    }

    /// Text with the credentials that it holds replaced.
    pub(super) fn masked(&mut self, text: &str, purpose: &str) -> String {
        if self.keep { text.to_owned() } else { self.prose(text, purpose) }
    }

    /// The placeholder for a credential: the same value, the same name.
    fn hide(&mut self, value: &str, name: &str, purpose: &str) -> String {
        if let Some(name) = self.names.get(value) {
            return env(name);
        }
        let name = self.free(name);
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
        self.query(&mut draft.query, &draft.path, &at("query"));
        let is_form = draft.header("content-type").is_some_and(|media| essence(media) == FORM);
        match &mut draft.body {
            Some(Body::Form(fields)) => {
                for (name, value) in &mut fields.0 {
                    self.value(value, name, false, &at("form"));
                }
            }
            Some(Body::Json(Literal::Text(text))) => *text = self.json_text(text, &at("body")),
            Some(Body::Json(literal)) if has_secret_number(literal, "") => {
                let text = text_of(literal, &self.numbers);
                *literal = Literal::Text(self.json_text(&text, &at("body")));
            }
            Some(Body::Json(literal)) => self.literal(literal, "", &at("body")),
            Some(Body::Multipart(parts)) => {
                for part in parts {
                    match &mut part.text {
                        Some(text) if is_secret(&part.name, text, false) => {
                            self.value(text, &part.name, false, &at("form"));
                        }
                        Some(text) => *text = self.body_text(text, false, &at("form")),
                        None => {}
                    }
                }
            }
            Some(Body::Text(text)) => *text = self.body_text(text, is_form, &at("body")),
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
            _ if is_secret_field(name) && !is_trivial(value) && !only_holes(value) => {
                self.hide(value, name, purpose)
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

    /// The query of a path, and credentials among its segments.
    fn path(&mut self, path: &str, purpose: &str) -> String {
        let (path, query) = path.split_once('?').map_or((path, None), |(p, q)| (p, Some(q)));
        let (mut segments, mut before) = (Vec::new(), Neighbour::Plain);
        for segment in path.split('/') {
            let is_secret = is_secret_value(segment) || before.makes_secret(segment);
            segments.push(match is_secret && !only_holes(segment) {
                true => self.hide(segment, "TOKEN", purpose),
                // Parameters of a segment, such as `;jsessionid=`.
                false => self.prose(segment, purpose),
            });
            before = before.then(segment);
        }
        let masked = segments.join("/");
        let Some(query) = query else { return masked };
        let pairs = query.split('&');
        let mut fields: Fields =
            pairs.map(|pair| pair.split_once('=').unwrap_or((pair, ""))).collect();
        self.query(&mut fields, path, purpose);
        let written = query.split('&').zip(fields.iter()).map(|(pair, (name, value))| {
            if pair.contains('=') { format!("{name}={value}") } else { pair.to_owned() }
        });
        format!("{masked}?{}", written.collect::<Vec<_>>().join("&"))
    }

    /// Parameters of a query, of which those of a login are known by each other and by the path.
    fn query(&mut self, fields: &mut Fields, path: &str, purpose: &str) {
        let names: Vec<String> = fields.iter().map(|(name, _)| name.to_owned()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let of_login = parts_of_login(&names, path);
        for (name, value) in &mut fields.0 {
            if of_login.contains(&name.as_str()) && !is_trivial(value) && !only_holes(value) {
                *value = self.hide(value, name, &format!("{name}, {purpose}"));
            } else {
                self.value(value, name, true, purpose);
            }
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

    /// A value, or the credentials that a longer one holds.
    fn value(&mut self, value: &mut String, name: &str, query: bool, purpose: &str) {
        if is_secret(name, value, query) {
            let purpose =
                if name.is_empty() { purpose.into() } else { format!("{name}, {purpose}") };
            *value = self.hide(value, name_or(name, "TOKEN"), &purpose);
        } else {
            *value = self.prose(value, purpose);
        }
    }
}

fn name_or<'a>(name: &'a str, otherwise: &'a str) -> &'a str {
    if name.is_empty() { otherwise } else { name }
}

fn is_secret(name: &str, value: &str, query: bool) -> bool {
    let by_name = if query { is_secret_query_name(name) } else { is_secret_name(name) };
    !is_trivial(value) && !only_holes(value) && (by_name || is_secret_value(value))
}

fn is_trivial(value: &str) -> bool {
    matches!(value, "" | "true" | "false" | "null")
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
    fn credentials_are_known_by_their_place_and_field() {
        let mut draft = Draft::new("", "POST");
        let hook = "T024BE7LD/B024BE7LE/h3Kd8sJ2mQ0pLr7XzB1vAb2C";
        draft.put_url(&format!("http://h/services/{hook}?code=CLEAR1&state=CLEAR2&n=1")).unwrap();
        draft.put_header("X-Auth", "CLEAR3");
        draft.put_header("Idempotency-Key", "kept");
        draft.put_header("Referer", "https://h/reset?token=CLEAR4&n=1");
        let mut vault = Vault::new(false);
        vault.mask(&mut draft);
        let hidden =
            "/services/T024BE7LD/B024BE7LE/${env.TOKEN_2}?code=${env.CODE}&state=${env.STATE}&n=1";
        assert_eq!(draft.path, hidden);
        let fields = [
            ("X-Auth", "${env.X_AUTH}"),
            ("Idempotency-Key", "kept"),
            ("Referer", "https://h/reset?token=${env.TOKEN}&n=1"),
        ];
        assert!(draft.headers.iter().eq(fields), "{draft:?}");
        draft.put_url("http://h/${x}/list;jsessionid=CLEAR5;v=1").unwrap();
        vault.mask(&mut draft);
        assert_eq!(draft.path, "/${x}/list;jsessionid=${env.JSESSIONID};v=1");
    }

    #[test]
    fn no_variable_that_a_login_sets_is_asked_for() {
        let mut vault = Vault::new(false);
        let asked = ["user", "path", "user", "userId"].map(|name| vault.wanted(name, "x"));
        let names = ["${env.USER_2}", "${env.PATH_2}", "${env.USER_2}", "${env.USER_ID}"];
        assert_eq!(asked, names);
        assert_eq!(vault.hidden("s3cr3t", "Shell", "x"), "${env.SHELL_2}");
        vault.wanted_as("HOME", "x");
        assert!(vault.purposes.contains_key("HOME"), "a script that says $HOME means it");
    }

    #[test]
    fn names_that_the_environment_writes_alike_stay_apart() {
        let mut vault = Vault::new(false);
        let asked = ["user-id", "userId", "user-id"].map(|name| vault.wanted(name, "x"));
        assert_eq!(asked, ["${env.USER_ID}", "${env.USER_ID_2}", "${env.USER_ID}"]);
    }
}
