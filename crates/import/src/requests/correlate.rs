//! Values that a server made and its client sent back: found by comparing each request of a
//! recording with the responses before it, and turned into extractions and placeholders.
//!
//! A value of a response counts if no earlier request had it (the client would have known it before the server
//! sent it) and if it is named or formed like an identifier or a token. In requests, whole values are compared
//! only: segments of the path, query values, fields, cookies, members of a body. The work is one look-up a value.
//! Cookies that a response set are left to the flow, which keeps cookies for each of its users.

mod groups;

use std::collections::{HashMap, HashSet};

use model::secret::is_secret_name;
use model::workload::{Body, Extractor, Literal};

use super::assembly::Assembly;
use super::draft::Draft;
use super::json::{parts, text_of};
use super::note::Kind;
use super::template::{Numbered, hole, identifier, literal};
use groups::Groups;

/// Values of responses held at most.
const MOST_VALUES: usize = 500_000;
/// Bytes of a value at most.
const LONGEST_VALUE: usize = 8 << 10;
/// Bytes of the way to a value at most: it is kept with each value.
const LONGEST_WAY: usize = 1 << 10;
/// Bytes of a response searched at most.
const LONGEST_RESPONSE: usize = 16 << 20;

/// A request and what came back.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) draft: Draft,
    pub(super) response: Response,
    /// The page it belongs to.
    pub(super) page: String,
    /// When it began and ended, in nanoseconds.
    pub(super) start: i128,
    pub(super) end: i128,
}

/// What of a response is searched.
#[derive(Debug, Default)]
pub(super) struct Response {
    pub(super) headers: Vec<(String, String)>,
    /// The body, if it is JSON.
    pub(super) json: Option<String>,
}

/// Puts extractions and placeholders into the requests. Gives the group of each exchange: exchanges
/// of one page, and pages between which values or cookies travel, are one group.
pub(super) fn correlate(exchanges: &mut [Exchange], assembly: &mut Assembly) -> Vec<usize> {
    let mut groups = Groups::by_page(exchanges);
    let mut known = Known::default();
    for at in 0..exchanges.len() {
        let mut used = Vec::new();
        known.replace(&mut exchanges[at].draft, &mut used);
        for (step, name, extractor) in used {
            groups.join(at, step);
            if let Some(name) = name {
                exchanges[step].draft.extract.insert(name, extractor);
            }
        }
        known.learn(at, &exchanges[at].response);
    }
    assembly.vault.numbers.extend(known.numbers);
    if known.cookies_left > 0 {
        let what = format!(
            "{} cookies were set by earlier responses: the flow keeps them for each user",
            known.cookies_left
        );
        assembly.note(Kind::Assumed, "", what);
    }
    if known.full {
        let what = "values of later responses: too many to compare with requests";
        assembly.note(Kind::NotCarriedOver, "", what);
    }
    (0..exchanges.len()).map(|at| groups.of(at)).collect()
}

/// Where a value came from.
#[derive(Debug)]
struct Source {
    step: usize,
    extractor: Extractor,
    /// Whether it is a number of JSON there.
    is_number: bool,
    /// What it is called there.
    called: String,
    /// The variable it became, once a request used it.
    variable: Option<String>,
}

/// A response's step, the variable to extract there if it is a value, and how.
type Use = (usize, Option<String>, Extractor);

#[derive(Debug, Default)]
struct Known {
    /// By value, as template text.
    values: HashMap<String, Source>,
    /// Values that requests had before any response did.
    clients: HashSet<String>,
    /// The step that set a cookie last, by its name.
    jar: HashMap<String, usize>,
    variables: HashSet<String>,
    /// Those of them whose values are numbers of JSON.
    numbers: HashSet<String>,
    numbered: Numbered,
    /// Whether the body at hand has a placeholder that is to stand without quotes, as [`bare`] marks it.
    has_bare: bool,
    cookies_left: usize,
    full: bool,
}

