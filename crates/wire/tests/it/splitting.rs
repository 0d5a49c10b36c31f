//! Properties: a message reads the same however it is cut on its way, and as it was meant; one that
//! was tampered with gives the same steps and the same error however it is cut.

use proptest::collection::vec;
use proptest::prelude::*;
use wire::{Eof, LastHead, Limits, ResponseTo};

use crate::messages::{request, response};
use crate::replay::{Step, pieces, requests, responses, responses_after};

fn config() -> ProptestConfig {
    ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() }
}

/// Small enough for a tampered head to run into them.
const TIGHT: Limits = Limits { head_bytes: 200, headers: 4 };

fn assert_responses_alike(bytes: &[u8], to: &[ResponseTo], cuts: &[usize], limits: Limits) {
    let whole = responses([bytes], to, limits);
    assert_eq!(responses(bytes.chunks(1), to, limits), whole, "a byte at a time");
    assert_eq!(responses(pieces(bytes, cuts), to, limits), whole, "cut by {cuts:?}");
    for at in 0..=bytes.len() {
        let (before, after) = bytes.split_at(at);
        assert_eq!(responses([before, after], to, limits), whole, "cut at {at}");
    }
    let mut seen = LastHead::new();
    for time in 0..3 {
        let again = responses_after(Some(&mut seen), [bytes], to, limits);
        assert_eq!(again, whole, "seen {time} times");
    }
    let cut = responses_after(Some(&mut seen), pieces(bytes, cuts), to, limits);
    assert_eq!(cut, whole, "seen, cut by {cuts:?}");
}

fn assert_requests_alike(bytes: &[u8], cuts: &[usize], limits: Limits) {
    let whole = requests([bytes], limits);
    assert_eq!(requests(bytes.chunks(1), limits), whole, "a byte at a time");
    assert_eq!(requests(pieces(bytes, cuts), limits), whole, "cut by {cuts:?}");
    for at in 0..=bytes.len() {
        let (before, after) = bytes.split_at(at);
        assert_eq!(requests([before, after], limits), whole, "cut at {at}");
    }
}

fn cuts() -> impl Strategy<Value = Vec<usize>> {
    vec(0..80usize, 0..12)
}

/// Puts `bytes` in the place of what is there.
fn tamper(message: &mut Vec<u8>, tampering: &[(prop::sample::Index, usize, Vec<u8>)]) {
    for (at, removed, bytes) in tampering {
        let at = at.index(message.len() + 1);
        let end = message.len().min(at + removed);
        message.splice(at..end, bytes.iter().copied());
    }
}

fn tampering() -> impl Strategy<Value = Vec<(prop::sample::Index, usize, Vec<u8>)>> {
    let piece = prop_oneof![
        4 => vec(any::<u8>(), 0..3),
        4 => "[\r\n\t :;,\u{0}0-9a-f]{0,3}".prop_map(Into::into),
        1 => "(\r\nContent-Length: [0-9]{1,21}|\r\nTransfer-Encoding: chunked|\r\n )"
            .prop_map(Into::into),
    ];
    vec((any::<prop::sample::Index>(), 0..4usize, piece), 1..4)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn responses_read_as_meant_and_alike(messages in vec(response(), 1..3), cuts in cuts()) {
        let bytes: Vec<u8> = messages.iter().flat_map(|(message, _)| message.bytes.clone()).collect();
        let to: Vec<_> = messages.iter().map(|(_, to)| *to).collect();
        let meant = messages.into_iter().flat_map(|(message, _)| message.steps);
        let meant: Vec<_> = meant.chain([Step::Eof(Eof::Idle)]).collect();
        prop_assert_eq!(responses([&bytes[..]], &to, Limits::default()), meant);
        assert_responses_alike(&bytes, &to, &cuts, Limits::default());
    }

    #[test]
    fn requests_read_as_meant_and_alike(messages in vec(request(), 1..3), cuts in cuts()) {
        let bytes: Vec<u8> = messages.iter().flat_map(|message| message.bytes.clone()).collect();
        let meant = messages.into_iter().flat_map(|message| message.steps);
        let meant: Vec<_> = meant.chain([Step::Eof(Eof::Idle)]).collect();
        prop_assert_eq!(requests([&bytes[..]], Limits::default()), meant);
        assert_requests_alike(&bytes, &cuts, Limits::default());
    }

    #[test]
    fn tampered_responses_read_alike(
        (message, to) in response(), tampering in tampering(), cuts in cuts(), tight: bool,
    ) {
        let mut bytes = message.bytes;
        tamper(&mut bytes, &tampering);
        let limits = if tight { TIGHT } else { Limits::default() };
        assert_responses_alike(&bytes, &[to, ResponseTo::Other], &cuts, limits);
    }

    #[test]
    fn tampered_requests_read_alike(
        message in request(), tampering in tampering(), cuts in cuts(), tight: bool,
    ) {
        let mut bytes = message.bytes;
        tamper(&mut bytes, &tampering);
        let limits = if tight { TIGHT } else { Limits::default() };
        assert_requests_alike(&bytes, &cuts, limits);
    }

    #[test]
    fn a_response_until_the_close_takes_all_that_comes(
        body in vec(any::<u8>(), 0..50), cuts in cuts(),
    ) {
        let bytes = [b"HTTP/1.1 200 OK\r\n\r\n", &body[..]].concat();
        let steps = responses([&bytes[..]], &[ResponseTo::Other], Limits::default());
        let read = steps.iter().find_map(|step| match step {
            Step::Body(bytes) => Some(bytes.clone()),
            _ => None,
        });
        prop_assert_eq!(read.unwrap_or_default(), body);
        prop_assert_eq!(steps.last(), Some(&Step::Eof(Eof::Complete)));
        assert_responses_alike(&bytes, &[ResponseTo::Other], &cuts, Limits::default());
    }
}
