//! Counting responses by kind, as they come, and keeping how one body of each kind began.
//!
//! A kind is found among its endpoint's by its look and the class of its length. Beginnings are copied only
//! while a recent kind has none.

mod beginnings;
mod pieces;

use model::interval::tallies_needed;
use model::interval::{BEGINNING, Counted, KindTally, Look, begins, length_class, place};
use model::{Mix, Nanos};

use crate::attempt_log::endpoint_number;

use beginnings::Beginnings;
use pieces::Pieces;

/// Responses whose beginnings are copied after a new kind came up.
const COPIES: u32 = 1024;
/// Bytes of a beginning that are copied.
const COPIED: usize = BEGINNING;
/// The class of a beginning of which the rest is still to come. No beginning has it: see [`begins`].
pub(crate) const IN_PIECES: u32 = 0x100;
/// Names of media types kept, and characters of each.
const TYPES: usize = 16;
pub(crate) const TYPE: usize = 60;
/// Characters of an address that a redirect leads to: what URLs have at most in practice.
pub(crate) const LOCATION: usize = 8192;

/// A worker's counts of kinds, and what is known of them.
#[derive(Debug, Default)]
pub(crate) struct ResponseKinds {
    endpoints: Vec<OfEndpoint>,
    /// Responses that came one after the other and differ in nothing that is kept: counted, and not yet
    /// in their entry.
    alike: RepeatedResponse,
    pieces: Pieces,
    /// Responses whose beginnings are still copied.
    copies: u32,
    /// The connection whose response's beginning was copied last, and what was.
    copied_from: Option<u32>,
    beginning: Vec<u8>,
    types: Vec<(u32, String)>,
    /// The last media type that was named.
    named: Option<u32>,
}

/// The kinds of one endpoint's responses.
#[derive(Debug, Default)]
struct OfEndpoint {
    /// Whether the same request is sent again and again: only then can a wording say that something changed.
    unchanging: bool,
    entries: Vec<Entry>,
    beginnings: Beginnings,
    /// What the response counted last looked like, where it was not like the one before.
    last: Look,
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
    /// 1 where they came after one of another look, else 0.
    turns: u64,
}

#[derive(Debug)]
struct Entry {
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

impl ResponseKinds {
    /// Makes room for the kinds of each endpoint of a mix.
    pub(crate) fn of(mix: &Mix) -> Self {
        let endpoints = tallies_needed(mix.endpoints.len()).max(1);
        let same = |at: usize| mix.endpoints.get(at).is_none_or(|endpoint| endpoint.unchanging);
        let of_endpoint = |at| OfEndpoint::fresh(same(at));
        let endpoints = (0..endpoints).map(of_endpoint).collect();
        Self { endpoints, copies: COPIES, ..Self::default() }
    }

    /// The body of the response on `conn` begins with `bytes`, all of it or as much as is looked at: completes its
    /// look.
    #[inline]
    pub(crate) fn begins(&mut self, conn: u32, endpoint: u32, bytes: &[u8], look: &mut Look) {
        let of = self.endpoints.get_mut(usize::from(endpoint_number(endpoint)));
        (look.begins, look.wording) =
            of.map_or_else(|| (begins(bytes), 0), |of| of.beginnings.classify(bytes));
        if self.copies > 0 {
            self.copy(conn, bytes);
        }
    }

    /// The body of the response on `conn` begins with `bytes`, which may be less than is looked at.
    pub(crate) fn begins_with(&mut self, conn: u32, endpoint: u32, bytes: &[u8], look: &mut Look) {
        if bytes.len() >= BEGINNING {
            self.begins(conn, endpoint, bytes, look);
        } else if self.pieces.begin(conn, bytes) {
            look.begins = IN_PIECES;
        } else {
            // Cut where the network cut it: its words are not known.
            self.begins(conn, endpoint, bytes, look);
            look.wording = 0;
        }
    }

    /// More of a body that is [`IN_PIECES`].
    pub(crate) fn goes_on(&mut self, conn: u32, endpoint: u32, bytes: &[u8], look: &mut Look) {
        if self.pieces.add(conn, bytes) {
            self.ends(conn, endpoint, look);
        }
    }

