//! Well-formed messages and what is read from them.

use wire::{Eof, Framing, Limits, ResponseTo};

use crate::replay::{self, Common, Step};

fn responses(bytes: &[u8], responses_to: &[ResponseTo]) -> Vec<Step> {
    let whole = replay::responses([bytes], responses_to, Limits::default());
    let dripped = replay::responses(bytes.chunks(1), responses_to, Limits::default());
    assert_eq!(whole, dripped);
    whole
}

fn requests(bytes: &[u8]) -> Vec<Step> {
    let whole = replay::requests([bytes], Limits::default());
    assert_eq!(whole, replay::requests(bytes.chunks(1), Limits::default()));
    whole
}

/// Framing and persistence of the first head, and the steps after it.
fn first(steps: &[Step]) -> (Framing, bool, &[Step]) {
    match steps {
        [Step::Response { common, .. } | Step::Request { common, .. }, rest @ ..] => {
            (common.framing, common.keep_alive, rest)
        }
        other => panic!("no head but {other:?}"),
    }
}

const KEPT: Step = Step::End { keep_alive: Some(true) };
const CLOSED: Step = Step::End { keep_alive: Some(false) };

fn body(bytes: &[u8]) -> Step {
    Step::Body(bytes.to_vec())
}

#[test]
fn a_response_is_read_to_the_last_detail() {
    let bytes = b"HTTP/1.1 200 OK\r\nServer:nginx\r\nX-A: \tb c \r\nContent-Length: 2\r\n\r\nhi";
    let pairs = [("Server", "nginx"), ("X-A", "b c"), ("Content-Length", "2")];
    let headers = pairs.map(|(name, value)| (name.to_owned(), value.into())).to_vec();
    let (framing, keep_alive) = (Framing::Length(2), true);
    let common = Common { version_minor: 1, headers, framing, keep_alive, bytes: 64 };
    let head = Step::Response { status: 200, common };
    let expected = [head, body(b"hi"), KEPT, Step::Eof(Eof::Idle)];
    assert_eq!(responses(bytes, &[ResponseTo::Other]), expected);
}

#[test]
fn a_request_is_read_to_the_last_detail() {
    let bytes = b"POST /a/b?c=d HTTP/1.1\r\nhost: h:1\r\nExpect: 100-Continue\r\n\
                  Content-Length: 3\r\n\r\nabc";
    let pairs = [("host", "h:1"), ("Expect", "100-Continue"), ("Content-Length", "3")];
    let headers = pairs.map(|(name, value)| (name.to_owned(), value.into())).to_vec();
    let (framing, keep_alive) = (Framing::Length(3), true);
    let expected = [
        Step::Request {
            start: ["POST", "/a/b?c=d", "/a/b"].map(str::to_owned),
            query: Some("c=d".to_owned()),
            expect_continue: true,
            common: Common { version_minor: 1, headers, framing, keep_alive, bytes: 78 },
        },
        body(b"abc"),
        Step::End { keep_alive: None },
        Step::Eof(Eof::Idle),
    ];
    assert_eq!(requests(bytes), expected);
}

