//! Responses: bodies that are expected, compressed ones, redirects.

use std::time::Duration;

use model::ReasonCode;
use testkit::peer::{Peer, Step};

use crate::harness::{Loaded, interfaces, load, loaded, plimsoll};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{\"status\":\"ok\"}";
const DOWN: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nDown";
/// A peer whose every connection sends these responses in turn, for ever.
fn responding(responses: &[&[u8]]) -> Peer {
    let each = responses
        .iter()
        .flat_map(|response| [Step::Expect(b"\r\n\r\n"), Step::Send(response.to_vec())]);
    Peer::start(vec![Step::Forever(each.collect())])
}

fn url(peer: &Peer) -> String {
    format!("http://{}/", peer.addr())
}

#[test]
fn responses_that_are_not_as_expected_fail_as_checks() {
    for (like, responses, failed) in [
        ("FIRST", &[OK, DOWN][..], 20),
        ("FIRST", &[OK], 0),
        ("status", &[OK, DOWN], 20),
        ("/^.\"status\":\"o/", &[OK, DOWN], 20),
        ("/^D/", &[OK, DOWN], 20),
    ] {
        let peer = responding(responses);
        let run = load(&url(&peer), &format!("-c 1 -n 40 --expect-body-like {like}")).run;
        let totals = &run.totals;
        assert_eq!((totals.requests, totals.errors.check), (40, failed), "{like}: {totals:?}");
        assert_eq!(run.plan.expect_body.as_deref(), Some(like));
    }
}

/// A peer that responds well to whoever looks at it before the load, and with a page of errors under load.
fn overloaded() -> Peer {
    let script = |response: &[u8]| {
        vec![Step::Forever(vec![Step::Expect(b"\r\n\r\n"), Step::Send(response.to_vec())])]
    };
    // The first connection finds out whether the address works.
    Peer::start_each(vec![script(OK), script(OK), script(DOWN)])
}

#[test]
fn the_first_response_is_one_of_a_server_without_load() {
    let peer = overloaded();
    let loaded = load(&url(&peer), "-c 3 -n 40 --expect-body-like FIRST");
    let printed = &loaded.ended.stderr;
    assert!(printed.contains("1 request before the load"), "{printed}");
    let totals = &loaded.run.totals;
    assert_eq!((totals.succeeded, totals.errors.check), (0, 40), "{totals:?}");
}

#[test]
fn a_first_response_that_should_be_none_is_reported_before_the_load() {
    let redirect = b"HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n";
    let error = b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{\"ok\":false}";
    for (response, told) in [
        (OK, None),
        (&redirect[..], Some("others must be like is a redirect.")),
        (&error[..], Some("others must be like reads as an error.")),
    ] {
        let peer = responding(&[response]);
        let printed = load(&url(&peer), "-c 1 -n 5 --expect-body-like FIRST").ended.stderr;
        let printed = printed.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(printed.contains("the response that others must"), told.is_some(), "{printed}");
        assert!(told.is_none_or(|told| printed.contains(told)), "{printed}");
    }
}

#[test]
fn the_first_responses_of_a_workload_are_printed() {
    let peer = responding(&[OK]);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("w.yaml");
    let address = peer.addr();
    let text = format!("target: http://{address}\nendpoints: [{{path: /a}}, {{path: /b}}]\n");
    std::fs::write(&file, text).expect("a file");
    let flags = "-c 2 -n 10 --expect-body-like FIRST";
    let printed = load(&file.display().to_string(), flags).ended.stderr;
    let printed = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    for path in ["/a", "/b"] {
        assert!(printed.contains(&format!("{path}: 200 of 15 bytes")), "{printed}");
    }
}

#[test]
fn nothing_is_compared_with_a_response_that_failed() {
    let peer = responding(&[b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"]);
    let line = format!("run {} -c 1 -n 5 -q --expect-body-like FIRST", url(&peer));
    plimsoll(&line).refuses(1, "none succeeded: the server answered 503");
}

#[test]
fn what_is_waited_for_before_the_load_is_said() {
    let late = vec![
        Step::Expect(b"\r\n\r\n"),
        Step::Pause(Duration::from_millis(2500)),
        Step::Send(OK.to_vec()),
    ];
    let at_once = vec![Step::Expect(b"\r\n\r\n"), Step::Send(OK.to_vec())];
    for (flags, said) in [
        ("--expect-body-like FIRST", "waiting for the response that others are compared with"),
        ("--follow 1", "--follow: waiting for the response from http://127.0.0.1:"),
    ] {
        for (quiet, told) in [("", true), ("-q", false)] {
            // The first connection finds out whether the address works.
            let (late, then) = (vec![Step::Forever(late.clone())], at_once.clone());
            let peer = Peer::start_each(vec![vec![], late, vec![Step::Forever(then)]]);
            let line = format!("run {} -c 1 -n 5 --format json {quiet} {flags}", url(&peer));
            let ended = plimsoll(&line);
            assert_eq!(ended.stderr.contains(said), told, "{line}: {ended:#?}");
            let named = ended.stderr.replace("\n  ", " ").contains("up to 30s (-T)");
            assert_eq!(named, told, "{line}: {ended:#?}");
            loaded(ended);
        }
    }
}

#[test]
fn compressed_bodies_are_compared_decoded() {
    let (good, bad) = (gzipped(b"{\"status\":\"ok\"}"), gzipped(b"<h1>down!!</h1>"));
    let peer = responding(&[&good, &bad]);
    let Loaded { ended, run } = load(&url(&peer), "-c 1 -n 40 --expect-body-like FIRST");
    assert_eq!((run.totals.succeeded, run.totals.errors.check), (20, 20), "{:?}", run.totals);
    let printed = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(printed.contains("200 of 15 bytes `{\"status\":\"ok\"}`"), "{printed}");
}

#[test]
fn compressed_bodies_are_looked_into() {
    let gzipped = gzipped(b"{\"status\":\"ok\"}");
    let peer = responding(&[&gzipped]);
    let run = load(&url(&peer), "-c 1 -n 10 --expect-body-like status").run;
    assert_eq!(run.totals.succeeded, 10, "{:?}", run.totals);
    let brotli = b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 6\r\n\r\nstatus";
    let peer = responding(&[brotli]);
    let Loaded { ended, run } = load(&url(&peer), "-c 1 -n 10 --expect-body-like status");
    assert_eq!((run.totals.errors.check, run.totals.unchecked, ended.code), (10, Some(10), 98));
    let sample = &run.totals.error_samples["check"];
    assert!(sample.contains("only gzip and deflate"), "{sample}");
}

/// A response whose body is this text as gzip makes it, without compressing.
fn gzipped(text: &[u8]) -> Vec<u8> {
    let crc = !text.iter().fold(!0u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 }
        })
    });
    let length = text.len() as u16;
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
        text.len() + 23
    );
    [
        head.as_bytes(),
        b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x01",
        &length.to_le_bytes(),
        &(!length).to_le_bytes(),
        text,
        &crc.to_le_bytes(),
        &u32::from(length).to_le_bytes(),
    ]
    .concat()
}

