//! Where a request ends, and smuggling: RFC 9112 sections 6 and 11.2.

use crate::case::{Case, get, passed, passed_all, post, refused, unanswered};

/// A second request that a reader would find who ends the first one too early.
const HIDDEN: &str = "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n";

#[expect(clippy::too_many_lines, reason = "one table of cases")]
pub fn cases() -> Vec<Case> {
    let mut cases = vec![
        passed(
            "9112 6.2",
            "a body by its length",
            post("Content-Length: 5\r\n", "hello"),
            &["\r\nContent-Length: 5\r\n", "\r\n\r\nhello"],
            &[],
        ),
        passed(
            "9112 6.2",
            "a body of no bytes",
            post("Content-Length: 0\r\n", ""),
            &["\r\nContent-Length: 0\r\n"],
            &[],
        ),
        passed(
            "9112 6.2",
            "leading zeros",
            post("Content-Length: 005\r\n", "hello"),
            &["\r\nContent-Length: 5\r\n"],
            &["Length: 005"],
        ),
        passed("9112 6.3", "a POST without framing has no body", post("", ""), &["POST /x "], &[]),
        passed(
            "9110 9.3.1",
            "a GET with a body",
            b"GET /x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab",
            &["\r\n\r\nab"],
            &[],
        ),
        passed(
            "9112 6.1",
            "chunks",
            post("Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n"),
            &["Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n"],
            &["content-length"],
        ),
        passed(
            "9110 8.6",
            "the name of the coding in capitals",
            post("Transfer-Encoding: CHUNKED\r\n", "1\r\na\r\n0\r\n\r\n"),
            &["Transfer-Encoding: chunked\r\n"],
            &["CHUNKEDx"],
        ),
        refused(
            "9112 6.3",
            "a length and chunks",
            post(
                "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
                &format!("0\r\n\r\n{HIDDEN}"),
            ),
            400,
        ),
        refused(
            "9112 6.3",
            "chunks and a length",
            post(
                "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
                &format!("0\r\n\r\n{HIDDEN}"),
            ),
            400,
        ),
        refused(
            "9112 6.1",
            "chunks in HTTP/1.0",
            b"POST /x HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            400,
        ),
        refused(
            "9112 6.1",
            "chunked twice",
            post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
            400,
        ),
        refused(
            "9112 6.1",
            "identity after chunked",
            post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "0\r\n\r\n"),
            400,
        ),
        refused(
            "9112 6.3",
            "two lengths that differ",
            post("Content-Length: 5\r\nContent-Length: 6\r\n", "hello!"),
            400,
        ),
        refused(
            "9112 6.3",
            "two lengths that agree",
            post("Content-Length: 5\r\nContent-Length: 5\r\n", "hello"),
            400,
        ),
        refused("9110 8.6", "a list of lengths", post("Content-Length: 5, 5\r\n", "hello"), 400),
        refused(
            "smuggling",
            "a length hidden by a space before its colon",
            post("Content-Length : 5\r\nContent-Length: 0\r\n", "hello"),
            400,
        ),
        refused(
            "smuggling",
            "a coding hidden by a fold",
            post("Transfer-Encoding:\r\n chunked\r\nContent-Length: 4\r\n", "0\r\n\r\n"),
            400,
        ),
        refused(
            "smuggling",
            "a coding behind a bare CR",
            post("A: b\rTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
            400,
        ),
        refused(
            "smuggling",
            "a coding behind a bare LF",
            post("A: b\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
            400,
        ),
        refused(
            "smuggling",
            "a coding behind NUL",
            post("A: b\0Transfer-Encoding: chunked\r\n", "0\r\n\r\n"),
            400,
        ),
        passed_all(
            "smuggling",
            "a coding by another name is no coding",
            post("Transfer_Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"),
            1,
            &["Content-Length: 5\r\n"],
            &["transfer_encoding"],
        ),
        unanswered(
            "9112 6.3",
            "a body shorter than its length",
            post("Content-Length: 10\r\n", "hello"),
        ),
        passed_all(
            "9112 9.3.2",
            "a body longer than its length is the next request",
            post("Content-Length: 2\r\n", &format!("ab{HIDDEN}")),
            2,
            &["GET /hidden HTTP/1.1"],
            &[],
        ),
        crate::case::refused_after(
            "9112 9.3.2",
            "what follows a body is no request",
            post("Content-Length: 2\r\n", "abGARBAGE\r\n\r\n"),
            1,
            400,
        ),
        crate::case::refused_after(
            "smuggling",
            "CL.0: a body behind a GET without framing",
            [get(""), b"x=1\r\n\r\n".to_vec()].concat(),
            1,
            400,
        ),
        refused(
            "9110 8.6",
            "a length above 64 bits",
            post("Content-Length: 18446744073709551616\r\n", ""),
            400,
        ),
        refused(
            "9110 15.5.14",
            "a length above the route's",
            post("Content-Length: 99999999999\r\n", ""),
            413,
        ),
    ];
    for value in [
        "", "-1", "+5", "5 5", "0x5", "5.0", "5;", "five", "1e1", "\u{0665}", "5\t5", "_5", "5_0",
        "\"5\"",
    ] {
        let sent = post(&format!("Content-Length: {value}\r\n"), "hello");
        cases.push(refused("9110 8.6", format!("a length of {value:?}"), sent, 400));
    }
    let codings = [
        "",
        "identity",
        "gzip",
        "gzip, chunked",
        "chunked, gzip",
        "chunked, chunked",
        "chunked,",
        ",chunked",
        "xchunked",
        "chunkedx",
        "chunked;q=1",
        "\"chunked\"",
        "chun ked",
        "chunked chunked",
        "\x0bchunked",
        "cow",
        "chunked, identity",
        "chunk\u{e9}d",
        "trailers",
        "deflate",
    ];
    for value in codings {
        let sent = post(&format!("Transfer-Encoding: {value}\r\n"), "0\r\n\r\n");
        cases.push(refused("9112 6.1", format!("a coding of {value:?}"), sent, 400));
    }
    cases
}