impl Known {
    /// Puts placeholders where the request repeats a response.
    fn replace(&mut self, draft: &mut Draft, used: &mut Vec<Use>) {
        draft.path = self.path(&draft.path, used);
        for (name, value) in &mut draft.headers.0 {
            if name.eq_ignore_ascii_case("cookie") {
                *value = self.cookies(value, used);
            } else {
                self.field(name, value, used);
            }
        }
        let gone =
            |name: &str, value: &str| name.eq_ignore_ascii_case("cookie") && value.is_empty();
        draft.headers.0.retain(|(name, value)| !gone(name, value));
        match &mut draft.body {
            Some(Body::Form(fields)) => {
                fields.0.iter_mut().for_each(|(name, value)| self.value(name, false, value, used));
            }
            Some(Body::Json(literal)) => {
                self.literal("", literal, used);
                if std::mem::take(&mut self.has_bare) {
                    *literal = Literal::Text(unquoted(&text_of(literal, &self.numbers)));
                }
            }
            Some(Body::Multipart(parts)) => {
                for part in parts {
                    if let Some(text) = &mut part.text {
                        self.value(&part.name, false, text, used);
                    }
                }
            }
            _ => {}
        }
    }

    fn path(&mut self, path: &str, used: &mut Vec<Use>) -> String {
        let (path, query) = path.split_once('?').map_or((path, None), |(p, q)| (p, Some(q)));
        let mut segments = Vec::new();
        for segment in path.split('/') {
            segments.push(self.escaped("", true, segment, used));
        }
        let Some(query) = query else { return segments.join("/") };
        let mut pairs = Vec::new();
        for pair in query.split('&') {
            pairs.push(match pair.split_once('=') {
                Some((name, value)) => format!("{name}={}", self.escaped(name, false, value, used)),
                None => pair.to_owned(),
            });
        }
        format!("{}?{}", segments.join("/"), pairs.join("&"))
    }

    /// A value that stands escaped in a URL; it stays so unless a placeholder takes its place.
    fn escaped(&mut self, name: &str, segment: bool, text: &str, used: &mut Vec<Use>) -> String {
        let plain = text.replace('+', " ");
        let Ok(decoded) = percent_encoding::percent_decode_str(&plain).decode_utf8() else {
            return text.to_owned();
        };
        let mut value = decoded.clone().into_owned();
        self.value(name, segment, &mut value, used);
        if value == decoded { text.to_owned() } else { value }
    }

