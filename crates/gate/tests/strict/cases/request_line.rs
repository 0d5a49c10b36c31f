//! Request lines: RFC 9112 section 3.

use crate::case::{Case, line, passed, refused, unanswered};

#[expect(clippy::too_many_lines, reason = "one table of cases")]
pub fn cases() -> Vec<Case> {
    let mut cases = vec![
        passed("9112 3", "a plain GET", line("GET /x HTTP/1.1"), &["GET /x HTTP/1.1\r\n"], &[]),
        passed(
            "9112 3.1",
            "a method of the client's own",
            line("PURGE /x HTTP/1.1"),
            &["PURGE /x "],
            &[],
        ),
        // Servers that do not tell methods apart by case would answer what a route for GET does not hold.
        refused("9110 9.1", "a method in small letters", line("get /x HTTP/1.1"), 405),
        refused("9110 9.1", "a method in mixed letters", line("Get /x HTTP/1.1"), 405),
        passed(
            "9112 2.2",
            "one empty line before",
            b"\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n",
            &["GET /x "],
            &[],
        ),
        refused(
            "9112 2.2",
            "two empty lines before",
            b"\r\n\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n",
            400,
        ),
        refused("9112 2.2", "a bare LF before", b"\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        refused("9112 2.2", "a bare CR before", b"\rGET /x HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        refused("9112 2.2", "white space before", line(" GET /x HTTP/1.1"), 400),
        refused("9112 3", "two spaces after the method", line("GET  /x HTTP/1.1"), 400),
        refused("9112 3", "two spaces before the version", line("GET /x  HTTP/1.1"), 400),
        refused("9112 3", "a tab after the method", line("GET\t/x HTTP/1.1"), 400),
        refused("9112 3", "a tab before the version", line("GET /x\tHTTP/1.1"), 400),
        refused("9112 3", "a form feed as white space", line("GET\x0c/x HTTP/1.1"), 400),
        refused("9112 3", "a space behind the version", line("GET /x HTTP/1.1 "), 400),
        refused("9112 3", "a word behind the version", line("GET /x HTTP/1.1 x"), 400),
        refused("9112 3", "no target", line("GET HTTP/1.1"), 400),
        refused("9112 3", "no method", line("/x HTTP/1.1"), 400),
        refused("9112 3", "a space in the target", line("GET /x y HTTP/1.1"), 400),
        refused("9112 2.2", "the line ends in LF", b"GET /x HTTP/1.1\nHost: a\r\n\r\n", 400),
        refused("9112 2.2", "the line ends in CR", b"GET /x HTTP/1.1\rHost: a\r\n\r\n", 400),
        refused("9112 2.2", "a CR in the line", b"GET /x\r HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        refused("1945", "HTTP/0.9", b"GET /x\r\n", 400),
        refused("1945", "HTTP/0.9 with a head", b"GET /x\r\nHost: a\r\n\r\n", 400),
        refused("9113 3.4", "the preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        refused("9110 9.3.6", "CONNECT", b"CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n", 405),
        refused("9110 9.3.6", "CONNECT with a path", line("CONNECT /x HTTP/1.1"), 400),
        refused("9110 9.3.8", "TRACE", line("TRACE /x HTTP/1.1"), 405),
        refused(
            "tls",
            "a TLS client hello",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
            400,
        ),
        refused("ssh", "an SSH greeting", b"SSH-2.0-OpenSSH_9.2\r\n\r\n", 400),
        unanswered("9112 3", "a line without its end", b"GET /x HTTP/1.1"),
        unanswered("9112 2.1", "a head without its end", b"GET /x HTTP/1.1\r\nHost: a\r\n"),
    ];
    for version in ["HTTP/1.2", "HTTP/2.0", "HTTP/0.9", "HTTP/3.0", "HTTP/9.9"] {
        let sent = line(&format!("GET /x {version}"));
        cases.push(refused("9112 2.3", format!("version {version}"), sent, 505));
    }
    for version in [
        "HTTP/1",
        "HTTP/1.",
        "HTTP/1.10",
        "HTTP/01.1",
        "http/1.1",
        "HTTP1.1",
        "HTTPS/1.1",
        "ICAP/1.1",
        "HTTP/1.1x",
        "HTTP/ 1.1",
        "HTTP/1,1",
    ] {
        let sent = line(&format!("GET /x {version}"));
        // Whether it is a version that is not spoken, or none, is for the reader to say.
        cases.push(refused("9112 2.3", format!("malformed version {version}"), sent, 0));
    }
    for byte in [0x00, 0x01, 0x08, 0x0b, 0x1b, 0x7f, 0x80, 0xff] {
        for (place, at) in [("method", 1), ("target", 6), ("version", 10)] {
            let mut sent = line("GET /xyz HTTP/1.1");
            sent.insert(at, byte);
            let name = format!("byte {byte:#04x} in the {place}");
            cases.push(refused("9112 3", name, sent, 0));
        }
    }
    for method in ["G(T", "G@T", "\"GET\"", "GET,", "G/T", "{GET}"] {
        let sent = line(&format!("{method} /x HTTP/1.1"));
        cases.push(refused("9110 5.6.2", format!("method {method} is no token"), sent, 400));
    }
    cases
}
