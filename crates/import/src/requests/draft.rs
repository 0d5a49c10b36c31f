//! One request on its way from another tool's file into a workload.

use std::collections::BTreeMap;

use model::StatusRanges;
use model::workload::{Body, Endpoint, Extractor, Fields, Step, Time};
use percent_encoding::{
    AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode,
};
use url::Url;

use super::BadFile;
use super::note::{Kind, Note};
use super::template::{Piece, has_hole, map_text, pieces, plain};
use model::quote::quote;
use model::secret::{MASK, mask_text};

/// What may not stand in a path as it is (RFC 3986); `%` may, for what is escaped already.
const PATH: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'`')
    .add(b'{')
    .add(b'}')
    .add(b'\\')
    .add(b'^')
    .add(b'|');
/// What may not stand in one segment or value as it is: all but what RFC 3986 calls unreserved.
const VALUE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Notes about one request at most; further ones are counted.
const MOST_NOTES: usize = 100;

/// Bytes of a URL at most.
pub(super) const LONGEST_URL: usize = 64 << 10;

/// A request. All its text is template text.
#[derive(Debug, Clone, Default)]
pub(super) struct Draft {
    /// Where it stands in the file: `line 3`.
    pub(super) place: String,
    /// Its name, if the file gives it one.
    pub(super) name: Option<String>,
    pub(super) method: String,
    /// Scheme, host and port; empty for whatever server is the target.
    pub(super) origin: String,
    /// Path with query.
    pub(super) path: String,
    pub(super) query: Fields,
    pub(super) headers: Fields,
    pub(super) body: Option<Body>,
    pub(super) success: Option<StatusRanges>,
    pub(super) extract: BTreeMap<String, Extractor>,
    pub(super) think: Option<Time>,
    /// How often the file has it.
    pub(super) times: u64,
    pub(super) notes: Vec<Note>,
    /// Notes beyond the bound.
    pub(super) further_notes: usize,
}

impl Draft {
    /// A request that is only a method and an address yet.
    pub(super) fn new(place: impl Into<String>, method: &str) -> Self {
        let (place, method) = (place.into(), method.to_owned());
        Self { place, method, times: 1, ..Self::default() }
    }

    /// Sets server and path from a URL; credentials in it become an `Authorization` field.
    ///
    /// # Errors
    /// In words, when it is no URL of an HTTP server.
    pub(super) fn put_url(&mut self, url: &str) -> Result<(), String> {
        let parts = UrlParts::of(url)?;
        if let Some(user) = parts.user
            && self.header("authorization").is_none()
        {
            self.headers.push("Authorization", basic(&user_of_url(user)));
        }
        if parts.fragment {
            self.note(Kind::Assumed, "the part after # in the URL is never sent");
        }
        (self.origin, self.path) = (parts.origin, parts.path);
        Ok(())
    }

    /// Says something about this request.
    pub(super) fn note(&mut self, kind: Kind, what: impl AsRef<str>) {
        if self.notes.len() < MOST_NOTES {
            self.notes.push(Note::new(kind, self.place.clone(), what));
        } else {
            self.further_notes += 1;
        }
    }

    /// Whether a file of this name may be read: not one that `what` names outside of the workload's folder,
    /// for which a note is added.
    pub(super) fn may_read(&mut self, what: &str, name: &str) -> bool {
        if name.trim() == "-" {
            self.note(Kind::NotCarriedOver, format!("{what}: what standard input holds"));
            return false;
        }
        let below = is_below(name);
        if !below {
            let what = format!(
                "{what}: the file {} is outside the workload's folder; put it there and name it \
                 with `file:`",
                quote(name)
            );
            self.note(Kind::NotCarriedOver, what);
        }
        below
    }

