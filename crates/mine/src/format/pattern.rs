//! Lines described by nginx's `log_format` or Apache's `LogFormat`: fields with text between them.

use memchr::memchr;
use model::units::SECOND;

use super::escapes::percent_encode;
use crate::address::{address, forwarded};
use crate::hit::{Bad, Hit, Slots, Took, duration, number, status};
use crate::time::{Memo, Stamp};

/// What a field of a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Client,
    /// The client's address as a proxy names it.
    Forwarded,
    User,
    /// What tells users apart because the user says so.
    Named,
    TimeCommon,
    TimeIso,
    TimeEpoch,
    Request,
    Method,
    /// Path with query.
    Uri,
    /// Path alone.
    Path,
    Query,
    Status,
    Bytes,
    Agent,
    Host,
    /// How long the server took, in units of so many nanoseconds.
    Taken(u32),
    /// The same in seconds, with a point: whole numbers may be in any unit, or be no times at all.
    Seconds,
    /// One of several times in seconds whose sum is what the server took.
    TakenPart,
    Other,
}

impl Field {
    fn is_time(self) -> bool {
        matches!(self, Self::TimeCommon | Self::TimeIso | Self::TimeEpoch)
    }
}

/// A field and what follows it.
#[derive(Debug, Clone)]
struct Piece {
    field: Field,
    /// The text behind it; empty at the end of the line.
    until: Vec<u8>,
    /// Whether quotes are around it.
    quoted: bool,
    /// Whether a later field holds the same, and more exactly.
    skipped: bool,
    /// Whether it is the one time of a line, which many lines have in common.
    is_time: bool,
}

/// A compiled description.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    lead: Vec<u8>,
    pieces: Vec<Piece>,
    /// Whether an address in quotes behind the last field is one that a proxy names, as nginx's own configuration writes
    /// it.
    pub(super) appended: bool,
}

/// Fields that hold the same, the better first.
const PREFERENCES: [&[Field]; 5] = [
    &[Field::Named, Field::User],
    &[Field::Request, Field::Uri, Field::Path],
    &[Field::Request, Field::Method],
    &[Field::TimeEpoch, Field::TimeIso, Field::TimeCommon],
    &[Field::Request, Field::Uri, Field::Query],
];

impl Pattern {
    /// Compiles a description. `user` is the field that tells users apart, as the description has it.
    ///
    /// # Errors
    /// What is missing, in words.
    pub(super) fn compile(text: &str, user: Option<&str>) -> Result<Self, String> {
        let parts = if text.contains('$') { nginx(text, user) } else { apache(text, user)? };
        let mut lead = Vec::new();
        let mut pieces: Vec<Piece> = Vec::new();
        for part in parts {
            match (part, pieces.last_mut()) {
                (Part::Text(text), None) => lead.extend(text.bytes()),
                (Part::Text(text), Some(piece)) => piece.until.extend(text.bytes()),
                (Part::Field(field), last) => {
                    let first = last.is_none();
                    let before = last.map_or(&lead, |piece| &piece.until);
                    if before.is_empty() && !first {
                        return Err("two of its fields stand side by side, with nothing between \
                                    them that shows where the first ends"
                            .to_owned());
                    }
                    let quoted = before.last() == Some(&b'"');
                    let until = Vec::new();
                    pieces.push(Piece { field, until, quoted, skipped: false, is_time: false });
                }
            }
        }
        let mut pattern = Self { lead, pieces, appended: false };
        pattern.check()?;
        if let Some(user) = user.filter(|_| !pattern.has(&[Field::Named])) {
            return Err(format!("it has no field {user} to tell users apart by"));
        }
        pattern.skip_doubles();
        let mut times = pattern.pieces.iter_mut().filter(|piece| piece.field.is_time());
        if let (Some(time), None) = (times.next(), times.next()) {
            time.is_time = true;
        }
        Ok(pattern)
    }

    fn has(&self, of: &[Field]) -> bool {
        self.pieces.iter().any(|piece| of.contains(&piece.field))
    }