    fn cookies(&mut self, value: &str, used: &mut Vec<Use>) -> String {
        let mut own = Vec::new();
        for pair in value.split(';').map(str::trim).filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if let Some(step) = self.jar.get(name) {
                used.push((*step, None, Extractor::Cookie(name.to_owned())));
                self.cookies_left += 1;
                continue;
            }
            let mut value = value.to_owned();
            self.value(name, false, &mut value, used);
            own.push(format!("{name}={value}"));
        }
        own.join("; ")
    }

    /// A field's value, or what follows its scheme.
    fn field(&mut self, name: &str, value: &mut String, used: &mut Vec<Use>) {
        let whole = value.clone();
        self.value(name, false, value, used);
        if *value == whole
            && let Some((scheme, credential)) = whole.split_once(' ')
        {
            let mut credential = credential.to_owned();
            self.value(name, false, &mut credential, used);
            *value = format!("{scheme} {credential}");
        }
    }

    fn literal(&mut self, name: &str, literal: &mut Literal, used: &mut Vec<Use>) {
        match literal {
            Literal::Text(text) => {
                let is_number = self.is_number(text);
                let before = text.clone();
                self.value(name, false, text, used);
                // Alone in a string, the placeholder of a number would be a number.
                if is_number && *text != before {
                    *text = hole(&format!("lower({})", &text[2..text.len() - 1]));
                }
            }
            Literal::Int(number) => {
                let before = number.to_string();
                let (mut text, is_number) = (before.clone(), self.is_number(&before));
                self.value(name, false, &mut text, used);
                if text != before {
                    // And that of a text a text: only a body that is text has a number of it.
                    self.has_bare |= !is_number;
                    *literal = Literal::Text(if is_number { text } else { bare(&text) });
                }
            }
            Literal::List(items) => {
                items.iter_mut().for_each(|item| self.literal(name, item, used))
            }
            Literal::Object(members) => {
                members.iter_mut().for_each(|(name, value)| self.literal(name, value, used));
            }
            _ => {}
        }
    }

    /// Whether a response had this value as a number.
    fn is_number(&self, value: &str) -> bool {
        self.values.get(value).is_some_and(|source| source.is_number)
    }

    /// Replaces one value if a response had it, and remembers it as the client's own otherwise.
    fn value(&mut self, name: &str, segment: bool, value: &mut String, used: &mut Vec<Use>) {
        let Some(source) = self.values.get_mut(value.as_str()) else {
            if !value.is_empty() && value.len() <= LONGEST_VALUE {
                self.clients.insert(value.clone());
            }
            return;
        };
        // Short values meet by chance: a page's number is no user's.
        if value.len() < 4 && !segment && !is_identifier(name) {
            return;
        }
        let variable = source.variable.get_or_insert_with(|| {
            let base = identifier(&source.called);
            let free = self.numbered.free(&base, |name| self.variables.contains(name));
            self.variables.insert(free.clone());
            if source.is_number {
                self.numbers.insert(free.clone());
            }
            free
        });
        used.push((source.step, Some(variable.clone()), source.extractor.clone()));
        *value = hole(variable);
    }

    /// Remembers what a response holds.
    fn learn(&mut self, step: usize, response: &Response) {
        for (name, value) in &response.headers {
            if name.eq_ignore_ascii_case("set-cookie") {
                self.learn_cookies(step, value);
            } else if is_identifier(name) || is_secret_name(name) || looks_random(value) {
                let extractor = || Extractor::Header(name.to_ascii_lowercase());
                self.learn_value(step, value, false, &name.to_ascii_lowercase(), extractor);
            }
        }
        let text = response.json.as_deref().filter(|text| text.len() <= LONGEST_RESPONSE);
        let text = text.filter(|text| parts(text) <= MOST_VALUES);
        if let Some(literal) = text.and_then(|text| serde_json::from_str::<Literal>(text).ok()) {
            self.learn_literal(step, &literal, &mut Vec::new());
        }
    }

    fn learn_cookies(&mut self, step: usize, fields: &str) {
        for field in fields.lines() {
            let pair = field.split(';').next().unwrap_or_default();
            if let Some((name, value)) = pair.split_once('=') {
                let name = name.trim();
                self.jar.insert(name.to_owned(), step);
                if is_identifier(name) || is_secret_name(name) || looks_random(value) {
                    let extractor = || Extractor::Cookie(name.to_owned());
                    self.learn_value(step, value.trim(), false, name, extractor);
                }
            }
        }
    }

    fn learn_literal<'l>(&mut self, step: usize, literal: &'l Literal, path: &mut Vec<Key<'l>>) {
        match literal {
            Literal::Text(text) => self.learn_member(step, text, false, path),
            Literal::Int(number) => self.learn_member(step, &number.to_string(), true, path),
            Literal::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    path.push(Key::Index(at));
                    self.learn_literal(step, item, path);
                    path.pop();
                }
            }
            Literal::Object(members) => {
                for (name, value) in members {
                    path.push(Key::Name(name));
                    self.learn_literal(step, value, path);
                    path.pop();
                }
            }
            _ => {}
        }
    }

    fn learn_member(&mut self, step: usize, value: &str, is_number: bool, path: &[Key]) {
        let names = || path.iter().rev().filter_map(Key::name);
        if names().map(str::len).sum::<usize>() > LONGEST_WAY {
            return;
        }
        let own = names().next().unwrap_or_default();
        if is_identifier(own) || is_secret_name(own) || looks_random(value) {
            let parent = names().nth(1).filter(|_| own.len() <= 4);
            let called = parent.map_or(own.to_owned(), |parent| format!("{parent}_{own}"));
            let extractor = || Extractor::Json(pointer(path));
            self.learn_value(step, value, is_number, &called, extractor);
        }
    }

    fn learn_value(
        &mut self,
        step: usize,
        value: &str,
        is_number: bool,
        called: &str,
        extractor: impl FnOnce() -> Extractor,
    ) {
        let trivial = matches!(value, "" | "true" | "false" | "null");
        let value = literal(value);
        if trivial || value.len() > LONGEST_VALUE || self.clients.contains(&value) {
            return;
        }
        if self.values.len() >= MOST_VALUES {
            self.full = true;
            return;
        }
        let called = called.to_owned();
        self.values.entry(value).or_insert_with(|| Source {
            step,
            extractor: extractor(),
            is_number,
            called,
            variable: None,
        });
    }
}

