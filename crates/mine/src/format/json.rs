//! Logs of JSON lines: which members hold what.

use model::units::SECOND;
use serde_json::Value;

use crate::address::{address, forwarded};
use crate::hit::{Bad, Hit, Slots, Took, duration};
use crate::time::Stamp;

/// What a member of a JSON line may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// When the request was logged.
    At,
    /// The client's address.
    Client,
    /// The user.
    User,
    /// The `User-Agent`.
    Agent,
    /// The host.
    Host,
    /// The whole request line.
    Request,
    /// The method.
    Method,
    /// The path, with or without its query.
    Path,
    /// The query.
    Query,
    /// The status.
    Status,
    /// Bytes of the response.
    Bytes,
    /// How long the server took.
    Taken,
}

/// The roles with their names, and the members that servers write them under: Caddy, Traefik, nginx and Apache with
/// JSON formats, Envoy, and loggers of common frameworks.
const ROLES: [(Role, &str, &[&str]); 12] = [
    (
        Role::At,
        "at",
        &[
            "ts",
            "StartUTC",
            "time",
            "timestamp",
            "@timestamp",
            "time_iso8601",
            "msec",
            "time_local",
            "start_time",
            "date",
            "at",
        ],
    ),
    (
        Role::Client,
        "client",
        &[
            "request.client_ip",
            "request.remote_ip",
            "ClientHost",
            "remote_addr",
            "client_ip",
            "remote_ip",
            "downstream_remote_address",
            "ip",
            "client",
            "remote_host",
            "ClientAddr",
        ],
    ),
    (Role::User, "user", &["user_id", "ClientUsername", "remote_user", "user"]),
    (
        Role::Agent,
        "agent",
        &[
            "request.headers.User-Agent",
            "request_User-Agent",
            "http_user_agent",
            "user_agent",
            "userAgent",
            "agent",
        ],
    ),
    (
        Role::Host,
        "host",
        &["request.host", "RequestHost", "http_host", "authority", "host", "server_name"],
    ),
    (Role::Request, "request", &["request_line", "request"]),
    (
        Role::Method,
        "method",
        &["request.method", "RequestMethod", "request_method", "method", "verb"],
    ),
    (Role::Path, "path", &["request.uri", "RequestPath", "request_uri", "uri", "path", "url"]),
    (Role::Query, "query", &["args", "query_string", "query"]),
    (
        Role::Status,
        "status",
        &["status", "DownstreamStatus", "response_code", "status_code", "statusCode"],
    ),
    (
        Role::Bytes,
        "bytes",
        &[
            "size",
            "DownstreamContentSize",
            "body_bytes_sent",
            "bytes_sent",
            "bytes",
            "response_size",
            "bytes_out",
        ],
    ),
    (
        Role::Taken,
        "taken",
        &[
            "duration",
            "Duration",
            "request_time",
            "latency",
            "response_time",
            "duration_ms",
            "latency_ms",
            "took",
            "taken",
        ],
    ),
];

/// Members that hold the address which a proxy before the server names.
const FORWARDED: [&str; 4] = [
    "http_x_forwarded_for",
    "x_forwarded_for",
    "request.headers.X-Forwarded-For",
    "request_X-Forwarded-For",
];

/// Which members hold what.
#[derive(Debug, Clone)]
pub(super) struct Members {
    /// For each of [`ROLES`] the members to look at, the first that is there first.
    paths: Vec<Vec<String>>,
    /// Whether the client's is given: then no other is looked for.
    client: bool,
    /// Nanoseconds of a unit of the time taken, where it is given.
    unit_ns: Option<f64>,
}

impl Members {
    /// Those of servers, and before them those given as `ROLE=MEMBER`; `taken=MEMBER:ms` names the unit too.
    pub(super) fn named(given: &[String]) -> Result<Self, String> {
        let known = |(_, _, names): &(Role, &str, &[&str])| {
            names.iter().map(|name| (*name).to_owned()).collect()
        };
        let paths = ROLES.iter().map(known).collect();
        let mut members = Self { paths, client: false, unit_ns: None };
        for text in given {
            let (role, member) = text
                .split_once('=')
                .ok_or_else(|| format!("`{text}`: write ROLE=MEMBER, such as at=ts"))?;
            let Some(at) = ROLES.iter().position(|(_, name, _)| *name == role.trim()) else {
                let roles: Vec<&str> = ROLES.iter().map(|(_, name, _)| *name).collect();
                return Err(format!("`{role}` is none of {}", roles.join(", ")));
            };
            let (member, unit) = match (ROLES[at].0, member.rsplit_once(':')) {
                (Role::Taken, Some((member, unit))) => (member, Some(unit)),
                _ => (member, None),
            };
            if let Some(unit) = unit {
                members.unit_ns = Some(unit_ns(unit)?);
            }
            members.client |= ROLES[at].0 == Role::Client;
            members.paths[at] = vec![member.trim().to_owned()];
        }
        Ok(members)
    }
}

fn unit_ns(unit: &str) -> Result<f64, String> {
    match unit {
        "s" => Ok(1e9),
        "ms" => Ok(1e6),
        "us" => Ok(1e3),
        "ns" => Ok(1.0),
        _ => Err(format!("`{unit}` is not a unit of time: use s, ms, us or ns")),
    }
}

/// Reads JSON lines.
#[derive(Debug)]
pub(super) struct Reader {
    members: Members,
    line: Value,
    /// The user of the line where that is a number, as text.
    user: String,
    /// A member that held a time taken in a unit that is not known.
    without_unit: Option<String>,
}

