//! What a gateway asks the parsers for beyond the ends of messages: interim responses and trailers.

use wire::{Eof, Limits, RequestEvent, RequestParser, ResponseEvent, ResponseParser, ResponseTo};

/// Feeds bytes in pieces and names what came.
fn responses(bytes: &[u8], piece: usize) -> Vec<String> {
    let parser = ResponseParser::new(Limits::default());
    let mut parser = parser.reporting_interim().keeping_trailers();
    parser.begin(ResponseTo::Other);
    let mut came = Vec::new();
    for mut input in bytes.chunks(piece) {
        while let Some(event) = parser.next(&mut input).unwrap() {
            match event {
                ResponseEvent::Head(head) => {
                    came.push(format!("{} {:?}", head.status, head.headers));
                }
                ResponseEvent::Body(_) => {}
                ResponseEvent::End { .. } => {
                    came.push(format!("end {:?}", parser.trailers()));
                    return came;
                }
            }
        }
    }
    came
}

#[test]
fn interim_responses_and_trailers_are_reported_however_they_are_cut() {
    let bytes = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n\
                  HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nA: b\r\nC: d\r\n\r\n";
    let expected = [
        "100 {}",
        r#"103 {"Link": "a"}"#,
        r#"200 {"Transfer-Encoding": "chunked"}"#,
        r#"end {"A": "b", "C": "d"}"#,
    ];
    for piece in [1, 2, 3, 7, 50, bytes.len()] {
        assert_eq!(responses(bytes, piece), expected, "{piece}");
    }
}

#[test]
fn requests_keep_their_trailers_until_the_next() {
    let bytes =
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n\r\n";
    for piece in [1, 2, 5, bytes.len()] {
        let mut parser = RequestParser::new(Limits::default()).keeping_trailers();
        let mut ends = 0;
        for mut input in bytes.repeat(2).chunks(piece) {
            while let Some(event) = parser.next(&mut input).unwrap() {
                if matches!(event, RequestEvent::End) {
                    ends += 1;
                    assert_eq!(format!("{:?}", parser.trailers()), r#"{"A": "b"}"#, "{piece}");
                    assert_eq!(parser.eof(), Eof::Idle);
                }
            }
        }
        assert_eq!(ends, 2);
    }
}

#[test]
fn without_trailers_there_are_none() {
    let bytes = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    let mut parser = RequestParser::new(Limits::default()).keeping_trailers();
    let mut input = bytes.as_slice();
    while parser.next(&mut input).unwrap().is_some() {
        assert!(parser.trailers().is_empty());
    }
    assert_eq!((parser.eof(), parser.bytes_held()), (Eof::Idle, 0));
}
