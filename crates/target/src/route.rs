//! What a path means.

use model::Nanos;
use wire::{Framing, RequestHead};

use crate::counters::Kind;
use crate::fault::Fault;
use crate::query::{Wrong, duration, duration_up_to, pairs, shown, whole};
use crate::queue::{Distribution, QueueKey};
use crate::shop::{self, Visit};

/// The most bytes that `/bytes/{n}` responds with.
const MAX_BYTES: u64 = 10 << 30;
/// The most bytes that `/echo` takes.
pub(crate) const MAX_ECHO: usize = 1 << 20;
/// The longest that `/cpu/{duration}` computes: its thread serves no other request in that time.
const MAX_CPU: Nanos = model::units::SECOND;
/// Processors that a queue may have.
const MAX_SERVERS: u64 = 100_000;

/// A request, as far as the path and its parameters go.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Health,
    StubStatus,
    Bytes(u64),
    Status(u16),
    Delay(Nanos),
    Cpu(Nanos),
    Echo(Box<Echo>),
    Queue(QueueKey),
    Shop(Box<Visit>),
    Fault(Fault),
    Unknown,
    UnknownFault,
    Wrong(Box<Wrong>),
    TooLarge,
}

/// A body on its way back.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Echo {
    pub(crate) content_type: String,
    pub(crate) body: Vec<u8>,
}

impl Route {
    /// The route of a request head; `seed` is that of tokens, and of queues which name none.
    #[inline]
    pub(crate) fn of(head: &RequestHead<'_>, seed: u64) -> (Kind, Self) {
        match head.path {
            "/healthz" => (Kind::Healthz, Self::Health),
            "/" => (Kind::Root, Self::Health),
            _ => Self::of_other(head, seed),
        }
    }

    fn of_other(head: &RequestHead<'_>, seed: u64) -> (Kind, Self) {
        let path = &head.path[1.min(head.path.len())..];
        let (first, rest) = path.split_once('/').map_or((path, None), |(a, b)| (a, Some(b)));
        let (kind, route) = match (first, rest) {
            ("stub_status", None) => (Kind::StubStatus, Ok(Self::StubStatus)),
            ("echo", None) => (Kind::Echo, Ok(echo(head))),
            ("queue", None) => (Kind::Queue, queue(head.query, seed).map(Self::Queue)),
            ("login", None) => (Kind::Login, Ok(Self::Shop(Box::new(shop::login(head))))),
            ("items", id) => (Kind::Items, Ok(Self::Shop(Box::new(shop::items(head, id, seed))))),
            ("bytes", Some(n)) => (Kind::Bytes, whole("n", n, 0, MAX_BYTES).map(Self::Bytes)),
            ("status", Some(code)) => (Kind::Status, status(code)),
            ("delay", Some(text)) => (Kind::Delay, duration("duration", text).map(Self::Delay)),
            ("cpu", Some(text)) => {
                (Kind::Cpu, duration_up_to(MAX_CPU, "duration", text).map(Self::Cpu))
            }
            ("fault", Some(kind)) => (Kind::Fault, Ok(fault(kind))),
            _ => (Kind::Unknown, Ok(Self::Unknown)),
        };
        (kind, route.unwrap_or_else(|wrong| Self::Wrong(Box::new(wrong))))
    }

    /// Whether the response comes before the body has been read.
    pub(crate) fn responds_early(&self) -> bool {
        matches!(self, Self::TooLarge | Self::Fault(Fault::Early))
    }
}

fn echo(head: &RequestHead<'_>) -> Route {
    if matches!(head.framing, Framing::Length(bytes) if bytes > MAX_ECHO as u64) {
        return Route::TooLarge;
    }
    let given = head.headers.get("content-type").and_then(|value| str::from_utf8(value).ok());
    let content_type = given.unwrap_or("application/octet-stream").to_owned();
    Route::Echo(Box::new(Echo { content_type, body: Vec::new() }))
}

fn status(code: &str) -> Result<Route, Wrong> {
    whole("code", code, 200, 599).map(|code| Route::Status(code as u16))
}

fn fault(kind: &str) -> Route {
    Fault::named(kind).map_or(Route::UnknownFault, Route::Fault)
}