    fn check(&self) -> Result<(), String> {
        use Field::*;
        let missing =
            |what: &str, names: &str| Err(format!("it has no {what}: it needs one of {names}"));
        if !self.has(&[TimeCommon, TimeIso, TimeEpoch]) {
            return missing("time", "$time_local, $time_iso8601, $msec");
        }
        if !self.has(&[Request, Uri, Path]) {
            return missing("request", "$request, $request_uri, $uri");
        }
        if !self.has(&[Request, Method]) {
            return missing("method", "$request, $request_method");
        }
        if !self.has(&[Status]) {
            return missing("status", "$status");
        }
        Ok(())
    }

    fn skip_doubles(&mut self) {
        for kinds in PREFERENCES {
            let Some(best) = kinds.iter().position(|kind| self.has(&[*kind])) else { continue };
            for piece in &mut self.pieces {
                let rank = kinds.iter().position(|kind| *kind == piece.field);
                piece.skipped |= rank.is_some_and(|rank| rank > best);
            }
        }
        // A path alone and a query alone are the target together.
        if !self.has(&[Field::Request, Field::Uri]) {
            for piece in &mut self.pieces {
                piece.skipped &= piece.field != Field::Query;
            }
        }
    }
}

enum Part {
    Text(String),
    Field(Field),
}

/// nginx: `$name` or `${name}` between literals.
fn nginx(text: &str, user: Option<&str>) -> Vec<Part> {
    let user = user.map(|user| user.trim_matches(['$', '{', '}']));
    let mut parts = Vec::new();
    let mut rest = text.trim_end_matches(['\r', '\n']);
    while let Some(at) = rest.find('$') {
        if at > 0 {
            parts.push(Part::Text(rest[..at].to_owned()));
        }
        let name = &rest[at + 1..];
        let (name, after) = match name.strip_prefix('{').and_then(|name| name.split_once('}')) {
            Some(both) => both,
            None => {
                let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                name.split_at(end.unwrap_or(name.len()))
            }
        };
        parts.push(Part::Field(if user == Some(name) { Field::Named } else { variable(name) }));
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest.to_owned()));
    }
    parts
}

/// A variable of nginx, of its modules, or of the built-in patterns.
fn variable(name: &str) -> Field {
    match name {
        "remote_addr" | "realip_remote_addr" | "binary_remote_addr" => Field::Client,
        "http_x_forwarded_for" | "http_x_real_ip" | "proxy_protocol_addr" => Field::Forwarded,
        "remote_user" => Field::User,
        "time_local" => Field::TimeCommon,
        "time_iso8601" => Field::TimeIso,
        "msec" => Field::TimeEpoch,
        "request" => Field::Request,
        "request_method" => Field::Method,
        "request_uri" => Field::Uri,
        "uri" | "document_uri" => Field::Path,
        "args" | "query_string" => Field::Query,
        "status" => Field::Status,
        "body_bytes_sent" | "bytes_sent" => Field::Bytes,
        "http_user_agent" => Field::Agent,
        "http_host" | "host" | "server_name" => Field::Host,
        "request_time" => Field::Taken(1_000_000_000),
        "seconds" => Field::Seconds,
        "taken_part" => Field::TakenPart,
        _ => Field::Other,
    }
}

/// Apache: `%h`, `%>s`, `%{User-Agent}i` between literals.
fn apache(text: &str, user: Option<&str>) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut rest = text.trim_end_matches(['\r', '\n']);
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\\' => {
                let next = rest.chars().next().unwrap_or('\\');
                literal.push(if next == 't' { '\t' } else { next });
                rest = rest.get(next.len_utf8()..).unwrap_or_default();
            }
            '%' if rest.starts_with('%') => {
                literal.push('%');
                rest = &rest[1..];
            }
            '%' => {
                rest = rest.trim_start_matches(|c: char| {
                    c == '>' || c == '<' || c == '!' || c == ',' || c.is_ascii_digit()
                });
                let (argument, after) = match rest.strip_prefix('{') {
                    Some(inside) => inside.split_once('}').ok_or("a `{` is not closed")?,
                    None => ("", rest),
                };
                let letter = after.chars().next().ok_or("it ends in a `%`")?;
                rest = &after[letter.len_utf8()..];
                if !literal.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut literal)));
                }
                match (letter, argument) {
                    _ if user == Some(written(letter, argument).as_str()) => {
                        parts.push(Part::Field(Field::Named));
                    }
                    // Apache's time brings its brackets with it.
                    ('t', "") => {
                        parts.push(Part::Text("[".to_owned()));
                        parts.push(Part::Field(Field::TimeCommon));
                        literal.push(']');
                    }
                    _ => parts.push(Part::Field(directive(letter, argument))),
                }
            }
            other => literal.push(other),
        }
    }
    if !literal.is_empty() {
        parts.push(Part::Text(literal));
    }
    Ok(parts)
}