impl Reader {
    pub(super) fn new(members: Members) -> Self {
        Self { members, line: Value::Null, user: String::new(), without_unit: None }
    }

    /// A member of the lines so far that held a time taken in a unit that is not known.
    pub(super) fn without_unit(&self) -> Option<&str> {
        self.without_unit.as_deref()
    }

    pub(super) fn read(&mut self, line: &[u8]) -> Result<Hit<'_>, Bad> {
        let from = memchr::memchr(b'{', line).ok_or(Bad::Form)?;
        self.line = serde_json::from_slice(&line[from..]).map_err(|_| Bad::Form)?;
        let users = ROLES.iter().position(|(role, ..)| *role == Role::User);
        let mut users = self.members.paths[users.unwrap_or_default()].iter();
        if let Some(Value::Number(number)) = users.find_map(|path| member(&self.line, path)) {
            self.user = number.to_string();
        }
        let mut slots = Slots::default();
        for ((role, _, _), paths) in ROLES.iter().zip(&self.members.paths) {
            let found = paths.iter().find_map(|path| Some((path, member(&self.line, path)?)));
            let Some((path, value)) = found else { continue };
            match role {
                Role::At => slots.at = instant(value),
                Role::Client => slots.client = address(text(value)),
                Role::User if value.is_number() => slots.user = self.user.as_bytes(),
                Role::User => slots.user = text(value),
                Role::Agent => slots.agent = text(value),
                Role::Host => slots.host = text(value),
                Role::Request => slots.request = text(value),
                Role::Method => slots.method = text(value),
                Role::Path => slots.uri = text(value),
                Role::Query => slots.query = text(value),
                Role::Status => slots.status = status(value),
                Role::Bytes => slots.bytes = figure(value).map_or(0, |bytes| bytes.max(0.0) as u64),
                Role::Taken => {
                    let unit = self.members.unit_ns.or_else(|| unit_of(value, path, &self.line));
                    slots.took = taken(value, unit);
                    if unit.is_none() && slots.took.is_none() && self.without_unit.is_none() {
                        self.without_unit = figure(value).map(|_| path.clone());
                    }
                }
            }
        }
        if !self.members.client
            && let Some(value) = FORWARDED.iter().find_map(|path| member(&self.line, path))
        {
            slots.forwarded = forwarded(text(value));
        }
        slots.hit()
    }
}

fn status(value: &Value) -> Option<u16> {
    let status = figure(value)? as u16;
    (100..=999).contains(&status).then_some(status)
}

/// A member by its name, or by names with points between them. Of a list the first item.
fn member<'a>(line: &'a Value, path: &str) -> Option<&'a Value> {
    let first = |value: &'a Value| match value {
        Value::Array(items) => items.first(),
        Value::Null => None,
        other => Some(other),
    };
    if let Some(value) = line.get(path) {
        return first(value);
    }
    let mut at = line;
    for name in path.split('.') {
        at = at.get(name)?;
    }
    first(at)
}

fn text(value: &Value) -> &[u8] {
    value.as_str().map_or(b"", str::as_bytes)
}

fn figure(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
}

fn instant(value: &Value) -> Option<Stamp> {
    match value {
        Value::Number(number) => Stamp::since_epoch(number.as_f64()?),
        Value::String(text) => {
            let bytes = text.trim_matches(['[', ']']).as_bytes();
            Stamp::iso(bytes)
                .or_else(|| Stamp::common(bytes))
                .or_else(|| Stamp::since_epoch(text.parse().ok()?))
        }
        _ => None,
    }
}

/// Time taken; none where its unit is not known. Text may bring its unit: `12.5ms`.
fn taken(value: &Value, unit: Option<f64>) -> Option<Took> {
    if let Some(text) = value.as_str() {
        if text.ends_with(|c: char| c.is_ascii_alphabetic()) {
            return Some(Took::guessed(model::units::parse_duration(text).ok()?, SECOND));
        }
        return duration(text.as_bytes(), unit?);
    }
    let number = value.as_f64().filter(|number| number.is_finite() && *number >= 0.0)?;
    let unit = unit?;
    // Of a number with a point, zeros at the end are not kept, nor whether there were any.
    let most = if value.is_f64() { unit / 1_000.0 } else { unit };
    Some(Took::guessed((number * unit).round() as u64, most as u64))
}

/// Nanoseconds of the unit of a time taken: by the member's name, or by the members that stand beside it, which tell
/// the server. Else a number with a point is one of seconds, and of a whole one the unit is not known.
fn unit_of(value: &Value, path: &str, line: &Value) -> Option<f64> {
    let has = |member: &str| line.get(member).is_some();
    match path {
        path if path.ends_with("_ms") || path.ends_with("Ms") => Some(1e6),
        path if path.ends_with("_us") => Some(1e3),
        path if path.ends_with("_ns") => Some(1.0),
        // Traefik's.
        "Duration" => Some(1.0),
        // nginx's.
        "request_time" => Some(1e9),
        // Envoy's.
        "duration" if has("response_code") && has("start_time") => Some(1e6),
        // Echo's.
        "latency" if has("latency_human") => Some(1.0),
        _ => {
            let point = match value {
                Value::String(text) => text.contains('.'),
                value => value.is_f64(),
            };
            point.then_some(1e9)
        }
    }
}
