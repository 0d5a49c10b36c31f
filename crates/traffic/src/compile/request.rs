//! Compiles one request: head and body as fixed text and values.

use std::ops::Range;

use model::secret::is_secret_name;
use model::workload::{Body, Check, Endpoint, Fields, Flow, Step};
use wire::{Limits, RequestEvent, RequestParser};

use crate::escape::{Escape, escape};
use crate::finding::{Findings, inside};
use crate::program::{Form, Op, Request};
use crate::source::{Fixed, Wants, asks_to_close};
use crate::value::Value;
use model::quote::quote;

use super::resolver::{Resolver, TemplatePiece};
use super::server::Server;

/// A request as an endpoint or a step states it.
pub(super) struct RequestSpec<'a> {
    /// Its path into the workload.
    pub(super) place: String,
    pub(super) name: String,
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) query: &'a Fields,
    pub(super) headers: &'a Fields,
    pub(super) body: Option<&'a Body>,
    pub(super) checks: &'a [Check],
    /// Names that earlier steps extracted from their responses.
    pub(super) extracted: &'a [String],
    /// Whether it sends the session's cookies.
    pub(super) in_session: bool,
}

impl<'a> RequestSpec<'a> {
    pub(super) fn endpoint(endpoint: &'a Endpoint, index: usize) -> Self {
        let method = method(endpoint.method.as_deref(), endpoint.body.as_ref());
        Self {
            place: format!("endpoints/{index}"),
            name: name(endpoint.name.as_deref(), method, &endpoint.path),
            method,
            path: &endpoint.path,
            query: &endpoint.query,
            headers: &endpoint.headers,
            body: endpoint.body.as_ref(),
            checks: &endpoint.checks,
            extracted: &[],
            in_session: false,
        }
    }

    pub(super) fn step(flow: &Flow, step: &'a Step, place: &str, extracted: &'a [String]) -> Self {
        let method = method(step.method.as_deref(), step.body.as_ref());
        Self {
            place: place.to_owned(),
            name: format!("{}/{}", flow.name, name(step.name.as_deref(), method, &step.path)),
            method,
            path: &step.path,
            query: &step.query,
            headers: &step.headers,
            body: step.body.as_ref(),
            checks: &step.checks,
            extracted,
            in_session: true,
        }
    }
}

/// The method: POST with a body and GET without, unless given.
pub(super) fn method<'a>(given: Option<&'a str>, body: Option<&Body>) -> &'a str {
    given.unwrap_or(if body.is_some() { "POST" } else { "GET" })
}

/// A name in results: its own, or method and path with placeholders in brackets.
pub(super) fn name(own: Option<&str>, method: &str, path: &str) -> String {
    let path = path.split('?').next().unwrap_or_default();
    own.map_or_else(|| format!("{method} {}", path.replace("${", "{")), str::to_owned)
}

/// Pieces as they are put together.
#[derive(Debug, Default)]
pub(super) struct Ops(Vec<Op>);

impl Ops {
    pub(super) fn text(&mut self, bytes: &[u8]) {
        match self.0.last_mut() {
            _ if bytes.is_empty() => {}
            Some(Op::Text(text)) => text.extend_from_slice(bytes),
            _ => self.0.push(Op::Text(bytes.to_vec())),
        }
    }

    /// Text that is escaped for its place, which is not a header field.
    pub(super) fn escaped(&mut self, text: &str, place: Escape) {
        let mut out = Vec::new();
        let done = escape(text.as_bytes(), false, place, &mut out);
        debug_assert!(done.is_ok(), "only header fields refuse bytes");
        self.text(&out);
    }

    /// A value in a place where any byte is allowed.
    pub(super) fn push(&mut self, value: Value, place: Escape) {
        let mut out = Vec::new();
        match value.constant() {
            Some(bytes) if escape(bytes, false, place, &mut out).is_ok() => self.text(&out),
            _ => self.0.push(Op::Value(value, place)),
        }
    }

    /// A value. One that never changes is written out, and refused if it is not allowed there.
    pub(super) fn value(
        &mut self,
        value: Value,
        place: Escape,
        path: &str,
        part: Option<Range<usize>>,
        findings: &Findings,
    ) {
        if let Some(bytes) = value.constant()
            && let Err(control) = escape(bytes, false, place, &mut Vec::new())
        {
            let what = format!("holds byte 0x{:02x}, which no header field can", control.0);
            findings.add_at(path, part, what);
            return;
        }
        self.push(value, place);
    }