/// A placeholder that loses its quotes where its structure becomes text. No value of a recording is written so: their
/// `${` is escaped.
fn bare(hole: &str) -> String {
    hole.replacen("${", "${=", 1)
}

/// The text of a structure with its [`bare`] placeholders without quotes.
fn unquoted(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, behind)) = rest.split_once("\"${=") {
        let (name, after) = behind.split_once("}\"").unwrap_or((behind, ""));
        out += before;
        out += &hole(name);
        rest = after;
    }
    out + rest
}

/// A step down into a JSON value.
#[derive(Debug, Clone, Copy)]
enum Key<'a> {
    Name(&'a str),
    Index(usize),
}

impl<'a> Key<'a> {
    fn name(&self) -> Option<&'a str> {
        match self {
            Self::Name(name) => Some(name),
            Self::Index(_) => None,
        }
    }
}

/// A JSON pointer (RFC 6901).
fn pointer(path: &[Key]) -> String {
    let token = |key: &Key| match key {
        Key::Name(name) => format!("/{}", name.replace('~', "~0").replace('/', "~1")),
        Key::Index(at) => format!("/{at}"),
    };
    path.iter().map(token).collect()
}

/// Whether a name is one that identifiers have: its last word says so.
fn is_identifier(name: &str) -> bool {
    const WORDS: [&str; 18] = [
        "id", "ids", "uuid", "guid", "key", "token", "code", "hash", "nonce", "state", "cursor",
        "slug", "session", "csrf", "xsrf", "ticket", "ref", "etag",
    ];
    let mut last = String::new();
    let mut before = ' ';
    for c in name.chars() {
        let begins = c.is_ascii_uppercase() && before.is_ascii_lowercase();
        if begins || !c.is_ascii_alphanumeric() {
            last.clear();
        }
        if c.is_ascii_alphanumeric() {
            last.push(c.to_ascii_lowercase());
        }
        before = c;
    }
    WORDS.contains(&last.as_str())
}