    /// The first header field of this name, in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Adds a header field, unless it could not be sent or is made anew with every request. Cookies join those
    /// that are there (RFC 6265 section 5.4), and an `Authorization` replaces the user of the URL.
    pub(super) fn put_header(&mut self, name: &str, value: &str) {
        let lower = name.to_ascii_lowercase();
        if matches!(lower.as_str(), "content-length" | "transfer-encoding" | "connection") {
            let what =
                format!("the header field {name}: Plimsoll computes it when it sends the request");
            return self.note(Kind::NotCarriedOver, what);
        }
        if !is_token(name) {
            let what = format!("the header field {}: that is not a field name", quote(name));
            return self.note(Kind::NotCarriedOver, what);
        }
        if value.chars().any(|c| c.is_control() && c != '\t') {
            let what = format!("the header field {name}: its value has control characters");
            return self.note(Kind::NotCarriedOver, what);
        }
        if lower == "authorization" {
            let of_url =
                |name: &str, value: &str| name == "Authorization" && value.starts_with(PLAIN_BASIC);
            self.headers.0.retain(|(name, value)| !of_url(name, value));
        }
        let mut named = self.headers.0.iter_mut().filter(|(n, _)| n.eq_ignore_ascii_case(name));
        match named.next().filter(|(_, cookies)| lower == "cookie" && !cookies.is_empty()) {
            Some((_, cookies)) => *cookies = format!("{cookies}; {}", value.trim()),
            None => self.headers.push(name, value.trim()),
        }
    }

    /// Adds a header field in the place of those of this name.
    pub(super) fn set_header(&mut self, name: &str, value: &str) {
        self.remove_header(name);
        self.put_header(name, value);
    }

    /// Removes every header field of this name.
    pub(super) fn remove_header(&mut self, name: &str) {
        self.headers.0.retain(|(n, _)| !n.eq_ignore_ascii_case(name));
    }

    /// Its name in results: its own, or method and path with placeholders in brackets.
    pub(super) fn title(&self) -> String {
        let title = self.name.clone().map(|name| shown(&name)).filter(|name| !name.is_empty());
        title.unwrap_or_else(|| {
            let path = self.path.split('?').next().unwrap_or_default();
            let path: String = pieces(path)
                .into_iter()
                .map(|piece| match piece {
                    Piece::Text(text) => text,
                    Piece::Hole(hole) => hole.trim_start_matches('$').to_owned(),
                })
                .collect();
            shown(&format!("{} {path}", self.method))
        })
    }

    /// With the fields of one name together, as a file has them.
    fn grouped(mut self) -> Self {
        self.headers = self.headers.grouped();
        self.query = self.query.grouped();
        self.body = self.body.map(|body| match body {
            Body::Form(fields) => Body::Form(fields.grouped()),
            other => other,
        });
        self
    }

    /// As an endpoint of this name.
    pub(super) fn endpoint(self, name: String) -> Endpoint {
        let weight = (self.times > 1).then_some(self.times as f64);
        let Step { name, method, path, query, headers, body, success, .. } = self.step(name);
        let default = Endpoint::default();
        Endpoint { name, method, path, query, headers, body, success, weight, ..default }
    }

    /// As a step of this name.
    pub(super) fn step(self, name: String) -> Step {
        let draft = self.grouped();
        Step {
            name: Some(name),
            method: Some(draft.method),
            path: draft.path,
            query: draft.query,
            headers: draft.headers,
            body: draft.body,
            success: draft.success,
            extract: draft.extract,
            think: draft.think,
            ..Step::default()
        }
    }
}

/// Whether a file's name leads into the folder that it counts from or below. A drive of another system is
/// outside.
pub(super) fn is_below(name: &str) -> bool {
    let name = name.trim();
    let drive = name.as_bytes().get(1) == Some(&b':');
    !drive
        && !name.starts_with(['/', '\\', '~'])
        && name.split(['/', '\\']).all(|part| part.trim() != "..")
}

/// A name as results show it: on one line, not a template.
fn shown(name: &str) -> String {
    const LONGEST: usize = 120;
    let name = name.trim().replace("${", "$ {");
    name.chars().filter(|c| !c.is_control()).take(LONGEST).collect::<String>().trim().to_owned()
}

