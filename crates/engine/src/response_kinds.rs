//! Counting responses by kind, as they come, and keeping how one body of each kind began.
//!
//! A kind is found among its endpoint's by one number, made of status, media type, the class of the
//! body's first byte and that of its length. Beginnings are copied only while a recent kind has none.

use model::interval::tallies_needed;
use model::interval::{BEGINNING, KindTally, Look, length_class, place};
use model::{Mix, Nanos};

use crate::attempt_log::endpoint_number;

/// Responses whose beginnings are copied after a new kind came up.
const COPIES: u32 = 1024;
/// Bytes of a beginning that are copied.
const COPIED: usize = BEGINNING;
/// Names of media types kept, and characters of each.
const TYPES: usize = 16;
pub(crate) const TYPE: usize = 60;
/// Characters of an address that a redirect leads to: what URLs have at most in practice.
pub(crate) const LOCATION: usize = 8192;

/// A worker's counts of kinds, and what is known of them.
#[derive(Debug, Default)]
pub(crate) struct ResponseKinds {
    endpoints: Vec<Vec<Entry>>,
    /// Responses that came one after the other and differ in nothing that is kept: counted, and not yet
    /// in their entry.
    alike: RepeatedResponse,
    /// Responses whose beginnings are still copied.
    copies: u32,
    /// The connection whose response's beginning was copied last, and what was.
    copied_from: Option<u32>,
    beginning: Vec<u8>,
    types: Vec<(u32, String)>,
    /// The last media type that was named.
    named: Option<u32>,
}

/// Consecutive responses that differ in nothing that is kept ([`ResponseKinds::alike`]).
#[derive(Debug, Default)]
struct RepeatedResponse {
    endpoint: u32,
    look: Look,
    bytes: u64,
    /// The entry's place among its endpoint's.
    at: usize,
    /// 0 where nothing is counted; nothing else here means anything then.
    responses: u64,
    first_ns: Nanos,
    last_ns: Nanos,
    service_sum_ns: u64,
}

#[derive(Debug)]
struct Entry {
    key: u64,
    tally: KindTally,
    /// Its beginning has been handed over, or will be with this interval.
    has_beginning: bool,
}

/// The properties of a whole response that decide its kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResponseShape {
    pub(crate) endpoint: u32,
    pub(crate) look: Look,
    pub(crate) bytes: u64,
    pub(crate) service_ns: Nanos,
    pub(crate) now: Nanos,
}

impl ResponseShape {
    #[inline]
    pub(crate) fn key(&self) -> u64 {
        let Look { status, media_type, begins } = self.look;
        u64::from(media_type) << 32
            | u64::from(status) << 16
            | u64::from(begins) << 8
            | u64::from(length_class(self.bytes))
    }
}

impl ResponseKinds {
    /// Makes room for the kinds of each endpoint of a mix.
    pub(crate) fn of(mix: &Mix) -> Self {
        let endpoints = tallies_needed(mix.endpoints.len()).max(1);
        let endpoints = (0..endpoints).map(|_| Vec::new()).collect();
        Self { endpoints, copies: COPIES, ..Self::default() }
    }

    /// The body of the response on `conn` begins with `bytes`.
    #[inline]
    pub(crate) fn begins(&mut self, conn: u32, bytes: &[u8]) {
        if self.copies > 0 {
            self.copy(conn, bytes);
        }
    }

    fn copy(&mut self, conn: u32, bytes: &[u8]) {
        self.copies -= 1;
        self.copied_from = Some(conn);
        self.beginning.clear();
        self.beginning.extend_from_slice(&bytes[..bytes.len().min(COPIED)]);
    }

    /// Whether a media type is the last one that was named.
    #[inline]
    pub(crate) fn just_named(&self, hash: u32) -> bool {
        self.named == Some(hash)
    }

    /// Keeps the name of a media type, once.
    pub(crate) fn names(&mut self, hash: u32, name: impl FnOnce() -> Option<String>) {
        self.named = Some(hash);
        if self.types.len() < TYPES && self.types.iter().all(|(known, _)| *known != hash) {
            self.types.push((hash, name().unwrap_or_default()));
        }
    }

    /// A response on `conn` is whole and succeeded.
    #[inline]
    pub(crate) fn record(&mut self, conn: u32, seen: ResponseShape) {
        let alike = &mut self.alike;
        let same =
            (alike.look, alike.endpoint, alike.bytes) == (seen.look, seen.endpoint, seen.bytes);
        if same && alike.responses > 0 && self.copied_from.is_none() {
            alike.add(seen);
        } else {
            self.record_other(conn, seen);
        }
    }

    /// A response that is not like the last one.
    fn record_other(&mut self, conn: u32, seen: ResponseShape) {
        self.settle();
        let key = seen.key();
        let Some(entries) = self.endpoints.get_mut(usize::from(endpoint_number(seen.endpoint)))
        else {
            return;
        };
        match entries.iter().position(|entry| entry.key == key) {
            Some(at) if entries[at].has_beginning || self.copied_from.is_none() => {
                self.alike = RepeatedResponse::begin(at, seen);
            }
            _ => self.record_new(conn, key, seen),
        }
    }

    /// Puts the responses that were alike into their entry.
    fn settle(&mut self) {
        let alike = std::mem::take(&mut self.alike);
        if alike.responses > 0 {
            let entries = &mut self.endpoints[usize::from(endpoint_number(alike.endpoint))];
            entries[alike.at].add(&alike);
        }
    }