    /// The session's cookies behind a `Cookie` field's own; behind the first such field only.
    fn further_cookies(&mut self, own: &str) {
        let is_there = self.0.iter().any(|op| matches!(op, Op::FurtherCookies));
        // An empty field says that none are to be sent.
        if !is_there && !own.trim().is_empty() {
            self.0.push(Op::FurtherCookies);
        }
    }

    fn length(&self) -> Option<usize> {
        match &self.0[..] {
            [] => Some(0),
            [Op::Text(text)] => Some(text.len()),
            _ => None,
        }
    }
}

impl Resolver<'_> {
    /// Compiles the endpoint of an index.
    pub(super) fn request(&self, index: usize, server: &Server, fixed: &mut Vec<Fixed>) -> Request {
        let spec = RequestSpec::endpoint(&self.workload.endpoints[index], index);
        self.compiled_request(&spec, server, fixed)
    }

    /// Compiles a request.
    pub(super) fn compiled_request(
        &self,
        spec: &RequestSpec<'_>,
        server: &Server,
        fixed: &mut Vec<Fixed>,
    ) -> Request {
        let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        let method = spec.method;
        if method.is_empty() || !method.chars().all(token) || method == "CONNECT" {
            let what = format!("{} is not a method that can be sent", quote(method));
            self.findings.add(&inside(&spec.place, "method"), what);
        }
        let (mut head, mut body) = (Ops::default(), Ops::default());
        head.text(format!("{method} ").as_bytes());
        self.path(spec, &server.base, &mut head);
        head.text(b" HTTP/1.1\r\n");
        let media = self.body(spec, &mut body);
        let closes = self.headers(spec, server, media.as_deref(), &mut head);
        if spec.body.is_some() || matches!(method, "POST" | "PUT" | "PATCH") {
            head.text(b"Content-Length: ");
            match body.length() {
                Some(bytes) => head.text(bytes.to_string().as_bytes()),
                None => head.0.push(Op::Length),
            }
            head.text(b"\r\n");
        }
        head.text(b"\r\n");
        let (checks, wanted) = self.checks(spec);
        let wants = match checks.iter().any(crate::check::Check::needs_body) {
            true => Wants::Whole,
            false if !checks.is_empty() => Wants::Head,
            false => Wants::Nothing,
        };
        let (pools, variables) = self.needed(&head, &body, &wanted);
        let form = formed(head, body, fixed);
        let name = spec.name.clone();
        let head = method == "HEAD";
        Request { name, head, closes, wants, form, pools, variables, checks, wanted }
    }

    /// Writes the header fields. Returns whether they ask for `Connection: close`.
    fn headers(
        &self,
        spec: &RequestSpec<'_>,
        server: &Server,
        media: Option<&str>,
        head: &mut Ops,
    ) -> bool {
        let own = |name: &str| spec.headers.iter().any(|(n, _)| n.eq_ignore_ascii_case(name));
        let all = self.workload.headers.iter().filter(|(name, _)| !own(name));
        let all = all.map(|field| ("headers".to_owned(), field));
        let owned = spec.headers.iter().map(|field| (inside(&spec.place, "headers"), field));
        let fields: Vec<(String, (&str, &str))> = all.chain(owned).collect();
        let has = |name: &str| fields.iter().any(|(_, (n, _))| n.eq_ignore_ascii_case(name));
        if !has("host") {
            head.text(format!("Host: {}\r\n", server.host).as_bytes());
        }
        for (path, (name, value)) in &fields {
            self.header(&inside(path, name), name, value, spec, head);
        }
        if let Some(media) = media.filter(|_| !has("content-type")) {
            head.text(format!("Content-Type: {media}\r\n").as_bytes());
        }
        if spec.in_session && !has("cookie") {
            head.0.push(Op::Cookies);
        }
        let closes = !self.inputs.keepalive && !has("connection");
        if closes {
            head.text(b"Connection: close\r\n");
        }
        let mut named =
            fields.iter().filter(|(_, (name, _))| name.eq_ignore_ascii_case("connection"));
        closes || named.any(|(_, (_, value))| asks_to_close(value.as_bytes()))
    }

    fn header(&self, path: &str, name: &str, value: &str, spec: &RequestSpec<'_>, head: &mut Ops) {
        let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if name.is_empty() || !name.chars().all(token) {
            self.findings.add(path, format!("{} is not the name of a header field", quote(name)));
            return;
        }
        let lower = name.to_ascii_lowercase();
        if matches!(lower.as_str(), "content-length" | "transfer-encoding") {
            self.findings.add(path, "is derived from the body: leave it out");
            return;
        }
        head.text(format!("{name}: ").as_bytes());
        let credential =
            matches!(lower.as_str(), "authorization" | "proxy-authorization" | "cookie");
        let Some(pieces) = self.template(value.trim(), path, spec.extracted) else {
            return;
        };
        if self.masking && (credential || is_secret_name(name)) {
            head.text(b"***\r\n");
            return;
        }
        // Byte ranges in findings refer to the trimmed text.
        let cut = value.len() - value.trim_start().len();
        for piece in pieces {
            match piece {
                TemplatePiece::Text(text, at) => {
                    let part = Some(at + cut..at + cut + text.len());
                    let value = Value::text(text.into_bytes());
                    head.value(value, Escape::Header, path, part, self.findings);
                }
                TemplatePiece::Value(value, at) => {
                    let part = Some(at.start + cut..at.end + cut);
                    head.value(value, Escape::Header, path, part, self.findings);
                }
            }
        }
        if spec.in_session && lower == "cookie" {
            head.further_cookies(value);
        }
        head.text(b"\r\n");
    }

    /// The pools and variables that a request needs, including those that its variables need.
    fn needed(&self, head: &Ops, body: &Ops, wanted: &[Value]) -> (Vec<u16>, Vec<u16>) {
        let mut pools = vec![false; self.stock.len()];
        let mut variables = vec![false; self.variables.len()];
        let mut note = |value: &Value, variables: &mut [bool]| {
            value.walk(&mut |value| match value {
                Value::Cell { pool, .. } => pools[usize::from(*pool)] = true,
                Value::Variable(index) => variables[usize::from(*index)] = true,
                _ => {}
            });
        };
        for op in head.0.iter().chain(&body.0) {
            if let Op::Value(value, _) = op {
                note(value, &mut variables);
            }
        }
        wanted.iter().for_each(|value| note(value, &mut variables));
        // A variable needs only those before it.
        for index in (0..self.variables.len()).rev() {
            if variables[index] {
                note(&self.variables[index].1, &mut variables);
            }
        }
        let set =
            |marks: &[bool]| (0..).zip(marks).filter(|(_, set)| **set).map(|(at, _)| at).collect();
        (set(&pools), set(&variables))
    }
}