    /// A body that is [`IN_PIECES`] ends, or enough of it has come: completes its response's look.
    pub(crate) fn ends(&mut self, conn: u32, endpoint: u32, look: &mut Look) {
        let piece = self.pieces.take(conn);
        self.begins(conn, endpoint, piece.as_ref().map_or(&[], |piece| piece.bytes()), look);
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
        let of = self.endpoints.get_mut(usize::from(endpoint_number(seen.endpoint)));
        let Some(OfEndpoint { entries, last, .. }) = of else { return };
        let turns = u64::from(*last != seen.look);
        *last = seen.look;
        let kind = (seen.look, length_class(seen.bytes));
        match entries.iter().position(|entry| (entry.tally.look, entry.tally.length) == kind) {
            Some(at) if entries[at].has_beginning || self.copied_from.is_none() => {
                self.alike = RepeatedResponse::begin(at, seen, turns);
            }
            _ => self.record_new(conn, seen, turns),
        }
    }

    /// Puts the responses that were alike into their entry.
    fn settle(&mut self) {
        let alike = std::mem::take(&mut self.alike);
        if alike.responses > 0 {
            let of = &mut self.endpoints[usize::from(endpoint_number(alike.endpoint))];
            of.entries[alike.at].add(&alike);
        }
    }

    /// Counts a response whose kind is new or has no beginning yet.
    #[cold]
    fn record_new(&mut self, conn: u32, seen: ResponseShape, turns: u64) {
        let Self { endpoints, copies, copied_from, beginning, types, .. } = self;
        let endpoint = endpoint_number(seen.endpoint);
        let OfEndpoint { entries, beginnings, .. } = &mut endpoints[usize::from(endpoint)];
        let length = length_class(seen.bytes);
        let Some((at, look)) = place(entries, endpoint.into(), seen.look, length) else { return };
        let seen = ResponseShape { look, ..seen };
        if look.wording == 0 {
            beginnings.stop();
        }
        if at == entries.len() {
            *copies = COPIES;
            let name = types.iter().find(|(hash, _)| *hash == look.media_type);
            entries.push(Entry::new(endpoint.into(), seen, name.map(|(_, name)| name)));
        }
        let entry = &mut entries[at];
        entry.add(&RepeatedResponse::begin(at, seen, turns));
        if seen.bytes == 0 {
            entry.has_beginning = true;
        } else if *copied_from == Some(conn) && !entry.has_beginning {
            entry.tally.beginning = Some(words(beginning, BEGINNING));
            entry.has_beginning = true;
        }
    }

    /// The response on `conn` is over: what was copied of it must not count for the next one.
    #[inline]
    pub(crate) fn end_response(&mut self, conn: u32) {
        if self.copied_from == Some(conn) {
            self.copied_from = None;
        }
    }

    /// The response on `conn` will never be whole.
    pub(crate) fn abandon(&mut self, conn: u32) {
        self.pieces.take(conn);
    }

    /// Begins anew, as where the window does: how a body of each kind began is handed over once more.
    pub(crate) fn restart(&mut self) {
        self.settle();
        self.endpoints.iter_mut().for_each(|of| *of = OfEndpoint::fresh(of.unchanging));
        self.copies = COPIES;
    }

    /// Appends the counts of an interval to `into` and resets them.
    pub(crate) fn hand_over(&mut self, into: &mut Vec<KindTally>) {
        self.settle();
        let entries = self.endpoints.iter_mut().flat_map(|of| &mut of.entries);
        for entry in entries.filter(|entry| entry.tally.responses > 0) {
            let KindTally { endpoint, look, length, .. } = entry.tally;
            let fresh = KindTally { endpoint, look, length, ..KindTally::default() };
            into.push(std::mem::replace(&mut entry.tally, fresh));
        }
    }
}

impl OfEndpoint {
    /// Without a response yet.
    fn fresh(unchanging: bool) -> Self {
        let beginnings = if unchanging { Beginnings::fresh() } else { Beginnings::default() };
        Self { unchanging, beginnings, ..Self::default() }
    }
}

impl Entry {
    fn new(endpoint: u32, seen: ResponseShape, media_type: Option<&String>) -> Self {
        let media_type = media_type.filter(|name| !name.is_empty()).cloned();
        let length = length_class(seen.bytes);
        let tally =
            KindTally { endpoint, look: seen.look, length, media_type, ..KindTally::default() };
        Self { tally, has_beginning: false }
    }