/// Whether a value is long and mixed enough that nobody typed it.
fn looks_random(value: &str) -> bool {
    let one_word = |c: char| c.is_ascii_alphanumeric() || "-_.~+/=:".contains(c);
    value.len() >= 16
        && value.chars().all(one_word)
        && value.chars().any(|c| c.is_ascii_digit())
        && value.chars().any(|c| c.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(page: &str, method: &str, url: &str, json: &str) -> Exchange {
        let mut draft = Draft::new("", method);
        draft.put_url(url).unwrap();
        let json = Some(json.to_owned());
        let response = Response { json, ..Response::default() };
        Exchange { draft, response, page: page.to_owned(), start: 0, end: 0 }
    }

    fn correlated(exchanges: &mut [Exchange]) -> Vec<usize> {
        correlate(exchanges, &mut Assembly::new(None, false))
    }

    #[test]
    fn an_identifier_travels_from_a_response_into_a_path() {
        let mut exchanges = [
            exchange("a", "POST", "http://h/orders", r#"{"order":{"id":71,"total":5}}"#),
            exchange("b", "GET", "http://h/orders/71?page=5", "{}"),
            exchange("c", "GET", "http://h/other", "{}"),
        ];
        assert_eq!(correlated(&mut exchanges), [0, 0, 2]);
        assert_eq!(exchanges[1].draft.path, "/orders/${order_id}?page=5");
        let extract = &exchanges[0].draft.extract;
        assert_eq!(extract["order_id"], Extractor::Json("/order/id".into()));
    }

    #[test]
    fn what_the_client_knew_before_is_its_own() {
        let mut exchanges = [
            exchange("a", "GET", "http://h/users/ann-lee-7?session=x", r#"{"id":"ann-lee-7"}"#),
            exchange("a", "GET", "http://h/users/ann-lee-7", "{}"),
        ];
        correlated(&mut exchanges);
        assert_eq!(exchanges[1].draft.path, "/users/ann-lee-7");
    }

    #[test]
    fn a_short_number_is_no_identifier_by_chance() {
        let mut exchanges = [
            exchange("a", "GET", "http://h/me", r#"{"id":2}"#),
            exchange("a", "GET", "http://h/list?page=2&user_id=2", "{}"),
        ];
        correlated(&mut exchanges);
        assert_eq!(exchanges[1].draft.path, "/list?page=2&user_id=${id}");
    }

    #[test]
    fn tokens_travel_into_fields_and_cookies_stay_with_the_flow() {
        let mut exchanges = [
            exchange("a", "POST", "http://h/login", r#"{"access_token":"t0ken-abcdef"}"#),
            exchange("a", "GET", "http://h/me", "{}"),
        ];
        exchanges[0].response.headers.push(("Set-Cookie".into(), "sid=1; Path=/".into()));
        exchanges[0].response.headers.push(("X-CSRF-Token".into(), "csrf-value".into()));
        exchanges[1].draft.put_header("Authorization", "Bearer t0ken-abcdef");
        exchanges[1].draft.put_header("Cookie", "sid=1; own=2");
        exchanges[1].draft.put_header("X-CSRF", "csrf-value");
        correlated(&mut exchanges);
        let headers: Vec<_> = exchanges[1].draft.headers.iter().collect();
        let expected = [
            ("Authorization", "Bearer ${access_token}"),
            ("Cookie", "own=2"),
            ("X-CSRF", "${x_csrf_token}"),
        ];
        assert_eq!(headers, expected);
    }

    #[test]
    fn what_was_text_stays_text_and_a_number_a_number() {
        let mut exchanges = [
            exchange("a", "POST", "http://h/orders", r#"{"order_id":7101,"item_id":"8202"}"#),
            exchange("a", "POST", "http://h/pay", "{}"),
        ];
        let body = r#"{"a":7101,"b":"7101","c":8202,"d":"8202"}"#;
        exchanges[1].draft.body = Some(Body::Json(serde_json::from_str(body).unwrap()));
        correlated(&mut exchanges);
        let Some(Body::Json(sent)) = &exchanges[1].draft.body else { panic!("{exchanges:?}") };
        // What a response had as text is a number in text only, where what is a number has no quotes either.
        let wanted =
            r#"{"a":${order_id},"b":"${lower(order_id)}","c":${item_id},"d":"${item_id}"}"#;
        assert_eq!(*sent, Literal::Text(wanted.to_owned()));
    }

    #[test]
    fn what_looks_like_a_mark_is_kept() {
        let mut exchanges = [
            exchange("a", "POST", "http://h/orders", r#"{"item_id":"8202"}"#),
            exchange("a", "POST", "http://h/pay", "{}"),
        ];
        let body = r#"{"a":8202,"b":"$${=x}","c":"\"$${=x}\""}"#;
        exchanges[1].draft.body = Some(Body::Json(serde_json::from_str(body).unwrap()));
        correlated(&mut exchanges);
        let Some(Body::Json(sent)) = &exchanges[1].draft.body else { panic!("{exchanges:?}") };
        let wanted = body.replacen("8202", "${item_id}", 1);
        assert_eq!(*sent, Literal::Text(wanted));
    }

    #[test]
    fn names_of_identifiers() {
        for name in ["id", "userId", "order_id", "X-Request-Id", "uuid", "access_token"] {
            assert!(is_identifier(name), "{name}");
        }
        for name in ["paid", "grid", "total", "", "tokens_used"] {
            assert!(!is_identifier(name), "{name}");
        }
    }
}
