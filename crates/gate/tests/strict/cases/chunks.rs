//! Chunked bodies: RFC 9112 section 7.1.

use crate::case::{Case, passed, passed_all, post, refused_after, unanswered};

fn chunks(body: &str) -> Vec<u8> {
    post("Transfer-Encoding: chunked\r\n", body)
}

#[expect(clippy::too_many_lines, reason = "one table of cases")]
pub fn cases() -> Vec<Case> {
    let mut cases = vec![
        passed(
            "9112 7.1",
            "chunks are written anew",
            chunks("00005\r\nhello\r\n0\r\n\r\n"),
            &["\r\n\r\n5\r\nhello\r\n0\r\n\r\n"],
            &["00005"],
        ),
        passed(
            "9112 7.1",
            "digits of either case",
            chunks("a\r\n0123456789\r\nB\r\n0123456789a\r\n0\r\n\r\n"),
            &["0123456789a"],
            &[],
        ),
        passed("9112 7.1", "an empty body", chunks("0\r\n\r\n"), &["\r\n\r\n0\r\n\r\n"], &[]),
        passed(
            "9112 7.1",
            "a last chunk of several zeros",
            chunks("1\r\na\r\n0000\r\n\r\n"),
            &["1\r\na\r\n0\r\n\r\n"],
            &["0000"],
        ),
        passed(
            "9112 7.1.1",
            "extensions end here",
            chunks("5;a=b;c=\"d\"\r\nhello\r\n0;x\r\n\r\n"),
            &["5\r\nhello\r\n0\r\n\r\n"],
            &["a=b"],
        ),
        passed_all(
            "9112 9.3.2",
            "a request behind the last chunk",
            chunks("1\r\na\r\n0\r\n\r\nGET /next HTTP/1.1\r\nHost: a\r\n\r\n"),
            2,
            &["GET /next HTTP/1.1"],
            &[],
        ),
        passed(
            "9112 7.1.2",
            "trailers pass",
            chunks("1\r\na\r\n0\r\nX-Sum: 1\r\nX-More: 2\r\n\r\n"),
            &["\r\n0\r\nX-Sum: 1\r\nX-More: 2\r\n\r\n"],
            &[],
        ),
        passed(
            "9110 6.5.1",
            "trailers that say who asks end here",
            chunks(
                "0\r\nX-Forwarded-For: 203.0.113.9\r\nAuthorization: x203\r\nConnection: x203\r\nA: b\r\n\r\n",
            ),
            &["\r\n0\r\nA: b\r\n\r\n"],
            &["203.0", "x203"],
        ),
        passed(
            "9110 7.6.1",
            "nominated trailers go",
            post(
                "Transfer-Encoding: chunked\r\nConnection: x-sum\r\n",
                "1\r\na\r\n0\r\nX-Sum: 7\r\n\r\n",
            ),
            &["1\r\na\r\n0\r\n\r\n"],
            &["x-sum"],
        ),
        unanswered("9112 7.1", "no last chunk", chunks("5\r\nhello\r\n")),
        unanswered("9112 7.1", "no end of the trailers", chunks("0\r\nA: b\r\n")),
        unanswered("9112 7.1", "a chunk cut short", chunks("5\r\nhel")),
    ];
    let malformed = [
        ("no size", "\r\nhello\r\n0\r\n\r\n"),
        ("a size that is no number", "x\r\nhello\r\n0\r\n\r\n"),
        ("a negative size", "-1\r\nhello\r\n0\r\n\r\n"),
        ("a size with a sign", "+5\r\nhello\r\n0\r\n\r\n"),
        ("a size with 0x", "0x5\r\nhello\r\n0\r\n\r\n"),
        ("a size behind a space", " 5\r\nhello\r\n0\r\n\r\n"),
        ("a size before a space", "5 \r\nhello\r\n0\r\n\r\n"),
        ("a size before a tab", "5\t\r\nhello\r\n0\r\n\r\n"),
        ("a size of 17 digits", "00000000000000005\r\nhello\r\n0\r\n\r\n"),
        ("a size above 64 bits", "ffffffffffffffff1\r\nhello\r\n0\r\n\r\n"),
        ("a size with an underscore", "1_0\r\nhello\r\n0\r\n\r\n"),
        ("a size that ends in LF", "5\nhello\r\n0\r\n\r\n"),
        ("a size that ends in CR", "5\rhello\r\n0\r\n\r\n"),
        ("a chunk longer than its size", "5\r\nhello!\r\n0\r\n\r\n"),
        ("a chunk shorter than its size", "6\r\nhello\r\n0\r\n\r\n"),
        ("a chunk that ends in LF", "5\r\nhello\n0\r\n\r\n"),
        ("a chunk that ends in CR", "5\r\nhello\r0\r\n\r\n"),
        ("a chunk without its end", "5\r\nhello0\r\n\r\n"),
        ("a LF in an extension", "5;a\nb\r\nhello\r\n0\r\n\r\n"),
        ("a CR in an extension", "5;a\rb\r\nhello\r\n0\r\n\r\n"),
        ("a NUL in an extension", "5;a\0b\r\nhello\r\n0\r\n\r\n"),
        ("a last chunk that ends in LF", "0\n\r\n"),
        ("trailers that end in LF", "0\r\n\n"),
        ("a trailer of length", "0\r\nContent-Length: 5\r\n\r\n"),
        ("a trailer of coding", "0\r\nTransfer-Encoding: chunked\r\n\r\n"),
        ("a trailer of host", "0\r\nHost: b\r\n\r\n"),
        ("a folded trailer", "0\r\nA: b\r\n c\r\n\r\n"),
        ("a trailer with a space before its colon", "0\r\nA : b\r\n\r\n"),
        ("a trailer without a colon", "0\r\nA\r\n\r\n"),
        ("a NUL in a trailer", "0\r\nA: \0\r\n\r\n"),
    ];
    for (name, body) in malformed {
        cases.push(refused_after("9112 7.1", name, chunks(body), 0, 400));
    }
    let long = format!("5;{}\r\nhello\r\n0\r\n\r\n", "x".repeat(300));
    cases.push(refused_after("9112 7.1.1", "an extension of 300 bytes", chunks(&long), 0, 400));
    cases
}