/// Whether a method or a header field may have this name (RFC 9110 section 5.6.2).
pub(super) fn is_token(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !name.is_empty() && name.chars().all(allowed)
}

/// The value of an `Authorization` field for `user:password`; `Basic` before its plain form, which
/// [`super::secret`] masks or encodes.
fn basic(user: &str) -> String {
    format!("{PLAIN_BASIC}{user}")
}

/// Marks credentials that are not encoded yet.
pub(super) const PLAIN_BASIC: &str = "Basic \u{0}";

/// Marks `user:password` for an `Authorization` field.
pub(super) fn put_basic(draft: &mut Draft, user: &str) {
    draft.remove_header("authorization");
    draft.headers.push("Authorization", basic(user));
}

/// `user:password` of a URL without its escapes; the password is empty where there is none (RFC 7617 section 2).
fn user_of_url(user: &str) -> String {
    let decoded = |text: &str| Some(percent_decode_str(text).decode_utf8().ok()?.into_owned());
    let colon = if user.contains(':') || has_hole(user) { "" } else { ":" };
    map_text(user, decoded).unwrap_or_else(|| user.to_owned()) + colon
}

struct UrlParts<'a> {
    origin: String,
    path: String,
    user: Option<&'a str>,
    fragment: bool,
}

impl<'a> UrlParts<'a> {
    fn of(url: &'a str) -> Result<Self, String> {
        if url.len() > LONGEST_URL {
            return Err(format!("a URL of {} bytes", url.len()));
        }
        let (url, fragment) = url.split_once('#').map_or((url, false), |(url, _)| (url, true));
        let of_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        let written = url.split_once("://").filter(|(scheme, _)| scheme.chars().all(of_scheme));
        let (scheme, rest) = written.unwrap_or(("http", url));
        let end = end_of_authority(rest);
        let (authority, path) = rest.split_at(end);
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        let origin = if host.starts_with("${") && written.is_none() {
            host.to_owned()
        } else {
            origin(&scheme.to_ascii_lowercase(), host)?
        };
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok(Self { origin, path: encode_path(&path), user, fragment })
    }
}

/// Where path or query begin; a placeholder's inside is passed over.
fn end_of_authority(rest: &str) -> usize {
    let mut inside = false;
    for (at, c) in rest.char_indices() {
        match c {
            '{' => inside = true,
            '}' => inside = false,
            '/' | '?' if !inside => return at,
            _ => {}
        }
    }
    rest.len()
}

fn origin(scheme: &str, host: &str) -> Result<String, String> {
    if !matches!(scheme, "http" | "https") {
        return Err(format!("the scheme {}: only HTTP is supported", quote(scheme)));
    }
    if host.is_empty() {
        return Err("the URL has no host".to_owned());
    }
    let Some(plain) = plain(host) else { return Ok(format!("{scheme}://{host}")) };
    match Url::parse(&format!("{scheme}://{plain}")) {
        Ok(url) => Ok(url.origin().ascii_serialization()),
        Err(error) => Err(format!("the URL's host {}: {error}", quote(&shown_host(host)))),
    }
}

/// A host and its port. What is no port there may be the beginning of a password with a `/` in it.
fn shown_host(host: &str) -> String {
    match host.split_once(':') {
        Some((name, port))
            if !host.starts_with('[') && port.contains(|c: char| !c.is_ascii_digit()) =>
        {
            format!("{name}:{MASK}")
        }
        _ => host.to_owned(),
    }
}

/// Template text fit for a path with query: what may not stand there is escaped.
pub(super) fn encode_path(path: &str) -> String {
    map_text(path, |text| Some(utf8_percent_encode(text, PATH).to_string()))
        .unwrap_or_else(|| path.to_owned())
}

/// Text escaped to stand for one segment or value.
pub(super) fn encode_value(text: &str) -> String {
    utf8_percent_encode(text, VALUE).to_string()
}