#[test]
fn what_cannot_be_expected_is_refused() {
    let refused = |flags: &str, needle: &str| {
        plimsoll(&format!("run http://127.0.0.1:9/ {flags}")).refuses(2, needle);
    };
    refused("--expect-body-like /(/", "not a regular expression");
    refused("--expect-body-like //", "empty");
    refused("--follow 21", "at most 20");
    refused("--follow 1 -m POST", "final");
}

fn redirecting(to: &str) -> Vec<u8> {
    format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n").into_bytes()
}

#[test]
fn redirects_are_reported_and_not_followed() {
    let peer = responding(&[&redirecting("/login?from=a")]);
    let run = load(&url(&peer), "-c 2 -n 20").done();
    assert_eq!(run.redirected_to.as_deref(), Some("/login?from=a"));
    let note = run.validity.reasons.iter().find(|reason| reason.code.name() == "redirected");
    assert!(note.is_some_and(|reason| reason.text.contains("/login?from=a")), "{:?}", run.validity);
}

#[test]
fn following_finds_where_a_url_leads_and_loads_that() {
    let (first, then) = (redirecting("/b"), OK);
    let script = |response: &[u8]| {
        vec![Step::Forever(vec![Step::Expect(b"\r\n\r\n"), Step::Send(response.to_vec())])]
    };
    // Each asking is a way tried and a connection: the first two see the redirect.
    let peer = Peer::start_each(vec![script(&first), script(&first), script(then)]);
    let loaded = load(&url(&peer), "-c 1 -n 5 --follow 3");
    let printed = loaded.ended.stderr.clone();
    let run = loaded.done();
    assert!(printed.contains("redirects (302) to") && run.plan.url.ends_with("/b"), "{printed}");
    assert_eq!(run.totals.statuses.keys().copied().collect::<Vec<_>>(), [200]);
}

#[test]
fn following_goes_to_no_other_server_and_not_in_circles() {
    for (to, needle) in [
        ("http://127.0.0.2:1/", "another server"),
        ("/", "to itself"),
        ("/further", "still redirects (302)"),
    ] {
        let peer = responding(&[&redirecting(to)]);
        let line = format!("run {} -c 1 -n 5 -q --follow 0", url(&peer));
        plimsoll(&line).refuses(1, needle);
    }
}

/// A peer that has all responses of a pipeline from half as many requests.
#[test]
fn responses_that_were_not_asked_for_are_no_capacity() {
    let surplus = |Loaded { ended, run }: Loaded| {
        let mut reasons = run.validity.reasons.iter();
        let found = reasons.any(|reason| reason.code == ReasonCode::SurplusResponses);
        assert!(!found || ended.code == 98, "{ended:?}");
        found
    };
    for io in interfaces() {
        for (times, found) in [(1, false), (2, true)] {
            let each = vec![
                Step::Expect(b"\r\n\r\n"),
                Step::Pause(Duration::from_millis(1)),
                Step::Send(OK.repeat(times)),
            ];
            let peer = Peer::start(vec![Step::Forever(each)]);
            let line = format!("-c 2 -n 200 --pipeline 8 --io {io}");
            assert_eq!(surplus(load(&url(&peer), &line)), found, "{line}, {times} times");
        }
    }
}