#[test]
fn framing_and_persistence_of_responses() {
    use Framing::{Chunked, Length, None, UntilClose};
    let table: [(&str, ResponseTo, Framing, bool); 22] = [
        ("1.1 200 OK\r\nContent-Length: 0", ResponseTo::Other, Length(0), true),
        ("1.1 200 OK\r\ncontent-LENGTH:\t7 ", ResponseTo::Other, Length(7), true),
        (
            "1.1 200 OK\r\nContent-Length: 7\r\nContent-Length: 07",
            ResponseTo::Other,
            Length(7),
            true,
        ),
        (
            "1.1 200 OK\r\nContent-Length: 7\r\nConnection: close",
            ResponseTo::Other,
            Length(7),
            false,
        ),
        (
            "1.1 200 OK\r\nContent-Length: 7\r\nConnection: a, Close",
            ResponseTo::Other,
            Length(7),
            false,
        ),
        ("1.1 200 OK\r\nTransfer-Encoding: chunked", ResponseTo::Other, Chunked, true),
        ("1.1 200 OK\r\nTransfer-Encoding:CHUNKED ", ResponseTo::Other, Chunked, true),
        (
            "1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close",
            ResponseTo::Other,
            Chunked,
            false,
        ),
        ("1.1 200 OK", ResponseTo::Other, UntilClose, false),
        ("1.1 200 OK\r\nConnection: keep-alive", ResponseTo::Other, UntilClose, false),
        ("1.0 200 OK\r\nContent-Length: 7", ResponseTo::Other, Length(7), false),
        (
            "1.0 200 OK\r\nContent-Length: 7\r\nConnection: Keep-Alive",
            ResponseTo::Other,
            Length(7),
            true,
        ),
        ("1.1 200 OK\r\nContent-Length: 7", ResponseTo::Head, None, true),
        ("1.1 200 OK\r\nTransfer-Encoding: chunked", ResponseTo::Head, None, true),
        ("1.1 200 OK", ResponseTo::Head, None, true),
        ("1.1 204 No Content", ResponseTo::Other, None, true),
        ("1.1 204 No Content\r\nContent-Length: 7", ResponseTo::Other, None, true),
        ("1.1 304 Not Modified\r\nContent-Length: 7", ResponseTo::Other, None, true),
        ("1.1 101 Switching Protocols\r\nConnection: upgrade", ResponseTo::Other, None, false),
        ("1.1 404 \r\nContent-Length: 7", ResponseTo::Other, Length(7), true),
        ("1.1 599\r\nContent-Length: 7", ResponseTo::Other, Length(7), true),
        ("1.1 999 R\u{e9}ason?\r\nContent-Length: 7", ResponseTo::Other, Length(7), true),
    ];
    for (head, response_to, framing, keep_alive) in table {
        let steps = responses(format!("HTTP/{head}\r\n\r\n").as_bytes(), &[response_to]);
        assert_eq!((first(&steps).0, first(&steps).1), (framing, keep_alive), "{head}");
    }
}

#[test]
fn framing_and_persistence_of_requests() {
    use Framing::{Chunked, Length, None};
    let table = [
        ("GET / HTTP/1.1\r\nHost: h", None, true),
        ("GET / HTTP/1.1\r\nHost:", None, true),
        ("GET / HTTP/1.1\r\nHost: [::1]:80\r\nConnection: close", None, false),
        ("GET / HTTP/1.0", None, false),
        ("GET / HTTP/1.0\r\nConnection: keep-alive", None, true),
        ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9", Length(9), true),
        ("POST / HTTP/1.0\r\nContent-Length: 9", Length(9), false),
        ("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 0", Length(0), true),
        ("PUT / HTTP/1.1\r\nHost: h\r\ntransfer-encoding: Chunked", Chunked, true),
        ("OPTIONS * HTTP/1.1\r\nHost: h", None, true),
        ("CONNECT h:1 HTTP/1.1\r\nHost: h:1", None, true),
        ("g!t http://h/ HTTP/1.1\r\nHost: other", None, true),
    ];
    for (head, framing, keep_alive) in table {
        let steps = requests(format!("{head}\r\n\r\n").as_bytes());
        assert_eq!((first(&steps).0, first(&steps).1), (framing, keep_alive), "{head}");
    }
}

#[test]
fn chunked_bodies() {
    let table: [(&str, &[u8]); 8] = [
        ("0\r\n\r\n", b""),
        ("3\r\nabc\r\n0\r\n\r\n", b"abc"),
        ("3\r\nabc\r\nA\r\n0123456789\r\n000\r\n\r\n", b"abc0123456789"),
        ("000000000000000a\r\n0123456789\r\n0\r\n\r\n", b"0123456789"),
        ("3;ext\r\nabc\r\n0;last=\"a;b\"\r\n\r\n", b"abc"),
        ("3 \t; a = b\r\nabc\r\n0\r\n\r\n", b"abc"),
        ("2\r\n\r\n\r\n0\r\n\r\n", b"\r\n"),
        ("3\r\nabc\r\n0\r\nX-Sum: 1\r\nother:\r\n\r\n", b"abc"),
    ];
    for (chunks, expected) in table {
        let response = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}");
        let steps = responses(response.as_bytes(), &[ResponseTo::Other]);
        let expected = match expected {
            b"" => vec![KEPT, Step::Eof(Eof::Idle)],
            bytes => vec![body(bytes), KEPT, Step::Eof(Eof::Idle)],
        };
        assert_eq!(first(&steps).2, expected, "{chunks:?}");
    }
}