/// A directive as it is written: `%u`, `%{sid}C`.
fn written(letter: char, argument: &str) -> String {
    if argument.is_empty() { format!("%{letter}") } else { format!("%{{{argument}}}{letter}") }
}

/// A directive of Apache's `mod_log_config`.
fn directive(letter: char, argument: &str) -> Field {
    let header = argument.to_ascii_lowercase();
    match (letter, header.as_str()) {
        ('h' | 'a', _) => Field::Client,
        ('u', _) => Field::User,
        ('r', _) => Field::Request,
        ('m', _) => Field::Method,
        ('U', _) => Field::Path,
        ('q', _) => Field::Query,
        ('s', _) => Field::Status,
        ('b' | 'B', _) => Field::Bytes,
        ('v' | 'V', _) | ('i', "host") => Field::Host,
        ('i', "user-agent") => Field::Agent,
        ('i', "x-forwarded-for" | "x-real-ip") => Field::Forwarded,
        ('D', _) | ('T', "us") => Field::Taken(1_000),
        ('T', "ms") => Field::Taken(1_000_000),
        ('T', _) => Field::Taken(1_000_000_000),
        ('t', "msec") => Field::TimeEpoch,
        ('t', "sec" | "usec") => Field::TimeEpoch,
        _ => Field::Other,
    }
}

/// Reads lines of a pattern.
#[derive(Debug)]
pub(super) struct Reader {
    pattern: Pattern,
    time: Memo,
    /// Whether a line had such an address as [`Pattern::appended`] says.
    forwarded: bool,
    /// Request, target and query of a line that has escapes in them, without those.
    plain: [Vec<u8>; 3],
}

impl Reader {
    pub(super) fn new(pattern: Pattern) -> Self {
        Self { pattern, time: Memo::default(), forwarded: false, plain: Default::default() }
    }

    /// Whether a line so far had an address behind its last field.
    pub(super) fn had_forwarded(&self) -> bool {
        self.forwarded
    }

    pub(super) fn read<'a>(&'a mut self, line: &'a [u8]) -> Result<Hit<'a>, Bad> {
        let mut slots = self.slots(line)?;
        let fields = [&mut slots.request, &mut slots.uri, &mut slots.query];
        for (field, plain) in fields.into_iter().zip(&mut self.plain) {
            if memchr(b'\\', field).is_some() {
                percent_encode(field, plain);
                *field = plain.as_slice();
            }
        }
        slots.hit()
    }

    fn slots<'a>(&mut self, line: &'a [u8]) -> Result<Slots<'a>, Bad> {
        let mut rest = line.strip_prefix(self.pattern.lead.as_slice()).ok_or(Bad::Form)?;
        let mut slots = Slots::default();
        for piece in &self.pattern.pieces {
            let known = piece.is_time.then(|| self.time.length_in(rest)).flatten();
            let (field, after) = known
                .and_then(|length| cut_at(piece, rest, length))
                .or_else(|| cut(piece, rest))
                .ok_or(Bad::Form)?;
            rest = after;
            if !piece.skipped {
                put(&mut slots, piece.field, field, &mut self.time)?;
            }
        }
        // Text behind the last field: servers append fields to the known formats.
        if rest.first().is_some_and(|byte| *byte != b' ') {
            return Err(Bad::Form);
        }
        if self.pattern.appended
            && let Some(inner) = rest.strip_prefix(b" \"")
            && let Some(end) = memchr(b'"', inner)
        {
            slots.forwarded = forwarded(&inner[..end]);
            self.forwarded |= !slots.forwarded.is_empty();
        }
        Ok(slots)
    }
}