    fn add(&mut self, alike: &RepeatedResponse) {
        let RepeatedResponse { bytes, responses, first_ns, last_ns, service_sum_ns, turns, .. } =
            *alike;
        let tally = &mut self.tally;
        if tally.responses == 0 {
            (tally.first_ns, tally.least_bytes, tally.most_bytes) = (first_ns, bytes, bytes);
        }
        tally.responses += responses;
        tally.last_ns = last_ns;
        tally.least_bytes = tally.least_bytes.min(bytes);
        tally.most_bytes = tally.most_bytes.max(bytes);
        tally.service_sum_ns = tally.service_sum_ns.saturating_add(service_sum_ns);
        tally.turns += turns;
    }
}

impl Counted for Entry {
    fn tally(&self) -> &KindTally {
        &self.tally
    }

    fn look_mut(&mut self) -> &mut Look {
        &mut self.tally.look
    }

    fn absorb(&mut self, other: Self) {
        self.tally.absorb(other.tally);
        self.has_beginning |= other.has_beginning;
    }
}

impl RepeatedResponse {
    /// The first of several responses that are alike.
    fn begin(at: usize, seen: ResponseShape, turns: u64) -> Self {
        let ResponseShape { endpoint, look, bytes, service_ns, now } = seen;
        let (first_ns, last_ns) = (now, now);
        let (responses, service_sum_ns) = (1, service_ns);
        Self { endpoint, look, bytes, at, responses, first_ns, last_ns, service_sum_ns, turns }
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
    use model::EndpointPlan;

    use super::*;

    fn seen(look: Look, bytes: u64, now: Nanos) -> ResponseShape {
        ResponseShape { endpoint: 0, look, bytes, service_ns: 5, now }
    }

    /// A response on `conn`, whole at once.
    fn come(kinds: &mut ResponseKinds, conn: u32, body: &[u8], now: Nanos) {
        come_for(kinds, 0, conn, body, now);
    }

    fn come_for(kinds: &mut ResponseKinds, endpoint: u32, conn: u32, body: &[u8], now: Nanos) {
        let mut look = Look { status: 200, media_type: 9, ..Look::default() };
        kinds.begins(conn, endpoint, body, &mut look);
        kinds.record(conn, ResponseShape { endpoint, ..seen(look, body.len() as u64, now) });
        kinds.end_response(conn);
    }

    fn page(kinds: &mut ResponseKinds) -> Vec<KindTally> {
        let mut page = Vec::new();
        kinds.hand_over(&mut page);
        page
    }

    #[test]
    fn kinds_are_counted_with_how_one_of_each_began() {
        let mut kinds = ResponseKinds::of(&Mix::default());
        kinds.names(9, || Some("text/plain".to_owned()));
        let bodies = [(1, &b"{\"a\":1}"[..]), (2, b"{\"a\":2}"), (1, b"down\x1b[2J")];
        for (n, (conn, body)) in bodies.into_iter().enumerate() {
            come(&mut kinds, conn, body, n as u64);
        }
        let all = page(&mut kinds);
        let [json, text] = &all[..] else { panic!("{all:?}") };
        assert_eq!((json.responses, json.last_ns, json.service_sum_ns), (2, 1, 10));
        assert_eq!(json.beginning.as_deref(), Some("{\"a\":1}"));
        assert_eq!(json.media_type.as_deref(), Some("text/plain"));
        assert_eq!(text.beginning.as_deref(), Some("down\\u{1b}[2J"));
        assert_eq!(page(&mut kinds), []);
    }

    #[test]
    fn kinds_begin_anew_with_the_window() {
        let mut kinds = ResponseKinds::of(&Mix::default());
        kinds.names(9, || Some("text/plain".to_owned()));
        let in_warm_up: [&[u8]; 6] = [b"one", b"two", b"three", b"four", b"five", b"six"];
        in_warm_up.iter().for_each(|body| come(&mut kinds, 1, body, 0));
        assert_eq!(page(&mut kinds)[0].look.wording, 0);
        kinds.restart();
        come(&mut kinds, 1, b"one", 1);
        let all = page(&mut kinds);
        assert_eq!((all.len(), all[0].responses, all[0].turns), (1, 1, 1));
        assert_eq!(all[0].beginning.as_deref(), Some("one"));
        assert_eq!(all[0].media_type.as_deref(), Some("text/plain"));
        assert!(all[0].look.wording > 0, "{all:?}");
    }

    #[test]
    fn a_response_between_another_ones_parts_lends_it_no_beginning() {
        let mut kinds = ResponseKinds::of(&Mix::default());
        let mut look = Look { status: 200, media_type: 9, ..Look::default() };
        kinds.begins(1, 0, b"alike", &mut look);
        kinds.begins(2, 0, b"alike", &mut look);
        kinds.record(1, seen(look, 5, 1));
        kinds.end_response(1);
        kinds.record(2, seen(look, 6, 2));
        assert_eq!(page(&mut kinds)[0].beginning.as_deref(), Some("alike"));
    }

    #[test]
    fn a_body_in_pieces_is_of_the_kind_that_it_would_be_whole() {
        let body = &b"{\"state\":\"all is well\",\"of\":\"a long and a longer text\"}"[..];
        let mut kinds = ResponseKinds::of(&Mix::default());
        for cut in 1..body.len() {
            come(&mut kinds, 1, body, 0);
            let mut look = Look { status: 200, media_type: 9, ..Look::default() };
            kinds.begins_with(2, 0, &body[..cut], &mut look);
            assert_eq!(look.begins, IN_PIECES);
            kinds.goes_on(2, 0, &body[cut..], &mut look);
            kinds.ends(2, 0, &mut look);
            kinds.record(2, seen(look, body.len() as u64, 0));
            kinds.end_response(2);
        }
        let all = page(&mut kinds);
        assert_eq!((all.len(), all[0].responses), (1, 2 * (body.len() as u64 - 1)), "{all:?}");
        assert!(all[0].look.wording > 0);
    }

    #[test]
    fn bodies_that_never_change_are_distinguished_and_their_turns_counted() {
        let mut kinds = ResponseKinds::of(&Mix::default());
        for n in 0..400 {
            let body: &[u8] = if n / 100 % 2 == 0 { b"all is well" } else { b"out of luck" };
            come(&mut kinds, 1, body, n);
        }
        let turns: Vec<_> = page(&mut kinds).iter().map(|k| (k.responses, k.turns)).collect();
        assert_eq!(turns, [(200, 2), (200, 2)]);
    }

    #[test]
    fn each_endpoint_whose_request_never_changes_has_words_and_turns_of_its_own() {
        let endpoint = |unchanging| EndpointPlan { unchanging, ..EndpointPlan::default() };
        let endpoints = [true, false, true, true, true, true, true].map(endpoint).to_vec();
        let mut kinds = ResponseKinds::of(&Mix { endpoints, ..Mix::default() });
        // More beginnings in all than one memory of them holds.
        for n in 0..6000 {
            for endpoint in 0..7u32 {
                let body = if n < 3000 { "all is well" } else { "out of luck" };
                let body = format!("{} {body}", "x".repeat(1 + endpoint as usize));
                come_for(&mut kinds, endpoint, 1, body.as_bytes(), n);
            }
        }
        let all = page(&mut kinds);
        for endpoint in 0..7 {
            let own = all.iter().filter(|kind| kind.endpoint == endpoint);
            let counts: Vec<_> = own.map(|kind| (kind.responses, kind.turns)).collect();
            let expected = if endpoint == 1 { vec![(6000, 1)] } else { vec![(3000, 1); 2] };
            assert_eq!(counts, expected, "{endpoint}");
        }
    }

    #[test]
    fn bodies_of_many_wordings_are_one_kind() {
        let mut kinds = ResponseKinds::of(&Mix::default());
        for n in 0..26 {
            come(&mut kinds, 1, &[b'a' + n; 5], n.into());
        }
        let all = page(&mut kinds);
        assert_eq!((all.len(), all[0].responses, all[0].look.wording), (1, 26, 0));
    }
}