#[test]
fn pipelined_responses_are_separated() {
    let bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n\
                  HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 204 \r\n\r\n";
    let steps = responses(bytes, &[ResponseTo::Head, ResponseTo::Other, ResponseTo::Other]);
    let kept = steps.iter().filter(|&step| *step == KEPT).count();
    assert_eq!((kept, steps.len()), (3, 8), "{steps:?}");
    assert!(steps.contains(&body(b"hi")));
}

#[test]
fn pipelined_requests_are_separated_and_an_empty_line_before_each_ignored() {
    let bytes = b"\r\nPOST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi\
                  \r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\n\r\n";
    let targets: Vec<_> = requests(bytes)
        .into_iter()
        .filter_map(|step| match step {
            Step::Request { start: [_, target, _], .. } => Some(target),
            Step::Error { .. } => panic!("{step:?}"),
            _ => None,
        })
        .collect();
    assert_eq!(targets, ["/1", "/2"]);
}

#[test]
fn interim_responses_are_skipped() {
    let bytes = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n\
                  HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    let steps = responses(bytes, &[ResponseTo::Other]);
    assert!(matches!(steps[0], Step::Response { status: 200, .. }), "{steps:?}");
    assert_eq!(steps[1..], [KEPT, Step::Eof(Eof::Idle)]);
}

#[test]
fn after_101_the_bytes_belong_to_another_protocol() {
    let bytes = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n";
    let steps = responses(bytes, &[ResponseTo::Other]);
    assert_eq!(steps[1..], [CLOSED, Step::Eof(Eof::Idle)]);
}

#[test]
fn what_the_end_of_the_connection_means() {
    let table: [(&str, Eof); 11] = [
        ("", Eof::NoResponse),
        ("H", Eof::Truncated),
        ("HTTP/1.1 200 OK\r\n\r", Eof::Truncated),
        ("HTTP/1.1 100 Continue\r\n\r\n", Eof::Truncated),
        ("HTTP/1.1 200 OK\r\n\r\n", Eof::Complete),
        ("HTTP/1.1 200 OK\r\n\r\nabc", Eof::Complete),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na", Eof::Truncated),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", Eof::Idle),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n", Eof::Truncated),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", Eof::Truncated),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", Eof::Idle),
    ];
    for (bytes, expected) in table {
        let steps = responses(bytes.as_bytes(), &[ResponseTo::Other]);
        assert_eq!(steps.last(), Some(&Step::Eof(expected)), "{bytes:?}");
    }
    let table = [
        ("", Eof::Idle),
        ("\r\n", Eof::Idle),
        ("\r", Eof::Truncated),
        ("GET", Eof::Truncated),
        ("GET / HTTP/1.0\r\n\r\n", Eof::Idle),
        ("GET / HTTP/1.0\r\nContent-Length: 1\r\n\r\n", Eof::Truncated),
    ];
    for (bytes, expected) in table {
        assert_eq!(requests(bytes.as_bytes()).last(), Some(&Step::Eof(expected)), "{bytes:?}");
    }
}

#[test]
fn a_parser_begins_afresh_after_any_end() {
    let mut parser = wire::ResponseParser::new(Limits::default());
    let whole: &[u8] = b"HTTP/1.1 204 \r\n\r\n";
    for (cut, eof) in [(0, Eof::NoResponse), (5, Eof::Truncated), (whole.len(), Eof::Complete)] {
        parser.begin(ResponseTo::Other);
        let mut input = &whole[..cut];
        _ = parser.next(&mut input).expect("the response is well formed");
        assert_eq!(parser.eof(), eof);
    }
    parser.begin(ResponseTo::Other);
    assert!(parser.next(&mut &b"nonsense"[..]).is_err());
    parser.begin(ResponseTo::Other);
    assert!(matches!(parser.next(&mut &whole[..]), Ok(Some(wire::ResponseEvent::Head(_)))));
}