fn queue(query: Option<&str>, seed: u64) -> Result<QueueKey, Wrong> {
    let mut key = QueueKey {
        servers: 1,
        mean_ns: model::units::MILLISECOND,
        distribution: Distribution::Exponential,
        seed,
    };
    let mut seen = Vec::new();
    for (name, value) in pairs(query) {
        if seen.contains(&name) {
            return Err(Wrong::new(format_args!("{} is given twice", shown(name))));
        }
        seen.push(name);
        match name {
            "servers" => key.servers = whole(name, value, 1, MAX_SERVERS)? as u32,
            "mean" => key.mean_ns = duration(name, value)?,
            "seed" => key.seed = whole(name, value, 0, u64::MAX)?,
            "dist" => {
                key.distribution = Distribution::named(value).ok_or_else(|| {
                    Wrong::new(format_args!("dist is exp or det, not {}", shown(value)))
                })?;
            }
            _ => {
                return Err(Wrong::new(format_args!(
                    "/queue takes servers, mean, dist and seed, not {}",
                    shown(name)
                )));
            }
        }
    }
    Ok(key)
}

#[cfg(test)]
mod tests {
    use wire::{Limits, RequestEvent, RequestParser};

    use super::*;

    fn route(target: &str) -> Route {
        let request = format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n");
        let mut parser = RequestParser::new(Limits::default());
        match parser.next(&mut request.as_bytes()) {
            Ok(Some(RequestEvent::Head(head))) => Route::of(&head, 5).1,
            other => panic!("{target}: {other:?}"),
        }
    }

    #[test]
    fn paths() {
        let table = [
            ("/healthz", Route::Health),
            ("/healthz?x=1", Route::Health),
            ("/", Route::Health),
            ("http://h", Route::Health),
            ("http://h/healthz", Route::Health),
            ("/stub_status", Route::StubStatus),
            ("/bytes/0", Route::Bytes(0)),
            ("/bytes/10737418240", Route::Bytes(10 << 30)),
            ("/status/204", Route::Status(204)),
            ("/delay/50ms", Route::Delay(50_000_000)),
            ("/delay/1h", Route::Delay(3_600_000_000_000)),
            ("/cpu/250us", Route::Cpu(250_000)),
            ("/cpu/1s", Route::Cpu(1_000_000_000)),
            ("/fault/hang", Route::Fault(Fault::Hang)),
            ("/fault/none", Route::UnknownFault),
            ("/fault/", Route::UnknownFault),
            ("/healthz/", Route::Unknown),
            ("/bytes", Route::Unknown),
            ("//", Route::Unknown),
        ];
        for (target, expected) in table {
            assert_eq!(route(target), expected, "{target}");
        }
    }

    #[test]
    fn queues() {
        let default = QueueKey {
            servers: 1,
            mean_ns: 1_000_000,
            distribution: Distribution::Exponential,
            seed: 5,
        };
        assert_eq!(route("/queue"), Route::Queue(default));
        assert_eq!(
            route("/queue?servers=4&mean=2ms&dist=det&seed=9"),
            Route::Queue(QueueKey {
                servers: 4,
                mean_ns: 2_000_000,
                distribution: Distribution::Deterministic,
                seed: 9,
            })
        );
    }

    #[test]
    fn wrong_parameters_are_named_with_their_form() {
        for (target, needles) in [
            ("/bytes/x", ["n is a whole number from 0 to 10737418240", "`x`"]),
            ("/bytes/10737418241", ["n is a whole number", "`10737418241`"]),
            ("/bytes/+1", ["n is a whole number", "`+1`"]),
            ("/bytes/-1", ["n is a whole number", "`-1`"]),
            ("/status/101", ["code is a whole number from 200 to 599", "`101`"]),
            ("/delay/2h", ["duration up to 1h", "`2h`"]),
            ("/cpu/1h", ["duration up to 1s", "`1h`"]),
            ("/cpu/1001ms", ["duration up to 1s", "`1001ms`"]),
            ("/delay/", ["duration up to 1h", "``"]),
            ("/queue?servers=0", ["servers is a whole number from 1", "`0`"]),
            ("/queue?mean=soon", ["mean is a duration", "`soon`"]),
            ("/queue?dist=pareto", ["dist is exp or det", "`pareto`"]),
            ("/queue?rate=1", ["/queue takes servers, mean, dist and seed", "`rate`"]),
            ("/queue?seed=1&seed=2", ["given twice", "`seed`"]),
        ] {
            match route(target) {
                Route::Wrong(wrong) => {
                    assert!(needles.iter().all(|n| wrong.0.contains(n)), "{target}: {wrong:?}");
                }
                other => panic!("{target}: {other:?}"),
            }
        }
    }
}