/// The server that a URL names: where requests go (without path), and the URL as a workload has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) origin: String,
    pub(super) url: String,
}

/// Reads the URL of a server.
///
/// # Errors
/// When it is not an origin.
pub(super) fn origin_of(url: &str) -> Result<Target, BadFile> {
    let wrong =
        |what: String| BadFile::whole(format!("--target {}: {what}", quote(&mask_text(url))));
    if !url.contains("://") {
        return Err(wrong("name the scheme too, such as http://127.0.0.1:8080".into()));
    }
    let parts = UrlParts::of(url).map_err(wrong)?;
    if parts.user.is_some() || parts.path.contains('?') {
        return Err(wrong("no user and no query belong there".into()));
    }
    let url = format!("{}{}", parts.origin, parts.path.trim_end_matches('/'));
    Ok(Target { origin: parts.origin, url })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        for (url, origin, path) in [
            ("http://h:80/a?b=c", "http://h", "/a?b=c"),
            ("HTTPS://H.example", "https://h.example", "/"),
            ("h/x y", "http://h", "/x%20y"),
            ("http://h?q={1}", "http://h", "/?q=%7B1%7D"),
            ("http://[::1]:8080/é", "http://[::1]:8080", "/%C3%A9"),
            ("${env.BASE}/a/${env.ID}", "${env.BASE}", "/a/${env.ID}"),
            ("h:1/in?next=http://x/", "http://h:1", "/in?next=http://x/"),
            ("${env.BASE}/in?next=http://x/", "${env.BASE}", "/in?next=http://x/"),
            ("https://${env.HOST}/a", "https://${env.HOST}", "/a"),
        ] {
            let parts = UrlParts::of(url).unwrap();
            assert_eq!((parts.origin.as_str(), parts.path.as_str()), (origin, path), "{url}");
        }
        for url in ["ftp://h/", "http://", "http://h:99999/", "http:// /", ""] {
            assert!(UrlParts::of(url).is_err(), "{url}");
        }
    }

    #[test]
    fn a_password_with_a_slash_is_not_repeated() {
        for (url, shown) in [
            ("http://ann:hun/ter2@h/", "`ann:***`"),
            ("http://ann:hunter2@[bad/", "`[bad`"),
            ("http://h:99999/", "`h:99999`"),
        ] {
            let Err(why) = UrlParts::of(url) else { panic!("{url}") };
            assert!(why.contains(shown), "{url}: {why}");
        }
    }

    #[test]
    fn a_target_is_a_server() {
        let target = origin_of("https://h/base/").unwrap();
        assert_eq!((target.origin.as_str(), target.url.as_str()), ("https://h", "https://h/base"));
        for url in ["h", "http://a:b@h", "http://h/?q", "ftp://h"] {
            assert!(origin_of(url).is_err(), "{url}");
        }
    }

    #[test]
    fn what_could_not_be_sent_is_reported() {
        let mut draft = Draft::new("line 1", "GET");
        draft.put_header("X-A", " 1 ");
        draft.put_header("X A", "1");
        draft.put_header("X-B", "1\r\nX-C: 2");
        assert!(draft.headers.iter().eq([("X-A", "1")]));
        assert_eq!(draft.notes.len(), 2);
    }

    #[test]
    fn cookies_are_one_field_and_credentials_are_sent_once() {
        let mut draft = Draft::new("", "GET");
        draft.put_header("cookie", "a=1");
        draft.put_url("http://ann%40x@h/").unwrap();
        draft.put_header("Cookie", "b=2");
        let user = format!("{PLAIN_BASIC}ann@x:");
        assert!(draft.headers.iter().eq([("cookie", "a=1; b=2"), ("Authorization", &user)]));
        draft.put_header("authorization", "Bearer x");
        draft.put_url("http://bob:b@h/").unwrap();
        assert!(draft.headers.iter().eq([("cookie", "a=1; b=2"), ("authorization", "Bearer x")]));
    }
}