/// A field of this length at the beginning, and what follows the text behind it, if that text is there: for one that was
/// cut off so before, and ends nowhere else.
fn cut_at<'a>(piece: &Piece, text: &'a [u8], length: usize) -> Option<(&'a [u8], &'a [u8])> {
    let (field, rest) = text.split_at(length);
    let after = rest.strip_prefix(piece.until.as_slice())?;
    (!piece.until.is_empty()).then_some((field, after))
}

/// The field at the beginning, and what follows the text behind it.
fn cut<'a>(piece: &Piece, text: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
    let Some(first) = piece.until.first() else {
        return match (piece.quoted, piece.field) {
            (false, Field::Other) => Some((text, b"")),
            // The last field ends at a blank: what follows was appended.
            _ => Some(text.split_at(memchr(b' ', text).unwrap_or(text.len()))),
        };
    };
    let mut from = 0;
    loop {
        // Fields without quotes are short: a plain loop is faster than a search made for long texts.
        let at = match piece.quoted {
            true => memchr(*first, &text[from..])?,
            false => text[from..].iter().position(|byte| byte == first)?,
        };
        let at = from + at;
        let escaped = piece.quoted && is_escaped(text, at);
        if !escaped && follows(&text[at..], &piece.until) {
            return Some((&text[..at], &text[at + piece.until.len()..]));
        }
        // The name of a user is the one field without quotes that may have blanks in it.
        if !piece.quoted && piece.field != Field::User {
            return None;
        }
        from = at + 1;
    }
}

/// Whether a text begins with another, of a few bytes, whose first byte it does begin with.
#[inline]
fn follows(text: &[u8], with: &[u8]) -> bool {
    text.len() >= with.len() && text.iter().zip(with).skip(1).all(|(a, b)| a == b)
}

/// Whether an odd number of backslashes stands before this place.
fn is_escaped(text: &[u8], at: usize) -> bool {
    text[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

fn put<'a>(slots: &mut Slots<'a>, of: Field, text: &'a [u8], time: &mut Memo) -> Result<(), Bad> {
    match of {
        Field::Client if slots.client.is_empty() => slots.client = address(text),
        Field::Forwarded if slots.forwarded.is_empty() => slots.forwarded = forwarded(text),
        Field::User | Field::Named => slots.user = text,
        Field::Agent => slots.agent = text,
        Field::Host => slots.host = text,
        Field::Request => slots.request = if text.is_empty() { b"-" } else { text },
        Field::Method => slots.method = text,
        Field::Uri | Field::Path => slots.uri = text,
        Field::Query => slots.query = text,
        Field::Status => slots.status = status(text),
        Field::Bytes => slots.bytes = number(text).unwrap_or(0),
        Field::TimeCommon => slots.at = time.read(text, Stamp::common),
        Field::TimeIso => slots.at = time.read(text, Stamp::iso),
        Field::TimeEpoch => slots.at = time.read(text, epoch),
        Field::Taken(unit) => {
            slots.took = duration(text, f64::from(unit));
            if slots.took.is_none() && text != b"-" {
                return Err(Bad::Form);
            }
        }
        // What the proxy answered itself.
        Field::Seconds if text == b"-" => {}
        Field::Seconds => {
            if !text.contains(&b'.') {
                return Err(Bad::Form);
            }
            slots.took = Some(duration(text, 1e9).ok_or(Bad::Form)?);
        }
        Field::TakenPart => {
            // -1 where the request never got so far.
            let part = duration(text, 1e9).unwrap_or(Took { ns: 0, step_ns: SECOND });
            slots.took = Some(slots.took.map_or(part, |before| before.with(part)));
        }
        Field::Client | Field::Forwarded | Field::Other => {}
    }
    Ok(())
}

fn epoch(text: &[u8]) -> Option<Stamp> {
    Stamp::since_epoch(str::from_utf8(text).ok()?.parse().ok()?)
}
