//! Dripped, endless and repeated input against time and memory.
//!
//! No time is measured: a reader that costs the square of the length would keep these tests running for
//! hours.

use wire::{Limits, RequestParser, ResponseEvent, ResponseParser, ResponseTo, WireError};

const LIMITS: Limits = Limits { head_bytes: 1 << 20, headers: 60_000 };

/// Feeds `piece` over and over, at most `times`, until something is wrong.
fn until_error(parser: &mut ResponseParser, piece: &[u8], times: usize) -> Option<WireError> {
    (0..times).find_map(|_| parser.next(&mut &piece[..]).err())
}

fn begun(limits: Limits, start: &[u8]) -> ResponseParser {
    let mut parser = ResponseParser::new(limits);
    parser.begin(ResponseTo::Other);
    let mut input = start;
    while !input.is_empty() {
        _ = parser.next(&mut input).expect("the start is well formed");
    }
    parser
}

#[test]
fn an_endless_line_is_cut_at_the_limit() {
    for start in ["", "HTTP/1.1 200 ", "HTTP/1.1 200 OK\r\nA", "HTTP/1.1 200 OK\r\nA: "] {
        for piece in ["a", "aaaaaaa"] {
            let mut parser = begun(LIMITS, start.as_bytes());
            let error = until_error(&mut parser, piece.as_bytes(), LIMITS.head_bytes + 1);
            match (start, error) {
                ("", Some(WireError::NotHttp { .. })) => {}
                (_, Some(WireError::HeadTooLong { limit: 0x10_0000 })) => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn endless_headers_are_cut_at_either_limit() {
    let line = b"A: b\r\n";
    let mut parser = begun(LIMITS, b"HTTP/1.1 200 OK\r\n");
    let error = until_error(&mut parser, line, LIMITS.headers + 1);
    assert_eq!(error, Some(WireError::TooManyHeaders { limit: 60_000 }));

    let many = Limits { headers: usize::MAX, ..Limits::default() };
    let mut parser = begun(many, b"HTTP/1.1 200 OK\r\n");
    let error = until_error(&mut parser, line, many.head_bytes);
    assert_eq!(error, Some(WireError::HeadTooLong { limit: 0x1_0000 }));
}

#[test]
fn a_dripped_head_costs_what_its_length_costs() {
    let head = [b"HTTP/1.1 200 OK\r\nA: ", &[b'x'; 1_000_000][..], b"\r\nB: c\r\n\r\n"].concat();
    let mut parser = begun(LIMITS, b"");
    let mut heads = 0;
    for byte in head.chunks(1) {
        let mut input = byte;
        if let Some(ResponseEvent::Head(head)) = parser.next(&mut input).unwrap() {
            assert_eq!(head.headers.get("a").map(<[u8]>::len), Some(1_000_000));
            heads += 1;
        }
    }
    assert_eq!(heads, 1);
    assert!(matches!(parser.next(&mut &b"x"[..]), Ok(Some(ResponseEvent::Body(b"x")))));
    assert_eq!(parser.bytes_held(), 0);
}

#[test]
fn a_head_at_the_limit_passes_and_one_past_it_does_not() {
    let head = b"HTTP/1.1 204 \r\nA: b\r\n\r\n";
    for (head_bytes, fits) in [(head.len(), true), (head.len() - 1, false)] {
        let limits = Limits { head_bytes, headers: 1 };
        let mut whole = begun(limits, b"");
        assert_eq!(whole.next(&mut &head[..]).is_ok(), fits);
        let mut dripped = begun(limits, b"");
        assert_eq!(head.chunks(1).all(|byte| dripped.next(&mut &byte[..]).is_ok()), fits);
    }
    let mut parser = begun(Limits { headers: 0, ..Limits::default() }, b"");
    let error = parser.next(&mut &head[..]).err();
    assert_eq!(error, Some(WireError::TooManyHeaders { limit: 0 }));
}

#[test]
fn a_body_behind_a_dripped_head_is_not_copied() {
    let mut parser = begun(LIMITS, b"HTTP/1.1 200 OK\r");
    let rest = [b"\n\r\n", &[b'x'; 500_000][..]].concat();
    let mut input = &rest[..];
    assert!(matches!(parser.next(&mut input), Ok(Some(ResponseEvent::Head(_)))));
    assert!(parser.bytes_held() < 4096, "{}", parser.bytes_held());
    match parser.next(&mut input) {
        Ok(Some(ResponseEvent::Body(bytes))) => assert_eq!(bytes.as_ptr(), rest[3..].as_ptr()),
        other => panic!("{other:?}"),
    }
    assert_eq!(parser.bytes_held(), 0);
}

#[test]
fn a_whole_message_is_read_without_holding_memory() {
    let response: &[u8] =
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n";
    let mut parser = begun(LIMITS, b"");
    let mut input = response;
    while let Some(event) = parser.next(&mut input).unwrap() {
        let ended = matches!(event, ResponseEvent::End { .. });
        assert_eq!(parser.bytes_held(), 0);
        if ended {
            break;
        }
    }
    assert!(size_of::<ResponseParser>() <= 64 && size_of::<RequestParser>() <= 64);
}

#[test]
fn interim_responses_are_counted() {
    let interim = b"HTTP/1.1 102 Processing\r\n\r\n";
    let error = until_error(&mut begun(LIMITS, b""), interim, 100);
    assert_eq!(error, Some(WireError::TooManyInterim));
    let mut parser = begun(LIMITS, &interim.repeat(32));
    let last = parser.next(&mut &b"HTTP/1.1 200 OK\r\n\r\n"[..]);
    assert!(matches!(last, Ok(Some(ResponseEvent::Head(_)))), "{last:?}");
}

#[test]
fn chunk_lines_and_trailers_are_bounded() {
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let after = |start: &[u8], piece: &[u8], times| {
        until_error(&mut begun(Limits::default(), &[chunked, start].concat()), piece, times)
    };
    assert_eq!(after(b"", b"0", 17), Some(WireError::ChunkSizeOverflow));
    assert_eq!(after(b"1;", b"x", 256), Some(WireError::ChunkExtensionTooLong));
    assert_eq!(after(b"1", b" ", 257), Some(WireError::ChunkExtensionTooLong));
    let too_many = Some(WireError::TooManyHeaders { limit: 128 });
    assert_eq!(after(b"0\r\n", b"A: b\r\n", 200), too_many);
    let too_long = Some(WireError::HeadTooLong { limit: 65_536 });
    assert_eq!(after(b"0\r\nA: ", b"x", 70_000), too_long);
}

#[test]
fn a_body_of_any_length_is_counted_down() {
    let mut parser = begun(
        Limits::default(),
        b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n",
    );
    for _ in 0..100 {
        assert!(matches!(parser.next(&mut &[0; 100][..]), Ok(Some(ResponseEvent::Body(_)))));
    }
    let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n";
    let mut parser = begun(Limits::default(), head);
    assert!(matches!(parser.next(&mut &b"ab"[..]), Ok(Some(ResponseEvent::Body(b"ab")))));
}

#[test]
fn a_body_may_be_skipped_as_far_as_its_length_is_known() {
    let mut parser = begun(Limits::default(), b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc");
    assert_eq!(parser.body_left(), 97);
    parser.skip(96);
    assert_eq!(parser.body_left(), 1);
    let mut input = &b"zHTTP/1.1"[..];
    assert!(matches!(parser.next(&mut input), Ok(Some(ResponseEvent::Body(b"z")))));
    assert!(matches!(parser.next(&mut input), Ok(Some(ResponseEvent::End { keep_alive: true }))));
    assert_eq!((input, parser.body_left()), (&b"HTTP/1.1"[..], 0));
    for unknown in [&b"Transfer-Encoding: chunked\r\n\r\nff\r\n"[..], b"\r\nabc"] {
        let parser = begun(Limits::default(), &[b"HTTP/1.1 200 OK\r\n", unknown].concat());
        assert_eq!(parser.body_left(), 0);
    }
}

#[test]
#[should_panic(expected = "skipped 4 bytes of a body that has fewer")]
fn no_more_than_a_body_has_is_skipped() {
    begun(Limits::default(), b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n").skip(4);
}