fn formed(head: Ops, body: Ops, fixed: &mut Vec<Fixed>) -> Form {
    match (&head.0[..], &body.0[..]) {
        ([Op::Text(head)], body @ ([] | [Op::Text(_)])) => {
            let mut bytes = head.clone();
            if let [Op::Text(body)] = body {
                bytes.extend_from_slice(body);
            }
            fixed.push(Fixed { bytes: bytes.into() });
            Form::Fixed(fixed.len() as u32 - 1)
        }
        _ => Form::Written { head: head.0, body: body.0 },
    }
}

/// Checks the bytes of a request: whether they are one request, and whether a JSON body is valid.
pub(super) fn judge(bytes: &[u8], kind: &Request, path: &str, findings: &Findings) {
    let mut parser = RequestParser::new(Limits { head_bytes: 1 << 20, headers: 1_000 });
    let (mut rest, mut body, mut json, mut whole) = (bytes, Vec::new(), false, false);
    loop {
        match parser.next(&mut rest) {
            Ok(Some(RequestEvent::Head(head))) => {
                let media = head.headers.get("content-type").unwrap_or_default();
                json = media.to_ascii_lowercase().starts_with(b"application/json");
            }
            Ok(Some(RequestEvent::Body(part))) => body.extend_from_slice(part),
            Ok(Some(RequestEvent::End)) => {
                whole = true;
                break;
            }
            Ok(None) => break,
            Err(error) => {
                findings.add(path, format!("would not be an HTTP request: {error}"));
                return;
            }
        }
    }
    if !whole || !rest.is_empty() {
        findings.add(path, "would not be a single HTTP request");
    } else if json
        && !body.is_empty()
        && let Err(error) = serde_json::from_slice::<serde::de::IgnoredAny>(&body)
    {
        let what = error.to_string();
        let what = what.rsplit_once(" at line ").map_or(&*what, |(what, _)| what);
        let column = error.column().saturating_sub(1).min(body.len());
        let shown = String::from_utf8_lossy(&body[column.saturating_sub(20)..]).into_owned();
        let fixed = matches!(kind.form, Form::Fixed(_));
        let filled = if fixed { "" } else { " once its placeholders are filled in" };
        let what = format!("is not JSON{filled}: {what}, near {}", quote(&shown));
        findings.add(&inside(path, "body"), what);
    }
}