    /// Counts a response whose kind is new or has no beginning yet.
    #[cold]
    fn record_new(&mut self, conn: u32, key: u64, seen: ResponseShape) {
        let Self { endpoints, copies, copied_from, beginning, types, .. } = self;
        let endpoint = endpoint_number(seen.endpoint);
        let entries = &mut endpoints[usize::from(endpoint)];
        let held = entries.iter().map(|entry| (entry.tally.look, entry.tally.length));
        let Some(at) = place(held, seen.look, length_class(seen.bytes)) else { return };
        if at == entries.len() {
            *copies = COPIES;
            let name = types.iter().find(|(hash, _)| *hash == seen.look.media_type);
            entries.push(Entry::new(key, endpoint.into(), seen, name.map(|(_, name)| name)));
        }
        let entry = &mut entries[at];
        entry.add(&RepeatedResponse::begin(at, seen));
        if seen.bytes == 0 {
            entry.has_beginning = true;
        } else if *copied_from == Some(conn) && !entry.has_beginning {
            entry.tally.beginning = Some(words(beginning, BEGINNING));
            entry.has_beginning = true;
        }
    }

    /// The response on `conn` is over: what was copied of it must not count for the next one.
    #[inline]
    pub(crate) fn over(&mut self, conn: u32) {
        if self.copied_from == Some(conn) {
            self.copied_from = None;
        }
    }

    /// Appends the counts of an interval to `into` and resets them.
    pub(crate) fn hand_over(&mut self, into: &mut Vec<KindTally>) {
        self.settle();
        for entry in self.endpoints.iter_mut().flatten().filter(|entry| entry.tally.responses > 0) {
            let KindTally { endpoint, look, length, .. } = entry.tally;
            let fresh = KindTally { endpoint, look, length, ..KindTally::default() };
            into.push(std::mem::replace(&mut entry.tally, fresh));
        }
    }
}

impl Entry {
    fn new(key: u64, endpoint: u32, seen: ResponseShape, media_type: Option<&String>) -> Self {
        let media_type = media_type.filter(|name| !name.is_empty()).cloned();
        let length = length_class(seen.bytes);
        let tally =
            KindTally { endpoint, look: seen.look, length, media_type, ..KindTally::default() };
        Self { key, tally, has_beginning: false }
    }

    fn add(&mut self, alike: &RepeatedResponse) {
        let RepeatedResponse { bytes, responses, first_ns, last_ns, service_sum_ns, .. } = *alike;
        let tally = &mut self.tally;
        if tally.responses == 0 {
            (tally.first_ns, tally.least_bytes, tally.most_bytes) = (first_ns, bytes, bytes);
        }
        tally.responses += responses;
        tally.last_ns = last_ns;
        tally.least_bytes = tally.least_bytes.min(bytes);
        tally.most_bytes = tally.most_bytes.max(bytes);
        tally.service_sum_ns = tally.service_sum_ns.saturating_add(service_sum_ns);
    }
}

impl RepeatedResponse {
    /// The first of several responses that are alike.
    fn begin(at: usize, seen: ResponseShape) -> Self {
        let ResponseShape { endpoint, look, bytes, service_ns, now } = seen;
        let (first_ns, last_ns) = (now, now);
        let (responses, service_sum_ns) = (1, service_ns);
        Self { endpoint, look, bytes, at, responses, first_ns, last_ns, service_sum_ns }
    }

    #[inline]
    fn add(&mut self, seen: ResponseShape) {
        self.responses += 1;
        self.last_ns = seen.now;
        self.service_sum_ns = self.service_sum_ns.saturating_add(seen.service_ns);
    }
}

/// A server's bytes as text without control characters, at most `most` characters long.
pub(crate) fn words(bytes: &[u8], most: usize) -> String {
    // A character takes a byte or more, so that no more bytes than this can matter.
    let bytes = &bytes[..bytes.len().min(4 * most)];
    let mut text = String::new();
    for c in String::from_utf8_lossy(bytes).chars() {
        if c.is_control() {
            text.extend(c.escape_default());
        } else {
            text.push(c);
        }
    }
    text.chars().take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(begins: u8, bytes: u64, now: Nanos) -> ResponseShape {
        let look = Look { status: 200, media_type: 9, begins };
        ResponseShape { endpoint: 0, look, bytes, service_ns: 5, now }
    }

    #[test]
    fn kinds_are_counted_with_how_one_of_each_began() {
        let mut kinds = ResponseKinds::of(&Mix::default());
        kinds.names(9, || Some("text/plain".to_owned()));
        for (n, (conn, body)) in
            [(1, &b"{\"a\":1}"[..]), (2, b"{\"a\":2}"), (1, b"down\x1b[2J")].into_iter().enumerate()
        {
            kinds.begins(conn, body);
            let class = model::interval::begins(body);
            kinds.record(conn, seen(class, body.len() as u64, n as u64));
            kinds.over(conn);
        }
        let mut page = Vec::new();
        kinds.hand_over(&mut page);
        let [json, text] = &page[..] else { panic!("{page:?}") };
        assert_eq!((json.responses, json.last_ns, json.service_sum_ns), (2, 1, 10));
        assert_eq!(json.beginning.as_deref(), Some("{\"a\":1}"));
        assert_eq!(json.media_type.as_deref(), Some("text/plain"));
        assert_eq!(text.beginning.as_deref(), Some("down\\u{1b}[2J"));
        let mut nothing = Vec::new();
        kinds.hand_over(&mut nothing);
        assert_eq!(nothing, []);
    }

    #[test]
    fn a_response_between_another_ones_parts_lends_it_no_beginning() {
        let mut kinds = ResponseKinds::of(&Mix::default());
        kinds.begins(1, b"first");
        kinds.begins(2, b"second");
        kinds.record(1, seen(b'a', 5, 1));
        kinds.over(1);
        kinds.record(2, seen(b'a', 6, 2));
        let mut page = Vec::new();
        kinds.hand_over(&mut page);
        assert_eq!(page[0].beginning.as_deref(), Some("second"));
    }
}
